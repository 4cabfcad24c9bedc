"""Mistakes of ``causal_mask`` and ``prefix_gap``: diagonals and corners; which rows, which token, how large."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step7"
CAUSAL = "7.4, First, prove the problem is real"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 7"
MEANING = "7.9, lab step 3"


@suspect(
    "diagonal_excluded",
    task=TASK,
    hint="A token may not look at itself here, and the first one is left with nothing.",
    read=CAUSAL,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q - 1, dtype=bool)


@suspect(
    "sees_one_future_token",
    task=TASK,
    hint="Each token also sees the one after it.",
    read=CAUSAL,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q + 1, dtype=bool)


@suspect(
    "upper_left_alignment",
    task=TASK,
    hint="With more keys than queries, the queries are taken to be the first tokens; in a cache they are the last.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, dtype=bool)


@suspect(
    "offset_sign_flipped",
    task=TASK,
    hint="With more keys than queries, the triangle moves in the wrong direction.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_q - n_k, dtype=bool)


@suspect(
    "past_hidden_with_cache",
    task=TASK,
    hint="With more keys than queries, the cached tokens are hidden, or only the new ones are arranged rightly.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    mask = np.zeros((n_q, n_k), dtype=bool)
    mask[:, n_k - n_q :] = np.tri(n_q, dtype=bool)
    return mask


@suspect(
    "everything_seen_with_cache",
    task=TASK,
    hint="With more keys than queries, every query sees everything, later tokens of its own block too.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, dtype=bool) if n_k == n_q else np.ones((n_q, n_k), dtype=bool)


@suspect(
    "everything_allowed",
    task=TASK,
    hint="This mask hides nothing from any query.",
    read=CAUSAL,
)
def causal_mask(n_q, n_k=None):
    return np.ones((n_q, n_q if n_k is None else n_k), dtype=bool)


@suspect(
    "n_k_ignored",
    task=TASK,
    hint="The mask is a square of the queries; the number of keys has no effect.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    return np.tri(n_q, dtype=bool)


@suspect(
    "n_k_required",
    task=TASK,
    hint="The number of keys may be left out, and then it is that of the queries.",
    read=LAB,
)
def causal_mask(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@suspect(
    "upper_triangle",
    task=TASK,
    hint="Each token sees itself and what comes after it.",
    read=CAUSAL,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.triu(np.ones((n_q, n_k), dtype=bool), n_k - n_q)


@same_mistake("upper_triangle")
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.triu(np.ones((n_q, n_k), dtype=bool))


@suspect(
    "true_means_hidden",
    task=TASK,
    hint="True marks the cells that are hidden here; check what it stands for in this lab.",
    read=MEANING,
    also=(("np.tri(n_q, n_k, n_k - n_q, dtype=bool)", "np.tri(n_q, n_k, dtype=bool)"),),
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return ~np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@suspect(
    "integer_mask",
    task=TASK,
    hint="The mask holds numbers, with which selecting and negating do something else.",
    read=MEANING,
    also=((", dtype=int", ""), ("dtype=int", "dtype=np.uint8")),
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=int)


@suspect(
    "additive_mask",
    task=TASK,
    hint="These are numbers to be added to scores; a mask that says yes or no is asked.",
    read=MEANING,
    also=(("-np.inf", "-1e9"),),
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), 0.0, -np.inf)


@suspect(
    "mask_shape_transposed",
    task=TASK,
    hint="Rows and columns are exchanged: there is one row per query.",
    read=LAB,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool).T


@suspect(
    "mask_with_leading_axes",
    task=TASK,
    hint="The mask has more axes than the two that are asked.",
    read=LAB,
    also=(("[None]", "[None, None]"),),
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)[None]


@suspect(
    "only_previous_token_seen",
    task=TASK,
    hint="The past ends after a few tokens; all earlier ones may be looked at.",
    read=CAUSAL,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    near = np.tri(n_q, n_k, n_k - n_q - 2, dtype=bool)
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool) & ~near


@same_mistake("only_previous_token_seen")
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.eye(n_q, n_k, n_k - n_q, dtype=bool)


@suspect(
    "single_query_sees_first_key",
    task=TASK,
    hint="A single query is treated as the very first token.",
    read=CACHE,
)
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, 0 if n_q == 1 else n_k - n_q, dtype=bool)
