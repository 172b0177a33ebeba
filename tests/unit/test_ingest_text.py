import pytest

from core.ingest.pdf import one_each
from core.ingest.pipeline import display_name
from core.ingest.text import Hyphens, joint, language, normalise, reads_as_words, unreadable


def test_normalise_takes_ligatures_apart_and_keeps_chinese_punctuation():
    assert normalise("ﬁnd eﬃcient") == "find efficient"
    assert normalise("你好，世界：ＡＢＣ") == "你好，世界：ABC"
    assert normalise("a\x00b\u200bc\ue123d\ud800") == "abcd"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("This is the way in which we are not lost for words.", "en"),
        ("本文介绍一种新的方法 for retrieval", "zh"),
        ("Dies ist ein deutscher Satz über Räume und Flächen", "other"),
        ("これは日本語の文章です。漢字も使います。", "other"),
        ("", "other"),
    ],
)
def test_language(text, found):
    assert language(text) == found


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("solubil-", "ity", "solubility"),
        ("exam-", "ine", "examine"),
        ("state-of-the-", "art", "state-of-the-art"),
        ("Lucene-", "BM25", "Lucene-BM25"),
        ("dual-", "encoder", "dual-encoder"),
        ("2019-", "2020", "2019-2020"),
        ("pre-", "training", "pre-training"),
    ],
)
def test_hyphens_at_line_ends(first, second, whole):
    words = ["the state-of-the-art dual encoder of dual encoder solubility", "pre-training pays"]
    assert Hyphens(words).join(first, second) == whole


def test_joint_puts_no_space_inside_chinese():
    assert joint("方法", "介绍") == ""
    assert joint("方法", "BERT") == " "
    assert joint("one", "two") == " "


@pytest.mark.parametrize(
    ("text", "garbage"),
    [
        ("\ufffd\ufffd\ufffd\ufffd a", True),
        ("\ue001\ue002\ue003\ue004 ab", True),
        ("È«ÊÀ½çÎÞ²úÕß£¬ÁªºÏÆðÀ´", True),
        ("à À â Â ä Ä ç Ç é É è È", False),
        ("Größe über Straße", False),
        ("7KH SDSHU VKRZV WKDW WKH PHWKRG ZRUNV " * 20, True),
        ("The paper shows that the method works. " * 20, False),
        ("全世界无产者", False),
        ("", False),
    ],
)
def test_unreadable(text, garbage):
    assert unreadable(text) is garbage


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd.pdf", "passwd.pdf"),
        ("C:\\papers\\论文 第一稿.pdf", "论文 第一稿.pdf"),
        ("a\x00b\n\u202ec.pdf", "abc.pdf"),
        ("..", "paper.pdf"),
        ("", "paper.pdf"),
        ("Cafe\u0301.pdf", "Café.pdf"),
    ],
)
def test_display_name(name, shown):
    assert display_name(name) == shown


def test_display_name_is_bounded_and_keeps_its_suffix():
    name = display_name("长" * 300 + ".pdf")
    assert len(name) <= 120
    assert name.endswith("….pdf")


def test_letters_outside_the_basic_plane_keep_the_indices_in_step():
    text = one_each([0x61, 0xD835, 0xDC5F, 0x62, 0xD835, 0x63, 0])
    assert text == "a\U0001d45f\u2060b\ufffdc\ufffd"
    assert normalise(text[:4]) == "arb"


def test_glyph_numbers_taken_for_characters_are_unreadable():
    sentence = "The shaft is mounted with a bushing and two terminals of metal, see table 3. " * 3
    shifted = "".join(chr(ord(char) - 29) for char in sentence)
    assert unreadable(shifted)
    assert not unreadable(sentence)
    assert not unreadable("DFT+U, CCSD(T)/6-31G* 0.12 0.34 " * 10)


def test_glyph_numbers_are_known_also_with_true_spaces_between():
    """So OCR reads pages drawn without their fonts."""
    words = "Metal Shaft Bushing Mounting CLEARANCE HOLE TERMINAL HOLES CLOCKWISE CIRCUIT "
    shown = "".join(char if char == " " else chr(ord(char) - 29) for char in words * 3)
    assert unreadable(shown)
    assert not unreadable(words * 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18. Xue, W., Yu, B., Wang, W.: A table graph reconstruction network (2021)", True),
        ("我们提出一种用于文本检索的方法，它在三个数据集上的结果都比以前的方法好。", True),
        ("\u18d2\u1971\u198e\u19eb" * 30, False),
        ("鎴戜滑鎻愬嚭涓€绉嶇敤浜庢枃鏈绱㈢殑鏂规硶锛屽畠鍦ㄤ笁涓暟鎹泦涓", False),
        ("0HWDO 6KDIW %XVKLQJ 0RXQWLQJ 3ULQWHG &LUFXLW", False),
    ],
)
def test_pages_of_words_are_no_mojibake(text, expected):
    assert reads_as_words(text) is expected


def test_exponents_of_ten_stay_raised_and_other_small_figures_do_not():
    assert normalise("10⁻⁵ and 3·10¹⁹, note² of 2010¹") == "10⁻⁵ and 3·10¹⁹, note2 of 20101"
