"""What is taken away reads back, and nothing in it does anything."""

import csv
import io
import json
import re
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.db.conversations import TurnRow
from core.exports import (
    CSV_COLUMNS,
    cells_to_csv,
    table_to_csv,
    to_bibtex,
    to_csv,
    to_json,
    to_markdown,
)
from core.types import AnswerSentence, Box, Citation, Exhibit, PaperMeta, Part, Scores, Verdict

PAPER, OTHER = UUID(int=1), UUID(int=2)
META = PaperMeta(
    "Rates of 50% & more_{x}", ("Ada Müller", "王小明"), 2024, "", "en", "10.1/a_b", "2401.00001"
)
NASTY = st.text(
    st.one_of(
        st.sampled_from("[]()!<>*_`#\\{}$%&~^|=+-@:/.\t\r\n \u3000'\"“”0123456789"),
        st.characters(exclude_categories=["Cs"]),
    )
)
UNSEEN = "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
EVIL = [
    "![x](http://evil.example/a.png)",
    "[x](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "https://evil.example www.evil.example a@evil.example",
    "# heading",
    "1. item",
    "- item",
    "    code",
    "```\ncode\n```",
    "&lt;b&gt;",
    "[^1]: note",
    "a\n===\n\n---\n",
    "| a | b |\n|---|---|\n| c | d |",
    "<!-- x",
    "[x]: http://evil.example",
    "[1]: http://evil.example",
    "[1](http://evil.example)",
    "Yes [1] (http://evil.example) [1] ",
]


def citation(n: int = 1, paper: UUID = PAPER, **changes: object) -> Citation:
    values = {
        "title": META.title,
        "file": "f" * 64,
        "page": 5,
        "section": "2 结果",
        "quote": "Half of them improved.",
        "boxes": (Box(0.1, 0.2, 0.3, 0.4),),
        "scores": Scores(dense=-0.25, bm25=3.5),
        "passage": "",
    }
    return Citation(n=n, paper_id=paper, **{**values, **changes})


def turn(
    sentences: list[AnswerSentence],
    citations: list[Citation],
    position: int = 1,
    question: str = "Why?",
    **changes: object,
) -> TurnRow:
    values = {
        "state": "finished",
        "answer": " ".join(sentence.text for sentence in sentences),
        "selected": "",
        "error": None,
        **changes,
    }
    return TurnRow(
        id=uuid4(),
        conversation_id=uuid4(),
        position=position,
        question=question,
        scope=(PAPER,),
        intent="ask",
        mode="extractive",
        citations=tuple(c.to_json() for c in citations),
        sentences=tuple(s.to_json() for s in sentences),
        steps=({"node": "answer"},),
        usage={},
        notices=(),
        started_at=datetime(2026, 1, 2, tzinfo=UTC),
        **values,
    )


GOOD = AnswerSentence("Half improved [1].", (1,), Verdict("supported"))
BAD = AnswerSentence("All died [1][2].", (1, 2), Verdict("contradicted", "the passage says half"))


def tokens(markdown: str) -> list:
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [t for token in parsed for t in [token, *(token.children or [])]]


def footnotes(markdown: str) -> tuple[list[str], list[str]]:
    """Return the notes used in the text and those defined under it."""
    defined = re.findall(r"(?m)^\[\^(\d+)\]: ", markdown)
    used = re.findall(r"(?<!\\)\[\^(\d+)\](?!: )", markdown)
    return used, defined


def test_markdown_numbers_its_notes_over_the_whole_conversation() -> None:
    turns = [
        turn([GOOD, BAD], [citation(1), citation(2, OTHER, title="B")]),
        turn([GOOD], [citation(1, page=7)], 2, "And 为什么?"),
    ]
    shown = to_markdown("A talk", turns, {PAPER: META})
    assert shown.startswith("# A talk\n\n## Why?\n\nHalf improved[^1]. All died[^1][^2].")
    assert "## And 为什么?\n\nHalf improved[^3]." in shown
    assert "*(contradicted by its passage: the passage says half)*" in shown
    assert "supported" not in shown.replace("not supported", "")
    assert r"[^3]: Rates of 50% \& more\_\{x\}, page 7: “Half of them improved.”" in shown
    assert footnotes(shown) == (["1", "1", "2", "3"], ["1", "2", "3"])


def test_markdown_keeps_paragraphs_and_lists_of_the_answer() -> None:
    texts = ["First [1].", "- one", "- two", "Last."]
    sentences = [AnswerSentence(text, (1,) if "[1]" in text else ()) for text in texts]
    shown = to_markdown("T", [turn(sentences, [citation()], answer="\n".join(texts))], {})
    assert "First[^1].\n\n- one\n\n- two\n\nLast." in shown


def test_markdown_says_what_became_of_a_turn() -> None:
    stopped = turn([], [], answer="Half a", state="stopped", selected="marked\ntext")
    failed = turn([], [], answer="", state="failed", error={"code": "X", "message": "It broke."})
    refused = turn([AnswerSentence("No paper says so.")], [citation()])
    shown = to_markdown("T", [stopped, failed, refused], {})
    assert "> marked text\n\nHalf a\n\n*The reader stopped the answer here.*" in shown
    assert "*It broke.*" in shown
    assert "No paper says so.\n\nPassages looked at: [^1]\n" in shown


def test_markdown_speaks_the_readers_language() -> None:
    said = {"page 5": "第 5 页", "contradicted by its passage": "与原文矛盾", "Papers": "论文"}
    turns = [turn([BAD], [citation(), citation(2)])]
    shown = to_markdown("T", turns, {}, lambda text: said.get(text, text))
    assert all(words in shown for words in said.values())


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_takes_nothing_of_papers_for_markup(evil: str) -> None:
    meta = PaperMeta(evil, (evil,), 2024, "", "en", evil, evil)
    sentence = AnswerSentence(evil, (1,), Verdict("unsupported", evil))
    row = turn([sentence], [citation(title=evil, quote=evil)], question=evil, selected=evil)
    check_harmless(to_markdown(evil, [row], {PAPER: meta}))


@given(title=NASTY, question=NASTY, answer=NASTY, quote=NASTY)
def test_markdown_does_nothing_whatever_it_says(
    title: str, question: str, answer: str, quote: str
) -> None:
    row = turn([AnswerSentence(answer)], [citation(quote=quote, title=title)], question=question)
    check_harmless(to_markdown(title, [row, row], {}))


def check_harmless(shown: str) -> None:
    found = tokens(shown)
    allowed = {"heading", "paragraph", "em", "blockquote", "bullet_list", "list_item"}
    kinds = {re.sub("_(open|close)$", "", token.type) for token in found}
    assert kinds <= allowed | {"inline", "text", "softbreak"}
    assert not re.search(r"(?<!\\)(://|www\.|@)", shown.replace("\\:", ""))
    used, defined = footnotes(shown)
    assert len(set(defined)) == len(defined)
    assert set(used) == set(defined)


@given(NASTY)
def test_a_question_is_shown_as_it_was_asked(question: str) -> None:
    shown = to_markdown("T", [turn([], [], question=question, answer="")], {})
    inline = [token for token in tokens(shown) if token.type == "inline"]
    text = "".join(t.content for t in inline[1].children) if len(inline) > 1 else ""
    seen = "".join(c for c in question if c.isspace() or not re.match(UNSEEN, c))
    assert text == " ".join(seen.split())


def bib_fields(entry: str) -> dict[str, str]:
    """Read an entry as BibTeX does: by counting braces, which a backslash does not hide."""
    fields, at = {}, entry.index(",")
    for match in re.finditer(r"\n  (\w+) = \{", entry):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(entry[end], 0)
            end += 1
        assert match.start() >= at
        fields[match.group(1)], at = entry[match.end() : end - 1], end
    return fields


def test_bibtex_has_an_entry_for_each_cited_paper() -> None:
    turns = [turn([GOOD], [citation(1), citation(2, OTHER, title="Gone"), citation(3)])]
    first, second = to_bibtex(turns, {PAPER: META}).split("\n\n")
    assert first.startswith("@misc{muller2024rates,")
    assert bib_fields(first) == {
        "title": r"{Rates of 50\% \& more\_{\textbraceleft}x{\textbraceright}}",
        "author": "Ada Müller and 王小明",
        "year": "2024",
        "doi": "10.1/a_b",
        "eprint": "2401.00001",
        "archiveprefix": "arXiv",
    }
    assert bib_fields(second) == {"title": "{Gone}"}


def test_bibtex_keys_do_not_collide_nor_depend_on_the_order() -> None:
    papers = {UUID(int=n): META for n in (1, 2)} | {UUID(int=3): PaperMeta("深度学习", ("王",))}
    cited = [citation(n, paper) for n, paper in enumerate(papers, 1)]

    def keys(order: list[Citation]) -> set[str]:
        return set(re.findall(r"@misc\{(.*),", to_bibtex([turn([], order)], papers)))

    assert len(keys(cited)) == 3
    assert keys(cited) == keys(cited[::-1])
    assert all(re.fullmatch(r"[a-z][\w-]*", key) for key in keys(cited))


def test_bibtex_does_not_split_a_name_that_holds_and() -> None:
    papers = {PAPER: PaperMeta("T", ("Barnes and Noble", "Anders Andersen"))}
    shown = to_bibtex([turn([], [citation()])], papers)
    assert "author = {{Barnes and Noble} and Anders Andersen}" in shown


@given(title=NASTY, author=NASTY, doi=NASTY)
def test_bibtex_braces_balance(title: str, author: str, doi: str) -> None:
    papers = {PAPER: PaperMeta(title, (author, "B"), 1999, "", "en", doi, doi)}
    shown = to_bibtex([turn([], [citation(), citation(2, OTHER)])], papers)
    first, second = shown.split("\n\n")
    assert {"title", "author", "year"} <= set(bib_fields(first))
    assert shown.count("{") == shown.count("}")
    assert second.startswith("@misc{rates") is False or bib_fields(second)
    bare = bib_fields(first)["title"]
    assert not re.search(r"(?<!\\)[%&$#_~^]", bare)


def rows(data: bytes) -> list[dict[str, str]]:
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))


def test_csv_has_a_row_for_each_citation() -> None:
    turns = [turn([GOOD, BAD], [citation(1), citation(2, OTHER, title="二")])]
    first, second = rows(to_csv(turns))
    assert tuple(first) == CSV_COLUMNS
    assert first == {
        "turn": "1",
        "n": "1",
        "paper": META.title,
        "page": "5",
        "section": "2 结果",
        "quote": "Half of them improved.",
        "verdict": "supported, contradicted",
        "dense": "-0.25",
        "bm25": "3.5",
        "fused": "",
        "rerank": "",
        "file": "f" * 64,
    }
    assert (second["paper"], second["verdict"]) == ("二", "contradicted")


@given(NASTY, NASTY)
def test_csv_reads_back_and_holds_no_formula(quote: str, title: str) -> None:
    (row,) = rows(to_csv([turn([], [citation(quote=quote, title=title)])]))
    for cell, text in ((row["quote"], quote), (row["paper"], title)):
        assert cell in (text, "'" + text)
        number = re.fullmatch(r"[+-]\d[\d.,]*%?", cell)  # a spreadsheet may read it as one
        assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_json_reads_back() -> None:
    cited = [citation(1), citation(2, OTHER)]
    document = json.loads(to_json("谈话", [turn([GOOD, BAD], cited)], {PAPER: META}))
    assert document["title"] == "谈话"
    (row,) = document["turns"]
    assert [Citation.from_json(data) for data in row["citations"]] == cited
    assert row["sentences"][1]["verdict"] == "contradicted"
    assert datetime.fromisoformat(row["started_at"]) == datetime(2026, 1, 2, tzinfo=UTC)
    assert [paper["paper_id"] for paper in document["papers"]] == [str(PAPER), str(OTHER)]


def in_parts(evil: str = "") -> TurnRow:
    said = [
        AnswerSentence(f"Accuracy {evil} [1]", (1,), Verdict("supported")),
        AnswerSentence("It rose. [1]", (1,), Verdict("contradicted", "the passage says it fell")),
        AnswerSentence("Pigs fly."),
    ]
    box = Box(0, 0, 1, 1)
    data = Exhibit(PAPER, "f" * 64, 2, box, f"Table 1: {evil}", (("a", "b"), (evil or "x", "=1")))
    parts = (
        Part("table", f"Facts {evil}", (), ("Value",), ("Metric",), (((0, 1),),)),
        Part("claims", "Claims", (1, 2)),
        Part("data", "Table 1", (0,), exhibit=data),
    )
    return turn(said, [citation()], parts=tuple(part.to_json() for part in parts))


def test_parts_become_headings_tables_and_lists():
    html = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(to_markdown("T", [in_parts()], {PAPER: META}))
    )
    assert html.count("<table>") == 2
    assert "<h3>Facts" in html
    assert "<li>Pigs fly.</li>" in html
    assert "contradicted by its passage: the passage says it fell" in html


@pytest.mark.parametrize("evil", EVIL)
def test_parts_do_nothing_either(evil):
    text = to_markdown("T", [in_parts(evil)], {PAPER: META})
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<table>") == 2
    assert not re.search(r"<(img|script|a )", html)


def test_a_table_is_taken_away_with_its_verdicts():
    row = in_parts()
    lines = rows_of(table_to_csv(row.parts[0], row.sentences))
    assert lines == [
        ["", "Value", "Value (verdict)"],
        ["Metric", "Accuracy  [1] It rose. [1]", "supported, contradicted"],
    ]
    assert rows_of(cells_to_csv([["=1+1", "-1+1", "-0.5", "+3%"]])) == [
        ["'=1+1", "'-1+1", "-0.5", "+3%"]
    ]


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
