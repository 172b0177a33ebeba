"""The sample papers: made from their sources, true to figures.json, readable by two readers."""

import json
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pypdf
import pypdfium2
import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "data" / "samples"
PAPERS: list[dict[str, Any]] = json.loads((FOLDER / "samples.json").read_text("utf-8"))["papers"]
FIGURES: dict[str, Any] = json.loads((FOLDER / "figures.json").read_text("utf-8"))
CJK_FONT_OF_THE_PDFS = "a04178ec485dffdff7cc0c0c20e1fce9202d7e2160d805e8e44a4c8841c58481"
"""NotoSerifCJK-Regular.ttc of the Debian package fonts-noto-cjk that the PDFs were set with."""

TASKS = ("zh_en", "zh_en_bare", "en_zh_bare")

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=[p["file"] for p in PAPERS])


@pytest.fixture(scope="module")
def typesetter() -> ModuleType:
    pytest.importorskip("typst", reason="typst is in requirements-dev.txt")
    spec = spec_from_file_location("typeset_samples", FOLDER / "typeset.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def by_pypdf(file: str) -> list[str]:
    return [page.extract_text() for page in pypdf.PdfReader(FOLDER / file).pages]


@cache
def by_pdfium(file: str) -> list[str]:
    document = pypdfium2.PdfDocument(FOLDER / file)
    try:
        pages = []
        for page in document:
            text = page.get_textpage()
            pages.append(text.get_text_range())
            text.close()
            page.close()
        return pages
    finally:
        document.close()


READERS = [by_pypdf, by_pdfium]


def packed(text: str) -> str:
    """Without white space and line-end hyphens (pdfium's are U+FFFE), so lines do not matter."""
    normal = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("-\r", "-\n")
    return "".join(normal.replace("-\n", "").split())


def shown(value: float, digits: int = 3) -> str:
    """As lib.typ prints it: halves are rounded away from zero."""
    return f"{value + 1e-9:.{digits}f}"


@each_paper
def test_typesetting_again_gives_the_same_bytes(
    paper: dict[str, Any], typesetter: ModuleType
) -> None:
    if paper["language"] == "zh":
        found = typesetter.cjk_font_sha256()
        if found is None:
            pytest.skip("fonts-noto-cjk is not installed")
        if found != CJK_FONT_OF_THE_PDFS:
            pytest.skip("another version of Noto Serif CJK is installed")
    assert typesetter.typeset(paper) == (FOLDER / paper["file"]).read_bytes()


def test_every_pdf_is_listed_once() -> None:
    assert sorted(p["file"] for p in PAPERS) == sorted(f.name for f in FOLDER.glob("*.pdf"))


@each_paper
def test_title_is_in_the_metadata_and_on_the_first_page(paper: dict[str, Any]) -> None:
    metadata = pypdf.PdfReader(FOLDER / paper["file"]).metadata
    assert metadata is not None
    assert metadata.title == paper["title"]
    for reader in READERS:
        assert packed(paper["title"]) in packed(reader(paper["file"])[0])


@each_paper
def test_is_a_short_paper_and_a_small_file(paper: dict[str, Any]) -> None:
    assert 3 <= len(by_pypdf(paper["file"])) <= 5
    assert (FOLDER / paper["file"]).stat().st_size < 400_000


@each_paper
@pytest.mark.parametrize("reader", READERS)
def test_text_is_whole(paper: dict[str, Any], reader: Callable[[str], list[str]]) -> None:
    text = "\n".join(reader(paper["file"]))
    strange = {c for c in text if unicodedata.category(c) in {"Co", "Cn", "Cs"}} - {"\ufffe"}
    assert not strange | ({"\ufffd"} & set(text))
    chinese = sum("\u4e00" <= c <= "\u9fff" for c in text) / len(packed(text))
    assert chinese > 0.5 if paper["language"] == "zh" else chinese < 0.01


@each_paper
def test_has_the_parts_of_a_paper(paper: dict[str, Any]) -> None:
    text = packed("".join(by_pypdf(paper["file"])))
    english = ["Abstract", "Keywords", "1Introduction", "Table1", "Figure1", "Limitations"]
    chinese = ["摘要", "关键词", "1引言", "表1", "图1", "局限", "参考文献"]
    for part in chinese if paper["language"] == "zh" else [*english, "References"]:
        assert part in text


@each_paper
def test_answers_to_the_suggested_questions_stand_in_the_paper(paper: dict[str, Any]) -> None:
    assert 2 <= len(paper["questions"]) <= 3
    for reader in READERS:
        text = packed("".join(reader(paper["file"])))
        for question in paper["questions"]:
            assert question["en"].endswith("?")
            assert question["zh"].endswith("？")
            assert packed(question["answer_contains"]) in text


def assert_rows(file: str, rows: list[str]) -> None:
    for reader in READERS:
        text = packed("".join(reader(file)))
        for row in rows:
            assert packed(row) in text


def weighted(figures: dict[str, Any], weight: float) -> float:
    return dict(map(tuple, figures["zscored"]))[weight]


def test_numbers_of_the_fusion_paper() -> None:
    sets = [FIGURES["fusion"][name] for name in ("scifact", "pubmedqa", "csl", "qasper")]

    def row(name: str, value: Callable[[dict[str, Any]], float]) -> str:
        return name + " ".join(shown(value(figures)) for figures in sets)

    sizes = [f"{figures['passages']:,} {figures['queries']:,}" for figures in sets]
    rows = [
        row("Dense only", lambda s: s["dense"]),
        row("BM25 only", lambda s: s["bm25"]),
        row("Union, cosine first", lambda s: s["dense"]),
        row("Reciprocal rank fusion", lambda s: s["rrf"]),
        row("Standardised, w = 0.4", lambda s: weighted(s, 0.4)),
        row("Standardised, w = 0.7", lambda s: weighted(s, 0.7)),
    ]
    assert_rows("fusion.pdf", [*rows, *sizes])


def test_numbers_of_the_citations_paper() -> None:
    total = sum(len(kind["threads"]) for kind in FIGURES["threads"]["kinds"])
    assert_rows("citations.pdf", [f"We read {total} such reports", f"({total} in all)"])


def test_threads_are_counted_once() -> None:
    threads = [t for kind in FIGURES["threads"]["kinds"] for t in kind["threads"]]
    assert len(threads) == len(set(threads))


def test_numbers_of_the_cross_language_paper() -> None:
    tasks = [FIGURES["cross_language"][name] for name in TASKS]
    names = {"仅稠密": "dense", "仅 BM25": "bm25", "倒数排名融合": "rrf", "标准化分数": "zscored"}
    measures = ("ndcg10", "recall1", "recall5")
    rows = [
        name + " ".join(shown(task[way][measure]) for task in tasks for measure in measures)
        for name, way in names.items()
    ]
    rows += [f"{shown(t['cosine']['own'])} {shown(t['cosine']['other'])}" for t in tasks]
    assert_rows("crosslang.pdf", rows)


def test_numbers_of_the_local_first_paper() -> None:
    stores, reading = FIGURES["stores"], FIGURES["reading"]
    rows = [
        f"首次启动数据库（含初始化）{shown(stores['server_up_s'], 1)}",
        f"逐篇计算{shown(stores['rank_bm25_ms'], 0)}",
        f"稀疏矩阵{shown(stores['bm25s_ms'], 2)}",
        f"识别一页扫描件{shown(reading['ocr_page_s'], 1)}",
        f"PostgreSQL {stores['postgres_major']} 和 pgvector {stores['pgvector']}",
    ]
    assert_rows("localfirst.pdf", rows)


def test_what_the_prose_says_holds_for_the_figures() -> None:
    """Words do not follow the numbers by themselves: when one of these fails, edit the paper."""
    fusion, crossed = FIGURES["fusion"], FIGURES["cross_language"]
    best = {
        name: max(fusion[name]["zscored"], key=lambda point: point[1])[0]
        for name in ("scifact", "pubmedqa", "csl", "qasper")
    }
    for library in ("scifact", "pubmedqa", "csl"):
        assert fusion[library]["bm25"] > fusion[library]["dense"]
        assert weighted(fusion[library], 0.4) > fusion[library]["rrf"]
        assert weighted(fusion[library], 0.1) > weighted(fusion[library], 0.9)
    assert weighted(fusion["qasper"], 0.9) > weighted(fusion["qasper"], 0.1)
    assert fusion["qasper"]["dense"] > fusion["qasper"]["bm25"]
    assert len(set(best.values())) > 1
    assert FIGURES["tokens"]["lectern"] > FIGURES["tokens"]["white_space"] + 0.05
    for task in ("zh_en_bare", "en_zh_bare"):
        assert crossed[task]["bm25"]["ndcg10"] == 0.0
        assert crossed[task]["zscored"] == crossed[task]["dense"]
    mixed = crossed["zh_en"]
    ways = ("dense", "bm25", "rrf")
    assert mixed["zscored"]["ndcg10"] >= max(mixed[way]["ndcg10"] for way in ways)
    assert mixed["bm25"]["ndcg10"] > 0.5
    assert crossed["zh_en_bare"]["dense"]["recall1"] > 0.5
    assert crossed["en_zh_bare"]["dense"]["ndcg10"] < crossed["zh_en_bare"]["dense"]["ndcg10"]
    for task in TASKS:
        assert crossed[task]["cosine"]["own"] > crossed[task]["cosine"]["other"] + 0.1
        assert crossed[task]["length"]["longer"] > crossed[task]["length"]["shorter"]
    gaps = {t: crossed[t]["length"]["longer"] - crossed[t]["length"]["shorter"] for t in TASKS}
    assert max(gaps, key=lambda task: gaps[task]) == "en_zh_bare"
    kinds = FIGURES["threads"]["kinds"]
    assert max(kinds, key=lambda kind: len(kind["threads"]))["key"] == "citations"
    stores = FIGURES["stores"]
    assert stores["filtered_500_ms"] > 10 * stores["unfiltered_ms"]
    assert stores["binaries_up_s"] < stores["server_up_s"] < FIGURES["start"]["first_page_s"]
    assert stores["rank_bm25_ms"] > stores["bm25s_ms"]
