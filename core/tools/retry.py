"""Trying again what may go well another time: bounded, with growing pauses, stopped at once."""

import math
import threading
from collections.abc import Callable

from tenacity import RetryCallState, Retrying, stop_after_attempt
from tenacity.retry import retry_if_result
from tenacity.wait import wait_random_exponential

from core.tools.envelope import Envelope
from core.wording import say

TRIES = 3
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds; a longer Retry-After is not waited for."""


def retried(
    call: Callable[[], Envelope],
    cancelled: threading.Event,
    *,
    tries: int = TRIES,
    first_pause: float = FIRST_PAUSE,
    report: Callable[[str], None] | None = None,
) -> Envelope:
    """Call a tool until it answers with data or with what no repetition helps; at most `tries` times.

    Returns the last envelope, also when tries or patience are used up. `report` is told before each
    pause why, and how long it is.
    """
    growing = wait_random_exponential(multiplier=first_pause, max=LONGEST_PAUSE)

    def pause(state: RetryCallState) -> float:
        asked = _asked_to_wait(_last(state))
        return growing(state) if asked is None else asked

    def again(envelope: Envelope) -> bool:
        error = envelope["error"]
        asked = _asked_to_wait(envelope) or 0.0
        worth = bool(error and error["retryable"]) and asked <= LONGEST_PAUSE
        return worth and not cancelled.is_set()

    def sleep(seconds: float) -> None:
        cancelled.wait(seconds)

    def tell(state: RetryCallState) -> None:
        error = _last(state)["error"]
        if report and error and state.next_action:
            seconds = math.ceil(state.next_action.sleep)
            reason = error["message"]
            report(say("{reason} Trying again in {seconds:d} s…", reason=reason, seconds=seconds))

    trying = Retrying(
        stop=stop_after_attempt(tries),
        wait=pause,
        retry=retry_if_result(again),
        sleep=sleep,
        before_sleep=tell,
        retry_error_callback=_last,
    )
    return trying(call)


def _last(state: RetryCallState) -> Envelope:
    if state.outcome is None:
        raise RuntimeError("nothing was tried")
    found: Envelope = state.outcome.result()
    return found


def _asked_to_wait(envelope: Envelope) -> float | None:
    return envelope["error"]["retry_after"] if envelope["error"] else None
