"""One course for all tests: everybody in it is graded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course import load
from autograder.formats import nbgrader_course
from autograder.release import build
from tests.nbgrader_course import courses
from tests.nbgrader_course.changes import (
    edited_checks,
    forged,
    other_names,
    overflowing,
    points,
    twice,
    warning,
    without_checks,
    without_metadata,
)
from tests.nbgrader_course.courses import Change, cell, changed, hand_in, released, right, zipped

NAME = "attention_lab"
NOTEBOOKS = load(courses.LAB).notebooks
PICTURE = "![a drawing](attachment:my%20drawing%3Cb%3E.png)"
SCRIPT = "<script>document.title = 'run'</script>"


def _answered(notebook: Any) -> None:
    cell(notebook, "step4-why-causal-breaks").source = f"Because the mask belongs to places. {SCRIPT} {PICTURE}"


def _attacking(course: Path) -> Change:
    """Tries, wherever it runs, to raise its marks, to read what is hidden, and to say that it ran."""
    attack = f"""
import os, sqlite3, sys
for where in ({str(course)!r}, os.getcwd(), ".."):
    try:
        open(os.path.join(where, "it-ran"), "w").write(str(os.getpid()))
        db = sqlite3.connect(os.path.join(where, "gradebook.db"))
        db.execute("update grade set manual_score = 1000")
        db.commit()
    except Exception:
        pass
if "nbgrader" in sys.modules or "ipykernel" in sys.modules:
    def attention(*a, **k): raise SystemExit("not in the sandbox")
"""

    def change(notebook: Any) -> None:
        notebook.cells.append(nbformat.v4.new_code_cell(attack))

    return change


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The course after `generate_assignment` and `autograde`."""
    at = courses.new(tmp_path_factory.mktemp("course"))
    courses.generate_assignment(at)
    lab, file = right(NAME), f"{NAME}.ipynb"
    hand_in(at, "overflowing", {file: changed(lab, overflowing, _answered)})
    hand_in(at, "warning", {file: changed(lab, warning)})
    hand_in(at, "points", {file: changed(lab, points)})
    hand_in(at, "no-checks", {file: changed(lab, without_checks)})
    hand_in(at, "twice", {file: changed(lab, twice)})
    hand_in(at, "other-names", {file: changed(lab, other_names)})
    hand_in(at, "edited-checks", {file: changed(lab, edited_checks)})
    hand_in(at, "no-metadata", {file: changed(lab, _answered, without_metadata)})
    hand_in(at, "renamed", {"My lab (final) [2].ipynb": lab})
    hand_in(at, "[module]", {file.replace(".ipynb", ".py"): build.module(lab)})
    hand_in(at, "zipped", {"lab07.zip": zipped({f"my work/{file}": lab})})
    hand_in(at, "broken", {file: b'{"cells": ['})
    folder = hand_in(at, "attacking", {file: changed(lab, _attacking(at), _answered)})
    (at / "secret.txt").write_text("what a link leads to", encoding="utf-8")
    (folder / "notes.txt").symlink_to(at / "secret.txt")
    (folder / "endless").symlink_to("/dev/zero")
    with pytest.MonkeyPatch.context() as patch:
        # Somebody may edit the grader while its tests run, and every result would be out of date.
        patch.setattr(nbgrader_course, "kit_version", lambda: "of this test")
        courses.autograde(at, notebook=NAME)
        hand_in(at, "right", {f"{name}.ipynb": right(name) for name in load(courses.LAB).all_notebooks})
        hand_in(at, "untouched", {f"{name}.ipynb": changed(released(name), forged) for name in NOTEBOOKS})
        for student in ("right", "untouched"):
            courses.autograde(at, student)
        yield at
