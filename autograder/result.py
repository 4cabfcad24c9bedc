"""The one record that grading a submission gives. Reports, CSV and pages are renderings of it.

Field names and verdicts are the interface that people script against; see README, "Results".
"""

from __future__ import annotations

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


class CheckResult(msgspec.Struct, kw_only=True):
    """One check on one submission. ``points`` is 0 unless the verdict is ``passed``."""

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


class Result(msgspec.Struct, kw_only=True):
    """Everything known about one graded submission; points are in the units of ``course.toml``.

    ``digest`` identifies what the result was made from (bytes, kit, seed, device, isolation), so that a
    second run can tell whether anything changed.
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
