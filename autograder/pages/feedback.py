"""The page that a student gets: what the mark is made of, what to look at first, and every check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from autograder.checks.follow_on import FOLLOWS
from autograder.lab import NOT_WRITTEN
from autograder.names import display_name
from autograder.pages import words
from autograder.pages.render import Hint, environment
from autograder.result import CheckResult, Result
from autograder.results import Kept
from autograder.suspects.registry import LOOKS_LIKE
from autograder.table import points

#: Things to look at first, apart from what is not written yet. More would not be first.
MOST = 3


@dataclass(frozen=True)
class Told:
    """One check as the page tells it. ``same``: later checks of the function to which the same came back."""

    check: CheckResult
    said: str
    suspect: str = ""
    looks_like: str = ""
    read: str = ""
    same: list[CheckResult] = field(default_factory=list)


@dataclass(frozen=True)
class FunctionView:
    """One function: what needs words is open, what holds and what was not tried is folded.

    ``carried`` has what is to be said about checks that hold, and about how many of them.
    """

    name: str
    won: float
    waiting: float
    worth: float
    open: list[Told]
    holding: list[CheckResult]
    carried: dict[str, int]
    skipped: list[CheckResult]


@dataclass(frozen=True)
class TaskView:
    """One step; won, waiting and lost points add up to what it is worth."""

    name: str
    anchor: str
    functions: list[FunctionView]
    won: float
    waiting: float
    lost: float
    worth: float


@dataclass(frozen=True)
class First:
    """Something to look at first: ``where`` has a check of one function, or of several to which the same came back.

    Together they are worth ``worth`` points, of which ``lost`` were not earned.
    """

    told: Told
    where: list[CheckResult]
    lost: float
    worth: float


@dataclass(frozen=True)
class LookFirst:
    """What to look at first, and what that leaves: functions for later, unwritten ones, and those lost with others.

    ``with_others`` has for each function that only builds on what does not hold its name and the points lost in it.
    """

    first: list[First]
    later: list[str]
    unwritten: list[CheckResult]
    with_others: list[tuple[str, float]]
    everything: bool


def feedback(kept: Kept, title: str, hints: Mapping[str, Hint]) -> str:
    """The page of one submission."""
    result = kept.result
    look = look_first(result.checks, hints)
    undecided = [check for check in result.checks if check.verdict in words.UNDECIDED]
    groups = [list(group) for _, group in groupby(undecided, lambda c: (*_function(c), c.verdict))]
    return (
        environment()
        .get_template("feedback.html.j2")
        .render(
            title=title,
            name=display_name(result.submission),
            stem=kept.stem,
            result=result,
            tasks=_tasks(result, hints),
            look=look,
            undecided=groups,
            waiting=_worth(undecided),
            lost=_worth(check for check in result.checks if words.lost(check)),
            anchors={check.id: f"check-{i}" for i, check in enumerate(result.checks, 1)},
            example=next(
                (c.id for c in [*(f.told.check for f in look.first), *result.checks]), "notebook.task.function.x"
            ),
        )
    )


def look_first(checks: Sequence[CheckResult], hints: Mapping[str, Hint]) -> LookFirst:
    """Per function its first lost check speaks, or the one that a mistake was named for.

    Named mistakes come first, for there is a hint to follow. Where the same came back from several functions it is
    said once.
    """
    found: dict[str, First] = {}
    unwritten: list[CheckResult] = []
    with_others: list[tuple[str, float]] = []
    for (_, _, function), group in groupby(checks, _function):
        its = list(group)
        lost = [check for check in its if words.lost(check)]
        speaks = [check for check in lost if check.verdict != "skipped" and not follows(check)]
        if lost and not speaks:
            with_others.append((function, _worth(lost)))
        if not speaks:
            continue
        check = next((c for c in speaks if c.suspect), speaks[0])
        if (check.message or "").startswith(NOT_WRITTEN):
            unwritten.append(check)
            continue
        told = tell(check, hints)
        key = told.said or check.id
        known = found.get(key, First(told, [], 0.0, 0.0))
        found[key] = First(
            known.told, [*known.where, check], points([known.lost, _worth(lost)]), points([known.worth, _worth(its)])
        )
    ordered = sorted(found.values(), key=lambda one: not one.told.suspect)
    later = [check.function for one in ordered[MOST:] for check in one.where]
    won = any(check.verdict == "passed" for check in checks)
    everything = not won and not unwritten and len(ordered) == 1 and len(ordered[0].where) > 1
    return LookFirst(ordered[:MOST], later, unwritten, with_others, everything)


def follows(check: CheckResult) -> bool:
    """Whether this failure comes from another function, and goes when that one is mended."""
    return (check.message or "").startswith(FOLLOWS.partition("{")[0])


def tell(check: CheckResult, hints: Mapping[str, Hint], *, named: bool = True) -> Told:
    """What came back, and (where ``named``) what it looks like, each in its own place."""
    # The message holds the hint too, for readers of the results; here it stands apart.
    said = (check.message or "").partition(LOOKS_LIKE.partition("{")[0])[0].strip()
    if not check.suspect or not named:
        return Told(check, said)
    hint = hints.get(check.suspect)
    return Told(check, said, check.suspect, hint.hint if hint else "", hint.read if hint else "")


def _tasks(result: Result, hints: Mapping[str, Hint]) -> list[TaskView]:
    grouped = [(key, list(group)) for key, group in groupby(result.checks, lambda c: (c.notebook, c.task))]
    several = len({notebook for (notebook, _), _ in grouped}) > 1
    return [
        TaskView(
            name=words.task_name(task) + (f" ({notebook})" if several else ""),
            anchor=f"task-{i}",
            functions=[_view(name, list(its), hints) for name, its in groupby(checks, lambda c: c.function)],
            won=points([check.points for check in checks]),
            waiting=_worth(check for check in checks if check.verdict in words.UNDECIDED),
            lost=_worth(check for check in checks if words.lost(check)),
            worth=_worth(checks),
        )
        for i, ((notebook, task), checks) in enumerate(grouped, 1)
    ]


def _view(name: str, checks: list[CheckResult], hints: Mapping[str, Hint]) -> FunctionView:
    holding = [check for check in checks if check.verdict == "passed"]
    skipped = [check for check in checks if check.verdict == "skipped"]
    rest = [check for check in checks if check.verdict not in ("passed", "skipped")]
    if not rest and skipped:  # then nothing else would say why
        rest, skipped = skipped[:1], skipped[1:]
    open_ones: list[Told] = []
    for check in rest:
        last = open_ones[-1] if open_ones else None
        told = tell(check, hints, named=not any(one.suspect == check.suspect for one in open_ones))
        if last and told.said and not told.suspect and (last.said, last.check.verdict) == (told.said, check.verdict):
            last.same.append(check)
        else:
            open_ones.append(told)
    carried: dict[str, int] = {}
    for check in holding:
        if check.message:
            carried[check.message] = carried.get(check.message, 0) + 1
    won = points([check.points for check in checks])
    waiting = _worth(check for check in checks if check.verdict in words.UNDECIDED)
    return FunctionView(name, won, waiting, _worth(checks), open_ones, holding, carried, skipped)


def _function(check: CheckResult) -> tuple[str, str, str]:
    return check.notebook, check.task, check.function


def _worth(checks: Iterable[CheckResult]) -> float:
    return points([check.max_points for check in checks])
