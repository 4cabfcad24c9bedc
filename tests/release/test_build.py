"""Generated files are what the masters give: the same bytes, for the right eyes, and usable as they are."""

from __future__ import annotations

import importlib.util
import inspect
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from attnlab.explorers import EXPLORERS, explore
from autograder.course import Course
from autograder.release import archive, build, command, execute, gate, skeleton
from autograder.release.masters import Master
from autograder.release.problem import Refused

SmallMaster = Callable[..., Master]


def test_committed_files_are_what_the_masters_give(root: Path, tree: build.Tree) -> None:
    assert command.differences(root, tree) == [], "run `autograder release` and commit the result"


def test_executed_solutions_come_from_the_masters_as_they_are(
    root: Path, course: Course, lab_masters: list[Master]
) -> None:
    for master in lab_masters:
        committed = (root / command.executed(course, master)).read_bytes()
        assert build.is_current(committed, master), f"{master.name} was executed from another text"
        kinds = _shown(nbformat.reads(committed.decode("utf-8"), as_version=4))
        if master.name in course.notebooks:
            assert "image/png" in kinds, "a self-learner looks for the plots"
        assert kinds <= {"image/png", "text/plain", "text/html"}, "a widget says nothing without its kernel"


def test_two_builds_are_the_same_byte_for_byte(
    root: Path, course: Course, lab_masters: list[Master], tree: build.Tree
) -> None:
    assert build.build(root, course, lab_masters) == tree


def test_an_executed_notebook_of_another_text_is_not_current(small: SmallMaster) -> None:
    before = small()
    content = build.notebook_bytes(build.solution_notebook(before))
    assert build.is_current(content, before)
    # A changed text around the code must count too: it is shown in the same notebook.
    assert not build.is_current(content, small(("Step 1. Twice", "Step 1. Double")))
    assert not build.is_current(b"{not a notebook", before)
    assert not build.is_current(None, before)


def test_outputs_do_not_decide_whether_a_notebook_is_current(small: SmallMaster) -> None:
    master = small()
    notebook = build.solution_notebook(master)
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    code.outputs = [nbformat.v4.new_output("stream", text="3.14 seconds on another machine")]
    code.execution_count = 7
    assert build.is_current(build.notebook_bytes(notebook), master)


def test_a_student_gets_the_skeleton_and_a_learner_the_solution(small: SmallMaster) -> None:
    master = small()
    for_student = build.module(build.shown(master, skeleton.skeleton)).decode()
    for_learner = build.module(build.shown(master, skeleton.solution)).decode()
    assert 'raise NotImplementedError("twice: give back two times x.")' in for_student
    assert "doubled_by_adding" not in for_student
    assert "return doubled_by_adding" in for_learner
    assert "NotImplementedError" not in for_learner
    for text in (for_student, for_learner):
        assert "SOLUTION" not in text
        assert "SKELETON" not in text
        assert "a hidden number" not in text


def test_nbgrader_finds_its_hidden_tests_in_the_source_and_nowhere_else(small: SmallMaster) -> None:
    master = small()
    source = build.notebook_bytes(build.shown(master, skeleton.for_nbgrader)).decode()
    assert "a hidden number" in source
    assert source.index("BEGIN SOLUTION") < source.index("SKELETON")  # inside, where nbgrader removes it
    assert "a hidden number" not in build.notebook_bytes(build.released(master)).decode()


def test_released_cells_carry_what_nbgrader_needs_to_know_them_again(course: Course, tree: build.Tree) -> None:
    for name in course.notebooks:
        notebook = nbformat.reads(tree[f"release/lab07/{name}.ipynb"].decode("utf-8"), as_version=4)
        about = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
        assert about
        assert all("checksum" in cell for cell in about)
        assert not any(cell.get("outputs") for cell in notebook.cells)


def test_archives_do_not_depend_on_order_or_day() -> None:
    assert archive.packed({"b": b"2", "a": b"1"}) == archive.packed({"a": b"1", "b": b"2"})
    with zipfile.ZipFile(io.BytesIO(archive.packed({"a": b"1"}))) as opened:
        assert opened.infolist()[0].date_time[0] == 1980


def test_the_zip_is_all_that_a_student_needs(course: Course, tree: build.Tree) -> None:
    names = _packed(tree["release/lab07/lab07.zip"]).keys()
    wheel = next(path for path in tree if path.endswith(".whl")).rpartition("/")[2]
    expected = {f"lab07/{name}{kind}" for name in course.all_notebooks for kind in (".ipynb", ".py")}
    pages = {f"lab07/explorers/{name}.html" for name in EXPLORERS}
    assert names == expected | pages | {"lab07/README.md", f"lab07/{wheel}"}


def test_every_figure_of_a_notebook_is_handed_out_as_a_page_too(tree: build.Tree) -> None:
    zips = _packed(tree["release/lab07/lab07.zip"]) | _packed(tree["release/lab07/lab07-otter.zip"])
    for name in EXPLORERS:
        page = explore(name).page().encode("utf-8")
        assert tree[f"release/lab07/explorers/{name}.html"] == page
        assert zips[f"lab07/explorers/{name}.html"] == zips[f"lab07-otter/explorers/{name}.html"] == page


def test_otter_checks_nothing_in_a_notebook_that_is_not_graded(tree: build.Tree) -> None:
    files = _packed(tree["release/lab07/lab07-otter.zip"])
    assert files["lab07-otter/explorers/explorers.ipynb"] == tree["release/lab07/explorers.ipynb"]
    assert not [path for path in files if path.startswith("lab07-otter/explorers/tests")]


def test_a_figure_that_does_not_exist_is_named_with_its_cell(small: SmallMaster) -> None:
    with pytest.raises(
        Refused, match=r"step1-check\): There is no explorer 'softmax'. The explorers are attention-head"
    ):
        build.pages(small(('print("check")', 'explore("softmax")')))


@pytest.mark.parametrize("folder", ["assignments", "solutions"])
def test_importing_a_module_runs_no_experiment(root: Path, course: Course, tree: build.Tree, folder: str) -> None:
    for name in course.all_notebooks:
        path = f"{folder}/lab07/{name}.py"
        assert gate.imports(path, tree[path], root / "assignments") == []


def test_each_function_of_the_skeleton_says_what_to_write(
    course: Course, tree: build.Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    for name, part in course.parts.items():
        module = _imported(name, tree[f"assignments/lab07/{name}.py"], tmp_path)
        defined = [key.partition(".")[2] for key in part.points if hasattr(module, key.partition(".")[2])]
        assert len(defined) >= len(part.points) - 1  # the measured exponent has no function of its own
        for function in defined:
            with pytest.raises(NotImplementedError, match=r"\w+\W+\w+\W+\w+"):
                _called(getattr(module, function))


def test_the_skeleton_notebook_runs_from_top_to_bottom(root: Path, lab_masters: list[Master]) -> None:
    for master in lab_masters:
        notebook = execute.execute(build.released(master), master.label, root / "assignments")
        errors = [out for cell in notebook.cells for out in cell.get("outputs", ()) if out.output_type == "error"]
        assert errors == []


def test_outputs_do_not_say_where_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "lovelace-3")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    text = "wrote /scratch/of/ada/note.md on lovelace-3, not on lovelace-34"
    picture = {"image/png": "lovelace-3", "text/plain": "<Figure of lovelace-3>"}
    notebook.cells[0].outputs = [
        nbformat.v4.new_output("stream", text=text),
        nbformat.v4.new_output("display_data", data=picture),
    ]
    stream, shown = execute.anonymous(notebook, "/scratch/of/ada").cells[0].outputs
    assert stream.text == "wrote …/note.md on this-machine, not on lovelace-34"
    assert shown.data["text/plain"] == "<Figure of this-machine>"
    assert shown.data["image/png"] == "lovelace-3"  # base64: what looks like a name in it is none


def _shown(notebook: Any) -> set[str]:
    return {kind for cell in notebook.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())}


def _packed(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _imported(name: str, content: bytes, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_bytes(content)
    spec = importlib.util.spec_from_file_location(f"skeleton_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _called(function: Callable[..., object]) -> object:
    """Call a skeleton with something for every argument that it requires."""
    parameters = inspect.signature(function).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    named = {p.name: None for p in required if p.kind is p.KEYWORD_ONLY}
    return function(*[None for p in required if p.kind is not p.KEYWORD_ONLY], **named)
