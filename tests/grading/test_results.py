"""A result is in its place whole, or what was there before is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest
from handmade import result

from autograder import results
from autograder.course import Course


def test_a_result_comes_back_as_it_was_written(course: Course, tmp_path: Path) -> None:
    results.prepare(tmp_path / "out")
    made = result(course, "Ünal 名前 🐈", attention__mask="failed")
    results.write(tmp_path / "out", "x", made)
    assert results.read(tmp_path / "out" / "results" / "x.json") == made


def test_nothing_but_the_file_is_left_behind(course: Course, tmp_path: Path) -> None:
    out = tmp_path / "out"
    results.prepare(out)
    results.write(out, "x", result(course))
    results.write(out, "x", result(course))
    assert [str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()] == ["results/x.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe{}",
        b'{"schema": "other/1"}',
        b"[" * 100_000,
        b'{"score": "many"}',
        b"null",
    ],
)
def test_what_is_no_result_is_taken_for_none(course: Course, tmp_path: Path, content: bytes) -> None:
    results.prepare(tmp_path)
    results.write(tmp_path, "good", result(course))
    (tmp_path / "results" / "bad.json").write_bytes(content)
    (tmp_path / "results" / "folder.json").mkdir()
    kept, unreadable = results.read_all(tmp_path)
    assert [one.stem for one in kept] == ["good"]
    assert [path.name for path in unreadable] == ["bad.json", "folder.json"]


def test_a_result_with_unknown_fields_of_a_later_version_is_still_read(course: Course, tmp_path: Path) -> None:
    results.prepare(tmp_path)
    raw = msgspec.to_builtins(result(course)) | {"new": 1}
    (tmp_path / "results" / "x.json").write_bytes(msgspec.json.encode(raw))
    assert results.read(tmp_path / "results" / "x.json") == result(course)


def test_a_full_disk_is_said_and_leaves_what_was_there(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.prepare(tmp_path)
    results.write(tmp_path, "x", result(course))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(results.FolderError, match="No space left"):
        results.write(tmp_path, "x", result(course, attention__mask="failed"))
    assert results.read(tmp_path / "results" / "x.json") == result(course)
    assert len(list((tmp_path / "results").iterdir())) == 1


def test_a_disk_that_turns_read_only_while_a_result_is_written_is_said(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.prepare(tmp_path)
    results.write(tmp_path, "x", result(course))

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as turned:
        for change in ("replace", "unlink"):  # not even the draft can be taken away again
            turned.setattr(Path, change, refused)
        with pytest.raises(results.FolderError, match="Read-only file system"):
            results.write(tmp_path, "x", result(course, attention__mask="failed"))
    assert results.read(tmp_path / "results" / "x.json") == result(course)
    with results.only_grader(tmp_path):
        assert [path.name for path in (tmp_path / "results").iterdir()] == ["x.json"], "the next run clears it away"


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_graded(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(results.FolderError, match="cannot be written"):
        results.prepare(tmp_path / "file" / "out")
