"""What `eval compression` says of a summary, on a paper read from its file."""

from core.evals.compression import Read, measure, timed
from core.tools.catalogue import summarize_paper
from core.tools.fulltext import Section, sections
from core.types import LOCAL_USER
from core.workbench import Workbench
from tests.conftest import ROOT


def test_a_papers_own_sentences_keep_its_numbers(bench: Workbench) -> None:
    pdf = sorted((ROOT / "data" / "samples").glob("*.pdf"))[0]
    paper = bench.ingestor.ingest(LOCAL_USER, pdf.name, pdf.read_bytes()).paper_id
    parts = sections(bench.papers.page_chunks(LOCAL_USER, paper))
    box = bench.toolbox(LOCAL_USER)
    found = measure(timed(parts, lambda: summarize_paper(box, paper_id=str(paper))))
    assert found["mode"] == "extractive"
    assert 0 < found["characters"]["after"] < found["characters"]["before"]
    assert found["tokens_estimated"]["after"] < found["tokens_estimated"]["before"]
    assert found["numbers"]["said"] == found["numbers"]["in_source"] > 0


def test_an_invented_number_and_what_is_left_out_are_told() -> None:
    parts = [Section("Method", "We use 12 layers."), Section("Results", "It gains 3.5 points.")]
    fields = {"method": ["We use 12 layers."], "results": ["It gains 35 points."], "limits": []}
    found = measure(Read(parts, {"fields": fields, "mode": "llm", "dropped": 0}, 0.1))
    assert found["numbers"] == {
        "said": 2,
        "in_source": 1,
        "not_in_source": ["35"],
        "left_out": 1,
        "of_source": 2,
    }
    assert found["sentences"] == {"n": 2, "as_in_source": 1}
    assert found["left_out"] == {"fields": ["limits"], "sections": 1, "of_sections": 2}


def test_an_empty_summary_has_no_ratio() -> None:
    parts = [Section("", "Ein Satz.")]
    found = measure(Read(parts, {"fields": {"method": []}, "mode": "extractive", "dropped": 0}, 0))
    assert found["ratio"] is None
