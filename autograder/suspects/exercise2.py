"""Mistakes of ``order_gaps``: which runs are compared."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise2"
ORDER = "7.4, First, prove the problem is real"
POSITIONS = "7.4, Adding a position signal"
MASK = "7.5, The causal mask"


@suspect(
    "order_tokens_not_aligned",
    task=TASK,
    hint="Outputs of different tokens are compared; after a shuffle each has to be looked for in its new slot.",
    read=ORDER,
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
        "tokens": gap(moved, plain),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_shuffled_back_with_perm",
    task=TASK,
    hint="The shuffle is not undone by shuffling once more in the same way.",
    read=ORDER,
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
        "tokens": gap(moved[perm], plain),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_positions_shuffled_too",
    task=TASK,
    hint="The positions move along with the tokens; they belong to the slots.",
    read=POSITIONS,
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
    placed, placed_moved = run(X + places), run((X + places)[perm])
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_positions_with_mask",
    task=TASK,
    hint="Where positions are to act alone, the causal mask is on as well.",
    read=POSITIONS,
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
    placed, placed_moved = run(X + places, causal), run(X[perm] + places, causal)
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_causal_with_positions",
    task=TASK,
    hint="Where the causal mask is to act alone, positions are added as well.",
    read=MASK,
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
    masked, masked_moved = run(X + places, causal), run(X[perm] + places, causal)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_mask_forgotten",
    task=TASK,
    hint="The two causal gaps are those of attention without a mask.",
    read=MASK,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[1]), -np.inf)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e @ (Z @ W_v) / e.sum(axis=1, keepdims=True)

    def gap(a, b):
        return float(np.abs(a - b).max())

    plain, moved = run(X), run(X[perm])
    placed, placed_moved = run(X + places), run(X[perm] + places)
    masked, masked_moved = run(X), run(X[perm])
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_mask_upside_down",
    task=TASK,
    hint="The mask hides the past instead of the future.",
    read=MASK,
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool).T

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
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_mask_shuffled_too",
    task=TASK,
    hint="The mask moves along with the tokens; it belongs to the slots.",
    read=MASK,
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
    masked, masked_moved = run(X, causal), run(X[perm], causal[perm][:, perm])
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_no_scale",
    task=TASK,
    hint="Scores are not divided by the square root of the width of the keys.",
    read="7.2, step 3",
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T, -np.inf)
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
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_scaled_by_model_width",
    task=TASK,
    hint="Scores are divided by the square root of another width than that of the keys.",
    read="7.2, step 3",
)
def order_gaps(X, perm, W_q, W_k, W_v):
    n, d = X.shape
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    places = 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    causal = np.tri(n, dtype=bool)

    def run(Z, visible=True):
        s = np.where(visible, Z @ W_q @ (Z @ W_k).T / np.sqrt(W_k.shape[0]), -np.inf)
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
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


@suspect(
    "order_inputs_changed_in_place",
    task=TASK,
    hint="The caller's tokens are changed, so later runs start from something else.",
    read=ORDER,
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
    masked, masked_moved = run(X, causal), run(X[perm], causal)
    placed_moved = run(X[perm] + places)
    X += places
    placed = run(X)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }
