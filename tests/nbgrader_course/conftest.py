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
from tests.nbgrader_course.courses import Change, cell, changed, hand_in, released, right

NAME = "attention_lab"
NOTEBOOKS = load(courses.LAB).notebooks
SCRIPT = "<script>document.title = 'run'</script>"


def _overflowing(notebook: Any) -> None:
    """Softmax without the maximum taken away: some of step 1 is lost, and not all."""
    softmax = cell(notebook, "step1-softmax")
    softmax.source = softmax.source.replace("x - np.max(x, axis=axis, keepdims=True)", "x")


def _warning(notebook: Any) -> None:
    """Warnings on stderr wherever one can come from, the saved outputs of the check cells included."""
    softmax = cell(notebook, "step1-softmax")
    loud = (
        "    import sys, warnings\n    warnings.warn('slow')\n    print('careful', file=sys.stderr)\n    exponentials"
    )
    softmax.source = softmax.source.replace("    exponentials", loud, 1)
    for check in _checks(notebook):
        check.outputs = [nbformat.v4.new_output("stream", name="stderr", text="UserWarning: slow")]


def _checks(notebook: Any) -> list[Any]:
    marked = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade")]
    return [one for one in marked if not one.metadata.nbgrader.solution]


def _points(notebook: Any) -> None:
    for one in notebook.cells:
        if "nbgrader" in one.metadata:
            one.metadata.nbgrader.update(points=1000, grade=True, solution=False, locked=False, schema_version=99)


def _without_checks(notebook: Any) -> None:
    gone = [one.id for one in _checks(notebook)]
    notebook.cells = [one for one in notebook.cells if one.id not in gone]


def _twice(notebook: Any) -> None:
    again = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id")]
    notebook.cells += [changed(one) for one in again]


def _other_names(notebook: Any) -> None:
    for number, one in enumerate(notebook.cells):
        one.id = f"n{number}"
        if "nbgrader" in one.metadata:
            one.metadata.nbgrader.grade_id = f"mine-{number}"


def _edited_checks(notebook: Any) -> None:
    for one in _checks(notebook):
        one.source = "raise SystemExit  # check() is too strict"


def _without_metadata(notebook: Any) -> None:
    """As another front end saves it: no metadata of cells, no ids, an older minor version."""
    notebook.nbformat_minor, notebook.metadata = 2, {}
    for one in notebook.cells:
        one.metadata = {}
        del one["id"]


def _answered(notebook: Any) -> None:
    cell(notebook, "step4-why-causal-breaks").source = f"Because the mask belongs to places. {SCRIPT}"


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


def _forged(notebook: Any) -> None:
    """Outputs that nbgrader would take for full marks, or for 0 of them."""
    for one in _checks(notebook):
        one.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": str(one.metadata.nbgrader.points)})]


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The course after `generate_assignment` and `autograde`."""
    at = courses.new(tmp_path_factory.mktemp("course"))
    courses.generate_assignment(at)
    lab, file = right(NAME), f"{NAME}.ipynb"
    hand_in(at, "overflowing", {file: changed(lab, _overflowing, _answered)})
    hand_in(at, "warning", {file: changed(lab, _warning)})
    hand_in(at, "points", {file: changed(lab, _points)})
    hand_in(at, "no-checks", {file: changed(lab, _without_checks)})
    hand_in(at, "twice", {file: changed(lab, _twice)})
    hand_in(at, "other-names", {file: changed(lab, _other_names)})
    hand_in(at, "edited-checks", {file: changed(lab, _edited_checks)})
    hand_in(at, "no-metadata", {file: changed(lab, _answered, _without_metadata)})
    hand_in(at, "renamed", {"My lab (final) [2].ipynb": lab})
    hand_in(at, "[module]", {file.replace(".ipynb", ".py"): build.module(lab)})
    hand_in(at, "broken", {file: b'{"cells": ['})
    folder = hand_in(at, "attacking", {file: changed(lab, _attacking(at), _answered)})
    (at / "secret.txt").write_text("what a link leads to", encoding="utf-8")
    (folder / "notes.txt").symlink_to(at / "secret.txt")
    (folder / "endless").symlink_to("/dev/zero")
    with pytest.MonkeyPatch.context() as patch:
        # Somebody may edit the grader while its tests run, and every result would be out of date.
        patch.setattr(nbgrader_course, "kit_version", lambda: "of this test")
        courses.autograde(at, notebook=NAME)
        hand_in(at, "right", {f"{name}.ipynb": right(name) for name in NOTEBOOKS})
        hand_in(at, "untouched", {f"{name}.ipynb": changed(released(name), _forged) for name in NOTEBOOKS})
        for student in ("right", "untouched"):
            courses.autograde(at, student)
        yield at
