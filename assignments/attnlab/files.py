"""A student's file as code cells: a notebook, a percent script or a plain module. Nothing is run here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from attnlab.steps import NOTEBOOKS, functions
from attnlab.words import clean

LARGEST = 64 * 2**20  # bytes; a notebook with its plots has a few MiB

SUFFIXES = (".ipynb", ".py")


class Unreadable(Exception):
    """The file cannot be read as a lab; the text is a sentence for its owner."""


@dataclass(frozen=True)
class Cell:
    """One code cell. ``filename`` and ``first_line`` are what its lines are called in messages."""

    source: str
    label: str
    filename: str
    first_line: int = 1


def find(path: Path, notebooks: Collection[str] = tuple(NOTEBOOKS)) -> list[Path]:
    """The files of these notebooks that a person means by a file or a folder: by name, or else by content."""
    if os.path.isfile(path):  # noqa: PTH113  Path.is_file() raises where a folder above may not be entered
        return [path]
    if not os.path.isdir(path):  # noqa: PTH112
        raise Unreadable(f"There is no file or folder {clean(path)}.")
    found = sources(path)
    by_name = [p for p in found if p.stem in notebooks]
    chosen = by_name or [p for p in found if notebook_of(p) in notebooks]
    if not chosen:
        wanted = " or ".join(f"{name}.ipynb or {name}.py" for name in notebooks)
        raise Unreadable(
            f"In {clean(path.resolve())} there is no {wanted}, nor another file with the lab's functions."
        )
    return chosen


def sources(folder: Path) -> list[Path]:
    """The notebooks and Python files in a folder, sorted; Unreadable where it cannot be looked into."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    except OSError as error:
        raise Unreadable(f"{clean(folder)} cannot be read: {clean(error.strerror or error)}.") from None


def notebook_of(path: Path) -> str | None:
    """Which notebook a file is: by its name, or else the one of which it defines the most functions."""
    if path.stem in NOTEBOOKS:
        return path.stem
    try:
        text = contents(path)
    except Unreadable:
        return None
    defined = set(re.findall(r"\b(?:def|class) (\w+)\b", text))
    counts = {name: len(defined.intersection(functions(name))) for name in NOTEBOOKS}
    likeliest = max(counts, key=lambda name: counts[name])
    return likeliest if counts[likeliest] else None


def cells(path: Path) -> list[Cell]:
    """The code cells of a file, in order. Unreadable where it is not a Python notebook or script."""
    if path.suffix == ".ipynb":
        return _notebook_cells(path, contents(path))
    if path.suffix == ".py":
        return _script_cells(path, contents(path))
    raise Unreadable(f"{clean(path.name)} is neither a notebook (.ipynb) nor a Python file (.py).")


def contents(path: Path) -> str:
    """The text of a file; Unreadable where it is too large, cannot be opened or is not UTF-8."""
    try:
        if path.stat().st_size > LARGEST:
            raise Unreadable(
                f"{clean(path.name)} is larger than {LARGEST // 2**20} MiB; clear its outputs first."
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(f"{clean(path.name)} is not UTF-8 text; save it as UTF-8 and try again.") from None
    except OSError as error:
        raise Unreadable(f"{clean(path.name)} cannot be read: {clean(error.strerror or error)}.") from None


def _notebook_cells(path: Path, text: str) -> list[Cell]:
    name = clean(path.name)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(f"{name} is not a whole notebook: it is cut off, or was changed by hand.") from None
    if not isinstance(data, dict):
        raise Unreadable(f"{name} is not a notebook.")
    language = _language(data)
    if language and language != "python":
        raise Unreadable(f"{name} is a notebook in {clean(language, 40)}, not in Python.")
    found = data.get("cells")
    if found is None:  # nbformat 3 keeps them in worksheets
        sheets = data.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        found = [c for sheet in sheets if isinstance(sheet, dict) for c in sheet.get("cells") or []]
    if not isinstance(found, list) or not found:
        raise Unreadable(f"{name} has no cells.")
    result = []
    for number, cell in enumerate(found, start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            lines = [str(line) for line in source] if isinstance(source, list) else [str(source)]
            result.append(Cell("".join(lines), f"cell {number}", f"<cell {number}>"))
    return result


def _language(data: dict[str, Any]) -> str:
    """The language that the notebook says it is in, or an empty string."""
    metadata = data.get("metadata")
    for key, field in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(field), str):
            return str(part[field]).lower()
    return ""


def _script_cells(path: Path, text: str) -> list[Cell]:
    """Cells between ``# %%`` lines; a file without any is one cell."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if re.match(r"# ?%%", line)]
    borders = sorted({0, *starts, len(lines)})
    result = []
    for begin, end in pairwise(borders):
        marker = lines[begin] if begin in starts else ""
        if re.search(r"\[(markdown|md|raw)\]", marker):
            continue
        result.append(Cell("".join(lines[begin:end]), f"lines {begin + 1} to {end}", str(path), begin + 1))
    return result
