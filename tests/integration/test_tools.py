"""Every tool against loopback servers: success, each failure by its code, retries, cancel."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from pydantic import BaseModel

from core.config import Settings
from core.errors import Cancelled, Unavailable
from core.tools import arxiv_search, catalogues
from core.tools.catalogue import (
    TOOLS,
    build_citations,
    fetch_fulltext,
    paper_search,
    search_library,
    summarize_paper,
)
from core.tools.envelope import ToolFailure
from core.tools.registry import Registry, tool
from core.tools.toolbox import Toolbox
from core.types import LOCAL_USER
from core.workbench import Workbench
from tests.conftest import ROOT
from tests.fixtures.arxiv_server import (
    BROKEN,
    CUT_OFF,
    EMPTY,
    FOUND,
    MALFORMED,
    SLOW,
    Arxiv,
    feed,
    loopback_arxiv,
    ok,
    paper_page,
    rate_limited,
)
from tests.fixtures.model_server import Reply, failure
from tests.fixtures.reviewed import SUBJECTS, page

WORK = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1000/Fusion.1",
    "title": "Rank fusion for search",
    "publication_year": 2021,
    "authorships": [{"author": {"display_name": "Ada Lovelace"}}, {"author": None}],
    "abstract_inverted_index": {"fuse": [1], "We": [0], "rankings.": [2]},
    "primary_topic": {"display_name": "Information Retrieval"},
    "best_oa_location": {"pdf_url": "https://example.org/fusion.pdf"},
    "locations": [{"landing_page_url": "http://arxiv.org/abs/2101.00002"}],
}
ITEM = {
    "DOI": "10.1000/FUSION.1",
    "title": ["Rank <i>fusion</i> for search"],
    "author": [{"given": "Ada", "family": "Lovelace"}, {"name": "The Team"}],
    "published": {"date-parts": [[2021, 3]]},
    "abstract": "<jats:p>Abstract We fuse rankings.</jats:p>",
    "container-title": ["Journal of Search"],
    "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
    "link": [{"URL": "https://example.org/f.pdf", "content-type": "application/pdf"}],
}


@pytest.fixture
def arxiv() -> Iterator[Arxiv]:
    with loopback_arxiv() as server:
        yield server


@pytest.fixture
def make_box(arxiv: Arxiv, tmp_path: Path, embedders, worker) -> Callable[..., Toolbox]:
    """Make the tools' parts, on the loopback servers; no database is started for them."""

    def make(**more: object) -> Toolbox:
        values = {
            "LECTERN_DATA_DIR": tmp_path,
            "ARXIV_URL": arxiv.site,
            "ARXIV_API_URL": arxiv.url,
            "ARXIV_SECONDS": 0,
            "OPENALEX_URL": f"{arxiv.site}/openalex",
            "CROSSREF_URL": f"{arxiv.site}/crossref",
        }
        bench = Workbench(Settings(_env_file=None, **(values | more)))
        shared = {"embedder": lambda: embedders[0], "worker": lambda: worker}
        return replace(bench.toolbox(LOCAL_USER), first_pause=0.01, **shared)

    return make


@pytest.fixture
def box(make_box: Callable[..., Toolbox]) -> Toolbox:
    """The tools' parts, without a model."""
    return make_box()


def code_of(envelope) -> str:
    error = envelope["error"]
    assert envelope["ok"] == (error is None) == (envelope["data"] is not None)
    if error:
        assert error["message"]
        assert error["hint"]
    return error["code"] if error else ""


# --- registry, envelope, retry --------------------------------------------------------------------


class Nothing(BaseModel):
    """No arguments."""


def scripted(*outcomes: object):
    """Return a tool that does one thing after another, the last for good, and how often it ran."""
    left, runs = list(outcomes), []

    def work(box: Toolbox, wanted: Nothing) -> dict:
        runs.append(time.monotonic())
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return dict(outcome)

    return tool(Nothing, source="here", about="", registry=Registry())(work), runs


DOWN = ToolFailure("NETWORK", "It is away.", "Try again.")


def test_a_model_sees_every_tool_with_the_schema_of_its_arguments():
    assert list(TOOLS) == [
        "build_citations",
        "fetch_fulltext",
        "search_library",
        "paper_search",
        "summarize_paper",
    ]
    for name, found in TOOLS.items():
        schema = found.schema()
        assert schema["name"] == name
        assert len(schema["description"]) > 40
        assert schema["parameters"]["type"] == "object"
        json.dumps(schema)
    search = TOOLS["paper_search"].schema()["parameters"]
    assert search["required"] == ["topic"]
    assert search["properties"]["source"]["enum"] == ["arxiv", "openalex", "crossref"]


def test_a_repeated_name_is_an_error():
    registry = Registry()
    tool(Nothing, source="here", about="", registry=registry)(lambda box, wanted: {})
    with pytest.raises(ValueError, match="two tools"):
        tool(Nothing, source="here", about="", registry=registry)(lambda box, wanted: {})


@pytest.mark.parametrize(
    ("outcomes", "code", "runs"),
    [
        ([{"a": 1}], "", 1),
        ([ToolFailure("NOT_FOUND", "None.", "Look elsewhere.")], "NOT_FOUND", 1),
        ([DOWN, {"a": 1}], "", 2),
        ([DOWN], "NETWORK", 3),
        ([DOWN, ToolFailure("PARSE_ERROR", "What?", "Wait.")], "PARSE_ERROR", 2),
        ([ToolFailure("RATE_LIMITED", "Wait.", "Wait.", retry_after=99)], "RATE_LIMITED", 1),
        ([Cancelled("Stopped.", hint="Start again.")], "CANCELLED", 1),
        ([Unavailable("The database is away.")], "UPSTREAM_ERROR", 3),
        ([KeyError("ours")], "INTERNAL_ERROR", 1),
    ],
)
def test_what_is_tried_again_and_what_comes_of_it(box, caplog, outcomes, code, runs):
    run, ran = scripted(*outcomes)
    envelope = run(box)
    assert code_of(envelope) == code
    assert len(ran) == runs
    assert envelope["meta"]["source"] == "here"
    assert ("Traceback" in caplog.text) == (code == "INTERNAL_ERROR")


def test_unknown_arguments_are_told_and_nothing_is_done(box):
    run, ran = scripted({})
    assert code_of(paper_search(box, topc="fusion")) == "INVALID_ARGS"
    assert code_of(run(box)) == ""
    assert len(ran) == 1


def test_retry_after_is_honoured_and_counts_in_the_time(box):
    asks = ToolFailure("RATE_LIMITED", "Wait.", "Wait.", retry_after=0.3)
    run, ran = scripted(asks, {})
    envelope = run(box)
    assert 0.3 <= ran[1] - ran[0] < 2
    assert envelope["meta"]["elapsed_ms"] >= 300


def test_a_stop_ends_the_pauses_and_the_last_envelope_comes(box):
    stop = threading.Event()
    run, ran = scripted(ToolFailure("NETWORK", "Away.", "Wait.", retry_after=20))
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    assert code_of(run(replace(box, cancelled=stop))) == "NETWORK"
    assert time.monotonic() - began < 3
    assert len(ran) <= 2


# --- paper_search ---------------------------------------------------------------------------------


def test_a_paper_that_a_source_gives_twice_is_there_once(arxiv, box):
    """arXiv's are asked for again where a page of results comes short."""
    arxiv.answers = [ok(feed("2301.00001v1", "2301.00002v1", total=3))]
    found = paper_search(box, topic="fusion", number=3)["data"]["papers"]
    assert sorted(paper["arxiv_id"] for paper in found) == ["2301.00001", "2301.00002"]


def test_papers_of_arxiv_come_ranked(box, arxiv):
    arxiv.answers = [ok(feed("2301.00001v1", "2301.00002v1", total=321))]
    envelope = paper_search(box, topic="fusion 2301.00002v1", number=2)
    data = envelope["data"]
    assert (data["total"], data["translated_by"], data["topic"]) == (321, "", "fusion 2301.00002v1")
    assert [paper["arxiv_id"] for paper in data["papers"]] == ["2301.00002", "2301.00001"]
    assert set(data["papers"][0]["relevance"]) == {"embedding", "tfidf", "combined"}
    by_date = paper_search(box, topic="fusion 2301.00002v1", number=2, sort="submitted")["data"]
    assert [paper["arxiv_id"] for paper in by_date["papers"]] == ["2301.00001", "2301.00002"]


def test_a_chinese_topic_is_translated_by_terms(box, arxiv):
    data = paper_search(box, topic="大语言模型的幻觉检测研究")["data"]
    assert arxiv.asked[-1]["search_query"] == (
        'all:"large language models" AND all:hallucination AND all:detection'
    )
    assert (data["translated_by"], data["unknown_terms"]) == ("terms", [])
    assert paper_search(box, topic="RAG 与饕餮纹的检索")["data"]["unknown_terms"] == ["饕餮纹"]
    assert arxiv.asked[-1]["search_query"] == "all:RAG AND all:retrieval"
    assert code_of(paper_search(box, topic="饕餮纹")) == "INVALID_ARGS"


@pytest.mark.parametrize(
    ("reply", "query", "by"),
    [
        (Reply('{"query": "\\"taotie motif\\" bronze"}'), 'all:"taotie motif" AND all:bronze', "model"),
        (Reply("I cannot."), "all:generation", "terms"),
        (Reply('{"query": "青铜器 bronze"}'), "all:generation", "terms"),
        (failure(500, "down"), "all:generation", "terms"),
    ],
)  # fmt: skip
def test_a_chinese_topic_is_translated_by_the_model_where_it_can(
    make_box, arxiv, model_server, reply, query, by
):
    loop = {"LLM_BASE_URL": model_server.url, "LLM_API_KEY": "k", "LLM_MODEL": "loop"}
    model_server.reply = reply
    data = paper_search(make_box(**loop), topic="饕餮纹生成")["data"]
    assert data["translated_by"] == by
    assert arxiv.asked[-1]["search_query"] == query


FAULTS = [
    ([EMPTY], "EMPTY_RESULT", 1),
    ([MALFORMED], "PARSE_ERROR", 1),
    ([rate_limited("3600")], "RATE_LIMITED", 1),
    ([rate_limited("0"), FOUND], "", 2),
    ([BROKEN, FOUND], "", 2),
    ([BROKEN], "UPSTREAM_ERROR", 3),
    ([CUT_OFF], "NETWORK", 3),
    ([SLOW], "TIMEOUT", 3),
    ([(404, {}, b"")], "INVALID_ARGS", 1),
]


@pytest.mark.parametrize(("answers", "code", "tries"), FAULTS)
def test_every_failure_of_arxiv_has_its_code(box, arxiv, monkeypatch, answers, code, tries):
    monkeypatch.setattr(arxiv_search, "SECONDS", (0.3, 0.3))
    arxiv.answers = list(answers)
    assert code_of(paper_search(box, topic="fusion")) == code
    assert len(arxiv.asked) == tries


def as_json(answer, source):
    """Return what the same fault looks like at another catalogue."""
    if answer is FOUND:
        return ok(
            {"meta": {"count": 1}, "results": [WORK]} if source == "openalex" else works(ITEM)
        )
    if answer is EMPTY:
        return ok({"meta": {"count": 0}, "results": []} if source == "openalex" else works())
    return answer


def works(*items, total=0):
    return {"message": {"total-results": total or len(items), "items": list(items)}}


@pytest.mark.parametrize("source", ["openalex", "crossref"])
@pytest.mark.parametrize(("answers", "code", "tries"), FAULTS)
def test_every_failure_of_the_second_sources_has_the_same_code(
    box, arxiv, monkeypatch, source, answers, code, tries
):
    monkeypatch.setattr(catalogues, "SECONDS", httpx.Timeout(0.3))
    arxiv.pages[f"/{source}/works"] = [as_json(answer, source) for answer in answers]
    envelope = paper_search(box, topic="fusion", source=source)
    assert code_of(envelope) == code
    assert envelope["meta"]["source"] == source
    assert len(arxiv.asked) == tries


def test_openalex_gives_metadata_abstract_and_open_copy(box, arxiv):
    arxiv.pages["/openalex/works"] = [
        ok({"meta": {"count": 41}, "results": [WORK, {"title": None}, 3]})
    ]
    given = {"topic": "ti:rank AND all:fusion", "author": "Love,lace", "year_from": 2020}
    data = paper_search(box, source="openalex", number=20, offset=20, **given)["data"]
    (paper,) = data["papers"]
    assert data["total"] == 41
    assert {key: paper[key] for key in paper if key != "relevance"} == {
        "source": "openalex",
        "arxiv_id": "2101.00002",
        "version": None,
        "title": "Rank fusion for search",
        "authors": ["Ada Lovelace"],
        "year": 2021,
        "abstract": "We fuse rankings.",
        "categories": ["Information Retrieval"],
        "doi": "10.1000/fusion.1",
        "url": "https://openalex.org/W1",
        "open_copy": "https://example.org/fusion.pdf",
    }
    asked = arxiv.asked[-1]
    assert (asked["search"], asked["page"], asked["per-page"]) == ("rank fusion", "2", "20")
    assert asked["filter"] == ("from_publication_date:2020-01-01,raw_author_name.search:Love lace")
    assert code_of(paper_search(box, topic="x", source="openalex", offset=3)) == "INVALID_ARGS"


def test_crossref_gives_metadata_abstract_and_open_copy(box, arxiv):
    odd = {"title": ["Odd"], "URL": "javascript:alert(1)", "issued": {"date-parts": [[None]]}}
    arxiv.pages["/crossref/works"] = [ok(works(ITEM, odd, {"title": []}, total=7))]
    given = {"topic": "rank fusion", "author": "Lovelace", "year_to": 2022, "sort": "submitted"}
    data = paper_search(box, source="crossref", **given)["data"]
    first, second = data["papers"]
    assert {key: first[key] for key in first if key != "relevance"} == {
        "source": "crossref",
        "arxiv_id": "",
        "version": None,
        "title": "Rank fusion for search",
        "authors": ["Ada Lovelace", "The Team"],
        "year": 2021,
        "abstract": "We fuse rankings.",
        "categories": ["Journal of Search"],
        "doi": "10.1000/fusion.1",
        "url": "https://doi.org/10.1000/fusion.1",
        "open_copy": "https://example.org/f.pdf",
    }
    assert (second["url"], second["year"], second["authors"]) == ("", None, [])
    assert arxiv.asked[-1]["filter"] == "until-pub-date:2022"
    assert arxiv.asked[-1]["query.author"] == "Lovelace"
    limited = paper_search(box, topic="x", source="crossref", categories=["cs.IR"])
    assert code_of(limited) == "INVALID_ARGS"


def test_recorded_answers_of_the_second_sources_are_read(box, arxiv, shared):
    folder = shared / "citation_check" / "recorded"
    rows = json.loads((folder / "test_title_search_paper_attributes1.json").read_text())
    for row in rows:
        host = httpx.URL(row["url"]).host
        if host in ("api.openalex.org", "api.crossref.org") and row["status"] == 200:
            source = host.split(".")[1]
            if "?" in row["url"]:
                arxiv.pages[f"/{source}/works"] = [ok(row["body"])]
    for source in ("openalex", "crossref"):
        best = paper_search(box, topic="PaperQA", source=source)["data"]["papers"][0]
        assert best["title"].startswith("PaperQA") or source == "crossref"  # knows no preprints
        assert best["title"]
        assert best["authors"]
        assert best["year"]
    nobody = json.loads((folder / "test_bad_dois.json").read_text())[1]
    arxiv.pages["/crossref/works"] = [ok(nobody["body"])]
    assert code_of(paper_search(box, topic="abs12032jsdafn", source="crossref")) == "EMPTY_RESULT"


# --- fetch_fulltext -------------------------------------------------------------------------------


PDF = ROOT / "data" / "samples" / "fusion.pdf"


def test_the_text_comes_from_html_then_pdf_then_the_abstract(box, arxiv):
    arxiv.pages |= {
        "/html/2401.00001": [ok(paper_page(8))],
        "/html/2401.00002": [ok(paper_page(1))],
        "/pdf/2401.00002": [ok(PDF.read_bytes())],
        "/pdf/2401.00003": [ok(b"%PDF-1.4 broken")],
    }
    whole = fetch_fulltext(box, arxiv_id="arXiv:2401.00001")["data"]
    assert (whole["got"], whole["title"]) == ("html", "On joining")
    assert [part["title"] for part in whole["sections"]][-1] == "Part 7"
    assert whole["characters"] == sum(len(part["text"]) for part in whole["sections"])
    printed = fetch_fulltext(box, arxiv_id="2401.00002")["data"]
    assert printed["got"] == "pdf"
    assert printed["characters"] > 5000
    for number in ("2401.00003", "2401.00004"):  # not to be read; not there
        arxiv.answers = [ok(feed(f"{number}v1"))]
        brief = fetch_fulltext(box, arxiv_id=number)["data"]
        assert brief["got"] == "abstract"
        assert brief["sections"] == [{"title": "Abstract", "text": "It joins two rankings."}]
    arxiv.answers = [EMPTY]
    assert code_of(fetch_fulltext(box, arxiv_id="2401.00004")) == "NOT_FOUND"


@pytest.mark.parametrize(
    ("answers", "code", "tries"),
    [
        ([rate_limited("0"), ok(paper_page(8))], "", 2),
        ([rate_limited("3600")], "RATE_LIMITED", 1),
        ([BROKEN, ok(paper_page(8))], "", 2),
        ([BROKEN], "UPSTREAM_ERROR", 3),
        ([CUT_OFF], "NETWORK", 3),
        ([(302, {"Location": "http://localhost:1/evil"}, b"")], "UPSTREAM_ERROR", 3),
    ],
)
def test_what_keeps_a_text_from_coming(box, arxiv, answers, code, tries):
    arxiv.pages["/html/2401.00001"] = list(answers)
    assert code_of(fetch_fulltext(box, arxiv_id="2401.00001")) == code
    assert arxiv.paths == ["/html/2401.00001"] * tries


def test_only_papers_of_arxiv_are_fetched(box, arxiv):
    for name in ("10.1145/3292500.3330701", "fusion", "http://localhost/html/2401.00001"):
        assert code_of(fetch_fulltext(box, arxiv_id=name)) == "INVALID_ARGS"
    assert arxiv.paths == []


def test_a_stopped_fetch_asks_nothing(box, arxiv):
    stop = threading.Event()
    stop.set()
    stopped = fetch_fulltext(replace(box, cancelled=stop), arxiv_id="2401.00001")
    assert code_of(stopped) == "CANCELLED"
    assert arxiv.paths == []


# --- search_library -------------------------------------------------------------------------------


def test_passages_of_the_own_library_and_of_no_other(room):
    box = room.offline.toolbox(LOCAL_USER)
    paper = str(room.papers["fusion"])
    found = search_library(box, query="How are scores fused?", papers=[paper], number=3)
    passages = found["data"]["passages"]
    assert len(passages) == 3
    assert {passage["paper_id"] for passage in passages} == {paper}
    assert all(passage["text"] and passage["page"] for passage in passages)
    assert found["meta"]["source"] == "library"
    stranger = room.offline.toolbox(uuid4())
    assert code_of(search_library(stranger, query="fused", papers=[paper])) == "NOT_FOUND"
    assert code_of(search_library(stranger, query="fused")) == "EMPTY_RESULT"
    assert code_of(search_library(box, query="  ")) == "INVALID_ARGS"


# --- build_citations ------------------------------------------------------------------------------

A = {"key": "a", "title": "On  A", "authors": ["Ada L."], "year": 2020, "arxiv_id": "2001.00001v2"}
B = {"key": "b", "title": "On B", "authors": ["Bob M."], "year": 2021, "doi": "10.1000/B"}


def test_numbers_are_the_systems_and_both_maps_agree(box):
    data = build_citations(box, papers=[B, A])["data"]
    assert data["references"] == [
        {"n": 1, "key": "b", "title": "On B", "authors": ["Bob M."], "year": 2021,
         "url": "https://doi.org/10.1000/b"},
        {"n": 2, "key": "a", "title": "On A", "authors": ["Ada L."], "year": 2020,
         "url": "https://arxiv.org/abs/2001.00001"},
    ]  # fmt: skip
    assert data["number_of"] == {"b": 1, "a": 2}
    assert data["key_of"] == {"1": "b", "2": "a"}


@pytest.mark.parametrize(
    ("papers", "code"),
    [
        ([A, {**B, "key": "a"}], "DUPLICATE"),
        ([A, {**B, "arxiv_id": "arXiv:2001.00001"}], "DUPLICATE"),
        ([A, {**B, "doi": "10.48550/arXiv.2001.00001"}], "DUPLICATE"),
        ([B, {**A, "doi": "https://doi.org/10.1000/b"}], "DUPLICATE"),
        ([A, {**A, "key": "c", "arxiv_id": "", "title": "on a"}], "DUPLICATE"),
        ([A, {**A, "key": "c", "arxiv_id": "", "authors": ["Eve"]}], ""),
        ([{**A, "title": " "}], "MISSING_METADATA"),
        ([{**A, "authors": []}], "MISSING_METADATA"),
        ([{**A, "year": None}], "MISSING_METADATA"),
        ([], "INVALID_ARGS"),
        ([{**A, "n": 7}], "INVALID_ARGS"),
    ],
)
def test_no_paper_twice_and_none_without_what_a_reference_needs(box, papers, code):
    assert code_of(build_citations(box, papers=papers)) == code


# --- summarize_paper ------------------------------------------------------------------------------


def test_a_paper_in_its_own_sentences(room):
    paper = room.papers["fusion"]
    data = summarize_paper(room.offline.toolbox(LOCAL_USER), paper_id=str(paper))["data"]
    assert (data["mode"], data["got"], data["parts"], data["dropped"]) == (
        "extractive",
        "library",
        0,
        0,
    )
    assert set(data["fields"]) == {"problem", "method", "data", "results", "limits", "conclusion"}
    chosen = [text for texts in data["fields"].values() for text in texts]
    assert len(chosen) == len(set(chosen)) > 6
    assert 0 < data["ratio"] < 0.5
    chunks = room.offline.papers.page_chunks(LOCAL_USER, paper)
    printed = "".join("".join(chunk.text.split()) for chunk in chunks)
    assert sum("".join(text.split()) in printed for text in chosen) >= len(chosen) - 1


def notes(body) -> str:
    return json.dumps({"method": ["It fuses two rankings."], "results": ["It gains 4 points."]})


def test_a_model_summarises_part_by_part_and_what_it_drops_is_counted(room):
    box = room.modelled.toolbox(LOCAL_USER)
    paper = str(room.papers["fusion"])
    room.model.reply = Reply(notes)
    whole = summarize_paper(box, paper_id=paper)["data"]
    assert (whole["mode"], whole["dropped"]) == ("llm", 0)
    assert whole["parts"] > 1
    assert whole["fields"]["method"] == ["It fuses two rankings."]
    assert whole["ratio"] < 0.02
    room.model.reset()
    room.model.reply = Reply(notes)
    room.model.enqueue(Reply("no JSON at all"))
    part = summarize_paper(box, paper_id=paper)["data"]
    assert (part["mode"], part["dropped"], part["parts"]) == ("llm", 1, whole["parts"])
    room.model.reset()
    room.model.reply = failure(500, "The server had an error.")
    none = summarize_paper(box, paper_id=paper)["data"]
    assert (none["mode"], none["dropped"]) == ("extractive", none["parts"])
    assert none["why"]
    assert any(none["fields"].values())


def test_a_paper_in_which_nothing_is_recognised_has_no_empty_summary(room):
    text = "# Über Wiesen\n\n## Boden\n\n" + "Der Boden der Wiese ist feucht und schwarz. " * 20
    paper = room.offline.ingestor.ingest(LOCAL_USER, "wiese.md", text.encode()).paper_id
    box = room.offline.toolbox(LOCAL_USER)
    assert code_of(summarize_paper(box, paper_id=str(paper))) == "EMPTY_RESULT"
    room.offline.papers.remove(LOCAL_USER, paper)


def test_what_the_model_notes_too_much_of_is_merged(room):
    def reply(body) -> str:
        if body["response_format"]["json_schema"]["schema"]["title"] == "Merged":
            return json.dumps({"sentences": ["All in one."]})
        part = str(body["messages"])[-400:]
        return json.dumps({"results": [f"Finding {hash((part, n))}." for n in range(6)]})

    room.model.reply = Reply(reply)
    paper = str(room.papers["fusion"])
    data = summarize_paper(room.modelled.toolbox(LOCAL_USER), paper_id=paper)["data"]
    assert data["fields"]["results"] == ["All in one."]


def test_a_paper_of_arxiv_is_summarised_from_what_could_be_had(box, arxiv, room):
    arxiv.pages["/html/2401.00001"] = [ok(page("On joining", *SUBJECTS[0][2:]))]
    data = summarize_paper(box, arxiv_id="2401.00001")["data"]
    assert (data["got"], data["title"]) == ("html", "On joining")
    arxiv.answers = [EMPTY]
    assert code_of(summarize_paper(box, arxiv_id="2401.00009")) == "NOT_FOUND"
    assert code_of(summarize_paper(box)) == "INVALID_ARGS"
    assert code_of(summarize_paper(box, paper_id="x", arxiv_id="2401.00001")) == "INVALID_ARGS"
    stranger = room.offline.toolbox(uuid4())
    mine = str(room.papers["fusion"])
    assert code_of(summarize_paper(stranger, paper_id=mine)) == "NOT_FOUND"
