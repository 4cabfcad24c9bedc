"""Mistakes of ``order_gaps``: how a difference is measured."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise2"
ORDER = "7.4, First, prove the problem is real"
EXERCISE = "7.13, exercise 2"


@suspect(
    "order_signed",
    task=TASK,
    hint="Differences of opposite sign are not looked at: a difference needs its absolute value first.",
    read=ORDER,
    also=(("float((a - b).max())", "float(abs((a - b).max()))"),),
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
        return float((a - b).max())

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
    "order_mean_of_differences",
    task=TASK,
    hint="The average difference is given; the largest is asked.",
    read=ORDER,
    also=(("float(np.abs(a - b).mean())", "float(np.sqrt(np.mean((a - b) ** 2)))"),),
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
        return float(np.abs(a - b).mean())

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
    "order_length_of_difference",
    task=TASK,
    hint="The length of the difference is given; its largest entry is asked.",
    read=ORDER,
    also=(("float(np.linalg.norm(a - b))", "float(np.abs(a - b).sum())"),),
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
        return float(np.linalg.norm(a - b))

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
    "order_cosine",
    task=TASK,
    hint="The angle between two read-outs is measured; the largest difference of their entries is asked.",
    read=EXERCISE,
    also=(
        (
            "float(1 - (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))",
            "float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))",
        ),
    ),
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
        return float(1 - (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))

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
    "order_truth_values",
    task=TASK,
    hint="The answers say whether something changed; by how much is asked.",
    read=EXERCISE,
    also=(
        ("bool(np.abs(a - b).max() < 1e-9)", "bool(np.abs(a - b).max() > 1e-9)"),
        ("bool(np.abs(a - b).max() < 1e-9)", "bool(np.allclose(a, b))"),
    ),
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
        return bool(np.abs(a - b).max() < 1e-9)

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
    "order_small_gaps_cut_off",
    task=TASK,
    hint="Gaps at rounding level come back as nothing, or all gaps are rounded.",
    read=ORDER,
    also=(
        ("round(float(np.abs(a - b).max()), 4)", "round(float(np.abs(a - b).max()), 2)"),
        ("round(float(np.abs(a - b).max()), 4)", "round(float(np.abs(a - b).max()), 3)"),
    ),
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
        return round(float(np.abs(a - b).max()), 4)

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
