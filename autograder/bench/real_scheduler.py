"""The model of `autograder.bench.many` against a real Dask scheduler, real workers and the whole of the real grader.

Only what a worker does with a submission is not real: it sleeps for the recorded seconds and gives back a recorded
result. So hundreds of workers fit into one process beside the scheduler and the grader. Run as a program this is that
process.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import psutil

from autograder import grade, results
from autograder.bench.many import Check, Quiet, Recording, simulate
from autograder.bench.processes import Failed
from autograder.bench.recorded import reading_seconds
from autograder.cluster import Cluster, unpacked
from autograder.discover import Handed
from autograder.result import Result
from autograder.settings import Settings

#: Seconds to start the scheduler and the workers in.
START_SECONDS = 120.0


def check(recording: Recording, workers: int, submissions: int, mean: float, folder: Path, settings: Settings) -> Check:
    """Run submissions that take ``mean`` seconds (in the recorded proportions) on so many workers, with the results
    of ``folder``, and on its disk.
    """
    factor = mean / recording.mean
    graded = [seconds * factor for seconds in recording.graded]
    kept, _ = results.read_all(folder)
    if not kept:
        raise Failed(f"{folder} has no results.")
    handed = [Handed(name=str(i), problem="Nothing is read here.") for i in range(submissions)]
    replay = partial(asleep, graded, msgspec.msgpack.encode(kept[len(kept) // 2].result))
    with (
        tempfile.TemporaryDirectory(prefix=".bench-", dir=folder) as place,
        _dask(workers, Path(place)) as (
            address,
            scheduler,
        ),
    ):
        many = Cluster(address, settings, lambda said: None, grade=replay)
        before, clock = _cpu_seconds(scheduler), Clock()
        summary = grade.run(handed, settings, Path(place) / "out", workers=many, report=clock)
        scheduled = (_cpu_seconds(scheduler) - before) / submissions
    if summary.grader_errors or len(summary.done) != submissions:
        raise Failed(f"{summary.grader_errors} of {submissions} submissions were not graded.")
    changed = {"graded": graded, "read": reading_seconds(handed[:20], settings), "scheduled": scheduled}
    (model,) = simulate(msgspec.structs.replace(recording, **changed), submissions, [workers], settings)
    return Check(
        workers=workers,
        submissions=submissions,
        mean=mean,
        real=clock.last - clock.first,
        model=model.seconds - model.first,
        scheduled=scheduled,
    )


class Clock(Quiet):
    """Notes when the first answer came and when the last."""

    first = last = 0.0

    def finished(self, result: Result) -> None:
        self.last = time.monotonic()
        self.first = self.first or self.last


def asleep(
    graded: list[float], result: bytes, data: bytes, settings: Settings, known: str | None, may_use_gpu: bool
) -> Result:
    """What a worker does instead of grading."""
    name = unpacked(data).name
    time.sleep(graded[int(name) % len(graded)])
    return msgspec.msgpack.decode(result, type=Result)


@contextlib.contextmanager
def _dask(workers: int, folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The address of a scheduler with so many workers, and its process."""
    import distributed

    file = folder / "scheduler.json"
    command = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    with (folder / "log").open("wb") as log, contextlib.ExitStack() as started:
        scheduler = started.enter_context(_running([*command, "--scheduler-file", str(file)], log))
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                address = str(msgspec.json.decode(file.read_bytes())["address"])
                break
            if time.monotonic() > deadline or scheduler.poll() is not None:
                raise Failed("Dask's scheduler did not start.")
            time.sleep(0.05)
        started.enter_context(_running([__name__, address, str(workers), str(folder)], log))
        with distributed.Client(address, set_as_default=False) as client:
            try:
                client.wait_for_workers(workers, timeout=START_SECONDS)
            except TimeoutError:
                raise Failed(f"{workers} workers did not start in {START_SECONDS:.0f} s.") from None
        yield address, psutil.Process(scheduler.pid)


@contextlib.contextmanager
def _running(command: list[str], log: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", *command], stdout=log, stderr=log)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def workers_in_one_process(address: str, count: int, folder: str) -> None:
    """Workers that end with this process."""
    from distributed import Worker

    workers = [Worker(address, nthreads=1, local_directory=folder, dashboard=False) for _ in range(count)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    asyncio.run(workers_in_one_process(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
