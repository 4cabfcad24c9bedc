"""From what the checks found to a mark.

The rule for rounding, said once: points are counted in whole ten-thousandths. The points of a function are
shared among its checks by weight, exactly, and what does not divide goes to the checks with the largest
remainder (the earlier one of two alike). So the parts of every shown mark add up to it, to the last digit.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import msgspec

from autograder.course import UNITS_PER_POINT, ByPerson, Course, CourseError, points_of, units
from autograder.result import WAITING_FOR_A_MACHINE, CheckResult, Example, Result, Verdict
from autograder.spelling import clip, spell, spell_all

#: Characters of a message that are kept in a result.
MAX_MESSAGE = 4000

UNCHECKED = "The grader has no check for this function. That is an error of the grader, and costs nothing."
WAITS_FOR_A_PERSON = "A person reads this answer; its points are not in the score yet."
NOTHING_TO_READ = "{notebook} was not handed in, so there is no answer to read."
NOT_ANSWERED = (
    "This answer is as it was handed out, so there was nothing to read. If you wrote yours in another cell, "
    "tell whoever marks."
)
#: Finds the sentence of a message that says so.
OUR_ERRORS = (
    r"\d+ checks? could not be done because of an error of the grader\. That is not the student's, and the mark must "
    r"not be given out until it is repaired\."
)


class Outcome(msgspec.Struct, kw_only=True):
    """What one check found; ``weight`` is its part of the points of its function."""

    id: str
    notebook: str
    task: str
    function: str
    title: str
    verdict: Verdict
    weight: float = 1.0
    suspect: str | None = None
    message: str | None = None
    example: Example | None = None


class Facts(msgspec.Struct, kw_only=True):
    """What else a result says: where it came from and under what it was made.

    ``handed_in`` names the notebooks that were there, readable or not. ``findings``: by the ``grade_id`` of an
    answer that a person marks, what was found beside it. ``unanswered``: those left as they were handed out.
    """

    submission: str
    assignment: str
    kit_version: str
    course_seed_id: str
    isolation: str
    device: str
    seconds: float
    cpu_seconds: float
    digest: str
    handed_in: tuple[str, ...]
    message: str | None = None
    findings: dict[str, str] = {}
    unanswered: frozenset[str] = frozenset()


def assemble(outcomes: Sequence[Outcome], course: Course, facts: Facts) -> Result:
    """The result of one submission, with every point of the course in it.

    `CourseError` where a check has no points in the course, or two checks have one id.
    """
    checks = [*_checked(outcomes, course), *_unchecked(outcomes, course), *_by_person(course, facts)]
    order: dict[tuple[str, str], int] = {}
    for name in course.notebooks:
        for key in points_of(course.parts[name]):
            order.setdefault((name, key.partition(".")[0]), len(order))
    checks.sort(key=lambda check: order[check.notebook, check.task])
    totals = total(checks, course)
    errors = sum(check.verdict == "grader_error" for check in checks)
    return Result(
        submission=spell(facts.submission),
        assignment=facts.assignment,
        kit_version=facts.kit_version,
        course_seed_id=facts.course_seed_id,
        isolation=facts.isolation,
        device=facts.device,
        score=totals.score,
        max_score=totals.max_score,
        pending_points=totals.pending_points,
        manual_points=totals.manual_points,
        provisional=totals.provisional,
        seconds=round(facts.seconds, 3),
        cpu_seconds=round(facts.cpu_seconds, 3),
        message=_message(facts, errors),
        digest=facts.digest,
        checks=checks,
    )


class Totals(NamedTuple):
    """The sums of a result, by the names that they have there."""

    score: float
    max_score: float
    pending_points: float
    manual_points: float
    provisional: bool


def total(checks: Sequence[CheckResult], course: Course) -> Totals:
    """Sum up checks. What is extra credit counts in the score and not in its maximum."""
    extra = {(name, key) for name, part in course.parts.items() for key in part.extra_credit}
    score = most = pending = manual = 0
    for check in checks:
        worth = units(check.max_points)
        score += units(check.points)
        if (check.notebook, f"{check.task}.{check.function}") not in extra:
            most += worth
        if check.verdict in WAITING_FOR_A_MACHINE:
            pending += worth
        elif check.verdict == "by_person":
            manual += worth
    provisional = pending > 0 or any(check.verdict == "grader_error" for check in checks)
    return Totals(
        score / UNITS_PER_POINT,
        most / UNITS_PER_POINT,
        pending / UNITS_PER_POINT,
        manual / UNITS_PER_POINT,
        provisional,
    )


def broken(course: Course, facts: Facts, why: str) -> Result:
    """The result of a submission that the grader itself could not grade: every check a grader error."""
    outcomes = [
        Outcome(
            id=f"{notebook}.{key}.not_graded",
            notebook=notebook,
            task=key.partition(".")[0],
            function=key.partition(".")[2],
            title="This function could not be graded.",
            verdict="grader_error",
            message=why,
        )
        for notebook in course.notebooks
        for key in course.parts[notebook].points
    ]
    return assemble(outcomes, course, facts)


@functools.cache
def shares(points: float, weights: tuple[float, ...]) -> tuple[int, ...]:
    """Ten-thousandths for each weight, which add up to ``points``; alike where all weights are zero."""
    if not all(weight >= 0 for weight in weights):
        raise CourseError(f"The weights {list(weights)} of checks must not be below zero.")
    whole, exact = units(points), [Fraction(weight) for weight in weights]
    if not any(exact):
        exact = [Fraction(1)] * len(exact)
    ideal = [whole * weight / sum(exact) for weight in exact]
    given = [int(part) for part in ideal]
    by_remainder = sorted(range(len(ideal)), key=lambda i: given[i] - ideal[i])
    for i in by_remainder[: whole - sum(given)]:
        given[i] += 1
    return tuple(given)


def _checked(outcomes: Sequence[Outcome], course: Course) -> list[CheckResult]:
    functions: dict[tuple[str, str], list[int]] = {}
    for i, outcome in enumerate(outcomes):
        functions.setdefault((outcome.notebook, f"{outcome.task}.{outcome.function}"), []).append(i)
    if len({outcome.id for outcome in outcomes}) != len(outcomes):
        raise CourseError("Two checks have the same id.")
    worth = [0] * len(outcomes)
    for (notebook, key), indices in functions.items():
        part = course.parts.get(notebook)
        if part is None or key not in part.points:
            raise CourseError(f"{notebook}.{key} is checked, and has no points in course.toml.")
        parts = shares(part.points[key], tuple(outcomes[i].weight for i in indices))
        for i, share in zip(indices, parts, strict=True):
            worth[i] = share
    return [_row(outcome, share) for outcome, share in zip(outcomes, worth, strict=True)]


def _unchecked(outcomes: Sequence[Outcome], course: Course) -> list[CheckResult]:
    """A function of the course that nothing checked is our mistake, and must not lower anybody's mark."""
    seen = {(outcome.notebook, f"{outcome.task}.{outcome.function}") for outcome in outcomes}
    rows = []
    for notebook in course.notebooks:
        for key, points in course.parts[notebook].points.items():
            if (notebook, key) not in seen:
                task, _, function = key.partition(".")
                missing = Outcome(
                    id=f"{notebook}.{key}.unchecked",
                    notebook=notebook,
                    task=task,
                    function=function,
                    title="This function is checked.",
                    verdict="grader_error",
                    message=UNCHECKED,
                )
                rows.append(_row(missing, units(points)))
    return rows


def _by_person(course: Course, facts: Facts) -> list[CheckResult]:
    return [
        _row(_answer(answer, notebook, facts), units(answer.points))
        for notebook in course.notebooks
        for answer in course.parts[notebook].by_person
    ]


def _answer(answer: ByPerson, notebook: str, facts: Facts) -> Outcome:
    verdict: Verdict = "by_person"
    message = f"{WAITS_FOR_A_PERSON} {facts.findings.get(answer.grade_id, '')}".strip()
    if notebook not in facts.handed_in:
        verdict, message = "submission_error", NOTHING_TO_READ.format(notebook=notebook)
    elif answer.grade_id in facts.unanswered:
        verdict, message = "failed", NOT_ANSWERED
    return Outcome(
        id=f"{notebook}.{answer.task}.{answer.function}.by_person",
        notebook=notebook,
        task=answer.task,
        function=answer.function,
        title=answer.title,
        verdict=verdict,
        message=message,
    )


def _row(outcome: Outcome, worth: int) -> CheckResult:
    return CheckResult(
        id=outcome.id,
        notebook=outcome.notebook,
        task=outcome.task,
        function=outcome.function,
        title=outcome.title,
        points=worth / UNITS_PER_POINT if outcome.verdict == "passed" else 0.0,
        max_points=worth / UNITS_PER_POINT,
        verdict=outcome.verdict,
        suspect=outcome.suspect,
        message=None if outcome.message is None else clip(spell_all(outcome.message), MAX_MESSAGE),
        example=outcome.example,
    )


def _message(facts: Facts, errors: int) -> str | None:
    """What a person should know about the whole submission; None where there is nothing to know."""
    parts = [facts.message] if facts.message else []
    if errors:
        parts.append(
            f"{errors} {'check' if errors == 1 else 'checks'} could not be done because of an error of the "
            "grader. That is not the student's, and the mark must not be given out until it is repaired."
        )
    return clip(spell_all(" ".join(parts)), MAX_MESSAGE) if parts else None
