"""One submission is read as far as it can be; what cannot be read is said, and nothing outside is opened."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from autograder import parts, submission
from autograder.discover import Handed, discover
from autograder.submission import Submission, load, read

Notebook = Callable[..., bytes]
Archive = Callable[[Mapping[str, bytes]], bytes]
Folder = Callable[[Mapping[str, bytes]], Path]
Signatures = dict[str, set[str]]
Reader = Callable[..., Submission]


@pytest.fixture
def handed_in(folder: Folder, signatures: Signatures) -> Reader:
    """``handed_in(files)``: those files as a student's folder on disk, read; ``known``: of another course."""

    def one(files: Mapping[str, bytes], known: Signatures = signatures) -> Submission:
        root = folder({f"class/ayse/{name}": data for name, data in files.items()} or {"class/ayse/": b""})
        (handed,) = discover([root / "class"], "lab07", known).handed
        return load(handed, "lab07", known)

    return one


def code(submission: Submission, notebook: str = "attention_lab") -> list[str]:
    return [cell.source for cell in submission.notebooks[notebook].cells]


# ---------------------------------------------------------------- which file is which notebook


@pytest.mark.parametrize(
    "name",
    [
        "attention_lab.ipynb",
        "Attention-Lab.ipynb",
        "attention lab (2).ipynb",
        "attention_lab-1.ipynb",
        "attention_lab-Copy1.ipynb",
        "Copy of attention_lab.ipynb",
        "attention_lab.ipynb.txt",
        "attention_lab.ipynb.json",
        "smithjohn_1001_2001_attention_lab.ipynb",
        "attention_lab_ayse_final.ipynb",
        "lab07/attention_lab.ipynb",
        "some folder/inside/attention_lab.ipynb",
    ],
)
def test_a_notebook_is_known_by_its_name(handed_in: Reader, notebook: Notebook, name: str) -> None:
    assert code(handed_in({name: notebook("a = 1")})) == ["a = 1"]


def test_renamed_notebooks_are_known_by_what_they_bind(handed_in: Reader, notebook: Notebook, exercises: bytes) -> None:
    got = handed_in(
        {"ödev son hali.ipynb": notebook(), "Untitled1.ipynb": exercises, "scratch.ipynb": notebook("x = 1")}
    )
    assert len(code(got)) == 3
    assert len(code(got, "exercises")) == 2
    assert "ödev son hali.ipynb was taken for attention_lab" in (got.message or "")


def test_a_renamed_notebook_that_only_imports_its_functions_counts_before_its_module(
    handed_in: Reader, notebook: Notebook
) -> None:
    mine = notebook("from mine import softmax, attention")
    got = handed_in({"solution.ipynb": mine, "mine.py": b"def softmax(x): pass\ndef attention(q): pass\nKVCache = 1\n"})
    assert code(got) == ["from mine import softmax, attention"]
    assert set(got.files) == {"mine.py"}


def test_the_name_counts_before_the_content(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in({"attention_lab.ipynb": notebook("import mine"), "mine.ipynb": notebook()})
    assert code(got) == ["import mine"]


def test_the_only_file_is_what_was_meant(folder: Folder, notebook: Notebook) -> None:
    contract = {"attention_lab": {"softmax", "attention"}}
    assert code(read("ayse", {"x.ipynb": notebook("nothing_yet = 1")}, "lab07", contract)) == ["nothing_yet = 1"]


def test_of_several_uploads_the_last_counts_and_the_message_says_so(handed_in: Reader, notebook: Notebook) -> None:
    files = {
        f"attention_lab{suffix}.ipynb": notebook(f"a = '{suffix}'") for suffix in ("", "-1", "-2", "-10", "-Copy99")
    }
    got = handed_in(files)
    assert code(got) == ["a = '-10'"]
    assert "Of 5 files for attention_lab, attention_lab-10.ipynb counts" in (got.message or "")


def test_a_broken_last_upload_falls_back_to_the_one_before(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in({"attention_lab.ipynb": notebook("a = 1"), "attention_lab-1.ipynb": b""})
    assert code(got) == ["a = 1"]
    assert "attention_lab-1.ipynb is empty" in (got.message or "")


def test_an_untouched_notebook_does_not_hide_the_module_that_was_written(handed_in: Reader, notebook: Notebook) -> None:
    skeleton = notebook("def softmax(x):\n    raise NotImplementedError")
    got = handed_in({"attention_lab.ipynb": skeleton, "attention_lab.py": b"def softmax(x):\n    return x\n"})
    assert code(got) == ["def softmax(x):\n    return x"]
    got = handed_in({"attention_lab.ipynb": notebook("a = 1"), "attention_lab.py": b"a = 2\n"})
    assert code(got) == ["a = 1"]


WRITTEN = ("def softmax(x):\n    return x", "def attention(Q, K, V):\n    return Q, K")


@pytest.mark.parametrize("name", ["attention_lab_final.ipynb", "my work.ipynb"])
def test_an_untouched_notebook_does_not_hide_the_one_that_was_finished_under_another_name(
    handed_in: Reader, notebook: Notebook, name: str
) -> None:
    skeleton = notebook(*(source.replace("return", "raise NotImplementedError #") for source in WRITTEN))
    got = handed_in({"attention_lab.ipynb": skeleton, name: notebook(*WRITTEN)})
    assert code(got) == list(WRITTEN)
    assert f"{name} counts for attention_lab; in attention_lab.ipynb less is written." in (got.message or "")
    got = handed_in({"attention_lab.ipynb": notebook(*WRITTEN), name: skeleton})
    assert code(got) == list(WRITTEN)
    part = notebook("def softmax(x):\n    return x")
    got = handed_in({"attention_lab.ipynb": skeleton, name: part})
    assert code(got) != ["def softmax(x):\n    return x"], "a part of it is not the whole"


def test_a_second_copy_of_one_notebook_is_not_taken_for_another_one(handed_in: Reader, notebook: Notebook) -> None:
    copy = notebook(*WRITTEN, "class KVCache: ...", "def exercise1(): ...", "def exercise2(): ...")
    got = handed_in({"attention_lab.ipynb": notebook(), "my work.ipynb": copy})
    assert set(got.notebooks) == {"attention_lab"}


@pytest.mark.parametrize(
    "name",
    ["attention_lab", "attention_lab.json", "attention_lab.ipynb.part", "attention_lab.ipynb ", "attention_lab.ipynb~",
     "attention_lab.ipynb.zip", "attention_lab.ipynb.bak"],
)  # fmt: skip
def test_a_notebook_that_lost_its_suffix_is_known_by_its_content(
    handed_in: Reader, notebook: Notebook, name: str
) -> None:
    got = handed_in({name: notebook(*WRITTEN)})
    assert code(got) == list(WRITTEN)
    assert "was read as a notebook, whatever its name" in (got.message or "")
    got = handed_in({name: b"kept from before", "attention_lab.ipynb": notebook("a = 1")})
    assert code(got) == ["a = 1"]


def test_a_notebook_that_is_missing_is_said_with_what_is_there(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in({"attention_lab.ipynb": notebook()})
    assert got.message == "exercises was not handed in, which scores zero."
    got = handed_in({"report.pdf": b"%PDF", "attention_lab.ipynb": notebook()})
    assert set(got.notebooks) == {"attention_lab"}


@pytest.mark.parametrize(
    "name", ["explorers.ipynb", "explorers.py", "Explorers (1).ipynb", "ayse_explorers.ipynb", "explorers-copy1.ipynb"]
)
def test_a_notebook_that_is_not_graded_is_taken_for_no_other(
    handed_in: Reader, notebook: Notebook, with_extra: Signatures, name: str
) -> None:
    # Somebody tried the lab out in it: by its content it would be the lab.
    content = notebook() if name.endswith("ipynb") else b"def softmax(x): ...\ndef attention(Q, K, V): ...\n"
    got = handed_in({name: content, "exercises.ipynb": notebook("a = 1")}, with_extra)
    assert list(got.notebooks) == ["exercises"]
    assert got.message == (
        f"attention_lab was not handed in, which scores zero. {name} is for trying things out and not graded."
    )


def test_a_notebook_that_is_not_graded_is_neither_missed_nor_worth_a_word(
    handed_in: Reader, notebook: Notebook, with_extra: Signatures
) -> None:
    files = {"attention_lab.ipynb": notebook(), "exercises.ipynb": notebook("a = 1")}
    assert handed_in(files, with_extra).message is None
    files |= {"explorers.ipynb": notebook(), "explorers/masks.html": b"<!doctype html>"}
    got = handed_in(files, with_extra)
    assert got.message is None
    assert set(got.notebooks) == {"attention_lab", "exercises"}


def test_an_archive_beside_a_notebook_that_is_not_graded_is_opened(
    handed_in: Reader, archive: Archive, notebook: Notebook, with_extra: Signatures
) -> None:
    packed = archive({"attention_lab.ipynb": notebook("a = 1")})
    assert code(handed_in({"explorers.ipynb": notebook(), "work.zip": packed}, with_extra)) == ["a = 1"]


def test_nothing_at_all_is_a_submission_too(handed_in: Reader) -> None:
    got = handed_in({})
    assert got.notebooks == {}
    assert "There is no file at all" in (got.message or "")
    assert "There is nothing but report.docx" in (handed_in({"report.docx": b"x"}).message or "")


# ---------------------------------------------------------------- files beside it


def test_files_are_kept_relative_to_the_notebook(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in(
        {
            "work/attention_lab.ipynb": notebook(),
            "work/helpers.py": b"a = 1",
            "work/pkg/__init__.py": b"",
            "work/measurements.json": b"{}",
            "note.md": b"memory",
            "work/.ipynb_checkpoints/attention_lab-checkpoint.ipynb": notebook("old = 1"),
            "work/__pycache__/helpers.pyc": b"x",
        }
    )
    assert got.files == {
        "helpers.py": b"a = 1",
        "pkg/__init__.py": b"",
        "measurements.json": b"{}",
        "note.md": b"memory",
    }


def test_a_notebook_that_another_one_runs_lies_beside_it(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in(
        {
            "attention_lab.ipynb": notebook("%run helpers.ipynb"),
            "helpers.ipynb": notebook("a = 1"),
            "old.ipynb": notebook("a = 2"),
        }
    )
    assert set(got.files) == {"helpers.ipynb"}


def test_a_module_that_was_read_as_notebook_can_still_be_imported(handed_in: Reader) -> None:
    assert set(handed_in({"attention_lab.py": b"def softmax(x): return x"}).files) == {"attention_lab.py"}


def test_what_is_too_large_is_left_out_and_the_rest_is_kept(
    handed_in: Reader, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "MAX_FILE_BYTES", 1 << 20)
    monkeypatch.setattr(submission, "MAX_FILES_BYTES", 2 << 20)
    big, small = b"x" * ((1 << 20) + 1), b"y" * 900_000
    got = handed_in(
        {"attention_lab.ipynb": notebook(), "data.csv": big, "z.py": small, "note.md": small, "a.csv": small}
    )
    assert set(got.files) == {"z.py", "note.md"}, "deliverables and modules come before data"
    assert "data.csv is larger than 1 MiB" in (got.message or "")
    assert "a.csv does not fit in the 2 MiB" in (got.message or "")


def test_too_many_and_too_deep_files_are_left_out(handed_in: Reader, notebook: Notebook) -> None:
    many = {f"data/{number:04}.txt": b"x" for number in range(500)}
    got = handed_in({"attention_lab.ipynb": notebook(), "a/b/c/d/e.py": b"x", "mine.py": b"x", **many})
    assert "mine.py" in got.files
    assert len(got.files) == submission.MAX_FILES
    assert "a/b/c/d/e.py lies more than 4 folders deep" in (got.message or "")
    assert len(got.message or "") < 1_000


# ---------------------------------------------------------------- links and special files


def test_links_and_special_files_are_never_opened(
    handed_in: Reader, folder: Folder, notebook: Notebook, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "seed.txt").write_text("the seed", encoding="utf-8")
    (secret / "attention_lab.ipynb").write_bytes(notebook("stolen = 1"))
    mine = folder({"class/ayse/": b""}) / "class" / "ayse"
    (mine / "attention_lab.ipynb").symlink_to(secret / "attention_lab.ipynb")
    (mine / "note.md").symlink_to(secret / "seed.txt")
    (mine / "scaling.png").symlink_to("/dev/zero")
    (mine / "sub").symlink_to(secret, target_is_directory=True)
    os.mkfifo(mine / "helpers.py")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(mine)  # a socket's path may have 108 bytes
        try:
            listener.bind("wire.py")
        finally:
            os.chdir(here)
        got = handed_in({"own.py": b"a = 1"})
    assert got.notebooks == {}
    assert got.files == {"own.py": b"a = 1"}
    assert "attention_lab.ipynb is a link, and links are not followed" in (got.message or "")
    for name in ("note.md", "scaling.png", "sub"):
        assert f"{name} is a link (never followed)" in (got.message or "")
    assert "helpers.py is no regular file" in (got.message or "")


def test_a_folder_with_the_name_of_the_notebook_is_said(handed_in: Reader) -> None:
    got = handed_in({"attention_lab.ipynb/inner.txt": b"x"})
    assert "attention_lab.ipynb is a folder, not a notebook" in (got.message or "")


def test_a_file_that_may_not_be_opened_is_said(handed_in: Reader, notebook: Notebook, folder: Folder) -> None:
    root = folder({"class/ayse/attention_lab.ipynb": notebook()})
    closed = root / "class" / "ayse" / "attention_lab.ipynb"
    closed.chmod(0)
    if os.access(closed, os.R_OK):
        pytest.skip("this user may read everything")
    assert "no permission" in (handed_in({"note.md": b"x"}).message or "")


# ---------------------------------------------------------------- archives in a submission


def test_a_zip_in_a_students_folder_is_opened(handed_in: Reader, archive: Archive, notebook: Notebook) -> None:
    packed = archive({"lab/attention_lab.ipynb": notebook("a = 1"), "lab/helpers.py": b"b = 2", "__MACOSX/x": b"x"})
    got = handed_in({"my work.zip": packed})
    assert (code(got), got.files) == (["a = 1"], {"helpers.py": b"b = 2"})


def test_a_zip_beside_the_notebook_is_not(handed_in: Reader, archive: Archive, notebook: Notebook) -> None:
    got = handed_in({"attention_lab.ipynb": notebook("a = 1"), "old.zip": archive({"attention_lab.ipynb": notebook()})})
    assert code(got) == ["a = 1"]


def test_archives_in_archives_end_somewhere(handed_in: Reader, archive: Archive, notebook: Notebook) -> None:
    packed = archive({"attention_lab.ipynb": notebook("a = 1")})
    assert code(handed_in({"1.zip": archive({"2.zip": packed})})) == ["a = 1"]
    got = handed_in({"1.zip": archive({"2.zip": archive({"3.zip": packed})})})
    assert got.notebooks == {}
    assert "lies in an archive in an archive" in (got.message or "")


def test_many_entries_that_unpack_to_gigabytes_are_put_down(
    handed_in: Reader, archive: Archive, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MAX_UNPACKED_BYTES", 20 << 20)
    bombs = {f"{number}.bin": b"\0" * (9 << 20) for number in range(8)}
    got = handed_in({"lab.zip": archive({**bombs, "attention_lab.ipynb": notebook("a = 1")})})
    assert code(got) == ["a = 1"]
    assert "is larger than 8 MiB" in (got.message or "")
    assert "archives unpack to more than 20 MiB in all" in (got.message or "")


def test_a_path_that_is_file_and_folder_at_once_is_kept_as_one(
    handed_in: Reader, archive: Archive, notebook: Notebook
) -> None:
    got = handed_in(
        {"lab.zip": archive({"attention_lab.ipynb": notebook(), "pkg": b"x", "pkg/a.py": b"y", "n" * 300: b"z"})}
    )
    assert set(got.files) == {"pkg/a.py"}
    assert "pkg is a file and a folder at once" in (got.message or "")
    assert "a name that is too long" in (got.message or "")


def test_a_file_with_the_name_of_the_notebook_s_folder_is_named_and_left_out(
    handed_in: Reader, archive: Archive, notebook: Notebook
) -> None:
    got = handed_in({"lab.zip": archive({"x": b"x", "x/attention_lab.ipynb": notebook("a = 1")})})
    assert code(got) == ["a = 1"]
    assert "" not in got.files
    assert "x has the name of a folder that is there too" in (got.message or "")


# ---------------------------------------------------------------- the record


def test_the_digest_is_of_names_and_contents_and_of_nothing_else(
    handed_in: Reader, notebook: Notebook, signatures: Signatures
) -> None:
    files = {"attention_lab.ipynb": notebook(), "b.py": b"b", "a.py": b"a"}
    first = read("ayse", files, "lab07", signatures)
    again = read("mehmet", dict(reversed(files.items())), "lab07", signatures)
    assert first.digest == again.digest == handed_in(files).digest
    for change in ({"attention_lab.ipynb": notebook("a = 1")}, {"a.py": b"c"}, {"c.py": b"a"}):
        assert read("ayse", {**files, **change}, "lab07", signatures).digest != first.digest
    renamed = {"attention_lab.ipynb": notebook(), "b.py": b"b", "c.py": b"a"}
    assert read("ayse", renamed, "lab07", signatures).digest != first.digest


def test_a_submission_travels_as_plain_data(handed_in: Reader, notebook: Notebook) -> None:
    got = handed_in({"attention_lab.ipynb": notebook("a = '\ud83d'"), "ü.py": b"\xff"})
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(got), type=Submission) == got
    assert pickle.loads(pickle.dumps(got)) == got
    json.dumps(msgspec.to_builtins(got, builtin_types=(bytes,)), default=repr).encode()


def test_what_was_discovered_travels_as_plain_data_too(
    folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    (handed,) = discover([folder({"ayse/attention_lab.ipynb": notebook()})], "lab07", signatures).handed
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(handed), type=Handed) == handed


def test_a_message_is_bounded_and_steers_no_terminal(signatures: Signatures) -> None:
    files = {f"\x1b[2J{number}\u202e.ipynb": b"" for number in range(400)}
    message = read("ayse", files, "lab07", signatures).message or ""
    assert len(message) <= submission.MAX_MESSAGE
    assert "\x1b" not in message
    assert "\u202e" not in message


def test_paths_in_memory_cannot_leave_the_folder(notebook: Notebook, signatures: Signatures) -> None:
    got = read("ayse", {"attention_lab.ipynb": notebook(), "../../x.py": b"", "/etc/y.py": b""}, "lab07", signatures)
    assert set(got.files) == {"x.py", "etc/y.py"}
