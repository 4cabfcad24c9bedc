"""The folder of a grading run: one file per submission, whole or not there, and reading them back.

A file is written beside its place, flushed to the disk and moved into place, so that a grader killed at any
moment leaves what was there before. A second grader in the folder is turned away while the first is at work; where
the file system has no locks, both write the same bytes for the same submission.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import msgspec

from autograder.result import SCHEMA, Result

#: A result larger than this was not written by this grader.
MAX_RESULT_BYTES = 32 * 2**20
#: Held by the grader that is at work in the folder.
LOCK = ".grading.lock"


class FolderError(Exception):
    """The folder for results cannot be used (any more); the message is a sentence for a person."""


@dataclass(frozen=True)
class Kept:
    """A result in the folder, and the name of its files there without their endings."""

    stem: str
    result: Result


class Results(Sequence[Kept]):
    """The results of a folder in the order of their names.

    Each is read when its turn comes and held by nobody here, so that thousands need no more memory than one. Whoever
    makes a list of them gives that away. `FolderError` where one is gone by then.
    """

    def __init__(self, out: Path, named: Sequence[tuple[str, str]]) -> None:
        """``named``: the submission and the stem of the file of each."""
        self._out, self._named = out, named

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self._named]

    @property
    def stems(self) -> list[str]:
        return [stem for _, stem in self._named]

    def __len__(self) -> int:
        return len(self._named)

    @overload
    def __getitem__(self, index: int) -> Kept: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Kept | Results:
        if isinstance(index, slice):
            return Results(self._out, self._named[index])
        return kept(self._out, self._named[index][1])


def prepare(out: Path) -> None:
    """Make the folder, and find out now whether it can be written, not after an hour of grading."""
    try:
        for folder in (out, out / "results", out / "feedback"):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".{secrets.token_hex(8)}.tmp"
            probe.write_bytes(b"x")
            probe.unlink()
    except OSError as error:
        raise FolderError(f"Results cannot be written to {out}: {error.strerror}.") from None


@contextlib.contextmanager
def only_grader(out: Path) -> Iterator[None]:
    """While this lasts, no other grader works in the folder; `FolderError` where one does.

    The kernel drops the lock with the process, however that ends, so none is ever left behind.
    """
    try:
        descriptor = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise FolderError(f"Results cannot be written to {out}: {error.strerror}.") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(
                f"Another grader is at work in {out}. Wait until it is done, or give another folder as --out; "
                "nothing was graded here."
            ) from None
        except OSError:
            # Some network file systems have no locks. Two graders then do the same work twice, and no harm.
            pass
        else:
            # A grader that was killed while it wrote has left a draft behind; nobody else writes here now.
            for draft in (out / "results").glob(".*.tmp"):
                draft.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def write(out: Path, name: str, result: Result) -> None:
    """Put a result in its place, as ``results/<name>.json``."""
    content = msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"
    write_file(out / "results" / f"{name}.json", content)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; `FolderError` where the disk is full or cannot be written."""
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        raise FolderError(
            f"{path} cannot be written: {error.strerror}. What was there before is unchanged, and the "
            "results that were finished are kept; the same command goes on from there."
        ) from None
    finally:
        with contextlib.suppress(OSError):  # moved into place, or the folder has become read-only
            draft.unlink()


def read(path: Path) -> Result | None:
    """A result, or None where there is no readable one: it is then made again."""
    try:
        if path.stat().st_size > MAX_RESULT_BYTES:
            return None
        result = msgspec.json.decode(path.read_bytes(), type=Result)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return result if result.schema == SCHEMA else None


def kept(out: Path, stem: str) -> Kept:
    """The result of that name, which was there a moment ago; `FolderError` where it is not any more."""
    path = out / "results" / f"{stem}.json"
    result = read(path)
    if result is None:
        raise FolderError(f"{path} was removed or changed while it was used. Run the same command again.")
    return Kept(stem, result)


def read_all(out: Path) -> tuple[Results, list[Path]]:
    """Every result of the folder in the order of their names, and the files that could not be read."""
    named, unreadable = [], []
    for path in _files(out):
        result = read(path)
        if result is None:
            unreadable.append(path)
        else:
            named.append((result.submission, path.stem))
    named.sort(key=lambda one: (one[0].casefold(), one[1]))
    return Results(out, named), unreadable


def any_one(out: Path) -> Result | None:
    """A result of the folder, for what all of them have in common; None where there is none."""
    return next((result for path in _files(out) if (result := read(path)) is not None), None)


def assignment_of(out: Path) -> str:
    """What the results of a folder are results of; `FolderError` where there is none."""
    result = any_one(out)
    if result is None:
        raise FolderError(f"There is no result in {out} yet. Grade something first.")
    return result.assignment


def _files(out: Path) -> list[Path]:
    return sorted(path for path in (out / "results").glob("*.json") if not path.name.startswith("."))


def _flush_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        # Some network file systems refuse this for folders; the file itself is on the disk by now.
        pass
    finally:
        os.close(descriptor)
