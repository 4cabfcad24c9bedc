"""Archives that lie, loop, are damaged or are far too large: a sentence or a mark, never an error of the grader."""

from __future__ import annotations

import io
import json
import random
import resource
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest

from autograder import archives, course, submission
from autograder.disk import CannotRead
from tests.corpus.corpora import settings
from tests.samples.build import notebook


def packed(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def book() -> bytes:
    return json.dumps(notebook("solution")).encode()


def link(name: str, target: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, target)
    return file.getvalue()


def bomb() -> bytes:
    return packed(*((f"{i}.txt", bytes(30 * 2**20)) for i in range(20)))


def changed(data: bytes, at: bytes, offset: int, new: bytes) -> bytes:
    """The archive with other bytes in each header of one kind."""
    found, position = bytearray(data), -1
    while (position := data.find(at, position + 1)) >= 0:
        found[position + offset : position + offset + len(new)] = new
    return bytes(found)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
PLAIN = packed(("attention_lab.ipynb", b"{}"), ("helper.py", b"x = 1"))
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "sizes that are lies": lambda: changed(changed(PLAIN, CENTRAL, 24, b"\xff\xff\xff\x7f"), LOCAL, 22, b"\x01\0\0\0"),
    "offsets behind the end": lambda: changed(PLAIN, CENTRAL, 42, b"\xff\xff\xff\x7f"),
    "offsets to the last bytes": lambda: changed(PLAIN, CENTRAL, 42, struct.pack("<I", len(PLAIN) - 5)),
    "zip64 without zip64": lambda: changed(PLAIN, CENTRAL, 24, b"\xff\xff\xff\xff"),
    "encrypted": lambda: changed(PLAIN, CENTRAL, 8, b"\x01"),
    "an unknown method": lambda: changed(PLAIN, CENTRAL, 10, b"\x63"),
    "a wrong checksum": lambda: changed(PLAIN, CENTRAL, 16, b"\0\0\0\0"),
    "more entries than there are": lambda: changed(PLAIN, END, 8, b"\xff\x7f\xff\x7f"),
    "a directory of gigabytes": lambda: changed(PLAIN, END, 12, b"\xff\xff\xff\x7f"),
    "entries in the same place": lambda: changed(PLAIN, CENTRAL, 42, b"\0\0\0\0"),
    "nothing but an end": lambda: END + bytes(18),
    "absolute and climbing names": lambda: packed(
        ("/etc/x", b"1"), ("../../x", b"2"), ("..\\..\\y", b"3"), ("C:\\z", b"4")
    ),
    "names of control characters": lambda: packed(("\x1b[2J\u202e\0.py", b"1"), ("a\n=1.py", b"2"), ("." * 400, b"3")),
    "the same name often": lambda: packed(*[("attention_lab.ipynb", b"{}")] * 30),
    "a file that is a folder": lambda: packed(("a", b"1"), ("a/b", b"2"), ("a/b/c", b"3")),
    "a link": lambda: link("attention_lab.ipynb", "/etc/passwd"),
    "a link to a folder": lambda: link("out", "/tmp"),
    "an archive in an archive in an archive": lambda: packed(("a.zip", packed(("b.zip", packed(("c.zip", PLAIN)))))),
    "600 MiB of zeros": bomb,
    "20,000 files": lambda: packed(*((f"{i}.py", b"") for i in range(20_000))),
}  # fmt: skip


def read(data: bytes) -> submission.Submission:
    return submission.read("s", {"work.zip": data}, "lab07", course.signatures(settings().course))


@pytest.mark.parametrize("what", ARCHIVES)
def test_it_is_read_as_far_as_it_can_be_and_the_rest_is_said(what: str) -> None:
    data = ARCHIVES[what]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = read(data)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 300
    assert found.message or found.notebooks
    assert sum(map(len, found.files.values())) <= submission.MAX_FILES_BYTES
    assert all(not name.startswith("/") and ".." not in name.split("/") for name in found.files)
    assert "root:" not in repr(found.files) + repr(found.notebooks)


def test_an_archive_with_a_right_notebook_is_read() -> None:
    assert len(read(packed(("attention_lab.ipynb", book()))).notebooks["attention_lab"].cells) > 10


def broken(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4])):
        at = chance.randrange(len(found))
        match chance.randrange(4):
            case 0:
                found[at] ^= 1 << chance.randrange(8)
            case 1:
                found[at : at + chance.randrange(20)] = b""
            case 2:
                found[at:at] = chance.randbytes(chance.randrange(8))
            case _:
                found[at : at + 4] = chance.choice([b"\xff\xff\xff\xff", bytes(4), struct.pack("<I", len(data) - 10)])
        if not found:
            return data
    return bytes(found)


@pytest.mark.parametrize("count", [1_500, pytest.param(100_000, marks=pytest.mark.soak)])
def test_damaged_archives_raise_nothing_but_cannot_read(count: int) -> None:
    chance = random.Random(7)
    whole = packed(("a.ipynb", b"x" * 3000), ("b/c.py", b"y")) + b""
    mixed = packed(("d.txt", b"z" * 100), ("e", b"s"), method=zipfile.ZIP_BZIP2)
    for i in range(count):
        try:
            archive = archives.open_archive(broken(whole if i % 2 else mixed, chance))
        except CannotRead:
            continue
        for entry in archives.entries(archive):
            try:
                assert len(archives.read_entry(archive, entry.number, 1 << 20)) <= 1 << 20
            except CannotRead:
                continue
