"""Zip archives, read entry by entry in memory and under limits; nothing is ever written to disk.

What a header says is not believed: sizes are counted while reading, names are cut down to plain path
components, links are never resolved, and an archive inside an archive is opened once, not for ever.
"""

from __future__ import annotations

import contextlib
import io
import stat
import zipfile
import zlib
from typing import BinaryIO, NamedTuple

from autograder.disk import CannotRead, Kind, is_left_by_a_tool, kind_of, too_large

#: Entries of one archive, and bytes of its central directory. A bulk download of a large class has some
#: thousands; a hostile directory of 256 MiB would become gigabytes of Python objects.
MAX_ENTRIES = 50_000
MAX_DIRECTORY_BYTES = 16 << 20

# LZMA is left out on purpose: an entry's header may ask for a dictionary of 4 GiB before the first byte.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2}
_ENCRYPTED, _UTF8_NAME = 0x1, 0x800


class ArchiveEntry(NamedTuple):
    """An entry: its number in the archive's directory, its path made plain, its kind as the header has it."""

    number: int
    path: tuple[str, ...]
    kind: Kind


class _Measured:
    """A file that refuses one huge read: `zipfile` reads an archive's directory in one piece, however large
    the archive says it is.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(MAX_DIRECTORY_BYTES + 1 if size < 0 else min(size, MAX_DIRECTORY_BYTES + 1))
        if len(data) > MAX_DIRECTORY_BYTES:
            raise CannotRead(f"has a directory of more than {MAX_DIRECTORY_BYTES >> 20} MiB")
        return data

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()


def open_archive(file: bytes | BinaryIO) -> zipfile.ZipFile:
    """The archive, ready for `entries` and `read_entry`; closing it does not close the file. CannotRead if it
    is none.
    """
    source = io.BytesIO(file) if isinstance(file, bytes) else file
    try:
        archive = zipfile.ZipFile(_Measured(source))
        if len(archive.infolist()) > MAX_ENTRIES:
            raise CannotRead(f"holds more than {MAX_ENTRIES:,} files")
        return archive
    except zipfile.BadZipFile:
        raise CannotRead("is damaged, or is no zip archive") from None
    except (ValueError, OSError, NotImplementedError, RuntimeError, OverflowError) as error:
        raise CannotRead(f"cannot be read as a zip archive ({type(error).__name__})") from None


def entries(archive: zipfile.ZipFile) -> list[ArchiveEntry]:
    """All entries in the archive's order; of two with the same path the later one.

    What tools leave behind (``__MACOSX``, hidden files) is passed over. Not every folder has an entry.
    """
    found: dict[tuple[str, ...], ArchiveEntry] = {}
    for number, info in enumerate(archive.infolist()):
        path = _plain_path(_name(info))
        if not path or any(is_left_by_a_tool(part) for part in path):
            continue
        mode = info.external_attr >> 16
        kind: Kind = "folder" if info.is_dir() else kind_of(mode) if stat.S_IFMT(mode) else "file"
        found.pop(path, None)
        found[path] = ArchiveEntry(number, path, kind)
    return list(found.values())


def read_entry(archive: zipfile.ZipFile, number: int, limit: int) -> bytes:
    """The content of entry ``number``, at most ``limit`` bytes of it once unpacked; CannotRead otherwise."""
    info = archive.infolist()[number]
    if info.flag_bits & _ENCRYPTED:
        raise CannotRead("is encrypted; hand in an archive without a password")
    if info.compress_type not in _METHODS:
        raise CannotRead("is packed in a way that is not read here; make an ordinary .zip")
    parts, size = [], 0
    try:
        with archive.open(info) as unpacked:
            while block := unpacked.read(1 << 18):
                size += len(block)
                if size > limit:
                    raise CannotRead(too_large(limit))
                parts.append(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
        raise CannotRead(f"is damaged in the archive ({type(error).__name__})") from None
    except (RuntimeError, NotImplementedError, OverflowError) as error:
        raise CannotRead(f"cannot be unpacked ({type(error).__name__})") from None
    return b"".join(parts)


def _name(info: zipfile.ZipInfo) -> str:
    """The entry's name. Without the UTF-8 flag `zipfile` assumes code page 437, while macOS writes UTF-8."""
    if not info.flag_bits & _UTF8_NAME:
        with contextlib.suppress(UnicodeError):
            return info.filename.encode("cp437").decode("utf-8")
    return info.filename


def _plain_path(name: str) -> tuple[str, ...]:
    """Path components that cannot leave the folder: no root, no drive, no ``..``, no backslash tricks."""
    parts = name.replace("\\", "/").split("/")
    if len(parts[0]) == 2 and parts[0].endswith(":"):
        parts = parts[1:]
    return tuple(part.replace("\0", "") for part in parts if part.strip("\0") not in ("", ".", ".."))
