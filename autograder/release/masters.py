"""A master (``source/<assignment>/<name>.py``, percent format) as a notebook with stable cell ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from autograder.release.problem import Problem, Refused
from autograder.release.skeleton import Malformed, Region, regions

#: What a cell of a master may say about itself; the rest is jupytext's own bookkeeping of blank lines.
KEPT_METADATA = ("nbgrader", "tags", "slideshow", "jupyter")
#: What JupyterLab shows and starts; the interpreter behind it is the reader's own.
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}

_GRADE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CELL_MARKER = re.compile(r"^# %%", re.MULTILINE)


@dataclass(frozen=True)
class Master:
    """One notebook of an assignment, as its author wrote it.

    ``notebook`` is what nbformat makes of it; ``lines`` are the line numbers in the file at which its cells
    start, in the same order.
    """

    name: str
    label: str
    notebook: Any
    lines: tuple[int, ...]

    def where(self, index: int, line_in_cell: int = 0) -> str:
        """``source/lab07/attention_lab.py, line 120 (cell step1-softmax)``."""
        return f"{self.label}, line {self.lines[index] + line_in_cell} (cell {self.notebook.cells[index].id})"

    def regions(self) -> list[tuple[int, Region]]:
        """Every solution region with the index of its cell."""
        return [(i, region) for i, cell in enumerate(self.notebook.cells) for region in regions(cell.source)]


def read(path: Path, label: str) -> Master:
    """Read one master. ``label`` is how messages call the file. Raises ``Refused``."""
    if not path.is_file():
        raise Refused([Problem(label, "This master does not exist.", "Write it, or take it out of course.toml.")])
    try:
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Refused([Problem(label, f"This file is not UTF-8 ({error.reason}).", "Save it as UTF-8.")]) from None
    notebook = jupytext.reads(text, fmt="py:percent")
    markers = [text.count("\n", 0, found.start()) + 1 for found in _CELL_MARKER.finditer(text)]
    starts = [1] * (len(notebook.cells) - len(markers)) + [line + 1 for line in markers]
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for position, cell in enumerate(notebook.cells, start=1):
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in KEPT_METADATA if key in cell.metadata})
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{position:03d}"
    master = Master(path.stem, label, notebook, tuple(starts))
    if problems := _malformed(master):
        raise Refused(problems)
    return master


def _malformed(master: Master) -> list[Problem]:
    found: list[Problem] = []
    if not master.notebook.cells:
        return [Problem(master.label, "It has no cell.", "Start each cell with a line '# %%' or '# %% [markdown]'.")]
    seen: set[str] = set()
    for index, cell in enumerate(master.notebook.cells):
        if not _GRADE_ID.fullmatch(cell.id):
            found.append(
                Problem(
                    master.where(index),
                    f"The grade_id {cell.id!r} has a character that nbgrader does not take.",
                    "Use letters, digits, '-' and '_' only, at most 64.",
                )
            )
        if cell.id in seen:
            found.append(
                Problem(
                    master.where(index),
                    f"The grade_id {cell.id!r} is used twice.",
                    "Give each cell a grade_id of its own.",
                )
            )
        seen.add(cell.id)
        try:
            regions(cell.source)
        except Malformed as wrong:
            found.append(Problem(master.where(index, wrong.line), wrong.what, wrong.remedy))
    return found
