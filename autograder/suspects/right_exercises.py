"""Right definitions of what the exercises ask for: the ground on which each of their suspects makes its one mistake.

The text of this module runs after that of ``right``, whose functions it uses. It is not the truth that marks are
measured against; that is ``autograder.reference.exercises``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.suspects import right

Array = np.ndarray[Any, Any]


def order_gaps(X: Array, perm: Array, W_q: Array, W_k: Array, W_v: Array) -> dict[str, float]:
    """Exercise 2: what a shuffle of ``X (n, d)`` changes under five read-outs."""
    places, mask = 0.3 * right.sinusoidal_positions(*X.shape), right.causal_mask(len(X))

    def outputs(Z: Array, mask: Array | None = None) -> Array:
        return right.self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    def gap(a: Array, b: Array) -> float:
        return float(np.max(np.abs(a - b)))

    plain, moved = outputs(X), outputs(X[perm])
    placed, placed_moved = outputs(X + places), outputs(X[perm] + places)
    masked, masked_moved = outputs(X, mask), outputs(X[perm], mask)
    return {
        "tokens": gap(moved, plain[perm]),
        "mean_pool": gap(moved.mean(axis=0), plain.mean(axis=0)),
        "mean_pool_positions": gap(placed_moved.mean(axis=0), placed.mean(axis=0)),
        "mean_pool_causal": gap(masked_moved.mean(axis=0), masked.mean(axis=0)),
        "last_token_causal": gap(masked_moved[-1], masked[-1]),
    }


def in_units(n_bytes: int) -> tuple[float, float]:
    """Exercise 3: GB of 10^9 and GiB of 2^30 bytes."""
    return n_bytes / 10**9, n_bytes / 2**30


def weights_with_constant_row(side: str, row: Sequence[float]) -> Array:
    """Exercise 4: weights ``(3, 3)`` of the worked example, ``row (2,)`` for the constant feature of one projection."""
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    (W_q if side == "query" else W_k)[3] = row
    return right.softmax(X @ W_q @ (X @ W_k).T / math.sqrt(2))


def row_at_scale(s: float) -> Array:
    """Exercise 5: içti's weights ``(3,)`` with both projections times ``s``."""
    return right.softmax(np.array([2.73, 2.97, 0.30]) * s * s / math.sqrt(2))


def head_costs(d: int, h: int, n: int) -> dict[str, int]:
    """Exercise 6: what ``h`` heads of width ``d/h`` cost for ``n`` tokens."""
    head_dim = d // h
    return {
        "head_dim": head_dim,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * head_dim,
        "value_multiplications": h * n * n * head_dim,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, head_dim),
    }


def position_similarity(offset: int, d: int) -> float:
    """Exercise 7: the sum of the cosines of ``offset`` times every frequency."""
    return float(np.sum(np.cos(offset / 10000.0 ** (np.arange(0, d, 2) / d))))


def rope(x: Array, positions: Array, base: float = 10000.0) -> Array:
    """Exercise 8: ``x (..., n, d)`` with neighbouring coordinates turned by ``positions (n,)``."""
    d = x.shape[-1]
    angles = np.asarray(positions)[:, None] / base ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty(x.shape)
    turned[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    turned[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return turned


def offset_spread(score: Callable[[int, int], float], offset: int, starts: Sequence[int]) -> float:
    """Exercise 8: largest minus smallest score at one offset."""
    found = [score(start + offset, start) for start in starts]
    return max(found) - min(found)


def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """Exercise 9: whole tokens for each user."""
    return (memory_bytes - weight_bytes) // (users * 2 * layers * kv_heads * head_dim * itemsize)


def weight_bytes(parameters: int, bits: int) -> float:
    """Exercise 10: bytes of all weights."""
    return parameters * bits / 8


def training_flops(parameters: int, tokens: int) -> int:
    """Exercise 11: 6ND."""
    return 6 * parameters * tokens
