"""Sentences by aspect and values with what they measure, without a model."""

from uuid import uuid4

import pytest

from core.agent import looks
from core.agent.choosing import asked_for, choose
from core.agent.measures import in_sentence, in_table
from core.types import Chunk, Hit, Scores

PAPER = uuid4()
SENTENCES = {
    "task": ("Introduction", "In this paper we study how two ranked lists become a single one."),
    "method": ("Approach", "We train a dual encoder with a contrastive loss over the pairs."),
    "data": ("Setup", "The corpus consists of 4,120 abstracts that two people annotated by hand."),
    "results": ("Results", "Our model outperforms the baseline by 3.2 points of accuracy."),
    "limits": ("Discussion", "A limitation is that only a single encoder has been measured here."),
}


def hits(rows):
    return [
        Hit(Chunk(n, PAPER, "f" * 64, 1, section, "body", text), Scores())
        for n, (section, text) in enumerate(rows)
    ]


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_about_an_aspect_leads(name):
    look = getattr(looks, name.upper())
    found = choose(look, hits(SENTENCES.values()), 3)
    assert found[0].text == SENTENCES[name][1]


def test_nothing_is_chosen_where_nothing_speaks_of_it():
    rows = [("History", "The old bridge over the river was rebuilt by the town twice.")]
    assert all(choose(getattr(looks, name.upper()), hits(rows), 3) == [] for name in SENTENCES)


def test_what_related_work_did_is_not_the_papers_own_method():
    rows = [("2 Related Work", "Their approach is based on a dual encoder and a second step.")]
    assert choose(looks.METHOD, hits(rows), 3) == []


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        (
            "Our model achieves 28.4 BLEU on the WMT 2014 English-to-German task, improving by over"
            " 2 BLEU.",
            [("BLEU", "28.4 BLEU"), ("BLEU", "by over 2 BLEU")],
        ),
        (
            "It has a precision of 99.4% for a recall of 95.6% [12].",
            [("precision", "99.4%"), ("recall", "95.6%")],
        ),
        ("The accuracy of Table 2 was measured in 2019 by 5 people.", []),
        ("A BLEU score of 41.8 after training for 3.5 days.", [("BLEU", "41.8")]),
        (
            "该方法的准确率为 92.3%，召回率提高了 3.1%。",
            [("准确率", "92.3%"), ("召回率", "提高了 3.1%")],
        ),
        ("每篇用时 0.04 至 0.14 秒。", [("用时", "0.04 至 0.14 秒")]),
    ],
)
def test_values_in_a_sentence(sentence, values):
    assert [(m.metric, m.value) for m in in_sentence(sentence)] == values


TABLE = """Table 2. nDCG@10 on SciFact and CSL; evidence recall@5 on QASPER.
| Rule | SciFact | CSL | QASPER | n |
| Dense only | 0.563 | 0.916 | 0.441 | 9 |
| BM25 only | 0.847 | 0.986 | 0.310 | 9 |"""


def test_values_in_a_table_carry_column_and_row():
    found = [(m.metric, m.value, m.on) for m in in_table(TABLE)]
    assert found == [
        ("nDCG@10", "0.847", ("SciFact", "BM25 only")),
        ("nDCG@10", "0.986", ("CSL", "BM25 only")),
        ("recall@5", "0.441", ("QASPER", "Dense only")),
    ]


def test_less_is_better_for_errors_and_a_column_of_units_gives_every_row():
    (best,) = in_table("Table 1.\n| Model | RMSE (mm) |\n| A | 3.5 |\n| B | 2.5 |")
    assert (best.value, best.on) == ("2.5 mm", ("RMSE (mm)", "B"))
    rows = in_table(
        "表 1 时间。\n| 项目 | 数值 | 单位 |\n| 首次启动 | 4.1 | 秒 |\n| 识别一页 | 5.4 | 秒 |"
    )
    assert [(m.metric, m.value) for m in rows] == [("首次启动", "4.1 秒"), ("识别一页", "5.4 秒")]
    assert in_table("Table 3. The sets.\n| Set | Passages |\n| SciFact | 5,183 |") == []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Extract the key facts of this paper as a table.", ""),
        ("Compare these two papers: data, method and results.", ""),
        ("Compare the training cost of these papers.", "training cost"),
        ("请比较这两篇论文的方法和数据。", ""),
        ("比较这三篇论文的硬件环境", "硬件环境"),
        ("Extract hyperparameters and limitations", "hyperparameters"),
    ],
)
def test_what_the_question_names_beside_the_usual_aspects(question, named):
    known = [looks.TASK, looks.METHOD, looks.DATA, looks.RESULTS, looks.LIMITS]
    assert asked_for(question, known) == named
