"""Follow-up questions made to stand alone by rules."""

import pytest

from core.agent.followups import standalone
from core.agent.state import Exchange
from core.evals import followups
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("earlier", "question", "alone"),
    [
        (["How does BERT do on SQuAD?"], "And on MNLI?", "How does BERT do on MNLI?"),
        (["How many layers does BERT have?"], "And GPT-2?", "How many layers does GPT-2 have?"),
        (["What is pruning?"], "What are its drawbacks?", "What are pruning's drawbacks?"),
        (["多头注意力是怎么计算的？"], "那它的缺点呢", "多头注意力的缺点？"),
        (["BERT 在 SQuAD 上效果如何？"], "那在 MNLI 上呢？", "BERT 在 MNLI 上效果如何？"),
        (["对照组有多少人？"], "实验组呢？", "实验组有多少人？"),
        (
            ["How does BERT do on SQuAD?", "And on MNLI?"],
            "Why?",
            "How does BERT do on MNLI? Why?",
        ),
    ],
)
def test_a_follow_up_is_completed(earlier, question, alone):
    assert standalone(question, earlier) == alone


@pytest.mark.parametrize(
    "question",
    [
        "Do the authors discuss the limits of their data?",
        "Is it possible to train the model on one GPU?",
        "Why does the loss rise after it has converged?",
        "What is this paper about?",
        "位置编码为什么用正弦函数？",
        "作者用了哪些数据集？",
        "",
        "why " * 5000,
    ],
)
def test_a_question_that_stands_alone_is_let_be(question):
    assert standalone(question, ["How does BERT do on SQuAD?"]) == question


def test_without_a_conversation_nothing_is_added():
    assert standalone("And why?", []) == "And why?"


def test_the_choosing_half_is_rewritten_well():
    def by_rules(question: str, history: list[Exchange]) -> str:
        return standalone(question, [exchange.question for exchange in history])

    found = followups.run(ROOT / "data" / "evals" / "followups.jsonl", by_rules)["choose"]
    assert found["carried"] >= 0.9, found["wrong"]
    assert found["left_alone"] >= 0.9, found["wrong"]
