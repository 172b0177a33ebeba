"""Labelled retrieval sets: BEIR folders, QASPER-like folders, and the shared sets beside them."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from core.ingest.chunking import embeddable
from core.ingest.parse import parse

ScopeKind = Literal["paper", "library"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question, the passages to find (indices), and those searched (None: all of the set)."""

    text: str
    relevant: dict[int, float]
    within: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Passages and queries. `scope`: whether a query searches one paper or everything."""

    name: str
    scope: ScopeKind
    passages: tuple[str, ...]
    queries: tuple[Query, ...]

    def candidates(self, query: Query) -> NDArray[np.int64]:
        """Return the indices of the passages that this query searches."""
        return np.asarray(
            range(len(self.passages)) if query.within is None else query.within, dtype=np.int64
        )


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file. Raises BadInput naming file and line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise BadInput(f"{path.name} cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path.name}, line {number} is not JSON") from error
        if not isinstance(row, dict):
            raise BadInput(f"{path.name}, line {number} is not a JSON object")
        yield row


def load(folder: Path) -> RetrievalSet:
    """Read a folder in any layout known here.

    Raises:
        BadInput: the folder has none of the layouts, or a file in it is malformed.
    """
    for marker, loader in _LAYOUTS.items():
        if (folder / marker).is_file():
            try:
                return loader(folder)
            except (KeyError, TypeError, ValueError) as error:
                raise BadInput(
                    f"{folder.name} looks like {loader.__name__.strip('_')} but is not: {error!r}"
                ) from error
    raise BadInput(
        f"{folder} holds no retrieval set",
        hint="A BEIR folder has corpus.jsonl, queries.jsonl, qrels/test.tsv; "
        "a QASPER-like one has paragraphs.jsonl and questions.jsonl.",
    )


def _beir(folder: Path) -> RetrievalSet:
    rows = list(read_jsonl(folder / "corpus.jsonl"))
    index = {str(row["_id"]): i for i, row in enumerate(rows)}
    qrels: dict[str, dict[int, float]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        # The header, and judgements on documents that are not in the corpus, are passed over.
        if len(cells) != 3 or cells[1] not in index or not cells[2].strip().isdigit():
            continue
        if int(cells[2]) > 0:
            qrels.setdefault(cells[0], {})[index[cells[1]]] = float(cells[2])
    queries = tuple(
        Query(row["text"], qrels[str(row["_id"])])
        for row in read_jsonl(folder / "queries.jsonl")
        if str(row["_id"]) in qrels
    )
    passages = tuple(_titled(row.get("title") or "", row["text"]) for row in rows)
    return RetrievalSet(folder.name, "library", passages, queries)


def _qasper(folder: Path) -> RetrievalSet:
    rows = list(read_jsonl(folder / "paragraphs.jsonl"))
    index = {row["pid"]: i for i, row in enumerate(rows)}
    papers: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        papers.setdefault(row["paper"], []).append(i)
    queries = tuple(
        Query(row["question"], {index[pid]: 1.0 for pid in found}, tuple(papers[row["paper"]]))
        for row in read_jsonl(folder / "questions.jsonl")
        if (found := [pid for pid in row["evidence_pids"] if pid in index])
    )
    return RetrievalSet(folder.name, "paper", tuple(row["text"] for row in rows), queries)


def _scifact(folder: Path) -> RetrievalSet:
    rows = list(read_jsonl(folder / "corpus.jsonl"))
    index = {str(row["doc_id"]): i for i, row in enumerate(rows)}
    queries = tuple(
        Query(row["claim"], {index[str(d)]: 1.0 for d in row["cited_doc_ids"]})
        for row in read_jsonl(folder / "claims.jsonl")
    )
    passages = tuple(_titled(row["title"], " ".join(row["abstract"])) for row in rows)
    return RetrievalSet(folder.name, "library", passages, queries)


def _pubmedqa(folder: Path) -> RetrievalSet:
    rows = list(read_jsonl(folder / "questions.jsonl"))
    queries = tuple(Query(row["question"], {i: 1.0}) for i, row in enumerate(rows))
    passages = tuple(" ".join(row["contexts"]) for row in rows)
    return RetrievalSet(folder.name, "library", passages, queries)


def _csl(folder: Path) -> RetrievalSet:
    rows = list(read_jsonl(folder / "papers.jsonl"))
    queries = tuple(Query(row["title"], {i: 1.0}) for i, row in enumerate(rows))
    return RetrievalSet(folder.name, "library", tuple(row["abstract"] for row in rows), queries)


def zh_to_en(folder: Path, *, pure: bool = False) -> RetrievalSet:
    """Return Chinese one-line summaries as queries for English abstracts.

    With `pure` the queries lose their Latin letters and digits, so that no term is shared and
    only a dense path can find anything.
    """
    rows = list(read_jsonl(folder / "pairs.jsonl"))
    queries = tuple(
        Query(_strip_latin(row["zh_tldr"]) if pure else row["zh_tldr"], {i: 1.0})
        for i, row in enumerate(rows)
    )
    passages = tuple(_titled(row["title_en"], row["abstract_en"]) for row in rows)
    return RetrievalSet("zh_to_en_pure" if pure else "zh_to_en", "library", passages, queries)


def en_to_zh(folder: Path) -> RetrievalSet:
    """Return English titles as queries for Chinese summaries (all five parts)."""
    rows = list(read_jsonl(folder / "pairs.jsonl"))
    parts = ("zh_tldr", "zh_motivation", "zh_method", "zh_result", "zh_conclusion")
    queries = tuple(Query(row["title_en"], {i: 1.0}) for i, row in enumerate(rows))
    passages = tuple(" ".join(row[part] for part in parts) for row in rows)
    return RetrievalSet("en_to_zh", "library", passages, queries)


def in_papers(questions: Path, papers: Path) -> RetrievalSet:
    """Return the answerable questions of a `qa_*.jsonl` over the chunks of the PDFs they ask of.

    The PDFs are read as on ingest. A chunk is relevant when it stands on one of the pages that
    hold the answer and matches the question's expression; a question none of whose passages
    came through as one chunk is left out.
    """
    rows = [row for row in read_jsonl(questions) if row["answerable"]]
    passages: list[str] = []
    queries: list[Query] = []
    for file in dict.fromkeys(row["file"] for row in rows):
        chunks = parse((papers / file).read_bytes(), None, lambda *_: None).paper.chunks
        kept = [chunk for chunk in chunks if chunk.kind != "references"]
        start = len(passages)
        passages.extend(embeddable(chunk.text) for chunk in kept)
        within = tuple(range(start, len(passages)))
        for row in (row for row in rows if row["file"] == file):
            wanted = re.compile(row["must_match"])
            relevant = {
                start + i: 1.0
                for i, chunk in enumerate(kept)
                if chunk.page in row["pages"] and wanted.search(_joined_lines(chunk.text))
            }
            if relevant:
                queries.append(Query(row["question"], relevant, within))
    return RetrievalSet(questions.stem, "paper", tuple(passages), tuple(queries))


def as_library(data: RetrievalSet) -> RetrievalSet:
    """Return a set in papers with every query searching all of the papers together."""
    queries = tuple(Query(query.text, query.relevant) for query in data.queries)
    return RetrievalSet(f"{data.name}_library", "library", data.passages, queries)


def among(data: RetrievalSet, others: RetrievalSet) -> RetrievalSet:
    """Return a set whose passages stand among those of another, as in a library of two languages."""
    name = f"{data.name}_among_{others.name}"
    return RetrievalSet(name, "library", data.passages + others.passages, data.queries)


def _joined_lines(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def shared_sets(data: Path) -> list[RetrievalSet]:
    """Return the development sets of the shared material, in a fixed order."""
    names = ("qa_qasper", "ret_scifact", "qa_pubmedqa", "zh_csl")
    pairs = data / "zh_en_daily_arxiv"
    return [load(data / name) for name in names] + [
        zh_to_en(pairs),
        zh_to_en(pairs, pure=True),
        en_to_zh(pairs),
    ]


def _titled(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text


def _strip_latin(text: str) -> str:
    return re.sub(r"[A-Za-z0-9]+", " ", text)


def _by_questions(folder: Path) -> RetrievalSet:
    return _qasper(folder) if (folder / "paragraphs.jsonl").is_file() else _pubmedqa(folder)


def _by_corpus(folder: Path) -> RetrievalSet:
    return _scifact(folder) if (folder / "claims.jsonl").is_file() else _beir(folder)


_LAYOUTS = {
    "corpus.jsonl": _by_corpus,
    "questions.jsonl": _by_questions,
    "papers.jsonl": _csl,
    "pairs.jsonl": zh_to_en,
}
