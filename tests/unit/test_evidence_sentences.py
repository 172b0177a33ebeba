import itertools
import time

import pytest

from core.evidence.sentences import sentences, split_sentences

CASES = [
    ("We beat Smith et al. (2019) by 3.5 points. See Fig. 3 for it.", 2),
    ("As J. R. Smith wrote, it works. It does.", 2),
    ("Models, e.g. BERT, i.e. encoders, differ. Others agree.", 2),
    ("It was shown by Smith et al. We extend it.", 2),
    ("It rose to 3.14 in No. 5 of Vol. 2. Then it fell.", 2),
    ("There is no. We checked.", 2),
    ("This holds [12]. We use it (Fig. 2). So does he.", 3),
    ("Read http://a.org/x.html?y=1. Then stop.", 2),
    ('He said "It works." Then he left.', 2),
    ("1. Introduction matters. 2. So do methods.", 2),
    ("Items:\n- the first\n- the second", 3),
    ("The U.S. Congress met at 5 p.m. We did too.", 2),
    ("Wait... what? Yes!", 2),
    ("It improves results.12,13 We agree.", 2),
    ("It improves results. 97, 98 Unlike others, we agree.", 2),
    ("我们提出了新方法。结果很好！是吗？", 3),
    ("他说“这样可以。”然后离开了。", 2),
    ("方法一较快；方法二较准。", 2),
    ("准确率为 92.3%，见图 3.2。在 WMT14 上训练。", 2),
    ("我们使用 BERT. 它很好。We use it too. 结束", 4),
    ("本文研究数据集.我们发现问题．最后总结。", 3),
    ("值为３．１４。", 1),
    ("# Title\nOne sentence.\n\nAnother", 3),
    ("", 0),
    (" \n\t ", 0),
    ("no stop at all", 1),
]


@pytest.mark.parametrize(("text", "count"), CASES)
def test_counts_sentences(text, count):
    assert len(sentences(text)) == count, sentences(text)


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_loses_nothing_but_space(text):
    spans = split_sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_a_citation_after_the_stop_stays_with_its_sentence():
    assert sentences("It works. [1][2] We agree [3]. 很好。【2】 是的。［１］") == [
        "It works. [1][2]",
        "We agree [3].",
        "很好。【2】",
        "是的。［１］",
    ]


def test_a_citation_that_is_a_subject_stays_with_the_next_sentence():
    assert sentences("It works. [12] propose more.") == ["It works.", "[12] propose more."]


HOSTILE = [
    ". ",
    ".",
    "\n ",
    "\n",
    " ",
    "。",
    '."',
    "[1]",
    ". [1]",
    "\n#",
    "1.",
    "“",
    "a",
    "et al. ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece):
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        start = time.perf_counter()
        split_sentences(text)
        return time.perf_counter() - start

    seconds(5_000)
    assert seconds(100_000) < max(0.5, 40 * seconds(10_000))
