"""How learning platforms and people name files: whose they are, and which notebook they hold.

Names and a look at the text only choose what is read as which notebook. Neither ever decides a mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

#: Notebook name -> the names of its contract, for example ``{"attention_lab": {"softmax", "attention"}}``.
Signatures = Mapping[str, Collection[str]]
#: The contract of a notebook that is handed out and not graded: known by its name only, for no text binds "".
NOT_GRADED = frozenset({""})

#: Where a bulk download may come from.
Platform = Literal["canvas", "moodle", "gradescope", "nbgrader"]

#: What the last cells of a notebook write beside it: files that only a student's own folder has.
DELIVERABLES = ("measurements.json", "note.md", "scaling.png", "kv_latency.png")

# ---------------------------------------------------------------- platforms

# Canvas: lowercased name, "_LATE" where it was, user id, attachment id, original file name; "anon" and five
# letters or digits instead of name and user id where marking is anonymous (late: "LATE_anon_…"); no attachment
# for a text entry or a web address.
_CANVAS = re.compile(
    r"(?:(?P<late_anon>LATE_)?(?P<anon>anon)(?P<anon_late>_LATE)?_(?P<code>[A-Za-z0-9]{5})"
    r"|(?P<who>[^/]+?)(?P<late>_LATE|_late)?_(?P<user>\d+))"
    r"_(?:(?P<order>\d+)_(?P<file>.+)|(?P<text>(?:text|link)\.html))",
    re.DOTALL,
)
# Moodle: full name, participant id, plugin; as a folder (with or without the last underscore), or in front of
# the file name where the download is without folders.
_MOODLE = re.compile(r"(?P<who>.+)_(?P<user>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?", re.DOTALL)


class Sender(NamedTuple):
    """Whose a file or folder is, as its name says. ``file`` is the original file name, '' for a folder;
    ``order`` grows with the time of the upload.
    """

    who: str
    user: str | None
    file: str
    late: bool = False
    order: int = 0
    platform: Platform = "moodle"


def canvas(name: str, notebooks: Collection[str]) -> Sender | None:
    """What Canvas says in a file's name. Otter's ``attention_lab_2024_03_15…`` only has the look of it."""
    found = _CANVAS.fullmatch(name)
    who = (found["who"] or found["anon"]) if found else ""
    if not found or named_for(who + ".ipynb", notebooks):
        return None
    file, order = found["file"] or found["text"], int((found["order"] or "0")[:18])
    late = any(found[part] for part in ("late", "late_anon", "anon_late"))
    return Sender(who, found["user"] or found["code"], file, late, order, "canvas")


def moodle(name: str) -> Sender | None:
    """What Moodle says in the name of a file or folder."""
    found = _MOODLE.fullmatch(name)
    return Sender(found["who"], found["user"], found["file"] or "") if found else None


#: nbgrader writes into it when it takes a submission in.
TIMESTAMP = "timestamp.txt"
MAX_TIMESTAMP_BYTES = 200
_OFFSET = re.compile(r" ?([+-]\d\d:?\d\d)$")


def timestamp(text: str) -> datetime | None:
    """nbgrader's moment, as in ``2026-11-13 20:59:00.123456 UTC`` or ``… +0300``; None for what is none."""
    text = text.strip()
    moment, _, zone = text.rpartition(" ")
    try:
        if _OFFSET.search(text):
            there = datetime.fromisoformat(_OFFSET.sub(r"\1", text))
            return there.replace(tzinfo=there.tzinfo or UTC)
        if ":" in zone:  # there is no zone, which means UTC
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    except (ValueError, OSError, KeyError):  # an unknown zone is a KeyError, a strange one an OSError
        return None


# ---------------------------------------------------------------- notebooks

# By how much a file's name speaks for a notebook.
EXACT, NUMBERED, COPY, WITHIN = 4, 3, 2, 1

_SUFFIX = re.compile(r"(?P<stem>.+?)(?P<suffix>\.ipynb|\.py)(?:\.txt|\.json)?", re.IGNORECASE | re.DOTALL)
# What is behind the name when a browser, Canvas, a file manager or Jupyter makes a second file of it.
_NUMBER = re.compile(r"_?\(?(\d{1,4})\)?")
_COPY = re.compile(r"_?copy(?:_?\(?(\d{1,4})\)?)?")


class Likeness(NamedTuple):
    """Which notebook a file's name speaks for, how clearly, and the number of the copy (0: none)."""

    clarity: int
    number: int
    notebook: str


def suffix_of(name: str) -> Literal[".ipynb", ".py", ""]:
    """``.ipynb`` or ``.py``, also where a browser added ``.txt`` or ``.json``; else ''."""
    found = _SUFFIX.fullmatch(name)
    if not found:
        return ""
    return ".py" if found["suffix"].lower() == ".py" else ".ipynb"


def stem_of(name: str) -> str:
    """The file name without the suffix of a notebook, a module or an archive."""
    found = _SUFFIX.fullmatch(name)
    return found["stem"] if found else re.sub(r"(?i)\.zip$", "", name) or name


def named_for(name: str, notebooks: Iterable[str]) -> Likeness | None:
    """The notebook that a file of this name says it is, if any.

    Case does not matter, nor whether words are joined by ``_``, ``-`` or a space.
    """
    if not suffix_of(name):
        return None
    stem = _plain(stem_of(name))
    found = [likeness for notebook in notebooks if (likeness := _likeness(stem, notebook))]
    # Of two the clearer; then the longer name, for "attention" may be a part of "attention_lab".
    return max(found, key=lambda likeness: (likeness.clarity, len(likeness.notebook)), default=None)


def is_extra(name: str, signatures: Signatures) -> bool:
    """Whether a file's name says that it is a notebook which is handed out and not graded."""
    like = named_for(name, signatures)
    return like is not None and signatures[like.notebook] == NOT_GRADED


def student_in(name: str, notebooks: Iterable[str]) -> str:
    """The student whom a file in a flat folder is named for: ``ayse_attention_lab.ipynb`` is ayse's."""
    stem = stem_of(name)
    for notebook in sorted(notebooks, key=len, reverse=True):
        words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", notebook)))
        rest = re.split(rf"(?i)(?:^|[\s_.-]+){words}(?:[\s_.-]+|$)", stem, maxsplit=1)
        student = "_".join(part for part in rest if part and not _copy_number(_plain(part)))
        if len(rest) > 1 and student:
            return student
    return stem


_DEFINES = re.compile(r"\b(?:def|class)[ \t]+([^\W\d]\w*)")
_ASSIGNS = re.compile(r"^[ \t\",]*([^\W\d]\w*)[ \t]*(?::[^=\n]{0,200})?=(?!=)", re.MULTILINE)
_IMPORTS = re.compile(r"\bimport[ \t]+\(?([\w, \t]{1,1000})")
#: Characters that are looked at to tell which notebook a text is.
LOOKED_AT = 4_000_000


def bound_names(text: str, contract: Collection[str]) -> set[str]:
    """Names of the contract that the text seems to define, assign or import. A guess, for choosing files."""
    text = text[:LOOKED_AT]
    found = set(_DEFINES.findall(text)) | set(_ASSIGNS.findall(text))
    for imported in _IMPORTS.findall(text):
        found.update(re.findall(r"\w+", imported))
    return found & set(contract)


def most_alike(text: str, signatures: Signatures) -> str | None:
    """The notebook whose names the text binds most of: at least two of them, or all if there are fewer."""
    bound = {name: bound_names(text, contract) for name, contract in signatures.items()}
    enough = [name for name, contract in signatures.items() if len(bound[name]) >= min(2, len(contract)) > 0]
    return max(enough, key=lambda name: len(bound[name]), default=None)


def _plain(text: str) -> str:
    return re.sub(r"[\s_.-]+", "_", unicodedata.normalize("NFKC", text).casefold()).strip("_")


def _likeness(stem: str, notebook: str) -> Likeness | None:
    name = _plain(notebook)
    if stem == name:
        return Likeness(EXACT, 0, notebook)
    if stem == f"copy_of_{name}":
        return Likeness(COPY, 0, notebook)
    if stem.startswith(name):
        copy = _copy_number(stem.removeprefix(name))
        if copy:
            return Likeness(*copy, notebook)
    return Likeness(WITHIN, 0, notebook) if f"_{name}_" in f"_{stem}_" else None


def _copy_number(rest: str) -> tuple[int, int] | None:
    """``_1`` and ``_(2)`` are later uploads, ``_copy1`` is a copy; anything else is neither."""
    number = _NUMBER.fullmatch(rest)
    if number:
        return NUMBERED, int(number[1])
    copy = _COPY.fullmatch(rest)
    return (COPY, int(copy[1] or 0)) if copy else None
