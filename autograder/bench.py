"""``autograder bench``: the figures of the README, measured again on this machine.

``measured``: how often the measured check says what, of right code and of wrong, also while every core is kept busy.
``grade``: what grading one submission costs, and how much of that is not the student's own computing.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
from rich.console import Console
from rich.table import Table

from autograder import course, engine, failures, results, submission
from autograder.checks import plugin
from autograder.lab import Lab
from autograder.measured import cpu
from autograder.measured.student import Measure
from autograder.release import masters, skeleton
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from autograder.settings import Settings

NOTEBOOK = "attention_lab"
#: Attention as it should be, with a product of two (n, n) matrices too many, and with the weights never made.
CODE = {
    "right": "return w @ V, w",
    "cubic": "return (w + 0 * (w @ w)) @ V, w",
    "linear": "k = np.exp(np.swapaxes(K, -1, -2)); return np.exp(Q) @ (k @ V), k",
}
ATTENTION = """
import numpy as np

def attention(Q, K, V, mask=None):
    {before}
    {after}
"""
WEIGHTS = "s = Q @ K.T / 8; e = np.exp(s - s.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)"

#: What keeps a core busy until its parent is gone: arithmetic, and memory that the caches do not hold.
BUSY = """
import os, sys
import numpy as np
a, parent = np.ones((1500, 1500), np.float32), int(sys.argv[1])
while os.getppid() == parent:
    a @ a[:, :64]
    sum(range(100_000))
"""
#: Seconds between two looks at the memory of a process tree, and between two lines of progress in a log.
LOOK_SECONDS, LINE_SECONDS = 0.2, 15.0
MIB = 2**20


@dataclass
class _Cell:
    source: str
    label: str = "cell 1"


# ---- the measured check
def measured(settings: Settings, runs: int, *, busy: bool, console: Console) -> Table:
    """The measured check on the CPU, ``runs`` times for each kind of code, as a table of verdicts and seconds."""
    cores = f"{len(os.sched_getaffinity(0))} cores, {'all kept busy' if busy else 'as they are'}"
    table = Table(title=f"The measured check, {cores}")
    for head in ("code", "passed", "failed", "inconclusive", "seconds (median)", "seconds (most)"):
        table.add_column(head, justify="left" if head == "code" else "right")
    with _busy_cores(busy), Sandbox(engine.isolation(settings)) as sandbox:
        for name, after in CODE.items():
            source = ATTENTION.format(before="" if name == "linear" else WEIGHTS, after=after)
            said, seconds = Counter[str](), []
            for run in _counted(runs, f"measured, {name}", console):
                start = time.monotonic()
                said[_one_check(sandbox, source, plugin.derive(settings.seed, f"bench {run}"))] += 1
                seconds.append(time.monotonic() - start)
            counts = [str(said[verdict]) for verdict in ("passed", "failed", "inconclusive")]
            table.add_row(name, *counts, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}")
    return table


def _one_check(sandbox: Sandbox, source: str, seed: int) -> str:
    """The verdict of one measured check, in fresh forks as each submission has them."""

    def start(where: Sandbox) -> Session:
        return Session(where, [_Cell(source)], {})

    with start(sandbox) as session, Measure(sandbox, "cpu", seed, start, lambda: sandbox) as measure:
        measure.lab = Lab(session, seconds=30)
        try:
            cpu.expect_quadratic(measure)
        except failures.Finding as finding:
            return finding.verdict
    return "passed"


@contextlib.contextmanager
def _busy_cores(wanted: bool) -> Iterator[None]:
    """One process for each core that never rests."""
    cores = len(os.sched_getaffinity(0)) if wanted else 0
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    processes = [subprocess.Popen(command) for _ in range(cores)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


# ---- grading
def grading(settings: Settings, copies: int, workers: tuple[int, ...], console: Console) -> Table:
    """Copies of the right submission, graded by ``autograder grade`` with each number of workers."""
    table = Table(title=f"Grading {copies} copies of the right submission")
    heads = ["workers", "seconds", "seconds each", "CPU seconds each", "of these the student's", "overhead"]
    heads.append("peak memory of all processes")
    for head in heads:
        table.add_column(head, justify="right")
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as folder:
        submitted, seed = Path(folder) / "submitted", Path(folder) / "seed.txt"
        seed.write_text(settings.seed, encoding="utf-8")
        book = nbformat.writes(right_notebook(settings.assignment))
        for copy in range(copies):
            path = submitted / f"student-{copy:04}" / f"{NOTEBOOK}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(book, encoding="utf-8")
        own = _own_seconds(book.encode(), settings)
        for count in workers:
            out = Path(folder) / f"out-{count}"
            console.print(f"grade: {copies} copies with {count} worker(s)")
            seconds, peak = _run(_command(submitted, out, seed, settings, count))
            kept, _ = results.read_all(out)
            if len(kept) != copies:
                raise RuntimeError(f"{len(kept)} of {copies} copies were graded")
            each = statistics.fmean(one.result.cpu_seconds for one in kept)
            table.add_row(
                str(count),
                f"{seconds:.1f}",
                f"{seconds / copies:.2f}",
                f"{each:.2f}",
                f"{own:.2f}",
                f"{each - own:.2f}",
                f"{peak / MIB:.0f} MiB",
            )
    return table


def right_notebook(assignment: str) -> Any:
    """The solution of the lab as a notebook, made from its master."""
    root = course.find_root()
    book = masters.read(root / "source" / assignment / f"{NOTEBOOK}.py", f"{NOTEBOOK}.py").notebook
    for cell in book.cells:
        cell.source = skeleton.solution(cell.source)
    return book


def _own_seconds(book: bytes, settings: Settings) -> float:
    """CPU seconds of the student's own processes while one copy is graded: its cells and its answers."""
    read = submission.read(
        "bench", {f"{NOTEBOOK}.ipynb": book}, settings.assignment, course.signatures(settings.course)
    )
    try:
        _, session, _ = engine.grade_notebook(read.notebooks[NOTEBOOK], read.files, settings)
    finally:
        engine.close()
    return session.cpu_seconds


def _command(submitted: Path, out: Path, seed: Path, settings: Settings, workers: int) -> list[str]:
    options = {
        "--assignment": settings.assignment,
        "--out": out,
        "--course-seed": seed,
        "--workers": workers,
        "--device": "cpu",
        "--isolation": settings.isolation,
    }
    words = [str(word) for pair in options.items() for word in pair]
    return [sys.executable, "-m", "autograder.cli", "grade", str(submitted), *words]


def _run(command: list[str]) -> tuple[float, int]:
    """Run a command to its end: seconds, and the most bytes that it and everything it started occupied."""
    start, peak = time.monotonic(), 0
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=words)
        try:
            while process.poll() is None:
                peak = max(peak, _memory(process.pid))
                time.sleep(LOOK_SECONDS)
            seconds = time.monotonic() - start
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            words.seek(0)
            said = words.read().decode("utf-8", "replace").strip()[-400:]
            raise RuntimeError(f"autograder grade ended with {process.returncode}: {said}")
    return seconds, peak


def _memory(root: int) -> int:
    """Bytes that a process tree occupies, pages that several share counted once (PSS) where the kernel tells."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
            try:
                total += process.memory_full_info().pss
            except psutil.AccessDenied:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
    return total


def _counted(total: int, what: str, console: Console) -> Iterator[int]:
    """``range(total)``, with one line that says how far it is: in place on a terminal, now and then in a log."""
    start = last = time.monotonic()
    for done in range(total):
        yield done
        now = time.monotonic()
        if console.is_terminal or now - last > LINE_SECONDS or done + 1 == total:
            last = now
            left = (now - start) / (done + 1) * (total - done - 1)
            end = "\r" if console.is_terminal and done + 1 < total else "\n"
            console.print(f"{what}: {done + 1} of {total}, about {left:.0f} s left   ", end=end, highlight=False)
