"""Many submissions: one result for each, written as it comes, and made only where it is missing or changed.

A map over the processes of this machine or the workers of a cluster. Only this process writes, and only one
grader at a time works in a folder.
"""

from __future__ import annotations

import faulthandler
import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from autograder import marks, results
from autograder.adjust import settle
from autograder.course import signatures
from autograder.discover import Handed
from autograder.names import display_name, result_file_stem, same_file
from autograder.result import Result, spoilt
from autograder.settings import Settings
from autograder.spelling import spell
from autograder.workers import Processes, Work, Workers

#: Seconds after which a worker is taken for stuck. Far above what the limits of one submission add up to.
WORKER_SECONDS = 3600.0
#: Files that are flushed to the disk at the same time.
WRITERS = 16
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
    """How a run ended. ``done`` has the stem of every submission that has its result, in the order in which they came.

    The results themselves are on the disk and nowhere else, so that a run over thousands needs no more memory than
    one over a few.
    """

    total: int
    done: list[str] = field(default_factory=list)
    graded: int = 0
    grader_errors: int = 0
    stopped: bool = False

    def count(self, job: Job, result: Result) -> None:
        self.done.append(job.stem)
        self.grader_errors += spoilt(result)


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
        stems.add(same_file(stem))
        planned.append(Job(name, stem, one))
    return planned


def run(
    handed: Sequence[Handed],
    settings: Settings,
    out: Path,
    *,
    workers: int | Workers,
    report: Report,
    work: Work = grade_one,
    log: Path | None = None,
) -> Summary:
    """Grade what has no result in ``out`` yet, or another one than it would get now.

    ``workers``: that many processes here, which do ``work``, or what else grades. A Ctrl-C ends the run early, and
    the summary says so; `results.FolderError` where a result cannot be written or another grader is at work in the
    folder. Either way what was finished is on the disk, and the same call goes on from there. ``log``: the folder of
    ``grader_errors.log``, if it is not ``out``.
    """
    results.prepare(out)
    with results.only_grader(out):
        queue = deque((job, 1) for job in jobs(handed))
        summary = Summary(total=len(queue))
        many: Workers | None = None
        finished = False
        try:
            # In here: a Ctrl-C may come while it is made.
            many = Processes(min(workers, len(queue)), work) if isinstance(workers, int) else workers
            work_through(queue, many, summary, settings, out, report, log=log or out)
            finished = True
        except KeyboardInterrupt:
            summary.stopped = True
        finally:
            if many is not None:
                many.close(at_once=not finished)
        return summary


def work_through(
    queue: deque[tuple[Job, int]],
    workers: Workers,
    summary: Summary,
    settings: Settings,
    out: Path,
    report: Report,
    *,
    log: Path,
    write: Callable[[Path, Sequence[tuple[Job, Result]]], None] | None = None,
) -> None:
    """Every job of the queue, with the number of its try, to a worker; every answer into the folder and the summary.

    ``write``: how answers that came in together get there, by default as files.
    """
    running: dict[Future[Result | None], tuple[Job, int, Result | None, float]] = {}
    new: list[tuple[Job, Result]] = []
    while queue or running or new:
        # Asked also when nothing is left to give: a cluster looks then for workers in the place of lost ones.
        while workers.free() and queue:
            job, attempt = queue.popleft()
            kept = _reusable(out, job, workers)
            future = workers.submit(job.handed, settings, kept.digest if kept else None)
            running[future] = (job, attempt, kept, time.monotonic())
        # Only now, so that no worker waits for the disk.
        (write or write_together)(out, new)
        for job, made in new:
            summary.count(job, made)
            summary.graded += 1
            report.finished(made)
        new = []
        for future in workers.answered() if running else ():
            job, attempt, kept, since = running.pop(future)
            died, error = workers.take_back(future), future.exception()
            if died and attempt < ATTEMPTS:
                report.note(f"A worker ended while it graded {display_name(job.name)}; trying once more.")
                queue.appendleft((job, attempt + 1))
                continue
            result = _not_graded(error, died, job, settings, log, since) if error else future.result()
            if result is None and kept is not None:
                settled = settle(kept, settings.course, job.handed)
                if settled != kept:
                    results.write(out, job.stem, settled)
                summary.count(job, settled)
                report.unchanged(settled)
            elif result is not None:
                result = msgspec.structs.replace(result, submission=job.name)
                new.append((job, settle(result, settings.course, job.handed)))


def write_together(out: Path, new: Sequence[tuple[Job, Result]]) -> None:
    """All that came in together, each as safely as if it were alone; a disk flushes several files in about the time
    that it needs for one.
    """
    if len(new) == 1:
        results.write(out, new[0][0].stem, new[0][1])
        return
    with ThreadPoolExecutor(WRITERS) as threads:
        written = [threads.submit(results.write, out, job.stem, result) for job, result in new]
    for one in written:
        one.result()


def _reusable(out: Path, job: Job, workers: Workers) -> Result | None:
    """The result that is there, if it is of this submission, and neither spoilt by an error of the grader nor
    waiting: for a machine that is quieter, or for a GPU where there is one."""
    kept = results.read(out / "results" / f"{job.stem}.json")
    if kept is None or kept.submission != job.name:
        return None
    again = {"grader_error", "inconclusive", *(["pending"] if workers.has_gpu() else [])}
    return None if any(check.verdict in again for check in kept.checks) else kept


def _not_graded(error: BaseException, died: bool, job: Job, settings: Settings, log: Path, since: float) -> Result:
    if died:
        why = WORKER_DIED.format(n=ATTEMPTS)
    else:
        why = GRADER_RAISED.format(kind=type(error).__name__)
        _log(log, job, error)
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


def _log(folder: Path, job: Job, error: BaseException) -> None:
    details = spell("".join(traceback.format_exception(error)))
    # Where the log cannot be written the result cannot either, and that is said.
    with suppress(OSError), (folder / "grader_errors.log").open("a", encoding="utf-8") as log:
        log.write(f"{job.name}\n{details}\n")
