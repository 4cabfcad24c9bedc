"""What formgrader shows of a submission: the student's cells in the released notebook's frame, and what was found.

The frame (names, points and texts of what a student may not change) comes from the released notebook alone; of the
student's file only the text of its cells is taken. So whatever became of metadata, points, read-only cells or the file
itself, every cell that carries a mark is there once.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import nbformat

from autograder.course import ByPerson
from autograder.formats.nbgrader_gradebook import points_of
from autograder.notebook_file import Notebook, Shown
from autograder.pages.words import worded
from autograder.result import CheckResult, Result
from autograder.spelling import spell

NO_CODE = "# This cell was not in what was handed in."
NO_ANSWER = "*This answer was not found in what was handed in.*"
#: Key of a cell's metadata that marks a rubric.
RUBRIC = "attnlab_rubric"

_DEFINES = re.compile(r"^(?:def|class) +(\w+)", re.MULTILINE)


def comment_cells(released: Any, checks: Sequence[CheckResult]) -> dict[str, str]:
    """By function of a notebook, the ``grade_id`` of the cell where its comment belongs: the one that defines it.

    A check of something that no cell defines goes to the last cell that a student writes in its task.
    """
    solutions = [cell for cell in released.cells if _about(cell).get("solution")]
    if not solutions:
        return {}
    names = {name: _about(cell)["grade_id"] for cell in solutions for name in _DEFINES.findall(cell.source)}
    tasks = {_about(cell)["grade_id"].partition("-")[0]: _about(cell)["grade_id"] for cell in solutions}
    last = _about(solutions[-1])["grade_id"]
    return {check.function: names.get(check.function) or tasks.get(check.task, last) for check in checks}


def view(released: Any, handed_in: Notebook | None) -> Any:
    """A notebook (nbformat 4) with every cell of a submission, and every marked or locked cell once."""
    frame = [cell for cell in released.cells if _about(cell).get("grade_id")]
    shown = [] if handed_in is None else [one for one in handed_in.shown if one.kind in ("code", "markdown", "raw")]
    places = _places(released, frame, shown)
    cells = [_plain(one) for one in shown]
    for cell in frame:
        place = places.get(_about(cell)["grade_id"])
        if place is not None:
            cells[place] = _framed(cell, shown[place].source)
    at = -1
    for cell in frame:
        name = _about(cell)["grade_id"]
        found = next((i for i, own in enumerate(cells) if _about(own).get("grade_id") == name), None)
        if found is None:
            at += 1
            cells.insert(at, _framed(cell, None))
        else:
            at = found
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=copy.deepcopy(released.metadata))
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number:04d}"
    return notebook


def with_findings(notebook: Any, result: Result, name: str) -> Any:
    """``notebook`` with what was found in each task as the output of its check cell, in words that are shown to all."""
    message = result.message
    for cell in notebook.cells:
        about = _about(cell)
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if about.get("grade") and not about.get("solution"):
            task = about["grade_id"].partition("-")[0]
            checks = [check for check in result.checks if (check.notebook, check.task) == (name, task)]
            cell.outputs = [_output(checks, message)]
            message = None  # said once, at the first of them
    return notebook


def with_rubrics(notebook: Any, answers: Sequence[ByPerson]) -> Any:
    """``notebook`` with the rubric of every answer that a person marks in a cell below it."""
    by_cell = {answer.grade_id: answer for answer in answers if answer.rubric}
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        answer = by_cell.get(_about(cell).get("grade_id", ""))
        if answer is not None:
            rubric = nbformat.v4.new_markdown_cell(_rubric(answer), metadata={RUBRIC: True})
            rubric.id = f"rubric-{len(cells):04d}"
            cells.append(rubric)
    notebook.cells = cells
    return notebook


def without_rubrics(notebook: Any) -> Any:
    """``notebook`` as a student may see it."""
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.get(RUBRIC)]
    return notebook


def _rubric(answer: ByPerson) -> str:
    lines = [f"- {line.points:g}: {line.text}" for line in answer.rubric]
    return "\n".join([f"**For whoever marks ({answer.points:g} points).** {answer.title}", "", *lines])


def _output(checks: Sequence[CheckResult], message: str | None) -> Any:
    lines = [f"The whole submission: {message}"] if message else []
    items = []
    for check in sorted(checks, key=lambda check: check.verdict == "passed"):
        wording = worded(check)
        head = f"{wording.sign} {wording.word}, {points_of(check)}: {check.title}"
        lines.append(head + (f" {check.message}" if check.message else ""))
        said = f"<br>{escape(check.message)}" if check.message else ""
        items.append(f"<li>{escape(head)}{said}</li>")
    first = f"<p>{escape(lines[0])}</p>" if message else ""
    html = f"{first}<ul>{''.join(items)}</ul>"
    return nbformat.v4.new_output("display_data", {"text/html": spell(html), "text/plain": spell("\n".join(lines))})


def _places(released: Any, frame: Sequence[Any], shown: Sequence[Shown]) -> dict[str, int]:
    """By ``grade_id``, which of the student's cells it is: by its name, its functions, its text, or its neighbours."""
    places: dict[str, int] = {}
    taken: set[int] = set()

    def take(cell: Any, candidates: Sequence[int]) -> None:
        name = _about(cell)["grade_id"]
        free = [i for i in candidates if i not in taken and shown[i].kind == cell.cell_type]
        if name not in places and free:
            places[name] = free[0]
            taken.add(free[0])

    for cell in frame:
        take(cell, [i for i, one in enumerate(shown) if one.label == _about(cell)["grade_id"]])
    for cell in frame:
        names = set(_DEFINES.findall(cell.source)) if _about(cell).get("solution") else set()
        take(cell, [i for i, one in enumerate(shown) if names & set(_DEFINES.findall(one.source))])
    for cell in frame:
        take(cell, [i for i, one in enumerate(shown) if one.source.strip() == cell.source.strip()])
    texts = {cell.source.strip() for cell in released.cells}
    for cell in frame:
        if _about(cell).get("solution"):
            low, high = _between(released, cell, shown, places)
            take(cell, [i for i in range(low, high) if shown[i].source.strip() not in texts])
    return places


def _between(released: Any, cell: Any, shown: Sequence[Shown], places: Mapping[str, int]) -> tuple[int, int]:
    """The student's cells that may be ``cell``: those after the cell before it, and before the one after it."""
    at = next(i for i, one in enumerate(released.cells) if one is cell)
    first: dict[str, int] = {}
    for i, one in enumerate(shown):
        first.setdefault(one.source.strip(), i)

    def place(other: Any) -> int | None:
        found = places.get(_about(other).get("grade_id", ""))
        return first.get(other.source.strip()) if found is None else found

    before = (p for other in reversed(released.cells[:at]) if (p := place(other)) is not None)
    after = (p for other in released.cells[at + 1 :] if (p := place(other)) is not None)
    return next(before, -1) + 1, next(after, len(shown))


def _about(cell: Any) -> Any:
    return cell.metadata.get("nbgrader", {})


def _framed(cell: Any, source: str | None) -> Any:
    """A cell of the released notebook: with the student's text where that may be written, else as it was released."""
    own = copy.deepcopy(cell)
    if _about(cell).get("solution"):
        missing = NO_CODE if cell.cell_type == "code" else NO_ANSWER
        own.source = missing if source is None else spell(source)
    if own.cell_type == "code":
        own.outputs, own.execution_count = [], None
    return own


def _plain(one: Shown) -> Any:
    """A cell that is the student's own: its text and nothing else."""
    new: dict[str, Callable[[str], Any]] = {
        "markdown": nbformat.v4.new_markdown_cell,
        "raw": nbformat.v4.new_raw_cell,
        "code": nbformat.v4.new_code_cell,
    }
    return new[one.kind](spell(one.source))
