"""An instructor's mistake is answered with what, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder.course import ByPerson, Course, Limits, Part
from autograder.release import build, command, gate, run
from autograder.release.agreement import disagreements
from autograder.release.masters import Master
from autograder.release.mutants import bound, checked, survivors
from autograder.release.problem import Problem, Refused
from autograder.result import CheckResult, Result

SmallMaster = Callable[..., Master]


def small_course(points: dict[str, float], by_person: list[ByPerson] | None = None) -> Course:
    return Course(
        course_title="A course",
        seed_file="seed.txt",
        assignment="lab00",
        title="A lab",
        chapter="7",
        notebooks=("small",),
        limits=Limits(),
        parts={"small": Part(points=points, by_person=by_person or [])},
    )


def problems(master: Master, points: dict[str, float], by_person: list[ByPerson] | None = None) -> list[Problem]:
    return disagreements(small_course(points, by_person), master, {"step1.twice"}, set())


def only(found: list[Problem]) -> str:
    assert len(found) == 1, found
    return str(found[0])


def test_the_lab_agrees_with_its_course_file(course: Course, lab_masters: list[Master]) -> None:
    assert [problem for master in lab_masters for problem in command.agreement(course, master)] == []


def test_a_small_lab_without_mistakes_has_no_problem(small: SmallMaster) -> None:
    assert problems(small(), {"step1.twice": 2}) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("    # SKELETON: raise", "    # raise"),
            "line 9 (cell step1-twice): This solution region has no SKELETON",
        ),
        (("    # END SOLUTION\n", ""), "line 9 (cell step1-twice): BEGIN SOLUTION has no END SOLUTION"),
        (("    # BEGIN SOLUTION\n", ""), "END SOLUTION has no BEGIN SOLUTION"),
        (("step1-check", "step1-twice"), "The grade_id 'step1-twice' is used twice"),
        (("step1-check", "step 1"), "The grade_id 'step 1' has a character"),
    ],
)
def test_a_master_that_cannot_be_read_says_where(small: SmallMaster, change: tuple[str, str], told: str) -> None:
    with pytest.raises(Refused) as refused:
        small(change)
    text = only(refused.value.problems)
    assert text.startswith("source/lab00/small.py, line ")
    assert told in text


def test_points_for_a_function_that_nobody_defines(small: SmallMaster) -> None:
    told = [str(problem) for problem in problems(small(), {"step1.twice": 2, "step1.twcie": 0})]
    assert any('"step1.twcie" has points, and no cell of source/lab00/small.py defines twcie' in text for text in told)
    assert any("Did you mean twice?" in text for text in told)
    assert all(text.startswith("source/course.toml, [lab00.small.points]") for text in told)


def test_a_function_without_points(small: SmallMaster) -> None:
    told = [str(problem) for problem in problems(small(), {})]
    assert any('There are hidden checks for "step1.twice", and it has no points' in text for text in told)
    assert any(
        "twice is for students to write" in text and 'Add a line such as "step1.twice" =' in text for text in told
    )


def test_points_that_differ_between_cell_text_and_course(small: SmallMaster) -> None:
    told = "\n".join(map(str, problems(small(), {"step1.twice": 3})))
    assert "The functions of step1 have 3 points, and its graded cells in source/lab00/small.py 2." in told
    assert "The text gives step1 2 points, and course.toml 3." in told
    assert "The text gives twice 2 points, and course.toml 3." in told


@pytest.mark.parametrize(
    ("skeleton", "told"),
    [
        ("return None", "The skeleton of twice does not raise NotImplementedError, so it looks written."),
        ("raise NotImplementedError", "The skeleton of twice does not say what is to be written ('')."),
        ('raise NotImplementedError("do it")', "does not say what is to be written ('do it')"),
        ("raise NotImplementedError(", "What a student gets of this cell is not Python"),
    ],
)
def test_a_skeleton_that_does_not_help(small: SmallMaster, skeleton: str, told: str) -> None:
    master = small(('raise NotImplementedError("twice: give back two times x.")', skeleton))
    found = "\n".join(map(str, problems(master, {"step1.twice": 2})))
    assert told in found
    assert "source/lab00/small.py, line 7 (cell step1-twice)" in found


def test_a_written_answer_without_its_cell(small: SmallMaster) -> None:
    answer = ByPerson(task="step1", function="why", title="Why", points=1, grade_id="step1-why")
    told = "\n".join(map(str, problems(small(), {"step1.twice": 2}, [answer])))
    assert "No cell of source/lab00/small.py has the grade_id 'step1-why' of why." in told


def test_an_exercise_in_a_notebook_that_is_not_graded(course: Course, small: SmallMaster) -> None:
    told = [str(problem) for problem in command.agreement(course, small())]
    assert ["step1-check" in text for text in told] == [False, True]
    assert all("There is something to solve here, and this notebook is not graded." in text for text in told)


def test_an_experiment_that_runs_on_import(root: Path) -> None:
    packages = root / "assignments"
    writes = gate.imports("assignments/lab00/a.py", b"open('scaling.png', 'w').close()", packages)
    assert "Importing it writes scaling.png." in only(writes)
    prints = gate.imports("assignments/lab00/a.py", b"print('measuring')", packages)
    assert "Importing it prints 'measuring'." in only(prints)
    breaks = gate.imports("assignments/lab00/a.py", b"import nowhere_at_all", packages)
    assert "ModuleNotFoundError" in only(breaks)


def test_a_missing_hint_names_step_and_depth(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    from attnlab import hints

    assert list(gate.hints(course)) == []
    known = hints.hint
    monkeypatch.setattr(
        hints, "hint", lambda step, depth=1: "" if (step, depth) == ("step3", 2) else known(step, depth)
    )
    assert "step3 has no hint of depth 2" in only(list(gate.hints(course)))


def test_a_stray_file_is_named(tmp_path: Path, course: Course) -> None:
    for name in ("release/lab07/answers.txt", "release/lab07/lab07.zip", "release/notes.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    found = [problem.where for problem in gate.stray(tmp_path, course, ["release/lab07/lab07.zip"])]
    assert found == ["release/notes.md", "release/lab07/answers.txt"]


def result(verdict: str, points: float, suspect: str | None = None) -> Result:
    raw: dict[str, object] = {
        "id": "small.step1.twice.basic",
        "notebook": "small",
        "task": "step1",
        "function": "twice",
    }
    raw |= {"title": "Twice", "points": points, "max_points": 2, "verdict": verdict, "suspect": suspect}
    return Result(
        submission="s",
        assignment="lab00",
        kit_version="0",
        course_seed_id="0",
        isolation="none",
        device="cpu",
        score=points,
        max_score=2,
        pending_points=0,
        manual_points=0,
        provisional=False,
        seconds=0,
        cpu_seconds=0,
        message=None,
        digest="",
        checks=[msgspec.convert(raw, CheckResult)],
    )


def test_a_solution_must_pass_and_a_skeleton_must_not() -> None:
    assert list(gate.full_marks(result("passed", 2), "solutions/lab00")) == []
    assert list(gate.no_marks(result("submission_error", 0), "assignments/lab00")) == []
    refused = "\n".join(map(str, gate.full_marks(result("failed", 0), "solutions/lab00")))
    assert "The solution does not pass small.step1.twice.basic (failed)" in refused
    given = "\n".join(map(str, gate.no_marks(result("passed", 2), "assignments/lab00")))
    assert "The untouched skeleton gets 2 points (passed) in small.step1.twice.basic." in given


def test_an_assignment_that_does_not_exist_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lab99", check=True) == 2
    assert "lab99" in capsys.readouterr().out


def test_nothing_stands_in_the_way_of_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lab07", check=True) == 0, capsys.readouterr().out


def test_a_mistake_made_in_the_solution_is_seen(tree: build.Tree) -> None:
    solution = tree["solutions/lab07/attention_lab.py"].decode("utf-8")
    right = checked("lab07", "attention_lab", "step1", bound(solution))
    assert {outcome.verdict for outcome in right} == {"passed"}
    wrong = checked("lab07", "attention_lab", "step1", bound(solution, "def softmax(x, axis=-1):\n    return x\n"))
    assert "failed" in {outcome.verdict for outcome in wrong}


@pytest.mark.soak
def test_every_named_mistake_loses_marks_and_is_named(course: Course, tree: build.Tree) -> None:
    texts = {name: tree[f"solutions/lab07/{name}.py"].decode("utf-8") for name in course.notebooks}
    assert list(survivors(course, texts)) == []
