"""What a saved file of the lab holds, without running it: what is written, and what each step is worth."""

from __future__ import annotations

import ast
import json
import linecache
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from attnlab.files import SUFFIXES, Unreadable, cells, contents, notebook_of, sources
from attnlab.run_file import without_magics
from attnlab.step import LAB
from attnlab.steps import BY_ID, NOTEBOOKS, functions
from attnlab.words import clean

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Worth:
    """The points of a step: what hidden checks decide, and what a person does."""

    checks: float = 0.0
    person: float = 0.0

    def __add__(self, other: Worth) -> Worth:
        return Worth(self.checks + other.checks, self.person + other.person)


@dataclass(frozen=True)
class Saved:
    """A file as it is on the disk. ``defined`` has the last definition of every name that the lab asks for.

    ``worth`` is what a released notebook says about each step by its id; a module does not say it.
    """

    path: Path
    notebook: str
    defined: Mapping[str, Definition]
    worth: Mapping[str, Worth]

    @property
    def written(self) -> list[str]:
        """The asked-for names that are more than the skeleton."""
        return [name for name in functions(self.notebook) if name in self.defined and is_written(self.defined[name])]


def read(path: Path) -> Saved:
    """A notebook or module of the lab; Unreadable where it is neither."""
    name = notebook_of(path) or LAB
    found = {node.name: node for cell in cells(path) for node in definitions(cell.source)}
    asked = {key: found[key] for key in functions(name) if key in found}
    return Saved(path, name, asked, _worth(path))


def beside(folder: Path) -> dict[str, Saved]:
    """The lab's notebooks in a folder by their names: of a notebook and a module the one with more written in it.

    A file of another name counts where there is none of the right one. Links are not followed. Unreadable where the
    folder is.
    """
    found: dict[str, Saved] = {}
    others = []
    for path in sources(folder):
        if path.is_symlink():
            continue
        try:
            saved = read(path)
        except Unreadable:
            continue
        known = found.get(saved.notebook)
        if path.stem != saved.notebook:
            others.append(saved)
        elif known is None or _rank(saved) < _rank(known):
            found[saved.notebook] = saved
    for saved in sorted(others, key=_rank):
        if saved.defined:
            found.setdefault(saved.notebook, saved)
    return {name: found[name] for name in NOTEBOOKS if name in found}


def _rank(one: Saved) -> tuple[int, bool]:
    """What comes first counts: the file with more written in it, and of two alike the notebook, as for a grader."""
    return -len(one.written), one.path.suffix != ".ipynb"


def without_twins(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """Of a notebook that lies there as .ipynb and as .py, only the one with more written in it; and who was left out.

    What cannot be read stays, so that it is said.
    """
    kept: dict[str, Saved] = {}
    others: list[Path] = []
    said: list[str] = []
    for path in paths:
        try:
            one = read(path)
        except Unreadable:
            others.append(path)
            continue
        known = kept.get(one.notebook)
        if known is None or path.with_suffix("") != known.path.with_suffix(""):
            others += [known.path] if known is not None else []
            kept[one.notebook] = one
            continue
        first, second = sorted((known, one), key=_rank)
        kept[one.notebook] = first
        said.append(f"{clean(second.path.name)} was not checked: {clean(first.path.name)} has as much or more in it.")
    return sorted([*others, *(one.path for one in kept.values())]), said


def definitions(source: str) -> Iterator[Definition]:
    """The functions and classes that a cell defines at its top level; none where it is not valid Python."""
    for attempt in (source, without_magics(source)):
        try:
            body = ast.parse(attempt).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from (node for node in body if isinstance(node, Definition))
        return


def is_written(node: Definition) -> bool:
    """Whether nothing in a definition still raises the skeleton's NotImplementedError."""
    raised = (inner.exc for inner in ast.walk(node) if isinstance(inner, ast.Raise))
    called = (exc.func if isinstance(exc, ast.Call) else exc for exc in raised)
    return not any(isinstance(exc, ast.Name) and exc.id == "NotImplementedError" for exc in called)


def current_notebook(names: Mapping[str, object]) -> str:
    """Which notebook the caller is: as Jupyter or VS Code calls its file, and otherwise by the names that it binds."""
    told = _told(names)
    if told is not None:
        return told.stem
    bound = {name: sum(key in names for key in functions(name)) for name in NOTEBOOKS}
    return max(NOTEBOOKS, key=lambda name: bound[name])


def called_from(folder: Path, names: Mapping[str, object]) -> Saved | None:
    """The caller's own file, where Jupyter or VS Code names it and it lies in the folder; Unreadable where it is."""
    told = _told(names)
    if told is None or told.suffix not in SUFFIXES:
        return None
    own = folder / told.name
    return read(own) if own.is_file() and not own.is_symlink() else None


def _told(names: Mapping[str, object]) -> Path | None:
    """What Jupyter or VS Code calls the caller's file, if that is the name of a notebook of the lab."""
    asked = (os.environ.get("JPY_SESSION_NAME"), names.get("__vsc_ipynb_file__"))
    return next((path for path in (Path(str(told)) for told in asked if told) if path.stem in NOTEBOOKS), None)


def not_saved(names: Mapping[str, object], saved: Saved) -> list[str]:
    """The asked-for names that a notebook's cells bind now and that the saved file defines otherwise, or not at all."""
    differ = []
    for name in functions(saved.notebook):
        node = _as_run(name, names.get(name))
        there = saved.defined.get(name)
        if node is not None and (there is None or ast.dump(node) != ast.dump(there)):
            differ.append(name)
    return differ


def _as_run(name: str, value: object) -> Definition | None:
    """The definition of ``value`` in the notebook cell that it came from; None where that cannot be told."""
    parts = vars(value).values() if isinstance(value, type) else [value]
    codes = (getattr(part, "__code__", None) for part in parts)
    code = next((code for code in codes if isinstance(code, CodeType)), None)
    shell = sys.modules.get("IPython")
    if code is None or shell is None or Path(code.co_filename).exists():
        return None  # no cell of a notebook: there is a file
    source = "".join(linecache.getlines(code.co_filename))
    return {node.name: node for node in definitions(source)}.get(name)  # the last one, as in read()


def _worth(path: Path) -> dict[str, Worth]:
    """The points in the cells' metadata by the id of their step, which every ``grade_id`` begins with."""
    if path.suffix != ".ipynb":
        return {}
    found: dict[str, Worth] = {}
    for cell in json.loads(contents(path)).get("cells") or []:
        metadata = cell.get("metadata") if isinstance(cell, dict) else None
        about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        if not isinstance(about, dict) or not about.get("grade") or not isinstance(about.get("points"), int | float):
            continue
        step, _, kind = str(about.get("grade_id", "")).partition("-")
        if step in BY_ID:
            points = float(about["points"])
            found[step] = found.get(step, Worth()) + (Worth(points) if kind == "check" else Worth(0.0, points))
    return found
