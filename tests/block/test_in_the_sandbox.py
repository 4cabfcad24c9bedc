"""A handed-in ``block_receipts``, graded as any other: in the sandbox, with points for each function."""

from __future__ import annotations

import functools

import msgspec

from autograder import course, engine, submission
from autograder.course import Part
from autograder.result import Result
from autograder.settings import Settings
from tests.block.conftest import NOTEBOOK, TASK_OF, cases, handed_out, solution


@functools.cache
def settings() -> Settings:
    """A course of this one notebook, two points for each function."""
    points = {f"{task}.{function}": 2.0 for function, task in TASK_OF.items()}
    whole = msgspec.structs.replace(course.load("lab07"), notebooks=(NOTEBOOK,), parts={NOTEBOOK: Part(points=points)})
    return Settings(
        assignment="lab07",
        course=whole,
        seed="a seed of the tests",
        seed_id="tests",
        kit_version="tests",
        device="cpu",
    )


def graded(*cells: str) -> Result:
    files = {f"{NOTEBOOK}.py": "\n# %%\n".join(cells).encode()}
    read = submission.read("somebody", files, "lab07", course.signatures(settings().course))
    return engine.grade(read, settings())


def lost(result: Result) -> dict[str, str | None]:
    """What is not passed, by function, with the mistake that it looks like."""
    return {c.function: c.suspect for c in result.checks if c.verdict not in ("passed", "skipped")}


def test_the_solution_gets_full_marks() -> None:
    result = graded(solution())
    assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []
    assert result.score == result.max_score == 2 * len(TASK_OF)


def test_right_answers_in_other_words_get_full_marks() -> None:
    variants = {v["task"]: v["source"] for v in cases("right.toml")}
    others = {v["task"]: v["source"] for v in reversed(cases("right.toml"))}
    for chosen in (variants, others):
        result = graded(solution(), *chosen.values())
        assert [f"{c.id}: {c.message}" for c in result.checks if c.verdict != "passed"] == []


def test_the_skeleton_gets_nothing() -> None:
    result = graded(handed_out())
    assert result.score == 0
    assert {c.verdict for c in result.checks} <= {"submission_error", "skipped"}


def test_a_mistake_costs_its_function_and_is_named() -> None:
    wrong = "def expand_kv(k, n_rep):\n    return np.concatenate([k] * n_rep, axis=-3)"
    result = graded(solution(), wrong)
    assert lost(result) == {"expand_kv": "tile_instead_of_repeat"}
    assert 2 * len(TASK_OF) - 2 <= result.score < 2 * len(TASK_OF)
    assert any("What it most looks like: The heads are tiled" in (c.message or "") for c in result.checks)


def test_a_wrong_norm_is_not_taken_twice() -> None:
    # The block uses it and comes out wrong; with a right norm in its place it is right, and counts in full.
    wrong = """
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)
"""
    result = graded(solution(), wrong)
    assert lost(result) == {"layer_norm": "sample_variance"}
    assert any("counted in full" in (c.message or "") for c in result.checks if c.function == "block")


def test_what_follows_within_a_part_is_said_once() -> None:
    wrong = "def split_heads(x, h):\n    return x.reshape(*x.shape[:-2], h, x.shape[-2], -1)"
    text = solution() + "\n# %%\n" + wrong
    result = graded(text)
    found = lost(result)
    assert found["split_heads"] == "heads_reshaped_not_transposed"
    assert set(found) <= {"split_heads", "merge_heads"}
