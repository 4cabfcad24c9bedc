"""The page for those who run the course: what needs them, the distribution, the checks, everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import quote

import msgspec

from autograder.course import ByPerson
from autograder.names import display_name
from autograder.pages import charts, figures
from autograder.pages.render import Hint, environment
from autograder.pages.words import in_order
from autograder.result import Result, Verdict, mark_of
from autograder.results import Kept


@dataclass(frozen=True)
class Row:
    """One submission on the class page."""

    name: str
    href: str
    result: Result
    mark: float
    state: str
    checks: str = ""


def class_page(
    kept: Sequence[Kept],
    title: str,
    hints: Mapping[str, Hint],
    unreadable: Sequence[str] = (),
    guides: Mapping[str, ByPerson] = MappingProxyType({}),
) -> str:
    """The page of a class; ``unreadable`` names files in the folder of results that are none.

    ``guides``: by the id of a check, what a person who reads the answer looks for.
    """
    kept = [Kept(one.stem, msgspec.structs.replace(one.result, checks=in_order(one.result.checks))) for one in kept]
    rows = [_row(one) for one in kept]
    whole, notebooks = figures.distribution(kept), figures.by_notebook(kept)
    checks = figures.by_check(kept)
    books: dict[str, dict[str, list[figures.CheckFigures]]] = {}
    for check in checks:
        books.setdefault(check.check.notebook, {}).setdefault(check.check.task, []).append(check)
    return (
        environment()
        .get_template("class.html.j2")
        .render(
            title=title,
            kept=rows,
            unreadable=unreadable,
            whole=whole,
            chart=charts.histogram(whole),
            small=[(one, charts.histogram(one, height=280)) for one in notebooks] if len(notebooks) > 1 else [],
            errors=_with(rows, "grader_error"),
            timeouts=_with(rows, "timeout"),
            inconclusive=_with(rows, "inconclusive"),
            answers=figures.to_read(kept),
            guides=guides,
            told=[row for row in rows if row.result.message],
            tasks=figures.by_task(kept),
            several=len(notebooks) > 1,
            suspects=figures.suspects(kept),
            books=books,
            hardest=figures.hardest(checks),
            telling_least=figures.telling_least(checks),
            scatter=charts.scatter(checks),
            penalties=any(one.result.late_penalty for one in kept),
            fewest=figures.FEWEST_TO_CORRELATE,
            low=figures.LOW_DISCRIMINATION,
            hints=hints,
            made=_made(kept),
        )
    )


def _row(kept: Kept) -> Row:
    return Row(
        name=display_name(kept.result.submission),
        href=quote(f"feedback/{kept.stem}.html"),
        result=kept.result,
        mark=mark_of(kept.result),
        state="provisional" if kept.result.provisional else "to be read" if kept.result.manual_points else "final",
    )


def _with(rows: Sequence[Row], verdict: Verdict, most: int = 4) -> list[Row]:
    """The submissions that have such a verdict, each with the names of the first such checks."""
    found = []
    for row in rows:
        ids = [check.id for check in row.result.checks if check.verdict == verdict]
        if ids:
            rest = f" and {len(ids) - most} more" if len(ids) > most else ""
            found.append(replace(row, checks=", ".join(ids[:most]) + rest))
    return found


def _made(kept: Sequence[Kept]) -> list[str]:
    """How many results were made how: marks of one class should have been made alike."""
    groups: dict[str, int] = {}
    for one in kept:
        r = one.result
        how = f"kit {r.kit_version}, isolation {r.isolation}, device {r.device}, seed {r.course_seed_id}"
        groups[how] = groups.get(how, 0) + 1
    return [f"{count} made with {how}." for how, count in groups.items()]
