"""The three ways from a submission to points, each by the command that people type, and what came of them."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder import results
from autograder.result import WAITING_FOR_A_MACHINE, Result
from tests.formats import unpacked
from tests.nbgrader_course import courses
from tests.nbgrader_course.courses import LAB, gradebook, hand_in
from tests.one_mark.submissions import MEASURED, Submission, worth, worth_of_steps

#: By notebook and step.
Points = dict[tuple[str, str], float]
WAYS = ("autograder grade", "nbgrader autograde", "otter run")


@dataclass(frozen=True)
class Marked:
    """What one way gave a submission, by notebook and step; ``waits``: where a measurement could not tell."""

    points: Points
    waits: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Compared:
    """One submission in all three ways. ``found``: what `autograder grade` says of it."""

    submission: Submission
    marked: dict[str, Marked]
    found: Result

    def differences(self) -> list[str]:
        """Where they do not agree, in words."""
        said = []
        first = self.marked[WAYS[0]]
        for way in WAYS[1:]:
            other = self.marked[way]
            for step in sorted(first.points.keys() | other.points.keys()):
                if step[0] != self.submission.notebook and way == "otter run":
                    continue  # the archive of a notebook grades that notebook
                # Of one run that could tell and one that could not, only the measured points may differ.
                unsure = (step in first.waits) != (step in other.waits)
                slack = worth(step[0]).get((step[1], MEASURED), 0) if unsure else 0
                # A step that only a person marks is no question of Otter's.
                here, there = first.points.get(step, 0), other.points.get(step, 0)
                if min(abs(here - there), abs(abs(here - there) - slack)) > 1e-3:
                    said.append(f"{self.submission.name}, {step}: {here:g} by {WAYS[0]}, {there:g} by {way}")
        return said


@dataclass(frozen=True)
class Comparison:
    """``seconds``: by way, on the clock and of CPU in all its processes."""

    every: list[Compared]
    seconds: dict[str, tuple[float, float]]


def compare(submissions: Sequence[Submission], folder: Path) -> Comparison:
    """Every submission in every way, with one course seed, two submissions at a time."""
    made = unpacked.archives()
    course = courses.new(folder / "course")
    (course / "seed.txt").write_text(unpacked.SEED, encoding="utf-8")
    courses.generate_assignment(course)
    for one in submissions:
        hand_in(course, one.name, {one.file: one.content})
    seconds: dict[str, tuple[float, float]] = {}
    with _timed(WAYS[0], seconds):
        found = by_grade(course, folder / "graded")
    with _timed(WAYS[1], seconds):
        entered = by_nbgrader(course)
    with _timed(WAYS[2], seconds), ThreadPoolExecutor(2) as two:  # Otter has no workers of its own
        run = partial(by_otter, made=made, folder=folder / "otter")
        asked = dict(zip((one.name for one in submissions), two.map(run, submissions), strict=True))

    every = []
    for one in submissions:
        ways = (as_found(found[one.name]), entered[one.name], asked[one.name])
        every.append(Compared(one, dict(zip(WAYS, ways, strict=True)), found[one.name]))
    return Comparison(every, seconds)


@contextmanager
def _timed(way: str, seconds: dict[str, tuple[float, float]]) -> Iterator[None]:
    begun, used = time.monotonic(), _cpu_of_children()
    yield
    seconds[way] = time.monotonic() - begun, _cpu_of_children() - used


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---------------------------------------------------------------- autograder grade


def by_grade(course: Path, out: Path) -> dict[str, Result]:
    """The results of ``submitted/``, by student."""
    seed = ["--course-seed", str(course / "seed.txt"), "--workers", "2"]
    courses.run(
        "autograder", "grade", "submitted", "--assignment", LAB, "--out", str(out), *seed, at=course, timeout=3600
    )
    return {one.result.submission: one.result for one in results.read_all(out)[0]}


def as_found(result: Result) -> Marked:
    points: Points = defaultdict(float)
    for check in result.checks:
        points[check.notebook, check.task] += check.points
    waits = {(c.notebook, c.task) for c in result.checks if c.verdict in WAITING_FOR_A_MACHINE}
    return Marked(dict(points), frozenset(waits))


# ---------------------------------------------------------------- nbgrader autograde


def by_nbgrader(course: Path) -> dict[str, Marked]:
    """What the gradebook has after ``nbgrader autograde``, by student."""
    courses.run("nbgrader", "autograde", LAB, at=course, timeout=3600)
    marked = {}
    with gradebook(course) as book:
        for student in book.assignment_submissions(LAB):
            points: Points = defaultdict(float)
            waits = set()
            for part in student.notebooks:
                for grade in part.grades:
                    step = part.name, grade.name.partition("-")[0]
                    points[step] += grade.auto_score or 0
                    if grade.name.endswith("-check") and grade.needs_manual_grade:
                        waits.add(step)
            marked[student.student.id] = Marked(dict(points), frozenset(waits))
    return marked


# ---------------------------------------------------------------- otter run


def by_otter(one: Submission, made: unpacked.Archives, folder: Path) -> Marked:
    """What ``otter run`` gives it, or the archive's own script where Otter cannot open the file."""
    folder /= one.name
    folder.mkdir(parents=True)
    path = folder / one.file
    path.write_bytes(one.content)
    arguments = ["run", "-a", str(made.otter(one.notebook)), "-o", str(folder), str(path)]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "otter", *arguments],
        env=made.environment,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert bool(done.returncode) == one.unreadable, f"{one.name}: {done.stderr}"
    where = folder / "results.json"
    if one.unreadable:
        root = unpacked.platform_folder(folder / "autograder", made.otter(one.notebook), {one.file: one.content})
        script = made.run_script(root)
        assert script.returncode == 0, f"{one.name}: {script.stderr}"
        where = root / "results" / "results.json"
    tests = json.loads(where.read_text(encoding="utf-8"))["tests"]
    decided = {(one.notebook, test["name"]): test for test in tests if not test["name"].endswith(" (waits)")}
    whole = worth_of_steps(one.notebook)
    waits = {step for step, test in decided.items() if test["max_score"] < whole[step] - 1e-3}
    return Marked({step: test["score"] for step, test in decided.items()}, frozenset(waits))


# ---------------------------------------------------------------- the table


def table(comparison: Comparison) -> str:
    """Markdown: a row for each submission with the points of its steps, and the seconds of each way."""
    lines = []
    by_notebook: dict[str, list[Compared]] = defaultdict(list)
    for one in comparison.every:
        by_notebook[one.submission.notebook].append(one)
    for notebook, rows in by_notebook.items():
        steps = list(dict.fromkeys(step for step, _ in worth(notebook)))
        lines += [f"| {notebook} | {' | '.join(steps)} | the three ways |", "|---" * (len(steps) + 2) + "|"]
        for row in rows:
            cells = [_cell(row, (notebook, step)) for step in steps]
            agree = "differ" if row.differences() else "agree"
            lines.append(f"| {row.submission.name} | {' | '.join(cells)} | {agree} |")
        lines.append("")
    count = len(comparison.every)
    lines += [f"| way ({count} submissions) | seconds | of CPU | of CPU, for each |", "|---|---|---|---|"]
    for way, (clock, cpu) in comparison.seconds.items():
        lines.append(f"| `{way}` | {clock:.0f} | {cpu:.0f} | {cpu / count:.1f} |")
    return "\n".join(lines) + "\n"


def _cell(row: Compared, step: tuple[str, str]) -> str:
    """The points of a step, once where all agree; an asterisk where a measurement waits."""
    shown = [f"{round(row.marked[w].points[step] + 1e-6, 2):g}{'*' * (step in row.marked[w].waits)}" for w in WAYS]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)
