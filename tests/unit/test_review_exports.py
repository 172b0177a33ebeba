"""A review that is taken away reads back in every format, and nothing in it does anything."""

import csv
import io
import json
import re
import shutil
import subprocess
import zipfile
from datetime import date
from pathlib import Path
from uuid import UUID

import bibtexparser
import docx
import pypdfium2
import pytest
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pybtex.database import parse_string
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalker

from core.review.document import numbers
from core.review.exports import (
    BIBLIOGRAPHY,
    CSV_COLUMNS,
    to_bibtex,
    to_csv,
    to_docx,
    to_json,
    to_latex,
    to_markdown,
)
from core.types import AnswerSentence, Box, Citation, Part, Scores, Verdict

DAY = date(2026, 1, 2)
EVIL = [
    r"\input{/etc/passwd} \write18{rm -rf /} \end{document}",
    "a & b % c $ d # e_f ^g ~h {i} } { \\",
    "^^5cinput /etc/passwd",
    "| a | b |\n|---|---|\n| c | d |",
    "[x](javascript:alert(1)) ![x](http://evil.example/a.png) ]( ][1] [1]: <http://evil.example>",
    "<img src=x onerror=alert(1)><!-- & &lt;b&gt; ]]>",
    "\x00\x01\x08nul\x1b[31m\ufffe\uffff \ud800",
    "\u202egnp.exe\u202c \u2067שלום العربية",
    "👩‍🔬 🇨🇳 \U0001d518 é ﬁ",
    "=cmd|' /C calc'!A0",
    "Wei (Fred) Zhang (\\) {((0",
    "@misc{x, title = {y}}",
    "--- `` ?` !` '' \" << >>",
    "[12] and [0, 1]",
    "*[2pt] \\\\[1cm]",
    'HYPERLINK "http://evil.example" { DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe }',
]
NASTY = st.text(
    st.one_of(
        st.sampled_from("[]()!<>*_`#\\{}$%&~^|=+-@:/.,;'\"\t\r\n \u3000\u2028“”0123456789\x00"),
        st.characters(),
    ),
    max_size=40,
)
HOSTILE_URLS = [
    "javascript:alert(1)",
    "http://good.example@evil.example/",
    "http://[::1/",
    "http://evil.example:99999999/",
    "file:///etc/passwd",
    "",
]


def reference(n: int, **changes: object) -> dict:
    values = {
        "n": n,
        "paper_id": str(UUID(int=n)),
        "title": f"Rates of {n * 10}% & more",
        "authors": ["Ada Müller", "王小明"],
        "year": 2024,
        "url": f"https://arxiv.org/abs/2401.0000{n}",
        "doi": "",
        "arxiv_id": f"2401.0000{n}",
        "evidence": "full_text",
    }
    return {**values, **changes}


def citation(n: int, paper: int, **changes: object) -> dict:
    values = {
        "title": "As the file says",
        "file": "f" * 64,
        "page": 5,
        "section": "2 结果",
        "quote": f"Half of them improved ({n}).",
        "boxes": (Box(0.1, 0.2, 0.3, 0.4),),
        "scores": Scores(dense=-0.25, bm25=3.5),
        "passage": "",
    }
    return Citation(n=n, paper_id=UUID(int=paper), **{**values, **changes}).to_json()


def review(language: str = "en", **changes: object) -> dict:
    """Return a review of three papers, the last an abstract; passages 1, 2 and 4 are of the first."""
    chinese = language == "zh"
    texts = (
        [
            "半数有所改善 [1][2]。",
            "其余没有 [3][4]。",
            "仅有摘要 [5]。",
            "无人知晓。",
            "50% [2]",
            "无 [5]",
        ]
        if chinese
        else [
            "Half improved [1][2].",
            "The rest did not [3] [4].",
            "All died [5].",
            "Nobody knows.",
            "50% [2]",
            "none [5]",
        ]
    )
    cites = [(1, 2), (3, 4), (5,), (), (2,), (5,)]
    verdicts = [
        Verdict("supported"),
        Verdict("partly", "the passage says half"),
        Verdict("contradicted"),
        None,
        Verdict("supported"),
        Verdict("supported"),
    ]
    sentences = [
        AnswerSentence(text, cited, verdict)
        for text, cited, verdict in zip(texts, cites, verdicts, strict=True)
    ]
    parts = [
        Part("text", "主题一" if chinese else "A theme", (0, 1)),
        Part("claims", "分歧" if chinese else "Where they differ", (2, 3)),
        Part("table", "比较", (), ("Rate", "Cost"), ("First", "Third"), (((4,), ()), ((), (5,)))),
    ]
    return {
        "topic": "注意力机制的综述" if chinese else "Attention: what is known?",
        "language": language,
        "mode": "extractive",
        "parts": [part.to_json() for part in parts],
        "sentences": [sentence.to_json() for sentence in sentences],
        "citations": [citation(n, paper) for n, paper in ((1, 1), (2, 1), (3, 2), (4, 1), (5, 3))],
        "references": [
            reference(1),
            reference(2, doi="10.1/a_b", url="https://doi.org/10.1/a_b?x=1&y=2#z", arxiv_id=""),
            reference(3, evidence="abstract", url="", title="深度学习", authors=["王小明"]),
        ],
        "reference_of": {"1": 1, "2": 1, "3": 2, "4": 1, "5": 3},
        "verified": {"supported": 3, "total": 5},
        "stats": {},
        **changes,
    }


def spoiled(evil: str) -> dict:
    """Return a review with this text wherever a paper or a model may put one."""
    document = review()
    for sentence in document["sentences"]:
        sentence |= {"text": f"{evil} {sentence['text']}", "reason": evil}
    for part in document["parts"]:
        part |= {"title": evil, "columns": [evil] * len(part["columns"])}
        part["heads"] = [evil] * len(part["heads"])
    for entry in document["references"]:
        entry |= {"title": evil, "authors": [evil, "B"], "doi": evil, "arxiv_id": evil, "url": evil}
    for passage in document["citations"]:
        passage |= {"title": evil, "section": evil, "quote": evil}
    return document | {"topic": evil}


def words(text: str) -> str:
    return f"«{text}»"


# Markdown


def tokens(markdown: str) -> list:
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [t for token in parsed for t in [token, *(token.children or [])]]


def links(markdown: str) -> list[tuple[str, str]]:
    """Return text and address of every link."""
    found, inside = [], None
    for token in tokens(markdown):
        if token.type == "link_open":
            inside = (token.attrs["href"], [])
        elif token.type == "link_close":
            found.append(("".join(inside[1]), inside[0]))
            inside = None
        elif inside and token.type == "text":
            inside[1].append(token.content)
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_markdown_has_every_number_with_its_link(language):
    document = review(language)
    found = links(to_markdown(document, made_on=DAY))
    first, second, third = (f"https://{a}" for a in ("arxiv.org/abs/2401.00001", *SECOND_THIRD))
    numbered = [(text, link) for text, link in found if re.fullmatch(r"\[\d\]", text)]
    assert numbered == [
        *[("[1]", first), ("[2]", second), ("[1]", first), ("[3]", third)],
        *[("[1]", first), ("[3]", third)],
    ]
    titles = [r["title"] for r in document["references"]]
    assert [pair for pair in found if pair not in numbered] == list(
        zip(titles, (first, second, third), strict=True)
    )


SECOND_THIRD = ("doi.org/10.1/a_b?x=1&y=2#z", "arxiv.org/abs/2401.00003")


def test_markdown_says_what_is_known_of_a_sentence_and_of_the_whole():
    shown = to_markdown(review(), made_on=DAY)
    assert shown.startswith(
        "# Attention: what is known?\n\n"
        "- 3 of 5 sentences are supported by the passages they cite.\n"
        "- Put together without a language model"
    )
    assert "- Papers read in full: 2. Only as an abstract: 1.\n- Date: 2026-01-02\n" in shown
    assert (
        "## A theme\n\nHalf improved [\\[1\\]][1]. The rest did not [\\[2\\]][2][\\[1\\]][1]."
        in shown
    )
    assert "*(partly supported: the passage says half)*" in shown
    assert (
        "- All died [\\[3\\]][3]. *(contradicted by its passage)* *(rests on an abstract only)*\n"
        "- Nobody knows.\n"
    ) in shown
    assert "| First | 50% [\\[1\\]][1] |  |" in shown
    assert "- \\[3\\] 王小明 (2024). [深度学习][3]. arXiv:2401.00003 *(abstract only)*" in shown
    assert "Date" not in to_markdown(review())


def test_words_of_lecterns_own_are_translated():
    document = review("zh", mode="llm")
    for shown in (to_markdown(document, words), to_latex(document, words)[0], all_text(document)):
        assert "«Written by a language model from passages of the papers.»" in shown
        assert "«contradicted by its passage»" in shown
        assert "«rests on an abstract only»" in shown
    assert "«References»" in to_markdown(document, words)


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_takes_nothing_of_papers_for_markup(evil):
    check_markdown(spoiled(evil))


@settings(max_examples=50, deadline=None)
@given(NASTY)
def test_markdown_does_nothing_whatever_it_says(evil):
    check_markdown(spoiled(evil))


def check_markdown(document: dict) -> None:
    shown = to_markdown(document)
    kinds = {re.sub("_(open|close)$", "", token.type) for token in tokens(shown)}
    allowed = {"heading", "paragraph", "em", "bullet_list", "list_item", "link", "table"}
    assert kinds <= allowed | {"thead", "tbody", "tr", "th", "td", "inline", "text", "softbreak"}
    assert all(link.startswith("https://doi.org/") for _, link in links(shown))
    html = MarkdownIt("commonmark").enable("table").render(shown)
    assert html.count("<tr>") == 3
    assert not re.search(r"<(img|script)|[\x00\u202e]", html)


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_an_address_that_is_none_is_replaced_by_that_of_the_arxiv_id(url):
    document = review(references=[reference(1, url=url), reference(2), reference(3)])
    assert ("[1]", "https://arxiv.org/abs/2401.00001") in links(to_markdown(document))


def test_an_address_is_encoded():
    url = 'https://x.example/a(b)[c]<d>"e" {f}\\é100%;'
    document = review(references=[reference(1, url=url), reference(2), reference(3)])
    wanted = "https://x.example/a%28b%29%5Bc%5D%3Cd%3E%22e%22%20%7Bf%7D%5C%C3%A9100%25%3B"
    assert ("[1]", wanted) in links(to_markdown(document))
    assert parse_string(to_bibtex(document), "bibtex").entries["muller2024rates-" + "0" * 31 + "1"]
    assert wanted in [link for _, link in opened(document)[1]]


def test_without_an_address_a_number_is_no_link():
    bare = [reference(n, url="", arxiv_id="") for n in (1, 2, 3)]
    shown = to_markdown(review(references=bare))
    assert links(shown) == []
    assert r"Half improved \[1\]." in shown


# DOCX


def opened(document: dict, **options: object) -> tuple[docx.document.Document, list]:
    """Return a document as python-docx reads it, and its links to elsewhere."""
    made = docx.Document(io.BytesIO(to_docx(document, **options)))
    found = [link for paragraph in made.paragraphs for link in paragraph.hyperlinks]
    return made, [(link.text, link.url) for link in found if link.address]


def all_text(document: dict) -> str:
    made, _ = opened(document, translate=words)
    return "\n".join(paragraph.text for paragraph in made.paragraphs)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_docx_has_headings_and_numbers_that_lead_to_the_references(language):
    document = review(language)
    made, outside = opened(document, made_on=DAY)
    headings = [p.text for p in made.paragraphs if p.style.name.startswith(("Heading", "Title"))]
    titles = [part["title"] for part in document["parts"]]
    assert headings == [document["topic"], *titles, "References"]
    body = made.element.body
    marked = {
        start.get(qn("w:name")): start.getnext().text for start in body.iter(qn("w:bookmarkStart"))
    }
    assert marked == {f"reference_{n}": f"[{n}]" for n in (1, 2, 3)}
    inside = [
        (link.get(qn("w:anchor")), "".join(t.text for t in link.iter(qn("w:t"))))
        for link in body.iter(qn("w:hyperlink"))
        if link.get(qn("w:anchor"))
    ]
    assert [text for _, text in inside] == ["[1]", "[2]", "[1]", "[3]", "[1]", "[3]"]
    assert all(marked[anchor] == text for anchor, text in inside)
    assert outside == [
        (r["title"], f"https://{address}")
        for r, address in zip(
            document["references"], ("arxiv.org/abs/2401.00001", *SECOND_THIRD), strict=True
        )
    ]
    ids = [start.get(qn("w:id")) for start in body.iter(qn("w:bookmarkStart"))]
    assert len(set(ids)) == len(ids)


def test_docx_has_the_table_and_the_doubts():
    made, _ = opened(review())
    (table,) = made.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["", "Rate", "Cost"],
        ["First", "50% [1]", ""],
        ["Third", "", "none [3] (rests on an abstract only)"],
    ]
    said = [paragraph.text for paragraph in made.paragraphs]
    assert (
        "Half improved [1]. The rest did not [2][1]. (partly supported: the passage says half)"
        in said
    )
    assert "[3] 王小明 (2024). 深度学习. arXiv:2401.00003. (abstract only)" in said


def test_docx_names_a_font_for_chinese_and_says_nothing_of_its_template():
    data = to_docx(review("zh"), made_on=DAY)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        styles = packed.read("word/styles.xml").decode()
        names = packed.namelist()
    assert "eastAsiaTheme" not in styles
    assert styles.count("w:rFonts") == styles.count('w:eastAsia="SimSun"')
    assert not [name for name in names if "vba" in name.lower() or "embeddings" in name]
    told = docx.Document(io.BytesIO(data)).core_properties
    assert (told.author, told.comments, told.title) == ("Lectern", "", "注意力机制的综述")
    assert told.created.date() == told.modified.date() == DAY
    undated, _ = opened(review("en", topic="x" * 300))
    assert undated.core_properties.created is None
    assert len(undated.core_properties.title) == 255


@pytest.mark.parametrize("evil", EVIL)
def test_docx_takes_nothing_of_papers_for_a_field(evil):
    check_docx(spoiled(evil))


@settings(max_examples=20, deadline=None)
@given(NASTY)
def test_docx_opens_whatever_it_says(evil):
    check_docx(spoiled(evil))


def check_docx(document: dict) -> None:
    made, outside = opened(document)
    body = made.element.body
    assert not list(body.iter(qn("w:instrText"), qn("w:fldSimple"), qn("w:object")))
    assert all(link.startswith("https://doi.org/") for _, link in outside)
    assert len(made.tables[0].rows) == 3
    assert not re.search("[\x00\u202e]", made.element.xml)


# LaTeX and BibTeX


@pytest.mark.parametrize("language", ["en", "zh"])
def test_keys_that_are_cited_are_in_the_bibliography_in_order(language):
    document = review(language)
    text, bib = to_latex(document, made_on=DAY)
    assert bib == to_bibtex(document)
    known = list(parse_string(bib, "bibtex").entries)
    read = bibtexparser.parse_string(bib)
    assert not read.failed_blocks
    assert [entry.key for entry in read.entries] == known
    assert len(set(known)) == 3
    assert re.search(r"\\nocite\{(.*)\}", text)[1].split(",") == known
    cited = [group.split(",") for group in re.findall(r"\\cite\{(.*?)\}", text)]
    first, second, third = known
    assert cited == [[third], [first], [second, first], [third], [first], [third]]
    assert rf"\bibliography{{{BIBLIOGRAPHY}}}" in text
    assert ("ctexart" in text) is (language == "zh")
    assert "{ctex" in text  # a Chinese name in an English review needs it as well
    assert r"\date{2026-01-02}" in text


def test_an_entry_says_where_a_paper_is():
    entries = parse_string(to_bibtex(review()), "bibtex").entries
    first, second, third = entries.values()
    assert first.fields["eprint"] == "2401.00001"
    assert first.fields["archiveprefix"] == "arXiv"
    assert first.fields["title"] == r"{Rates of 10\% \& more}"
    assert [str(person) for person in first.persons["author"]] == ["Müller, Ada", "王小明"]
    assert second.fields["doi"] == "10.1/a_b"
    assert second.fields["url"] == "https://doi.org/10.1/a_b?x=1&y=2#z"
    assert "archiveprefix" not in second.fields
    assert third.fields["url"] == "https://arxiv.org/abs/2401.00003"


NAMES = [
    "Wei (Fred) Zhang",
    "A, B, C, D",
    ",",
    "A,",
    "others",
    "and",
    "X and Y",
    "{",
    "]",
    "\x00",
    "Li, Jr., A",
]


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_one_name(name):
    document = review(references=[reference(1, authors=[name, "B"]), reference(2), reference(3)])
    bib = to_bibtex(document)
    entry = next(iter(parse_string(bib, "bibtex").entries.values()))
    assert len(entry.persons["author"]) == (1 if name == "\x00" else 2)
    assert not with_names(bib).failed_blocks
    assert not re.search(r"(?<!\{)[\[\]()]", "".join(re.findall("(?m)^  author.*", bib)))


def with_names(bib: str) -> bibtexparser.Library:
    split = [
        bibtexparser.middlewares.SeparateCoAuthors(),
        bibtexparser.middlewares.SplitNameParts(),
    ]
    return bibtexparser.parse_string(bib, append_middleware=split)


@pytest.mark.parametrize("evil", EVIL)
def test_latex_takes_nothing_of_papers_for_a_command(evil):
    check_latex(spoiled(evil))


@settings(max_examples=50, deadline=None)
@given(NASTY)
def test_latex_does_nothing_whatever_it_says(evil):
    check_latex(spoiled(evil))


OURS = {
    *("documentclass", "usepackage", "title", "author", "date", "begin", "end", "maketitle"),
    *("nocite", "cite", "item", "section", "emph", "hline", "endhead", "raggedright", "dimexpr"),
    *("arraybackslash", "linewidth", "tabcolsep", "bibliographystyle", "bibliography", "\\"),
    *("textbackslash", "textbraceleft", "textbraceright", "textasciitilde", "textasciicircum"),
    *("textless", "textgreater", "textbar", "textasciigrave", *"&%$#_"),
}


def check_latex(document: dict) -> None:
    text, bib = to_latex(document)
    nodes = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()[0]
    assert nodes
    body = re.sub(r"\\([a-zA-Z]+|.)", lambda m: check_command(m[1]), text.partition("\n")[2])
    body = body.replace("~{}", "")
    assert not re.search(r"[$#^_%]", body.split("{document}", 1)[1].replace("p{ ", ""))
    assert body.count("{") == body.count("}")
    depth = 0
    for character in body:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert text.count(r"\end{document}") == 1
    entries = parse_string(bib, "bibtex").entries
    read = with_names(bib)
    assert not read.failed_blocks
    assert [entry.key.lower() for entry in read.entries] == [key.lower() for key in entries]
    cited = {
        key for group in re.findall(r"\\(?:no)?cite\{(.*?)\}", text) for key in group.split(",")
    }
    assert cited == set(entries)
    assert len(entries) == 3


def check_command(name: str) -> str:
    assert name in OURS
    return " "


UNKNOWN_TO_PYLATEXENC = {
    **{"textbraceleft": r"\{", "textbraceright": r"\}", "textbar": "|"},
    **{"textless": "<", "textgreater": ">"},
}


@pytest.mark.parametrize("evil", [e for e in EVIL if "`" not in e])
def test_latex_prints_what_was_said(evil):
    text, _ = to_latex(review(topic=evil))
    title = re.search(r"(?m)^\\title\{(.*)\}$", text)[1]
    for name, printed in UNKNOWN_TO_PYLATEXENC.items():
        title = title.replace(rf"{{\{name}}}", printed)
    printed = LatexNodes2Text(keep_comments=True).latex_to_text(title)
    kept = "".join(c for c in evil if c.isspace() or not re.match(UNSEEN, c))
    printed = printed.replace("”", '"').replace("ˆ", "^")
    assert printed == " ".join(kept.split())


UNSEEN = "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"


def tex_is_here() -> bool:
    if not all(map(shutil.which, ("xelatex", "bibtex", "kpsewhich"))):
        return False
    needed = ["kpsewhich", "ctexart.cls", "longtable.sty", "unsrtnat.bst", "pzdr.tfm"]
    run = subprocess.run(needed, capture_output=True, check=False)
    return run.returncode == 0


@pytest.mark.skipif(not tex_is_here(), reason="no XeLaTeX with ctex and PostScript fonts here")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_latex_compiles_to_the_numbers_of_the_review(language, tmp_path: Path):
    document = review(language)
    document["parts"] += [part | {"title": "T"} for part in spoiled(" ".join(EVIL))["parts"]]
    for place, evil in enumerate(EVIL):
        document["sentences"][place % 6]["text"] += f" {evil}"
        document["references"][place % 3]["title"] += f" {evil}"
        document["references"][place % 3]["authors"].append(evil)
    text, bib = to_latex(document, made_on=DAY)
    (tmp_path / "review.tex").write_text(text)
    (tmp_path / f"{BIBLIOGRAPHY}.bib").write_text(bib)
    engine = ["xelatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "review"]
    for command in (engine, ["bibtex", "review"], engine, engine):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=240, check=False)
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
    with pypdfium2.PdfDocument(tmp_path / "review.pdf") as pdf:
        printed = " ".join(page.get_textpage().get_text_range() for page in pdf)
    flat = "".join(printed.split())
    assert "".join(document["topic"].split()) in flat
    assert r"\input{/etc/passwd}\write18{rm-rf/}\end{document}" in flat
    assert "root:" not in flat
    listed = re.findall(r"\\bibcite\{(.*?)\}\{\{(\d+)\}", (tmp_path / "review.aux").read_text())
    assert listed == [(key, str(n)) for n, key in enumerate(parse_string(bib, "bibtex").entries, 1)]


# CSV and JSON


def rows(data: bytes) -> list[dict[str, str]]:
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))


def test_csv_has_a_row_for_each_passage_of_each_sentence():
    read = rows(to_csv(review()))
    assert tuple(read[0]) == CSV_COLUMNS
    assert [row["n"] for row in read] == ["1", "1", "2", "1", "3", "", "1", "3"]
    assert read[2] == {
        "sentence": "The rest did not [2] [1].",
        "verdict": "partly",
        "reason": "the passage says half",
        "n": "2",
        "title": "Rates of 20% & more",
        "evidence": "full_text",
        "page": "5",
        "section": "2 结果",
        "quote": "Half of them improved (3).",
        "url": f"https://{SECOND_THIRD[0]}",
    }
    assert read[5]["sentence"] == "Nobody knows."
    assert set(list(read[5].values())[1:]) == {""}
    assert read[4]["evidence"] == "abstract"


@given(NASTY)
def test_csv_reads_back_and_holds_no_formula(evil):
    read = rows(to_csv(spoiled(evil)))
    assert len(read) == 8
    for row in read:
        for name in ("title", "section", "quote", "sentence"):
            assert not row[name].startswith(("=", "@", "\t", "\r"))
            assert not re.match(r"[+-](?!\d)", row[name])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_json_is_the_whole_document(language):
    document = review(language)
    read = json.loads(to_json(document))
    assert read.pop("format") == "lectern-review"
    assert read.pop("version") == 1
    assert read == json.loads(json.dumps(document))
    assert [Citation.from_json(c).to_json() for c in read["citations"]] == document["citations"]


# Numbers


def test_a_number_of_no_passage_is_left_out_everywhere():
    document = review()
    document["sentences"][0]["text"] = "Half [9] improved [1] [9] [2], [9]."
    assert r"Half improved [\[1\]][1]," in to_markdown(document)
    assert "Half improved [1],." in opened(document)[0].paragraphs[5].text
    assert r"Half improved~\cite{muller2024rates-" in to_latex(document)[0]


def test_numbers_are_those_the_page_shows():
    document = review()
    text = to_markdown(document)
    first = text.split("## A theme\n\n")[1].split("\n\n")[0]
    shown = [int(n) for n in re.findall(r"\[\\\[(\d+)\\\]\]", first)]
    said = [numbers(document, document["sentences"][at]["citations"]) for at in (0, 1)]
    assert shown == [n for each in said for n in each]
