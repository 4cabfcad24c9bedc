"""The page for those who run the course: what needs them, the distribution, the checks, everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median
from typing import Any
from urllib.parse import quote

from autograder.names import display_name
from autograder.pages import figures
from autograder.pages.render import Hint, environment
from autograder.result import Result, Verdict
from autograder.results import Kept


@dataclass(frozen=True)
class Row:
    """One submission on the class page."""

    name: str
    href: str
    result: Result
    state: str
    checks: str = ""


def class_page(kept: Sequence[Kept], title: str, hints: Mapping[str, Hint], unreadable: Sequence[str] = ()) -> str:
    """The page of a class; ``unreadable`` names files in the folder of results that are none."""
    rows = [_row(one) for one in kept]
    scores = [one.result.score for one in kept]
    bars = figures.distribution(kept)
    checks = figures.by_check(kept)
    steps = [(key, list(group)) for key, group in groupby(checks, lambda one: (one.check.notebook, one.check.task))]
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
            steps=steps,
            fewest=figures.FEWEST_TO_CORRELATE,
            hints=hints,
            made=_made(kept),
        )
    )


def _row(kept: Kept, checks: str = "") -> Row:
    return Row(
        name=display_name(kept.result.submission),
        href=quote(f"feedback/{kept.stem}.html"),
        result=kept.result,
        state="provisional" if kept.result.provisional else "to be read" if kept.result.manual_points else "final",
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
