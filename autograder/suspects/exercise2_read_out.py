"""Mistakes of ``order_gaps``: what is read out of a run."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise2"
EXERCISE = "7.13, exercise 2"


@suspect(
    "order_last_token_followed",
    task=TASK,
    hint="The token that was last is followed to its new slot; a read-out looks at the last slot.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[np.argsort(perm)][-1], masked[-1]),
    }


@suspect(
    "order_first_slot_read",
    task=TASK,
    hint="The first slot is read out; under a causal mask the last one is the one that sees everything.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[0], masked[0]),
    }


@suspect(
    "order_sum_instead_of_mean",
    task=TASK,
    hint="The pooled gaps are too large by a factor that is the number of tokens.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.sum(axis=0), plain.sum(axis=0)),
        "mean_pool_positions": gap(placed_moved.sum(axis=0), placed.sum(axis=0)),
        "mean_pool_causal": gap(masked_moved.sum(axis=0), masked.sum(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_mean_over_features",
    task=TASK,
    hint="The mean runs over the features of each token instead of over the tokens.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=1), plain.mean(axis=1)),
        "mean_pool_positions": gap(placed_moved.mean(axis=1), placed.mean(axis=1)),
        "mean_pool_causal": gap(masked_moved.mean(axis=1), masked.mean(axis=1)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_max_pooled",
    task=TASK,
    hint="Tokens are pooled by their largest value, where a mean is asked.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.max(axis=0), plain.max(axis=0)),
        "mean_pool_positions": gap(placed_moved.max(axis=0), placed.max(axis=0)),
        "mean_pool_causal": gap(masked_moved.max(axis=0), masked.max(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_pool_of_flattened",
    task=TASK,
    hint="Everything is averaged into one number before the comparison; the mean is a vector.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(), plain.mean()),
        "mean_pool_positions": gap(placed_moved.mean(), placed.mean()),
        "mean_pool_causal": gap(masked_moved.mean(), masked.mean()),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_runs_swapped",
    task=TASK,
    hint="The pooled gap with positions and the one with the mask have changed places.",
    read=EXERCISE,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_causal": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_positions": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }
