"""``pack()`` and ``attnlab pack``: what is in the zip, what never is, and that a grader reads it as one submission."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from attnlab import cli, pack, packing, progress, saved
from attnlab.files import Unreadable
from autograder.course import load, signatures
from autograder.discover import discover
from autograder.submission import load as read_submission
from tests.student.test_cli import notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, right_source: str) -> Path:
    """A student's folder: a solved notebook with a module of its own, the deliverables, and what is none of it."""
    sources = [right_source, "from helpers import twice\nimport numpy", "%matplotlib inline\nimport absent"]
    (tmp_path / "attention_lab.ipynb").write_text(json.dumps(notebook(*sources)), encoding="utf-8")
    (tmp_path / "attention_lab.py").write_text("def softmax(x, axis=-1):\n    raise NotImplementedError\n")
    (tmp_path / "helpers.py").write_text("import more_helpers\ndef twice(x):\n    return 2 * x\n")
    (tmp_path / "more_helpers.py").write_text("ONE = 1\n")
    for name in ("measurements.json", "scaling.png", "kv_latency.png"):
        (tmp_path / name).write_bytes(b"{}")
    (tmp_path / "diary.txt").write_text("private")
    (tmp_path / "unused.py").write_text("X = 1\n")
    return tmp_path


def inside(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as packed:
        return packed.namelist()


def test_the_zip_has_what_is_handed_in_and_nothing_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["pack", str(folder)]) == 0
    assert inside(folder / "lab07-submission.zip") == [
        "attention_lab.ipynb",
        "helpers.py",
        "kv_latency.png",
        "measurements.json",
        "more_helpers.py",
        "receipt.json",
        "scaling.png",
    ]
    said = capsys.readouterr().out
    assert "note.md is not there; the end of the lab writes it." in said
    assert "8 of 8 steps pass all their public checks." in said
    assert "not the final mark" in said


def test_the_receipt_names_every_file_by_a_hash_that_can_be_made_again(folder: Path) -> None:
    packed = packing.pack_folder(folder)
    assert packed.archive is not None
    with zipfile.ZipFile(packed.archive) as archive:
        receipt = json.loads(archive.read("receipt.json"))
        listing = "".join(
            f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n"
            for name in sorted(archive.namelist())
            if name != "receipt.json"
        )
    assert receipt["content_sha256"] == hashlib.sha256(listing.encode()).hexdigest()
    assert receipt["checks"][0]["steps"][0]["said"] == "all 19 public checks hold"
    assert receipt["content_sha256"][:16] in str(packed)


def test_the_grader_reads_the_zip_as_one_submission(folder: Path, tmp_path: Path) -> None:
    course = load("lab07", ROOT)
    archive = packing.pack_folder(folder).archive
    for path in (archive, folder / "class"):
        if path == folder / "class":  # as a learning platform keeps it: a folder for each student
            (path / "softmax-over-queries").mkdir(parents=True)
            shutil.copy(str(archive), path / "softmax-over-queries")
        (one,) = discover([path], "lab07", signatures(course)).handed
        submission = read_submission(one, "lab07", signatures(course))
        assert list(submission.notebooks) == ["attention_lab"]
        assert any("def attention" in cell.source for cell in submission.notebooks["attention_lab"].cells)
        assert set(submission.files) >= {"measurements.json", "scaling.png", "helpers.py"}


def test_links_and_huge_files_are_left_out_with_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret").write_text("not mine to hand in")
    (folder / "note.md").symlink_to(folder / "secret")
    (folder / "helpers.py").unlink()
    (folder / "helpers.py").symlink_to(folder / "secret")
    monkeypatch.setattr(packing, "LARGEST_EXTRA", 1)
    packed = packing.pack_folder(folder)
    assert packed.archive is not None
    assert inside(packed.archive) == ["attention_lab.ipynb", "receipt.json"]
    assert "note.md is a link to another file" in str(packed)
    assert "scaling.png is larger than" in str(packed)


def test_of_a_notebook_and_its_module_the_one_that_is_written_is_packed(folder: Path, right_source: str) -> None:
    (folder / "attention_lab.ipynb").write_text(json.dumps(notebook("def softmax(x): raise NotImplementedError")))
    (folder / "attention_lab.py").write_text(right_source, encoding="utf-8")
    archive = packing.pack_folder(folder).archive
    assert archive is not None
    assert "attention_lab.py" in inside(archive)
    assert "attention_lab.ipynb" not in inside(archive)


def test_an_empty_folder_gets_a_sentence_and_no_zip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["pack", str(tmp_path)]) == 2
    assert "There is no notebook of the lab" in capsys.readouterr().err
    assert cli.main(["pack", str(tmp_path / "nowhere")]) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_zip_that_cannot_be_written_leaves_the_old_one_alone(folder: Path) -> None:
    archive = packing.pack_folder(folder).archive
    assert archive is not None
    before = archive.read_bytes()
    (folder / "attention_lab.ipynb").write_bytes(b"\xff")
    (folder / "attention_lab.py").unlink()
    assert packing.pack_folder(folder).archive is None
    assert archive.read_bytes() == before


@pytest.mark.parametrize("to", ["attention_lab.ipynb", ".", "..", "measurements.json", "zip"])
def test_what_is_not_the_name_of_a_zip_is_never_written_to(
    folder: Path, to: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    packed = eval(f"pack({to!r})", {"pack": pack, "__name__": "__main__"})
    assert packed.archive is None
    assert "is not the name of a zip" in str(packed)
    assert cli.main(["pack", ".", "--to", to]) == 2
    assert "give one that ends in .zip" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_zip_of_something_else_is_never_written_over(folder: Path) -> None:
    with zipfile.ZipFile(folder / "lab07.zip", "w") as other:
        other.writestr("lab07/README.md", "as it was handed out")
    (folder / "damaged.zip").write_bytes(b"PK")
    for name in ("lab07.zip", "damaged.zip"):
        before = (folder / name).read_bytes()
        assert f"{name} is there already, and was not packed by this" in str(packing.pack_folder(folder, Path(name)))
        assert (folder / name).read_bytes() == before
    for _ in range(2):  # its own is replaced
        assert packing.pack_folder(folder, Path("mine.ZIP")).archive == folder / "mine.ZIP"


def test_check_and_pack_choose_the_same_of_two_files_with_as_much_in_them(
    folder: Path, right_source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "attention_lab.ipynb").write_text(json.dumps(notebook(right_source)), encoding="utf-8")
    (folder / "attention_lab.py").write_text(right_source, encoding="utf-8")
    assert cli.main(["check", str(folder), "--step", "2"]) == 0
    assert "attention_lab.py was not checked: attention_lab.ipynb has as much" in capsys.readouterr().err
    packed = packing.pack_folder(folder)
    assert packed.archive is not None
    assert "attention_lab.py was left out: attention_lab.ipynb has as much or more in it." in packed.sentences
    assert {"attention_lab.ipynb", "attention_lab.py"}.intersection(inside(packed.archive)) == {"attention_lab.ipynb"}


def test_a_notebook_that_is_cut_off_is_not_passed_over_in_silence(folder: Path, right_source: str) -> None:
    (folder / "attention_lab.ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / "attention_lab.py").write_text(right_source, encoding="utf-8")
    packed = packing.pack_folder(folder)
    assert packed.archive is not None
    assert "attention_lab.ipynb was left out: attention_lab.ipynb is not a whole notebook" in str(packed)


def test_a_folder_that_may_not_be_read_gets_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    for command in ("check", "pack"):
        assert cli.main([command, str(folder)]) == 2
        assert f"{folder} cannot be read: Permission denied." in capsys.readouterr().err
    with pytest.raises(Unreadable):
        saved.beside(folder)
    monkeypatch.setenv("JPY_SESSION_NAME", "attention_lab.ipynb")
    assert "Step 8" in str(eval("progress()", {"progress": progress, "__name__": "__main__"}))


def test_a_file_that_another_program_holds_is_named_and_what_to_do_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, target: Path) -> Any:
        raise PermissionError(13, "Permission denied", str(path), None, str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    (said,) = packing.pack_folder(folder).sentences
    assert said == (
        "Nothing was packed (lab07-submission.zip): Permission denied. "
        "Close programs that have the file open, and try again."
    )
    assert not list(folder.glob(".*.tmp"))


@pytest.fixture
def shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """``shell(source)`` runs a cell as a notebook in ``folder`` does, and gives its value."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ATTNLAB_GRADING", raising=False)
    for name in ("ps1", "ps2", "ps3"):  # the shell sets these, by which an interactive Python is known
        monkeypatch.setattr(sys, name, "", raising=False)
    shell = InteractiveShell.instance()
    shell.user_ns["pack"] = pack

    def run(source: str) -> Any:
        done = shell.run_cell(source)
        done.raise_error()
        return done.result

    yield run
    shell.reset()
    InteractiveShell.clear_instance()


def test_a_notebook_that_is_not_saved_is_not_packed(shell: Callable[[str], Any], right_source: str) -> None:
    shell(right_source.partition("# %%\nif experiment")[0])
    assert shell("pack()").archive is not None
    shell("def softmax(x, axis=-1):\n    return x")
    panel = shell("pack()")
    assert panel.archive is None
    assert "`softmax` differs. Save the notebook" in str(panel)
    assert "`pack(unsaved=True)` packs what is on the disk all the same." in str(panel)
    assert "<code>softmax</code> differs" in panel._repr_mimebundle_()["text/html"]
    assert shell("pack(unsaved=True)").archive is not None


def test_of_a_cell_that_defines_a_name_twice_the_last_one_counts(
    folder: Path, shell: Callable[[str], Any], right_source: str
) -> None:
    lab = right_source.partition("# %%\nif experiment")[0]
    twice = "def softmax(x, axis=-1):\n    return 0\n\n\n" + lab
    (folder / "attention_lab.ipynb").write_text(json.dumps(notebook(twice)), encoding="utf-8")
    shell(twice)
    assert shell("pack()").archive is not None


def test_the_notebook_that_calls_is_packed_although_its_twin_has_more_in_it(
    folder: Path, shell: Callable[[str], Any], right_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "attention_lab.py").write_text(right_source, encoding="utf-8")
    mine = "def softmax(x, axis=-1):\n    return x"
    (folder / "attention_lab.ipynb").write_text(json.dumps(notebook(mine)), encoding="utf-8")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "attention_lab.ipynb"))
    shell(mine)
    packed = shell("pack()")
    assert packed.archive is not None
    assert "attention_lab.ipynb" in inside(packed.archive)
    assert "attention_lab.py was left out: you called `pack()` in attention_lab.ipynb." in str(packed)
    shell("def softmax(x, axis=-1):\n    return 2 * x")
    assert "attention_lab.ipynb on the disk is not what you ran" in str(shell("pack()"))


def test_a_notebook_with_nothing_in_it_does_not_go_before_the_module_that_was_worked_in(
    folder: Path, shell: Callable[[str], Any], right_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "attention_lab.py").write_text(right_source, encoding="utf-8")
    empty = "def softmax(x, axis=-1):\n    raise NotImplementedError"
    (folder / "attention_lab.ipynb").write_text(json.dumps(notebook(empty)), encoding="utf-8")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "attention_lab.ipynb"))
    assert "attention_lab.py" in inside(shell("pack()").archive)


def test_nothing_is_packed_while_a_grader_loads_the_lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    monkeypatch.chdir(folder)
    assert eval("pack()", {"pack": pack, "__name__": "__main__"}) is None
    assert not (folder / "lab07-submission.zip").exists()
