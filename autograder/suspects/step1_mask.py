"""Mistakes of ``attention`` with its mask: polarity, place, fill, shape."""

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


# ---- polarity and place
@suspect(
    "mask_ignored",
    task=TASK,
    hint="The mask is taken but changes nothing.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    return w @ V, w


@suspect(
    "mask_inverted",
    task=TASK,
    hint="The cells that may be looked at are the ones that are hidden; check what True stands for.",
    read=ALLOWED,
    also=(("-1e9", "-np.inf"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask, -1e9, s))
    return w @ V, w


@suspect(
    "mask_after_softmax",
    task=TASK,
    hint="Hidden keys get no weight, but they were still counted when the rest was made to sum to one.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    w = w if mask is None else w * mask
    return w @ V, w


@suspect(
    "max_includes_masked",
    task=TASK,
    hint="A hidden key with a large score still decides what the exponentials are measured against, "
    "and the visible ones vanish.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    if mask is not None:
        w = w * mask
        w = w / w.sum(axis=-1, keepdims=True)
    return w @ V, w


@same_mistake("max_includes_masked")
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    if mask is not None:
        w = w * mask
        w = w / np.maximum(w.sum(axis=-1, keepdims=True), 1e-300)
    return w @ V, w


@suspect(
    "mask_multiplies_scores",
    task=TASK,
    hint="A hidden score becomes zero, and a key with score zero is still looked at.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else s * mask)
    return w @ V, w


@same_mistake("mask_multiplies_scores")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask, s, 1e-9))
    return w @ V, w


@suspect(
    "mask_added_as_0_1",
    task=TASK,
    hint="Adding the mask lifts the visible scores a little and hides nothing.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else s + mask)
    return w @ V, w


@suspect(
    "mask_zeroes_values",
    task=TASK,
    hint="The hidden values are blanked, but their keys keep their share of the weights.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    return (w if mask is None else w * mask) @ V, w


@suspect(
    "mask_zeroes_keys",
    task=TASK,
    hint="The hidden keys are blanked, and a blank key is still looked at.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    if mask is not None:
        seen = np.broadcast_to(mask, Q.shape[:-1] + K.shape[-2:-1]).any(axis=-2)
        K, V = K * seen[..., None], V * seen[..., None]
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    return w @ V, w


# ---- the fill
@suspect(
    "mask_fill_too_small",
    task=TASK,
    hint="Hidden keys keep a little weight, which shows as soon as the visible scores are low.",
    read=WEIGHTS,
    also=(
        ("-20.0", "-10.0"),
        ("-20.0", "-5.0"),
        ("-20.0", "-1.0"),
        ("-20.0", "-50.0"),
        ("-20.0", "-100.0"),
        ("-20.0", "s.min()"),
        ("-20.0", "s.min(axis=-1, keepdims=True)"),
        ("np.where(True if mask is None else mask, s, -20.0)", "s if mask is None else s - 10.0 * ~mask"),
        ("np.where(True if mask is None else mask, s, -20.0)", "s if mask is None else s - 30.0 * ~mask"),
        ("np.where(True if mask is None else mask, s, -20.0)", "s if mask is None else s - 100.0 * ~mask"),
    ),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -20.0))
    return w @ V, w


@suspect(
    "zero_times_inf",
    task=TASK,
    hint="A product of zero and infinity is not a number, and it spreads over every visible cell.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    with np.errstate(invalid="ignore"):
        w = softmax(s if mask is None else s + (1.0 - mask) * -np.inf)
    return w @ V, w


@suspect(
    "mask_filled_with_nan",
    task=TASK,
    hint="Hidden scores become NaN, and one NaN spoils the whole row.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, np.nan))
    return w @ V, w


@suspect(
    "mask_multiplies_by_large_number",
    task=TASK,
    hint="Hidden scores are multiplied by something large and negative, so a negative score turns into "
    "the largest of all.",
    read=WEIGHTS,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask, s, s * -1e9))
    return w @ V, w


@suspect(
    "mask_fill_on_weights",
    task=TASK,
    hint="The fill that belongs to scores is put into the weights, after they were normalised.",
    read=WEIGHTS,
    also=(("-1e9", "-np.inf"),),
)
def attention(Q, K, V, mask=None):
    w = softmax(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]))
    w = np.where(True if mask is None else mask, w, -1e9)
    return w @ V, w
