"""Float64 truths of the lab's functions, written another way than a student would write them.

No maximum is subtracted, nothing is transposed, no mask becomes minus infinity: so a mistake that is
natural in the usual code cannot be in here too. The price is time, ``n_k`` exponentials for each score, which is
nothing at the sizes of the checks.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.reference.remembered import remembered

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
Function = Callable[[Numbers], Numbers]

#: Scores times keys that one call may cost. Functions handed to a submission end here, whatever it calls
#: them with.
MAX_WORK = 2**27
#: Exponentials that are taken at once: 2 MiB of them.
AT_ONCE = 2**18
STAGES = ("queries", "keys", "values", "scores", "scaled_scores", "weights", "output")


@remembered
def softmax(x: Numbers, axis: int = -1) -> Floats:
    """Softmax of ``x`` along one axis; same shape. Definition: section 7.2, step 4."""
    rows = np.moveaxis(np.asarray(x, np.float64), axis, -1)
    return np.moveaxis(_weights(rows, np.ones(rows.shape, bool)), -1, axis)


@remembered
def attention(Q: Numbers, K: Numbers, V: Numbers, mask: Numbers | None = None) -> tuple[Floats, Floats]:
    """Output ``(..., n_q, d_v)`` and weights ``(..., n_q, n_k)`` of ``Q (..., n_q, d_k)``, ``K (..., n_k,
    d_k)``, ``V (..., n_k, d_v)``; True in ``mask`` may be attended. Definition: section 7.2.

    A row that may attend to nothing gets weights of 0. Raises ``ValueError`` for shapes that do not fit or
    are too large.
    """
    q, k, v = (np.asarray(part, np.float64) for part in (Q, K, V))
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] == 0:
        raise ValueError("attention takes arrays of at least two axes, with a width above 0")
    if math.prod(q.shape[:-1]) * k.shape[-2] * max(k.shape[-2], q.shape[-1]) > MAX_WORK:
        raise ValueError("these arrays are too large for the reference attention")
    scaled = np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask, bool), scaled.shape)
    weights = _weights(scaled, allowed)
    return np.einsum("...ij,...jd->...id", weights, v), weights


def self_attention(
    X: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers, mask: Numbers | None = None
) -> tuple[Floats, Floats]:
    """The same for ``X (..., n, d_model)`` and three projections ``(d_model, d)``. Section 7.2, step 1."""
    q, k, v = (project(X, W) for W in (W_q, W_k, W_v))
    return attention(q, k, v, mask)


def project(X: Numbers, W: Numbers) -> Floats:
    """``X (..., n, d_model)`` times ``W (d_model, d)``."""
    product: Floats = np.einsum("...nm,md->...nd", np.asarray(X, np.float64), np.asarray(W, np.float64))
    return product


def worked_stages(X: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers) -> dict[str, Floats]:
    """Every stage of section 7.2 by its name in ``STAGES``, for ``X (n, d_model)``."""
    queries, keys, values = (project(X, W) for W in (W_q, W_k, W_v))
    scores = np.einsum("id,jd->ij", queries, keys)
    output, weights = attention(queries, keys, values)
    found = (queries, keys, values, scores, scores / math.sqrt(queries.shape[-1]), weights, output)
    return dict(zip(STAGES, found, strict=True))


@remembered
def causal_mask(n_q: int, n_k: int | None = None) -> npt.NDArray[np.bool_]:
    """Boolean ``(n_q, n_k)``, aligned at the lower right: query ``i`` sees the first ``n_k - n_q + i + 1``
    keys.

    Sections 7.5 and 7.6; the alignment is what a cache of earlier keys needs.
    """
    keys = n_q if n_k is None else n_k
    return np.array([[j <= keys - n_q + i for j in range(keys)] for i in range(n_q)], bool).reshape(n_q, keys)


@remembered
def sinusoidal_positions(n: int, d: int) -> Floats:
    """``(n, d)`` for even ``d``: columns ``2i`` and ``2i + 1`` are sine and cosine of ``pos /
    10000^(2i/d)``.

    Section 7.4. Each pair is a point on the unit circle, so it is made as one complex number.
    """
    table = np.empty((n, d))
    for position in range(n):
        for i in range(d // 2):
            point = cmath.rect(1.0, position / math.pow(10000.0, 2 * i / d))
            table[position, 2 * i], table[position, 2 * i + 1] = point.imag, point.real
    return table


def permutation_gap(fn: Function, X: Numbers, perm: Numbers) -> float:
    """Largest change of a token's output when the tokens are reordered by ``perm``. Section 7.4.

    Row ``new`` of the shuffled run is held against row ``perm[new]`` of the plain one; NaN gives NaN.
    """
    plain, shuffled = np.asarray(fn(X)), np.asarray(fn(np.stack([X[old] for old in perm])))
    return float(np.max([np.abs(shuffled[new] - plain[old]) for new, old in enumerate(perm)]))


def equivariance_gaps(
    X: Numbers, perm: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers, position_scale: float = 0.3
) -> dict[str, float]:
    """The gaps ``plain``, ``positions`` (added to slots, after the shuffle) and ``causal`` (the mask
    alone).

    Section 7.4; its own case gives 1.1e-16, 0.3289 and (recomputed) 0.4308.
    """
    places = position_scale * sinusoidal_positions(*X.shape)
    mask = causal_mask(len(X))

    def gap(shift: Floats | float, hidden: Numbers | None) -> float:
        return permutation_gap(lambda Z: self_attention(Z + shift, W_q, W_k, W_v, hidden)[0], X, perm)

    return {"plain": gap(0.0, None), "positions": gap(places, None), "causal": gap(0.0, mask)}


def prefix_gap(fn: Function, X: Numbers, x_new: Numbers) -> float:
    """Largest change of the first ``n`` outputs when the row ``x_new (d,)`` is appended to ``X (n, d)``.

    Section 7.9, step 7; NaN gives NaN.
    """
    before, after = np.asarray(fn(X)), np.asarray(fn(np.vstack([X, x_new])))
    return float(np.max([np.abs(after[i] - before[i]) for i in range(len(X))]))


def score_bytes(n: int, heads: int = 1, itemsize: int = 2) -> int:
    """Bytes of the ``(heads, n, n)`` scores. Section 7.1: 32 MiB for one head at n = 4096 and 2 bytes."""
    return sum(n * itemsize for _ in range(heads)) * n


def kv_cache_bytes(layers: int, kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2) -> int:
    """Bytes of the keys and values of ``tokens`` tokens. Section 7.6: twice, once for K and once for V."""
    keys = math.prod((layers, kv_heads, head_dim, tokens, itemsize))
    return keys + keys


def _weights(scores: Floats, allowed: Numbers) -> Floats:
    """``1 / Σ_j exp(s_j - s_i)`` over the allowed ``j``: no maximum is needed, overflow is a weight of 0."""
    if scores.size * scores.shape[-1] > MAX_WORK:
        raise ValueError("these arrays are too large for the reference softmax")
    weights = np.zeros(scores.shape)
    some = max(1, AT_ONCE // max(1, scores.size))
    with np.errstate(all="ignore"):
        for i in range(0, scores.shape[-1], some):
            ratios = np.exp(scores[..., None, :] - scores[..., i : i + some, None])
            weights[..., i : i + some] = 1.0 / np.sum(np.where(allowed[..., None, :], ratios, 0.0), axis=-1)
    return np.where(allowed, weights, 0.0)
