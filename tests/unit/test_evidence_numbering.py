import pytest

from core.evidence.numbering import cited, defuse, keep_existing, strip


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [1].", (1,)),
        ("a [1, 2].", (1, 2)),
        ("a [1][2].", (1, 2)),
        ("a [2,1；3]", (2, 1, 3)),
        ("a ［１］ b【12】", (1, 12)),
        ("a [1-3]", (1, 2, 3)),
        ("a [1–3]", (1, 2, 3)),
        ("a [3-1]", (3, 1)),
        ("in [0, 1]", ()),
        ("in [2019]", ()),
        ("x[i] [a] []", ()),
        ("[1] and [1]", (1,)),
        ("a [1—3] b [4～6]", (1, 2, 3, 4, 5, 6)),
        ("a [1‑2] b [3－4] c [5 ~ 6]", (1, 2, 3, 4, 5, 6)),
        ("a [1至3] b [第4段至第6段]", (1, 2, 3, 4, 5, 6)),
        ("a [1 and 2] b [3和4] c [5|6] d [7 & 8]", (1, 2, 3, 4, 5, 6, 7, 8)),
        ("a [1,\u00a02] b [\u20093 – 4\u3000]", (1, 2, 3, 4)),
        ("a [passage 1] b [Passages 2 and 3] c [p. 4, p.5]", (1, 2, 3, 4, 5)),
        ("a [段落 1] b 【第 2 段】 c [^3]", (1, 2, 3)),
        ("in [0~1], [0 and 1], [0; 0.5] or [-1, 1]", ()),
        ("a [land 2] b [1and2] c [page 3] d [p]", ()),
    ],
)
def test_reads_markers(text, numbers):
    assert cited(text) == numbers


def test_numbers_that_do_not_exist_are_removed_and_reported():
    assert keep_existing("It works [1, 7]. So [9].", {1, 2}) == ("It works [1]. So.", (1,), (7, 9))


def test_none_is_added():
    assert keep_existing("It works.", {1, 2}) == ("It works.", (), ())


def test_full_width_markers_are_written_plainly():
    assert keep_existing("有效［１］【2】。", {1, 2}).text == "有效[1][2]。"


def test_a_long_range_is_not_expanded():
    assert cited("[1-999]") == (1, 999)


def test_strip_and_defuse():
    assert strip("Shown in [12], and [3, 4].") == "Shown in, and."
    assert defuse("As in [12, 13], yes [0, 1]") == "As in (12, 13), yes [0, 1]"
