"""What becomes of a notebook on its way back: what people and programs change in it, by hand or without meaning to."""

from __future__ import annotations

from typing import Any

import nbformat

from tests.nbgrader_course.courses import cell, changed


def overflowing(notebook: Any) -> None:
    """Softmax without the maximum taken away: some of step 1 is lost, and not all."""
    softmax = cell(notebook, "step1-softmax")
    softmax.source = softmax.source.replace("x - np.max(x, axis=axis, keepdims=True)", "x")


def warning(notebook: Any) -> None:
    """Warnings on stderr wherever one can come from, the saved outputs of the check cells included."""
    softmax = cell(notebook, "step1-softmax")
    loud = (
        "    import sys, warnings\n    warnings.warn('slow')\n    print('careful', file=sys.stderr)\n    exponentials"
    )
    softmax.source = softmax.source.replace("    exponentials", loud, 1)
    for check in check_cells(notebook):
        check.outputs = [nbformat.v4.new_output("stream", name="stderr", text="UserWarning: slow")]


def check_cells(notebook: Any) -> list[Any]:
    marked = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade")]
    return [one for one in marked if not one.metadata.nbgrader.solution]


def points(notebook: Any) -> None:
    for one in notebook.cells:
        if "nbgrader" in one.metadata:
            one.metadata.nbgrader.update(points=1000, grade=True, solution=False, locked=False, schema_version=99)


def without_checks(notebook: Any) -> None:
    gone = [one.id for one in check_cells(notebook)]
    notebook.cells = [one for one in notebook.cells if one.id not in gone]


def twice(notebook: Any) -> None:
    again = [one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id")]
    notebook.cells += [changed(one) for one in again]


def other_names(notebook: Any) -> None:
    for number, one in enumerate(notebook.cells):
        one.id = f"n{number}"
        if "nbgrader" in one.metadata:
            one.metadata.nbgrader.grade_id = f"mine-{number}"


def edited_checks(notebook: Any) -> None:
    for one in check_cells(notebook):
        one.source = "raise SystemExit  # check() is too strict"


def without_metadata(notebook: Any) -> None:
    """As another front end saves it: no metadata of cells, no ids, an older minor version."""
    notebook.nbformat_minor, notebook.metadata = 2, {}
    for one in notebook.cells:
        one.metadata = {}
        del one["id"]


def forged(notebook: Any) -> None:
    """Outputs that nbgrader would take for full marks, or for 0 of them."""
    for one in check_cells(notebook):
        one.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": str(one.metadata.nbgrader.points)})]
