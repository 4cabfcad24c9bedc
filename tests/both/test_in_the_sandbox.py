"""A handed-in notebook, graded as any other: in the sandbox, with points for each function."""

from __future__ import annotations

import pytest

from tests.filled_in import BLOCK, EXERCISES, FilledIn

pytestmark = pytest.mark.parametrize("notebook", [EXERCISES, BLOCK], ids=lambda notebook: notebook.name)


def test_the_solution_gets_full_marks(notebook: FilledIn) -> None:
    result = notebook.graded(notebook.solution())
    assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []
    assert result.score == result.max_score == 2 * len(notebook.task_of)


def test_right_answers_in_other_words_get_full_marks(notebook: FilledIn) -> None:
    cases = notebook.cases("right.toml")
    last, first = ({case["task"]: case["source"] for case in order} for order in (cases, reversed(cases)))
    for chosen in (last, first):
        result = notebook.graded(notebook.solution(), *chosen.values())
        assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []


def test_the_skeleton_gets_nothing(notebook: FilledIn) -> None:
    result = notebook.graded(notebook.handed_out())
    assert result.score == 0
    assert {c.verdict for c in result.checks} <= {"submission_error", "skipped"}
