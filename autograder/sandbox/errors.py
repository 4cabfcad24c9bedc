"""What went wrong in the student's code, in words that are safe to carry: none of its own methods is called."""

from __future__ import annotations

import os
import re
import sys
import types

from autograder import wire

#: Where an import found the module, which is nobody's business: `` (/home/…/code.py)``.
_PATH = re.compile(r" \((?:/[^()]*|unknown location)\)$")
_PART = re.compile(r"lines? (\d+)(?:-\d+)?")


class Missing(Exception):
    """The submission binds no such name."""


def failure(number: int, error: BaseException) -> wire.Failure:
    """The reply that says it."""
    kind = "raised"
    if isinstance(error, (Missing, NotImplementedError)):
        kind = "missing"
    elif isinstance(error, MemoryError):
        kind = "memory"
    name = type.__dict__["__name__"].__get__(type(error))
    text = ""
    try:
        # Only a __str__ written in C is called; one of the student's could loop for ever.
        of_python = type.__getattribute__(type(error), "__str__")
        text = (of_python if isinstance(of_python, types.WrapperDescriptorType) else BaseException.__str__)(error)
    except BaseException:
        text = ""
    if type(error) is RuntimeError and "DefaultCPUAllocator: can't allocate memory" in text:
        kind = "memory"  # as torch says it
    try:
        text, place = _broken_line(error) or (_PATH.sub("", text) + _passed_over(error), _where(error))
    except BaseException:
        # What is looked at there can be the student's own.
        place = _where(error)
    return wire.Failure(number, kind, str(name)[:200], carried(text, wire.MAX_TEXT), carried(place, 200))


def carried(text: str, most: int) -> str:
    """Text that UTF-8 can carry: half of a surrogate pair becomes ``\\udc80``."""
    return text[:most].encode("utf-8", "backslashreplace").decode("utf-8")


def _where(error: BaseException) -> str:
    """The innermost line of the student's own code, such as ``cell 7, line 3``."""
    trace, place, steps = error.__traceback__, "", 0
    while trace is not None and steps < 2000:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith("<") and not name.startswith(("<frozen", "<__array")):
            place = _place(name, trace.tb_lineno)
        trace, steps = trace.tb_next, steps + 1
    return place


def _place(name: str, line: int) -> str:
    """Where a line of a cell is; of a part of a module, counted in the whole file."""
    label = name.strip("<>")
    part = _PART.fullmatch(label)
    return f"line {int(part[1]) + line - 1}" if part else f"{label}, line {line}"


def _broken_line(error: BaseException) -> tuple[str, str] | None:
    """What is wrong with a cell that is no Python of this version, and where; None for any other error."""
    if type(error) not in (SyntaxError, IndentationError, TabError):
        return None
    said, name, line = (SyntaxError.__dict__[key].__get__(error) for key in ("msg", "filename", "lineno"))
    if type(said) is not str or type(name) is not str or type(line) is not int or not name.startswith("<"):
        return None
    return f"{said} (in Python {sys.version_info[0]}.{sys.version_info[1]})", _place(name, line)


def _passed_over(error: BaseException) -> str:
    """The student's own file where an import took an installed module of the same name, which comes first."""
    name: object = None
    if type(error) in (ImportError, ModuleNotFoundError):
        name = ImportError.__dict__["name"].__get__(error)
    elif type(error) is AttributeError:
        owner = AttributeError.__dict__["obj"].__get__(error)
        name = owner.__dict__.get("__name__") if type(owner) is types.ModuleType else None
    top = name.partition(".")[0] if type(name) is str else ""
    taken = sys.modules.get(top)
    own = next((file for file in (f"{top}.py", top) if top and os.path.exists(file)), None)
    if own is None or type(taken) is not types.ModuleType:
        return ""
    if str(taken.__dict__.get("__file__")).startswith(os.getcwd()):
        return ""
    return f" ({own} was passed over: an installed module has this name and comes first; give yours another name)"
