"""Everything that is generated from the masters, as one mapping from path to content.

Nothing here writes into the repository: a build can be compared with what is there, inspected, or written.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import string
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbgrader.preprocessors import ComputeChecksums, LockCells

from attnlab.explorers import bundle as figures
from attnlab.explorers.catalogue import find
from autograder.course import Course
from autograder.formats import otter
from autograder.release import archive, skeleton
from autograder.release.masters import Master
from autograder.release.problem import Problem, Refused

#: Path relative to the repository's root, with forward slashes → content.
Tree = dict[str, bytes]

#: Key of a notebook's metadata; holds the hash of the cells that its outputs came from.
EXECUTED_FROM = "executed_from_sha256"

_EXPLORE = re.compile(r'\bexplore\("([^"\n]+)"')


def build(root: Path, course: Course, masters: Iterable[Master]) -> Tree:
    """All generated files of an assignment but the executed notebooks, see ``solution_notebook``."""
    lab = course.assignment
    masters = list(masters)
    wheel_name, wheel = archive.wheel(root / "assignments", "attnlab")
    tree: Tree = {f"release/{lab}/{wheel_name}": wheel}
    bundle: Tree = {f"{lab}/{wheel_name}": wheel}
    otter_bundle: Tree = {f"{lab}-otter/{wheel_name}": wheel}
    for master in masters:
        graded = master.name in course.notebooks
        skeleton_notebook = notebook_bytes(released(master))
        skeleton_module = module(shown(master, skeleton.skeleton))
        tree |= {
            f"source/{lab}/{master.name}.ipynb": notebook_bytes(shown(master, skeleton.for_nbgrader)),
            f"assignments/{lab}/{master.name}.py": skeleton_module,
            f"solutions/{lab}/{master.name}.py": module(shown(master, skeleton.solution)),
            f"release/{lab}/{master.name}.ipynb": skeleton_notebook,
        }
        bundle |= {
            f"{lab}/{master.name}.ipynb": skeleton_notebook,
            f"{lab}/{master.name}.py": skeleton_module,
        }
        for page, content in pages(master).items():
            path = f"{master.name}/{page}.html"
            tree[f"release/{lab}/{path}"] = bundle[f"{lab}/{path}"] = otter_bundle[f"{lab}-otter/{path}"] = content
        # In a notebook that is not graded there is nothing for Otter to check or to pack.
        folder = {f"{master.name}.ipynb": skeleton_notebook}
        if graded:
            folder = otter.student_folder(master.name, released(master))
        otter_bundle |= {f"{lab}-otter/{master.name}/{path}": content for path, content in folder.items()}
    bundle[f"{lab}/README.md"] = _handout(course, masters, wheel_name)
    otter_bundle[f"{lab}-otter/README.md"] = _handout_for_otter(course, masters, wheel_name)
    tree[f"release/{lab}/{lab}.zip"] = archive.packed(bundle)
    tree[f"release/{lab}/{lab}-otter.zip"] = archive.packed(otter_bundle)
    return tree


def shown(master: Master, view: Callable[[str], str]) -> Any:
    """The master's notebook, every cell as ``view`` shows it; one of which nothing is left is dropped."""
    notebook = copy.deepcopy(master.notebook)
    for cell in notebook.cells:
        cell.source = view(cell.source)
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip() or "nbgrader" in cell.metadata]
    return notebook


def released(master: Master) -> Any:
    """The notebook that a student opens, with what nbgrader needs to know it again when it comes back."""
    notebook = shown(master, skeleton.skeleton)
    for preprocessor in (LockCells(), ComputeChecksums()):
        notebook, _ = preprocessor.preprocess(notebook, {})
    return notebook


def pages(master: Master) -> Tree:
    """The explorers that a notebook shows, each as a page for a browser, by name. Raises ``Refused``."""
    found: Tree = {}
    for index, cell in enumerate(master.notebook.cells):
        for name in _EXPLORE.findall(cell.source) if cell.cell_type == "code" else ():
            try:
                about = find(name)
            except LookupError as error:
                raise Refused([Problem(master.where(index), str(error.args[0]), "Correct the name.")]) from None
            found[about.name] = figures.page(about).encode("utf-8")
    return found


def solution_notebook(master: Master) -> Any:
    """The filled-in notebook, not yet executed; its metadata names what its outputs must come from."""
    notebook = shown(master, skeleton.solution)
    cells = [(cell.id, cell.cell_type, cell.source) for cell in notebook.cells]
    notebook.metadata[EXECUTED_FROM] = hashlib.sha256(json.dumps(cells).encode("utf-8")).hexdigest()
    return notebook


def without_outputs(notebook: Any) -> Any:
    """A copy of ``notebook`` without what executing it left."""
    bare = copy.deepcopy(notebook)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)
    return bare


def is_current(committed: bytes | None, master: Master) -> bool:
    """Whether an executed notebook was made from the master as it is now.

    Its outputs are times and plots of one machine on one day: they are not compared.
    """
    if committed is None:
        return False
    try:
        found = nbformat.reads(committed.decode("utf-8"), as_version=4)
    except (ValueError, nbformat.reader.NotJSONError, nbformat.ValidationError):
        return False
    return notebook_bytes(without_outputs(found)) == notebook_bytes(solution_notebook(master))


def notebook_bytes(notebook: Any) -> bytes:
    """A notebook as a file. Raises ``nbformat.ValidationError`` where it is none."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    return text.rstrip("\n").encode("utf-8") + b"\n"


def module(notebook: Any) -> bytes:
    """A notebook as a module with percent markers; what a student fills in keeps its ``grade_id``."""
    plain = copy.deepcopy(notebook)
    for cell in plain.cells:
        about = cell.metadata.pop("nbgrader", {})
        if about.get("solution"):
            cell.metadata["nbgrader"] = {"grade_id": about["grade_id"]}
    plain.metadata = nbformat.from_dict(
        {"jupytext": {"notebook_metadata_filter": "-all", "cell_metadata_filter": "nbgrader,-all"}}
    )
    text: str = jupytext.writes(plain, fmt="py:percent")
    return text.rstrip("\n").encode("utf-8") + b"\n"


def _handout(course: Course, masters: Iterable[Master], wheel_name: str) -> bytes:
    contents = [
        f"- `{master.name}.ipynb`: the notebook; `{master.name}.py`: the same as a module for an editor."
        + ("" if master.name in course.notebooks else " Not graded, and not handed in.")
        + (f" `{master.name}/`: its figures as pages for a browser." if pages(master) else "")
        for master in masters
    ]
    return _filled_in("handout.md", course, contents, wheel_name)


def _handout_for_otter(course: Course, masters: Iterable[Master], wheel_name: str) -> bytes:
    contents = [
        f"- `{master.name}/`: the notebook `{master.name}.ipynb`, "
        + (
            "and in `tests/` what `grader.check(...)` reads."
            if master.name in course.notebooks
            else "which is not graded and not handed in."
        )
        + (" Its figures lie there as pages for a browser, too." if pages(master) else "")
        for master in masters
    ]
    return _filled_in("handout_otter.md", course, contents, wheel_name)


def _filled_in(template: str, course: Course, contents: Iterable[str], wheel_name: str) -> bytes:
    text = string.Template(Path(__file__).with_name(template).read_text(encoding="utf-8"))
    first = next(iter(course.parts[course.notebooks[0]].points), "").partition(".")[0]
    listed = "\n".join(contents)
    return text.substitute(title=course.title, contents=listed, wheel=wheel_name, first=first).encode("utf-8")
