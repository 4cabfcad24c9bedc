"""Mistakes of part 1 of ``block_receipts``: one head, and how heads are cut, put together and mixed."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import self_attention
from autograder.suspects.right_block import merge_heads

TASK = "multi_head"
ONE_HEAD = "7.2, One layer, three tokens, every number"
CONCAT = "7.3, Concatenate, then project"
SLICES = "the article, section 4, What a head actually is"


@suspect(
    "head_without_scale", task=TASK, hint="The scores are not divided by the root of the width of a key.", read=ONE_HEAD
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2)
    s = s if mask is None else np.where(mask, s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_v), w


@suspect(
    "head_scaled_by_model_width",
    task=TASK,
    hint="The scores are divided by the root of the width of X, where that of a key belongs.",
    read=ONE_HEAD,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(X.shape[-1])
    s = s if mask is None else np.where(mask, s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_v), w


@suspect(
    "head_softmax_over_queries",
    task=TASK,
    hint="The softmax runs over the queries, so that columns sum to one and rows do not.",
    read=ONE_HEAD,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_k.shape[-1])
    s = s if mask is None else np.where(mask, s, -1e9)
    w = np.exp(s - s.max(-2, keepdims=True))
    w = w / w.sum(-2, keepdims=True)
    return w @ (X @ W_v), w


@suspect("head_mask_ignored", task=TASK, hint="The mask has no effect on a head.", read=ONE_HEAD)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_k.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_v), w


@suspect(
    "head_mask_inverted",
    task=TASK,
    hint="What may be attended is hidden, and what is hidden may be attended.",
    read=ONE_HEAD,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_k.shape[-1])
    s = s if mask is None else np.where(mask, -1e9, s)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_v), w


@suspect(
    "head_output_alone",
    task=TASK,
    hint="The output comes back alone, and a pair of output and weights is asked.",
    read=ONE_HEAD,
)
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / math.sqrt(W_k.shape[-1])
    s = s if mask is None else np.where(mask, s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ (X @ W_v)


@suspect(
    "heads_reshaped_not_transposed",
    task=TASK,
    hint="A reshape alone mixes tokens and heads: first make the width two axes, then move the head axis.",
    read=SLICES,
)
def split_heads(x, h):
    return x.reshape(*x.shape[:-2], h, x.shape[-2], x.shape[-1] // h)


@suspect(
    "heads_strided",
    task=TASK,
    hint="Each head takes every h-th column, where a block of neighbouring columns belongs to it.",
    read=SLICES,
)
def split_heads(x, h):
    return np.stack([x[..., i::h] for i in range(h)], axis=-3)


@suspect(
    "heads_behind_tokens",
    task=TASK,
    hint="The head axis stands behind the tokens, and right before them is asked.",
    read=SLICES,
)
def split_heads(x, h):
    return x.reshape(*x.shape[:-1], h, x.shape[-1] // h)


@suspect(
    "heads_in_front_of_the_batch",
    task=TASK,
    hint="The head axis stands in front of the batch, and right before the tokens is asked.",
    read=SLICES,
)
def split_heads(x, h):
    return np.stack(np.split(x, h, axis=-1), axis=0)


@suspect(
    "head_count_taken_for_width",
    task=TASK,
    hint="The number of heads is taken for the width of one.",
    read=SLICES,
)
def split_heads(x, h):
    return np.swapaxes(x.reshape(*x.shape[:-1], x.shape[-1] // h, h), -2, -3)


@suspect(
    "sequence_split_instead_of_width",
    task=TASK,
    hint="Every head gets some of the tokens, where every head sees all tokens and some of the columns.",
    read=SLICES,
)
def split_heads(x, h):
    n = x.shape[-2] // h
    return np.stack([x[..., i * n : (i + 1) * n, :] for i in range(h)], axis=-3)


@suspect(
    "heads_merged_without_moving",
    task=TASK,
    hint="A reshape alone mixes tokens and heads: first move the head axis behind the tokens.",
    read=CONCAT,
)
def merge_heads(x):
    return x.reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])


@suspect(
    "heads_merged_interleaved",
    task=TASK,
    hint="The columns of the heads alternate, where each head stays together as a block.",
    read=CONCAT,
)
def merge_heads(x):
    return np.moveaxis(x, -3, -1).reshape(*x.shape[:-3], x.shape[-2], -1)


@suspect(
    "heads_merged_backwards",
    task=TASK,
    hint="The heads stand in the opposite order.",
    read=CONCAT,
)
def merge_heads(x):
    return np.concatenate([x[..., i, :, :] for i in reversed(range(x.shape[-3]))], axis=-1)


@suspect(
    "heads_averaged",
    task=TASK,
    hint="The heads are averaged or summed up, where they stand side by side.",
    read=CONCAT,
    also=((".mean(", ".sum("),),
)
def merge_heads(x):
    return x.mean(axis=-3)


@suspect(
    "merge_without_batch",
    task=TASK,
    hint="Axes are counted from the front, so that a batch is taken for heads.",
    read=CONCAT,
)
def merge_heads(x):
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


@suspect(
    "first_head_for_all",
    task=TASK,
    hint="Every head uses the projections of the first one.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *heads[0], mask=mask) for _ in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "heads_not_mixed",
    task=TASK,
    hint="The concatenation is handed out as the output, without the matrix that mixes the heads.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined}


@suspect(
    "output_projection_transposed",
    task=TASK,
    hint="The matrix that mixes the heads is transposed.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o.T}


@suspect(
    "multi_head_mask_ignored",
    task=TASK,
    hint="The mask is not handed on to the heads.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "mask_for_the_first_head_only",
    task=TASK,
    hint="The mask reaches one head only, and it holds for every head.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=None if i else mask) for i, head in enumerate(heads)]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "head_weights_averaged",
    task=TASK,
    hint="The weights are averaged over the heads, and those of each head are asked.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.mean([f[1] for f in found], axis=0), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "weights_heads_first",
    task=TASK,
    hint="In a batch, the head axis of the weights stands in front of the batch.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found]), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "heads_interleaved_before_projection",
    task=TASK,
    hint="The columns of the heads alternate in the concatenation, where each head stays together.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    stacked = np.stack([f[0] for f in found], axis=-1)
    joined = stacked.reshape(*stacked.shape[:-2], -1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "heads_one_after_the_other",
    task=TASK,
    hint="Each head reads what the one before gave, where all of them read the same X.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    found, seen = [], X
    for head in heads:
        found.append(self_attention(seen, *head, mask=mask))
        seen = np.resize(found[-1][0], X.shape)
    joined = np.concatenate([f[0] for f in found], axis=-1)
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}


@suspect(
    "multi_head_output_alone",
    task=TASK,
    hint="Only the output comes back, and a mapping with weights and concatenation too is asked.",
    read=CONCAT,
)
def multi_head(X, heads, W_o, mask=None):
    return np.concatenate([self_attention(X, *head, mask=mask)[0] for head in heads], axis=-1) @ W_o


@same_mistake("heads_interleaved_before_projection")
def multi_head(X, heads, W_o, mask=None):
    found = [self_attention(X, *head, mask=mask) for head in heads]
    joined = np.concatenate([f[0] for f in found], axis=-1)
    order = np.arange(joined.shape[-1]).reshape(len(heads), -1).T.ravel()
    joined = joined[..., order]
    return {"weights": np.stack([f[1] for f in found], axis=-3), "concatenated": joined, "output": joined @ W_o}
