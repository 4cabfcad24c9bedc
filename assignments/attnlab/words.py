"""Text for people: bounded, printable, and never a traceback."""

from __future__ import annotations

import linecache
import re
import sysconfig
import types
from dataclasses import dataclass
from pathlib import Path

from attnlab.record import Verdict

_HERE = Path(__file__).resolve().parent
_LIBRARIES = (
    str(_HERE),
    *(str(Path(sysconfig.get_path(key)).resolve()) for key in ("stdlib", "platstdlib", "purelib", "platlib")),
)


def clean(text: object, limit: int = 240) -> str:
    """``text`` on one line, without control or direction characters, and cut to ``limit`` characters.

    What a student's code says is shown as it is, except for what would change how the rest is displayed.
    """
    try:
        raw = str(text)
    except Exception:  # an exception's own __str__ may raise
        raw = f"a {type(text).__name__} that cannot be printed"
    raw = raw[: 10 * limit]
    shown = "".join(c if c.isprintable() else " " for c in raw)
    shown = re.sub(r" {2,}", " ", shown).strip()
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def kind(value: object) -> str:
    """What a value is, for a sentence: ``an array of shape (2, 3)``, ``None``, ``a list of length 2``."""
    if value is None:
        return "None"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"an array of shape {clean(shape, 60)}"
    name = clean(type(value).__name__, 60)
    article = "an" if name[:1].lower() in "aeiou" else "a"
    if isinstance(value, (list, tuple, dict)):
        return f"{article} {name} of length {len(value)}"
    if isinstance(value, (bool, int, float, str)):
        return f"{article} {name}, {clean(repr(value), 60)}"
    return f"{article} {name}"


def names(words: tuple[str, ...] | list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


#: What to do about a function that still raises NotImplementedError, in a notebook and in a file alike.
_TO_WRITE = "Put your code in place of the `raise` line; in a notebook, run that cell, then check again."


@dataclass(frozen=True)
class Trouble:
    """A student's exception in words."""

    verdict: Verdict
    message: str
    looks_like: str = ""


def trouble(function: str, error: BaseException) -> Trouble:
    """What to say about an exception that came out of the student's ``function``."""
    frame = _last_own_frame(error)
    if isinstance(error, NotImplementedError):
        inner = frame[2] if frame else function
        if inner in (function, "<module>", "<lambda>", "append", "__init__", "keys", "values"):
            return Trouble("not_written", _TO_WRITE)
        return Trouble("not_written", f"`{function}` calls `{clean(inner, 60)}`, which is not written yet.")
    text = clean(error)
    said = f"It raised {clean(type(error).__name__, 60)}{': ' + text if text else ''}"
    said = said.rstrip(".")
    where = f" ({_place(frame)})" if frame else ""
    return Trouble("error", f"{said}{where}.", _guess(error, text))


def _last_own_frame(error: BaseException) -> tuple[str, int, str] | None:
    """File, line and function of the deepest frame that is the student's own, not a library's or ours."""
    found: tuple[str, int, str] | None = None
    step: types.TracebackType | None = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not _is_library(code.co_filename):
            found = (code.co_filename, step.tb_lineno, code.co_name)
        step = step.tb_next
    return found


def _is_library(filename: str) -> bool:
    if filename.startswith("<"):
        # "<frozen importlib>", "<__array_function__ internals>" are not a person's file; "<cell 3>" is.
        return not filename.startswith(("<cell", "<ipython-input"))
    parts = Path(filename).parts
    return filename.startswith(_LIBRARIES) or "site-packages" in parts or "dist-packages" in parts


def _place(frame: tuple[str, int, str]) -> str:
    """``line 3 of cell 12: `scores = Q @ K```, or ``line 3 of its cell`` in a notebook."""
    filename, line, _ = frame
    if filename.startswith("<cell"):
        file = filename.strip("<>")
    elif "ipykernel" in filename or filename.startswith("<ipython-input"):
        file = "its cell"
    else:
        file = clean(Path(filename).name, 60)
    source = clean(linecache.getline(filename, line), 100).replace("`", "'")
    return f"line {line} of {file}" + (f": `{source}`" if source else "")


def _guess(error: BaseException, text: str) -> str:
    """What such an exception most often means in this lab."""
    if isinstance(error, TypeError) and "unexpected keyword argument" in text:
        return "A parameter has another name than the one in the task; it is passed by name."
    if isinstance(error, TypeError) and ("positional argument" in text or "missing" in text):
        return "The function takes other arguments than the task says; compare the first line with the task."
    if isinstance(error, TypeError) and "NoneType" in text:
        return "A function on the way gives back None: a missing `return`, or a `mask` of None that is used."
    if isinstance(error, ValueError) and re.search(
        r"matmul|shapes|broadcast|operands|mismatch|axes|dimension", text
    ):
        return "Two shapes do not fit: a missing transpose, or the wrong axis."
    if isinstance(error, NameError):
        return "A name is not defined; run the cells above, from top to bottom."
    if isinstance(error, RecursionError):
        return "A function calls itself without an end."
    if isinstance(error, (IndexError, KeyError)):
        return "An index or a name is used that is not there; print the shape, or the keys, just before."
    if isinstance(error, SystemExit):
        return "exit() or quit() is called; a function should give its result back with `return`."
    return ""
