"""The numbers of the class page: what was won, how well a check tells submissions apart, what stands out."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from autograder.course import UNITS_PER_POINT
from autograder.pages.words import lost
from autograder.result import CheckResult, Result, is_by_person, mark_of
from autograder.table import points

#: Verdicts that say something about the submission; the others are left out of every rate.
DECIDED = ("passed", "failed", "submission_error", "timeout", "skipped")
#: Below this many submissions a correlation is noise, and is not shown.
FEWEST_TO_CORRELATE = 8
BINS = 10
#: Below this correlation a check tells little about the rest, by the usual rule of thumb for test items.
LOW_DISCRIMINATION = 0.2


@dataclass(frozen=True)
class Bar:
    """One bin of the distribution: scores from ``low`` to ``high`` (the last bin holds the full mark)."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class TaskFigures:
    """``won`` is the mean fraction (0 to 1) of the decided points of a task; None if none is decided."""

    notebook: str
    task: str
    max_points: float
    won: float | None


@dataclass(frozen=True)
class CheckFigures:
    """``rate`` is the fraction that passed, ``discrimination`` its correlation with the rest."""

    check: CheckResult
    decided: int
    passed: int
    rate: float | None
    discrimination: float | None


@dataclass(frozen=True)
class SuspectFigures:
    """How many submissions a suspect was named in, in which checks, and what these are about."""

    suspect: str
    submissions: int
    checks: list[CheckResult]


@dataclass(frozen=True)
class AnswerFigures:
    """How many answers to one question wait for a person."""

    check: CheckResult
    count: int


@dataclass(frozen=True)
class Distribution:
    """Marks of one notebook, or of all together where ``notebook`` is empty; ``bars`` is empty without any."""

    notebook: str
    full: float
    median: float
    mean: float
    bars: list[Bar]


@dataclass
class _Check:
    """A check as it was met first, and sums over the submissions in which it is decided.

    ``rest`` is the score in all other checks, in ten-thousandths of a point: whole numbers, so that the sums are exact.
    """

    first: CheckResult
    decided: int = 0
    passed: int = 0
    rest: int = 0
    rest_squared: int = 0
    rest_of_passed: int = 0

    def add(self, passed: bool, rest: int) -> None:
        self.decided += 1
        self.rest += rest
        self.rest_squared += rest * rest
        if passed:
            self.passed += 1
            self.rest_of_passed += rest

    def discrimination(self) -> float | None:
        """The correlation between passing the check and the score in all others, from −1 to 1.

        None where it says nothing: few submissions, all alike in the check, or all alike in the rest.
        """
        if self.decided < FEWEST_TO_CORRELATE:
            return None
        together = self.decided * self.rest_of_passed - self.passed * self.rest
        alone = self.passed * (self.decided - self.passed)
        others = self.decided * self.rest_squared - self.rest**2
        return together / (math.sqrt(alone) * math.sqrt(others)) if alone and others else None


@dataclass
class _Task:
    """The largest points of a task, and the fractions of the decided ones that were won: how many, and their sum."""

    max_points: float = 0.0
    fractions: int = 0
    won: float = 0.0


@dataclass
class _Book:
    """The largest points of a notebook, and what each submission won of them."""

    full: float = 0.0
    won: array[float] = field(default_factory=lambda: array("d"))


class Figures:
    """All numbers of the class page. Results are added one by one, and of each only a few numbers stay."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._full = 0.0
        self._marks = array("d")
        self._books: dict[str, _Book] = {}
        self._tasks: dict[tuple[str, str], _Task] = {}
        self._checks: dict[str, _Check] = {}
        self._to_read: dict[str, AnswerFigures] = {}
        self._suspects: dict[str, SuspectFigures] = {}
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        self._full = max(self._full, result.max_score)
        self._marks.append(mark_of(result))
        score = round(result.score * UNITS_PER_POINT)
        books: dict[str, list[CheckResult]] = {}
        tasks: dict[tuple[str, str], list[CheckResult]] = {}
        named: dict[str, list[CheckResult]] = {}
        for check in result.checks:
            books.setdefault(check.notebook, []).append(check)
            tasks.setdefault((check.notebook, check.task), []).append(check)
            if check.verdict == "by_person":
                known = self._to_read.get(check.id, AnswerFigures(check, 0))
                self._to_read[check.id] = replace(known, count=known.count + 1)
            if check.suspect and lost(check):
                named.setdefault(check.suspect, []).append(check)
            if not is_by_person(check):
                sums = self._checks.setdefault(check.id, _Check(check))
                if check.verdict in DECIDED:
                    sums.add(check.verdict == "passed", score - round(check.points * UNITS_PER_POINT))
        for name, checks in books.items():
            book = self._books.setdefault(name, _Book())
            book.won.append(points([check.points for check in checks]))
            book.full = max(book.full, points([check.max_points for check in checks]))
        for key, checks in tasks.items():
            self._add_task(self._tasks.setdefault(key, _Task()), checks)
        for suspect, checks in named.items():
            before = self._suspects.get(suspect, SuspectFigures(suspect, 0, []))
            ids = {check.id for check in before.checks}
            new = {check.id: check for check in checks if check.id not in ids}
            self._suspects[suspect] = SuspectFigures(suspect, before.submissions + 1, [*before.checks, *new.values()])

    @staticmethod
    def _add_task(task: _Task, checks: Sequence[CheckResult]) -> None:
        task.max_points = max(task.max_points, points([c.max_points for c in checks]))
        decided = [c for c in checks if c.verdict in DECIDED and not is_by_person(c)]
        most = points([c.max_points for c in decided])
        if most > 0:
            task.fractions += 1
            task.won += points([c.points for c in decided]) / most

    def distribution(self) -> Distribution:
        """The marks of whole submissions."""
        return _distributed("", self._marks, self._full)

    def by_notebook(self) -> list[Distribution]:
        """The points of each notebook, over those who handed it in or not."""
        return [_distributed(name, book.won, book.full) for name, book in self._books.items()]

    def by_task(self) -> list[TaskFigures]:
        """Per task what a machine decides, over the submissions in which any of it was decided."""
        return [
            TaskFigures(book, name, task.max_points, task.won / task.fractions if task.fractions else None)
            for (book, name), task in self._tasks.items()
        ]

    def by_check(self) -> list[CheckFigures]:
        """Per check in the order of display; checks that a person marks are not here."""
        return [
            CheckFigures(
                one.first,
                one.decided,
                one.passed,
                one.passed / one.decided if one.decided else None,
                one.discrimination(),
            )
            for one in self._checks.values()
        ]

    def to_read(self) -> list[AnswerFigures]:
        """The answers that wait for a person, by question."""
        return list(self._to_read.values())

    def suspects(self, most: int = 15) -> list[SuspectFigures]:
        """The most frequent suspects; one submission counts once for each."""
        return sorted(self._suspects.values(), key=lambda one: (-one.submissions, one.suspect))[:most]


def _distributed(notebook: str, scores: Sequence[float], full: float) -> Distribution:
    """Scores in ten bins of equal width, the last with the full mark and what is above it."""
    if full <= 0 or not scores:
        return Distribution(notebook, full, 0.0, 0.0, [])
    counts = Counter(max(0, min(int(BINS * score / full), BINS - 1)) for score in scores)
    bars = [Bar(full * i / BINS, full * (i + 1) / BINS, counts[i]) for i in range(BINS)]
    return Distribution(notebook, full, median(scores), fmean(scores), bars)


def telling_least(figures: Sequence[CheckFigures], most: int = 8) -> list[CheckFigures]:
    """Checks that submissions pass which do badly elsewhere, and the other way round: the least telling first."""
    known = [one for one in figures if one.discrimination is not None and one.discrimination < LOW_DISCRIMINATION]
    return sorted(known, key=lambda one: one.discrimination or 0.0)[:most]


def hardest(figures: Sequence[CheckFigures], most: int = 8) -> list[CheckFigures]:
    """The checks that the fewest pass, one of each function: what fails takes those that build on it along."""
    known = [one for one in figures if one.rate is not None and one.rate < 1]
    by_function: dict[tuple[str, str, str], CheckFigures] = {}
    for one in sorted(known, key=lambda one: one.rate or 0.0):
        by_function.setdefault((one.check.notebook, one.check.task, one.check.function), one)
    return list(by_function.values())[:most]
