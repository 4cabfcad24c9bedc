"""A result as a feedback page, and a class as one page: self-contained, without scripts, all text escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median
from typing import Any, Protocol
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.names import display_name
from autograder.pages import figures, words
from autograder.result import CheckResult, Result, Verdict
from autograder.results import Kept
from autograder.spelling import clip, spell
from autograder.table import number, points

#: Characters of a message on a page; the result has all of it.
MAX_MESSAGE = 1500


class Hint(Protocol):
    """What a page says about a suspect: a sentence, and the place in the chapter."""

    @property
    def hint(self) -> str: ...
    @property
    def read(self) -> str: ...


@dataclass(frozen=True)
class TaskView:
    """One step of a feedback page; ``functions`` keeps the order of display."""

    name: str
    anchor: str
    functions: dict[str, list[CheckResult]]
    won: float
    worth: float
    waiting: float


@dataclass(frozen=True)
class Row:
    """One submission on the class page."""

    name: str
    href: str
    result: Result
    state: str
    checks: str = ""


@cache
def environment() -> Environment:
    # Every template is escaped, whatever its ending; a misspelt name is an error, not an empty place.
    env = Environment(
        loader=PackageLoader("autograder.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters["number"] = number
    env.filters["total"] = lambda values: points(list(values))
    env.filters["task"] = words.task_name
    env.filters["short"] = lambda text, length=MAX_MESSAGE: clip(spell(text), length)
    env.filters["prose"] = prose
    env.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.0f} %"
    env.filters["signed"] = lambda value: "–" if value is None else f"{value:+.2f}".replace("-", "−")
    env.globals["wording"] = words.WORDING
    env.globals["why"] = words.UNDECIDED
    return env


def prose(text: str) -> Markup:
    """Escaped text with what stands between two backticks as code; a lone backtick stays as it is."""
    pieces = re.split(r"`([^`\n]{1,80})`", text)
    # Every second piece was between backticks.
    return Markup().join(Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(pieces))


def feedback(kept: Kept, title: str, hints: Mapping[str, Hint]) -> str:
    """The page that a student gets."""
    result = kept.result
    tasks = _tasks(result)
    first = words.look_first(result.checks)
    undecided: dict[tuple[str, ...], list[CheckResult]] = {}
    for check in result.checks:
        if check.verdict in words.UNDECIDED:
            key = (check.notebook, check.task, check.function, check.verdict)
            undecided.setdefault(key, []).append(check)
    return (
        environment()
        .get_template("feedback.html.j2")
        .render(
            title=title,
            name=display_name(result.submission),
            stem=kept.stem,
            result=result,
            tasks=tasks,
            first=first,
            undecided=list(undecided.values()),
            waiting=points([check.max_points for group in undecided.values() for check in group]),
            lost_points=points([c.max_points for c in result.checks if words.lost(c)]),
            anchors={check.id: f"check-{i}" for i, check in enumerate(result.checks, 1)},
            example=next((c.id for c in [*first, *result.checks]), "notebook.task.function.property"),
            hints=hints,
        )
    )


def class_page(kept: Sequence[Kept], title: str, hints: Mapping[str, Hint], unreadable: Sequence[str] = ()) -> str:
    """The page for those who run the course."""
    rows = [_row(one) for one in kept]
    scores = [one.result.score for one in kept]
    bars = figures.distribution(kept)
    return (
        environment()
        .get_template("class.html.j2")
        .render(
            title=title,
            kept=rows,
            unreadable=unreadable,
            median=median(scores) if scores else 0.0,
            mean=fmean(scores) if scores else 0.0,
            full=max((one.result.max_score for one in kept), default=0.0),
            errors=_with(rows, "grader_error"),
            timeouts=_with(rows, "timeout"),
            inconclusive=_with(rows, "inconclusive"),
            answers=figures.to_read(kept),
            told=[row for row in rows if row.result.message],
            bars=bars,
            chart=_chart(bars),
            tasks=figures.by_task(kept),
            several=len({check.notebook for one in kept for check in one.result.checks}) > 1,
            suspects=figures.suspects(kept),
            checks=figures.by_check(kept),
            fewest=figures.FEWEST_TO_CORRELATE,
            hints=hints,
            made=_made(kept),
        )
    )


def _tasks(result: Result) -> list[TaskView]:
    grouped: dict[tuple[str, str], dict[str, list[CheckResult]]] = {}
    for check in result.checks:
        grouped.setdefault((check.notebook, check.task), {}).setdefault(check.function, []).append(check)
    several = len({notebook for notebook, _ in grouped}) > 1
    views = []
    for i, ((notebook, task), functions) in enumerate(grouped.items(), 1):
        checks = [check for group in functions.values() for check in group]
        views.append(
            TaskView(
                name=words.task_name(task) + (f" ({notebook})" if several else ""),
                anchor=f"task-{i}",
                functions=functions,
                won=points([check.points for check in checks]),
                worth=points([check.max_points for check in checks]),
                waiting=points([c.max_points for c in checks if c.verdict in words.UNDECIDED]),
            )
        )
    return views


def _row(kept: Kept, checks: str = "") -> Row:
    return Row(
        name=display_name(kept.result.submission),
        href=quote(f"feedback/{kept.stem}.html"),
        result=kept.result,
        state="provisional"
        if kept.result.provisional
        else "final but for a person's points"
        if kept.result.manual_points
        else "final",
        checks=checks,
    )


def _with(rows: Sequence[Row], verdict: Verdict, most: int = 4) -> list[Row]:
    """The submissions that have such a verdict, each with the names of the first such checks."""
    found = []
    for row in rows:
        ids = [check.id for check in row.result.checks if check.verdict == verdict]
        if ids:
            rest = f" and {len(ids) - most} more" if len(ids) > most else ""
            found.append(Row(row.name, row.href, row.result, row.state, ", ".join(ids[:most]) + rest))
    return found


def _made(kept: Sequence[Kept]) -> list[str]:
    """How many results were made how: marks of one class should have been made alike."""
    groups: dict[str, int] = {}
    for one in kept:
        r = one.result
        how = f"kit {r.kit_version}, isolation {r.isolation}, device {r.device}, seed {r.course_seed_id}"
        groups[how] = groups.get(how, 0) + 1
    return [f"{count} made with {how}." for how, count in groups.items()]


def _chart(bars: Sequence[figures.Bar]) -> dict[str, Any]:
    """The distribution in units of the drawing, 640 wide; the tallest bar is 140 high."""
    left, width, base, tallest = 20, 60, 180, 140
    most = max((bar.count for bar in bars), default=0) or 1
    shapes = [
        {
            "x": left + width * i,
            "y": base - round(tallest * bar.count / most),
            "width": width - 6,
            "height": round(tallest * bar.count / most),
            "middle": left + width * i + (width - 6) // 2,
            "count": bar.count,
            "low": bar.low,
        }
        for i, bar in enumerate(bars)
    ]
    right = left + width * len(bars)
    return {
        "width": 640,
        "height": 222,
        "left": left,
        "right": right,
        "base": base,
        "middle": (left + right) // 2,
        "bars": shapes,
    }
