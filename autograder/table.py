"""``grades.csv``: one row per submission, one column per task, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence

from autograder.course import UNITS_PER_POINT
from autograder.result import Result, mark_of
from autograder.spelling import spell

COLUMNS = ("submission", "score", "max_score", "pending_points", "manual_points", "provisional")
#: At the end, where somebody was late and it cost points.
LATE_COLUMNS = ("late_penalty", "mark")


def grades(results: Sequence[Result]) -> str:
    """The text of the table. A column is named by its task; by its notebook too where two share a name.

    ``score`` is before a late penalty; where anybody has one, it and the mark that is left are the last columns.
    """
    late = LATE_COLUMNS if any(result.late_penalty for result in results) else ()
    tasks = list(dict.fromkeys((check.notebook, check.task) for r in results for check in r.checks))
    names = [task for _, task in tasks]
    heads = [f"{book}.{task}" if names.count(task) > 1 else task for book, task in tasks]
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow([harmless(cell) for cell in [*COLUMNS, *heads, *late]])
    for result in results:
        won = {task: points([c.points for c in result.checks if (c.notebook, c.task) == task]) for task in tasks}
        row = [result.score, result.max_score, result.pending_points, result.manual_points]
        table.writerow(
            [
                harmless(result.submission),
                *(number(value) for value in row),
                "true" if result.provisional else "false",
                *(number(won[task]) for task in tasks),
                *((number(result.late_penalty), number(mark_of(result))) if late else ()),
            ]
        )
    return text.getvalue()


def points(parts: Sequence[float]) -> float:
    """The sum of shown points, added in ten-thousandths so that it is exact."""
    return sum(round(part * UNITS_PER_POINT) for part in parts) / UNITS_PER_POINT


def number(value: float) -> str:
    """Points with up to four decimals and no trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what would start one.

    Some programs skip leading spaces, and read the full-width forms of the signs in East Asian text as signs.
    """
    start = unicodedata.normalize("NFKC", cell.lstrip(" ")[:1])
    return f"'{spell(cell)}" if start in ("=", "+", "-", "@", "\t", "\r", "\n") else spell(cell)
