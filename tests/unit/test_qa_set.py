import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from pypdf import PdfReader

EVALS = Path(__file__).resolve().parents[2] / "data" / "evals"
HALVES = ("tune", "report")
FIELDS = {"id", "file", "question", "lang", "answerable", "pages", "must_match", "answer"}
KINDS = {
    "number", "definition", "method", "dataset", "reason",
    "comparison", "limitation", "claim", "procedure",
}  # fmt: skip
NO_ANSWER_KINDS = {"nearmiss", "offtopic"}
# Several files of the shared material are one paper, whole or in part.
PAPERS = {
    "dpr_first_2_pages.pdf": "dpr_acl_two_column.pdf",
    "layoutparser_table_page.pdf": "layoutparser_2p.pdf",
    "layoutparser_with_empty_pages.pdf": "layoutparser_2p.pdf",
    "otsl_2305.03393_page9_table.pdf": "otsl_2305.03393_compiled.pdf",
}
# pypdf turns the Chinese of these into other characters; PDFium reads them.
NOT_FOR_PYPDF = {"lshort-zh-cn.pdf", "install-latex-guide-zh-cn.pdf"}
HAN = re.compile(r"[\u4e00-\u9fff]")
CJK = r"[\u2e80-\u9fff\u3000-\u303f\uff00-\uffef]"


def read(half: str) -> list[dict[str, Any]]:
    lines = (EVALS / f"qa_{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def paper(row: dict[str, Any]) -> str:
    name = Path(row["file"]).name
    return PAPERS.get(name, name)


ROWS = {half: read(half) for half in HALVES}
FILES = sorted({row["file"] for half in HALVES for row in ROWS[half]})


def joined(text: str) -> str:
    """One line, with PDFium's U+FFFE and hyphens at line ends repaired."""
    text = unicodedata.normalize("NFKC", text.replace("\r", ""))
    text = re.sub(r"(?<=\w)[-\u00ad\u2010\ufffe]\s*\n\s*(?=\w)", "", text)
    return re.sub(r"\s+", " ", text.replace("\ufffe", ""))


def without_cjk_spaces(text: str) -> str:
    return re.sub(rf"(?<={CJK}) (?={CJK})", "", text)


def pdfium_pages(path: Path) -> Iterator[str]:
    with pypdfium2.PdfDocument(path) as document:
        for number in range(len(document)):
            page = document[number]
            text = page.get_textpage()
            yield text.get_text_range()
            text.close()
            page.close()


def misses(rows: list[dict[str, Any]], pages: list[str]) -> list[str]:
    wrong = []
    for row in rows:
        pattern = re.compile(row["must_match"])
        hits = [number for number, text in enumerate(pages, 1) if pattern.search(text)]
        if hits != row["pages"]:
            wrong.append(f"{row['id']}: listed {row['pages']}, matched {hits}")
    return wrong


@pytest.mark.parametrize("half", HALVES)
def test_every_line_has_the_format(half: str) -> None:
    for number, row in enumerate(ROWS[half], 1):
        assert set(row) == FIELDS
        prefix, serial, kind = row["id"].split("-")
        assert (prefix, int(serial)) == (half, number)
        assert kind in (KINDS if row["answerable"] else NO_ANSWER_KINDS)
        assert row["file"].endswith(".pdf")
        assert row["answer"].strip()
        assert bool(HAN.search(row["question"])) == (row["lang"] == "zh")
        assert row["lang"] in {"en", "zh"}


@pytest.mark.parametrize("half", HALVES)
def test_only_answerable_questions_have_pages_and_a_pattern(half: str) -> None:
    for row in ROWS[half]:
        if not row["answerable"]:
            assert (row["pages"], row["must_match"]) == ([], "")
            continue
        assert row["pages"] == sorted(set(row["pages"]))
        assert row["pages"][0] >= 1
        assert row["must_match"].startswith("(?i)")
        assert not re.search(row["must_match"], ""), "it would match any passage"


def test_no_question_stands_twice() -> None:
    questions = [row["question"] for half in HALVES for row in ROWS[half]]
    assert len(set(questions)) == len(questions)


def test_no_paper_stands_in_both_halves() -> None:
    tune, report = ({paper(row) for row in ROWS[half]} for half in HALVES)
    assert not tune & report


@pytest.mark.parametrize("half", HALVES)
def test_the_mix_is_what_the_readme_says(half: str) -> None:
    rows = ROWS[half]
    chinese = [row for row in rows if row["lang"] == "zh"]
    english = [row for row in rows if row["lang"] == "en"]
    unanswerable = [row for row in rows if not row["answerable"]]
    near_misses = [row for row in unanswerable if row["id"].endswith("nearmiss")]
    assert len(rows) >= 44
    assert 0.25 <= len(unanswerable) / len(rows) <= 0.35
    assert len(near_misses) > len(unanswerable) / 2
    assert 0.4 <= len(chinese) / len(rows) <= 0.6
    assert sum(row["file"].startswith("pdf_papers/") for row in chinese) >= len(chinese) / 3
    assert sum(row["file"].startswith("pdf_zh/") for row in english) >= 3
    kinds = {row["id"].split("-")[2] for row in rows if row["answerable"]}
    assert kinds == KINDS


def answerable(file: str) -> list[dict[str, Any]]:
    rows = [row for half in HALVES for row in ROWS[half]]
    return [row for row in rows if row["file"] == file and row["answerable"]]


@pytest.mark.parametrize("file", FILES)
def test_patterns_match_their_pages_and_no_other(file: str, shared: Path) -> None:
    pages = [joined(text) for text in pdfium_pages(shared / file)]
    assert not misses(answerable(file), pages)
    assert not misses(answerable(file), [without_cjk_spaces(text) for text in pages])


@pytest.mark.parametrize("file", [f for f in FILES if Path(f).name not in NOT_FOR_PYPDF])
def test_another_reader_finds_the_patterns_too(file: str, shared: Path) -> None:
    pages = PdfReader(shared / file).pages
    for row in answerable(file):
        for number in row["pages"]:
            text = joined(pages[number - 1].extract_text())
            assert re.search(row["must_match"], text), f"{row['id']} on page {number}"
