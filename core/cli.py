"""The command line. With `--json`, one JSON document on one line on stdout; all else on stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

import argparse
import io
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from core.agent.events import Notice, Recalled, StepFinished, Token, TurnFailed, TurnFinished
from core.agent.intents import all_intents
from core.agent.state import TurnRequest
from core.db.reviews import ReviewRow
from core.errors import BadInput, LecternError, ModelFailed
from core.ingest.identifiers import recognise
from core.ingest.kinds import is_bibtex
from core.ingest.pipeline import Ingested, Progress
from core.tools.found import SOURCES
from core.types import LOCAL_USER, Hit, PaperRow, Scope
from core.wording import say
from core.workbench import Workbench, open_workbench

Handler = Callable[[Workbench, argparse.Namespace], Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    signal.signal(signal.SIGTERM, _interrupt)
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        with open_workbench(options.data_dir) as workbench:
            result = options.run(workbench, options)
    except LecternError as error:
        return _fail(error)
    except ValidationError as error:
        where = ", ".join(str(item["loc"][0]) for item in error.errors())
        return _fail(BadInput(f"A setting cannot be used: {where}.", hint="See README, Settings."))
    except ValueError as error:
        return _fail(BadInput(f"A setting cannot be used: {error}."))
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1
    return _print(options, result)


def _interrupt(signal_number: int, frame: object) -> None:
    """Make a termination end as Ctrl-C does: everything is closed on the way out."""
    raise KeyboardInterrupt


def _print(options: argparse.Namespace, result: Any) -> int:
    try:
        if options.json:
            print(json.dumps(result, ensure_ascii=False, default=str), flush=True)
        else:
            options.show(result)
            sys.stdout.flush()
    except OSError as error:
        # Whoever read the output has gone, or the disk is full: nobody is left to tell more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"The output could not be written: {error.strerror}.", file=sys.stderr)
        return 1
    return 1 if _failed(result) else 0


def _fail(error: LecternError) -> int:
    print(f"{error.message} {error.hint}".strip(), file=sys.stderr)
    return 1


def _failed(result: Any) -> bool:
    """Whether a list holds nothing but errors (an empty one is no failure), or a tool failed."""
    if isinstance(result, list):
        return bool(result) and all("error" in row for row in result)
    return isinstance(result, dict) and result.get("ok") is False


# --- papers -----------------------------------------------------------------------------------


def _ingest(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, Any]]:
    # what is known of papers comes after the papers
    files = sorted(options.files, key=lambda path: path.suffix.lower() == ".bib")
    rows = [_ingest_one(workbench, path, options.password) for path in files]
    if not options.no_wait:
        workbench.backfill.fill()
    return rows


def _ingest_one(workbench: Workbench, path: Path, password: str) -> dict[str, Any]:
    try:
        data = _read_file(path)
        if is_bibtex(data):
            return {"file": str(path), **_import_bibtex(workbench, data)}
        done = workbench.ingestor.ingest(
            LOCAL_USER,
            path.name,
            data,
            password=password,
            on_progress=lambda at: _progress(path.name, at),
        )
    except LecternError as error:
        return {"file": str(path), "error": error.to_json()}
    return _ingested(str(path), done)


def _ingested(name: str, done: Ingested) -> dict[str, Any]:
    return {
        "file": name,
        "paper_id": str(done.paper_id),
        "title": done.meta.title,
        "authors": list(done.meta.authors),
        "year": done.meta.year,
        "language": done.meta.language,
        "pages": done.pages,
        "chunks": done.chunks,
        "duplicate": done.duplicate,
        "seconds": round(done.seconds, 3),
    }


def _import_bibtex(workbench: Workbench, data: bytes) -> dict[str, Any]:
    found = workbench.ingestor.import_bibtex(LOCAL_USER, data)
    return {
        "matched": {entry.key: str(row.paper_id) for entry, row in found.pairs},
        "unmatched": [entry.key for entry in found.unmatched],
    }


def _progress(name: str, at: Progress) -> None:
    if at.done == at.total:
        print(f"{name}: {at.stage} {at.done}/{at.total}", file=sys.stderr)


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror}.",
            hint="Check the path and its permissions.",
            code="FILE_NOT_FOUND",
        ) from error


def _show_ingested(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if "error" in row:
            print(f"✗ {row['file']}: {row['error']['message']} {row['error']['hint']}".rstrip())
        elif "matched" in row:
            print(f"✓ {row['file']}: metadata of {len(row['matched'])} papers taken over")
            for key in row["unmatched"]:
                print(f"  no paper here for {key}")
        else:
            state = "already there" if row["duplicate"] else f"{row['seconds']:.1f} s"
            print(f"✓ {row['title'] or row['file']}  [{row['paper_id']}]")
            print(f"  {row['pages']} pages, {row['chunks']} chunks, {state}")


def _papers(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, Any]]:
    return [_paper_json(row) for row in workbench.papers.papers(LOCAL_USER)]


def _paper_json(row: PaperRow) -> dict[str, Any]:
    return {
        "paper_id": str(row.paper_id),
        "title": row.meta.title,
        "authors": list(row.meta.authors),
        "year": row.meta.year,
        "pages": row.pages,
        "chunks": row.chunks,
        "read_by": row.read_by,
        "added_at": row.added_at,
    }


def _show_papers(rows: list[dict[str, Any]]) -> None:
    if not rows:
        print("No papers yet. Add one: python -m core ingest paper.pdf")
    for row in rows:
        print(f"{row['paper_id']}  {row['title']} ({row['year'] or 'no year'}, {row['pages']} p.)")


def _remove(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    paper = workbench.papers.resolve(LOCAL_USER, options.paper)
    title = workbench.papers.paper(LOCAL_USER, paper).meta.title
    workbench.papers.remove(LOCAL_USER, paper)
    return {"paper_id": str(paper), "title": title, "removed": True}


def _show_removed(row: dict[str, Any]) -> None:
    print(f"Removed: {row['title']}. Add the file again to have it back.")


# --- asking -----------------------------------------------------------------------------------


def _scope(workbench: Workbench, names: Sequence[str]) -> tuple[UUID, ...] | None:
    """Return the papers named; a file that is not in the library yet is added first."""
    if not names:
        return None
    return tuple(_paper_or_file(workbench, name) for name in names)


def _paper_or_file(workbench: Workbench, name: str) -> UUID:
    path = Path(name)
    if _is_file(path):
        return workbench.ingestor.ingest(LOCAL_USER, path.name, _read_file(path)).paper_id
    return workbench.papers.resolve(LOCAL_USER, name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name no file can have
        return False


def _ask(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    request = TurnRequest(
        user_id=LOCAL_USER,
        question=options.question,
        paper_ids=_scope(workbench, options.paper),
        conversation_id=options.conversation,
        selected=options.selected,
        intent=options.intent,
    )
    answer = _follow(workbench, request, quiet=options.json)
    del answer["recalled"]
    return answer


def _follow(workbench: Workbench, request: TurnRequest, *, quiet: bool) -> dict[str, Any]:
    """Run a turn to its end; stop it when the command is stopped."""
    turn = workbench.runner.start(request)
    try:
        return _watch(workbench, turn.id, turn.conversation_id, quiet=quiet)
    except KeyboardInterrupt:
        workbench.runner.cancel(LOCAL_USER, turn.id)
        raise


def _watch(
    workbench: Workbench, turn_id: UUID, conversation_id: UUID, *, quiet: bool
) -> dict[str, Any]:
    """Follow a turn to its end, showing it as it comes, and return its public form."""
    steps: list[dict[str, Any]] = []
    notices: list[dict[str, Any]] = []
    recalled: dict[str, Any] = {}
    for event in workbench.runner.follow(LOCAL_USER, turn_id):
        if event.kind == StepFinished.kind:
            keys = ("node", "title", "seconds", "detail")
            steps.append({key: event.data[key] for key in keys})
        elif event.kind == Notice.kind:
            notices.append(event.data)
            print(f"{event.data['text']} {event.data['hint']}".strip(), file=sys.stderr)
        elif event.kind == Recalled.kind:
            recalled = event.data
        elif event.kind == Token.kind and not quiet:
            print(event.data["text"], end="", flush=True)
        elif event.kind == TurnFailed.kind:
            raise LecternError(
                event.data["message"], hint=event.data["hint"], code=event.data["code"]
            )
        elif event.kind == TurnFinished.kind:
            shared = {
                "conversation_id": str(conversation_id),
                "notices": notices,
                "recalled": recalled,
            }
            return {**event.data, "steps": steps, **shared}
    raise LecternError("The turn ended without a word.", hint="Ask again.")


def _summarize(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    paper = _paper_or_file(workbench, options.paper)
    request = TurnRequest(
        user_id=LOCAL_USER,
        question=options.question,
        paper_ids=(paper,),
        intent="personalized_summary",
    )
    answer = _follow(workbench, request, quiet=options.json)
    recalled = answer["recalled"]
    return {
        "paper_id": str(paper),
        "branch": recalled["branch"],
        "summary": answer["answer"],
        "related": recalled["related"],
        **{key: answer[key] for key in ("citations", "sentences", "mode", "notices")},
    }


def _show_summary(summary: dict[str, Any]) -> None:
    _show_answer(summary)
    for row in summary["related"]:
        print(f"Beside: {row['title']}, read {row['read_at'][:10]} ({row['score']:.2f})")


def _arxiv(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.tools.catalogue import paper_search

    given = {
        "topic": options.query,
        "number": options.number,
        "offset": options.offset,
        "author": options.author,
        "year_from": options.year_from,
        "year_to": options.year_to,
        "categories": options.category,
        "sort": options.sort,
        "source": options.source,
    }
    return dict(paper_search(workbench.toolbox(LOCAL_USER), **given))


def _show_found(envelope: dict[str, Any]) -> None:
    if envelope["error"]:
        print(f"{envelope['error']['message']} {envelope['error']['hint']}", file=sys.stderr)
        return
    data = envelope["data"]
    if data["translated_by"]:
        print(f"Searched for: {data['topic']}", file=sys.stderr)
    for paper in data["papers"]:
        name = paper["arxiv_id"] or paper["doi"] or paper["url"]
        print(f"{name}  {paper['year'] or 'no year'}  {paper['title']}")


def _add(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = [_add_one(workbench, name) for name in options.ids]
    if not options.no_wait:
        workbench.backfill.fill()
    return rows


def _add_one(workbench: Workbench, name: str) -> dict[str, Any]:
    try:
        paper = recognise(name)
        fetched = workbench.arxiv_fetcher.fetch(paper)
        done = workbench.ingestor.ingest(
            LOCAL_USER,
            fetched.filename,
            fetched.data,
            on_progress=lambda at: _progress(name, at),
        )
        workbench.ingestor.name_arxiv_id(LOCAL_USER, done.paper_id, paper.value)
    except LecternError as error:
        return {"file": name, "error": error.to_json()}
    return _ingested(name, done)


# --- reviews ----------------------------------------------------------------------------------


def _review(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.review.document import public
    from core.review.request import ReviewRequest

    request = ReviewRequest(
        topic=options.topic,
        source=options.source,
        top=options.top,
        number=max(options.top, 30),
        year_from=options.year_from,
        year_to=options.year_to,
        categories=tuple(options.category),
        confirm=False,
    )
    number = workbench.review_runs.start(LOCAL_USER, request)
    try:
        row = _followed(workbench, number)
    except KeyboardInterrupt:
        workbench.review_runs.stop(LOCAL_USER, number)
        raise
    if row.document is None:
        error = row.error or {"message": say("It was stopped."), "code": "CANCELLED"}
        raise LecternError(error["message"], hint=error.get("hint", ""), code=error["code"])
    return {"review_id": str(number), **public(row.document)}


def _followed(workbench: Workbench, number: UUID) -> ReviewRow:
    """Wait for a review, telling on stderr what is being done."""
    told: set[str] = set()
    while (row := workbench.reviews.review(LOCAL_USER, number)).working:
        for stage in row.stages:
            _tell_once(told, stage["name"])
        for paper in row.papers:
            if paper.state in ("done", "failed"):
                reason = f": {paper.error['message']}" if paper.error else ""
                _tell_once(told, f"{paper.found['title']} ({paper.got or paper.state}){reason}")
        time.sleep(0.2)
    return row


def _tell_once(told: set[str], line: str) -> None:
    if line not in told:
        told.add(line)
        print(line, file=sys.stderr)


def _show_review(review: dict[str, Any]) -> None:
    print(review["draft"], "\n")
    for reference in review["references"]:
        authors = ", ".join(reference["authors"][:3])
        only = "" if reference["evidence"] == "full_text" else " (abstract only)"
        print(f"[{reference['n']}] {authors} ({reference['year']}). {reference['title']}.{only}")
    verified = review["verified"]
    print(f"\nVerified: {verified['supported']} of {verified['total']} sentences.")
    for failed in review["stats"]["failed"]:
        print(f"Not read: {failed['title']}. {failed['reason']}")


def _history(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, Any]]:
    return [reading.to_json() for reading in workbench.readings.history(LOCAL_USER)]


def _show_history(rows: list[dict[str, Any]]) -> None:
    if not rows:
        print("Nothing read yet. Read a paper: python -m core summarize PAPER")
    for row in rows:
        print(f"{row['paper_id']}  {row['read_at'][:10]}  {row['title']}")


def _forget(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    wanted = options.paper.strip().casefold()
    read = workbench.readings.history(LOCAL_USER)
    named = [r for r in read if wanted in (str(r.paper_id), r.title.casefold())]
    paper = named[0].paper_id if named else workbench.papers.resolve(LOCAL_USER, options.paper)
    workbench.readings.forget(LOCAL_USER, [paper])
    title = next(r.title for r in read if r.paper_id == paper)
    return {"paper_id": str(paper), "title": title, "forgotten": True}


def _show_forgotten(row: dict[str, Any]) -> None:
    print(f"Forgotten: {row['title']}.")


def _show_answer(answer: dict[str, Any]) -> None:
    print("\n")
    judged = [sentence for sentence in answer["sentences"] if sentence["verdict"]]
    supported = sum(sentence["verdict"] == "supported" for sentence in judged)
    how = "by a language model" if answer["mode"] == "llm" else "in the papers' own words"
    print(f"Answered {how}; {supported} of {len(judged)} sentences supported by their passages.")
    for sentence in judged:
        if sentence["verdict"] != "supported":
            print(f"{sentence['verdict']}: {sentence['text']} ({sentence['reason']})")
    for citation in answer["citations"]:
        print(
            f"[{citation['n']}] {citation['title']}, p. {citation['page']}: “{citation['quote']}”"
        )


def _search(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, Any]]:
    scope = Scope(LOCAL_USER, _scope(workbench, options.paper))
    found = workbench.searcher.search(options.query, scope, options.k)
    for notice in found.notices:
        print(notice, file=sys.stderr)
    return [_hit_json(rank, hit) for rank, hit in enumerate(found.hits, 1)]


def _hit_json(rank: int, hit: Hit) -> dict[str, Any]:
    return {
        "rank": rank,
        "paper_id": str(hit.chunk.paper_id),
        "title": hit.title,
        "page": hit.chunk.page,
        "section": hit.chunk.section,
        "text": hit.chunk.text,
        "scores": hit.scores.to_json(),
    }


def _show_hits(rows: list[dict[str, Any]]) -> None:
    if not rows:
        print("Nothing found. Is the paper added? See: python -m core papers")
    for row in rows:
        print(f"{row['rank']}. {row['title']}, p. {row['page']}  {row['section']}")
        print(f"   {' '.join(row['text'].split())[:300]}")


def _route(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.agent import router

    chosen = None
    if workbench.chat:
        try:
            chosen, _ = router.choose(options.question, None, workbench.chat)
        except ModelFailed as error:
            print(f"{error.message} {error.hint}".strip(), file=sys.stderr)
    chosen = chosen or router.guess(options.question, None, workbench.examples)
    return {
        "intent": chosen.intent,
        "confidence": round(chosen.confidence, 3),
        "detail": chosen.detail,
    }


def _show_route(row: dict[str, Any]) -> None:
    print(f"{row['intent']}: {row['detail']}, {row['confidence']:.2f}")


def _verify(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.evidence.verdict import assess

    found = assess(options.text, options.passage, workbench.embedders[0])
    return {"verdict": found.label, "reason": found.reason, "support": found.support}


def _show_verdict(row: dict[str, Any]) -> None:
    print(f"{row['verdict']}: {row['reason']}")


# --- state, evals, benches --------------------------------------------------------------------


def _doctor(workbench: Workbench, options: argparse.Namespace) -> list[dict[str, str]]:
    from core.doctor import examine

    return examine(workbench)


def _show_doctor(rows: list[dict[str, str]]) -> None:
    marks = {"on": "✓", "off": "–", "broken": "✗"}
    for row in rows:
        why = row["why"].removesuffix(".")
        print(f"{marks[row['state']]} {row['part']}: {why}. {row['hint']}".rstrip())


def _eval(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.evals.registry import run

    return run(options.name, workbench.settings, options.data, options.papers)


def _bench(workbench: Workbench, options: argparse.Namespace) -> dict[str, Any]:
    from core.bench.registry import run

    return run(options.name, options.data)


def _show_json(result: Any) -> None:
    print(json.dumps(result, ensure_ascii=False, indent=2, default=str))


# --- the grammar ------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON document on stdout")
    common.add_argument("--data-dir", type=Path, help="where Lectern keeps its data")
    parser = argparse.ArgumentParser(prog="python -m core", description="Lectern's command line.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, run: Handler, show: Callable[[Any], None], about: str
    ) -> argparse.ArgumentParser:
        entry = commands.add_parser(name, parents=[common], help=about, description=about)
        entry.set_defaults(run=run, show=show)
        return entry

    entry = command(
        "ingest", _ingest, _show_ingested, "Add files: PDF, HTML, Markdown, text, BibTeX."
    )
    entry.add_argument("files", nargs="+", type=Path, metavar="FILE")
    entry.add_argument("--password", default="", help="for encrypted files")
    entry.add_argument(
        "--no-wait", action="store_true", help="leave the second dense path for later"
    )
    entry = command("ask", _ask, _show_answer, "Ask a question.")
    entry.add_argument("question")
    entry.add_argument("--paper", action="append", default=[], metavar="ID_OR_FILE")
    entry.add_argument("--intent", default="", choices=[item.name for item in all_intents()])
    entry.add_argument("--selected", default="", help="a passage the question is about")
    entry.add_argument("--conversation", type=UUID, help="go on with this conversation")
    entry = command("search", _search, _show_hits, "Find passages.")
    entry.add_argument("query")
    entry.add_argument("--paper", action="append", default=[], metavar="ID_OR_FILE")
    entry.add_argument("-k", type=_positive, default=5, help="how many (default 5)")
    entry = command("route", _route, _show_route, "Say which intent a question goes to.")
    entry.add_argument("question")
    entry = command("verify", _verify, _show_verdict, "Say whether passages support a sentence.")
    entry.add_argument("--text", required=True, help="the sentence")
    entry.add_argument("--passage", required=True, action="append", help="may be given again")
    entry = command(
        "summarize", _summarize, _show_summary, "Summarise a paper beside what was read before."
    )
    entry.add_argument("paper", metavar="ID_OR_FILE")
    entry.add_argument(
        "--question",
        default="Summarise this paper for me.",
        help="what is wanted; the summary is in its language",
    )
    entry = command("arxiv", _arxiv, _show_found, "Search arXiv, OpenAlex or Crossref.")
    entry.add_argument("query", help="words, phrases in quotation marks; Chinese too")
    entry.add_argument("-n", "--number", type=_positive, default=10, help="papers (10)")
    entry.add_argument("--offset", type=int, default=0, help="leave out so many of the first")
    entry.add_argument("--author", default="")
    entry.add_argument("--year-from", type=int)
    entry.add_argument("--year-to", type=int)
    entry.add_argument("--category", action="append", default=[], help="such as cs.CL; repeatable")
    entry.add_argument("--sort", default="relevance", choices=["relevance", "submitted", "updated"])
    entry.add_argument("--source", default="arxiv", choices=SOURCES)
    entry = command("review", _review, _show_review, "Write a literature review on a topic.")
    entry.add_argument("topic")
    entry.add_argument("--from", dest="source", default="arxiv", choices=["arxiv", "library"])
    entry.add_argument("--top", type=_positive, default=8, help="papers it is made of (8)")
    entry.add_argument("--year-from", type=int)
    entry.add_argument("--year-to", type=int)
    entry.add_argument("--category", action="append", default=[], help="such as cs.CL; repeatable")
    entry = command("add", _add, _show_ingested, "Fetch papers from arXiv and add them.")
    entry.add_argument("ids", nargs="+", metavar="ARXIV_ID")
    entry.add_argument(
        "--no-wait", action="store_true", help="leave the second dense path for later"
    )
    command("history", _history, _show_history, "List what was read.")
    entry = command("forget", _forget, _show_forgotten, "Forget that a paper was read.")
    entry.add_argument("paper", metavar="ID_OR_TITLE")
    command("papers", _papers, _show_papers, "List the library.")
    entry = command("remove", _remove, _show_removed, "Remove a paper; adding it again undoes it.")
    entry.add_argument("paper", metavar="ID")
    command("doctor", _doctor, _show_doctor, "Say which parts work.")
    entry = command("eval", _eval, _show_json, "Measure quality.")
    entry.add_argument("name", help="an unknown one names those there are")
    entry.add_argument("--data", type=Path, help="the labelled set")
    entry.add_argument("--papers", type=Path, help="folder the set's files are in")
    entry = command("bench", _bench, _show_json, "Measure speed.")
    entry.add_argument(
        "name",
        choices=["ingest", "many", "retrieval", "answer", "memory", "review", "tokens", "ui"],
    )
    entry.add_argument("--data", type=Path, help="the material measured on")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
