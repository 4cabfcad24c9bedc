"""Files of a submission on disk, listed and read without following a link or waiting for a device.

Every component below the folder that the grader was given is opened on its own with ``O_NOFOLLOW``, so a link
that a student planted is never walked through, and what was opened is looked at again before it is read: a
pipe or a device that took the file's place is closed unread.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["file", "folder", "link", "special"]

#: Entries of one submission's folders that are looked at, and how deep.
MAX_ENTRIES = 20_000
MAX_DEPTH = 8

#: Folders that tools leave behind; nothing in them was written by hand.
LEFT_BY_TOOLS = frozenset({"__MACOSX", "__pycache__", "node_modules"})


class CannotRead(Exception):
    """Why something was not read, as the end of a sentence: ``is larger than 8 MiB``."""


class Entry(NamedTuple):
    """Something in a folder; ``path`` is relative to the folder, ``size`` in bytes."""

    path: tuple[bytes, ...]
    kind: Kind
    size: int


def is_left_by_a_tool(name: str | bytes) -> bool:
    """Whether a file or folder of this name is never a student's work (hidden, a cache, macOS's own)."""
    text = os.fsdecode(name)
    return text.startswith(".") or text in LEFT_BY_TOOLS or text == "Thumbs.db"


def children(root: bytes, inner: tuple[bytes, ...] = ()) -> list[Entry]:
    """What lies directly in a folder, by name. CannotRead where it cannot be listed."""
    folder = _open_beneath(root, inner, os.O_DIRECTORY)
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found]
        return [
            entry
            for name in sorted(os.fsencode(n) for n in names)
            if not is_left_by_a_tool(name) and (entry := _look(folder, inner, name))
        ]
    except OSError as error:
        raise CannotRead(_reason(error)) from None
    finally:
        os.close(folder)


def walk(root: bytes, inner: tuple[bytes, ...] = ()) -> Iterator[Entry]:
    """All below a folder, the shallow first. CannotRead where the folder itself cannot be listed, or after
    `MAX_ENTRIES`; a folder deeper down that cannot be listed is passed over.
    """
    pending, seen = [inner], 0
    while pending:
        folder = pending.pop(0)
        try:
            found = children(root, folder)
        except CannotRead:
            if folder == inner:
                raise
            continue
        if folder != inner and any(entry.path[-1] == b"pyvenv.cfg" for entry in found):
            continue  # a virtual environment: thousands of files that nobody here wrote
        for entry in found:
            seen += 1
            if seen > MAX_ENTRIES:
                raise CannotRead(f"holds more than {MAX_ENTRIES:,} files")
            if entry.kind == "folder" and len(entry.path) - len(inner) < MAX_DEPTH:
                pending.append(entry.path)
            yield entry


def kind_at(root: bytes, inner: tuple[bytes, ...]) -> Kind:
    """What lies at ``inner``, without opening it. CannotRead where nothing does."""
    if not inner:
        try:
            return kind_of(Path(os.fsdecode(root)).stat().st_mode)
        except OSError as error:
            raise CannotRead(_reason(error)) from None
    folder = _open_beneath(root, inner[:-1], os.O_DIRECTORY)
    try:
        entry = _look(folder, inner[:-1], inner[-1])
    finally:
        os.close(folder)
    if entry is None:
        raise CannotRead("does not exist")
    return entry.kind


def read_file(root: bytes, inner: tuple[bytes, ...], limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes; CannotRead otherwise."""
    descriptor = _open_beneath(root, inner, 0)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise CannotRead("is not a regular file")
        parts, size = [], 0
        # In one piece if it stays as large as it is now, so that 100 MB are not copied once more.
        while block := os.read(descriptor, min(found.st_size, limit) + 1):
            size += len(block)
            if size > limit:
                raise CannotRead(too_large(limit))
            parts.append(block)
        return b"".join(parts)
    except OSError as error:
        raise CannotRead(_reason(error)) from None
    finally:
        os.close(descriptor)


def open_file(root: bytes, inner: tuple[bytes, ...]) -> int:
    """A descriptor of a regular file, for reading; the caller closes it. CannotRead otherwise."""
    descriptor = _open_beneath(root, inner, 0)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CannotRead("is not a regular file")
    return descriptor


def too_large(limit: int) -> str:
    return f"is larger than {limit >> 20} MiB"


def _open_beneath(root: bytes, inner: tuple[bytes, ...], last: int) -> int:
    """Open ``root`` (the grader's own word, so a link is followed), then go down to ``inner`` without one."""
    plain = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        current = os.open(root, plain | (os.O_DIRECTORY if inner else last))
        for depth, name in enumerate(inner, 1):
            flags = plain | os.O_NOFOLLOW | (os.O_DIRECTORY if depth < len(inner) else last)
            try:
                if name in (b"", b".", b"..") or b"/" in name:
                    raise CannotRead("has a name that no file has")
                below = os.open(name, flags, dir_fd=current)
            finally:
                os.close(current)
            current = below
    except OSError as error:
        raise CannotRead(_reason(error)) from None
    return current


def _look(folder: int, inner: tuple[bytes, ...], name: bytes) -> Entry | None:
    with suppress(OSError):  # gone since it was listed
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        return Entry((*inner, name), kind_of(found.st_mode), found.st_size)
    return None


def kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "special"


def _reason(error: OSError) -> str:
    known: dict[type[OSError], str] = {
        FileNotFoundError: "does not exist",
        PermissionError: "cannot be opened (no permission)",
        NotADirectoryError: "is not a folder, or is a link",
        IsADirectoryError: "is a folder",
    }
    for kind, reason in known.items():
        if isinstance(error, kind):
            return reason
    if error.errno == errno.ELOOP:  # what O_NOFOLLOW answers for a link
        return "is a link"
    return f"cannot be opened ({error.strerror or type(error).__name__})"
