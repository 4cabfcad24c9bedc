"""The bytes of one ``.ipynb`` or ``.py`` file to a notebook's cells, as far as they can be read.

Nothing here decides a mark: a file that is broken in one place gives the cells before it and a sentence that
says so, and a file that cannot be read at all gives a notebook without cells and the reason.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import msgspec

from autograder import module_file
from autograder.decoding import decode, one_newline, spoken, wide_encoding
from autograder.json_spans import MAX_BRACKETS, JsonText, Span
from autograder.names import display_name

#: Limits of one file. A cell of 10 MB is read; 100 MB of saved outputs are stepped over.
MAX_FILE_BYTES = 256 << 20
MAX_CELLS = 5_000
MAX_SOURCE_BYTES = 16 << 20

_NOTHING = re.compile(rb"[\0\s]*+")
# What a JSON text may begin with: a byte order mark, white space.
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?\s*+")
#: Where a list of cells begins, whatever is around it.
_CELLS = re.compile(rb'"cells"\s*+:\s*+(?=\[\s*+\{)')
_HAND_IN_AGAIN = "Save it in Jupyter and hand it in again."


class Cell(msgspec.Struct, frozen=True):
    """A code cell. ``index`` counts all cells of the file from 1; ``label`` is what a message calls it."""

    source: str
    index: int
    label: str


class Shown(msgspec.Struct, frozen=True):
    """A cell as a person who marks sees it.

    ``label`` is its nbgrader ``grade_id``, or, where another program dropped that, the id of the cell, which is the
    same in a notebook that was handed out.
    """

    kind: str
    source: str
    label: str


class Notebook(msgspec.Struct):
    """One of the assignment's notebooks as it was handed in, from a ``.ipynb`` or a ``.py`` file.

    ``cells`` are the code cells in order; ``written`` the text of every cell that carries an nbgrader
    ``grade_id`` (what a person marks is among them); ``markdown`` all text cells in order; ``shown`` every cell
    with something in it, in order; ``problems`` are sentences for the student.
    """

    name: str
    origin: str
    cells: list[Cell] = []
    written: dict[str, str] = {}
    markdown: list[str] = []
    shown: list[Shown] = []
    problems: list[str] = []


def is_python_file(origin: str) -> bool:
    """Whether a file of this name is read as a module rather than as a notebook."""
    return origin.lower().removesuffix(".txt").endswith(".py")


def is_notebook(data: bytes) -> bool:
    """Whether the bytes are a notebook, as far as that can be told without its name."""
    data = decode(data)[0].encode() if wide_encoding(data) else data
    head = _BEFORE.match(data)
    return data[head.end() if head else 0 :][:1] == b"{" and _CELLS.search(data) is not None


def read_file(data: bytes, name: str, origin: str) -> Notebook:
    """What the file holds, by its suffix; never raises for what is in it."""
    shown = display_name(origin)
    notebook = Notebook(name, origin)
    if _NOTHING.fullmatch(data):
        notebook.problems.append(f"{shown} is empty ({len(data)} bytes). {_HAND_IN_AGAIN}")
    elif len(data) > MAX_FILE_BYTES:
        notebook.problems.append(f"{shown} is larger than {MAX_FILE_BYTES >> 20} MiB and was not read.")
    elif is_python_file(origin):
        _read_module(data, notebook, shown)
    else:
        _read_notebook(data, notebook, shown)
    return notebook


# ---------------------------------------------------------------- .py


def _read_module(data: bytes, notebook: Notebook, shown: str) -> None:
    if len(data) > MAX_SOURCE_BYTES:
        notebook.problems.append(f"{shown} is larger than {MAX_SOURCE_BYTES >> 20} MiB and was not read.")
        return
    text, encoding = decode(data)
    if encoding:
        notebook.problems.append(_read_as(shown, encoding, ""))
    pieces, trouble = module_file.pieces(one_newline(text))
    if trouble:
        notebook.problems.append(f"{shown}: {trouble}")
    if len(pieces) > MAX_CELLS:
        notebook.problems.append(f"{shown} has {len(pieces):,} parts; the first {MAX_CELLS:,} were read.")
    for index, piece in enumerate(pieces[:MAX_CELLS], 1):
        _add(notebook, piece.kind, piece.source, index, piece.label, piece.grade_id, piece.grade_id)
    if not notebook.cells:
        notebook.problems.append(f"{shown} holds no statement.")
    elif "__file__" in text:
        # A module knows where it lies; a cell does not.
        notebook.cells.insert(0, Cell(f"__file__ = {notebook.origin.rpartition('/')[2]!r}", 0, "line 1"))


# ---------------------------------------------------------------- .ipynb


def _read_notebook(data: bytes, notebook: Notebook, shown: str) -> None:
    wide = wide_encoding(data)
    if wide:
        data = decode(data)[0].encode()
        notebook.problems.append(_read_as(shown, spoken(wide), ""))
    head = _BEFORE.match(data)
    start = head.end() if head else 0
    if data.count(b"[") + data.count(b"{") > MAX_BRACKETS:
        notebook.problems.append(f"{shown} holds millions of nested lists and was not read. {_HAND_IN_AGAIN}")
        return
    file = JsonText(data)
    place = file.value_at(start)
    top = file.members(place)
    # nbformat 3 had worksheets of cells, with "input" where version 4 has "source".
    sheets = itertools.islice(file.objects(top.get("worksheets")), MAX_CELLS)
    lists = [owner["cells"] for owner in (top, *map(file.members, sheets)) if "cells" in owner]
    # In a list, in another program's record, behind a comment: the cells are the student's work all the same.
    around = None if lists else _CELLS.search(data)
    _read_cells(file, [file.value_at(around.end())] if around else lists, notebook, shown)
    count = len(notebook.cells)
    cells = f"{count} code {'cell was' if count == 1 else 'cells were'} read"
    if around:
        notebook.problems.append(f"{shown} is no notebook itself, but has one in it: {cells}. {_HAND_IN_AGAIN}")
    elif data[start : start + 1] != b"{" or data.startswith(b"{\\rtf", start):
        what = _looks_like(data[start : start + 100])
        notebook.problems.append(f"{shown} is not a notebook: {what}. {_HAND_IN_AGAIN}")
    elif not place.whole:
        notebook.problems.append(f"{shown} is not proper JSON: it breaks off before its end. {cells}. {_HAND_IN_AGAIN}")
    elif not lists:
        notebook.problems.append(f"{shown} is JSON without cells, so it is not a notebook. {_HAND_IN_AGAIN}")
    elif not count:
        notebook.problems.append(f"{shown} holds no code cell. {_HAND_IN_AGAIN}")
    language = _language(file, top)
    if language:
        notebook.problems.append(
            f"{shown} names the kernel of another language ({display_name(language)}); its cells were read as Python."
        )


def _read_cells(file: JsonText, lists: list[Span], notebook: Notebook, shown: str) -> None:
    left, recoded = MAX_SOURCE_BYTES, set[str]()
    places = (place for cells in lists for place in file.objects(cells))
    for index, place in enumerate(places, 1):
        if index > MAX_CELLS:
            notebook.problems.append(f"{shown} has more than {MAX_CELLS:,} cells; the rest was left out.")
            break
        cell = file.members(place)
        span = cell.get("source", cell.get("input"))
        if span is None or not span.whole:
            continue
        left -= span.end - span.start
        if left < 0:
            notebook.problems.append(
                f"{shown} holds more than {MAX_SOURCE_BYTES >> 20} MiB of text; "
                f"cell {index} and what follows was left out."
            )
            break
        encoding = decode(file.data[span.start : span.end])[1]
        if encoding:
            recoded.add(encoding)
        kind = file.text(cell.get("cell_type")) or "code"
        grade_id = file.text(file.members(file.members(cell.get("metadata")).get("nbgrader")).get("grade_id"))
        own_id = file.text(cell.get("id"))
        _add(notebook, kind, one_newline(file.text(span)), index, f"cell {index}", grade_id, grade_id or own_id)
    if recoded:
        notebook.problems.append(_read_as(shown, " and ".join(sorted(recoded)), " in places"))


def _language(file: JsonText, top: dict[str, Span]) -> str:
    """The kernel's language, where the notebook names one and that is not Python."""
    metadata = file.members(top.get("metadata"))
    for owner, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        language = file.text(file.members(metadata.get(owner)).get(key))
        if language:
            return "" if "python" in language.lower() else language
    return ""


_STARTS: tuple[tuple[Callable[[bytes], object], str], ...] = (
    (re.compile(rb"<(!doctype|html)", re.IGNORECASE).match, "it holds a web page"),
    (re.compile(rb"version https://git-lfs").match, "it holds a Git LFS pointer instead of the file itself"),
    (re.compile(rb"%PDF").match, "it holds a PDF"),
    (re.compile(rb"\{\\rtf").match, "it holds the text of a word processor"),
    (re.compile(rb"PK\x03\x04").match, "it holds a zip archive under another name"),
    (re.compile(rb"\x1f\x8b").match, "it holds a compressed file under another name"),
    (re.compile(rb"(#|import\s|from\s|def\s)").match, "it holds Python text; give it the suffix .py"),
)


def _looks_like(data: bytes) -> str:
    for starts, words in _STARTS:
        if starts(data):
            return words
    return "it does not begin as a JSON object"


# ---------------------------------------------------------------- both


def _add(notebook: Notebook, kind: str, source: str, index: int, label: str, grade_id: str, known_as: str) -> None:
    if source.strip():
        notebook.shown.append(Shown(kind, source, known_as))
    if grade_id:
        # Who splits a cell in Jupyter gets its grade_id twice; both halves are the answer.
        before = notebook.written.get(grade_id)
        notebook.written[grade_id] = source if before is None else f"{before}\n\n{source}"
    if kind == "code":
        if source.strip():
            notebook.cells.append(Cell(source, index, label))
    elif kind in ("markdown", "heading"):
        notebook.markdown.append(source)


def _read_as(shown: str, encoding: str, where: str) -> str:
    return (
        f"{shown} is not UTF-8{where} and was read as {encoding}; letters beyond English may have changed. "
        "Save it as UTF-8."
    )
