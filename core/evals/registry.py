"""The evals by name, as `python -m core eval NAME` runs them. Nothing touches the user's library."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from core.agent import router
from core.agent.events import TurnFailed, TurnFinished
from core.agent.examples import Examples
from core.agent.followups import standalone
from core.agent.nodes import rewrite
from core.agent.state import Exchange, TurnRequest
from core.config import Settings
from core.errors import BadInput, LecternError
from core.evals import (
    citations,
    claims,
    compression,
    deep_read,
    extract,
    extraction,
    followups,
    memory,
    metadata,
    ocr,
    qa,
    recovery,
    references,
    relevance,
    retrieval,
    routing,
    tables,
    triples,
    verification,
)
from core.evals.scripted import scripted
from core.evals.sets import shared_sets
from core.models.chat import chat_model
from core.models.embed import load_embedders
from core.review.request import ReviewRequest
from core.tools.catalogue import summarize_paper
from core.tools.fulltext import sections
from core.types import LOCAL_USER, Citation, Hit, Scope
from core.wording import say
from core.workbench import Workbench

_ROOT = Path(__file__).resolve().parents[2]
OWN_SETS = _ROOT / "data" / "evals"
PAIRS = (OWN_SETS / "verification.jsonl", OWN_SETS / "verification_more.jsonl")
SAMPLES = _ROOT / "data" / "samples"
SHARED_SETS = _ROOT.parent / "shared" / "data"


def run(name: str, settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    """Run one eval and return its figures.

    Args:
        name: one of EVALS.
        settings: models and keys to measure with.
        data: the labelled set; each eval has its own default.
        papers: the folder that the set's files are in.

    Raises:
        BadInput: there is no such eval; the set is not there or malformed.
    """
    if name not in EVALS:
        raise BadInput(
            say("There is no eval {name!r}.", name=name[:80]),
            hint=say("There are: {names}.", names=", ".join(sorted(EVALS))),
        )
    return EVALS[name](settings, data, papers)


def _retrieval(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    embedders = load_embedders(settings.embedding_model_names)
    if data is not None:
        return retrieval.run(data, embedders)
    return {item.name: retrieval.run_set(item, embedders) for item in shared_sets(_shared_sets())}


def _qa(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    questions = data or OWN_SETS / "qa_report.jsonl"
    with _scratch(settings) as bench:
        return qa.run(
            questions,
            papers or _shared_sets(),
            ingest=lambda path: _add(bench, path),
            search=lambda question, paper, k: _search(bench, question, paper, k),
            ask=lambda question, paper: _ask(bench, question, paper),
        )


def _references(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return references.run(data or _shared_sets() / "grobid_tei" / "citation")


def _ocr(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return ocr.run(papers or SAMPLES, SHARED_SETS if SHARED_SETS.is_dir() else None)


def _metadata(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return metadata.run(data or OWN_SETS / "metadata.jsonl", papers or _shared_sets())


def _tables(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return tables.run(data or _shared_sets())


def _triples(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return triples.run(data or _shared_sets())


def _extraction(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    return extraction.run(data or _shared_sets())


def _claims(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    with _scratch(settings) as bench:
        scope = tuple(_add(bench, path) for path in sorted((papers or SAMPLES).glob("*.pdf")))

        def check(stated: Sequence[str]) -> list[str]:
            question = "Check these claims:\n" + "\n".join(f"- {claim}" for claim in stated)
            request = TurnRequest(LOCAL_USER, question, paper_ids=scope, intent="verify_sources")
            return [sentence["verdict"] or "" for sentence in turn(bench, request)["sentences"]]

        return claims.run(data or OWN_SETS / "claims.jsonl", check)


def _deep_read(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    folders = (papers or _shared_sets(), SAMPLES)

    with _scratch(settings) as bench:

        def read(path: Path) -> deep_read.Notes:
            paper = _add(bench, path)
            request = TurnRequest(LOCAL_USER, "Read this.", paper_ids=(paper,), intent="deep_read")
            return deep_read.notes_of(turn(bench, request))

        return deep_read.run(data or OWN_SETS / "deep_read.jsonl", folders, read)


def _extract(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    folders = (papers or _shared_sets(), SAMPLES)

    with _scratch(settings) as bench:

        def read(path: Path) -> dict[str, Any]:
            question = "Extract the key facts of this paper."
            scope = (_add(bench, path),)
            return turn(bench, TurnRequest(LOCAL_USER, question, scope, intent="extract"))

        return extract.run(data or OWN_SETS / "extract.jsonl", folders, read)


def _routing(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    chat = chat_model(settings)
    examples = Examples(load_embedders(settings.embedding_model_names)[0])

    def route(question: str) -> router.Route:
        chosen = router.choose(question, None, chat)[0] if chat else None
        return chosen or router.guess(question, None, examples)

    by = chat.name if chat else "wording and examples"
    return {"by": by, **routing.run(data or OWN_SETS / "routing.jsonl", route)}


def _followups(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    chat = chat_model(settings)

    def rewritten(question: str, history: Sequence[Exchange]) -> str:
        made = rewrite.by_model(question, history, chat)[0] if chat else None
        return made or standalone(question, [exchange.question for exchange in history])

    by = chat.name if chat else "rules"
    return {"by": by, **followups.run(data or OWN_SETS / "followups.jsonl", rewritten)}


def _verification(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    embedder = load_embedders(settings.embedding_model_names)[0]
    found: dict[str, Any] = {"pairs": verification.pairs(PAIRS, embedder)}
    shared = data or (SHARED_SETS if SHARED_SETS.is_dir() else None)
    if shared:
        found["scifact"] = verification.scifact(shared / "ret_scifact", embedder)
    return found


def _memory(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    with _scratch(settings) as bench:
        return memory.run(data or _shared_sets(), bench.readings, bench.embedders[0])


def _relevance(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    beside = SHARED_SETS if data is None and SHARED_SETS.is_dir() else None
    embedder = load_embedders(settings.embedding_model_names)[0]
    return relevance.run(data or OWN_SETS / "relevance.jsonl", papers or beside, embedder)


def _compression(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    with _scratch(settings) as bench:

        def read(name: str, content: bytes) -> compression.Read:
            paper = bench.ingestor.ingest(LOCAL_USER, name, content).paper_id
            parts = sections(bench.papers.page_chunks(LOCAL_USER, paper))
            box = bench.toolbox(LOCAL_USER)
            return compression.timed(parts, lambda: summarize_paper(box, paper_id=str(paper)))

        return compression.run(data or papers or _shared_sets(), read)


def _citations(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    paths = sorted((papers or SAMPLES).glob("*.pdf"))
    model = citations.Hostile()
    with scripted() as servers, _scratch(settings) as bench:
        servers.answers = model.answers
        for path in paths:
            _add(bench, path)
        ways = [{"llm_base_url": "", "llm_model": ""}]
        ways.append({"llm_base_url": f"{servers.url}/v1", "llm_model": "scripted"})
        keys = {"llm_api_key": SecretStr("scripted"), "cohere_api_key": SecretStr("")}
        shared = {"database_url": bench.database_url, "llm_timeout": 30.0, **keys}

        def written(way: dict[str, Any], topic: str) -> dict[str, Any]:
            own = bench.settings.model_copy(update=shared | way)
            with Workbench(own) as writer:
                return _reviewed(writer, topic)

        return citations.run(
            lambda topic: written(ways[0], topic),
            lambda topic: written(ways[1], topic),
            lambda: model.distorted,
            bench.embedders[0],
        )


def _reviewed(bench: Workbench, topic: str) -> dict[str, Any]:
    """Return a review on a topic made of the library.

    Raises:
        LecternError: it could not be written.
    """
    request = ReviewRequest(topic=topic, source="library", confirm=False)
    number = bench.review_runs.start(LOCAL_USER, request)
    while (row := bench.reviews.review(LOCAL_USER, number)).working:
        time.sleep(0.1)
    if row.document is None:
        error = row.error or {"message": say("It was stopped.")}
        raise LecternError(error["message"], hint=error.get("hint", ""))
    return row.document


def _recovery(settings: Settings, data: Path | None, papers: Path | None) -> dict[str, Any]:
    scenes: dict[str, Workbench] = {}
    with scripted() as servers, _scratch(settings) as bench, ExitStack() as open_:
        loopback = {
            "llm_base_url": f"{servers.url}/v1",
            "llm_api_key": SecretStr("scripted"),
            "llm_model": "scripted",
            "llm_timeout": 10.0,
            "arxiv_api_url": f"{servers.url}/api",
            "arxiv_url": servers.url,
            "arxiv_seconds": 0.0,
            "database_url": bench.database_url,
            "cohere_api_key": SecretStr(""),
        }

        def ask(case: recovery.Case) -> recovery.Outcome:
            limits = str(case.settings)
            if limits not in scenes:  # each loads the embedders, which takes seconds
                own = bench.settings.model_copy(update=loopback | case.settings)
                scenes[limits] = open_.enter_context(Workbench(own))
            return _watched(scenes[limits], case.ends == "stopped")

        return recovery.run(servers, ask)


def _watched(bench: Workbench, stop: bool) -> recovery.Outcome:
    """Run a research to its end; when it is to be stopped, after its first call of a tool."""
    request = TurnRequest(LOCAL_USER, recovery.QUESTION, intent="research")
    turn = bench.runner.start(request)
    events = []
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        events.append(event)
        if stop and event.kind == "step_finished" and "." in event.data["node"]:
            bench.runner.cancel(LOCAL_USER, turn.id)
    steps = [event.data for event in events if event.kind == "step_finished"]
    notices = [event.data for event in events if event.kind == "notice"]
    return recovery.Outcome(events[-1].kind, events[-1].data, steps, notices)


EVALS: dict[str, Callable[[Settings, Path | None, Path | None], dict[str, Any]]] = {
    "citations": _citations,
    "claims": _claims,
    "compression": _compression,
    "retrieval": _retrieval,
    "qa": _qa,
    "routing": _routing,
    "followups": _followups,
    "verification": _verification,
    "deep_read": _deep_read,
    "extract": _extract,
    "extraction": _extraction,
    "memory": _memory,
    "metadata": _metadata,
    "ocr": _ocr,
    "recovery": _recovery,
    "references": _references,
    "relevance": _relevance,
    "tables": _tables,
    "triples": _triples,
}


@dataclass(frozen=True, slots=True)
class _Answer:
    citations: tuple[Citation, ...]
    refused: bool


def _add(bench: Workbench, path: Path) -> UUID:
    paper = bench.ingestor.ingest(LOCAL_USER, path.name, path.read_bytes()).paper_id
    bench.backfill.fill()
    return paper


def _search(bench: Workbench, question: str, paper: UUID, k: int) -> Sequence[Hit]:
    return bench.searcher.search(question, Scope(LOCAL_USER, (paper,)), k).hits


def _ask(bench: Workbench, question: str, paper: UUID) -> _Answer:
    result = turn(bench, TurnRequest(LOCAL_USER, question, paper_ids=(paper,)))
    cited = tuple(Citation.from_json(item) for item in result["citations"])
    return _Answer(cited, result["refused"])


def turn(bench: Workbench, request: TurnRequest) -> dict[str, Any]:
    """Run a turn to its end and return its public form.

    Raises:
        LecternError: the turn failed.
    """
    turn = bench.runner.start(request)
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        if event.kind == TurnFailed.kind:
            raise LecternError(event.data["message"], code=event.data["code"])
        if event.kind == TurnFinished.kind:
            return event.data
    raise LecternError("A turn ended without a word.")


@contextmanager
def _scratch(settings: Settings) -> Iterator[Workbench]:
    """Yield a workbench with the user's models and keys, in a library that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="lectern-eval-") as folder:
        own = {"data_dir": Path(folder) / "data", "database_url": "", "chroma_url": ""}
        with Workbench(settings.model_copy(update=own)) as bench:
            yield bench


def _shared_sets() -> Path:
    if not SHARED_SETS.is_dir():
        raise BadInput("No labelled set is named.", hint="Name one with --data (and --papers).")
    return SHARED_SETS
