"""``autograder bench grade``: what one submission costs, and how much of that is not the student's own computing."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from rich.console import Console
from rich.table import Table

from autograder import course, engine, results, submission
from autograder.bench import processes
from autograder.bench.processes import MIB
from autograder.release import masters, skeleton
from autograder.sandbox.core import one_core
from autograder.settings import Settings

#: Copies of which the student's own part is looked at.
OWN_COPIES = 9


def grading(settings: Settings, copies: int, workers: tuple[int, ...], console: Console) -> Table:
    """Copies of the right submission, graded by ``autograder grade`` with each number of workers. CPU seconds are
    medians."""
    table = Table(title=f"Grading {copies} copies of the right submission")
    heads = ["workers", "seconds", "seconds each", "CPU seconds each", "of these the student's", "overhead"]
    heads.append("peak memory of all processes")
    for head in heads:
        table.add_column(head, justify="right")
    name = settings.course.notebooks[0]
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as folder:
        submitted, seed = Path(folder) / "submitted", Path(folder) / "seed.txt"
        seed.write_text(settings.seed, encoding="utf-8")
        book = nbformat.writes(right_notebook(settings.assignment, name))
        hand_in(submitted, name, book, copies)
        own = _own_seconds(name, book.encode(), settings)
        for count in workers:
            out = Path(folder) / f"out-{count}"
            console.print(f"grade: {copies} copies with {count} worker(s)")
            cost = processes.run(command(submitted, out, seed, settings, count))
            kept, _ = results.read_all(out)
            if len(kept) != copies:
                raise processes.Failed(f"{len(kept)} of {copies} copies were graded")
            each = statistics.median(one.result.cpu_seconds for one in kept)
            table.add_row(
                str(count),
                f"{cost.seconds:.1f}",
                f"{cost.seconds / copies:.2f}",
                f"{each:.2f}",
                f"{own:.2f}",
                f"{each - own:.2f}",
                f"{cost.peak_bytes / MIB:.0f} MiB",
            )
    return table


def right_notebook(assignment: str, name: str) -> Any:
    """The solution of a notebook, made from its master."""
    root = course.find_root()
    book = masters.read(root / "source" / assignment / f"{name}.py", f"{name}.py").notebook
    for cell in book.cells:
        cell.source = skeleton.solution(cell.source)
    return book


def hand_in(submitted: Path, name: str, book: str, copies: int, below: str = "") -> None:
    """The notebook from so many students, in a folder for each; ``below``: in a folder of this name in it."""
    for copy in range(copies):
        path = submitted / f"student-{copy:04}" / below / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(book, encoding="utf-8")


def _own_seconds(name: str, book: bytes, settings: Settings) -> float:
    """CPU seconds of the student's own processes while a copy is graded: its cells and its answers."""
    read = submission.read("bench", {f"{name}.ipynb": book}, settings.assignment, course.signatures(settings.course))
    try:
        with one_core():
            sessions = [engine.grade_notebook(read.notebooks[name], read.files, settings)[1] for _ in range(OWN_COPIES)]
    finally:
        engine.close()
    return statistics.median(session.cpu_seconds for session in sessions)


def command(submitted: Path, out: Path, seed: Path, settings: Settings, workers: int) -> list[str]:
    """``autograder grade`` of a folder."""
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
