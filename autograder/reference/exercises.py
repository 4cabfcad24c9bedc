"""Truths of the exercises (chapter section 7.13), each by another path than the one a student would take.

Counts are exact integers or fractions, rotations are products of complex numbers, and the constant feature of exercise
4 is a shift of the scores instead of another matrix.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.reference import attention as truth
from autograder.reference import chapter

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]

ORDER_KEYS = ("tokens", "mean_pool", "mean_pool_positions", "mean_pool_causal", "last_token_causal")
COST_KEYS = (
    "head_dim",
    "parameters",
    "projection_multiplications",
    "score_multiplications",
    "value_multiplications",
    "score_entries",
    "score_rank_bound",
)

#: Embedding dimension of the worked example that is 0.5 for all three tokens, and that value (section 7.2).
CONSTANT, CONSTANT_VALUE = 3, 0.5


def order_gaps(
    X: Numbers, perm: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers, position_scale: float = 0.3
) -> dict[str, float]:
    """Exercise 2: largest change of what is read out of ``X (n, d)`` when its tokens are reordered by ``perm``.

    Sections 7.4 and 7.5: without positions and mask a shuffle moves the tokens' outputs and changes none, so that no
    mean changes; positions and the causal mask belong to slots.
    """
    n = len(X)
    places, mask = position_scale * truth.sinusoidal_positions(*X.shape), truth.causal_mask(n)

    def runs(shift: Floats | float, hidden: Numbers | None) -> list[Floats]:
        """Outputs ``(n, d_v)`` of both orders; row ``new`` of the second belongs to token ``perm[new]``."""
        shuffled = np.stack([X[old] for old in perm])
        return [truth.self_attention(Z + shift, W_q, W_k, W_v, hidden)[0] for Z in (X, shuffled)]

    def pooled(before: Floats, after: Floats) -> float:
        columns = zip(before.T, after.T, strict=True)
        return max(abs(math.fsum(b) - math.fsum(a)) / n for b, a in columns)

    plain, placed, masked = runs(0.0, None), runs(places, None), runs(0.0, mask)
    return {
        "tokens": max(float(np.max(np.abs(plain[1][new] - plain[0][old]))) for new, old in enumerate(perm)),
        "mean_pool": pooled(*plain),
        "mean_pool_positions": pooled(*placed),
        "mean_pool_causal": pooled(*masked),
        "last_token_causal": float(np.max(np.abs(masked[1][n - 1] - masked[0][n - 1]))),
    }


def in_units(n_bytes: int) -> tuple[float, float]:
    """Exercise 3: bytes in GB of 10^9 and in GiB of 2^30 bytes, each rounded once."""
    return float(Fraction(n_bytes, 10**9)), float(Fraction(n_bytes, 2**30))


def constant_row_weights(side: str, row: Sequence[float] | Floats) -> Floats:
    """Exercise 4: weights ``(3, 3)`` of the worked example, the constant feature with ``row (2,)`` in one projection.

    On the query side it adds ``0.5 row·k_j`` to the score of key ``j``; on the key side ``0.5 row·q_i``, the same for
    every key of a row, which softmax does not see.
    """
    shift = np.zeros((3, 3))
    if side == "query":
        keys = truth.project(chapter.X, chapter.W_K)
        shift[:] = [CONSTANT_VALUE * sum(float(r) * k for r, k in zip(row, key, strict=True)) for key in keys]
    return truth.softmax((_scores() + shift) / math.sqrt(2.0))


def row_at_scale(scale: float) -> Floats:
    """Exercise 5: içti's weights ``(3,)`` with both projections times ``scale``: its scores grow by the square."""
    return truth.softmax(_scores()[2] * (scale * scale) / math.sqrt(2.0))


def _scores() -> Floats:
    """The unscaled scores of the worked example, section 7.2, step 2."""
    return truth.worked_stages(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)["scores"]


def head_costs(d: int, h: int, n: int) -> dict[str, int]:
    """Exercise 6: what ``h`` heads of width ``d/h`` cost for ``n`` tokens, summed head by head.

    Multiplications of a product ``(a, b) @ (b, c)`` are ``a·b·c``; no biases. ``score_rank_bound`` is of one head's
    scores before softmax.
    """
    width = d // h
    parameters = sum(3 * d * width for _ in range(h)) + (h * width) * d
    return {
        "head_dim": width,
        "parameters": parameters,
        "projection_multiplications": sum(3 * n * d * width for _ in range(h)) + n * (h * width) * d,
        "score_multiplications": sum(n * width * n for _ in range(h)),
        "value_multiplications": sum(n * n * width for _ in range(h)),
        "score_entries": sum(n * n for _ in range(h)),
        "score_rank_bound": min(n, width),
    }


def position_similarity(offset: int, d: int) -> float:
    """Exercise 7: ``PE_p · PE_{p+offset}``, the cosines of ``offset`` times each of ``d/2`` frequencies (7.4)."""
    turns = (cmath.rect(1.0, offset / math.pow(10000.0, 2 * i / d)) for i in range(d // 2))
    return math.fsum(turn.real for turn in turns)


def rope(x: Numbers, positions: Sequence[int], base: float = 10000.0) -> Floats:
    """Exercise 8: ``x (..., n, d)`` with each pair of neighbouring coordinates turned by its position (section 7.4).

    A pair is one complex number, and turning it a product with another; frequencies are ``base^(-2i/d)``.
    """
    d = x.shape[-1]
    turned = np.empty(x.shape)
    for row, position in enumerate(positions):
        for i in range(d // 2):
            turn = cmath.rect(1.0, float(position) / math.pow(base, 2 * i / d))
            pair = (x[..., row, 2 * i] + 1j * x[..., row, 2 * i + 1].astype(np.float64)) * turn
            turned[..., row, 2 * i], turned[..., row, 2 * i + 1] = pair.real, pair.imag
    return turned


def offset_spread(score: Callable[[int, int], float], offset: int, starts: Sequence[int]) -> float:
    """Exercise 8: largest minus smallest ``score(start + offset, start)``: query behind the key by ``offset``."""
    found = sorted(score(start + offset, start) for start in starts)
    return found[-1] - found[0]


def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """Exercise 9: whole tokens for each user, the weights held once and a cache per user (sections 7.6 and 7.13)."""
    of_all_users = users * truth.kv_cache_bytes(layers, kv_heads, head_dim, 1, itemsize)
    return math.floor(Fraction(memory_bytes - weight_bytes, of_all_users))


def weight_bytes(parameters: int, bits: int) -> float:
    """Exercise 10: bytes of all weights; a parameter of 4 bits takes half a byte."""
    return float(Fraction(parameters * bits, 8))


def training_flops(parameters: int, tokens: int) -> int:
    """Exercise 11: 6ND. Forward is a multiply-add, 2 FLOPs, per parameter and token, backward twice that (7.8)."""
    forward = 2 * parameters * tokens
    return forward + 2 * forward
