"""The public checks of the exercises: right answers pass, typical mistakes are seen and said in a sentence."""

from __future__ import annotations

from typing import Any

from attnlab.checking import run_step
from attnlab.panel import Panel
from attnlab.steps import find
from tests.filled_in import EXERCISES


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
    assert find("questions") is EXERCISES.tasks["questions"]
