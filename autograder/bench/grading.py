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
from autograder.bench.turns import figures
from autograder.release import masters, skeleton
from autograder.sandbox.core import one_core
from autograder.settings import Settings

#: Copies of the smaller run, more than there are workers.
FEW = 4
#: Copies of which the student's own part is looked at.
OWN_COPIES = 9


def grading(settings: Settings, copies: int, workers: tuple[int, ...], console: Console) -> Table:
    """Copies of the right submission, graded by ``autograder grade`` with each number of workers.

    Two runs for each, of few and of all copies, tell the start from the seconds of each further one. CPU seconds are
    medians. Raises ``processes.Failed``.
    """
    if copies <= FEW:
        raise processes.Failed(f"{copies} submissions cannot tell the start from the work. Ask for more than {FEW}.")
    table = Table(title=f"Grading {FEW} and {copies} copies of the right submission")
    heads = ["workers", "start, s", "each further, s", "speed-up", "CPU seconds each", "of these the student's"]
    for head in (*heads, "overhead", "peak memory of all processes"):
        table.add_column(head, justify="right")
    name = settings.course.notebooks[0]
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as folder:
        seed = Path(folder) / "seed.txt"
        seed.write_text(settings.seed, encoding="utf-8")
        book = nbformat.writes(right_notebook(settings.assignment, name))
        for some in (FEW, copies):
            hand_in(Path(folder) / f"submitted-{some}", name, book, some)
        own, alone = _own_seconds(name, book.encode(), settings), 0.0
        for count in workers:
            costs = []
            for some in (FEW, copies):
                out = Path(folder) / f"out-{count}-{some}"
                console.print(f"grade: {some} copies with {count} worker(s)")
                costs.append(processes.run(command(Path(folder) / f"submitted-{some}", out, seed, settings, count)))
            kept, _ = results.read_all(out)
            if len(kept) != copies:
                raise processes.Failed(f"{len(kept)} of {copies} copies were graded.")
            found = figures(FEW, costs[0], copies, costs[1])
            alone = alone or found.seconds
            each = statistics.median(one.result.cpu_seconds for one in kept)
            table.add_row(
                str(count),
                f"{found.start_seconds:.1f}",
                f"{found.seconds:.2f}",
                f"{alone / found.seconds:.2f}",
                f"{each:.2f}",
                f"{own:.2f}",
                f"{each - own:.2f}",
                f"{found.peak_bytes / MIB:.0f} MiB",
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
