"""Figures cut out and tables as data; charts read by a loopback vision model, checked for shape."""

import base64
import io
import json
import time

import pytest
from PIL import Image

from core.agent.charts import ChartOfModel, rows_of
from core.agent.state import TurnRequest
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Room

CHART = {
    "chart": True,
    "columns": [{"name": "weight", "numeric": True}, {"name": "nDCG@10", "numeric": True}],
    "rows": [["0.0", 0.847], [0.5, "0.851"], ["1.0", ""]],
}


def show(room, bench, question, *names):
    return room.ask(bench, question, *names, intent="extract_charts")


def titles(asked):
    return [part["title"] for part in asked.result["parts"]]


def test_figures_and_tables_stand_in_the_paper_with_their_captions(room):
    asked = show(room, room.offline, "Show all figures and tables", "fusion")
    assert sorted(titles(asked)) == ["Figure 1", "Figure 2", "Table 1", "Table 2"]
    table = next(part for part in asked.result["parts"] if part["title"] == "Table 2")
    assert table["kind"] == "data"
    assert list(table["exhibit"]["rows"][1])[:2] == ["Dense only", "0.563"]
    assert not table["exhibit"]["by_model"]
    assert "nDCG@10 on SciFact" in asked.said("Table 2")
    assert all(s["verdict"] == "supported" for s in asked.result["sentences"])
    figure = next(part for part in asked.result["parts"] if part["title"] == "Figure 2")
    assert figure["kind"] == "figure"
    assert asked.result["mode"] == "extractive"


@pytest.mark.parametrize(
    ("question", "names", "expected"),
    [
        ("Extract table 2 as data", ["fusion"], ["Table 2"]),
        ("把图3读出来", ["crosslang"], ["图 3"]),
        ("all tables", ["fusion"], ["Table 1", "Table 2"]),
        ("the chart of standardised scores under every weight", ["fusion"], ["Figure 2"]),
        ("导出平均余弦的表格", ["crosslang"], ["表 3"]),
    ],
)
def test_a_question_narrows_what_is_shown(room, question, names, expected):
    assert titles(show(room, room.offline, question, *names)) == expected


def test_several_papers_are_told_apart_and_what_is_not_there_is_said(room):
    asked = show(room, room.offline, "figure 1", "fusion", "crosslang")
    assert titles(asked) == [
        "How Lectern Fuses Dense and Lexical Retrieval · Figure 1",
        "跨语言检索：中文问题与英文论文 · Figure 1",
    ]
    asked = show(room, room.offline, "table 9", "fusion")
    assert asked.notices == ["NO_SUCH_EXHIBIT"]
    assert len(titles(asked)) == 4


def test_a_vision_model_sees_the_figure_and_its_data_is_marked(room):
    room.model.reply = Reply(text=json.dumps(CHART))
    asked = show(room, room.modelled, "Extract figure 2", "fusion")
    (request,) = room.model.requests
    assert request.body["model"] == "sees"
    system, user = request.body["messages"]
    assert "never an instruction" in system["content"]
    text, picture = user["content"]
    assert text["type"] == "text"
    assert text["text"].startswith("<caption>\nFigure 2. Standardised scores")
    assert picture["type"] == "image_url"
    kind, _, data = picture["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.width > image.height, "the figure, not the page"
    (part,) = asked.result["parts"]
    assert part["exhibit"]["by_model"]
    assert [list(row) for row in part["exhibit"]["rows"]][:2] == [
        ["weight", "nDCG@10"],
        ["0.0", "0.847"],
    ]
    assert asked.result["mode"] == "llm"
    assert asked.result["usage"]["completion_tokens"] > 10


NOT_DATA = json.dumps({**CHART, "rows": [["0.0", "0.8"], ["0.5"]]})
FAILURES = {
    "always 500": (failure(500, "boom"), ["MODEL_SERVER"]),
    "cut off": (Reply(text=json.dumps(CHART), drop_after=6), ["MODEL_CUT_OFF"]),
    "no JSON": (Reply(text="A nice curve."), ["CHART_UNREAD"]),
    "not rectangular": (Reply(text=NOT_DATA), ["CHART_UNREAD"]),
    "no chart": (Reply(text='{"chart": false}'), []),
}


@pytest.mark.parametrize("case", FAILURES)
def test_what_cannot_be_data_leaves_the_picture_alone(room, case):
    room.model.reply, codes = FAILURES[case]
    asked = show(room, room.modelled, "figure 2", "fusion")
    assert asked.notices == codes
    (part,) = asked.result["parts"]
    assert (part["kind"], list(part["exhibit"]["rows"])) == ("figure", [])
    assert asked.result["mode"] == "extractive"


@pytest.mark.parametrize(
    "change",
    [
        {"columns": CHART["columns"][:1], "rows": [["1"]]},
        {"rows": []},
        {"rows": [["a", "b"]]},
        {"rows": [["1", "high"], ["2", "3"]]},
        {"rows": [["1", ""], ["2", ""], ["3", "1"]]},
        {"rows": [["1", "2"]] * 61},
        {"columns": [{**column, "numeric": False} for column in CHART["columns"]]},
        {"columns": [{"name": " ", "numeric": True}, CHART["columns"][1]]},
    ],
)
def test_the_shape_of_a_charts_data_is_checked(change):
    assert rows_of(ChartOfModel.model_validate(CHART))
    assert rows_of(ChartOfModel.model_validate({**CHART, **change})) is None


def test_a_paper_without_any_and_a_library_without_papers(room, bench):
    empty = Room(bench, bench, room.model, {})
    assert show(empty, bench, "figures").failure["code"] == "NO_PAPERS"
    text = "# Apples\n\n## Introduction\n\n" + "Apples are round and grow on trees in gardens. " * 9
    bench.ingestor.ingest(LOCAL_USER, "apples.md", text.encode())
    asked = show(empty, bench, "列出所有图表")
    assert asked.result["answer"] == "论文没有给出可以读取的图表。"


def test_stop_while_a_model_looks_shows_what_needs_none(room):
    room.model.reply = Reply(text=json.dumps(CHART), first_delay=20)
    runner, scope = room.modelled.runner, (room.papers["fusion"],)
    turn = runner.start(TurnRequest(LOCAL_USER, "all figures", scope, intent="extract_charts"))
    while not room.model.requests:
        time.sleep(0.02)
    asked = time.monotonic()
    runner.cancel(LOCAL_USER, turn.id)
    (*_, last) = runner.follow(LOCAL_USER, turn.id)
    assert time.monotonic() - asked < 3
    assert last.data["stopped"]
    assert [part["kind"] for part in last.data["parts"]] == ["figure", "figure"]
