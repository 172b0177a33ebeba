"""What of a question is to be checked: never the order, always all of the claim."""

import pytest

from core.agent.claims import claims_of, pasted


@pytest.mark.parametrize(
    ("question", "claims"),
    [
        (
            "Verify that the scores are z-scored before fusion.",
            ["the scores are z-scored before fusion."],
        ),
        ("Check whether BM25 is used in the fusion", ["BM25 is used in the fusion"]),
        ("Does the paper support the claim that fusion helps?", ["fusion helps"]),
        ("核查融合前分数做了标准化", ["融合前分数做了标准化"]),
        ("请检查融合是否降低了误差", ["融合降低了误差"]),
        ("Check these claims: Cats bark. Dogs meow.", ["Cats bark.", "Dogs meow."]),
        ("核查以下说法：标准化有用。排名没用。", ["标准化有用。", "排名没用。"]),
        ("Check these:\nHigher values favour BM25.", ["Higher values favour BM25."]),
    ],
)
def test_the_claims_of_a_question(question, claims):
    assert claims_of(pasted(question, "")) == claims
