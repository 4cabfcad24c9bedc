"""The measured exponent on a GPU: sizes at which the square dominates, several heads, and whose clock is believed.

A call is timed by two CUDA events around it, in the process that runs it, with everything before it finished and
everything it started waited for. That process runs the student's code, so its word alone is worth nothing: this side
holds its own clock around the same call, and where the two do not agree, this side's counts. What code that lies can
gain is therefore the width of the agreement, some milliseconds, at sizes where a call takes tens of them.

**Not yet run on a GPU**; tested on a simulated device and on PyTorch's CPU device.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autograder import failures
from autograder.measured import cpu, inputs

#: At d = 64 and one head a modern card mostly times kernel launches up to n = 4,096 or so; the climb starts low
#: because a small card does not.
SIZES = tuple(2**k for k in range(7, 15))
SHORT = cpu.Schedule(longest=0.15, rounds=5, total=1.2, sizes=SIZES, overlaps=True)
LONG = cpu.Schedule(longest=1.0, rounds=9, total=4.0, sizes=SIZES, overlaps=True)

#: Heads are as many as fit: this many float32 arrays of (heads, n, n) at the largest size, in this part of the free
#: memory. Plain code holds three or four of them, in float64 twice as much, and the reference holds its own.
ARRAYS, PART, MOST_HEADS = 4, 0.3, 8
#: The oracle's clock also sees the way over the wire (0.2 ms), the moment for which the device is held before the
#: call (1.5 ms), and moments when its own process does not run.
BESIDE_SECONDS, BESIDE_PART = 4e-3, 0.1
#: Rows that a spot check looks at, and how far off they may be: averages of n values of size 1 in single
#: precision stay far below it, wrong rows lie far above.
ROWS, ROUGH = 8, 1e-3


class Station(Protocol):
    """A bench in the sandbox (``on_device.Bench``) as this side sees it."""

    def call(self, method: str, *args: Any) -> Any: ...


class OnDevice:
    """A ``cpu.Measure`` on a device: seconds of single calls with fresh inputs of shape ``(heads, n, 64)``.

    ``contradicted`` counts the samples for which this side's clock was believed instead of the device's.
    """

    def __init__(
        self, student: Station, reference: Station, seed: int, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._student, self._reference, self._clock = student, reference, clock
        self._rng = np.random.default_rng(seed)
        self.heads = heads_that_fit(_number(reference.call("free")))
        self.samples = self.contradicted = 0
        self._last: tuple[int, int] | None = None

    def student(self, n: int) -> float:
        seed = self._seed()
        seconds = self._time(self._student, n, seed)
        self._last = n, seed
        return seconds

    def reference(self, n: int) -> float:
        return self._time(self._reference, n, self._seed())

    def spot_check(self, n: int) -> bool:
        """Whether rows of one head of the last output are right: the head and the rows are chosen afterwards."""
        return self.worst_row(n) < ROUGH

    def worst_row(self, n: int) -> float:
        """How far off such rows are at most; infinity where they are not there."""
        if self._last is None or self._last[0] != n:
            return math.inf
        head = int(self._rng.integers(self.heads))
        rows = self._rng.choice(n, size=min(ROWS, n), replace=False)
        found = self._student.call("rows", [int(r) for r in rows], head)
        queries, keys, values = inputs.one_head(n, self._last[1], head).astype(float)
        scores = queries[rows] @ keys.T / np.sqrt(inputs.D)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        truth = weights @ values / weights.sum(axis=-1, keepdims=True)
        if not isinstance(found, np.ndarray) or found.shape != truth.shape or found.dtype.kind != "f":
            return math.inf
        error = float(np.abs(found - truth).max())
        return math.inf if math.isnan(error) else error

    def _time(self, station: Station, n: int, seed: int) -> float:
        station.call("load", n, self.heads, seed)
        start = self._clock()
        event = _number(station.call("run"))
        wall = self._clock() - start
        self.samples += 1
        if believable(event, wall):
            return event
        self.contradicted += 1
        return wall

    def _seed(self) -> int:
        return int(self._rng.integers(2**62))


def believable(event: float, wall: float) -> bool:
    """Whether this side's ``wall`` seconds around a call bear out what the device's own events said of it."""
    return math.isfinite(event) and 0 < event <= wall <= event * (1 + BESIDE_PART) + BESIDE_SECONDS


def heads_that_fit(free: float) -> int:
    """Heads for a device with ``free`` bytes; one where even that may be too much (the climb then ends earlier)."""
    one = ARRAYS * 4 * SIZES[-1] ** 2
    heads = 1
    while 2 * heads <= MOST_HEADS and 2 * heads * one <= PART * free:
        heads *= 2
    return heads


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """One measurement at a time on this machine's GPU, whatever the number of workers."""
    path = Path(tempfile.gettempdir()) / f"attnlab-gpu-{os.getuid()}.lock"
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _number(found: Any) -> float:
    with contextlib.suppress(OverflowError):  # an integer of a thousand digits
        if isinstance(found, (int, float)):
            return float(found)
    raise failures.Unreadable("The GPU's clock could not be read.")
