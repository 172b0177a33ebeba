import time

import pytest

from core.retrieval.language import language_of
from core.retrieval.tokenize import query_terms, stem, tokenize


def test_words_with_joiners_are_kept_whole_and_split():
    assert tokenize("GPT-4 mid_term.doc") == [
        "gpt-4",
        "gpt",
        "4",
        "mid_term.doc",
        "mid",
        "term",
        "doc",
    ]


def test_chinese_gives_characters_and_overlapping_pairs():
    assert tokenize("自举法") == ["自", "举", "法", "自举", "举法"]


def test_mixed_text_is_cut_where_the_script_changes():
    assert tokenize("用CKKS方案") == ["用", "ckk", "方", "案", "方案"]


def test_compatibility_forms_are_one_term():
    assert tokenize("ＢＥＲＴ ﬁne") == tokenize("bert fine")
    assert tokenize("non‑linear") == tokenize("non-linear")


def test_punctuation_is_no_term():
    assert tokenize("(learned), [learned]; “learned” 。，") == ["learn"] * 3


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        (("embedding", "embeddings", "embedded", "embed"), "embed"),
        (("studies", "study", "studied"), "study"),
        (("measure", "measured", "measuring", "measures"), "measur"),
        (("class", "classes"), "class"),
        (("bus",), "bus"),
        (("café",), "café"),
    ],
)
def test_english_endings(forms, expected):
    assert {stem(form) for form in forms} == {expected}


def test_query_terms_leave_out_function_words_unless_there_is_nothing_else():
    assert query_terms("What is the seed lexicon?") == ["seed", "lexicon"]
    assert query_terms("To be or not to be") == ["to", "be", "or", "not", "to", "be"]
    assert query_terms("什么是自举") == tokenize("什么是自举")


@pytest.mark.parametrize("unit", ["a-", "-", "a.b_", "中", "中a", "_", "é́", "-_."])
def test_hostile_input_takes_no_longer_than_text(unit):
    text = unit * (320_000 // len(unit))
    start = time.perf_counter()
    tokenize(text)
    # Trying every start against every end would be 10^11 steps.
    assert time.perf_counter() - start < 10


def test_a_word_without_end_is_cut():
    assert tokenize("x" * 10_000) == ["x" * 64]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How is bootstrapping done in CKKS?", "en"),
        ("CKKS bootstrapping", "en"),
        ("CKKS 的自举如何实现？", "zh"),
        ("CKKS bootstrapping 怎么做", "zh"),
        ("什么是 fully homomorphic encryption 的 bootstrapping", "zh"),
        ("How does 自举 work in the CKKS scheme of Cheon et al.?", "en"),
        ("Wie werden die Gewichte der Fusion bestimmt?", "other"),
        ("Quelles sont les limites de la méthode ?", "other"),
        ("ニューラル機械翻訳とは何ですか", "other"),
        ("Как обучается модель?", "other"),
        ("42", "en"),
        ("From this we extracted the pair of “仕事をクビになる” and tagged it with Cause.", "en"),
        ("论文 GPT-4 的结论", "zh"),
    ],
)
def test_language_of_a_query(text, language):
    assert language_of(text) == language
