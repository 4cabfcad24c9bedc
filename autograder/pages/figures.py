"""The numbers of the class page: what was won, how well a check tells submissions apart, what stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean, median

from autograder.pages.words import lost
from autograder.result import CheckResult, is_by_person, mark_of
from autograder.results import Kept
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


def distribution(kept: Sequence[Kept]) -> Distribution:
    """The marks of whole submissions."""
    full = max((one.result.max_score for one in kept), default=0.0)
    return _distributed("", [mark_of(one.result) for one in kept], full)


def by_notebook(kept: Sequence[Kept]) -> list[Distribution]:
    """The points of each notebook, over those who handed it in or not."""
    won: dict[str, list[float]] = {}
    full: dict[str, float] = {}
    for one in kept:
        books: dict[str, list[CheckResult]] = {}
        for check in one.result.checks:
            books.setdefault(check.notebook, []).append(check)
        for name, checks in books.items():
            won.setdefault(name, []).append(points([check.points for check in checks]))
            full[name] = max(full.get(name, 0.0), points([check.max_points for check in checks]))
    return [_distributed(name, scores, full[name]) for name, scores in won.items()]


def _distributed(notebook: str, scores: Sequence[float], full: float) -> Distribution:
    """Scores in ten bins of equal width, the last with the full mark and what is above it."""
    if full <= 0 or not scores:
        return Distribution(notebook, full, 0.0, 0.0, [])
    counts = Counter(max(0, min(int(BINS * score / full), BINS - 1)) for score in scores)
    bars = [Bar(full * i / BINS, full * (i + 1) / BINS, counts[i]) for i in range(BINS)]
    return Distribution(notebook, full, median(scores), fmean(scores), bars)


def by_task(kept: Sequence[Kept]) -> list[TaskFigures]:
    """Per task what a machine decides, over the submissions in which any of it was decided."""
    found: dict[tuple[str, str], list[float]] = {}
    worth: dict[tuple[str, str], float] = {}
    for one in kept:
        tasks: dict[tuple[str, str], list[CheckResult]] = {}
        for check in one.result.checks:
            tasks.setdefault((check.notebook, check.task), []).append(check)
        for key, checks in tasks.items():
            worth[key] = max(worth.get(key, 0.0), points([c.max_points for c in checks]))
            decided = [c for c in checks if c.verdict in DECIDED and not is_by_person(c)]
            most = points([c.max_points for c in decided])
            fractions = found.setdefault(key, [])
            if most > 0:
                fractions.append(points([c.points for c in decided]) / most)
    return [
        TaskFigures(book, task, worth[book, task], fmean(part) if part else None)
        for (book, task), part in found.items()
    ]


def by_check(kept: Sequence[Kept]) -> list[CheckFigures]:
    """Per check in the order of display; checks that a person marks are not here."""
    first: dict[str, CheckResult] = {}
    found: dict[str, list[tuple[bool, float]]] = {}
    for one in kept:
        for check in one.result.checks:
            if is_by_person(check):
                continue
            first.setdefault(check.id, check)
            answers = found.setdefault(check.id, [])
            if check.verdict in DECIDED:
                answers.append((check.verdict == "passed", one.result.score - check.points))
    figures = []
    for name, answers in found.items():
        passed = sum(ok for ok, _ in answers)
        rate = passed / len(answers) if answers else None
        figures.append(CheckFigures(first[name], len(answers), passed, rate, discrimination(answers)))
    return figures


def discrimination(answers: Sequence[tuple[bool, float]]) -> float | None:
    """The correlation between passing a check and the score in all others, from −1 to 1.

    None where it says nothing: few submissions, all alike in the check, or all alike in the rest.
    """
    if len(answers) < FEWEST_TO_CORRELATE:
        return None
    try:
        # Scores are sums of ten-thousandths in binary: without rounding, equal ones could seem to differ.
        return correlation([float(ok) for ok, _ in answers], [round(rest, 4) for _, rest in answers])
    except StatisticsError:
        return None


def telling_least(figures: Sequence[CheckFigures], most: int = 8) -> list[CheckFigures]:
    """Checks that submissions pass which do badly elsewhere, and the other way round: the least telling first."""
    known = [one for one in figures if one.discrimination is not None and one.discrimination < LOW_DISCRIMINATION]
    return sorted(known, key=lambda one: one.discrimination or 0.0)[:most]


def hardest(figures: Sequence[CheckFigures], most: int = 8) -> list[CheckFigures]:
    """Checks that the fewest pass, of those that not everybody passes."""
    known = [one for one in figures if one.rate is not None and one.rate < 1]
    return sorted(known, key=lambda one: one.rate or 0.0)[:most]


def to_read(kept: Sequence[Kept]) -> list[AnswerFigures]:
    """The answers that wait for a person, by question."""
    waiting = [check for one in kept for check in one.result.checks if check.verdict == "by_person"]
    count = Counter(check.id for check in waiting)
    first = {check.id: check for check in reversed(waiting)}
    return [AnswerFigures(first[name], number) for name, number in count.items()]


def suspects(kept: Sequence[Kept], most: int = 15) -> list[SuspectFigures]:
    """The most frequent suspects; one submission counts once for each."""
    where: dict[str, dict[str, CheckResult]] = {}
    count: Counter[str] = Counter()
    for one in kept:
        named = [check for check in one.result.checks if check.suspect and lost(check)]
        count.update({check.suspect for check in named if check.suspect})
        for check in named:
            where.setdefault(check.suspect or "", {}).setdefault(check.id, check)
    ordered = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [SuspectFigures(name, number, list(where[name].values())) for name, number in ordered]
