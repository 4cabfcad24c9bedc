"""The one record that grading a submission gives. Reports, CSV and pages are renderings of it.

Field names and verdicts are the interface that people script against; see README, "Results".
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

SCHEMA = "attnlab-result/1"

Verdict = Literal[
    "passed",
    "failed",
    "submission_error",
    "timeout",
    "inconclusive",
    "pending",
    "by_person",
    "skipped",
    "grader_error",
]

#: Verdicts whose points are not decided yet and therefore stand beside the score, never in it.
WAITING_FOR_A_MACHINE = ("pending", "inconclusive")


class Student(msgspec.Struct, frozen=True, kw_only=True):
    """Who handed in, as a learning platform says it: what its lists of students can be searched for."""

    name: str
    id: str | None = None
    email: str | None = None


class Overruled(msgspec.Struct, frozen=True, kw_only=True):
    """What the grader itself found in a check to which a person gave other points."""

    verdict: Verdict
    message: str | None = None


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as a small table: `attnlab.picture.Picture` in a form that can be read back."""

    title: str
    rows: str
    columns: str
    cells: list[list[str]]
    shades: list[list[int]]
    wrong: list[list[int]] = []
    sums: list[str] = []
    off: list[int] = []


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """What came back on an input that is published: of a public check its name, the property, and the answer."""

    check: str
    sentence: str
    came_back: str
    picture: Picture | None = None


class CheckResult(msgspec.Struct, kw_only=True):
    """One check on one submission. ``points`` is 0 unless the verdict is ``passed`` or a person gave some.

    ``overruled`` is there where a person did; ``message`` then says why. ``example``: at the first failed check of a
    function, what may be shown of its answers.
    """

    id: str
    notebook: str
    task: str
    function: str
    title: str
    points: float
    max_points: float
    verdict: Verdict
    suspect: str | None = None
    message: str | None = None
    overruled: Overruled | None = None
    example: Example | None = None


class Regrade(msgspec.Struct, frozen=True, kw_only=True):
    """That some checks were run again by a later kit, and the others were found to be the same there."""

    from_kit: str
    to_kit: str
    checks: list[str]


class Result(msgspec.Struct, kw_only=True):
    """Everything known about one graded submission; points are in the units of ``course.toml``.

    ``digest`` identifies what the result was made from (bytes, kit, seed, device, isolation), so that a
    second run can tell whether anything changed.

    ``score`` is what was earned. What lateness costs stands beside it as ``late_penalty``, and ``mark`` is what is
    left and belongs in a list of marks; ``late_note`` says how it came about. ``max_score`` leaves out what is extra
    credit. ``students`` (of a group several), ``platform``, ``late``, ``received``
    and ``upload`` (it grows with the time) are what the download says.
    ``mark`` is null in results from before there were late penalties: `mark_of` reads both.
    """

    schema: str = SCHEMA
    submission: str
    assignment: str
    kit_version: str
    course_seed_id: str
    isolation: str
    device: str
    score: float
    max_score: float
    pending_points: float
    manual_points: float
    provisional: bool
    seconds: float
    cpu_seconds: float
    message: str | None
    digest: str
    checks: list[CheckResult]
    late_penalty: float = 0.0
    mark: float | None = None
    late_note: str | None = None
    late: bool = False
    received: datetime | None = None
    upload: int = 0
    platform: str | None = None
    students: list[Student] = []
    regrades: list[Regrade] = []


def mark_of(result: Result) -> float:
    """What belongs in a list of marks: the score, less what lateness costs."""
    return result.score - result.late_penalty if result.mark is None else result.mark


def spoilt(result: Result) -> bool:
    """Whether an error of the grader is in it: its mark must not be given out."""
    return any(check.verdict == "grader_error" for check in result.checks)


def is_by_person(check: CheckResult) -> bool:
    """Whether it is an answer in words that a person marks, also where there was nothing to mark."""
    return check.id.endswith(".by_person")
