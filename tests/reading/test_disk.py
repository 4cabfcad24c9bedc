"""A path is walked one component at a time, through no link, and only a regular file is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder import disk
from autograder.disk import CannotRead, children, kind_at, read_file, walk

LIMIT = 1 << 20


def test_a_file_is_read_below_the_given_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_bytes(b"x" * 100)
    assert read_file(os.fsencode(tmp_path), (b"a", b"b.py"), LIMIT) == b"x" * 100
    assert read_file(os.fsencode(tmp_path / "a" / "b.py"), (), LIMIT) == b"x" * 100


@pytest.mark.parametrize("inner", [(b"link.py",), (b"link", b"b.py"), (b"..", b"b.py"), (b"a/../b.py",), (b"",)])
def test_no_link_and_no_odd_component_is_walked_through(tmp_path: Path, inner: tuple[bytes, ...]) -> None:
    # A look at the kind comes first elsewhere; this is the door itself, for a link that was put there since.
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "b.py").write_bytes(b"secret")
    (tmp_path / "b.py").write_bytes(b"secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "b.py")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    with pytest.raises(CannotRead):
        read_file(os.fsencode(tmp_path / "in"), inner, LIMIT)


def test_a_pipe_is_neither_waited_for_nor_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert kind_at(os.fsencode(tmp_path), (b"pipe",)) == "special"
    with pytest.raises(CannotRead, match="is not a regular file"):
        read_file(os.fsencode(tmp_path), (b"pipe",), LIMIT)


def test_a_folder_is_not_read_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(CannotRead):
        read_file(os.fsencode(tmp_path), (b"a",), LIMIT)


def test_more_than_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(CannotRead, match="is larger than 1 MiB"):
        read_file(os.fsencode(tmp_path), (b"big",), LIMIT)


def test_a_device_that_never_ends_is_not_read() -> None:
    with pytest.raises(CannotRead):
        read_file(b"/dev/zero", (), LIMIT)


def test_walking_stops_at_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (tmp_path / str(number)).mkdir()
    monkeypatch.setattr(disk, "MAX_ENTRIES", 10)
    with pytest.raises(CannotRead, match="more than 10 files"):
        list(walk(os.fsencode(tmp_path)))


def test_a_virtual_environment_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "venv" / "lib").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "a.py").touch()
    assert [entry.path for entry in walk(os.fsencode(tmp_path)) if entry.kind == "file"] == [(b"a.py",)]


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match="does not exist"):
        children(os.fsencode(tmp_path / "nowhere"))


def test_nothing_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/dev/fd").iterdir()))
    for inner in ((b"pipe",), (b"a", b"link"), (b"a", b"nowhere"), (b"a",), (b"a", b"link", b"x")):
        with pytest.raises(CannotRead):
            read_file(os.fsencode(tmp_path), inner, LIMIT)
    list(walk(os.fsencode(tmp_path)))
    assert len(list(Path("/dev/fd").iterdir())) == before
