"""``autograder bench peers``: this grader, ``nbgrader autograde`` and ``otter run`` on one notebook, in turn.

All of them get fresh copies of the right submission for every run, the same file. This grader uses every core;
`nbgrader autograde` takes one submission after the other, and `otter run` is a command for each, so that its start is
part of every submission. Were those two spread over all cores without a loss, the ratio of CPU seconds would be that of
the time. Each mark is looked at: a grader that does not give the right submission all points was not grading it.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from rich.console import Console

from autograder import results
from autograder.bench import grading, processes
from autograder.bench.processes import Cost, Failed
from autograder.bench.stock import Stock, module
from autograder.bench.turns import Figures, Grader, Report, compare
from autograder.settings import Settings
from autograder.workers import cores

OURS = "autograder grade"
#: Commands of `otter run` in a round; each costs the same.
OTTER_COPIES = 2


@dataclass(frozen=True)
class Comparison:
    """The figures of every round by grader, and of what; ``few`` and ``many`` are the submissions of a turn's runs."""

    stock: Stock
    few: int
    many: int
    rounds: int
    found: dict[str, list[Figures]]


def peers(settings: Settings, copies: int, rounds: int, console: Console, *, experiments: bool = False) -> Comparison:
    """The comparison on the first notebook of an assignment, with every peer that is installed.

    ``copies`` is how many submissions the larger run of a turn has, more than there are cores. ``experiments``: the
    peers run those of the lab. Raises ``Failed``.
    """
    few = cores()
    if copies <= few:
        raise Failed(f"{copies} submissions on {few} cores cannot tell the start from the work. Ask for more copies.")
    stock = Stock(settings.assignment, settings.course.notebooks[0], experiments=experiments)
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as name, Report(3 * rounds, console) as report:
        graders: list[Grader] = [Ours(settings, stock, few, copies, Path(name, "ours"))]
        for peer in (Nbgrader, Otter):
            try:
                metadata.version(peer.package)
                report.note(f"preparing {peer.name}")
                graders.append(peer(stock, few, copies, Path(name, peer.package)))
            except metadata.PackageNotFoundError:
                report.note(f"{peer.name} is left out: {peer.package} is not installed here.")
            except Failed as failed:
                report.note(f"{peer.name} is left out. {failed}")
        return Comparison(stock, few, copies, rounds, compare(graders, rounds, report))


class Ours:
    """``autograder grade`` with a process for each core. What its measured check could not tell counts as given."""

    name = OURS

    def __init__(self, settings: Settings, stock: Stock, few: int, many: int, folder: Path) -> None:
        self._settings, self._stock, self.few, self.many, self._folder = settings, stock, few, many, folder

    def run(self, copies: int) -> Cost:
        with _fresh(self._folder) as here:
            submitted, out, seed = here / "submitted", here / "out", here / "seed.txt"
            seed.write_text(self._settings.seed, encoding="utf-8")
            grading.hand_in(submitted, self._stock.name, self._stock.right(), copies)
            cost = processes.run(grading.command(submitted, out, seed, self._settings, cores()))
            kept, _ = results.read_all(out)
            marks = [one.result.score + one.result.pending_points for one in kept]
        _expect(self.name, marks, copies, sum(self._settings.course.parts[self._stock.name].points.values()))
        return cost


class Nbgrader:
    """``nbgrader autograde`` in a course that is released once and copied for each run."""

    name, package = "nbgrader autograde", "nbgrader"

    def __init__(self, stock: Stock, few: int, many: int, folder: Path) -> None:
        self._stock, self.few, self.many, self._folder = stock, few, many, folder
        self._released = folder / "released"
        stock.nbgrader_course(self._released)

    def run(self, copies: int) -> Cost:
        from nbgrader.api import Gradebook

        lab = self._stock.assignment
        with _fresh(self._folder / "run") as here:
            shutil.copytree(self._released, here, dirs_exist_ok=True)
            grading.hand_in(here / "submitted", self._stock.name, self._stock.right(), copies, below=lab)
            command = [*module("nbgrader"), "autograde", lab]
            cost = processes.run(command, folder=here, environment=self._stock.environment(here))
            with Gradebook(f"sqlite:///{here / 'gradebook.db'}") as gradebook:
                marks = [float(one["score"]) for one in gradebook.submission_dicts(lab)]
        _expect(self.name, marks, copies, sum(self._stock.points.values()))
        return cost


class Otter:
    """``otter run``, one command after the other; no command is what no submission costs."""

    name, package = "otter run", "otter-grader"

    def __init__(self, stock: Stock, few: int, many: int, folder: Path) -> None:
        self._stock, self._folder = stock, folder
        self.few, self.many = 0, min(OTTER_COPIES, many)
        self._archive = stock.otter_archive(folder / "made")

    def run(self, copies: int) -> Cost:
        cost, marks = Cost(), []
        for _ in range(copies):
            with _fresh(self._folder / "run") as here:
                book = here / f"{self._stock.name}.ipynb"
                book.write_text(self._stock.right(), encoding="utf-8")
                words = ["run", "--autograder", str(self._archive), "--output-dir", str(here), str(book)]
                command = [*module("otter"), *words]
                cost += processes.run(command, folder=here, environment=self._stock.environment(here))
                found = json.loads((here / "results.json").read_text(encoding="utf-8"))
                marks.append(sum(test.get("score") or 0.0 for test in found["tests"]))
        _expect(self.name, marks, copies, sum(self._stock.points.values()))
        return cost


@contextlib.contextmanager
def _fresh(folder: Path) -> Iterator[Path]:
    """An empty folder for one run."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _expect(name: str, marks: Sequence[float], copies: int, full: float) -> None:
    if len(marks) != copies or any(not math.isclose(mark, full) for mark in marks):
        given = ", ".join(f"{mark:g}" for mark in marks[:3]) or "none"
        raise Failed(f"{name} gave {len(marks)} of {copies} right submissions a mark ({given}, …); each has {full:g}.")
