"""The public checks of the exercises: right answers pass, typical mistakes are seen and said in a sentence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from attnlab import hints
from attnlab.checking import declared, run_step
from attnlab.panel import Panel
from attnlab.record import Outcome
from attnlab.steps import NOTEBOOKS, find
from autograder.release import mutants
from tests.exercises.conftest import handed_out, solution

STEPS = {step.id: step for step in NOTEBOOKS["exercises"]}
WRITTEN = [step.id for step in STEPS.values() if step.functions]
TASK_OF = {name: step.id for step in STEPS.values() for name in step.functions}
WRONG = tomllib.loads(Path(__file__).with_name("public_wrong.toml").read_text(encoding="utf-8"))["wrong"]


def troubles(step: str, names: dict[str, Any]) -> list[Outcome]:
    return [o for o in run_step(step, names).outcomes if o.verdict not in ("passed", "waits")]


@pytest.mark.parametrize("step", WRITTEN)
def test_the_solution_passes_every_public_check(step: str, solved: dict[str, Any]) -> None:
    assert troubles(step, solved) == []
    assert run_step(step, solved).passed


@pytest.mark.parametrize("step", WRITTEN)
def test_the_skeleton_is_not_written_yet(step: str) -> None:
    assert run_step(step, mutants.bound(handed_out())).untouched


@pytest.mark.parametrize("step", WRITTEN)
def test_every_check_has_a_sentence_and_a_place_to_read(step: str) -> None:
    checks = declared(step)
    assert {check.function for check in checks} == set(STEPS[step].functions)
    for check in checks:
        assert check.sentence.endswith(".")
        assert check.read.startswith("chapter section 7.")
        assert set(check.needs) <= {other.id for other in checks}


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{w['check']}: {w['words']}" for w in WRONG])
def test_a_typical_mistake_is_seen_and_named(wrong: dict[str, str], solved: dict[str, Any]) -> None:
    exec(compile(wrong["source"], "<cell 7>", "exec"), solved)
    found = {outcome.id: outcome for outcome in troubles(TASK_OF[wrong["check"].partition(".")[0]], solved)}
    assert wrong["check"] in found
    outcome = found[wrong["check"]]
    assert wrong["words"] in f"{outcome.message} {outcome.looks_like}"
    for said in (outcome.message, outcome.looks_like):
        assert not said or (said[-1] in ".!?" and "Traceback" not in said), said


@pytest.mark.parametrize("answer", ["None", "'text'", "{}", "[]", "np.zeros(3)", "float('nan')", "10**400", "1 / 0"])
def test_no_answer_is_too_strange_for_a_sentence(answer: str, solved: dict[str, Any]) -> None:
    for name, step in TASK_OF.items():
        names = {**solved, name: eval(f"lambda *args, **kwargs: {answer}", dict(solved))}
        found = [o for o in troubles(step, names) if o.function == name]
        assert found, (name, answer)
        assert all(outcome.message[-1] in ".!?" for outcome in found)


def test_exercise_1_has_nothing_to_check_and_stands_in_nobodys_way(solved: dict[str, Any]) -> None:
    report = run_step("exercise1", solved)
    assert report.by_person_only
    assert report.passed
    assert report.summary() == "read by a person"
    assert "read by a person" in str(Panel((report,)))


def test_exercises_are_found_by_what_people_call_them() -> None:
    for name in ("exercise3", "Exercise 3", "exercise 3", "EXERCISE3"):
        found = find(name)
        assert found is not None
        assert found.id == "exercise3"
    assert find("exercise12") is None
    assert find("questions") is STEPS["questions"]


def test_every_exercise_has_three_hints_without_code() -> None:
    for step in STEPS:
        texts = [hints.hint(step, depth) for depth in hints.DEPTHS]
        assert len(set(texts)) == 3
        for text in texts:
            assert 80 < len(text) < 900, (step, len(text))
            assert not re.search(r"def |np\.|return |lambda", text)


def test_no_public_check_holds_a_line_of_the_solution() -> None:
    given = {line.strip() for line in handed_out().splitlines()}
    secret = {line.strip() for line in solution().splitlines()} - given
    for path in Path(hints.__file__).parent.rglob("*.py"):
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
        assert not {line for line in lines & secret if len(line) > 25}, path
