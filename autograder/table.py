"""``grades.csv``: one row per submission, one column per task, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from autograder.course import UNITS_PER_POINT
from autograder.result import Result, mark_of
from autograder.spelling import spell

COLUMNS = ("submission", "score", "max_score", "pending_points", "manual_points", "provisional")
#: At the end, where somebody was late and it cost points.
LATE_COLUMNS = ("late_penalty", "mark")


class _Row(NamedTuple):
    """What a row needs of a result; ``won`` are ten-thousandths of a point by task."""

    submission: str
    numbers: tuple[float, float, float, float]
    provisional: bool
    late: tuple[float, float]
    won: array[int]


def grades(results: Iterable[Result]) -> str:
    """The text of the table. A column is named by its task; by its notebook too where two share a name.

    ``score`` is before a late penalty; where anybody has one, it and the mark that is left are the last columns.
    """
    places: dict[tuple[str, str], int] = {}
    rows = [_row(result, places) for result in results]
    late = LATE_COLUMNS if any(row.late[0] for row in rows) else ()
    names = [task for _, task in places]
    heads = [f"{book}.{task}" if names.count(task) > 1 else task for book, task in places]
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow([harmless(cell) for cell in [*COLUMNS, *heads, *late]])
    for row in rows:
        nothing = [0] * (len(places) - len(row.won))
        table.writerow(
            [
                harmless(row.submission),
                *map(number, row.numbers),
                "true" if row.provisional else "false",
                *(number(won / UNITS_PER_POINT) for won in [*row.won, *nothing]),
                *(map(number, row.late) if late else ()),
            ]
        )
    return text.getvalue()


def _row(result: Result, places: dict[tuple[str, str], int]) -> _Row:
    """``places``: the column of each task that was met so far."""
    won: dict[int, int] = {}
    for check in result.checks:
        place = places.setdefault((check.notebook, check.task), len(places))
        won[place] = won.get(place, 0) + round(check.points * UNITS_PER_POINT)
    return _Row(
        result.submission,
        (result.score, result.max_score, result.pending_points, result.manual_points),
        result.provisional,
        (result.late_penalty, mark_of(result)),
        array("q", (won.get(place, 0) for place in range(len(places)))),
    )


def points(parts: Sequence[float]) -> float:
    """The sum of shown points, added in ten-thousandths so that it is exact."""
    return sum(round(part * UNITS_PER_POINT) for part in parts) / UNITS_PER_POINT


def number(value: float) -> str:
    """Points with up to four decimals and no trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what would start one.

    Some programs skip leading spaces and what has no width, and read the full-width forms of the signs in East Asian
    text as signs.
    """
    shown = next((character for character in cell if unicodedata.category(character) not in ("Zs", "Cf")), "")
    start = unicodedata.normalize("NFKC", shown)
    return f"'{spell(cell)}" if start in ("=", "+", "-", "@", "\t", "\r", "\n") else spell(cell)
