"""The sample submissions: the solution, with the cells of a sample in the place of its own.

Each file in ``lab07/`` holds what one person wrote differently, cell by cell (``# %% grade_id``, in whichever notebook
that cell is); its first lines say what it is. ``python -m tests.samples.build FOLDER`` writes them as a folder per
student, with the untouched skeleton, right code without a written answer, the lab alone, and a file that is no
notebook beside them.
"""

from __future__ import annotations

import copy
import functools
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

from autograder.release import masters, skeleton

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = Path(__file__).parent / "lab07"
NOTEBOOKS = ("attention_lab", "exercises", "block_receipts")
_CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)

NO_NOTEBOOK = "Dear teacher,\nmy notebook is on my other computer, I will send it tomorrow.\n"


@functools.cache
def _master(name: str) -> Any:
    return masters.read(ROOT / "source" / "lab07" / f"{name}.py", f"{name}.py").notebook


def notebook(
    kind: str, replaced: dict[str, str] | None = None, kept: set[str] | None = None, name: str = "attention_lab"
) -> Any:
    """A notebook as ``solution`` or ``skeleton``, with some cells replaced by their grade_id.

    ``kept``: only these cells are the solution's, the others are as they were handed out.
    """
    book = copy.deepcopy(_master(name))
    missing = set(replaced or {}) - {cell.id for cell in book.cells}
    if missing:
        raise KeyError(f"no cell of {name} is called {sorted(missing)}")
    for cell in book.cells:
        solved = kind == "solution" and (kept is None or cell.id in kept)
        source = skeleton.solution(cell.source) if solved else skeleton.skeleton(cell.source)
        cell.source = (replaced or {}).get(cell.id, source)
    return book


def sample(path: Path) -> dict[str, Any]:
    """The notebooks of one sample by their names."""
    parts = _CELL.split(path.read_text(encoding="utf-8"))
    cells = dict(zip((name.strip() for name in parts[1::2]), (text.strip() for text in parts[2::2]), strict=True))
    for title in cells:
        if title.startswith("keep "):
            return _every(kept={"setup", *title.split()[1:]})
    unknown = set(cells)
    books = {}
    for name in NOTEBOOKS:
        here = {cell.id for cell in _master(name).cells}
        books[name] = notebook("solution", {key: text for key, text in cells.items() if key in here}, name=name)
        unknown -= here
    if unknown:
        raise KeyError(f"{path.name}: no notebook has a cell called {sorted(unknown)}")
    return books


def _every(
    kind: str = "solution", kept: set[str] | None = None, notebooks: Iterable[str] = NOTEBOOKS
) -> dict[str, Any]:
    return {name: notebook(kind, kept=kept, name=name) for name in notebooks}


def _code_cells() -> set[str]:
    return {cell.id for name in NOTEBOOKS for cell in _master(name).cells if cell.cell_type == "code"}


def books(name: str) -> dict[str, Any]:
    """The notebooks that a sample hands in, by their names."""
    match name:
        case "right-vectorised":
            return _every()
        case "right-lab-alone":
            return _every(notebooks=("attention_lab",))
        case "right-code-without-answers":
            return _every(kept=_code_cells() - {"step6-note"})
        case "untouched-skeleton":
            return _every("skeleton")
    return sample(SAMPLES / f"{name}.py")


def names() -> list[str]:
    """Every sample that is made of notebooks."""
    made = ["right-vectorised", "right-lab-alone", "right-code-without-answers", "untouched-skeleton"]
    return [*made, *sorted(path.stem for path in SAMPLES.glob("*.py"))]


def write(folder: Path) -> None:
    """A folder per sample, as an LMS would hand them over."""
    for name in names():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for stem, book in books(name).items():
            nbformat.write(book, folder / name / f"{stem}.ipynb")
    (folder / "no-notebook").mkdir(parents=True, exist_ok=True)
    (folder / "no-notebook" / "attention_lab.ipynb").write_text(NO_NOTEBOOK, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
