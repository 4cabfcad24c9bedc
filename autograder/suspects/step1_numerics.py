"""Mistakes of ``attention`` that ordinary inputs do not show: large scores, tiles, state, digits."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import softmax

TASK = "step1"
LAB = "7.9, lab step 1"
TILES = "7.6, FlashAttention"


@suspect(
    "attention_overflow",
    task=TASK,
    hint="Large scores overflow inside; the care that softmax takes is missing here.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(np.where(True if mask is None else mask, s, -np.inf))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@same_mistake("attention_overflow")
def attention(Q, K, V, mask=None):
    e = np.exp(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])) * (1.0 if mask is None else mask)
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@suspect(
    "attention_global_max",
    task=TASK,
    hint="One number is taken away from all scores, so a query with low scores loses all its weights.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    e = np.exp(s - s.max())
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@suspect(
    "attention_hides_nan",
    task=TASK,
    hint="The overflow is covered up instead of avoided: with large scores whole rows become zero.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    with np.errstate(all="ignore"):
        e = np.exp(np.where(True if mask is None else mask, s, -np.inf))
        w = np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
    return w @ V, w


@suspect(
    "attention_clips_scores",
    task=TASK,
    hint="Scores beyond a bound are cut off, so keys that differ get equal weights.",
    read=LAB,
    also=(("-50, 50", "-10, 10"), ("-50, 50", "-88, 88")),
)
def attention(Q, K, V, mask=None):
    s = np.clip(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), -50, 50)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@same_mistake("attention_clips_scores")
def attention(Q, K, V, mask=None):
    s = np.minimum(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), 80)
    e = np.exp(np.where(True if mask is None else mask, s, -np.inf))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@suspect(
    "attention_in_half_the_digits",
    task=TASK,
    hint="Somewhere on the way the numbers lose digits that the inputs had.",
    read=LAB,
    also=(("float32", "float16"),),
)
def attention(Q, K, V, mask=None):
    Q, K, V = (np.asarray(a, dtype=np.float32) for a in (Q, K, V))
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, np.float32(-np.inf)))
    return w @ V, w


@suspect(
    "attention_adds_epsilon",
    task=TASK,
    hint="A small number is added to the total of each row, so the weights sum to a little less than one.",
    read=LAB,
    also=(("1e-8", "1e-6"), ("1e-8", "1e-4")),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / (e.sum(axis=-1, keepdims=True) + 1e-8)
    return w @ V, w


@suspect(
    "tile_remainder_dropped",
    task=TASK,
    hint="The loop over blocks leaves out what does not fill a whole block.",
    read=TILES,
    also=(("2 if s", "4 if s"),),
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    w = np.zeros(s.shape)
    block = 2 if s.shape[-2] > 3 else 1
    for i in range(s.shape[-2] // block):
        rows = slice(i * block, (i + 1) * block)
        w[..., rows, :] = softmax(s[..., rows, :])
    return w @ V, w


@same_mistake("tile_remainder_dropped")
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    block = 4
    whole = V.shape[-2] // block * block or V.shape[-2]
    return w[..., :whole] @ V[..., :whole, :], w


@suspect(
    "last_key_left_out",
    task=TASK,
    hint="One key at the end is never looked at.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.array(np.where(True if mask is None else mask, s, -1e30))
    if s.shape[-1] > 1:
        s[..., -1] = -1e30
    w = softmax(s)
    return w @ V, w


@suspect(
    "last_query_left_out",
    task=TASK,
    hint="The loop over the queries ends one too early.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    w[..., max(1, w.shape[-2] - 1) :, :] = 0
    return w @ V, w


@suspect(
    "online_softmax_no_rescale",
    task=TASK,
    hint="When a later block brings a larger score, what was added up before still belongs to the old one.",
    read=TILES,
    also=(("block=32", "block=2"), ("block=32", "block=16"), ("block=32", "block=64")),
)
def attention(Q, K, V, mask=None, block=32):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    top, parts = np.full(s.shape[:-1] + (1,), -np.inf), []
    for i in range(0, s.shape[-1], block):
        top = np.maximum(top, s[..., i : i + block].max(axis=-1, keepdims=True))
        parts.append(np.exp(s[..., i : i + block] - top))
    e = np.concatenate(parts, axis=-1)
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@suspect(
    "running_max_starts_at_zero",
    task=TASK,
    hint="A row whose scores are all far below zero vanishes, because the running maximum begins too high.",
    read=TILES,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    s = np.where(True if mask is None else mask, s, -np.inf)
    e = np.exp(s - np.maximum(s.max(axis=-1, keepdims=True), 0))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


@suspect(
    "mutates_queries",
    task=TASK,
    hint="An input array is different afterwards, so a second call starts from other numbers.",
    read=LAB,
    also=(("Q /=", "K /="),),
)
def attention(Q, K, V, mask=None):
    Q /= math.sqrt(Q.shape[-1])
    s = Q @ np.swapaxes(K, -1, -2)
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    return w @ V, w


@suspect(
    "mutates_values",
    task=TASK,
    hint="The caller's values are different afterwards.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = w @ V
    V *= 0
    return out, w


@suspect(
    "result_remembered_by_shape",
    task=TASK,
    hint="A second call with other numbers of the same shape gives the first answer again.",
    read=LAB,
    also=(("None if mask is None else mask.shape", "mask is None"),),
)
def attention(Q, K, V, mask=None, _seen={}):
    key = (Q.shape, K.shape, V.shape, None if mask is None else mask.shape)
    if key not in _seen:
        s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
        w = softmax(np.where(True if mask is None else mask, s, -np.inf))
        _seen[key] = (w @ V, w)
    return _seen[key]


@suspect(
    "output_accumulates",
    task=TASK,
    hint="Each call adds its output to what an earlier call of the same shape left behind.",
    read=LAB,
)
def attention(Q, K, V, mask=None, _buffers={}):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = _buffers.setdefault(Q.shape[:-1] + V.shape[-1:], np.zeros(Q.shape[:-1] + V.shape[-1:]))
    out += w @ V
    return out, w


@suspect(
    "library_sdpa",
    task=TASK,
    hint="A library's attention does the work here, maybe under another name; the lab is about writing it.",
    read=LAB,
)
def attention(Q, K, V, mask=None):
    import torch

    tensors = [torch.tensor(np.array(a, dtype=np.float64)) for a in (Q, K, V)]
    allowed = None if mask is None else torch.tensor(np.array(mask))
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(np.where(True if mask is None else mask, s, -np.inf))
    out = torch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=allowed)
    return out.numpy(), w


@same_mistake("library_sdpa")
def attention(Q, K, V, mask=None):
    import torch

    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = torch.softmax(torch.tensor(np.where(True if mask is None else mask, s, -np.inf)), -1).numpy()
    return w @ V, w
