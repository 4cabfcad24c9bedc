"""Verdicts in words and signs, the same on pages and on a terminal. A sign never stands without its word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.result import CheckResult, Verdict


@dataclass(frozen=True)
class Wording:
    """``kind`` is one of good, bad, waiting, ours: it chooses a colour, which adds nothing to the word."""

    sign: str
    word: str
    kind: str


WORDING: dict[Verdict, Wording] = {
    "passed": Wording("✓", "holds", "good"),
    "failed": Wording("✗", "does not hold", "bad"),
    "submission_error": Wording("!", "no answer", "bad"),
    "timeout": Wording("⧗", "took too long", "bad"),
    "skipped": Wording("↷", "not looked at", "bad"),
    "inconclusive": Wording("≈", "could not be told", "waiting"),
    "pending": Wording("…", "waits for a GPU", "waiting"),
    "by_person": Wording("✎", "waits for a person", "waiting"),
    "grader_error": Wording("⚠", "error of the grader", "ours"),
}

#: Why points of these verdicts are neither won nor lost.
UNDECIDED: dict[Verdict, str] = {
    "pending": "This needs a GPU, and the machine that graded had none. A later run completes it.",
    "inconclusive": "The measurement was too noisy to tell. That costs nothing; the course can repeat it.",
    "by_person": "A person reads this answer.",
    "grader_error": "The grader made an error here, not the student. The mark waits until it is repaired.",
}

#: Verdicts that cost points.
LOST: tuple[Verdict, ...] = ("failed", "submission_error", "timeout", "skipped")


def task_name(task: str) -> str:
    """``step1`` as "Step 1"; a part that has no number keeps its name."""
    spaced = re.sub(r"(?<=[a-z])(?=\d)", " ", task.replace("_", " "))
    return spaced[:1].upper() + spaced[1:]


def lost(check: CheckResult) -> bool:
    return check.verdict in LOST and check.max_points > 0
