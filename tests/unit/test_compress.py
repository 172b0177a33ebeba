"""The one map-reduce: order, bounded concurrency, failures counted, stop heard between pieces."""

import threading
import time

import pytest

from core.compress import FAILURES, batches, fold, map_pieces
from core.errors import Cancelled, ModelFailed


def test_order_is_kept_and_no_more_than_asked_run_at_once():
    running, most, lock = set(), [], threading.Lock()

    def work(piece):
        with lock:
            running.add(piece)
            most.append(len(running))
        time.sleep(0.01 * (5 - piece % 5))
        with lock:
            running.discard(piece)
        return piece * 10

    seen = []
    mapped = map_pieces(
        range(12),
        work,
        cancelled=threading.Event(),
        progress=lambda *at: seen.append(at),
        at_once=3,
    )
    assert mapped.results == tuple(range(0, 120, 10))
    assert max(most) == 3
    assert seen == [(n, 12) for n in range(1, 13)]


def test_what_fails_or_gives_nothing_is_dropped_and_counted():
    def work(piece):
        if piece == 1:
            raise ModelFailed("busy")
        return None if piece == 2 else piece

    mapped = map_pieces(range(4), work, cancelled=threading.Event())
    assert mapped.results == (0, None, None, 3)
    assert mapped.kept == [0, 3]
    assert (mapped.failed, mapped.left, mapped.reason.message) == (2, 0, "busy")


def test_a_model_that_is_down_is_not_asked_forty_times():
    asked = []

    def work(piece):
        asked.append(piece)
        raise ModelFailed("down")

    mapped = map_pieces(range(40), work, cancelled=threading.Event(), at_once=1)
    assert FAILURES <= len(asked) <= FAILURES + 1
    assert mapped.failed + mapped.left == 40


def test_a_stop_leaves_the_rest_undone():
    cancelled, done = threading.Event(), []

    def work(piece):
        if piece == 3:
            cancelled.set()
            raise Cancelled("")
        done.append(piece)
        return piece

    mapped = map_pieces(range(50), work, cancelled=cancelled, at_once=1)
    assert done == [0, 1, 2]
    assert (mapped.failed, mapped.left) == (0, 47)


def test_a_bug_is_not_taken_for_a_failing_model():
    with pytest.raises(ZeroDivisionError):
        map_pieces([1, 0], lambda piece: 1 // piece, cancelled=threading.Event())


def test_batches_fill_the_room_and_keep_the_order():
    assert batches([3, 3, 3, 9, 1, 1], lambda n: n, 6) == [[3, 3], [3], [9], [1, 1]]
    assert batches([], lambda n: n, 6) == []


def test_folding_merges_until_few_are_left_and_keeps_a_run_that_failed():
    def merge(run):
        if "x" in run:
            return None
        return ["+".join(run)]

    few, folded = fold(list("abcdxe"), merge, cost=len, room=2, most=2, cancelled=threading.Event())
    assert few == ["a+b", "c+d", "x", "e"]
    assert folded.failed
    few, _ = fold(
        list("abcdef"), merge, cost=lambda _: 1, room=3, most=2, cancelled=threading.Event()
    )
    assert few == ["a+b+c", "d+e+f"]
