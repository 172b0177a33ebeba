"""The token estimate, and what enters a prompt."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.budget import (
    Message,
    cut,
    estimate_messages,
    estimate_tokens,
    estimate_tokens_of,
    fit,
)

EN = "Attention lets a model weigh every token of its input when it writes the next one. "
ZH = "注意力机制让模型在生成每个词时都能关注输入序列的所有位置。"
LENGTHY = [
    Message("user", "What is it?"),
    Message("assistant", EN * 3),
    Message("user", "Why?"),
    Message("assistant", EN * 3),
]


def _fit(context: int, **given_: object) -> object:
    values: dict[str, object] = {
        "system": "Answer from the passages.",
        "history": (),
        "selected": "",
        "passages": (),
        "question": "Why?",
        "reserve": 100,
    }
    return fit(context_tokens=context, **{**values, **given_})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        # counts by DeepSeek's and OpenAI's (o200k) own tokenizers: 18 and 18; 16 and 21; 19 and 20
        (EN, 15, 19),
        (ZH, 14, 23),
        ("BERT-base reaches 84.6% F1 on SQuAD 2.0.", 13, 21),
        ("", 0, 0),
    ],
)
def test_close_to_what_real_tokenizers_count(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_never_costs_less(one: str, two: str) -> None:
    assert 0 <= estimate_tokens(one) <= estimate_tokens(one + two) + 1


def test_length_and_language_alone_give_the_same_order_of_size() -> None:
    assert estimate_tokens_of(len(EN * 100), "en") == pytest.approx(
        estimate_tokens(EN * 100), rel=0.35
    )
    assert estimate_tokens_of(len(ZH * 100), "zh") == pytest.approx(
        estimate_tokens(ZH * 100), rel=0.2
    )
    assert estimate_tokens_of(100, "fr") == estimate_tokens_of(100, "other")


def test_all_enters_when_there_is_room() -> None:
    chosen = _fit(4000, history=LENGTHY, passages=[EN, ZH], selected=ZH)
    assert chosen.history == tuple(LENGTHY)
    assert chosen.passages == (EN, ZH)
    assert chosen.selected == ZH


@pytest.mark.parametrize("context", [200, 400, 800, 1600])
def test_never_more_than_the_context_leaves(context: int) -> None:
    chosen = _fit(context, history=LENGTHY * 5, passages=[EN * 8] * 9, selected=ZH * 9)
    parts = [*chosen.passages, chosen.selected, chosen.question, "Answer from the passages."]
    size = sum(map(estimate_tokens, parts)) + estimate_messages(chosen.history)
    assert size <= chosen.tokens <= context - 100


def test_passages_go_in_whole_and_by_rank() -> None:
    passages = [f"{n}. {EN * 10}" for n in range(9)]
    counts = [len(_fit(context, passages=passages).passages) for context in range(300, 2600, 100)]
    for context in range(300, 2600, 100):
        chosen = _fit(context, passages=passages)
        assert list(chosen.passages) == passages[: len(chosen.passages)]
    assert counts[0] <= 1
    assert counts[-1] == 9
    assert all(one <= two for one, two in pairwise(counts))


def test_passages_before_history_and_the_newest_turn_first() -> None:
    seen = [
        (len(chosen.passages), len(chosen.history))
        for chosen in (
            _fit(context, history=LENGTHY, passages=[EN * 4]) for context in range(210, 420, 5)
        )
    ]
    assert list(dict.fromkeys(seen)) == [(1, 0), (1, 2), (1, 4)]
    chosen = _fit(275, history=LENGTHY, passages=[EN * 4])
    assert chosen.history == tuple(LENGTHY[2:])


def test_a_turn_of_the_history_is_never_halved() -> None:
    for context in range(150, 600, 10):
        history = _fit(context, history=LENGTHY).history
        assert list(history) in ([], LENGTHY[2:], LENGTHY)


def test_only_a_first_passage_that_is_too_long_is_cut_and_at_a_sentence_end() -> None:
    chosen = _fit(400, passages=[EN * 100, EN])
    assert len(chosen.passages) == 1
    assert (EN * 100).startswith(chosen.passages[0])
    assert chosen.passages[0].endswith("next one.")
    assert len(chosen.passages[0]) > 500


def test_a_huge_question_leaves_room_for_passages() -> None:
    chosen = _fit(2000, question=EN * 240, passages=[EN * 10])
    assert chosen.question.endswith("next one.")
    assert chosen.passages == (EN * 10,)


def test_the_fence_around_a_passage_counts() -> None:
    passages = [EN] * 40
    assert len(_fit(700, passages=passages, per_passage=40).passages) < len(
        _fit(700, passages=passages).passages
    )


@pytest.mark.parametrize("text", [EN * 20, ZH * 20, "无标点" * 400, "x" * 3000, "a b " * 900])
@pytest.mark.parametrize("tokens", [5, 50, 333])
def test_cut_keeps_a_head_that_fits(text: str, tokens: int) -> None:
    head = cut(text, tokens)
    assert text.startswith(head)
    assert estimate_tokens(head) <= tokens + 1
    assert head or tokens < 10 or text.startswith("x")


def test_chinese_is_cut_at_its_own_full_stops() -> None:
    assert cut(ZH * 20, 100).endswith("。")


def test_the_estimate_on_real_papers_is_between_the_bounds_it_states(shared: Path) -> None:
    """Counted once with DeepSeek's and OpenAI's o200k tokenizers, and written down here."""
    counted = {"2201.00200": (36_847, 9_003, 9_184), "1601.03642": (29_217, 7_196, 7_154)}
    for name, (characters, deepseek, openai) in counted.items():
        path = next((shared / "pdf_groundtruth").rglob(f"{name}.txt"))
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert len(text) == characters
        assert estimate_tokens(text) == pytest.approx((deepseek + openai) / 2, rel=0.06)
    rows = (shared / "zh_csl" / "papers.jsonl").read_text(encoding="utf-8").splitlines()[:100]
    chinese = "\n".join(json.loads(row)["abstract"] for row in rows)
    assert 0.5 < estimate_tokens(chinese) / len(chinese) < 0.9
