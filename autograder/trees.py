"""Places where submissions lie: a folder or file on disk, or inside a zip archive, looked at in the same way.

Looking lists names and, where asked, the beginning of a file; reading a submission is `submission.load`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from autograder import archives, disk
from autograder.disk import CannotRead, Kind
from autograder.names import valid_unicode

#: Bytes at the beginning of a file that are looked at to guess what it is.
PEEK_BYTES = 4 << 20


class Piece(msgspec.Struct, frozen=True):
    """Where a part of a submission lies. ``root`` is a path that the grader was given.

    ``folder`` and ``file``: what lies at ``inner`` below ``root``; ``entry``: number ``entry`` of the archive
    ``root``. ``name`` is the path inside the submission ('' for a folder, whose files have their own);
    ``order`` grows with the time of the upload where the platform tells.
    """

    kind: Literal["folder", "file", "entry"]
    root: bytes
    inner: tuple[bytes, ...] = ()
    entry: int = -1
    name: str = ""
    order: int = 0


@dataclass(frozen=True)
class Place(ABC):
    """Something with a name that may be, or hold, a submission."""

    name: str
    kind: Kind

    @property
    def is_folder(self) -> bool:
        return self.kind == "folder"

    @abstractmethod
    def children(self) -> list[Place]:
        """What lies in it, by name; nothing for a file, or where it cannot be listed."""

    @abstractmethod
    def pieces(self, name: str = "", order: int = 0) -> tuple[Piece, ...]:
        """It as part of a submission: a file under ``name``, or a folder with all that is in it."""

    @abstractmethod
    def start(self, size: int) -> bytes:
        """The first ``size`` bytes of a file; b'' where it cannot be read."""

    def peek(self) -> str:
        """The beginning of a file as text, good enough to look for names in; '' where it cannot be read."""
        return self.start(PEEK_BYTES).decode("utf-8", "replace").replace("\\n", "\n")


@dataclass(frozen=True)
class OnDisk(Place):
    """A file or folder at ``inner`` below the given path ``root``."""

    root: bytes
    inner: tuple[bytes, ...] = ()

    def children(self) -> list[Place]:
        with suppress(CannotRead):
            found = disk.children(self.root, self.inner)
            return [OnDisk(os.fsdecode(e.path[-1]), e.kind, self.root, e.path) for e in found]
        return []

    def pieces(self, name: str = "", order: int = 0) -> tuple[Piece, ...]:
        if self.is_folder:
            return (Piece("folder", self.root, self.inner),)
        return (Piece("file", self.root, self.inner, name=valid_unicode(name or self.name), order=order),)

    def start(self, size: int) -> bytes:
        with suppress(CannotRead, OSError), os.fdopen(disk.open_file(self.root, self.inner), "rb") as file:
            return file.read(size)
        return b""


@dataclass(frozen=True)
class InArchive(Place):
    """A file or folder inside the zip archive ``root``; ``entries`` are those at or below it."""

    root: bytes
    entries: tuple[archives.ArchiveEntry, ...] = field(repr=False)
    depth: int = 0

    def children(self) -> list[Place]:
        below: dict[tuple[str, Kind], list[archives.ArchiveEntry]] = {}
        for entry in self.entries:
            if len(entry.path) > self.depth:
                kind: Kind = entry.kind if len(entry.path) == self.depth + 1 else "folder"
                below.setdefault((entry.path[self.depth], kind), []).append(entry)
        return [
            InArchive(name, kind, self.root, tuple(below[name, kind]), self.depth + 1) for name, kind in sorted(below)
        ]

    def pieces(self, name: str = "", order: int = 0) -> tuple[Piece, ...]:
        return tuple(
            Piece(
                "entry",
                self.root,
                (),
                entry.number,
                name or "/".join(entry.path[self.depth :]) or self.name,
                order,
            )
            for entry in self.entries
        )

    def start(self, size: int) -> bytes:
        with (
            suppress(CannotRead, OSError),
            Path(os.fsdecode(self.root)).open("rb") as file,
            archives.open_archive(file) as archive,
        ):
            return archives.read_entry(archive, self.entries[0].number, size)
        return b""


def folder_on_disk(path: str, label: str) -> Place:
    """A given folder; CannotRead where it cannot be listed."""
    disk.children(os.fsencode(path))
    return OnDisk(label, "folder", os.fsencode(path))


def inside_archive(path: str, label: str) -> Place:
    """The inside of a given zip archive, as a folder; CannotRead or OSError where it is none."""
    with Path(path).open("rb") as file, archives.open_archive(file) as archive:
        return InArchive(label, "folder", os.fsencode(path), tuple(archives.entries(archive)))
