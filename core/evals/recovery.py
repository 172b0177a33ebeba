"""Does research get over what goes wrong? Scripted failures of tools, model and limits.

Each case runs through the real graph, with a model and an arXiv on loopback. It is good when the turn
ends as the case expects: with a correct answer, whose sentence cites the source and is supported; or
gracefully, with what had been found, the reason told, and no error of Lectern's own.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.evals.scripted import EMPTY, Page, Say, Servers

QUESTION = "Find papers on joining rankings"
Ends = Literal["answer", "found", "told", "stopped"]
"""answer: a supported sentence. found: papers listed, the model's failure told. told: the turn ends
in words, with the failure on the timeline or in a notice. stopped: by the reader."""


@dataclass(frozen=True, slots=True)
class Case:
    """`settings` are limits by the names of `Settings`; `kind` groups the figures."""

    name: str
    kind: str
    ends: Ends
    says: tuple[Say, ...]
    pages: tuple[Page, ...] = (Page(),)
    settings: dict[str, Any] = field(default_factory=dict)


def _call(name: str, **given: object) -> Say:
    return Say(calls=((name, json.dumps(given)),))


SEARCH = _call("paper_search", topic="joining rankings")
OTHER = _call("paper_search", topic="joining")
LIBRARY = _call("search_library", query="joining rankings")
ANSWER = Say("Joining two rankings lowers the error by 12% [1].")
GIVE_UP = Say("The results do not answer this.")
BROKEN, BUSY = Page("", 500), Page("", 429, (("Retry-After", "0"),))
NOT_ATOM, REFUSED = Page("<html>maintenance</html>"), Page("", 400)
MISSING = _call("summarize_paper", paper_id="00000000-0000-4000-8000-00000000ffff")
TWICE = {"title": "T", "authors": ["A"], "year": 2020, "arxiv_id": "2001.00001"}
SAME = _call("build_citations", papers=[{"key": "a", **TWICE}, {"key": "b", **TWICE}])
BARE = _call("build_citations", papers=[{"key": "a", "title": "T"}])

CASES = (
    Case("empty result, other words", "tool", "answer", (SEARCH, OTHER, ANSWER), (EMPTY, Page())),
    Case("empty result for good", "tool", "told", (SEARCH, OTHER, GIVE_UP), (EMPTY,)),
    Case("not found", "tool", "answer", (MISSING, SEARCH, ANSWER)),
    Case("duplicate", "tool", "answer", (SAME, SEARCH, ANSWER)),
    Case("missing metadata", "tool", "answer", (BARE, SEARCH, ANSWER)),
    Case("malformed page", "tool", "answer", (SEARCH, OTHER, ANSWER), (NOT_ATOM, Page())),
    Case("refused query", "tool", "answer", (SEARCH, OTHER, ANSWER), (REFUSED, Page())),
    Case("500, then well", "retry", "answer", (SEARCH, ANSWER), (BROKEN, Page())),
    Case("429, then well", "retry", "answer", (SEARCH, ANSWER), (BUSY, Page())),
    Case("two 500, then well", "retry", "answer", (SEARCH, ANSWER), (BROKEN, BROKEN, Page())),
    Case("500 for good", "exhausted", "told", (SEARCH, GIVE_UP), (BROKEN,)),
    Case("429 for good", "exhausted", "told", (SEARCH, LIBRARY, GIVE_UP), (BUSY,)),
    Case("wrong value", "arguments", "answer",
         (_call("paper_search", topic="x", number=999), SEARCH, ANSWER)),
    Case("unknown argument", "arguments", "answer",
         (_call("paper_search", topic="x", colour="red"), SEARCH, ANSWER)),
    Case("no argument", "arguments", "answer", (_call("paper_search"), SEARCH, ANSWER)),
    Case("no JSON", "arguments", "answer",
         (Say(calls=(("paper_search", '{"topic": "jo'),)), SEARCH, ANSWER)),
    Case("no object", "arguments", "answer", (Say(calls=(("paper_search", "[1]"),)), SEARCH, ANSWER)),
    Case("the same again and again", "arguments", "told", (*[MISSING] * 4, GIVE_UP)),
    Case("unknown tool", "unknown tool", "answer", (_call("browse", url="x"), SEARCH, ANSWER)),
    Case("tool without a name", "unknown tool", "answer",
         (Say(calls=(("", "{}"),)), SEARCH, ANSWER)),
    Case("500, then well", "model", "answer", (SEARCH, Say(status=500), ANSWER)),
    Case("429, then well", "model", "answer", (Say(status=429), SEARCH, ANSWER)),
    Case("500 for good", "model", "found", (SEARCH, Say(status=500))),
    Case("429 for good", "model", "found", (SEARCH, Say(status=429))),
    Case("key refused", "model", "told", (Say(status=401),)),
    Case("cut off in a call", "model", "found", (SEARCH, Say(calls=SEARCH.calls, cut=True))),
    Case("cut off in an answer", "model", "answer", (SEARCH, Say(ANSWER.text + " And", cut=True))),
    Case("empty, then an answer", "model", "answer", (SEARCH, Say(), ANSWER)),
    Case("empty for good", "model", "found", (SEARCH, Say())),
    Case("steps, then an answer", "limit", "answer", (SEARCH, OTHER, ANSWER), (Page(),),
         {"research_steps": 2}),
    Case("steps, and it calls on", "limit", "found", (SEARCH,), (Page(),), {"research_steps": 2}),
    Case("tokens", "limit", "answer", (SEARCH, OTHER, ANSWER), (Page(),),
         {"research_tokens": 3_000}),
    Case("time", "limit", "answer", (SEARCH, Say("Late.", wait=15.0), ANSWER), (Page(),),
         {"research_seconds": 8.0}),
    Case("stopped in silence", "stop", "stopped", (SEARCH, Say("Late.", wait=4.0))),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended: its last event, its steps and its notices."""

    kind: str
    last: dict[str, Any]
    steps: Sequence[dict[str, Any]]
    notices: Sequence[dict[str, Any]]


def run(servers: Servers, ask: Callable[[Case], Outcome]) -> dict[str, Any]:
    """Run every case; return the share that ended well, in all and by kind, and those that did not."""
    good: Counter[str] = Counter()
    total = Counter(case.kind for case in CASES)
    bad = []
    for case in CASES:
        servers.script(case.says, case.pages)
        outcome = ask(case)
        if _ended(case.ends, outcome):
            good[case.kind] += 1
        else:
            bad.append(f"{case.kind}: {case.name}")
    return {
        "n": len(CASES),
        "recovered": round(good.total() / len(CASES), 3),
        "per_kind": {kind: f"{good[kind]}/{count}" for kind, count in total.items()},
        "not_recovered": bad,
    }


def _ended(ends: Ends, outcome: Outcome) -> bool:
    last = outcome.last
    if outcome.kind != "turn_finished" or not last["sentences"]:
        return ends == "stopped" and outcome.kind == "turn_finished" and last["stopped"]
    listed = any(part["papers"] for part in last["parts"])
    told = bool(outcome.notices) or any(step["state"] == "failed" for step in outcome.steps)
    limited = any(step["title"] == "Limit reached" for step in outcome.steps)
    return {
        "answer": any(s["citations"] and s["verdict"] == "supported" for s in last["sentences"])
        and last["mode"] == "llm",
        "found": listed and (told or limited) and last["mode"] == "extractive",
        "told": told,
        "stopped": bool(last["stopped"]),
    }[ends]
