"""Step 1, ``self_attention(X, W_q, W_k, W_v, mask=None)`` -> ``(output, weights)``: section 7.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import layer, random_mask
from autograder.checks.own_work import own_work
from autograder.lab import Lab
from autograder.reference import attention as truth

check = Task("attention_lab", "step1")

_READ = "Q = X W_q, K = X W_k, V = X W_v (section 7.2, step 1); the rest is attention."


def _ask(lab: Lab, inputs: list[np.ndarray], mask: np.ndarray | None = None, hint: str = _READ) -> None:
    """One call on ``[X, W_q, W_k, W_v]``, output and weights compared with the truth."""
    named = {} if mask is None else {"mask": mask}
    _compare(own_work(lab, "self_attention", *inputs, **named), inputs, mask, hint)


def _compare(answer: Any, inputs: list[np.ndarray], mask: np.ndarray | None, hint: str) -> None:
    X, W_q, W_k, W_v = inputs
    output, weights = compare.pair(answer, "output", "weights")
    expected_output, expected_weights = truth.self_attention(X, W_q, W_k, W_v, mask)
    # Rounding of the projections counts too, so the error law is fed with what they are made of, |X| |W|.
    Q, K, V = (np.abs(X) @ np.abs(W) for W in (W_q, W_k, W_v))
    compare.agree(output, expected_output, compare.attention_tolerance(Q, K, V), name="output", hint=hint)
    compare.agree(weights, expected_weights, compare.weights_tolerance(Q, K), name="weights", hint=hint)


@check("self_attention.one_token")
def test_self_attention_of_one_token(lab: Lab, rng: np.random.Generator) -> None:
    """With a single token only W_v matters: the output is its value, by your own code."""
    # One weight of 1, so only the value and the pair can be wrong.
    _ask(lab, layer(rng, (), 1, 3, 3, 3), hint="With one token the output is X W_v.")


@check("self_attention.projections", needs=["self_attention.one_token"])
def test_self_attention_uses_three_projections(lab: Lab, rng: np.random.Generator) -> None:
    """Queries, keys and values come from X by three different matrices."""
    # Square and random: a projection used twice, two of them swapped, or one transposed all fit, and
    # differ.
    _ask(lab, layer(rng, (), 4, 4, 4, 4))


@check("self_attention.widths", needs=["self_attention.projections"])
def test_self_attention_of_three_widths(lab: Lab, rng: np.random.Generator) -> None:
    """d_model, d_k and d_v may differ, and the scores are divided by √d_k."""
    # d_model != d_k: sees a scale made from the width of X. d_v above and below d_k.
    _ask(lab, layer(rng, (), 5, 6, 3, 4), hint="The scale is √d_k, the width of the keys, not of X or V.")
    _ask(lab, layer(rng, (), 3, 2, 5, 1), hint="The scale is √d_k, the width of the keys, not of X or V.")


@check("self_attention.batch", needs=["self_attention.projections"])
def test_self_attention_with_batch_axes(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes of X are a batch."""
    # batch == n == d_model: a product or a transpose over the wrong axis keeps the shape.
    _ask(
        lab,
        layer(rng, (4,), 4, 4, 3, 3),
        hint="Leading axes are a batch; tokens and features are the last two.",
    )
    _ask(
        lab,
        layer(rng, (2, 3), 4, 5, 3, 2),
        hint="Leading axes are a batch; tokens and features are the last two.",
    )


@check("self_attention.mask", needs=["self_attention.projections"])
def test_self_attention_passes_its_mask_on(lab: Lab, rng: np.random.Generator) -> None:
    """The mask reaches the attention, also one per batch member and one of padding."""
    hint = "Hand the mask to attention. True means: may attend."
    _ask(lab, layer(rng, (), 5, 4, 3, 2), random_mask(rng, (5, 5)), hint)
    # Per batch member, and padding (batch, 1, n) with batch == n, which fits on the wrong axis too.
    _ask(lab, layer(rng, (2,), 4, 3, 3, 2), random_mask(rng, (2, 4, 4)), hint)
    _ask(lab, layer(rng, (4,), 4, 3, 3, 2), random_mask(rng, (4, 1, 4)), hint)


@check("self_attention.large_logits", needs=["self_attention.projections"])
def test_self_attention_of_large_logits(lab: Lab, rng: np.random.Generator) -> None:
    """Large projections give finite and right results, in float32 too."""
    X, W_q, W_k, W_v = layer(rng, (), 4, 5, 3, 2)
    # Scores in the thousands: a softmax of its own without the maximum overflows.
    _ask(lab, [X, 40.0 * W_q, 40.0 * W_k, W_v], hint="Subtract each row's own maximum before exp.")
    # Scores of some hundreds in float32, where exp overflows at 88.7.
    _ask(lab, [a.astype(np.float32) for a in (X, 10.0 * W_q, 10.0 * W_k, W_v)])


@check("self_attention.layouts", needs=["self_attention.projections"])
def test_self_attention_of_views(lab: Lab, rng: np.random.Generator) -> None:
    """Transposed, strided and read-only arrays are arrays like others."""
    for layout in ("transposed", "strided", "readonly"):
        inputs = layer(rng, (), 3, 5, 4, 2)
        answer = own_work(lab, "self_attention", *(lab.layout(a, layout) for a in inputs))
        _compare(answer, inputs, None, f"The inputs were {layout} arrays: only values and axes count, not memory.")


@check("self_attention.unchanged", needs=["self_attention.mask"])
def test_self_attention_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X, the projections and the mask are the same afterwards."""
    inputs, mask = layer(rng, (), 3, 4, 3, 2), random_mask(rng, (3, 3))
    kept, kept_mask = [lab.kept(a) for a in inputs], lab.kept(mask)
    _compare(lab.self_attention(*kept, mask=kept_mask), inputs, mask, _READ)
    compare.unchanged("self_attention", ("X", "W_q", "W_k", "W_v", "mask"), [*kept, kept_mask], [*inputs, mask])


@check("self_attention.repeated", needs=["self_attention.mask"])
def test_self_attention_keeps_nothing_between_calls(lab: Lab, rng: np.random.Generator) -> None:
    """A second call does not remember the first."""
    hint = "It was called before with other arrays of these shapes: nothing may be kept."
    calls = [(layer(rng, (), 3, 4, 3, 2), random_mask(rng, (3, 3))) for _ in range(2)]
    # Equal shapes, other values and another mask, then none: sees projections, masks and results that are
    # kept.
    for inputs, mask in (*calls, (calls[1][0], None), calls[0]):
        named = {} if mask is None else {"mask": mask}
        _compare(lab.self_attention(*inputs, **named), inputs, mask, hint)
