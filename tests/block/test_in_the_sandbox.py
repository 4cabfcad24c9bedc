"""A handed-in ``block_receipts``, graded as any other: in the sandbox, with points for each function."""

from __future__ import annotations

from tests.filled_in import BLOCK, suspected


def test_a_mistake_costs_its_function_and_is_named() -> None:
    wrong = "def expand_kv(k, n_rep):\n    return np.concatenate([k] * n_rep, axis=-3)"
    result = BLOCK.graded(BLOCK.solution(), wrong)
    assert suspected(result) == {"expand_kv": "tile_instead_of_repeat"}
    assert 2 * len(BLOCK.task_of) - 2 <= result.score < 2 * len(BLOCK.task_of)
    assert any("What it most looks like: The heads are tiled" in (c.message or "") for c in result.checks)


def test_a_wrong_norm_is_not_taken_twice() -> None:
    # The block uses it and comes out wrong; with a right norm in its place it is right, and counts in full.
    wrong = """
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)
"""
    result = BLOCK.graded(BLOCK.solution(), wrong)
    assert suspected(result) == {"layer_norm": "sample_variance"}
    assert any("counted in full" in (c.message or "") for c in result.checks if c.function == "block")


def test_what_follows_within_a_part_is_said_once() -> None:
    wrong = "def split_heads(x, h):\n    return x.reshape(*x.shape[:-2], h, x.shape[-2], -1)"
    text = BLOCK.solution() + "\n# %%\n" + wrong
    result = BLOCK.graded(text)
    found = suspected(result)
    assert found["split_heads"] == "heads_reshaped_not_transposed"
    assert set(found) <= {"split_heads", "merge_heads"}
