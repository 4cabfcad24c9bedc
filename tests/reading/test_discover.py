"""Every convention tells its students apart, and nobody is lost, whatever somebody put beside them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from autograder.discover import Found, discover
from autograder.submission import load

Notebook = Callable[..., bytes]
Archive = Callable[[Mapping[str, bytes]], bytes]
Folder = Callable[[Mapping[str, bytes]], Path]
Signatures = dict[str, set[str]]


Finder = Callable[..., Found]


@pytest.fixture
def found(signatures: Signatures) -> Finder:
    return lambda *paths: discover(paths, "lab07", signatures)


def names(found: Found) -> list[str]:
    return [handed.name for handed in found.handed]


def notebooks(found: Found, signatures: Signatures) -> dict[str, set[str]]:
    """Whose notebooks are found once a submission is read."""
    return {h.name: {n for n, nb in load(h, "lab07", signatures).notebooks.items() if nb.cells} for h in found.handed}


def test_a_folder_for_each_student_also_an_empty_one(
    found: Finder, folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder(
        {
            "ayse/attention_lab.ipynb": notebook(),
            "mehmet/attention_lab.py": b"def softmax(x): return x",
            "zeynep/": b"",
        }
    )
    assert notebooks(found(root), signatures) == {
        "ayse": {"attention_lab"},
        "mehmet": {"attention_lab"},
        "zeynep": set(),
    }


def test_a_flat_folder_has_a_file_for_each_student(
    found: Finder, folder: Folder, notebook: Notebook, exercises: bytes, signatures: Signatures
) -> None:
    root = folder(
        {
            "ayse.ipynb": notebook(),
            "mehmet.py": b"def softmax(x): return x\ndef attention(q): return q",
            "zeynep_attention_lab.ipynb": notebook(),
            "zeynep-exercises (1).ipynb": exercises,
            "grades.csv": b"ayse,1",
        }
    )
    assert notebooks(found(root), signatures) == {
        "ayse": {"attention_lab"},
        "mehmet": {"attention_lab"},
        "zeynep": {"attention_lab", "exercises"},
    }
    assert "grades.csv" in found(root).left_out[0]


def test_numbered_files_are_numbered_students(found: Finder, folder: Folder, notebook: Notebook) -> None:
    root = folder({f"attention_lab_{number}.ipynb": notebook() for number in (1, 2, 17)})
    assert names(found(root)) == ["attention_lab_1", "attention_lab_17", "attention_lab_2"]


def test_one_students_folder_given_directly_is_one_submission(
    found: Finder, folder: Folder, notebook: Notebook, exercises: bytes
) -> None:
    root = folder(
        {
            "ayse/attention_lab.ipynb": notebook(),
            "ayse/attention_lab-1.ipynb": notebook(),
            "ayse/exercises.ipynb": exercises,
            "ayse/helpers.py": b"def softmax(x): return x",
            "ayse/old/attention_lab.ipynb": notebook(),
            "ayse/data/x.csv": b"1",
        }
    )
    assert names(found(root / "ayse")) == ["ayse"]


@pytest.mark.parametrize("file", ["measurements.json", "note.md", "attention_lab.ipynb/inner.txt"])
def test_what_only_a_student_has_makes_a_folder_one_students(
    found: Finder, folder: Folder, notebook: Notebook, file: str
) -> None:
    root = folder({f"ayse/{file}": b"x", "ayse/mine.ipynb": notebook()})
    assert names(found(root / "ayse")) == ["ayse"]


def test_a_notebook_that_is_not_graded_belongs_to_its_student(
    folder: Folder, notebook: Notebook, with_extra: Signatures
) -> None:
    root = folder({f"{who}_{name}.ipynb": notebook() for who in ("ayse", "mehmet") for name in with_extra})
    assert names(discover([root], "lab07", with_extra)) == ["ayse", "mehmet"]


def test_an_empty_folder_given_directly_is_a_submission(found: Finder, folder: Folder) -> None:
    assert names(found(folder({"ayse/": b""}) / "ayse")) == ["ayse"]


def test_one_renamed_notebook_is_named_so_that_either_reading_of_the_folder_finds_it(
    found: Finder, folder: Folder, notebook: Notebook
) -> None:
    assert names(found(folder({"ayse/mine.ipynb": notebook()}) / "ayse")) == ["ayse/mine"]


def test_a_forgotten_copy_does_not_turn_a_class_into_one_student(
    found: Finder, folder: Folder, notebook: Notebook
) -> None:
    of_folders = folder(
        {
            "a/attention_lab.ipynb": notebook(),
            "b/attention_lab.ipynb": notebook(),
            "attention_lab.ipynb": notebook(),
        }
    )
    assert names(found(of_folders)) == ["a", "attention_lab", "b"]
    shutil.rmtree(of_folders)
    of_files = folder({"ayse.ipynb": notebook(), "mehmet.ipynb": notebook(), "attention_lab.ipynb": notebook()})
    assert names(found(of_files)) == ["attention_lab", "ayse", "mehmet"]
    shutil.rmtree(of_files)
    of_archives = folder({"ayse.zip": b"PK", "mehmet.zip": b"PK", "attention_lab.ipynb": notebook()})
    assert names(found(of_archives)) == ["attention_lab", "ayse", "mehmet"]


def test_nbgraders_submitted_tree_gives_the_assignment_of_each_student(
    found: Finder, folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder(
        {
            "submitted/ayse/lab07/attention_lab.ipynb": notebook("mine = 1"),
            "submitted/ayse/lab06/attention_lab.ipynb": notebook("another = 1"),
            "submitted/ayse/lab07/timestamp.txt": b"2026-01-01",
            "submitted/mehmet/lab06/attention_lab.ipynb": notebook("another = 1"),
        }
    )
    handed = found(root / "submitted").handed
    assert [h.name for h in handed] == ["ayse", "mehmet"]
    read = load(handed[0], "lab07", signatures)
    assert [cell.source for cell in read.notebooks["attention_lab"].cells] == ["mine = 1"]
    assert names(found(root / "submitted" / "ayse" / "lab07")) == ["ayse"]
    assert names(found(root / "submitted" / "ayse")) == ["ayse"]


def test_one_student_in_nbgraders_tree_is_not_taken_for_the_class(
    found: Finder, folder: Folder, notebook: Notebook
) -> None:
    assert names(found(folder({"ayse/lab07/attention_lab.ipynb": notebook()}))) == ["ayse"]


def test_a_student_called_like_the_assignment_does_not_stand_for_the_class(
    found: Finder, folder: Folder, notebook: Notebook
) -> None:
    root = folder({f"{who}/attention_lab.ipynb": notebook() for who in ("ayse", "lab07", "mehmet")})
    assert names(found(root)) == ["ayse", "lab07", "mehmet"]
    assert names(found(folder({"lab07/a/attention_lab.ipynb": notebook()}))) == ["ayse", "lab07", "mehmet"]


def test_a_folder_around_the_class_is_looked_through(found: Finder, folder: Folder, notebook: Notebook) -> None:
    root = folder({"all/ayse/attention_lab.ipynb": notebook(), "all/mehmet/attention_lab.ipynb": notebook()})
    assert names(found(root)) == ["ayse", "mehmet"]


def test_of_the_assignments_of_a_course_only_this_one_is_looked_at(
    found: Finder, folder: Folder, notebook: Notebook
) -> None:
    root = folder({f"{lab}/{who}/attention_lab.ipynb": notebook() for lab in ("lab06", "lab07") for who in "ab"})
    assert [(h.name, h.pieces[0].inner[0]) for h in found(root).handed] == [("a", b"lab07"), ("b", b"lab07")]


def canvas_files(notebook: Notebook, exercises: bytes) -> dict[str, bytes]:
    return {
        "smithjohn_1001_2001_attention_lab.ipynb": notebook("first = 1"),
        "smithjohn_1001_2002_attention_lab-1.ipynb": notebook("second = 2"),
        "smithjohn_1001_2003_exercises.ipynb": exercises,
        "doejane_LATE_1002_2004_attention_lab.ipynb": notebook(),
        "smithjohn_1003_2005_my_solution_v2.ipynb": notebook(),
        "teamseven_1004_text.html": b"<p>see my repository</p>",
        "anon_LATE_b4K2d_2009_attention_lab.py": b"def softmax(x): return x",
    }


@pytest.mark.parametrize("packed", [True, False], ids=["zip", "unpacked"])
def test_canvas_bulk_download(
    found: Finder,
    folder: Folder,
    archive: Archive,
    notebook: Notebook,
    exercises: bytes,
    signatures: Signatures,
    packed: bool,
) -> None:
    files = canvas_files(notebook, exercises)
    root = folder({"submissions.zip": archive(files)} if packed else files)
    got = found(root / "submissions.zip" if packed else root)
    assert notebooks(got, signatures) == {
        "anon": {"attention_lab"},
        "doejane": {"attention_lab"},
        "smithjohn (1001)": {"attention_lab", "exercises"},
        "smithjohn (1003)": {"attention_lab"},
        "teamseven": set(),
    }
    of = {handed.name: handed for handed in got.handed}
    assert {name for name, handed in of.items() if handed.late} == {"anon", "doejane"}
    assert of["doejane"].student_id == "1002"
    read = load(of["smithjohn (1001)"], "lab07", signatures)
    assert [cell.source for cell in read.notebooks["attention_lab"].cells] == ["second = 2"]
    assert "Of 2 files for attention_lab, attention_lab-1.ipynb counts" in (read.message or "")


def test_canvas_counts_uploads_by_its_own_number_and_not_by_the_files_name(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures
) -> None:
    files = {
        "smith_1_2050_attention_lab.ipynb": notebook("last = 1"),
        "smith_1_2001_attention_lab-1.ipynb": notebook("first = 1"),
    }
    (handed,) = found(folder({"c.zip": archive(files)}) / "c.zip").handed
    assert [c.source for c in load(handed, "lab07", signatures).notebooks["attention_lab"].cells] == ["last = 1"]


@pytest.mark.parametrize(
    "layout", ["{}/{}", "{}_/{}", "{}_{}"], ids=["folder", "folder with underscore", "without folders"]
)
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "unpacked"])
def test_moodle_bulk_download(
    found: Finder,
    folder: Folder,
    archive: Archive,
    notebook: Notebook,
    signatures: Signatures,
    layout: str,
    packed: bool,
) -> None:
    files = {
        layout.format("Ayşe Yılmaz_12345_assignsubmission_file", "attention_lab.ipynb"): notebook(),
        layout.format("Ayşe Yılmaz_12345_assignsubmission_onlinetext", "onlinetext.html"): b"<p>hello</p>",
        layout.format("John_Q Smith_777_assignsubmission_file", "renamed work.ipynb"): notebook(),
    }
    root = folder({"lab07-1234.zip": archive(files)} if packed else files)
    got = found(root / "lab07-1234.zip" if packed else root)
    assert notebooks(got, signatures) == {"Ayşe Yılmaz": {"attention_lab"}, "John_Q Smith": {"attention_lab"}}
    assert [handed.student_id for handed in got.handed] == ["12345", "777"]


def test_what_else_lies_in_a_bulk_download_is_left_out_and_said(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook
) -> None:
    root = folder({"c.zip": archive({"smith_1_2_attention_lab.ipynb": notebook(), "out/x": b"x", "readme.txt": b"x"})})
    got = found(root / "c.zip")
    assert names(got) == ["smith"]
    assert "readme.txt" in got.left_out[0]


def test_gradescopes_export_has_a_folder_for_each_submission(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook
) -> None:
    files = {
        "assignment_9_export/submission_metadata.yml": b":x: 1",
        "assignment_9_export/submission_11/attention_lab.ipynb": notebook(),
    }
    root = folder({"export.zip": archive(files), **files})
    assert names(found(root / "export.zip")) == ["submission_11"]
    assert names(found(root / "assignment_9_export")) == ["submission_11"]


def test_an_otter_zip_is_one_students(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures
) -> None:
    name = "attention_lab_2026_03_15T10_11_12_131415"
    files = {
        "attention_lab.ipynb": notebook(),
        "helpers.py": b"a = 1",
        ".OTTER_LOG": b"x",
        "attention_lab.pdf": b"%PDF",
    }
    root = folder({f"{name}.zip": archive(files)})
    got = found(root / f"{name}.zip")
    assert notebooks(got, signatures) == {name: {"attention_lab"}}
    assert set(load(got.handed[0], "lab07", signatures).files) == {"helpers.py", "attention_lab.pdf"}


def test_otter_zips_in_one_folder_stay_apart(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook
) -> None:
    # The date in their names has the look of Canvas's numbers, so that all would be "attention_lab"'s.
    packed = archive({"attention_lab.ipynb": notebook()})
    root = folder({f"attention_lab_2026_03_{day}T10_11_12_1.zip": packed for day in (15, 16)})
    assert len(names(found(root))) == 2


def test_a_student_in_a_flat_folder_cannot_hand_in_for_others(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures
) -> None:
    bulk = archive({"ayse_1_2_attention_lab.ipynb": notebook(), "mehmet_3_4_attention_lab.ipynb": notebook()})
    root = folder({"mallory.zip": bulk, "ayse.ipynb": notebook()})
    got = found(root)
    assert names(got) == ["ayse", "mallory"]
    assert "looks like a bulk download of 2 students" in (load(got.handed[1], "lab07", signatures).message or "")


def test_a_zip_of_a_students_folder_is_one_students(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder({"ayse.zip": archive({"my lab/attention_lab.ipynb": notebook(), "my lab/src/helpers.py": b"a = 1"})})
    got = found(root / "ayse.zip")
    assert notebooks(got, signatures) == {"ayse": {"attention_lab"}}
    assert set(load(got.handed[0], "lab07", signatures).files) == {"src/helpers.py"}


def test_a_zip_of_the_folder_of_a_class_holds_the_class(
    found: Finder, folder: Folder, archive: Archive, notebook: Notebook
) -> None:
    files = {
        "all/ayse/attention_lab.ipynb": notebook(),
        "all/mehmet/attention_lab.ipynb": notebook(),
        "all/yusuf/": b"",
        "all/zeynep/": b"",
    }
    assert names(found(folder({"all.zip": archive(files)}) / "all.zip")) == ["ayse", "mehmet", "yusuf", "zeynep"]


def test_several_paths_at_once_and_one_twice(found: Finder, folder: Folder, notebook: Notebook) -> None:
    root = folder(
        {"a/ayse/attention_lab.ipynb": notebook(), "b/mehmet.ipynb": notebook(), "b/zeynep.ipynb": notebook()}
    )
    assert names(found(root / "a", root / "b", root / "a" / "ayse", root / "b" / "mehmet.ipynb")) == [
        "ayse",
        "mehmet",
        "zeynep",
    ]


def test_the_same_name_from_several_paths_is_told_apart(found: Finder, folder: Folder, notebook: Notebook) -> None:
    root = folder({f"{group}/{who}/attention_lab.ipynb": notebook() for group in "ab" for who in ("ayse", "mehmet")})
    assert names(found(root / "a", root / "b")) == [
        "ayse (handed in/a)",
        "ayse (handed in/b)",
        "mehmet (handed in/a)",
        "mehmet (handed in/b)",
    ]
    assert names(found(*sorted(root.glob("*/*/attention_lab.ipynb")))) == [
        "attention_lab (a/ayse)",
        "attention_lab (a/mehmet)",
        "attention_lab (b/ayse)",
        "attention_lab (b/mehmet)",
    ]


def test_a_path_that_cannot_be_read_is_a_result_and_the_others_go_on(
    found: Finder, folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder({"broken.zip": b"PK no zip", "ayse.ipynb": notebook()})
    got = found(root / "broken.zip", root / "nowhere", root / "ayse.ipynb")
    assert [(h.name, h.problem is None) for h in got.handed] == [
        ("ayse", True),
        ("broken", False),
        ("nowhere", False),
    ]
    message = load(got.handed[1], "lab07", signatures).message or ""
    assert "broken.zip is damaged, or is no zip archive" in message


def test_odd_names_of_students_stay_what_they_are(
    found: Finder, folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    odd = ["\u202egpj.x", "<b>&amp;", "a'b\"c", "x" * 200, "n\u0065\u0301", "n\u00e9", "=1+1", "line\nbreak"]
    root = folder({f"{name}/attention_lab.ipynb": notebook() for name in odd})
    (root / os.fsdecode(b"bytes-\xff\xfe")).mkdir()
    got = found(root)
    assert set(names(got)) == {*odd, r"bytes-\xff\xfe"}
    assert sum("attention_lab" in books for books in notebooks(got, signatures).values()) == len(odd)


def test_links_in_the_folder_of_a_class_are_submissions_that_are_not_followed(
    found: Finder, folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder({"ayse/attention_lab.ipynb": notebook()})
    (root / "mallory").symlink_to(root / "ayse", target_is_directory=True)
    (root / "eve.ipynb").symlink_to(root / "ayse" / "attention_lab.ipynb")
    got = found(root)
    assert notebooks(got, signatures) == {"ayse": {"attention_lab"}, "eve": set(), "mallory": set()}
    for handed in got.handed[1:]:
        assert "link" in (load(handed, "lab07", signatures).message or "")


def test_a_given_path_that_is_a_link_is_the_graders_own_word(found: Finder, folder: Folder, notebook: Notebook) -> None:
    root = folder({"real/ayse/attention_lab.ipynb": notebook()})
    (root / "link").symlink_to(root / "real", target_is_directory=True)
    assert names(found(root / "link")) == ["ayse"]
