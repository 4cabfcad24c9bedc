"""Exercise 6, ``head_costs``: what splitting one width into heads costs (sections 7.3, 7.6 and 7.13)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import exercises as truth

check = Task("exercises", "exercise6")

Sizes = tuple[int, int, int]


def _expect(lab: Lab, sizes: Sizes, keys: Sequence[str], hint: str) -> None:
    """The named counts for ``d``, ``h`` and ``n``, as exact numbers of any numeric type."""
    answer = compare.mapping(lab.head_costs(*sizes), keys, "The costs")
    expected = truth.head_costs(*sizes)
    asked = f"For d = {sizes[0]}, h = {sizes[1]}, n = {sizes[2]}."
    for key in keys:
        compare.agree(compare.number(answer[key], key), expected[key], 0.0, name=key, hint=f"{asked} {hint}")


def _sizes(rng: np.random.Generator) -> Sizes:
    """``d``, ``h`` and ``n``: several heads of several numbers each, d no power of two and not n, n at least d/h."""
    width, h = int(rng.integers(3, 20)), int(rng.integers(2, 9))
    return width * h, h, width * h + int(rng.integers(1, 50))


@check("head_costs.chapter")
def test_costs_of_the_exercise(lab: Lab) -> None:
    """d = 512 with 1, 8 and 64 heads: all seven counts."""
    # A thousand tokens, as the exercise leaves n open; the rank bound is that of the width for each of the three.
    for h in (1, 8, 64):
        _expect(lab, (512, h, 1024), truth.COST_KEYS, "The parameters and the three products are the same for every h.")


@check("head_costs.width")
def test_width_of_a_head(lab: Lab, rng: np.random.Generator) -> None:
    """`head_dim`: the heads share the width d."""
    for _ in range(3):
        _expect(lab, _sizes(rng), ("head_dim",), "d_k = d_v = d/h.")


@check("head_costs.parameters")
def test_parameters_of_all_heads(lab: Lab, rng: np.random.Generator) -> None:
    """`parameters`: three projections for every head, and W_o; no biases."""
    # W_o left out, counted once per head, or heads of the full width d.
    hint = "Each head has W_q, W_k and W_v of d by d/h; W_o is d by d, once."
    for _ in range(3):
        _expect(lab, _sizes(rng), ("parameters",), hint)


@check("head_costs.projections")
def test_multiplications_of_the_projections(lab: Lab, rng: np.random.Generator) -> None:
    """`projection_multiplications`: every token through the three input projections of all heads, and through W_o."""
    # FLOPs (twice as many), W_o left out, one token only.
    hint = "One multiplication per parameter and token; a multiplication with its addition counts once here."
    for _ in range(3):
        _expect(lab, _sizes(rng), ("projection_multiplications",), hint)


@check("head_costs.scores_and_values")
def test_multiplications_of_scores_and_values(lab: Lab, rng: np.random.Generator) -> None:
    """`score_multiplications` and `value_multiplications`: n × n pairs in every head, each d/h wide."""
    # One head only, the full width in every head, FLOPs, linear in n.
    hint = "In one head n·n·(d/h) for the scores, and as many for the weighted values; then add up the heads."
    for _ in range(3):
        _expect(lab, _sizes(rng), ("score_multiplications", "value_multiplications"), hint)


@check("head_costs.entries")
def test_entries_of_the_score_tensor(lab: Lab, rng: np.random.Generator) -> None:
    """`score_entries`: every head has an n × n table of its own."""
    for _ in range(3):
        _expect(lab, _sizes(rng), ("score_entries",), "Count the numbers of the tensor (h, n, n), not their bytes.")


@check("head_costs.rank")
def test_rank_bound_of_the_scores(lab: Lab, rng: np.random.Generator) -> None:
    """`score_rank_bound`: how large the rank of one head's scores can be, when there are more tokens than d/h."""
    # Never with fewer tokens than d/h: there the bound is n, and d/h is still a bound.
    hint = "The scores of a head are (n, d/h) times (d/h, n)."
    for _ in range(3):
        _expect(lab, _sizes(rng), ("score_rank_bound",), hint)


@check("head_costs.large", needs=["head_costs.scores_and_values"])
def test_costs_of_a_large_model(lab: Lab, rng: np.random.Generator) -> None:
    """A width of thousands and a hundred thousand tokens: exact numbers."""
    # 32-bit integers overflow, float32 loses the last digits.
    sizes = (128 * int(rng.integers(30, 60)), 32, int(rng.integers(50_000, 90_000)) * 2 + 1)
    keys = ("projection_multiplications", "score_multiplications", "value_multiplications", "score_entries")
    _expect(lab, sizes, keys, "Count with Python's integers; they have no largest number.")
