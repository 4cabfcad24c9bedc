"""Results into nbgrader's gradebook, through its API: points by task, comments by function.

A released notebook has one graded cell for each task (``step1-check``), which carries the points that the machine
gives in it, and one for each answer that a person reads. What a person entered (``manual_score``, ``extra_credit``,
``manual_comment``, a late penalty) stands in columns of its own there, which are only read here.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SAWarning

from autograder.course import UNITS_PER_POINT, Course, units
from autograder.formats import FormatError
from autograder.pages.words import UNDECIDED, lost, worded
from autograder.result import CheckResult, Result
from autograder.table import points

ANOTHER_VERSION = (
    "nbgrader's gradebook was made from another version of {assignment}: {what}. Run `nbgrader generate_assignment "
    "{assignment}`, and grade again if course.toml has changed since."
)


def make_ready() -> None:
    """What nbgrader needs from a process that opens a gradebook, and does not see to itself.

    It looks for ``alembic`` on the path whenever it makes one, and finds none where ``.venv/bin/nbgrader`` was called
    without activating the environment; and the way in which it adds a submission draws warnings from SQLAlchemy.
    """
    programs = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    if programs not in path.split(os.pathsep):
        os.environ["PATH"] = f"{programs}{os.pathsep}{path}"
    warnings.filterwarnings("ignore", "Object of type", SAWarning)


def add_submission(gradebook: Gradebook, student: str, assignment: str, received: datetime | None) -> None:
    """A place for the marks of a student, if there is none yet.

    ``received``: when that came in which was graded. For formgrader a submission is graded where this is the time that
    lies beside it in ``submitted/``; where something newer lies there, it still asks for that to be graded.
    """
    gradebook.update_or_create_student(student)
    # As nbgrader keeps it: in UTC, without a zone.
    when = {"timestamp": received.astimezone(UTC).replace(tzinfo=None)} if received is not None else {}
    gradebook.update_or_create_submission(assignment, student, **when)


def write_marks(
    gradebook: Gradebook,
    student: str,
    result: Result,
    course: Course,
    notebooks: Iterable[str],
    commented: dict[str, dict[str, str]],
    *,
    again: bool | None = None,
) -> None:
    """Enter what the machine found in ``notebooks`` for a student whose submission is in the gradebook.

    ``commented``: by notebook and function, the ``grade_id`` of the cell that its comment stands under. ``again``:
    whether something was handed in anew, so that what a person marked is flagged for another look; where that is not
    known, it is flagged if the machine's points beside it moved. A late penalty is entered where ``course.toml`` has a
    rule for late work, and left alone where it has none. `FormatError` where the gradebook is of another version.
    """
    for notebook in notebooks:
        checks = [check for check in result.checks if check.notebook == notebook]
        graded = _by_cell(checks, course, notebook)
        submitted = _submitted(gradebook, notebook, course, student)
        grades = {grade.name: grade for grade in submitted.grades}
        _agree(course, notebook, graded, grades)
        moved = False
        for name, its in graded.items():
            moved |= _score(grades[name], its)
        for name in graded:
            grade = grades[name]
            if grade.manual_score is not None and (moved if again is None else again):
                grade.needs_manual_grade = True
        _comment(submitted, checks, commented.get(notebook, {}))
        if course.policy.late is not None:
            submitted.late_submission_penalty = late_penalties(result, course)[notebook]
    gradebook.db.commit()


def late_penalties(result: Result, course: Course) -> dict[str, float]:
    """A submission's late penalty as nbgrader keeps it, by notebook: from the first one on, while it has points."""
    left, parts = units(result.late_penalty), {}
    for notebook in course.notebooks:
        earned = sum(units(check.points) for check in result.checks if check.notebook == notebook)
        parts[notebook] = min(left, earned) / UNITS_PER_POINT
        left -= min(left, earned)
    return parts


def _by_cell(checks: Sequence[CheckResult], course: Course, notebook: str) -> dict[str, list[CheckResult]]:
    """By the ``grade_id`` of a graded cell, the checks whose points are in it."""
    by_person = {(answer.task, answer.function): answer.grade_id for answer in course.parts[notebook].by_person}
    cells: dict[str, list[CheckResult]] = {}
    for check in checks:
        own = by_person.get((check.task, check.function))
        cells.setdefault(own or f"{check.task}-check", []).append(check)
    return cells


def _submitted(gradebook: Gradebook, notebook: str, course: Course, student: str) -> Any:
    try:
        return gradebook.find_submission_notebook(notebook, course.assignment, student)
    except MissingEntry:
        what = f"it has no notebook {notebook}"
        raise FormatError(ANOTHER_VERSION.format(assignment=course.assignment, what=what)) from None


def _agree(course: Course, notebook: str, graded: dict[str, list[CheckResult]], grades: dict[str, Any]) -> None:
    """Every point of a notebook has its cell, and every cell its points: else a mark would be lost in silence."""
    for name in graded.keys() | grades.keys():
        here = float(Fraction(sum(units(check.max_points) for check in graded.get(name, ())), UNITS_PER_POINT))
        there = grades[name].max_score if name in grades else 0
        if name not in graded or name not in grades or here != there:
            what = f"{name} of {notebook} has {there:g} points there, and {here:g} in the results"
            raise FormatError(ANOTHER_VERSION.format(assignment=course.assignment, what=what))


def _score(grade: Any, checks: Sequence[CheckResult]) -> bool:
    """Enter the machine's points of one cell; whether a decided score changed."""
    before = grade.auto_score
    verdicts = {check.verdict for check in checks}
    waits = bool(verdicts & UNDECIDED.keys())
    # A cell of which nothing is decided has no score yet; one that waits in part has that of the rest.
    undecided = waits and verdicts <= UNDECIDED.keys()
    grade.auto_score = None if undecided or "grader_error" in verdicts else points([check.points for check in checks])
    if grade.manual_score is None:
        grade.needs_manual_grade = waits
    return before is not None and before != grade.auto_score


def _comment(submitted: Any, checks: Sequence[CheckResult], commented: dict[str, str]) -> None:
    for comment in submitted.comments:
        its = [check for check in checks if commented.get(check.function) == comment.name and _is_said(check)]
        comment.auto_comment = comment_on(its) or None


def comment_on(checks: Sequence[CheckResult]) -> str:
    """What a student should read about checks that do not hold or wait; of several with one reason, that once."""
    paragraphs = []
    for message, its in groupby(checks, key=lambda check: check.message):
        lines = []
        for check in its:
            wording = worded(check)
            end = "" if check.title.endswith((".", "?", "!")) else "."
            lines.append(f"{wording.sign} {wording.word.capitalize()} ({points_of(check)}): {check.title}{end}")
        paragraphs.append("\n\n".join([*lines, *([message] if message else [])]))
    return "\n\n".join(paragraphs)


def points_of(check: CheckResult) -> str:
    """``0 of 0.67 points``: as short as on every page; the gradebook has all digits."""
    return f"{round(check.points, 2):g} of {round(check.max_points, 2):g} points"


def _is_said(check: CheckResult) -> bool:
    return lost(check) or (check.verdict != "passed" and bool(check.message)) or check.overruled is not None
