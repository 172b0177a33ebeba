"""The router without a model: wording, nearest examples, and the plain question for all else."""

import threading
import time

import pytest

from core.agent import intents
from core.agent.cues import wanted
from core.agent.examples import Examples
from core.agent.intents import Intent
from core.agent.router import NEAR, guess
from core.evals import routing
from core.models.embed import load_embedders
from tests.conftest import ROOT

NAMES = (
    "chat", "extract", "deep_read", "critical", "verify_sources", "compare", "extract_charts",
    "personalized_summary", "research",
)  # fmt: skip


@pytest.fixture(scope="module")
def embedder():
    return load_embedders(("use-multilingual",))[0]


@pytest.fixture(scope="module")
def examples(embedder):
    return Examples(embedder)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Compare the two papers on data and method", "compare"),
        ("这两篇论文的方法有什么不同？", "compare"),
        ("[1] A. Author. A title of a paper. Journal, 2019.\n[2] B. Other. Another. 2020.", "verify_sources"),
        ("核对这段话的引用", "verify_sources"),
        ("提取所有图表", "extract_charts"),
        ("Turn Table 2 into CSV", "extract_charts"),
        ("逐节精读", "deep_read"),
        ("Play devil's advocate on this one", "critical"),
        ("What is new compared with the papers I already know?", "personalized_summary"),
        ("查文献，写一份综述", "research"),
        ("对比学习的损失函数是什么？", ""),
        ("How many layers does the model have?", ""),
        ("What does Figure 2 show?", ""),
        ("Limitations?", ""),
    ],
)  # fmt: skip
def test_wording_that_says_what_is_wanted(question, name):
    assert wanted(question, NAMES)[0] == name


def test_wording_never_leads_out_of_the_table():
    assert wanted("Compare the two papers", ("chat",)) == ("", "")


@pytest.mark.parametrize("piece", ["a b/", "the ", "[1] ", "1. aaaa ", "图表", "compare "])
def test_pasted_text_takes_no_time(piece):
    began = time.perf_counter()
    wanted(piece * 20_000, NAMES)
    assert time.perf_counter() - began < 0.5


def test_an_example_decides_for_an_intent_without_rules(examples, monkeypatch):
    poem = Intent(
        "poem", "Poem", "A poem.", "edit", ("answer",), ("Write a poem about the paper.",)
    )
    monkeypatch.setattr(intents, "INTENTS", (*intents.INTENTS, poem))
    route = guess("Please write me a poem about this paper", None, examples)
    assert route.intent == "poem"
    assert NEAR <= route.confidence <= 1
    assert f"nearest example, {route.confidence:.2f}" in route.detail


@pytest.mark.parametrize("question", ["", "hm", "?", "怎么样", "blue cheese in June", "结果呢"])
def test_what_could_be_anything_is_a_plain_question(examples, question):
    route = guess(question, None, examples)
    assert route.intent == "chat"
    assert 0 <= route.confidence <= 1


def test_one_paper_has_nothing_to_be_compared_with(examples, monkeypatch):
    compare = Intent("compare", "Compare", "Compare papers.", "x", ("answer",), ("Compare them.",))
    others = tuple(entry for entry in intents.INTENTS if entry.name != "compare")
    monkeypatch.setattr(intents, "INTENTS", (*others, compare))
    question = "Compare the methods in these papers"
    assert guess(question, 3, examples).intent == "compare"
    assert guess(question, None, examples).intent == "compare"
    assert guess(question, 1, examples).intent != "compare"


def test_examples_are_encoded_once_however_many_ask():
    class Counting:
        def __init__(self, real):
            self.real, self.batches = real, 0

        def encode(self, texts):
            self.batches += len(texts) > 1
            return self.real.encode(texts)

    counting = Counting(load_embedders(("use-multilingual",))[0])
    examples = Examples(counting)
    threads = [threading.Thread(target=examples.nearest, args=("why?",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counting.batches == 1


def test_the_choosing_half_is_routed_well(examples):
    found = routing.run(
        ROOT / "data" / "evals" / "routing.jsonl", lambda text: guess(text, None, examples)
    )
    assert found["choose"]["accuracy"] >= 0.9, found["choose"]["wrong"]
    assert set(NAMES) >= set(found["missing"])
