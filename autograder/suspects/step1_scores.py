"""Mistakes of ``attention`` before the softmax is done: the scale, the transpose, the axis."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import softmax

TASK = "step1"
SCORES = "7.2, step 2"
SCALE = "7.2, step 3"
WEIGHTS = "7.2, step 4"
SHAPES = "7.1, the equation"


# ---- the scale
@suspect(
    "no_scale",
    task=TASK,
    hint="The scores go into the softmax as they are; one step of the equation is missing.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scaled_by_dk",
    task=TASK,
    hint="The scores are made smaller than they should be: look at the divisor once more "
    "(scaling both the queries and the scores gives the same).",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_multiplied",
    task=TASK,
    hint="The scores grow with the width of the head, where they should be kept from growing.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) * math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_of_the_values",
    task=TASK,
    hint="The divisor is taken from the width of the values; it is another width that makes scores grow.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(V.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_sqrt_n",
    task=TASK,
    hint="The divisor counts the keys; a score does not grow with the number of keys.",
    read=SCALE,
    also=(("K.shape[-2]", "Q.shape[-2]"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(K.shape[-2])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_axis1_in_batch",
    task=TASK,
    hint="The width is read from a fixed axis, which is another one as soon as there is a batch.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_from_first_axis",
    task=TASK,
    hint="The divisor is read from the first axis, which holds no width.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[0])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_hard_coded",
    task=TASK,
    hint="The divisor is the one of a particular head, whatever the width of the queries is.",
    read=SCALE,
    also=(
        ("math.sqrt(2)", "math.sqrt(64)"),
        ("math.sqrt(2)", "math.sqrt(512)"),
        ("math.sqrt(2)", "10"),
    ),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_root_rounded",
    task=TASK,
    hint="The root is cut to a whole number, which is right for square widths only.",
    read=SCALE,
    also=(("int(math.sqrt(Q.shape[-1]))", "(Q.shape[-1] // 2)"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / int(math.sqrt(Q.shape[-1]))
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scale_after_softmax",
    task=TASK,
    hint="The weights are made smaller after the softmax, so the rows no longer sum to one.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf)) / math.sqrt(Q.shape[-1])
    return w @ V, w


@suspect(
    "scale_on_the_values",
    task=TASK,
    hint="What is made smaller is the output, while the softmax saw scores of full size.",
    read=SCALE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V / math.sqrt(Q.shape[-1]), w


@suspect(
    "scores_are_cosines",
    task=TASK,
    hint="Queries and keys are brought to length one; in this equation their lengths count.",
    read=SCORES,
)
def attention(Q, K, V, mask=None):
    unit = [a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (Q, K)]
    s = unit[0] @ np.swapaxes(unit[1], -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


# ---- the axis of the softmax
@suspect(
    "softmax_over_queries",
    task=TASK,
    hint="The columns of the weights sum to one; it is each query that has one unit to share out.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -1e30), axis=-2)
    return w @ V, w


@same_mistake("softmax_over_queries")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = s if mask is None else np.where(mask, s, -np.inf)
    w = softmax(s, axis=-2)
    return w @ V, w


@same_mistake("softmax_over_queries")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-2, keepdims=True)) * (1.0 if mask is None else mask)
    total = e.sum(axis=-2, keepdims=True)
    w = e / np.where(total == 0, 1, total)
    return w @ V, w


@suspect(
    "softmax_first_axis_in_batch",
    task=TASK,
    hint="The first axis is normalised; with a batch in front the sum runs over unrelated sequences.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf), axis=0)
    return w @ V, w


@suspect(
    "softmax_axis1_in_batch",
    task=TASK,
    hint="The second axis is normalised, which holds the keys only as long as nothing stands in front.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf), axis=1)
    return w @ V, w


@suspect(
    "softmax_over_all_scores",
    task=TASK,
    hint="All weights of a sequence together sum to one; each row should do so by itself.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    e = np.exp(s - s.max(axis=(-1, -2), keepdims=True))
    w = e / e.sum(axis=(-1, -2), keepdims=True)
    return w @ V, w


@same_mistake("softmax_over_all_scores")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(np.where(True if mask is None else mask, s, -np.inf) - s.max())
    w = e / e.sum()
    return w @ V, w


# ---- the transpose
@suspect(
    "transpose_fixed_three_axes",
    task=TASK,
    hint="The axes are listed one by one, for one leading axis; there may be none, or several.",
    read=SHAPES,
)
def attention(Q, K, V, mask=None):
    keys_across = K.T if K.ndim == 2 else np.transpose(K, (0, 2, 1))
    s = Q @ keys_across / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("transpose_fixed_three_axes")
def attention(Q, K, V, mask=None):
    s = np.einsum("bqd,bkd->bqk" if Q.ndim == 3 else "qd,kd->qk", Q, K) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "batch_axis_required",
    task=TASK,
    hint="The code needs leading axes to be there; a single sequence has none.",
    read=SHAPES,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.transpose(K, (0, 2, 1)) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("batch_axis_required")
def attention(Q, K, V, mask=None):
    s = np.einsum("bhqd,bhkd->bhqk", Q, K) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "swaps_head_and_token_axes",
    task=TASK,
    hint="With heads in front, the two axes that change places are not those of the tokens and the width.",
    read=SHAPES,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, 1, min(2, K.ndim - 1) if K.ndim > 2 else 0) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "transpose_reverses_all_axes",
    task=TASK,
    hint="The transpose turns every axis around, the batch and the heads too.",
    read=SHAPES,
)
def attention(Q, K, V, mask=None):
    s = Q @ K.T / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "dot_mixes_batches",
    task=TASK,
    hint="This product pairs every sequence of the batch with every other one.",
    read=SHAPES,
)
def attention(Q, K, V, mask=None):
    s = np.dot(Q, np.swapaxes(K, -1, -2)) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return np.dot(w, V), w


@suspect(
    "reshape_instead_of_transpose",
    task=TASK,
    hint="The keys have the right shape for the product, but their numbers are in the wrong places.",
    read=SCORES,
)
def attention(Q, K, V, mask=None):
    s = Q @ K.reshape(K.shape[:-2] + (K.shape[-1], K.shape[-2])) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "scores_transposed",
    task=TASK,
    hint="Row and column have changed roles: the row is the token that looks.",
    read=SCORES,
)
def attention(Q, K, V, mask=None):
    s = K @ np.swapaxes(Q, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "keys_compared_with_themselves",
    task=TASK,
    hint="The scores pair the keys with the keys; the queries are never asked.",
    read=SCORES,
)
def attention(Q, K, V, mask=None):
    s = K @ np.swapaxes(K, -1, -2) / math.sqrt(K.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("keys_compared_with_themselves")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(Q, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w
