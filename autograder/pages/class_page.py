"""The page for those who run the course: what needs them, the distribution, the checks, everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from autograder.spelling import clip, spell_all

#: Characters of what a row says about a submission; its page has the rest.
MAX_MESSAGE = 300
#: Verdicts that the class page has a list of submissions for.
LISTED: tuple[Verdict, ...] = ("grader_error", "timeout", "inconclusive")
#: Checks of such a verdict that are named.
MAX_NAMED = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One submission on the class page: all that is kept of it. ``named``: by verdict, the names of such checks."""

    name: str
    href: str
    score: float
    max_score: float
    late_penalty: float
    mark: float
    pending_points: float
    manual_points: float
    state: str
    message: str
    named: dict[Verdict, str] = field(default_factory=dict)


def class_page(
    kept: Iterable[Kept],
    title: str,
    hints: Mapping[str, Hint],
    unreadable: Sequence[str] = (),
    guides: Mapping[str, ByPerson] = MappingProxyType({}),
) -> str:
    """The page of a class, gone through once; ``unreadable`` names files in the folder of results that are none.

    ``guides``: by the id of a check, what a person who reads the answer looks for.
    """
    rows: list[Row] = []
    made: Counter[str] = Counter()
    counted = figures.Figures()
    for one in kept:
        result = msgspec.structs.replace(one.result, checks=in_order(one.result.checks))
        counted.add(result)
        made[_how(result)] += 1
        rows.append(_row(one.stem, result))
    whole, notebooks = counted.distribution(), counted.by_notebook()
    checks = counted.by_check()
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
            answers=counted.to_read(),
            guides=guides,
            told=[row for row in rows if row.message],
            tasks=counted.by_task(),
            several=len(notebooks) > 1,
            suspects=counted.suspects(),
            books=books,
            hardest=figures.hardest(checks),
            telling_least=figures.telling_least(checks),
            scatter=charts.scatter(checks),
            penalties=any(row.late_penalty for row in rows),
            fewest=figures.FEWEST_TO_CORRELATE,
            low=figures.LOW_DISCRIMINATION,
            hints=hints,
            made=[f"{count} made with {how}." for how, count in made.items()],
        )
    )


def _row(stem: str, result: Result) -> Row:
    named = {verdict: ids for verdict in LISTED if (ids := _named(result, verdict))}
    return Row(
        name=display_name(result.submission),
        href=quote(f"feedback/{stem}.html"),
        score=result.score,
        max_score=result.max_score,
        late_penalty=result.late_penalty,
        mark=mark_of(result),
        pending_points=result.pending_points,
        manual_points=result.manual_points,
        state="provisional" if result.provisional else "to be read" if result.manual_points else "final",
        message=clip(spell_all(result.message or ""), MAX_MESSAGE),
        named=named,
    )


def _named(result: Result, verdict: Verdict) -> str:
    """The names of the first checks that have a verdict."""
    ids = [check.id for check in result.checks if check.verdict == verdict]
    rest = f" and {len(ids) - MAX_NAMED} more" if len(ids) > MAX_NAMED else ""
    return ", ".join(ids[:MAX_NAMED]) + rest


def _with(rows: Sequence[Row], verdict: Verdict) -> list[tuple[Row, str]]:
    """The submissions that have such a verdict, each with the names of such checks."""
    return [(row, row.named[verdict]) for row in rows if verdict in row.named]


def _how(result: Result) -> str:
    """How a result was made: marks of one class should have been made alike."""
    return (
        f"kit {result.kit_version}, isolation {result.isolation}, device {result.device}, seed {result.course_seed_id}"
    )
