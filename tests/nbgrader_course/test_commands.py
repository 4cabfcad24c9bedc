"""The commands as people type them, each in a process of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.nbgrader_course.conftest import NAME, NOTEBOOKS
from tests.nbgrader_course.courses import LAB, ROOT, changed, gradebook, hand_in, new, right, run


@pytest.mark.soak
def test_a_course_from_its_release_to_its_feedback(tmp_path: Path) -> None:
    course = new(tmp_path / "course")
    run("nbgrader", "generate_assignment", LAB, at=course)
    hand_in(course, "broken", {"attention_lab.ipynb": b'{"cells": ['})
    run("nbgrader", "autograde", LAB, at=course)
    run("nbgrader", "generate_feedback", LAB, "--notebook", NAME, at=course)
    assert (course / "feedback" / "broken" / LAB / f"{NAME}.html").is_file()
    said = run("autograder", "export", str(course / "graded" / LAB), "--format", "nbgrader", at=course)
    assert "marks of 1 submission of lab07" in said
    with gradebook(course) as book:
        assert {one.student.id: one.score for one in book.assignment_submissions(LAB)} == {"broken": 0}


@pytest.fixture
def student(tmp_path: Path) -> Path:
    """A student's folder, on a machine where the grader is not installed."""
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / "autograder.py").write_text("raise ImportError('not on this machine')\n", encoding="utf-8")
    return tmp_path


def validated(folder: Path, notebook: object, name: str = NAME) -> str:
    import nbformat

    (folder / f"{name}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    path = os.pathsep.join([str(folder / "absent"), str(ROOT / "assignments")])
    return run("nbgrader", "validate", f"{name}.ipynb", at=folder, PYTHONPATH=path)


@pytest.mark.soak
def test_validate_says_what_the_public_checks_say_and_that_they_are_not_the_mark(student: Path) -> None:
    def halve(notebook: object) -> None:
        cell = next(c for c in notebook.cells if c.id == "step1-softmax")  # type: ignore[attr-defined]
        cell.source = cell.source.replace("return exponentials /", "return 0.5 * exponentials /")

    said = validated(student, changed(right(NAME), halve))
    assert 'check("step1")' in said
    assert "softmax" in said
    assert "passing here is not the final mark" in " ".join(said.split())
    assert "Traceback" not in said
    assert "public/step1.py" not in said


@pytest.mark.soak
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_validate_is_content_with_right_work_that_prints_warnings(student: Path, name: str) -> None:
    def warn(notebook: object) -> None:
        for cell in notebook.cells:  # type: ignore[attr-defined]
            if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source += "\nimport sys\nprint('careful', file=sys.stderr)"

    written = changed(right(name), warn)
    assert "Success! Your notebook passes all the tests." in validated(student, written, name)


@pytest.mark.soak
def test_a_clone_is_a_course_and_stays_as_it_is(tmp_path: Path) -> None:
    """`nbgrader generate_assignment` in a clone changes no file that is committed."""
    clone = tmp_path / "clone"
    for folder in ("source", "release"):
        shutil.copytree(ROOT / folder, clone / folder)
    shutil.copy(ROOT / "nbgrader_config.py", clone)
    before = {path: path.read_bytes() for path in clone.rglob("*") if path.is_file()}
    run("nbgrader", "generate_assignment", LAB, at=clone)
    after = {path: path.read_bytes() for path in clone.rglob("*") if path.is_file() and path.suffix != ".db"}
    assert after == before
