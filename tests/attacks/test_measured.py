"""Work of a timed call that is done while nothing is timed: before it, as soon as its inputs are there, or after it."""

from __future__ import annotations

import pytest

from autograder import failures
from autograder.lab import Lab
from autograder.measured.student import Measure
from autograder.sandbox.session import Session
from tests.attacks.conftest import Grader
from tests.sandbox.conftest import Cell

WORK = """
import gc, threading, time
import numpy as np

def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until: pass

def right(Q, K, V, mask=None):
    s = Q @ K.T / 8
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w
"""
AFTERWARDS = """
def attention(Q, K, V, mask=None):
    output = np.empty_like(V)
    def later():
        burn(0.3)
        output[...] = right(Q, K, V)[0]
    threading.Thread(target=later, daemon=True).start()
    return output, None
"""
BEFOREHAND = """
runner = next(found for found in gc.get_objects() if type(found).__name__ == "Runner")
perform, answers = runner.perform, []
def early(request):
    found = perform(request)
    if type(request).__name__ == "Prepare":
        burn(0.3)
        answers.append(right(*runner.prepared))
    return found
runner.perform = early
def attention(Q, K, V, mask=None):
    return answers[-1]
"""
WHEN_READ = """
runner = next(found for found in gc.get_objects() if type(found).__name__ == "Runner")
encode, waiting = runner.encode, []
def late(found, *rest):
    if isinstance(found, np.ndarray) and waiting:
        burn(0.3)
        found[...] = right(*waiting.pop())[0]
    return encode(found, *rest)
runner.encode = late
def attention(Q, K, V, mask=None):
    waiting[:] = [(Q, K, V)]
    return np.empty_like(V), None
"""


def measured(grader: Grader, source: str) -> tuple[Measure, Session]:
    session = Session(grader.sandbox, [Cell(WORK + source, "cell 1")], {})
    return Measure(grader.sandbox, "cpu", 1, lambda _: session, lambda: grader.sandbox), session


def many_rounds(measure: Measure) -> None:
    # On a busy core a thread may come to its work while the call still runs; there it is counted, and hides nothing.
    for _ in range(20):
        measure.student(64)
        measure.reference(64)
        measure.spot_check(64)


@pytest.mark.parametrize("hidden", [AFTERWARDS, BEFOREHAND, WHEN_READ], ids=["afterwards", "beforehand", "when read"])
def test_work_that_is_hidden_beside_the_timed_call_measures_nothing(grader: Grader, hidden: str) -> None:
    measure, session = measured(grader, hidden)
    with session, measure:
        assert session.problems == []
        measure.lab = Lab(session, seconds=20)
        with pytest.raises(failures.Inconclusive, match="before or after the calls that were timed"):
            many_rounds(measure)


def test_right_code_does_nothing_beside_its_calls(grader: Grader) -> None:
    measure, session = measured(grader, "attention = right")
    with session, measure:
        measure.lab = Lab(session, seconds=20)
        for n in (2, 64, 2048, 64, 2048):
            measure.student(n)
            measure.reference(n)
        assert measure.spot_check(2048)
