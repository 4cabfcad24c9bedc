"""Verdicts in words and signs, the same on pages and on a terminal. A sign never stands without its word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from attnlab.steps import BY_ID
from autograder.result import CheckResult, Verdict, is_by_person


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

#: In the place of a verdict: what nobody answered is not wrong, and where a person gave points that person decided.
NOT_ANSWERED = Wording("!", "not answered", "bad")
MARKED = Wording("✎", "marked by a person", "good")
MARKED_WITH_NOTHING = Wording("✎", "marked by a person", "bad")

#: Why points of these verdicts are neither won nor lost.
UNDECIDED: dict[Verdict, str] = {
    "pending": "This needs a GPU, and the machine that graded had none. A later run completes it.",
    "inconclusive": "The measurement was too noisy to tell. That costs nothing; the course can repeat it.",
    "by_person": "A person reads this answer.",
    "grader_error": "The grader made an error here, not the student. The mark waits until it is repaired.",
}

#: Verdicts that cost points.
LOST: tuple[Verdict, ...] = ("failed", "submission_error", "timeout", "skipped")


def worded(check: CheckResult) -> Wording:
    """What became of one check, in words and a sign."""
    if check.overruled is not None:
        return MARKED if check.points else MARKED_WITH_NOTHING
    return NOT_ANSWERED if not_answered(check) else WORDING[check.verdict]


def not_answered(check: CheckResult) -> bool:
    """Whether this is an answer in words that was left as it was handed out."""
    return is_by_person(check) and check.verdict == "failed" and check.overruled is None


def task_name(task: str) -> str:
    """``step1`` as "Step 1"; a part that is called by a name and not by a number has its title."""
    if task in BY_ID and not re.search(r"\d", task):
        return BY_ID[task].title
    spaced = re.sub(r"(?<=[a-z])(?=\d)", " ", task.replace("_", " "))
    return spaced[:1].upper() + spaced[1:]


def task_label(task: str) -> str:
    """The name with the title behind it, for a heading: ``step1`` as "Step 1. Scaled dot-product attention"."""
    name = task_name(task)
    return f"{name}. {BY_ID[task].title}" if task in BY_ID and BY_ID[task].title != name else name


def in_order(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Checks with the tasks of each notebook as they are met: ``exercise2`` before ``exercise10``.

    A notebook whose tasks have names and not numbers stays as it is.
    """
    ordered: list[CheckResult] = []
    for _, group in groupby(checks, lambda check: check.notebook):
        its = list(group)
        if all(re.search(r"\d+$", check.task) for check in its):
            its.sort(key=lambda check: int(re.sub(r"\D", "", check.task)))
        ordered += its
    return ordered


def lost(check: CheckResult) -> bool:
    return check.verdict in LOST and check.max_points > 0
