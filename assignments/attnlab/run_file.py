"""The child of ``attnlab check``: runs a file's cells one by one, checks steps, writes down what it found.

It runs in a process of its own, so that a loop without end, an ``exit()`` or a crash costs this file only.
"""

from __future__ import annotations

import ast
import asyncio
import json
import linecache
import os
import re
import sys
import threading
import types
from pathlib import Path
from typing import Any

from attnlab.checking import run_step
from attnlab.files import Cell, cells, notebook_of
from attnlab.step import LAB
from attnlab.words import clean, trouble

#: Cell magics whose body is ordinary Python; the body of any other (%%bash, %%html) is not.
PYTHON_MAGICS = ("time", "timeit", "capture", "prun")


def main() -> int:
    """``run_file FILE RECORD STEP…``: one line of JSON in RECORD for everything that happened."""
    path, record = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    end_with_parent()
    with record.open("a", encoding="utf-8") as stream:

        def note(**entry: Any) -> None:
            stream.write(json.dumps(entry) + "\n")
            stream.flush()

        # A module beside the file can be imported, but never instead of an installed one.
        sys.path.append(str(path.parent))
        os.chdir(path.parent)
        name = notebook_of(path) or LAB
        module = types.ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        for cell in cells(path):
            note(doing=f"running {cell.label}")
            problem = run_cell(cell, module.__dict__)
            if problem:
                note(problem=problem)
        for step in sys.argv[3:]:
            note(doing=f"checking {step}")
            note(report=run_step(step, module.__dict__).as_dict())
    return 0


def end_with_parent() -> None:
    """End this process when the one that started it closes our input or ends; the file's own input is empty."""
    line = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def watch() -> None:
        while os.read(line, 4096):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_cell(cell: Cell, namespace: dict[str, Any]) -> str:
    """Run one cell; a sentence where it stops. What is simply not written yet is no problem."""
    try:
        code = _compiled(cell)
    except SyntaxError as error:
        return f"In {cell.label}, line {error.lineno or '?'} is not valid Python: {clean(error.msg)}."
    except ValueError as error:  # a null byte
        return f"{cell.label.capitalize()} is not valid Python: {clean(error)}."
    try:
        result = eval(code, namespace)  # noqa: S307  running the student's code is what this process is for
        if asyncio.iscoroutine(result):
            asyncio.run(_finish(result))
    except BaseException as error:  # exit() in a cell is not the end of the check
        found = trouble(cell.label, error)
        return "" if found.verdict == "not_written" else f"In {cell.label}: {found.message}"
    return ""


async def _finish(coroutine: Any) -> None:
    """Wait for a cell that uses ``await`` outside of a function, as notebooks allow."""
    await coroutine


def _compiled(cell: Cell) -> types.CodeType:
    """The cell's code with the file's own line numbers; IPython's magics are taken out where need be."""
    try:
        code = _compile(cell, cell.source)
    except SyntaxError:
        plain = without_magics(cell.source)
        if plain == cell.source:
            raise
        code = _compile(cell, plain)
    if cell.filename.startswith("<"):
        source = cell.source
        linecache.cache[cell.filename] = (len(source), None, source.splitlines(keepends=True), cell.filename)
    return code


def _compile(cell: Cell, source: str) -> types.CodeType:
    padded = "\n" * (cell.first_line - 1) + source
    code: types.CodeType = compile(
        padded, cell.filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    return code


def without_magics(source: str) -> str:
    """The cell with the lines that only IPython understands made harmless; the number of lines stays."""
    lines = source.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    cell_magic = re.match(r"%%(\w+)", lines[first])
    if cell_magic:
        if cell_magic[1] not in PYTHON_MAGICS:
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return "\n".join(map(_plain_line, lines))


def _plain_line(line: str) -> str:
    """``%time f()`` becomes ``f()``, other magics, ``!commands`` and ``help?`` become ``pass``."""
    match = re.match(r"(\s*)%time(?:it)?\s+(?!-)(.*)", line)
    if match:
        return match[1] + match[2]
    match = re.match(r"(\s*)(?:[%!]|\?{1,2}\w|[\w.]+\?{1,2}\s*$)", line)
    if match:
        return match[1] + "pass"
    match = re.match(r"(\s*[\w, ]+=\s*)[!%]", line)
    return match[1] + "None" if match else line
