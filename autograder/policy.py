"""What ``course.toml`` says about marks beyond the checks: late work, more time for one person, overrides, attempts.

None of it needs a submission to be run again: `autograder.adjust` applies it to the results that are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

#: Which of several submissions of one student counts.
Attempts = Literal["last", "best"]


class Late(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What late work costs: ``per_day`` percent for every day begun after the deadline, ``cap`` percent at most.

    Within ``grace_minutes`` nothing is late; after them the days count from the deadline. ``of``: percent of what
    was earned, or of what could be. From ``nothing_after_days`` on no point counts. ``unknown_days``: as how many
    days it counts where a download only says that work is late, and not by how much; 0 leaves that to a person.
    """

    per_day: float = 0
    cap: float = 100
    grace_minutes: float = 0
    of: Literal["earned", "maximum"] = "earned"
    nothing_after_days: float | None = None
    unknown_days: int = 0


class Extension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """More time for one student: in all notebooks of the assignment, or in those that are named."""

    submission: str
    until: datetime
    notebooks: list[str] = []
    reason: str = ""


class Received(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a submission came in, where the download does not tell."""

    submission: str
    at: datetime


class Override(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Points that a person gives a check, or all checks of a function or task, whatever the grader found.

    ``points`` is what it is worth then, not what is added. ``check`` is an identifier; ``function`` and ``task`` may
    have the notebook in front, as in ``exercises.exercise3``.
    """

    submission: str
    points: float
    reason: str
    by: str = ""
    check: str | None = None
    function: str | None = None
    task: str | None = None

    @property
    def where(self) -> str:
        return self.check or self.function or self.task or ""


class Feedback(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a student's feedback page says of a check that does not hold, beside its sentence and its points.

    ``messages``: what came back, with positions and orders of magnitude and never a hidden value. ``suspects``: the
    known mistake that it most looks like. ``examples``: the student's own answer on a published input.
    ``chapter_url``: where the chapter is on the web, for links; ``{section}`` in it becomes a number such as 7.2.
    """

    messages: bool = True
    suspects: bool = True
    examples: bool = True
    chapter_url: str = ""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """All of it for one assignment; the default changes no mark."""

    deadlines: dict[str, datetime] = {}
    late: Late | None = None
    extensions: list[Extension] = []
    received: list[Received] = []
    overrides: list[Override] = []
    attempts: Attempts = "last"
    feedback: Feedback = Feedback()


#: The tables of an assignment in ``course.toml`` that make its policy.
TABLES = Policy.__struct_fields__


def faults(policy: Policy, points: Mapping[str, Mapping[str, float]]) -> Iterable[str]:
    """Sentences on what cannot be meant, each beginning with the table.

    ``points``: by notebook, the points of each ``task.function``.
    """
    for name, due in policy.deadlines.items():
        if name not in points:
            yield f"deadlines: {name!r} is none of the notebooks {', '.join(points)}"
        yield from _without_zone(f"deadlines.{name}", due)
    if policy.late is not None:
        yield from _late(policy.late)
    for extension in policy.extensions:
        where = f"extensions, {extension.submission!r}"
        yield from _without_zone(f"{where}, until", extension.until)
        unknown = [name for name in extension.notebooks if name not in points]
        if unknown:
            yield f"{where}: {', '.join(unknown)} is none of the notebooks {', '.join(points)}"
    for received in policy.received:
        yield from _without_zone(f"received, {received.submission!r}, at", received.at)
    for override in policy.overrides:
        yield from _override(override, points)
    url = policy.feedback.chapter_url
    if url and not url.startswith(("https://", "http://")):
        yield f"feedback: chapter_url is {url!r}, and should begin with https://"


def _without_zone(where: str, moment: datetime) -> Iterable[str]:
    if moment.tzinfo is None:
        yield f"{where}: {moment} has no time zone; write it as {moment.isoformat()}+03:00"


def _late(late: Late) -> Iterable[str]:
    for name in ("per_day", "cap"):
        if not 0 <= getattr(late, name) <= 100:
            yield f"late: {name} is a percentage from 0 to 100, not {getattr(late, name):g}"
    for name in ("grace_minutes", "unknown_days", "nothing_after_days"):
        if not 0 <= (getattr(late, name) or 0) <= 1_000_000:
            yield f"late: {name} must be from 0 to 1,000,000"


def _override(override: Override, points: Mapping[str, Mapping[str, float]]) -> Iterable[str]:
    where = f"overrides, {override.submission!r}"
    named = [name for name in (override.check, override.function, override.task) if name is not None]
    if len(named) != 1:
        yield f"{where}: name one of check, function and task"
        return
    if not override.reason.strip():
        yield f"{where}: give the reason; the student reads it"
    if not 0 <= override.points < math.inf or round(override.points, 4) != override.points:
        yield f"{where}: points must be from 0 up, with at most four decimals, not {override.points:.10g}"
    covered = [
        worth
        for book, own in points.items()
        for key, worth in own.items()
        if covers(override, book, *key.split(".", 1))
    ]
    if not covered:
        yield f"{where}: there is no {override.where!r} in this assignment"
    elif override.points > sum(covered):
        yield f"{where}: {override.points:g} points are more than the {sum(covered):g} of {override.where!r}"


def covers(override: Override, notebook: str, task: str, function: str, check: str | None = None) -> bool:
    """Whether an override speaks of a check, or (without one) of any check of a function."""
    if override.check is not None:
        whole = f"{notebook}.{task}.{function}"
        return override.check == check if check else override.check.startswith(f"{whole}.")
    if override.function is not None:
        return override.function in (function, f"{notebook}.{function}", f"{notebook}.{task}.{function}")
    return override.task in (task, f"{notebook}.{task}")
