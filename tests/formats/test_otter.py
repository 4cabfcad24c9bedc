"""Otter: what a student gets works in Otter's own client, and what grades never runs a line outside the sandbox."""

from __future__ import annotations

import io
import json
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from autograder.course import Course, find_root, load
from autograder.formats import otter
from autograder.formats.carried import Graded
from autograder.release import build, command, leaks
from autograder.release.masters import Master
from tests.formats.unpacked import Archives, archives, platform_folder
from tests.grading import handmade
from tests.samples import build as samples

#: Starts Otter's command line, and writes down what it listened on, unpickled and started.
WATCHED = """\
import json, socket, sys
seen = {"listen": [], "pickle.find_class": [], "subprocess.Popen": []}
socket.socket.listen = lambda one, *_: seen["listen"].append(str(one))
sys.addaudithook(lambda event, args: seen[event].append([str(a) for a in args[:2]]) if event in seen else None)
from otter.cli import cli
try:
    cli(sys.argv[2:], standalone_mode=False)
finally:
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(seen, file)
"""


class Touch:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


@pytest.fixture(scope="module", name="made")
def _made() -> Archives:
    return archives()


@pytest.fixture(scope="module")
def lab_masters() -> list[Master]:
    return command.read_masters(find_root(), load("lab07"))


@pytest.fixture(scope="module")
def folders(lab_masters: list[Master]) -> dict[str, dict[str, bytes]]:
    return {master.name: otter.student_folder(master.name, build.released(master)) for master in lab_masters}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return handmade.course_in(tmp_path / "clone")


def the_notebook(folder: dict[str, bytes]) -> Any:
    text = next(content for path, content in folder.items() if path.endswith(".ipynb"))
    return nbformat.reads(text.decode("utf-8"), as_version=4)


# ---------------------------------------------------------------- what a student gets


def test_every_step_that_can_be_checked_is_checked_by_otter(
    folders: dict[str, dict[str, bytes]], lab_masters: list[Master]
) -> None:
    for master in lab_masters:
        book = the_notebook(folders[master.name])
        sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
        assert sources[0].endswith(f'grader = otter.Notebook("{master.name}.ipynb")')
        steps = {path[len("tests/") : -len(".py")] for path in folders[master.name] if path.startswith("tests/")}
        asked = re.findall(r'^check\("(\w+)"\)$', "\n".join(c.source for c in master.notebook.cells), re.MULTILINE)
        assert set(otter.checked_steps(book)) == steps == set(asked) - {"questions"}
        # The explorers ask nothing.
        assert bool(steps) == (master.name in load("lab07").notebooks)


def test_the_students_folder_holds_no_solution_and_no_hidden_check(
    folders: dict[str, dict[str, bytes]], lab_masters: list[Master]
) -> None:
    root = find_root()
    handed_out = {f"{name}/{path}": text for name, folder in folders.items() for path, text in folder.items()}
    assert leaks.leaks(handed_out, leaks.secrets(root, "lab07", lab_masters)) == []


def test_grader_check_says_what_the_public_checks_say(
    folders: dict[str, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from otter import Notebook

    for path, content in folders["attention_lab"].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    grader = Notebook("attention_lab.ipynb")
    right: dict[str, Any] = {"__name__": "a_lab"}
    source = (find_root() / "solutions" / "lab07" / "attention_lab.py").read_text(encoding="utf-8")
    exec(compile(source, "attention_lab.py", "exec"), right)

    assert grader.check("step7", right).passed_all
    unwritten = grader.check("step7", {}).summary()
    assert "not written yet" in unwritten and "There is no `causal_mask` yet" in unwritten
    wrong = grader.check("step7", {**right, "causal_mask": lambda n_q, n_k=None: ~right["causal_mask"](n_q, n_k)})
    assert not wrong.passed_all
    assert "does not hold" in wrong.summary() and "Read on: chapter" in wrong.summary()
    assert wrong.possible == 0  # a public check is not the mark


@pytest.mark.soak
def test_the_students_notebooks_run_in_a_kernel(folders: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    from nbclient import NotebookClient

    for name, folder in folders.items():
        for path, content in folder.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(content)
        book = the_notebook(folder)
        NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path / name)}}).execute()
        assert list((tmp_path / name).glob(f"{name}_*.zip"))


# ---------------------------------------------------------------- results in Otter's terms


def gradescope_view(graded: Graded) -> dict[str, Any]:
    from otter.run import AutograderConfig

    from autograder.formats.otter_plugin import grading_results

    shown = otter.config(SimpleNamespace(show_checks=graded.show))  # type: ignore[arg-type]
    found: dict[str, Any] = grading_results(graded).to_gradescope_dict(AutograderConfig(shown))
    return found


def test_a_step_is_a_question_with_the_same_points(course: Course) -> None:
    result = handmade.result(course, attention__mask="failed", softmax__large="timeout")
    found = gradescope_view(Graded(result=result, handed_in=("attention_lab",), show="after_published"))
    questions = {test["name"]: test for test in found["tests"]}
    assert questions["step1"]["score"] == pytest.approx(sum(c.points for c in result.checks if c.task == "step1"))
    assert (questions["step2"]["score"], questions["step2"]["max_score"]) == (7.5, 7.5)
    assert "this came back, and that is why" in questions["step1"]["output"]
    assert sum(test["score"] for test in found["tests"]) == pytest.approx(result.score)
    assert {test["visibility"] for test in found["tests"]} == {"after_published"}


def test_what_waits_is_a_question_without_points(course: Course) -> None:
    result = handmade.result(course, worked_example__output="pending")
    found = gradescope_view(Graded(result=result, handed_in=("attention_lab",), show="visible"))
    questions = {test["name"]: test for test in found["tests"]}
    assert (questions["step2"]["score"], questions["step2"]["max_score"]) == (5, 5)
    waits = questions["step2 (waits)"]
    assert (waits["score"], waits["max_score"]) == (0, 0)
    assert "2.5 points wait" in waits["output"] and "2.5 points are added by hand" in waits["output"]


@pytest.mark.parametrize("show", ["visible", "after_due_date", "after_published", "hidden"])
def test_students_see_what_course_toml_says_and_never_an_empty_success(course: Course, show: Any) -> None:
    result = handmade.result(course, attention__mask="failed")
    found = gradescope_view(Graded(result=result, handed_in=(), show=show))
    otters = "after_published" if show == "after_due_date" else show
    assert {test["visibility"] for test in found["tests"]} == {otters}
    assert not any(test["name"] == "Public Tests" for test in found["tests"])


# ---------------------------------------------------------------- otter run


def test_otter_run_gives_our_marks_and_runs_nothing_of_the_submission(made: Archives, tmp_path: Path) -> None:
    """One run with everything planted that Otter's own way of grading would have run or unpickled."""
    ran = tmp_path / "was-run"
    planted = f"open({str(ran)!r}, 'a').write(__file__ + chr(10))\n"
    book = samples.notebook("solution", kept={"setup", "step1-softmax", "step1-attention"})
    book = otter.student_notebook("attention_lab", book)
    book.metadata["kernelspec"] = {"name": "no-such-kernel", "display_name": "x", "language": "python"}
    book.cells.insert(0, nbformat.v4.new_code_cell(f"import os\nos.system('touch {ran}')\n{planted}"))
    handed_in = tmp_path / "attention_lab_2026_11_30T10_00_00_000000.zip"
    with zipfile.ZipFile(handed_in, "w") as archive:
        archive.writestr("attention_lab.ipynb", nbformat.writes(book))
        archive.writestr(".OTTER_LOG", pickle.dumps(Touch(ran)))
        archive.writestr("results.pkl", pickle.dumps(Touch(ran)))
        for module in ("multiprocessing", "pickle", "msgspec", "sitecustomize", "conftest"):
            archive.writestr(f"{module}.py", planted)
        for module in ("otter/__init__", "autograder/__init__", "tests/step1"):
            archive.writestr(f"{module}.py", planted)

    seen = tmp_path / "seen.json"
    watched = tmp_path / "watched.py"
    watched.write_text(WATCHED, encoding="utf-8")
    arguments = ["run", "-a", str(made.otter()), "-o", str(tmp_path), str(handed_in)]
    done = subprocess.run(
        [sys.executable, "-P", str(watched), str(seen), *arguments],
        env=made.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    points = {test["name"]: test["score"] for test in found["tests"] if "(waits)" not in test["name"]}
    assert set(points) == {f"step{i}" for i in range(1, 9)}
    assert points.pop("step1") == pytest.approx(17)
    assert points.pop("step5") in (0, 4)  # the exponent of this attention, if the machine was quiet enough
    assert set(points.values()) == {0}
    # The planted cell failed, inside; Otter's own did not.
    assert found["output"].count("One cell did not run to the end") == 1

    assert not ran.exists(), ran.read_text(encoding="utf-8")
    events = json.loads(seen.read_text(encoding="utf-8"))
    assert events["listen"] == []
    started = [command for _, command in events["subprocess.Popen"]]
    assert len([command for command in started if "autograder.formats.carried" in command]) == 1
    assert not any("kernel" in command for command in started)
    # What Otter itself wrote a moment before, and reads back.
    unpickled = {module for module, _ in events["pickle.find_class"]}
    assert {module.partition(".")[0] for module in unpickled} <= {"otter", "builtins", "copyreg"}


def test_on_gradescope_otter_is_not_even_given_the_submission(made: Archives, tmp_path: Path) -> None:
    """Two notebooks, one of them no JSON, and metadata that Otter cannot read: each of them stops ``otter run``."""
    files = {
        "attention_lab.ipynb": b"\xef\xbb\xbf" + nbformat.writes(samples.notebook("skeleton")).encode("utf-8"),
        "other.ipynb": b"no notebook",
        "tests/step1.py": b"raise SystemExit('was run')",
    }
    root = platform_folder(tmp_path / "autograder", made.otter(), files)
    done = made.run_script(root)
    assert done.returncode == 0, done.stderr
    found = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert sum(test["score"] for test in found["tests"]) == 0
    assert sum(test["max_score"] for test in found["tests"]) == 93
    assert "Read: attention_lab." in found["output"]
    assert (root / "results" / "results.pkl").is_file()


def test_otter_gets_its_own_function_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, course: Course) -> None:
    from otter.run.run_autograder.runners import python_runner

    from autograder.formats import otter_plugin

    monkeypatch.setattr(python_runner, "grade_notebook", python_runner.grade_notebook)  # put back afterwards
    graded = Graded(result=handmade.result(course), handed_in=(), show="visible")
    monkeypatch.setattr(otter_plugin, "in_a_process", lambda *_: graded)
    monkeypatch.setattr(otter_plugin, "_EXECUTE", lambda *_, **__: "what Otter executes itself")
    (tmp_path / "submission").mkdir()
    log = tmp_path / "submission" / ".OTTER_LOG"
    log.write_bytes(pickle.dumps(Touch(tmp_path / "was-run")))
    plugin = otter_plugin.SandboxedGrader("", {}, {})
    collection = SimpleNamespace(_plugins=[plugin], run=lambda *_: None)
    config = SimpleNamespace(autograder_dir=str(tmp_path), grade_from_log=True, pdf=True, token="x")
    plugin.before_grading(config)
    assert not log.exists() and not (tmp_path / "was-run").exists()
    assert (config.grade_from_log, config.pdf, config.token) == (False, False, None)
    found = python_runner.grade_notebook("never opened.ipynb", plugin_collection=collection)
    assert found.total == pytest.approx(graded.result.score)
    plugin.generate_report()
    assert python_runner.grade_notebook is otter_plugin._EXECUTE

    # Where a run broke off before its end, the next one is not given its marks.
    plugin.before_grading(config)
    another = SimpleNamespace(_plugins=[])
    assert python_runner.grade_notebook("another.ipynb", plugin_collection=another) == "what Otter executes itself"
    assert python_runner.grade_notebook is otter_plugin._EXECUTE


def test_what_stands_in_the_way_ends_otter_with_a_sentence(
    made: Archives, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from autograder.formats import otter_plugin

    root = platform_folder(tmp_path, made.otter(), {})
    about = root / "source" / "archive.json"
    about.write_text(about.read_text(encoding="utf-8").replace('"0.1.0+', '"0.0.9+'), encoding="utf-8")
    config = SimpleNamespace(autograder_dir=str(root))
    with pytest.raises(SystemExit):
        otter_plugin.SandboxedGrader("", {}, {}).before_grading(config)
    said = capfd.readouterr().err.strip().splitlines()
    assert len(said) == 1 and said[0].startswith("The archive was made for the grader 0.0.9+")


def test_the_archive_of_a_notebook_grades_that_notebook(made: Archives) -> None:
    for name in ("attention_lab", "exercises", "block_receipts"):
        with zipfile.ZipFile(made.otter(name)) as archive:
            assert json.loads(archive.read("archive.json"))["notebooks"] == [name]
            assert json.loads(archive.read("otter_config.json"))["plugins"] == [otter.PLUGIN]
            # Otter copies this folder beside the submission.
            copied = [entry for entry in archive.namelist() if entry.startswith(("tests/", "files/"))]
            assert copied == ["tests/README.md"]
            wheels = [io.BytesIO(archive.read(e)) for e in archive.namelist() if e.endswith(".whl")]
    names = [name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()]
    assert "autograder/checks/lab07/test_step1_2_attention.py" in names
    assert "autograder/formats/scripts/setup.sh" in names and "attnlab/otter_tests.py" in names
