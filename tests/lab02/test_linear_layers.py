"""The second assignment: nothing in the engine knows the first one by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from autograder import engine
from autograder.course import Course, Part, find_root, load, signatures
from autograder.kit import kit_version
from autograder.lab import local_lab
from autograder.release import command, gate
from autograder.release.mutants import survivors_of
from autograder.result import Result
from autograder.sandbox import launch
from autograder.settings import Settings
from autograder.submission import read
from autograder.suspects import all_suspects, name_suspect
from autograder.suspects.registry import NOTEBOOKS

NAME = "linear_layers"


@pytest.fixture(scope="module")
def course() -> Course:
    return load("lab02")


@pytest.fixture(scope="module")
def solution() -> str:
    return Path(find_root(), "solutions", "lab02", f"{NAME}.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def settings(course: Course) -> Iterator[Settings]:
    try:
        launch.choose("auto")
    except launch.NoIsolation as why:
        pytest.skip(str(why))
    yield Settings(
        assignment="lab02", course=course, seed="a test", seed_id="test", kit_version=kit_version(), device="cpu"
    )
    engine.close()


def graded(settings: Settings, text: str) -> Result:
    files = {f"{NAME}.py": text.encode("utf-8")}
    return engine.grade(read("one", files, "lab02", signatures(settings.course)), settings)


def test_nothing_stands_in_the_way_of_its_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.release("lab02", check=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize("function", ["linear", "loss_gradients"])
def test_every_named_mistake_loses_marks_and_is_named(solution: str, function: str) -> None:
    assert survivors_of(function, "lab02", NAME, solution) == []


def test_a_wrong_layer_is_taken_once(settings: Settings, solution: str) -> None:
    wrong = solution.replace("return X @ W + b", "return X @ W.T + b")
    assert wrong != solution
    result = graded(settings, wrong)
    assert (result.score, result.max_score) == (6, 10)
    assert {check.suspect for check in result.checks if check.verdict != "passed"} & {"weights_transposed"}


def test_a_notebook_that_the_student_package_does_not_know_is_named(course: Course) -> None:
    part = course.parts[NAME]
    unknown = msgspec.structs.replace(course, parts={"convolutions": part})
    assert [problem.what for problem in gate.known_to_students(unknown)] == [
        "There is no notebook convolutions, so students cannot check it."
    ]
    misspelt = msgspec.structs.replace(course, parts={NAME: Part(points={"layers.linear": 4})})
    assert "linear_layers has no task layers" in next(gate.known_to_students(misspelt)).what
    assert list(gate.known_to_students(course)) == []


def test_a_notebook_without_suspects_is_graded_all_the_same() -> None:
    assert all_suspects("convolutions") == ()
    assert name_suspect(local_lab({}), "linear", np.random.default_rng(0), "convolutions") is None


def test_its_mistakes_are_its_own() -> None:
    assert {suspect.notebook for suspect in all_suspects(NAME)} == {NAME}
    assert {suspect.task for suspect in all_suspects(NAME)} == {"layer", "gradients"}
    others = {suspect.id for notebook in NOTEBOOKS if notebook != NAME for suspect in all_suspects(notebook)}
    assert not others & {suspect.id for suspect in all_suspects(NAME)}  # pages look hints up by identifier
