"""The one form in which every tool answers. A tool never raises: what went wrong is data.

`ok` with `data`, or not with an `error` whose `hint` says what to do next, written for a model to
act on and for a reader to understand.
"""

import logging
import time
from collections.abc import Callable
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ValidationError

from core.errors import Cancelled, Unavailable
from core.wording import say

Code = Literal[
    "INVALID_ARGS",
    "NOT_FOUND",
    "EMPTY_RESULT",
    "RATE_LIMITED",
    "NETWORK",
    "TIMEOUT",
    "UPSTREAM_ERROR",
    "PARSE_ERROR",
    "DUPLICATE",
    "MISSING_METADATA",
    "CANCELLED",
    "INTERNAL_ERROR",
]
RETRYABLE: frozenset[Code] = frozenset({"RATE_LIMITED", "NETWORK", "TIMEOUT", "UPSTREAM_ERROR"})
"""What may go well another time with the same arguments."""

log = logging.getLogger(__name__)


class Failure(TypedDict):
    """Why there are no data. `retry_after`: seconds the other side asks one to wait, if it does."""

    code: Code
    message: str
    retryable: bool
    hint: str
    retry_after: float | None


class Meta(TypedDict):
    """Where an answer comes from and how long it took, tries and pauses included."""

    source: str
    elapsed_ms: int


class Envelope(TypedDict):
    """A tool's answer."""

    ok: bool
    data: dict[str, Any] | None
    error: Failure | None
    meta: Meta


class ToolFailure(Exception):
    """An expected failure inside a tool; the envelope tells of it."""

    def __init__(
        self, code: Code, message: str, hint: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.hint = hint
        self.retry_after = retry_after


def enveloped(source: str, work: Callable[[], dict[str, Any]]) -> Envelope:
    """Do the work of a tool and return its answer, whatever happens."""
    began = time.monotonic()
    data: dict[str, Any] | None = None
    error: Failure | None = None
    try:
        data = work()
    except ToolFailure as failure:
        error = _failure(failure.code, failure.message, failure.hint, failure.retry_after)
    except Cancelled:
        again = say("Start it again if it is still wanted.")
        error = _failure("CANCELLED", say("It was stopped."), again)
    except Unavailable as down:
        wait = say("Try again in a while.")
        error = _failure("UPSTREAM_ERROR", down.message, down.hint or wait)
    except Exception:  # the last boundary: our own bug must not end the agent's loop
        log.exception("the tool for %s broke", source)
        error = _failure(
            "INTERNAL_ERROR",
            say("Lectern itself made a mistake here."),
            say("Do something else; the log of the server has the details."),
        )
    elapsed = round(1000 * (time.monotonic() - began))
    return {
        "ok": error is None,
        "data": data,
        "error": error,
        "meta": {"source": source, "elapsed_ms": elapsed},
    }


def arguments(kind: type[BaseModel], given: dict[str, Any]) -> Any:
    """Return a tool's arguments, checked.

    Raises:
        ToolFailure: INVALID_ARGS, naming the first that cannot be used.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise ToolFailure(
            "INVALID_ARGS",
            say("{what} cannot be used: {reason}", what=where, reason=first["msg"]),
            say("Correct it and call the tool again."),
        ) from None


def _failure(code: Code, message: str, hint: str, retry_after: float | None = None) -> Failure:
    return {
        "code": code,
        "message": message,
        "retryable": code in RETRYABLE,
        "hint": hint,
        "retry_after": retry_after,
    }
