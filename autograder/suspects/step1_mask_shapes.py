"""Mistakes of ``attention`` with the shape of its mask, and with masks that nobody asked for."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import softmax

TASK = "step1"
WEIGHTS = "7.2, step 4"
LAB = "7.9, lab step 1"
ALLOWED = "7.9, lab step 3"
CAUSAL = "7.4, First, prove the problem is real"


@suspect(
    "padding_mask_on_query_axis",
    task=TASK,
    hint="A mask with one row for all queries hides queries here; it should hide keys.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        if mask.shape[-2:-1] == (1,):
            row = np.ones(mask.shape[:-2] + (s.shape[-2],), dtype=bool)
            shared = min(s.shape[-2], mask.shape[-1])
            row[..., :shared] = mask[..., 0, :shared]
            mask = row[..., None]
        s = np.where(mask, s, -1e9)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_transposed",
    task=TASK,
    hint="The mask is used with rows and columns exchanged.",
    read=ALLOWED,
    also=(("np.swapaxes(mask, -1, -2)", "mask.T"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(np.swapaxes(mask, -1, -2), s, -np.inf))
    return w @ V, w


@suspect(
    "mask_of_first_sequence",
    task=TASK,
    hint="The whole batch is given the mask of its first sequence.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        mask = mask.reshape((-1,) + mask.shape[-2:])[0]
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w


@suspect(
    "masks_combined_over_batch",
    task=TASK,
    hint="The masks of a batch are merged into one, so a sequence is hidden by its neighbours' masks.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask.reshape((-1,) + mask.shape[-2:]).all(axis=0), s, -1e9)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_not_broadcast",
    task=TASK,
    hint="The mask works only where it has the full shape of the scores; it may be smaller and shared.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s[~mask] = -np.inf
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_gets_a_head_axis",
    task=TASK,
    hint="An axis is always put into the mask, as if it never came with one for the heads.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask[:, None] if mask.ndim > 2 else mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w


@suspect(
    "causal_always",
    task=TASK,
    hint="Later keys are hidden although no mask was given.",
    read=CAUSAL,
    also=(
        ("past & mask", "mask"),
        ("past & mask, s, -1e9", "past & mask, s, -np.inf"),
        ("np.tri(*s.shape[-2:], s.shape[-1] - s.shape[-2], dtype=bool)", "np.tri(*s.shape[-2:], dtype=bool)"),
    ),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    past = np.tri(*s.shape[-2:], s.shape[-1] - s.shape[-2], dtype=bool)
    w = softmax(np.where(past if mask is None else past & mask, s, -1e9))
    return w @ V, w


@same_mistake("causal_always")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    past = np.tri(*s.shape[-2:], dtype=bool)
    w = softmax(np.where(past if mask is None else mask, s, -1e9))
    return w @ V, w


@suspect(
    "mask_replaced_by_causal",
    task=TASK,
    hint="Whatever mask is given, a triangle takes its place.",
    read=CAUSAL,
    also=(("np.tri(*s.shape[-2:], s.shape[-1] - s.shape[-2], dtype=bool)", "np.tri(*s.shape[-2:], dtype=bool)"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(np.tri(*s.shape[-2:], s.shape[-1] - s.shape[-2], dtype=bool), s, -1e9)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mutates_mask",
    task=TASK,
    hint="The caller's mask is different afterwards, so the next call hides something else.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        np.logical_not(mask, out=mask)
        s = np.where(mask, -np.inf, s)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_remembered",
    task=TASK,
    hint="A call without a mask uses the mask of an earlier call.",
    read=LAB,
)
def attention(Q, K, V, mask=None, _last=[]):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        _last[:] = [np.array(mask)]
    if _last and np.broadcast_shapes(s.shape, _last[0].shape) == s.shape:
        s = np.where(_last[0], s, -np.inf)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_truth_value_asked",
    task=TASK,
    hint="An array is asked whether it is true as a whole, which NumPy refuses to answer.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return w @ V, w


@suspect(
    "mask_parameter_renamed",
    task=TASK,
    hint="The mask is handed over by name, and the function calls it something else.",
    read=LAB,
)
def attention(Q, K, V, attention_mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if attention_mask is None else np.where(attention_mask, s, -np.inf))
    return w @ V, w


@same_mistake("mask_parameter_renamed")
def attention(Q, K, V):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    return w @ V, w
