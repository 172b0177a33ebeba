"""Another user's ids behave like ids that do not exist: tried on every method that takes a user.

The methods are found by looking at the classes, so a new one without a case here fails the test.
"""

import inspect
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from core.agent.graph import build_graph
from core.agent.runner import Runner
from core.agent.state import TurnContext, TurnRequest
from core.db.accounts import AccountStore
from core.db.conversations import ConversationStore
from core.db.papers import PaperStore
from core.db.reviews import ReviewStore
from core.errors import BadInput, NotFound
from core.ingest.worker import Worker
from core.memory.memory import ReadingMemory
from core.memory.readings import NewReading, ReadingStore
from core.reading import PaperReader
from core.tools.searches import Searches
from core.types import Citation, PaperMeta, Scores, Structure
from core.workbench import Workbench
from tests.fixtures.papers import made_file, made_paper, made_terms, unit_vectors

OWNER, STRANGER = uuid4(), uuid4()
MODEL = "use-multilingual"
VECTOR = unit_vectors(1)[0]
CLASSES = (
    PaperStore,
    ConversationStore,
    AccountStore,
    ReadingStore,
    ReadingMemory,
    ReviewStore,
    PaperReader,
    Runner,
    Searches,
)

NEW = object()
"""The method makes something of the stranger's own; it must not touch what is the owner's."""
CASES: dict[str, tuple[Any, Callable[[Any, UUID, Any], Any]]] = {
    # method: what a stranger gets, and the call, given the object, the user and the owner's things
    "PaperStore.add": (NEW, lambda o, u, x: o.add(u, "b.pdf", made_file(b"2"), *x.parsed)),
    "PaperStore.add_to_library": (NEW, lambda o, u, x: o.add_to_library(u, x.paper, "n.pdf")),
    "PaperStore.remove": (NotFound, lambda o, u, x: o.remove(u, x.paper)),
    "PaperStore.restore": (NotFound, lambda o, u, x: o.restore(u, x.paper)),
    "PaperStore.papers": ([], lambda o, u, x: o.papers(u)),
    "PaperStore.paper": (NotFound, lambda o, u, x: o.paper(u, x.paper)),
    "PaperStore.structure": (NotFound, lambda o, u, x: o.structure(u, x.paper)),
    "PaperStore.fill_structure": (
        NotFound,
        lambda o, u, x: o.fill_structure(u, x.paper, Structure()),
    ),
    "PaperStore.set_meta": (NotFound, lambda o, u, x: o.set_meta(u, x.paper, x.parsed[0].meta)),
    "PaperStore.titles": ({}, lambda o, u, x: own_titles(o, u, x)),
    "PaperStore.resolve": (NotFound, lambda o, u, x: o.resolve(u, str(x.paper))),
    "PaperStore.library": (NotFound, lambda o, u, x: o.library(u, [x.paper])),
    "PaperStore.characters": ({}, lambda o, u, x: o.characters(u, [x.paper])),
    "PaperStore.library_version": ("0-0", lambda o, u, x: o.library_version(u)),
    "PaperStore.pages": (NotFound, lambda o, u, x: o.pages(u, x.paper)),
    "PaperStore.page": (NotFound, lambda o, u, x: o.page(u, x.paper, 1)),
    "PaperStore.page_chunks": ([], lambda o, u, x: o.page_chunks(u, x.paper)),
    "PaperStore.sections": ([], lambda o, u, x: o.sections(u, x.paper)),
    "PaperStore.file": (NotFound, lambda o, u, x: o.file(u, x.paper)),
    "PaperStore.file_facts": (NotFound, lambda o, u, x: o.file_facts(u, x.paper)),
    "PaperStore.holding": (NotFound, lambda o, u, x: o.holding(u, x.file)),
    "ConversationStore.begin_turn": (
        NotFound,
        lambda o, u, x: o.begin_turn(u, x.conversation, "Hm?", runner=1),
    ),
    "ConversationStore.events": (NotFound, lambda o, u, x: o.events(u, x.turn)),
    "ConversationStore.turn": (NotFound, lambda o, u, x: o.turn(u, x.turn)),
    "ConversationStore.turns": (NotFound, lambda o, u, x: o.turns(u, x.conversation)),
    "ConversationStore.conversations": ([], lambda o, u, x: o.conversations(u)),
    "ConversationStore.repeats": (NotFound, lambda o, u, x: o.repeats(u, x.conversation)),
    "ConversationStore.rate": (NotFound, lambda o, u, x: o.rate(u, x.turn, -1, "ha")),
    "ConversationStore.ratings": ((0, 0), lambda o, u, x: o.ratings(u)),
    "ConversationStore.conversation": (
        NotFound,
        lambda o, u, x: o.conversation(u, x.conversation),
    ),
    "ConversationStore.rename": (NotFound, lambda o, u, x: o.rename(u, x.conversation, "Ha")),
    "ConversationStore.remove": (NotFound, lambda o, u, x: o.remove(u, x.conversation)),
    "ConversationStore.restore": (NotFound, lambda o, u, x: o.restore(u, x.conversation)),
    "AccountStore.seen": (NEW, lambda o, u, x: o.seen(u, "guest")),
    "AccountStore.language": ("", lambda o, u, x: o.language(u)),
    "AccountStore.set_language": (NotFound, lambda o, u, x: o.set_language(u, "en")),
    "ReadingStore.remember": (NEW, lambda o, u, x: remember(o, u, x.paper)),
    "ReadingStore.history": ([], lambda o, u, x: o.history(u)),
    "ReadingStore.similar": ([], lambda o, u, x: o.similar(u, VECTOR, MODEL, uuid4())),
    "ReadingStore.reading": (NotFound, lambda o, u, x: o.reading(u, x.paper)),
    "ReadingStore.edit": (NotFound, lambda o, u, x: o.edit(u, x.paper, "Ha.", VECTOR, "use")),
    "ReadingStore.forget": (NotFound, lambda o, u, x: o.forget(u, [x.paper])),
    "ReadingStore.restore": (NotFound, lambda o, u, x: o.restore(u, x.forgotten)),
    "ReadingStore.pause": (NEW, lambda o, u, x: o.pause(u, True)),
    "ReadingStore.paused": (False, lambda o, u, x: o.paused(u)),
    "ReadingStore.vote": (NEW, lambda o, u, x: o.vote(u, x.paper, x.paper, -1)),
    "ReadingStore.votes_beside": ({}, lambda o, u, x: o.votes_beside(u, x.paper)),
    "ReadingStore.votes": ({}, lambda o, u, x: o.votes(u)),
    "ReadingStore.clear_votes": (0, lambda o, u, x: o.clear_votes(u, x.paper)),
    "ReadingStore.vectors": ([], lambda o, u, x: o.vectors(u, MODEL)[0]),
    "ReadingStore.waiting": (0, lambda o, u, x: o.waiting(u, "another", 512)),
    "ReadingMemory.waiting": (0, lambda o, u, x: o.waiting(u)),
    "ReadingMemory.mark_read": (NotFound, lambda o, u, x: o.mark_read(u, x.paper)),
    "ReadingMemory.edit": (NotFound, lambda o, u, x: o.edit(u, x.paper, "Ha.")),
    "ReadingMemory.related": (NotFound, lambda o, u, x: o.related(u, x.paper)),
    "ReadingMemory.landscape": ((), lambda o, u, x: o.landscape(u).points),
    "ReadingMemory.suggestions": ([], lambda o, u, x: o.suggestions(u)),
    "ReadingMemory.on_arxiv": ("", lambda o, u, x: searched_by(o, u)),
    "ReadingMemory.export": (False, lambda o, u, x: b"paper_id" in o.export(u)),
    "ReadingMemory.import_file": (NEW, lambda o, u, x: o.import_file(u, x.exported)),
    "ReviewStore.add": (NEW, lambda o, u, x: o.add(u, "Topic", {})),
    "ReviewStore.review": (NotFound, lambda o, u, x: o.review(u, x.review)),
    "ReviewStore.reviews": ([], lambda o, u, x: o.reviews(u)),
    "ReviewStore.tick": (NotFound, lambda o, u, x: o.tick(u, x.review, [0])),
    "ReviewStore.choose": (NotFound, lambda o, u, x: o.choose(u, x.review, [0])),
    "ReviewStore.search_again": (NotFound, lambda o, u, x: o.search_again(u, x.review)),
    "ReviewStore.stop": (NotFound, lambda o, u, x: o.stop(u, x.review)),
    "ReviewStore.remove": (NotFound, lambda o, u, x: o.remove(u, x.review)),
    "ReviewStore.restore": (NotFound, lambda o, u, x: o.restore(u, x.review)),
    "PaperReader.cited": (NotFound, lambda o, u, x: o.cited(u, x.citation)),
    "PaperReader.drawable": (NotFound, lambda o, u, x: o.drawable(u, x.paper)),
    "PaperReader.page_count": (NotFound, lambda o, u, x: o.page_count(u, x.paper)),
    "PaperReader.picture": (NotFound, lambda o, u, x: o.picture(u, x.paper, 1)),
    "PaperReader.page_text": (NotFound, lambda o, u, x: o.page_text(u, x.paper, 1)),
    "PaperReader.size": (NotFound, lambda o, u, x: o.size(u, x.paper, 1)),
    "PaperReader.lines": (NotFound, lambda o, u, x: o.lines(u, x.paper, 1)),
    "PaperReader.outline": (NotFound, lambda o, u, x: o.outline(u, x.paper)),
    "PaperReader.find": (NotFound, lambda o, u, x: o.find(u, x.paper, "Passage")),
    "Runner.start": (
        NotFound,
        lambda o, u, x: o.start(TurnRequest(u, "Hm?", conversation_id=x.conversation)),
    ),
    "Runner.repeat": (NotFound, lambda o, u, x: o.repeat(u, x.turn)),
    "Runner.cancel": (NotFound, lambda o, u, x: o.cancel(u, x.turn)),
    "Runner.events": (NotFound, lambda o, u, x: o.events(u, x.turn)),
    "Runner.follow": (NotFound, lambda o, u, x: list(o.follow(u, x.turn))),
    "Searches.start": (False, lambda o, u, x: o.start(u, topic="fusion") is x.search),
}


def remember(readings: ReadingStore, user: UUID, paper: UUID) -> None:
    readings.remember(user, NewReading(paper, "A paper", "It says so.", VECTOR, "use"))


def searched_by(memory: ReadingMemory, user: UUID) -> str:
    """Return what arXiv would be asked: nothing else of a user's readings leaves this computer."""
    try:
        return memory._topics_asked(user)
    except BadInput:
        return ""


def own_titles(papers: Any, user: UUID, things: Any) -> dict[UUID, str]:
    """Return the titles that are not what the file says."""
    read = papers.titles([things.paper])
    found = papers.titles([things.paper], user)
    return {paper: title for paper, title in found.items() if title != read.get(paper)}


def personal_methods() -> set[str]:
    """Return the public methods that act for somebody."""
    return {
        f"{owner.__name__}.{name}"
        for owner in CLASSES
        for name, method in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_")
        and {"user_id", "request"} & set(inspect.signature(method).parameters)
    }


def test_every_method_that_takes_a_user_has_its_case() -> None:
    assert personal_methods() == set(CASES)


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def objects(database: Engine, worker: Worker, bench: Workbench, make_bench):
    slow = make_bench(ARXIV_SECONDS=3600)  # arXiv is never asked: it is not anybody's turn
    slow.arxiv_pace.wait(lambda: False)
    papers, conversations = PaperStore(database), ConversationStore(database)

    def no_context(emit: Any, cancelled: threading.Event) -> TurnContext:
        raise AssertionError("no turn of a stranger may run")

    runner = Runner(build_graph(), conversations, no_context, lambda request: 0)
    yield {
        "PaperStore": papers,
        "ConversationStore": conversations,
        "AccountStore": AccountStore(database),
        "ReadingStore": ReadingStore(database),
        "ReadingMemory": bench.memory,
        "ReviewStore": ReviewStore(database),
        "PaperReader": PaperReader(papers, worker),
        "Runner": runner,
        "Searches": slow.searches,
    }
    runner.close()


@pytest.fixture
def owned(objects, bench: Workbench) -> SimpleNamespace:
    parsed = (made_paper(), made_terms(), {})
    file = made_file(b"1")
    paper = objects["PaperStore"].add(OWNER, "a.pdf", file, *parsed)
    objects["PaperStore"].set_meta(OWNER, paper, PaperMeta(title="As the owner has it"))
    turn = objects["ConversationStore"].begin_turn(OWNER, None, "Why?", runner=1)
    objects["ConversationStore"].end_turn(turn.id, "finished", answer="So.")
    objects["ConversationStore"].rate(OWNER, turn.id, 1)
    other = replace(
        made_paper(), chunks=tuple(replace(c, text=f"Other. {c.text}") for c in made_paper().chunks)
    )
    unread = objects["PaperStore"].add(OWNER, "b.pdf", made_file(b"3"), other, made_terms(), {})
    readings = objects["ReadingStore"]
    remember(readings, OWNER, unread)
    readings.vote(OWNER, unread, unread, 1)
    forgotten = readings.forget(OWNER, [unread])
    vector = bench.embedders[0].encode(["On 稀疏 attention"])[0]
    readings.remember(OWNER, NewReading(paper, "Sparse attention", "It says so.", vector, MODEL))
    readings.remember(OWNER, NewReading(uuid4(), "Waiting", "It waits.", VECTOR, "older"))
    readings.vote(OWNER, paper, paper, 1)
    readings.pause(OWNER, True)
    review = objects["ReviewStore"].add(OWNER, "A topic", {})
    objects["ReviewStore"].set_papers(review, [{"title": "A paper"}], 1)
    objects["ReviewStore"].end(review, "stopped")
    objects["AccountStore"].seen(OWNER, "login")
    objects["AccountStore"].set_language(OWNER, "zh")
    return SimpleNamespace(
        parsed=parsed,
        paper=paper,
        file=file.sha256,
        conversation=turn.conversation_id,
        turn=turn.id,
        citation=Citation(1, paper, "T", file.sha256, 1, "", "q", (), Scores()),
        forgotten=forgotten,
        review=review,
        search=objects["Searches"].start(OWNER, topic="fusion"),
        exported=bench.memory.export(OWNER),
    )


def stored(database: Engine, mine: bool) -> dict[str, list[Any]]:
    """Return all rows that are the owner's (or papers, which are nobody's own), or all others."""
    queries = {
        "library": "SELECT * FROM library WHERE (user_id = :owner) = :mine",
        "accounts": "SELECT * FROM accounts WHERE (user_id = :owner) = :mine",
        "user_paper_profile": "SELECT * FROM user_paper_profile WHERE (user_id = :owner) = :mine",
        "reading_votes": "SELECT * FROM reading_votes WHERE (user_id = :owner) = :mine",
        "reading_pauses": "SELECT * FROM reading_pauses WHERE (user_id = :owner) = :mine",
        "reviews": "SELECT * FROM reviews WHERE (user_id = :owner) = :mine",
        "conversations": "SELECT * FROM conversations WHERE (user_id = :owner) = :mine",
        "turns": "SELECT t.* FROM turns t JOIN conversations c ON c.id = conversation_id "
        "WHERE (user_id = :owner) = :mine",
    }
    with database.connect() as connection:
        values = {"owner": OWNER, "mine": mine}
        return {
            table: sorted(map(repr, connection.execute(text(query), values)))
            for table, query in queries.items()
        }


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_stranger_gets_what_there_is_for_ids_that_do_not_exist(
    objects, owned, database: Engine, case: str
) -> None:
    expected, call = CASES[case]
    target = objects[case.partition(".")[0]]
    before, others = stored(database, True), stored(database, False)
    if expected is NotFound:
        with pytest.raises(NotFound) as theirs:
            call(target, STRANGER, owned)
        nobodys = SimpleNamespace(**{**vars(owned), **nothing()})
        with pytest.raises(NotFound) as none:
            call(target, STRANGER, nobodys)
        assert said(theirs.value, owned) == said(none.value, nobodys)
    elif expected is NEW:
        call(target, STRANGER, owned)
    else:
        assert call(target, STRANGER, owned) == expected
    assert stored(database, True) == before
    assert (stored(database, False) != others) == (expected is NEW)


def nothing() -> dict[str, Any]:
    """Return ids of nothing at all."""
    paper, file = uuid4(), "0" * 64
    return {
        "paper": paper,
        "file": file,
        "conversation": uuid4(),
        "turn": uuid4(),
        "review": uuid4(),
        "citation": Citation(1, paper, "T", file, 1, "", "q", (), Scores()),
        "forgotten": datetime(2020, 1, 1, tzinfo=UTC),
    }


def said(error: NotFound, things: SimpleNamespace) -> tuple[str, str, str]:
    """Return an error without the id that was asked for: the rest must give nothing away."""
    message = error.message.replace(str(things.paper), "ID").replace(things.file, "ID")
    return error.code, message, error.hint


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_owner_gets_something_else(objects, owned, case: str) -> None:
    """The cases above would also pass if nothing worked for anybody."""
    expected, call = CASES[case]
    if expected is NEW or case in ("Runner.start",):
        return
    if case == "PaperReader.picture":
        assert objects["PaperStore"].file(OWNER, owned.paper).data  # made up: nothing to draw
    else:
        assert call(objects[case.partition(".")[0]], OWNER, owned) != expected


def test_a_removed_conversation_is_one_that_does_not_exist(objects, owned) -> None:
    store = objects["ConversationStore"]
    store.remove(OWNER, owned.conversation)
    calls: list[Callable[[], Any]] = [
        lambda: store.turns(OWNER, owned.conversation),
        lambda: store.turn(OWNER, owned.turn),
        lambda: store.events(OWNER, owned.turn),
        lambda: store.begin_turn(OWNER, owned.conversation, "?", runner=1),
        lambda: store.conversation(OWNER, owned.conversation),
        lambda: store.rename(OWNER, owned.conversation, "x"),
        lambda: store.remove(OWNER, owned.conversation),
        lambda: objects["Runner"].cancel(OWNER, owned.turn),
        lambda: objects["Runner"].events(OWNER, owned.turn),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    assert store.conversations(OWNER) == []
    store.restore(OWNER, owned.conversation)
    assert [row.id for row in store.turns(OWNER, owned.conversation)] == [owned.turn]


def test_a_removed_paper_is_one_that_does_not_exist(objects, owned) -> None:
    papers: PaperStore = objects["PaperStore"]
    papers.remove(OWNER, owned.paper)
    for case, (expected, call) in CASES.items():
        name, _, method = case.partition(".")
        if name in ("PaperStore", "PaperReader") and expected is NotFound and method != "restore":
            with pytest.raises(NotFound):
                call(objects[name], OWNER, owned)
