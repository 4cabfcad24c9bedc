"""Which of the files that were handed in is which notebook of the assignment.

A name decides where it is clear; what the text binds decides where a file was renamed. Either only chooses a
file; no mark hangs on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from attnlab.words import names
from autograder.conventions import (
    COPY,
    NOT_GRADED,
    Likeness,
    Signatures,
    bound_names,
    is_extra,
    most_alike,
    named_for,
    suffix_of,
)
from autograder.disk import MAX_DEPTH, CannotRead
from autograder.names import display_name
from autograder.notebook_file import MAX_FILE_BYTES, Notebook, read_file
from autograder.parts import Part

#: Files, and bytes of them, that are read to see what they are.
MAX_LOOKED_INTO = 30
MAX_BYTES_LOOKED_INTO = 512 << 20
#: What the skeleton raises in a function that is not written yet.
_UNWRITTEN = "NotImplementedError"
_LISTED = 5
NO_FILE = f"There is no file at all; hidden ones, and those more than {MAX_DEPTH} folders deep, are not looked at."


class Chosen(NamedTuple):
    """A file that was read: ``digest`` is the SHA-256 of its bytes in hex, or why there are none."""

    part: Part
    notebook: Notebook
    digest: str
    size: int

    @property
    def text(self) -> str:
        return "\n".join(cell.source for cell in self.notebook.cells)


def choose(
    parts: Sequence[Part], signatures: Signatures, expected: Collection[str] = ()
) -> tuple[list[Chosen], list[str]]:
    """The notebooks that were handed in, one for each name at most, and sentences for the student.

    Of a notebook that is not among ``expected`` (empty: all are) it is not said that it was not handed in. One that
    is not graded is left aside, whatever somebody wrote into it.
    """
    files = [part for part in parts if part.kind == "file" and suffix_of(part.name)]
    extra = [part for part in files if is_extra(part.name, signatures)]
    files = [part for part in files if part not in extra]
    signatures = {name: contract for name, contract in signatures.items() if contract != NOT_GRADED}
    likes = {part.path: like for part in files if (like := named_for(part.name, signatures))}
    files.sort(key=lambda part: _lateness(part, likes.get(part.path)), reverse=True)
    chosen: list[Chosen] = []
    problems: list[str] = []
    renamed = []
    own: dict[str, list[Part]] = {name: [] for name in signatures}
    for part in files:
        like = likes.get(part.path)
        if like and like.clarity >= COPY:
            own[like.notebook].append(part)
        else:
            renamed.append(part)
    for name, theirs in own.items():
        if theirs:
            one, said = _one_of(theirs, name)
            chosen.append(one)
            problems += said
    for one in _finished(chosen, renamed, signatures, likes):
        untouched = next(other for other in chosen if other.notebook.name == one.notebook.name)
        chosen[chosen.index(untouched)] = one
        problems.append(f"{one.part.shown} counts for {one.notebook.name}; in {untouched.part.shown} less is written.")
        renamed.remove(one.part)
    missing = {name: contract for name, contract in signatures.items() if not own[name]}
    by_content = _by_content(renamed, missing, signatures, likes) if missing and renamed else []
    if not chosen and not by_content and len(signatures) == len(renamed) == 1:
        by_content = [_read(renamed[0], next(iter(signatures)))]  # the only file: it is what was meant
    for one in by_content:
        problems.append(f"{one.part.shown} was taken for {one.notebook.name}, whatever its name.")
    found = {one.notebook.name for one in (*chosen, *by_content)}
    lost = [name for name in expected or signatures if name not in found]
    problems += _not_handed_in(lost, parts, signatures, nothing=not found)
    if lost and extra:
        shown = _list([part.shown for part in extra])
        problems.append(f"{shown} {'is' if len(extra) == 1 else 'are'} for trying things out and not graded.")
    return [*chosen, *by_content], problems


def _lateness(part: Part, like: Likeness | None) -> tuple[bool, bool, int, int, int, tuple[str, ...]]:
    """Of several files for one notebook the last one handed in counts; a copy or a module for want of it."""
    copy = like is not None and like.clarity == COPY
    return (
        suffix_of(part.name) == ".ipynb",
        not copy,
        part.order,
        like.number if like else 0,
        -len(part.path),
        part.path,
    )


def _one_of(parts: Sequence[Part], name: str) -> tuple[Chosen, list[str]]:
    """The one of a notebook's files that counts: the first with a cell.

    Of a notebook and a module the one that is written: who works in an editor may well hand in the untouched
    notebook too.
    """
    read = []
    for part in parts[:_LISTED]:
        read.append(_read(part, name))
        if read[-1].notebook.cells:
            break
    one = read[-1] if read[-1].notebook.cells else read[0]
    other = next((part for part in parts if suffix_of(part.name) != suffix_of(one.part.name)), None)
    if other and one.notebook.cells:
        second = _read(other, name)
        if second.notebook.cells and second.text.count(_UNWRITTEN) < one.text.count(_UNWRITTEN):
            one = second
    if len(parts) == 1:
        return one, []
    rest = [part.shown for part in parts if part is not one.part]
    said = f"Of {len(parts)} files for {name}, {one.part.shown} counts; {_list(rest)} did not."
    failed = [problem for other_one in read if other_one is not one for problem in other_one.notebook.problems]
    return one, [said, *failed]


def _finished(
    chosen: Sequence[Chosen], renamed: Sequence[Part], signatures: Signatures, likes: dict[tuple[str, ...], Likeness]
) -> list[Chosen]:
    """Renamed notebooks to be read in the place of the chosen ones.

    Who finishes the notebook under another name may well hand in the untouched one too.
    """
    found: dict[str, Chosen] = {}
    for one in chosen:
        name, unwritten = one.notebook.name, one.text.count(_UNWRITTEN)
        for part in [part for part in renamed if suffix_of(part.name) == ".ipynb"][: _LISTED if unwritten else 0]:
            other = _read(part, name)
            like = likes.get(part.path)
            about = like.notebook if like else most_alike(other.text, signatures)
            contract = signatures[name]
            as_much = len(bound_names(other.text, contract)) >= len(bound_names(one.text, contract))
            if about == name and as_much and other.text.count(_UNWRITTEN) < unwritten:
                found[name], unwritten = other, other.text.count(_UNWRITTEN)
    return list(found.values())


def _by_content(
    parts: Sequence[Part], missing: Signatures, signatures: Signatures, likes: dict[tuple[str, ...], Likeness]
) -> list[Chosen]:
    """For each missing notebook the file that binds most of its names, unless it binds more of another's; a notebook
    before a module."""
    best: dict[str, tuple[tuple[bool, bool, int], Chosen]] = {}
    left = MAX_BYTES_LOOKED_INTO
    for part in parts[:MAX_LOOKED_INTO]:
        if left <= 0:
            break
        one = _read(part, "")
        left -= one.size
        like = likes.get(part.path)
        within = like.notebook if like and like.notebook in missing else None
        name = within or most_alike(one.text, signatures)
        if name and name in missing:
            rank = suffix_of(part.name) == ".ipynb", name == within, len(bound_names(one.text, missing[name]))
            if name not in best or rank > best[name][0]:
                one.notebook.name = name
                best[name] = rank, one
    return [one for _, one in best.values()]


def _read(part: Part, name: str) -> Chosen:
    try:
        data = part.read(MAX_FILE_BYTES)
    except CannotRead as error:
        unread = Notebook(name, part.name, problems=[f"{part.shown} {error}."])
        return Chosen(part, unread, str(error), 0)
    return Chosen(part, read_file(data, name, part.name), hashlib.sha256(data).hexdigest(), len(data))


def _not_handed_in(
    lost: Sequence[str], parts: Sequence[Part], signatures: Signatures, *, nothing: bool
) -> Iterable[str]:
    if not lost:
        return
    yield f"{names(list(lost))} {'was' if len(lost) == 1 else 'were'} not handed in, which scores zero."
    for part in parts:
        like = named_for(part.name, signatures)
        looks_lost = like.notebook in lost if like else nothing and suffix_of(part.name) == ".ipynb"
        if part.kind in ("link", "special") and looks_lost:
            kind = "a link, and links are not followed" if part.kind == "link" else "no regular file"
            yield f"{part.shown} is {kind}; hand in the file itself."
    folders = {name for part in parts for name in (part.path if part.kind == "folder" else part.path[:-1])}
    for folder in sorted(folders):
        like = named_for(folder, signatures)
        if like and like.notebook in lost:
            yield f"{display_name(folder)} is a folder, not a notebook."
    if nothing:
        shown = [part.shown for part in parts if part.kind != "folder"]
        yield f"There is nothing but {_list(shown)}." if shown else NO_FILE


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
