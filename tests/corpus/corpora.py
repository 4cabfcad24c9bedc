"""Submissions of the corpus: the solution of the lab with one cell more, whose bindings are the last and count."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from autograder import course, engine, submission
from autograder.result import Result
from autograder.settings import Settings
from tests.samples.build import notebook

RIGHT = Path(__file__).parent / "right"
_CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)


def cells(path: Path) -> Iterator[tuple[str, str]]:
    """Title and source of each cell of a corpus file."""
    parts = _CELL.split(path.read_text(encoding="utf-8"))
    yield from ((title.strip(), source) for title, source in zip(parts[1::2], parts[2::2], strict=True))


def right_submissions() -> dict[str, str]:
    """Every right variant by its title."""
    return {f"{path.stem}: {title}": source for path in sorted(RIGHT.glob("*.py")) for title, source in cells(path)}


@functools.cache
def _solution() -> str:
    return str(nbformat.writes(notebook("solution")))


def with_cell(source: str) -> Any:
    """The solution as a notebook with one more cell at its end."""
    book = nbformat.reads(_solution(), as_version=4)
    cell = nbformat.v4.new_code_cell(source.strip())
    cell.id = "last"
    book.cells.append(cell)
    return book


@functools.cache
def settings(seed: str = "a seed of the tests") -> Settings:
    """Without a GPU the measured check waits, so that no test hangs on a clock."""
    return Settings(
        assignment="lab07",
        course=course.load("lab07"),
        seed=seed,
        seed_id="tests",
        kit_version="tests",
        device="cuda",
    )


def grade(name: str, files: dict[str, bytes]) -> Result:
    """Grade files in memory, in the best sandbox of this machine."""
    read = submission.read(name, files, "lab07", course.signatures(settings().course))
    return engine.grade(read, settings())


def as_notebook(book: Any) -> dict[str, bytes]:
    return {"attention_lab.ipynb": json.dumps(book).encode()}


def as_module(book: Any) -> dict[str, bytes]:
    return {"attention_lab.py": jupytext.writes(book, fmt="py:percent").encode()}


def lost(result: Result) -> list[str]:
    """What a right submission of the lab must not have: any check of it that is neither passed nor waiting."""
    waiting = ("passed", "pending", "inconclusive", "by_person")
    own = [check for check in result.checks if check.notebook == "attention_lab"]
    return [f"{c.id}: {c.verdict}: {c.message}" for c in own if c.verdict not in waiting]
