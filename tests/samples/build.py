"""The sample submissions: the solution, with the cells of a sample in the place of its own.

Each file in ``lab07/`` holds what one person wrote differently, cell by cell (``# %% grade_id``); its first line
says what it is. ``python -m tests.samples.build FOLDER`` writes them as a folder per student, with the untouched
skeleton and a file that is no notebook beside them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat

from autograder.release import masters, skeleton

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = Path(__file__).parent / "lab07"
_CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)

NO_NOTEBOOK = "Dear teacher,\nmy notebook is on my other computer, I will send it tomorrow.\n"


def notebook(kind: str, replaced: dict[str, str] | None = None, kept: set[str] | None = None) -> Any:
    """The lab's notebook as ``solution`` or ``skeleton``, with some cells replaced by their grade_id.

    ``kept``: only these cells are the solution's, the others are as they were handed out.
    """
    book = masters.read(ROOT / "source" / "lab07" / "attention_lab.py", "attention_lab.py").notebook
    missing = set(replaced or {}) - {cell.id for cell in book.cells}
    if missing:
        raise KeyError(f"no cell of the lab is called {sorted(missing)}")
    for cell in book.cells:
        solved = kind == "solution" and (kept is None or cell.id in kept)
        source = skeleton.solution(cell.source) if solved else skeleton.skeleton(cell.source)
        cell.source = (replaced or {}).get(cell.id, source)
    return book


def sample(path: Path) -> Any:
    """One sample as a notebook."""
    parts = _CELL.split(path.read_text(encoding="utf-8"))
    cells = dict(zip((name.strip() for name in parts[1::2]), (text.strip() for text in parts[2::2]), strict=True))
    for name in cells:
        if name.startswith("keep "):
            return notebook("solution", kept={"setup", *name.split()[1:]})
    return notebook("solution", cells)


def names() -> list[str]:
    """Every sample that is a notebook."""
    return ["right-vectorised", "untouched-skeleton", *sorted(path.stem for path in SAMPLES.glob("*.py"))]


def write(folder: Path) -> None:
    """A folder per sample, as an LMS would hand them over."""
    for name in names():
        if name == "right-vectorised":
            book = notebook("solution")
        elif name == "untouched-skeleton":
            book = notebook("skeleton")
        else:
            book = sample(SAMPLES / f"{name}.py")
        (folder / name).mkdir(parents=True, exist_ok=True)
        nbformat.write(book, folder / name / "attention_lab.ipynb")
    (folder / "no-notebook").mkdir(parents=True, exist_ok=True)
    (folder / "no-notebook" / "attention_lab.ipynb").write_text(NO_NOTEBOOK, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
