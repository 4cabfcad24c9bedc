"""The one kind of answer that a feedback page shows: what comes back on inputs that are public."""

from __future__ import annotations

from typing import Any

import pytest

from attnlab.checking import declared
from attnlab.steps import NOTEBOOKS
from autograder import published
from autograder.lab import local_lab
from autograder.suspects.match import submission_with

#: (notebook, task, function) of everything that is asked for in a graded notebook.
ASKED = [
    (notebook, step.id, function)
    for notebook in ("attention_lab", "exercises", "block_receipts")
    for step in NOTEBOOKS[notebook]
    for function in step.functions
]


def example(source: str, task: str, function: str, notebook: str = "attention_lab") -> Any:
    return published.example(local_lab(submission_with(source, notebook)), task, function)


@pytest.mark.parametrize(("notebook", "task", "function"), ASKED)
def test_a_right_answer_has_nothing_to_show(notebook: str, task: str, function: str) -> None:
    assert example("", task, function, notebook) is None


def test_a_wrong_answer_shows_itself_against_the_property_that_it_breaks() -> None:
    source = "def softmax(x, axis=-1):\n    e = np.exp(x - x.max())\n    return e / e.sum(axis=0, keepdims=True)\n"
    shown = example(source, "step1", "softmax")
    assert shown.check == "softmax.rows"
    assert shown.sentence == next(c.sentence for c in declared("step1") if c.id == "softmax.rows")
    assert "something else than 1" in shown.came_back
    assert shown.picture.off == [0, 1]


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('</script>')",
        "return object()",
        "return [[1.0], [2.0, 3.0]]",
        "return 'x' * 100_000",
        "return np.full((2, 4), np.nan)",
        "return {}",
        "raise NotImplementedError",
    ],
)
def test_no_answer_is_too_odd_to_be_asked_for(body: str) -> None:
    shown = example(f"def softmax(x, axis=-1):\n    {body}\n", "step1", "softmax")
    assert shown is None or len(shown.came_back) <= published.MAX_SENTENCE


def test_a_task_without_public_checks_shows_nothing() -> None:
    assert example("", "by_hand", "anything") is None
