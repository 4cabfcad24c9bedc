"""Step 2, ``worked_example(X, W_q, W_k, W_v)`` -> a mapping of seven stages: section 7.2.

Each stage is a check of its own, on the chapter's matrices and on fresh ones, so that a copied table earns
nothing. All rows are compared: içti's row alone cannot see a causal mask, and barely sees a forgotten
scale.
"""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import layer
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import attention as truth
from autograder.reference import chapter

check = Task("attention_lab", "step2")

#: The stages that a stage is made of, nearest first.
_MADE_OF = {
    "queries": (),
    "keys": (),
    "values": (),
    "scores": ("queries", "keys"),
    "scaled_scores": ("scores", "queries", "keys"),
    "weights": ("scaled_scores", "scores", "queries", "keys"),
    "output": ("weights", "values", "scaled_scores", "scores", "queries", "keys"),
}


def _stage_is_right(lab: Lab, rng: np.random.Generator, stage: str, hint: str) -> None:
    """One stage on the chapter's matrices and on fresh ones, both in one check."""
    printed = [chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V]
    # d_k = 3 is not the chapter's 2: a divisor √2 that was written into the code is seen. n, d_model, d_k
    # and d_v all differ: K in place of its transpose, or X W_v in place of X W_q, does not even fit.
    fresh = layer(rng, (), 5, 6, 3, 4)
    for inputs, where in ((printed, "the chapter's matrices"), (fresh, "other matrices of other sizes")):
        answer = compare.mapping(lab.worked_example(*inputs), [stage], "The result")
        expected, allowed = truth.worked_stages(*inputs), _tolerances(*inputs)
        try:
            compare.agree(answer[stage], expected[stage], allowed[stage], name=stage)
        except CheckFailed as off:
            earlier = [s for s in _MADE_OF[stage] if not _agrees(answer.get(s), expected[s], allowed[s])]
            first = f" An earlier stage, {earlier[-1]}, is not right either: look there first." if earlier else ""
            raise CheckFailed(f"With {where}: {off.message}{first} {hint}") from off


def _agrees(actual: object, expected: np.ndarray, tolerance: float) -> bool:
    try:
        compare.agree(actual, expected, tolerance)
    except CheckFailed:
        return False
    return True


def _tolerances(X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray) -> dict[str, float]:
    """Rounding of each stage: of the products up to it; from the weights on, the error law of attention."""
    scores = compare.product_tolerance(X, W_q, W_k.T, X.T)
    Q, K, V = (np.abs(X) @ np.abs(W) for W in (W_q, W_k, W_v))
    return {
        "queries": compare.product_tolerance(X, W_q),
        "keys": compare.product_tolerance(X, W_k),
        "values": compare.product_tolerance(X, W_v),
        "scores": scores,
        "scaled_scores": scores,
        "weights": compare.weights_tolerance(Q, K),
        "output": compare.attention_tolerance(Q, K, V),
    }


@check("worked_example.queries")
def test_worked_queries(lab: Lab, rng: np.random.Generator) -> None:
    """`queries`: X times W_q, for the chapter's matrices and for others."""
    # The first table of the section; sees W_q and W_k swapped, and rounded stages.
    _stage_is_right(lab, rng, "queries", "queries = X W_q, unrounded (section 7.2, step 1).")


@check("worked_example.keys")
def test_worked_keys(lab: Lab, rng: np.random.Generator) -> None:
    """`keys`: X times W_k, for the chapter's matrices and for others."""
    _stage_is_right(lab, rng, "keys", "keys = X W_k, unrounded (section 7.2, step 1).")


@check("worked_example.values")
def test_worked_values(lab: Lab, rng: np.random.Generator) -> None:
    """`values`: X times W_v, for the chapter's matrices and for others."""
    # içti's row of weights cannot see anything that is wrong here.
    _stage_is_right(lab, rng, "values", "values = X W_v, unrounded (section 7.2, step 1).")


@check("worked_example.scores")
def test_worked_scores(lab: Lab, rng: np.random.Generator) -> None:
    """`scores`: every query with every key, not yet divided."""
    # Row i belongs to query i: sees the transpose, and a division in place that reached back into this
    # stage.
    _stage_is_right(lab, rng, "scores", "scores[i, j] is query i times key j, before the division (step 2).")


@check("worked_example.scaled_scores")
def test_worked_scaled_scores(lab: Lab, rng: np.random.Generator) -> None:
    """`scaled_scores`: the scores divided by √d_k."""
    # No division moves içti's first weight by 0.0009 only, so all entries are compared; fresh d_k for √2.
    _stage_is_right(lab, rng, "scaled_scores", "Divide by √d_k, the root of the width of the keys (step 3).")


@check("worked_example.weights")
def test_worked_weights(lab: Lab, rng: np.random.Generator) -> None:
    """`weights`: the softmax of every row of the scaled scores."""
    # The rows of kedi and sütü see what içti's cannot: a causal mask that was left on.
    _stage_is_right(lab, rng, "weights", "Softmax over each row, nothing masked, unrounded (step 4).")


@check("worked_example.output")
def test_worked_output(lab: Lab, rng: np.random.Generator) -> None:
    """`output`: the weights times the values."""
    _stage_is_right(lab, rng, "output", "output = weights times values (step 5).")


@check("worked_example.repeated", needs=["worked_example.output"])
def test_worked_inputs_and_calls(lab: Lab, rng: np.random.Generator) -> None:
    """The matrices are the same afterwards, and a second call does not remember the first."""
    first, second = (layer(rng, (), 3, 4, 2, 2) for _ in range(2))
    kept = [lab.kept(a) for a in first]
    # Equal shapes, so that anything kept by shape from the first call shows in the second.
    for given, inputs in ((kept, first), (second, second), (first, first)):
        answer = compare.mapping(lab.worked_example(*given), ["output"], "The result")
        expected, allowed = truth.worked_stages(*inputs)["output"], _tolerances(*inputs)["output"]
        compare.agree(answer["output"], expected, allowed, hint="It is called several times here.")
    compare.unchanged("worked_example", ("X", "W_q", "W_k", "W_v"), kept, first)
