"""The page that a student gets: what the mark is made of, what to look at first, and every check.

What it may show beside the sentences and points follows the course, see `autograder.pages.reveals`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from autograder.checks.follow_on import FOLLOWS
from autograder.course import RubricLine
from autograder.lab import NOT_WRITTEN
from autograder.names import display_name
from autograder.pages import words
from autograder.pages.render import Hint, environment
from autograder.pages.reveals import Reveals
from autograder.result import CheckResult, Example, is_by_person, mark_of
from autograder.results import Kept
from autograder.suspects.registry import LOOKS_LIKE
from autograder.table import points

#: Things to look at first, apart from what is not written yet. More would not be first.
MOST = 3


@dataclass(frozen=True)
class Told:
    """One check as the page tells it. ``same``: later checks of the function to which the same came back.

    ``link``: where the section ``read`` is on the web. ``example``: the student's own answer on a published input.
    """

    check: CheckResult
    said: str
    suspect: str = ""
    looks_like: str = ""
    read: str = ""
    link: str = ""
    example: Example | None = None
    rubric: Sequence[RubricLine] = ()
    same: list[CheckResult] = field(default_factory=list)


@dataclass(frozen=True)
class FunctionView:
    """One function: what needs words is open, what holds and what was not tried is folded.

    ``carried`` has what is to be said about checks that hold, and about how many of them. ``in_words``: it is no
    function, but an answer that a person reads.
    """

    name: str
    won: float
    waiting: float
    worth: float
    open: list[Told]
    holding: list[CheckResult]
    carried: dict[str, int]
    skipped: list[CheckResult]
    in_words: bool


@dataclass(frozen=True)
class Sums:
    """Points that add up: won, waiting and lost are what it is worth."""

    won: float
    waiting: float
    lost: float
    worth: float


@dataclass(frozen=True)
class TaskView:
    """One step; it is ``open`` where something in it did not come out right, and ``blank`` where nothing is written.

    ``label`` has its title too.
    """

    name: str
    label: str
    anchor: str
    functions: list[FunctionView]
    sums: Sums
    open: bool
    blank: bool


@dataclass(frozen=True)
class NotebookView:
    """One notebook. ``missing``: the one reason for which a machine graded nothing in it, or nothing."""

    name: str
    anchor: str
    tasks: list[TaskView]
    sums: Sums
    missing: str


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

    ``blank`` names the notebooks of which nothing is written. ``unanswered``: answers in words that others lack.
    ``with_others`` has for each function that only builds on what does not hold its name and the points lost in it.
    """

    first: list[First]
    later: list[str]
    unwritten: list[CheckResult]
    blank: list[str]
    unanswered: list[CheckResult]
    with_others: list[tuple[str, float]]


def feedback(kept: Kept, title: str, hints: Mapping[str, Hint], shown: Reveals | None = None) -> str:
    """The page of one submission; ``shown``: what it may show, by default all but rubrics."""
    result, shown = kept.result, shown or Reveals()
    checks = words.in_order(result.checks)
    notebooks = _notebooks(checks, hints, shown)
    absent = {view.name for view in notebooks if view.missing}
    look = look_first([check for check in checks if check.notebook not in absent], hints, shown)
    undecided = [check for check in checks if check.verdict in words.UNDECIDED]
    groups = [list(group) for _, group in groupby(undecided, lambda c: (*_function(c), c.verdict))]
    return (
        environment()
        .get_template("feedback.html.j2")
        .render(
            title=title,
            name=display_name(result.submission),
            stem=kept.stem,
            result=result,
            mark=mark_of(result),
            notebooks=notebooks,
            absent=[view for view in notebooks if view.missing],
            look=look,
            sums=_sums(checks),
            shown_above={one.where[0].id for one in look.first},
            undecided=groups,
            regrades=result.regrades,
            anchors={check.id: f"check-{i}" for i, check in enumerate(checks, 1)},
            example=next((c.id for c in [*(f.told.check for f in look.first), *checks]), "notebook.task.function.x"),
        )
    )


def look_first(checks: Sequence[CheckResult], hints: Mapping[str, Hint], shown: Reveals | None = None) -> LookFirst:
    """Per function its first lost check speaks, or the one that a mistake was named for.

    Named mistakes come first, for there is a hint to follow. Where the same came back from several functions it is
    said once.
    """
    found: dict[str, First] = {}
    unwritten: list[CheckResult] = []
    with_others: list[tuple[str, float]] = []
    begun: set[str] = set()
    for (notebook, _, function), group in groupby(checks, _function):
        its = list(group)
        if words.not_answered(its[0]):
            continue
        lost = [check for check in its if words.lost(check)]
        speaks = [check for check in lost if check.verdict != "skipped" and not follows(check)]
        if lost and not speaks:
            with_others.append((function, _lost(lost)))
        if not speaks:
            begun |= {notebook for check in its if check.verdict == "passed"}
            continue
        check = next((c for c in speaks if c.suspect), speaks[0])
        if _unwritten(check):
            unwritten.append(check)
            continue
        begun.add(notebook)
        told = tell(check, hints, shown or Reveals())
        key = told.said or check.id
        known = found.get(key, First(told, [], 0.0, 0.0))
        found[key] = First(
            known.told, [*known.where, check], points([known.lost, _lost(lost)]), points([known.worth, _worth(its)])
        )
    ordered = sorted(found.values(), key=lambda one: not one.told.suspect)
    later = [check.function for one in ordered[MOST:] for check in one.where]
    blank = [name for name in dict.fromkeys(check.notebook for check in unwritten) if name not in begun]
    if blank and not ordered:  # then it is known what the others wait for
        with_others = []
    unanswered = [check for check in checks if words.not_answered(check) and check.notebook not in blank]
    return LookFirst(ordered[:MOST], later, unwritten, blank, unanswered, with_others)


def _unwritten(check: CheckResult) -> bool:
    return (check.message or "").startswith(NOT_WRITTEN)


def follows(check: CheckResult) -> bool:
    """Whether this failure comes from another function, and goes when that one is mended."""
    return (check.message or "").startswith(FOLLOWS.partition("{")[0])


def tell(check: CheckResult, hints: Mapping[str, Hint], shown: Reveals, *, named: bool = True) -> Told:
    """What came back, and (where ``named``) what it looks like, each in its own place and as far as it is shown."""
    # The message holds the hint too, for readers of the results; here it stands apart.
    said = (check.message or "").partition(LOOKS_LIKE.partition("{")[0])[0].strip()
    may = shown.feedback
    if check.verdict == "failed" and check.overruled is None and not may.messages:
        said = ""
    told = Told(
        check,
        said,
        example=check.example if may.examples else None,
        rubric=shown.rubrics.get(check.id, ()),
    )
    if not check.suspect or not named or not may.suspects:
        return told
    hint = hints.get(check.suspect)
    if hint is None:
        return replace(told, suspect=check.suspect)
    return replace(told, suspect=check.suspect, looks_like=hint.hint, read=hint.read, link=shown.link(hint.read))


def _notebooks(every: Sequence[CheckResult], hints: Mapping[str, Hint], shown: Reveals) -> list[NotebookView]:
    views: list[NotebookView] = []
    for name, group in groupby(every, lambda check: check.notebook):
        checks = list(group)
        tasks = [
            _task(task, list(its), f"task-{len(views) + 1}-{i}", hints, shown)
            for i, (task, its) in enumerate(groupby(checks, lambda check: check.task), 1)
        ]
        views.append(NotebookView(name, f"notebook-{len(views) + 1}", tasks, _sums(checks), _missing(checks)))
    return views


def _missing(checks: Sequence[CheckResult]) -> str:
    """Why a machine graded nothing of a notebook, where one thing is all that there is to say."""
    by_machine = [check for check in checks if not is_by_person(check)]
    if any(check.verdict != "submission_error" for check in by_machine):
        return ""
    said = {check.message or "" for check in by_machine}
    return said.pop() if len(said) == 1 and len(by_machine) > 1 else ""


def _task(name: str, checks: list[CheckResult], anchor: str, hints: Mapping[str, Hint], shown: Reveals) -> TaskView:
    functions = [_view(key, list(its), hints, shown) for key, its in groupby(checks, lambda check: check.function)]
    said = [told.check for function in functions for told in function.open if words.lost(told.check)]
    left = [check for check in said if _unwritten(check) or words.not_answered(check)]
    # What only builds on something that is not written says no more than that.
    more = [check for check in said if check not in left and not (left and check.verdict == "skipped")]
    blank = bool(left) and not more and not any(check.verdict == "passed" for check in checks)
    return TaskView(words.task_name(name), words.task_label(name), anchor, functions, _sums(checks), bool(more), blank)


def _view(name: str, checks: list[CheckResult], hints: Mapping[str, Hint], shown: Reveals) -> FunctionView:
    holding = [check for check in checks if check.verdict == "passed" and check.overruled is None]
    skipped = [check for check in checks if check.verdict == "skipped"]
    rest = [check for check in checks if check not in holding and check not in skipped]
    if not rest and skipped:  # then nothing else would say why
        rest, skipped = skipped[:1], skipped[1:]
    open_ones: list[Told] = []
    for check in rest:
        last = open_ones[-1] if open_ones else None
        told = tell(check, hints, shown, named=not any(one.suspect == check.suspect for one in open_ones))
        if last and told.said and not told.suspect and (last.said, last.check.verdict) == (told.said, check.verdict):
            last.same.append(check)
        else:
            open_ones.append(told)
    carried: dict[str, int] = {}
    for check in holding:
        if check.message:
            carried[check.message] = carried.get(check.message, 0) + 1
    sums = _sums(checks)
    in_words = is_by_person(checks[0])
    return FunctionView(name, sums.won, sums.waiting, sums.worth, open_ones, holding, carried, skipped, in_words)


def _function(check: CheckResult) -> tuple[str, str, str]:
    return check.notebook, check.task, check.function


def _sums(checks: Sequence[CheckResult]) -> Sums:
    return Sums(
        won=points([check.points for check in checks]),
        waiting=_worth(check for check in checks if check.verdict in words.UNDECIDED),
        lost=_lost(check for check in checks if words.lost(check)),
        worth=_worth(checks),
    )


def _worth(checks: Iterable[CheckResult]) -> float:
    return points([check.max_points for check in checks])


def _lost(checks: Iterable[CheckResult]) -> float:
    """What was not earned; a person may have given a part of it."""
    return points([check.max_points - check.points for check in checks])
