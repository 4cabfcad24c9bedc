"""Mistakes of ``worked_example`` with its tables: copied, rounded, shared, missing, masked."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import softmax

TASK = "step2"
PROJECT = "7.2, step 1"
SCORES = "7.2, step 2"
SCALE = "7.2, step 3"
WEIGHTS = "7.2, step 4"
AVERAGE = "7.2, step 5"
LAB = "7.9, lab step 2"


@suspect(
    "worked_causal_mask_on",
    task=TASK,
    hint="Later tokens are hidden; the last row cannot show it, because nothing comes after it.",
    read="7.2, Do it yourself",
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(np.where(np.tri(len(X), dtype=bool), z, -np.inf))
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_causal_mask_on")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = np.where(np.tri(len(X), dtype=bool), s / math.sqrt(k.shape[-1]), -1e9)
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_rounded",
    task=TASK,
    hint="The tables are rounded as they are printed; hand back every digit there is.",
    read=LAB,
    also=(
        ("np.round(table, 4)", "np.round(table, 2)"),
        ("np.round(table, 4)", "np.round(table, 3)"),
        ("np.round(table, 4)", "np.round(table, 6)"),
    ),
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    tables = dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)
    return {name: np.round(table, 4) for name, table in tables.items()}


@same_mistake("worked_rounded")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = np.round(X @ W_q, 2), np.round(X @ W_k, 2), np.round(X @ W_v, 2)
    s = np.round(q @ k.T, 2)
    z = np.round(s / math.sqrt(k.shape[-1]), 4)
    w = np.round(softmax(z), 4)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=np.round(w @ v, 4))


@suspect(
    "worked_stages_share_memory",
    task=TASK,
    hint="The table of scores holds the scaled ones: it was changed after it had been stored, "
    "or the wrong one was stored.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = z = q @ k.T
    z /= math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_copied_from_chapter",
    task=TASK,
    hint="The tables are the chapter's whatever the matrices are; they should be computed.",
    read=LAB,
)
def worked_example(X, W_q, W_k, W_v):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    q = X @ np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    k = X @ np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    v = X @ np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.2, 0.2]])
    s = q @ k.T
    z = s / math.sqrt(2)
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_copied_from_chapter")
def worked_example(X, W_q, W_k, W_v):
    return dict(
        queries=np.array([[1.8, 0.2], [0.2, 1.8], [1.8, 2.0]]),
        keys=np.array([[1.35, 0.15], [0.15, 1.35], [0.0, 0.15]]),
        values=np.array([[1.0, 0.2], [0.2, 1.0], [0.1, 0.2]]),
        scores=np.array([[2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.3]]),
        scaled_scores=np.array([[1.7395, 0.3818, 0.0212], [0.3818, 1.7395, 0.1909], [1.9304, 2.1001, 0.2121]]),
        weights=np.array([[0.6961, 0.1791, 0.1249], [0.1750, 0.6804, 0.1446], [0.4230, 0.5012, 0.0759]]),
        output=np.array([[0.7444, 0.3433], [0.3256, 0.7443], [0.5308, 0.6009]]),
    )


@suspect(
    "worked_last_row_only",
    task=TASK,
    hint="Only the row of the last token is there; every token has one.",
    read=LAB,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w[-1], output=w[-1] @ v)


@suspect(
    "worked_stage_missing",
    task=TASK,
    hint="One of the seven tables is missing, or is called something else.",
    read=LAB,
    also=(("scaled=z", "scaled_score=z"), ("weights=w", "attention=w"), (", output=w @ v", "")),
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled=z, weights=w, output=w @ v)


@same_mistake("worked_stage_missing")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(Q=q, K=k, V=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_stage_missing")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    w = softmax(q @ k.T / math.sqrt(k.shape[-1]))
    return dict(weights=w, output=w @ v)
