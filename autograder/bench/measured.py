"""``autograder bench measured``: how often the measured check says what, of right code and of wrong, also while every
core is kept busy."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from autograder import engine, failures
from autograder.checks.marking import derive
from autograder.lab import Lab
from autograder.measured import cpu
from autograder.measured.student import Measure
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from autograder.settings import Settings

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
#: Seconds between two lines of progress in a log.
LINE_SECONDS = 15.0


@dataclass
class _Cell:
    source: str
    label: str = "cell 1"


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
                said[_one_check(sandbox, source, derive(settings.seed, f"bench {run}"))] += 1
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
