"""From what the grader found to the mark: a person's overrides, then what lateness costs.

Applied to a result that is there, as often as wanted: what the grader itself found stays in the result, so that a
changed policy starts from it again. Points are whole ten-thousandths throughout, as in `autograder.marks`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import msgspec

from autograder.course import UNITS_PER_POINT, Course, CourseError, units
from autograder.discover import Handed
from autograder.marks import shares, total
from autograder.names import display_name
from autograder.policy import Late, Override, Policy, covers
from autograder.result import CheckResult, Overruled, Result, mark_of
from autograder.results import Kept, only_grader, read_all, write
from autograder.table import number

DAY = timedelta(days=1)

GIVEN = "A person gave {points} of {most} points here{by}: {reason}"
LATE = "Handed in {how_late} after the deadline{of}, which costs {cost}: the mark is {mark}."
LATE_AND_FREE = "Handed in {how_late} after the deadline{of}, which costs nothing."
HOW_LATE_UNKNOWN = (
    "Handed in late, as its download says, which does not say by how much. Nothing was taken off; a person decides."
)


def settle(result: Result, course: Course, handed: Handed | None = None) -> Result:
    """The result with the course's policy applied; ``handed`` is what the download says about it, where it is known.

    `CourseError` where an override names a check that is not there, or gives more points than it is worth.
    """
    facts = {
        "late": handed.late if handed else result.late,
        "received": handed.received if handed else result.received,
        "upload": max((piece.order for piece in handed.pieces), default=0) if handed else result.upload,
        "platform": handed.platform if handed else result.platform,
        "students": list(handed.students) if handed else result.students,
    }
    checks = [as_found(check) for check in result.checks]
    mine = [one for one in course.policy.overrides if one.submission == result.submission]
    for override in mine:
        checks = _overridden(checks, override)
    sums = total(checks, course)._asdict()
    settled = msgspec.structs.replace(result, checks=checks, **sums, **facts)
    penalty, note = _penalty(settled, course)
    message = _without(result.message, result.late_note)
    return msgspec.structs.replace(
        settled,
        late_penalty=penalty / UNITS_PER_POINT,
        mark=(units(settled.score) - penalty) / UNITS_PER_POINT,
        late_note=note,
        message=" ".join(part for part in (message, note) if part) or None,
    )


def bring_up_to_date(out: Path, course: Course) -> list[str]:
    """Apply the policy as it is now to every result of a folder; a sentence for each mark that it changes.

    `CourseError` where it cannot be applied, and `FolderError` where a result cannot be written, or a grader is at
    work in the folder and something would have to be.
    """
    kept, _ = read_all(out)
    sentences = unused(course.policy, kept.names)
    # To the end, so that what cannot be applied to one of them is known before any is written.
    if not sum(1 for _ in _moved(kept, course)):
        return sentences
    with only_grader(out):
        # Read again: a grader that was at work until now may have put newer results there.
        for one, result in _moved(read_all(out)[0], course):
            write(out, one.stem, result)
            before, after = mark_of(one.result), mark_of(result)
            if before != after:
                name = display_name(result.submission)
                sentences.append(f"{name}: {number(before)} becomes {number(after)} by what course.toml says now.")
    return sentences


def _moved(kept: Iterable[Kept], course: Course) -> Iterator[tuple[Kept, Result]]:
    """What the policy changes, each with what becomes of it."""
    for one in kept:
        result = settle(one.result, course)
        if result != one.result:
            yield one, result


def unused(policy: Policy, names: Iterable[str]) -> list[str]:
    """Sentences on what the policy says about submissions that are not among these."""
    there = set(names)
    named = [one.submission for one in policy.overrides]
    named += [*(one.submission for one in policy.extensions), *(one.submission for one in policy.received)]
    lost = dict.fromkeys(name for name in named if name not in there)
    return [f"course.toml speaks of a submission {name!r}, and there is no result of that name." for name in lost]


# ---------------------------------------------------------------- overrides


def as_found(check: CheckResult) -> CheckResult:
    """A check as the grader left it."""
    verdict, message = check.verdict, check.message
    if check.overruled is not None:
        verdict, message = check.overruled.verdict, check.overruled.message
    points = check.max_points if verdict == "passed" else 0.0
    return msgspec.structs.replace(check, verdict=verdict, message=message, points=points, overruled=None)


def _overridden(checks: Sequence[CheckResult], override: Override) -> list[CheckResult]:
    chosen = [i for i, c in enumerate(checks) if covers(override, c.notebook, c.task, c.function, c.id)]
    where = f"course.toml: overrides, {override.submission!r}"
    if not chosen and any(check.verdict == "grader_error" for check in checks):
        # The grader broke off before it had this check; the next run has it, and the override with it.
        return list(checks)
    if not chosen:
        near = difflib.get_close_matches(override.where, [c.id for c in checks], n=3, cutoff=0.4)
        hint = f" Near ones: {', '.join(near)}." if near else ""
        raise CourseError(f"{where}: there is no check {override.where!r} in this result.{hint}")
    most = sum(units(checks[i].max_points) for i in chosen)
    given = units(override.points)
    if given > most:
        raise CourseError(
            f"{where}: {override.points:g} points are more than the {number(most / UNITS_PER_POINT)} that "
            f"{override.where!r} is worth."
        )
    result = list(checks)
    for i, share in zip(chosen, shares(override.points, tuple(checks[i].max_points for i in chosen)), strict=True):
        result[i] = _given(checks[i], share, override)
    return result


def _given(check: CheckResult, share: int, override: Override) -> CheckResult:
    """A check with a person's points. The grader's own word on it stays readable behind the person's."""
    points = share / UNITS_PER_POINT
    said = GIVEN.format(
        points=number(points),
        most=number(check.max_points),
        by=f" ({override.by})" if override.by else "",
        reason=override.reason.strip(),
    )
    before = check.overruled or Overruled(verdict=check.verdict, message=check.message)
    return msgspec.structs.replace(
        check,
        points=points,
        verdict="passed" if share == units(check.max_points) else "failed",
        message=f"{said} The grader had said: {before.message}" if before.message else said,
        overruled=before,
    )


# ---------------------------------------------------------------- late work


def _penalty(result: Result, course: Course) -> tuple[int, str | None]:
    """What lateness costs in ten-thousandths of a point, and the sentence that says so."""
    policy = course.policy
    received = _received(result, policy)
    if received is None and not result.late:
        return 0, None
    earned = {name: _earned(result.checks, name) for name in course.notebooks}
    most = {name: _earned(result.checks, name, most=True) for name in course.notebooks}
    late = policy.late or Late()
    if received is None:
        if not late.unknown_days or any(one.submission == result.submission for one in policy.extensions):
            return 0, HOW_LATE_UNKNOWN
        by = dict.fromkeys(course.notebooks, late.unknown_days * DAY)
        how_late = f"late (taken for {_days(late.unknown_days)})"
    else:
        by = {name: received - due for name in course.notebooks if (due := _due(result.submission, name, policy))}
        by = {name: lateness for name, lateness in by.items() if lateness > timedelta(minutes=late.grace_minutes)}
        if not by:
            return 0, None
        how_late = ""
    cost = sum(min(earned[name], _cost(late, lateness, earned[name], most[name])) for name, lateness in by.items())
    whole = sum(earned.values())
    of = "" if len(by) == len(course.notebooks) else f" of {', '.join(by)}"
    longest = how_late or _long(max(by.values()))
    if not cost:
        return 0, LATE_AND_FREE.format(how_late=longest, of=of)
    points = f"{number(cost / UNITS_PER_POINT)} of {number(whole / UNITS_PER_POINT)} points"
    rest = number((whole - cost) / UNITS_PER_POINT)
    return cost, LATE.format(how_late=longest, of=of, cost=points, mark=rest)


def _cost(late: Late, lateness: timedelta, earned: int, most: int) -> int:
    """Of one notebook, rounded down: in favour of the student."""
    days = -(-lateness // DAY)
    percent = min(Fraction(repr(late.per_day)) * days, Fraction(repr(late.cap)))
    if late.nothing_after_days is not None and lateness > late.nothing_after_days * DAY:
        return earned
    return math.floor((earned if late.of == "earned" else most) * percent / 100)


def _due(submission: str, notebook: str, policy: Policy) -> datetime | None:
    """When a student's notebook is due; of several extensions the longest."""
    due = policy.deadlines.get(notebook)
    longer = [
        one.until
        for one in policy.extensions
        if one.submission == submission and (not one.notebooks or notebook in one.notebooks)
    ]
    return max((due, *longer)) if due is not None else None


def _received(result: Result, policy: Policy) -> datetime | None:
    told = [one.at for one in policy.received if one.submission == result.submission]
    return told[-1] if told else result.received


def _earned(checks: Sequence[CheckResult], notebook: str, *, most: bool = False) -> int:
    return sum(units(c.max_points if most else c.points) for c in checks if c.notebook == notebook)


def _long(lateness: timedelta) -> str:
    """How long, in the two largest units, rounded up to whole minutes."""
    minutes = math.ceil(lateness / timedelta(minutes=1))
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    parts = [_days(days)] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes and not days else []
    return " ".join(parts)


def _days(count: int) -> str:
    return f"{count} {'day' if count == 1 else 'days'}"


def _without(message: str | None, note: str | None) -> str | None:
    """A message as it was before the sentence on lateness was put behind it."""
    if message is None or note is None:
        return message
    return message.removesuffix(note).rstrip() or None
