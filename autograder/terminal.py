"""The marks as a table on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import shorten

from rich.table import Table
from rich.text import Text

from autograder.names import display_name
from autograder.pages.words import lost
from autograder.result import Result
from autograder.table import number

#: Characters of what a row says about a submission; its page has the rest.
MAX_NOTE = 70


def table(results: Iterable[Result]) -> Table:
    """One row per submission in the order of names. What is shown of a submission can steer no terminal."""
    shown = Table()
    shown.add_column("submission", overflow="fold")
    for head in ("score", "of", "machine", "person"):
        shown.add_column(head, justify="right", no_wrap=True)
    shown.add_column("to know", overflow="fold")
    for _, *cells in sorted(map(_row, results), key=lambda row: row[0]):
        name, *numbers, note = cells
        shown.add_row(Text(name), *numbers, Text(note))
    return shown


def _row(result: Result) -> tuple[str, ...]:
    """What the rows are sorted by, and the cells."""
    points = [result.score, result.max_score, result.pending_points, result.manual_points]
    return (
        result.submission.casefold(),
        display_name(result.submission),
        *(number(value) for value in points),
        display_name(shorten(_to_know(result), MAX_NOTE, placeholder=" …")),
    )


def _to_know(result: Result) -> str:
    """The most important thing, in a few words: an error of ours, then what names the first lost points."""
    errors = sum(check.verdict == "grader_error" for check in result.checks)
    if errors:
        return f"error of the grader in {errors} checks"
    if result.message:
        return result.message
    suspects = dict.fromkeys(check.suspect for check in result.checks if check.suspect and lost(check))
    return ", ".join(str(suspect) for suspect in suspects)
