"""What one submission costs in each place that it goes through, measured for `autograder.bench.many`."""

from __future__ import annotations

import os
import pickle
import platform
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import cycle, islice
from pathlib import Path

import msgspec

from autograder import cluster, grade, provenance, results
from autograder.bench.many import Quiet, Recording
from autograder.bench.processes import Failed
from autograder.discover import Handed
from autograder.pages.publish import known_hints, write_pages
from autograder.pages.reveals import reveals
from autograder.result import Result
from autograder.settings import Settings
from autograder.workers import cores

#: The recording that comes with this program.
SHIPPED = Path(__file__).with_name("recorded.json")
#: How many answers come in together where the writer is measured, and how often.
TOGETHER = ((1, 40), (4, 10), (16, 4), (64, 3))
#: Results and submissions of a folder that are used.
MOST = 24
#: Of Dask's scheduler for a task, until it is measured: its documentation says about a millisecond.
SCHEDULER_SECONDS = 0.001


def load(path: Path) -> Recording:
    """A recording that was written before. `Failed` where there is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recording)
    except OSError as error:
        raise Failed(f"{path} cannot be read: {error.strerror}.") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Failed(f"{path} is no recording of `autograder bench many`.") from None


def save(recording: Recording, path: Path) -> None:
    """Write a recording down. `Failed` where that cannot be."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(recording), indent=1) + b"\n")
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror}.") from None


def record(folder: Path, settings: Settings) -> Recording:
    """The costs of the submissions whose results lie in ``folder``, and of writing such results to its disk.

    `Failed` where there are no results, or the submissions are not where they were graded any more.
    """
    kept, _ = results.read_all(folder)
    there = provenance.handed_in(folder, settings.course)
    handed = [there[name] for name in kept.names if name in there][:MOST]
    if not handed:
        raise Failed(f"{folder} has no results of submissions that are still where they were graded.")
    real = [one.result for one in islice(kept, MOST)]
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=folder) as place:
        return Recording(
            machine=f"{platform.machine()}, {cores()} cores, load {os.getloadavg()[0]:.1f}",
            # Not seconds, in which the other load of the machine is: a worker has a core of its own.
            graded=[one.result.cpu_seconds for one in kept],
            read=reading_seconds(handed, settings),
            scheduled=SCHEDULER_SECONDS,
            answered=[(count, _writing(real, count, rounds, settings, Path(place))) for count, rounds in TOGETHER],
            page=_page_seconds(real, settings, Path(place)),
            readers=max(cluster.FEWEST_READERS, cores()),
        )


def reading_seconds(handed: Sequence[Handed], settings: Settings) -> float:
    """The mean of the CPU seconds for one of what was handed in."""
    start = time.process_time()
    for one in handed:
        cluster.read(one, settings)
    return (time.process_time() - start) / len(handed)


def _writing(real: Sequence[Result], count: int, rounds: int, settings: Settings, out: Path) -> float:
    """The median of the seconds in which a run is busy with ``count`` answers that came in together."""
    results.prepare(out)
    workers = AtOnce([pickle.dumps(result) for result in real], count)
    jobs = grade.jobs([Handed(name=f"{count}-{i}") for i in range(count * rounds)])
    queue = deque((job, 1) for job in jobs)
    grade.work_through(queue, workers, grade.Summary(total=len(queue)), settings, out, Quiet(), log=out)
    workers.stop()
    return statistics.median(workers.busy)


def _page_seconds(real: Sequence[Result], settings: Settings, out: Path) -> float:
    results.prepare(out)
    stems = [f"page-{i}" for i in range(len(real))]
    for stem, result in zip(stems, real, strict=True):
        results.write(out, stem, result)
    hints, shown = known_hints(), reveals(settings.course)
    write_pages(out, stems[:1], settings.course.title, hints, shown)
    start = time.perf_counter()
    write_pages(out, stems, settings.course.title, hints, shown)
    return (time.perf_counter() - start) / len(stems)


class AtOnce:
    """Workers that answer at once, always ``count`` together, with results that come as bytes from a real one.

    ``busy``: seconds from when answers were there to when the next ones were asked for.
    """

    def __init__(self, pickled: Sequence[bytes], count: int) -> None:
        self.busy: list[float] = []
        self._pickled, self._count = cycle(pickled), count
        self._waiting: list[Future[Result | None]] = []
        self._since: float | None = None

    def free(self) -> bool:
        return len(self._waiting) < self._count

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        self._waiting.append(Future())
        return self._waiting[-1]

    def answered(self) -> list[Future[Result | None]]:
        self.stop()
        self._since = time.perf_counter()
        came, self._waiting = self._waiting, []
        for future in came:
            future.set_result(pickle.loads(next(self._pickled)))  # noqa: S301 (pickled here)
        return came

    def stop(self) -> None:
        """What came last is written."""
        if self._since is not None:
            self.busy.append(time.perf_counter() - self._since)

    def take_back(self, future: Future[Result | None]) -> bool:
        return False

    def has_gpu(self) -> bool:
        return False

    def close(self, *, at_once: bool) -> None:
        pass
