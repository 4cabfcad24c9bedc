"""Mistakes of ``self_attention``: which projection goes where, and what happens to the mask."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import attention, softmax

TASK = "step1"
PROJECT = "7.2, step 1"
WHY = "7.1, Why three projections, and not one?"
LAB = "7.9, lab step 1"


@suspect(
    "keys_use_wq",
    task=TASK,
    hint="The keys ask the same question as the queries: one of the three matrices is never used.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_q, X @ W_v, mask=mask)


@suspect(
    "queries_use_wk",
    task=TASK,
    hint="The queries are made like the keys: one of the three matrices is never used.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_k, X @ W_k, X @ W_v, mask=mask)


@suspect(
    "queries_and_keys_swapped",
    task=TASK,
    hint="Looking and being looked at have changed places.",
    read=WHY,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_k, X @ W_q, X @ W_v, mask=mask)


@suspect(
    "keys_and_values_swapped",
    task=TASK,
    hint="What is advertised and what is handed over have changed places.",
    read=WHY,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_v, X @ W_k, mask=mask)


@suspect(
    "values_not_projected",
    task=TASK,
    hint="The tokens hand over themselves; the third matrix is left out.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X, mask=mask)


@same_mistake("values_not_projected")
def self_attention(X, W_q, W_k, W_v, mask=None):
    values = X if W_v.shape[0] == W_v.shape[1] else X @ W_v
    return attention(X @ W_q, X @ W_k, values, mask=mask)


@suspect(
    "values_use_wk",
    task=TASK,
    hint="What is handed over is made with the matrix of the keys.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_k, mask=mask)


@suspect(
    "values_use_wq",
    task=TASK,
    hint="What is handed over is made with the matrix of the queries.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_q, mask=mask)


@suspect(
    "values_from_queries",
    task=TASK,
    hint="The third matrix is applied to something that was projected before.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, (X @ W_q)[..., : W_v.shape[0]] @ W_v[: W_q.shape[1]], mask=mask)


@same_mistake("values_from_queries")
def self_attention(X, W_q, W_k, W_v, mask=None):
    w = attention(X @ W_q, X @ W_k, X, mask=mask)[1]
    return w @ (w @ X @ W_v), w


@suspect(
    "no_projections",
    task=TASK,
    hint="The tokens are compared as they are, without asking, advertising or handing over.",
    read=WHY,
    also=(("X, X, X,", "X, X, X @ W_v,"),),
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X, X, X, mask=mask)


@suspect(
    "matrices_transposed",
    task=TASK,
    hint="The matrices are turned before they are applied, as a layer that stores them the other way would.",
    read=PROJECT,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    turned = [W.T if W.shape[0] == W.shape[1] else W for W in (W_q, W_k, W_v)]
    return attention(X @ turned[0], X @ turned[1], X @ turned[2], mask=mask)


@same_mistake("matrices_transposed")
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q.T, X @ W_k.T, X @ W_v.T, mask=mask)


@suspect(
    "mask_not_passed_on",
    task=TASK,
    hint="A mask is taken, but it never arrives where it is needed.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_v)


@suspect(
    "mask_inverted_on_the_way",
    task=TASK,
    hint="The mask changes its meaning between the two functions.",
    read="7.9, lab step 3",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=None if mask is None else ~mask)


@suspect(
    "causal_unasked",
    task=TASK,
    hint="Later tokens are hidden although no mask was given.",
    read="7.4, First, prove the problem is real",
    also=(("past if mask is None else mask", "past"),),
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    n = X.shape[-2]
    past = np.tri(n, dtype=bool)
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=past if mask is None else mask)


@suspect(
    "scale_sqrt_d_model",
    task=TASK,
    hint="The divisor comes from the width of the tokens; the vectors that are compared are narrower.",
    read="7.2, step 3",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(X.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ (X @ W_v), w


@suspect(
    "self_attention_no_scale",
    task=TASK,
    hint="The scores go into the softmax as they are; attention does more than that.",
    read="7.2, step 3",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ (X @ W_v), w


@suspect(
    "self_attention_scaled_twice",
    task=TASK,
    hint="The queries are made smaller before they reach attention, which does it once more.",
    read="7.2, step 3",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q / math.sqrt(W_q.shape[-1]), X @ W_k, X @ W_v, mask=mask)


@suspect(
    "self_attention_over_queries",
    task=TASK,
    hint="The columns of the weights sum to one; it is each token that has one unit to share out.",
    read="7.2, step 4",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -1e30), axis=-2)
    return w @ (X @ W_v), w


@suspect(
    "self_attention_overflow",
    task=TASK,
    hint="Large scores overflow inside; the function does its own exponentials without the care of softmax.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_q.shape[-1])
    e = np.exp(np.where(True if mask is None else mask, s, -np.inf))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ (X @ W_v), w


@suspect(
    "self_attention_one_sequence_only",
    task=TASK,
    hint="A batch of sequences is more than this code expects.",
    read="7.1, the equation",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ (X @ W_k).T / math.sqrt(W_q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ (X @ W_v), w


@suspect(
    "sequences_of_a_batch_joined",
    task=TASK,
    hint="The sequences of a batch are put behind each other and look at one another.",
    read="7.1, the equation",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    flat = X.reshape(-1, X.shape[-1])
    return attention(flat @ W_q, flat @ W_k, flat @ W_v, mask=mask)


@suspect(
    "tokens_added_to_output",
    task=TASK,
    hint="The tokens themselves are added to the result; that happens later, in the block.",
    read="7.2, step 5",
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    out, w = attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)
    return (out + X if out.shape == X.shape else out + X @ W_v), w


@suspect(
    "self_attention_returns_output_only",
    task=TASK,
    hint="Only one of the two results is handed back.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)[0]


@suspect(
    "self_attention_returns_weights_first",
    task=TASK,
    hint="Both results are there, in the other order.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)[::-1]


@suspect(
    "self_attention_changes_tokens",
    task=TASK,
    hint="The caller's tokens are different afterwards.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    result = attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)
    X -= X.mean(axis=-1, keepdims=True)
    return result


@suspect(
    "library_sdpa_in_self_attention",
    task=TASK,
    hint="A library's attention does the work here; the lab is about using your own.",
    read=LAB,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    import torch

    q, k, v = (torch.tensor(np.array(X @ W, dtype=np.float64)) for W in (W_q, W_k, W_v))
    allowed = None if mask is None else torch.tensor(np.array(mask))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return out.numpy(), attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)[1]
