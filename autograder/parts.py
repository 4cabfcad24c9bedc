"""All that one submission holds, listed before it is read: files on disk and in archives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from autograder import archives, disk
from autograder.disk import CannotRead, Kind
from autograder.names import display_name, valid_unicode
from autograder.trees import Piece

#: Bytes of an archive inside a submission, which is opened in memory.
MAX_ARCHIVE_BYTES = 128 << 20
#: Bytes that are unpacked for one submission, wanted or not.
MAX_UNPACKED_BYTES = 512 << 20
#: Files of one submission that are looked at.
MAX_PARTS = 20_000


class Part(NamedTuple):
    """A file of a submission: its ``path`` in valid Unicode; ``read(limit)`` gives its bytes or CannotRead.

    ``order`` grows with the time of the upload where the platform tells.
    """

    path: tuple[str, ...]
    kind: Kind
    order: int
    read: Callable[[int], bytes]

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def shown(self) -> str:
        """The path as a message shows it."""
        return display_name("/".join(self.path))


class Parts:
    """Opens what the pieces of a submission name; use it in a ``with``, which closes the archives again.

    ``problems`` are sentences on what could not be listed.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._open = ExitStack()
        self._archives: dict[bytes, tuple[ZipFile, dict[int, Kind]]] = {}
        self._left = MAX_UNPACKED_BYTES

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def of(self, pieces: Iterable[Piece]) -> list[Part]:
        """The files of all pieces."""
        found: list[Part] = []
        for piece in pieces:
            try:
                found.extend(islice(self._of(piece), MAX_PARTS))
            except (CannotRead, OSError) as error:
                where = piece.name or valid_unicode(
                    piece.inner[-1] if piece.inner else Path(os.fsdecode(piece.root)).name
                )
                reason = str(error) if isinstance(error, CannotRead) else "cannot be opened"
                self.problems.append(f"{display_name(where)} {reason}.")
        return found[:MAX_PARTS]

    def inside(self, archive: Part) -> list[Part]:
        """The files of an archive that is a part itself, in a folder of its name; none if it is broken."""
        folder = (*archive.path[:-1], archive.name[:-4] or "archive")
        try:
            opened = self._open.enter_context(archives.open_archive(archive.read(MAX_ARCHIVE_BYTES)))
        except CannotRead as error:
            self.problems.append(f"{archive.shown} {error}.")
            return []
        return [
            Part((*folder, *entry.path), entry.kind, archive.order, partial(self._unpack, opened, entry.number))
            for entry in islice(archives.entries(opened), MAX_PARTS)
            if entry.kind != "folder"
        ]

    def _of(self, piece: Piece) -> Iterator[Part]:
        if piece.kind == "folder":
            for entry in disk.walk(piece.root, piece.inner):
                path = tuple(valid_unicode(name) for name in entry.path[len(piece.inner) :])
                yield Part(path, entry.kind, piece.order, partial(disk.read_file, piece.root, entry.path))
            return
        path = tuple(piece.name.split("/"))
        if piece.kind == "file":
            kind = disk.kind_at(piece.root, piece.inner)
            yield Part(path, kind, piece.order, partial(disk.read_file, piece.root, piece.inner))
        else:
            opened, kinds = self._archive(piece.root)
            if piece.entry in kinds:
                yield Part(path, kinds[piece.entry], piece.order, partial(self._unpack, opened, piece.entry))

    def _archive(self, path: bytes) -> tuple[ZipFile, dict[int, Kind]]:
        if path not in self._archives:
            file = self._open.enter_context(os.fdopen(disk.open_file(path, ()), "rb"))
            opened = self._open.enter_context(archives.open_archive(file))
            self._archives[path] = opened, {entry.number: entry.kind for entry in archives.entries(opened)}
        return self._archives[path]

    def _unpack(self, archive: ZipFile, number: int, limit: int) -> bytes:
        if self._left <= 0:
            raise CannotRead(f"is left out: the archives unpack to more than {MAX_UNPACKED_BYTES >> 20} MiB in all")
        try:
            data = archives.read_entry(archive, number, limit)
        except CannotRead:
            self._left -= limit  # it may have taken that much to find out
            raise
        self._left -= len(data)
        return data
