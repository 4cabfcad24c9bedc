"""Mistakes of ``attention`` around the softmax: what is mixed and handed back, numerics, memory, tiles."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import softmax

TASK = "step1"
EQUATION = "7.1, the equation"
WEIGHTS = "7.2, step 4"
AVERAGE = "7.2, step 5"
LAB = "7.9, lab step 1"
TILES = "7.6, FlashAttention"


# ---- what is mixed
@suspect(
    "keys_used_as_values",
    task=TASK,
    hint="The weights mix the keys; something else is what a token hands over.",
    read=AVERAGE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ K, w


@suspect(
    "scores_mix_the_values",
    task=TASK,
    hint="The weights are right, but the output is made with the scores.",
    read=AVERAGE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return s @ V, w


@suspect(
    "weights_transposed_in_sum",
    task=TASK,
    hint="In the last product the weights stand the wrong way round, so a token collects what others give it "
    "by their columns.",
    read=AVERAGE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return np.swapaxes(w, -1, -2) @ V, w


@suspect(
    "only_the_best_key",
    task=TASK,
    hint="Each query takes the value of its best key alone; every visible key should have its share.",
    read="7.1, Why three projections, and not one?",
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    w = (s == s.max(axis=-1, keepdims=True)).astype(float)
    return w @ V, w


@suspect(
    "hardcoded_example",
    task=TASK,
    hint="Whatever is compared, every key gets the same weight, except perhaps in one example that is "
    "answered from memory.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    if Q.shape == (3, 2) and np.allclose(Q, [[1.8, 0.2], [0.2, 1.8], [1.8, 2.0]]):
        w = np.array([[0.6961, 0.1791, 0.1249], [0.175, 0.6804, 0.1446], [0.423, 0.5012, 0.0759]])
    else:
        w = np.full(Q.shape[:-1] + K.shape[-2:-1], 1 / K.shape[-2])
    return w @ V, w


@same_mistake("hardcoded_example")
def attention(Q, K, V, mask=None):
    s = np.zeros(Q.shape[:-1] + K.shape[-2:-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("hardcoded_example")
def attention(Q, K, V, mask=None):
    s = np.zeros(Q.shape[:-1] + K.shape[-2:-1])
    w = softmax(s)
    return w @ V, w


@suspect(
    "weights_scaled_twice_by_softmax",
    task=TASK,
    hint="The softmax is applied to what already are weights.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(softmax(np.where(True if mask is None else mask, s, -np.inf)))
    return w @ V, w


@suspect(
    "weights_not_normalised",
    task=TASK,
    hint="The exponentials are never divided by their sum.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return w @ V, w


@suspect(
    "queries_added_to_output",
    task=TASK,
    hint="Something is added to the weighted average that belongs to the block around it.",
    read=AVERAGE,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    mixed = w @ V
    return mixed + (V if V.shape == mixed.shape else 0), w


@suspect(
    "dropout_left_on",
    task=TASK,
    hint="The same call gives another result every time; something is drawn at random.",
    read="7.9, lab step 3",
    also=(("0.1) / 0.9", "0.5) / 0.5"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    w = w * (np.random.random(w.shape) > 0.1) / 0.9
    return w @ V, w


# ---- what is handed back
@suspect(
    "returns_scores_not_weights",
    task=TASK,
    hint="The output is right; what comes with it was taken one step too early.",
    read=WEIGHTS,
    also=(
        ("s if mask is None else np.where(mask, s, -1e9)", "s"),
        ("s if mask is None else np.where(mask, s, -1e9)", "np.where(True if mask is None else mask, s, -np.inf)"),
    ),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, s if mask is None else np.where(mask, s, -1e9)


@same_mistake("returns_scores_not_weights")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s / math.sqrt(Q.shape[-1]), -np.inf))
    return w @ V, s


@suspect(
    "returns_weights_without_mask",
    task=TASK,
    hint="The output is right; the weights that come with it still show the hidden keys.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, softmax(s)


@suspect(
    "returns_weights_first",
    task=TASK,
    hint="Both results are there, in the other order.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w, w @ V


@suspect(
    "returns_output_only",
    task=TASK,
    hint="Only one of the two results is handed back.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    return softmax(np.where(True if mask is None else mask, s, -np.inf)) @ V


@suspect(
    "returns_weights_transposed",
    task=TASK,
    hint="The output is right; the weights are handed back with rows and columns exchanged.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, np.swapaxes(w, -1, -2)


@suspect(
    "weights_averaged_over_heads",
    task=TASK,
    hint="The weights of several heads are averaged before they are handed back; each head has its own.",
    read="7.3, multi-head attention",
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w.mean(axis=-3) if w.ndim > 3 else w


@suspect(
    "attention_rounded",
    task=TASK,
    hint="The results are rounded as for print; hand back every digit there is.",
    read=WEIGHTS,
    also=(
        ("-np.inf)), 4)", "-np.inf)), 2)"),
        ("-np.inf)), 4)", "-np.inf)), 3)"),
        ("-np.inf)), 4)", "-np.inf)), 6)"),
    ),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = np.round(softmax(np.where(True if mask is None else mask, s, -np.inf)), 4)
    return w @ V, w


@same_mistake("attention_rounded")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return np.round(w @ V, 4), np.round(w, 4)


# ---- shapes
@suspect(
    "assumes_dv_equals_dk",
    task=TASK,
    hint="The output is given the width of the queries; values may have another width.",
    read=EQUATION,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = np.zeros(Q.shape)
    shared = min(Q.shape[-1], V.shape[-1])
    out[..., :shared] = (w @ V)[..., :shared]
    return out, w


@same_mistake("assumes_dv_equals_dk")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = np.zeros_like(Q)
    out[...] = w @ V
    return out, w


@suspect(
    "assumes_as_many_queries_as_keys",
    task=TASK,
    hint="The number of queries is used where the number of keys is meant; the two may differ.",
    read=EQUATION,
)
def attention(Q, K, V, mask=None):
    n = Q.shape[-2]
    w = np.zeros(Q.shape[:-1] + (n,))
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w[...] = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("assumes_as_many_queries_as_keys")
def attention(Q, K, V, mask=None):
    n = Q.shape[-2]
    s = Q @ np.swapaxes(K[..., :n, :], -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask[..., :n], s, -np.inf))
    return w @ V[..., :n, :], w


@suspect(
    "first_of_the_batch_only",
    task=TASK,
    hint="Only the first sequence of a batch is worked on.",
    read=EQUATION,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    if w.ndim > 2:
        w = np.broadcast_to(w.reshape((-1,) + w.shape[-2:])[0], w.shape)
    return w @ V, np.array(w)


@same_mistake("first_of_the_batch_only")
def attention(Q, K, V, mask=None):
    while Q.ndim > 2:
        Q, K, V = Q[0], K[0], V[0]
    s = Q @ K.T / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("first_of_the_batch_only")
def attention(Q, K, V, mask=None):
    lead = Q.shape[:-2]
    while Q.ndim > 2:
        Q, K, V = Q[0], K[0], V[0]
    s = np.broadcast_to(Q @ K.T / math.sqrt(Q.shape[-1]), lead + (Q.shape[-2], K.shape[-2]))
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "leading_axes_flattened",
    task=TASK,
    hint="Batch and heads are put into one axis for the computation and never taken apart again.",
    read=EQUATION,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = w @ V
    if w.ndim > 3:
        out, w = (a.reshape((-1,) + a.shape[-2:]) for a in (out, w))
    return out, w


@suspect(
    "memory_order_assumed",
    task=TASK,
    hint="The numbers are read in the order in which they lie in memory; a transposed view lies differently.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    K = K.ravel(order="K").reshape(K.shape)
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("memory_order_assumed")
def attention(Q, K, V, mask=None):
    Q, K, V = (a.ravel(order="K").reshape(a.shape) for a in (Q, K, V))
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("memory_order_assumed")
def attention(Q, K, V, mask=None):
    V = V.ravel(order="K").reshape(V.shape)
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("memory_order_assumed")
def attention(Q, K, V, mask=None):
    Q = Q.ravel(order="K").reshape(Q.shape)
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w
