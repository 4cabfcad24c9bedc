"""``autograder bench many``: how long a large class takes on how many workers, and where one writer is the limit.

The loop of `autograder.grade` runs as it is, over workers in a time of their own: each says when it would have been
done with a submission, by the seconds that such submissions took when they were graded. What an answer costs the one
process that writes was measured with real results, files and flushes (`autograder.bench.recorded`). So hours on 512
workers take seconds here, and what is not real is only the waiting.
"""

from __future__ import annotations

import heapq
import tempfile
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import cycle, pairwise
from pathlib import Path

import msgspec

from autograder import grade
from autograder.cluster import AHEAD
from autograder.discover import Handed
from autograder.result import Result
from autograder.settings import Settings

#: The workers that the table is about, and those that the picture needs besides.
WORKERS, BETWEEN = (8, 64, 512), (16, 32, 128, 256)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A real run beside what the model says of it, in seconds from the first answer to the last: before it, processes
    start. ``scheduled``: CPU seconds of the scheduler for each submission.
    """

    workers: int
    submissions: int
    mean: float
    real: float
    model: float
    scheduled: float


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What one submission costs in each place that it goes through, in seconds.

    ``graded``: at a worker, with a core of its own, one for each recorded submission. ``read``: in a process that reads
    what was handed in, of which there are ``readers``. ``scheduled``: in Dask's scheduler. ``answered``: in the process
    that writes, as ``(k, seconds)`` for ``k`` answers that came in together. ``page``: for its feedback page, which
    ``readers`` processes make after the run. ``machine`` says where this was measured, and ``checked`` how the
    model stood beside real runs there.
    """

    machine: str
    graded: list[float]
    read: float
    scheduled: float
    answered: list[tuple[int, float]]
    page: float
    readers: int
    checked: list[Check] = []

    def writing(self, count: int) -> float:
        """Seconds for ``count`` answers that came in together, in proportion between the amounts that were measured."""
        known = [(0, 0.0), *sorted(self.answered)]
        for (few, before), (many, after) in pairwise(known):
            if count <= many:
                return before + (after - before) * (count - few) / (many - few)
        return count * self.each

    @property
    def each(self) -> float:
        """Seconds of the writer for each of many answers: faster than this it cannot be."""
        most, seconds = max(self.answered)
        return seconds / most

    @property
    def mean(self) -> float:
        return sum(self.graded) / len(self.graded)

    @property
    def enough(self) -> float:
        """The number of workers whose answers the writer can just keep up with."""
        return self.mean / self.each


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A run: its seconds, the parts of them (0 to 1) in which its workers and its writer were busy, and the seconds
    for the pages after it. ``first``: when the first answer came.
    """

    workers: int
    seconds: float
    first: float
    workers_busy: float
    writer_busy: float
    page_seconds: float


class Replayed:
    """Workers of a cluster, as `autograder.workers.Workers` has them, in a time of their own: ``now``, in seconds.

    A submission goes from a reader through the scheduler to the worker that is free first. The time goes on by what
    the writer needs for the answers that it was given, and then, if there is none by now, to the next answer.
    """

    def __init__(self, count: int, recording: Recording, result: Result) -> None:
        self.now = self.workers_busy = self.writer_busy = 0.0
        self._recording, self._result = recording, result
        self._costs = cycle(recording.graded)
        self._most = (1 + AHEAD) * count
        self._free_at = [0.0] * count
        self._readers_free_at = [0.0] * recording.readers
        self._scheduler_free_at = 0.0
        self._due: list[tuple[float, int, Future[Result | None]]] = []
        self._given = self._in_hand = 0
        self.first = 0.0

    def free(self) -> bool:
        return len(self._due) < self._most

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        read = max(self.now, self._readers_free_at[0]) + self._recording.read
        heapq.heapreplace(self._readers_free_at, read)
        self._scheduler_free_at = max(self._scheduler_free_at, read) + self._recording.scheduled
        cost = next(self._costs)
        done = max(self._free_at[0], self._scheduler_free_at) + cost
        heapq.heapreplace(self._free_at, done)
        self.workers_busy += cost
        self._given += 1
        future: Future[Result | None] = Future()
        heapq.heappush(self._due, (done, self._given, future))
        return future

    def answered(self) -> list[Future[Result | None]]:
        self.finish_writing()
        self.now = max(self.now, self._due[0][0])
        came = []
        while self._due and self._due[0][0] <= self.now:
            came.append(heapq.heappop(self._due)[2])
            came[-1].set_result(self._result)
        self._in_hand = len(came)
        self.first = self.first or self.now
        return came

    def finish_writing(self) -> None:
        """The answers that were given out last are on the disk."""
        seconds = self._recording.writing(self._in_hand)
        self.now += seconds
        self.writer_busy += seconds
        self._in_hand = 0

    def take_back(self, future: Future[Result | None]) -> bool:
        return False

    def has_gpu(self) -> bool:
        return False

    def close(self, *, at_once: bool) -> None:
        pass


class Quiet:
    """A report to nobody."""

    def finished(self, result: Result) -> None:
        pass

    def unchanged(self, result: Result) -> None:
        pass

    def note(self, text: str) -> None:
        pass


def simulate(recording: Recording, submissions: int, workers: Sequence[int], settings: Settings) -> list[Outcome]:
    """A run of so many submissions on each number of workers."""
    jobs = grade.jobs([Handed(name=f"student-{i:06}") for i in range(submissions)])
    pages = submissions * recording.page / recording.readers
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as empty:
        for count in workers:
            many = Replayed(count, recording, _nothing(settings))
            grade.work_through(
                deque((job, 1) for job in jobs),
                many,
                grade.Summary(total=submissions),
                settings,
                Path(empty),
                Quiet(),
                log=Path(empty),
                write=lambda out, new: None,
            )
            many.finish_writing()
            outcomes.append(
                Outcome(
                    workers=count,
                    seconds=many.now,
                    first=many.first,
                    workers_busy=many.workers_busy / count / many.now,
                    writer_busy=many.writer_busy / many.now,
                    page_seconds=pages,
                )
            )
    return outcomes


def _nothing(settings: Settings) -> Result:
    """A result without checks: what a real one costs is in the recording."""
    return Result(
        submission="",
        assignment=settings.assignment,
        kit_version=settings.kit_version,
        course_seed_id=settings.seed_id,
        isolation="none",
        device="cpu",
        score=0.0,
        max_score=0.0,
        pending_points=0.0,
        manual_points=0.0,
        provisional=False,
        seconds=0.0,
        cpu_seconds=0.0,
        message=None,
        digest="-",
        checks=[],
    )
