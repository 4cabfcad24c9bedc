"""A handed-in notebook of exercises, graded as any other: in the sandbox, with points for each function."""

from __future__ import annotations

import functools

import msgspec

from autograder import course, engine, submission
from autograder.course import Part
from autograder.result import Result
from autograder.settings import Settings
from tests.exercises.conftest import NOTEBOOK, handed_out, solution
from tests.exercises.test_checks import FUNCTIONS, RIGHT


@functools.cache
def settings() -> Settings:
    """A course of this one notebook, two points for each function."""
    points = {f"{task}.{function}": 2.0 for function, task in FUNCTIONS.items()}
    whole = msgspec.structs.replace(course.load("lab07"), notebooks=(NOTEBOOK,), parts={NOTEBOOK: Part(points=points)})
    return Settings(
        assignment="lab07",
        course=whole,
        seed="a seed of the tests",
        seed_id="tests",
        kit_version="tests",
        device="cpu",
    )


def graded(text: str) -> Result:
    files = {f"{NOTEBOOK}.py": text.encode()}
    read = submission.read("somebody", files, "lab07", course.signatures(settings().course))
    return engine.grade(read, settings())


def test_the_solution_gets_full_marks() -> None:
    result = graded(solution())
    assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []
    assert result.score == result.max_score == 2 * len(FUNCTIONS)


def test_right_answers_in_other_words_get_full_marks() -> None:
    by_task = {variant["task"]: variant["source"] for variant in RIGHT}
    for variants in (by_task, {variant["task"]: variant["source"] for variant in reversed(RIGHT)}):
        result = graded("\n# %%\n".join([solution(), *variants.values()]))
        assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []


def test_the_skeleton_gets_nothing() -> None:
    result = graded(handed_out())
    assert result.score == 0
    assert {c.verdict for c in result.checks} <= {"submission_error", "skipped"}


def test_a_mistake_costs_its_function_and_is_named() -> None:
    wrong = """
# %%
def rope(x, positions, base=10000.0):
    h = x.shape[-1] // 2
    t = np.outer(positions, base ** (-np.arange(h) / h))
    a, b = x[..., :h], x[..., h:]
    return np.concatenate([a * np.cos(t) - b * np.sin(t), a * np.sin(t) + b * np.cos(t)], axis=-1)
"""
    result = graded(solution() + wrong)
    failed = [c for c in result.checks if c.verdict not in ("passed", "skipped")]
    assert {(c.task, c.function, c.suspect) for c in failed} == {("exercise8", "rope", "rope_pairs_halves")}
    assert 2 * len(FUNCTIONS) - 2 < result.score < 2 * len(FUNCTIONS)
    assert sum("neighbours are a pair" in (c.message or "") for c in failed) == 1


def test_a_wrong_cache_is_not_taken_twice() -> None:
    wrong = """
# %%
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return layers * kv_heads * head_dim * tokens * itemsize
"""
    result = graded(solution() + wrong)
    lost = {c.function: c.suspect for c in result.checks if c.verdict not in ("passed", "skipped")}
    assert lost == {"kv_cache_bytes": "factor_two_forgotten"}
