"""Many submissions: one result for each, written as it comes, and made only where it is missing or changed.

Every worker is a process of its own in an executor of its own. So when one dies it is known whose submission
it had, and nobody else's is done again. Only this process writes.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Protocol

import msgspec

from autograder import marks, results
from autograder.course import signatures
from autograder.discover import Handed
from autograder.names import display_name, result_file_stem
from autograder.result import Result
from autograder.sandbox import gpu
from autograder.settings import Settings
from autograder.spelling import spell

#: Seconds after which a worker is taken for stuck. Far above what the limits of one submission add up to.
WORKER_SECONDS = 3600.0
#: Times that a submission is given to a worker that then dies.
ATTEMPTS = 2

WORKER_DIED = (
    "The process that graded this submission ended {n} times without an answer. That is an error of the "
    "grader: it costs nothing, and the submission is graded again by the next run."
)
GRADER_RAISED = (
    "The grader itself made an error ({kind}). It costs nothing, and the submission is graded again by the "
    "next run; grader_errors.log has the details for whoever repairs it."
)

#: Reads and grades one submission; None where the digest shows that the known result still holds.
Work = Callable[[Handed, Settings, str | None], Result | None]


class Report(Protocol):
    """Who is told how it goes, in the order of events."""

    def finished(self, result: Result) -> None: ...
    def unchanged(self, result: Result) -> None: ...
    def note(self, text: str) -> None: ...


@dataclass(frozen=True)
class Job:
    """A submission to be graded: the name that only it has, and the stem of its files."""

    name: str
    stem: str
    handed: Handed


@dataclass
class Summary:
    """How a run ended. ``results`` has one for every submission, or fewer where it was stopped."""

    total: int
    results: list[Result]
    graded: int = 0
    stopped: bool = False

    @property
    def grader_errors(self) -> int:
        return sum(any(check.verdict == "grader_error" for check in r.checks) for r in self.results)


def grade_one(handed: Handed, settings: Settings, known: str | None) -> Result | None:
    """What a worker does: nothing that was handed in is opened anywhere else.

    A worker that is stuck for `WORKER_SECONDS` ends itself, and is replaced.
    """
    from autograder import engine, submission

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(WORKER_SECONDS, exit=True, file=nowhere)
        try:
            read = submission.load(handed, settings.assignment, signatures(settings.course))
            if known is not None and known == engine.digest(read, settings):
                return None
            return engine.grade(read, settings)
        finally:
            faulthandler.cancel_dump_traceback_later()


def jobs(handed: Sequence[Handed]) -> list[Job]:
    """A job for each, under a name and a file name that no other one of this run has."""
    names: set[str] = set()
    stems: set[str] = set()
    planned = []
    for one in handed:
        plain = name = spell(one.name)
        number = 1
        while name in names:
            number += 1
            name = f"{plain} ({number})"
        names.add(name)
        stem = result_file_stem(name, stems)
        stems.add(stem)
        planned.append(Job(name, stem, one))
    return planned


def run(
    handed: Sequence[Handed],
    settings: Settings,
    out: Path,
    *,
    workers: int,
    report: Report,
    work: Work = grade_one,
) -> Summary:
    """Grade what has no result in ``out`` yet, or another one than it would get now.

    A Ctrl-C ends the run early, and the summary says so; `results.FolderError` where a result cannot be
    written. Either way what was finished is on the disk, and the same call goes on from there.
    """
    results.prepare(out)
    queue = deque((job, 1) for job in jobs(handed))
    summary = Summary(total=len(queue), results=[])
    idle: list[Executor] = []
    running: dict[Future[Result | None], tuple[Job, int, Executor, Result | None, float]] = {}
    finished = False
    try:
        idle += [_worker() for _ in range(min(max(workers, 1), len(queue)))]
        while queue or running:
            while queue and idle:
                job, attempt = queue.popleft()
                kept = _reusable(out, job)
                future, worker = _submit(idle.pop(), work, job.handed, settings, kept.digest if kept else None)
                running[future] = (job, attempt, worker, kept, time.monotonic())
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, attempt, worker, kept, since = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    worker.shutdown(wait=False)
                    worker = _worker()
                idle.append(worker)
                if isinstance(error, BrokenProcessPool) and attempt < ATTEMPTS:
                    report.note(f"A worker ended while it graded {display_name(job.name)}; trying once more.")
                    queue.appendleft((job, attempt + 1))
                    continue
                result = _not_graded(error, job, settings, out, since) if error else future.result()
                if result is None and kept is not None:
                    summary.results.append(kept)
                    report.unchanged(kept)
                elif result is not None:
                    result = msgspec.structs.replace(result, submission=job.name)
                    results.write(out, job.stem, result)
                    summary.results.append(result)
                    summary.graded += 1
                    report.finished(result)
        finished = True
    except KeyboardInterrupt:
        summary.stopped = True
    finally:
        _stop([*idle, *(worker for _, _, worker, _, _ in running.values())], at_once=not finished)
    return summary


def _reusable(out: Path, job: Job) -> Result | None:
    """The result that is there, if it is of this submission, and neither spoilt by an error of the grader nor
    waiting: for a machine that is quieter, or for a GPU where this one has one."""
    kept = results.read(out / "results" / f"{job.stem}.json")
    if kept is None or kept.submission != job.name:
        return None
    again = {"grader_error", "inconclusive", *(["pending"] if gpu.cards() else [])}
    return None if any(check.verdict in again for check in kept.checks) else kept


def _submit(
    worker: Executor, work: Work, handed: Handed, settings: Settings, known: str | None
) -> tuple[Future[Result | None], Executor]:
    # This may start the process; a Ctrl-C that reached it before it has settled in would print a traceback.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return worker.submit(work, handed, settings, known), worker
    except BrokenProcessPool:
        # It died while it had nothing to do, so nobody's submission is to blame.
        worker = _worker()
        return worker.submit(work, handed, settings, known), worker
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _not_graded(error: BaseException, job: Job, settings: Settings, out: Path, since: float) -> Result:
    if isinstance(error, BrokenProcessPool):
        why = WORKER_DIED.format(n=ATTEMPTS)
    else:
        why = GRADER_RAISED.format(kind=type(error).__name__)
        _log(out, job, error)
    facts = marks.Facts(
        submission=job.name,
        assignment=settings.assignment,
        kit_version=settings.kit_version,
        course_seed_id=settings.seed_id,
        isolation=settings.isolation,
        device=settings.device,
        seconds=time.monotonic() - since,
        cpu_seconds=0.0,
        # No digest is empty, so that the next run does this one again.
        digest="",
        handed_in=settings.course.notebooks,
    )
    return marks.broken(settings.course, facts, why)


def _log(out: Path, job: Job, error: BaseException) -> None:
    details = spell("".join(traceback.format_exception(error)))
    # Where the log cannot be written the result cannot either, and that is said.
    with suppress(OSError), (out / "grader_errors.log").open("a", encoding="utf-8") as log:
        log.write(f"{job.name}\n{details}\n")


def _worker() -> Executor:
    """One process, started when it gets its first submission."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_settle_in)


def _stop(workers: Sequence[Executor], *, at_once: bool) -> None:
    if at_once:
        for process in multiprocessing.active_children():
            process.terminate()
    for worker in workers:
        worker.shutdown(cancel_futures=True)


def _settle_in() -> None:
    """In a new worker: leave Ctrl-C to the parent, and never outlive it."""
    # Not SIG_IGN, which the processes that the worker starts would inherit: code in a sandbox is interrupted
    # by this signal.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)
