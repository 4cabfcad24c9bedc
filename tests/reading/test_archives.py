"""An archive is read in memory and under limits, whatever its headers say."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import archives
from autograder.archives import entries, open_archive, read_entry
from autograder.disk import CannotRead

Archive = Callable[[Mapping[str, bytes]], bytes]


def listed(data: bytes) -> list[tuple[str, ...]]:
    return [entry.path for entry in entries(open_archive(data))]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../etc/passwd", ("etc", "passwd")),
        ("/etc/passwd", ("etc", "passwd")),
        ("C:\\Users\\a.py", ("Users", "a.py")),
        ("a/./b//../c.py", ("a", "b", "c.py")),
        ("sütü/içti.py", ("sütü", "içti.py")),
    ],
)
def test_no_name_leads_out_of_the_folder(archive: Archive, name: str, path: tuple[str, ...]) -> None:
    assert listed(archive({name: b"x"})) == [path]


def test_what_operating_systems_add_is_passed_over(archive: Archive) -> None:
    names = ("__MACOSX/._lab.ipynb", ".DS_Store", ".git/config", "x/__pycache__/a.pyc", "..", "lab.ipynb")
    assert listed(archive(dict.fromkeys(names, b"x"))) == [("lab.ipynb",)]


def test_utf8_names_without_the_flag_are_read_as_macos_means_them(archive: Archive) -> None:
    data = archive({"Ayşe.ipynb": b"x"})
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + flags_at
        data = data[:at] + b"\0\0" + data[at + 2 :]
    assert listed(data) == [("Ayşe.ipynb",)]


def test_of_two_entries_with_one_path_the_later_counts() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("a.py", b"first")
        packed.writestr("b.py", b"second")
    twice = buffer.getvalue().replace(b"b.py", b"a.py")
    opened = open_archive(twice)
    assert [read_entry(opened, entry.number, 100) for entry in entries(opened)] == [b"second"]


def test_links_and_pipes_are_named_for_what_they_are() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, kind in (("link", stat.S_IFLNK), ("pipe", stat.S_IFIFO)):
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o777) << 16
            packed.writestr(info, "/etc/passwd")
    assert [entry.kind for entry in entries(open_archive(buffer.getvalue()))] == ["link", "special"]


def test_a_bomb_is_put_down_at_the_limit(archive: Archive) -> None:
    opened = open_archive(archive({"zeros": b"\0" * (64 << 20)}))
    with pytest.raises(CannotRead, match="is larger than 1 MiB"):
        read_entry(opened, 0, 1 << 20)


def test_a_header_that_lies_about_the_size_is_not_believed(archive: Archive) -> None:
    data = bytearray(archive({"zeros": b"\0" * (4 << 20)}))
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 10)  # 10 bytes, it says
    with pytest.raises(CannotRead):
        read_entry(open_archive(bytes(data)), 0, 1 << 20)


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [
        (8, b"\x01\x00", "is encrypted"),
        (10, b"\x63\x00", "make an ordinary .zip"),
        (10, b"\x0e\x00", "make an ordinary .zip"),
    ],
    ids=["encrypted", "unknown method", "LZMA"],
)
def test_what_cannot_be_unpacked_says_why(archive: Archive, offset: int, value: bytes, words: str) -> None:
    data = bytearray(archive({"a.py": b"a = 1"}))
    at = data.index(b"PK\x01\x02") + offset
    data[at : at + 2] = value
    with pytest.raises(CannotRead, match=words):
        read_entry(open_archive(bytes(data)), 0, 100)


def test_a_directory_of_gigabytes_is_not_read(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive({f"{number}.py": b"" for number in range(200)})
    monkeypatch.setattr(archives, "MAX_DIRECTORY_BYTES", 4_000)
    with pytest.raises(CannotRead, match="directory of more than"):
        open_archive(data)


def test_too_many_entries_are_refused(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ENTRIES", 10)
    with pytest.raises(CannotRead, match="more than 10 files"):
        open_archive(archive({f"{number}.py": b"" for number in range(11)}))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_is_a_reason_to_fail(data: st.DataObject) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("lab.ipynb", b"{}" * 100)
        packed.writestr("a/b.py", b"x")
    whole = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
    with suppress(CannotRead):
        opened = open_archive(bytes(whole))
        for entry in entries(opened):
            read_entry(opened, entry.number, 1 << 20)
