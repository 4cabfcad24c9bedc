"""A handed-in notebook of exercises, graded as any other: in the sandbox, with points for each function."""

from __future__ import annotations

from tests.filled_in import EXERCISES, suspected


def test_a_mistake_costs_its_function_and_is_named() -> None:
    wrong = """
# %%
def rope(x, positions, base=10000.0):
    h = x.shape[-1] // 2
    t = np.outer(positions, base ** (-np.arange(h) / h))
    a, b = x[..., :h], x[..., h:]
    return np.concatenate([a * np.cos(t) - b * np.sin(t), a * np.sin(t) + b * np.cos(t)], axis=-1)
"""
    result = EXERCISES.graded(EXERCISES.solution() + wrong)
    failed = [c for c in result.checks if c.verdict not in ("passed", "skipped")]
    assert {(c.task, c.function, c.suspect) for c in failed} == {("exercise8", "rope", "rope_pairs_halves")}
    assert 2 * len(EXERCISES.task_of) - 2 < result.score < 2 * len(EXERCISES.task_of)
    assert sum("neighbours are a pair" in (c.message or "") for c in failed) == 1


def test_a_wrong_cache_is_not_taken_twice() -> None:
    wrong = """
# %%
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return layers * kv_heads * head_dim * tokens * itemsize
"""
    result = EXERCISES.graded(EXERCISES.solution() + wrong)
    assert suspected(result) == {"kv_cache_bytes": "factor_two_forgotten"}
