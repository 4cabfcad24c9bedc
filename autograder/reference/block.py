"""Float64 truths of what a block computes, written another way than a student would write them.

Sums run over Python loops and ``math.fsum``, heads are picked one by one and rotations are complex numbers, so a
mistake that is natural with reshape and matmul cannot be in here too. Slow, which is nothing at the checks' sizes.
Sources: chapter sections 7.3, 7.4, 7.6 and 7.7, and the article on the transformer block, by section.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.reference.attention import self_attention

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[Any]
Head = Sequence[Numbers]
Row = Callable[[Sequence[float]], list[float]]


def project(x: Numbers, W: Numbers) -> Floats:
    """``x (..., d)`` times ``W (d, d_out)``; a single row without leading axes is one too."""
    product: Floats = np.einsum("...m,md->...d", np.asarray(x, np.float64), np.asarray(W, np.float64))
    return product


# ---- heads (7.3)
def split_heads(x: Numbers, h: int) -> Floats:
    """``(..., n, h*w)`` → ``(..., h, n, w)``; head ``i`` owns the columns ``i*w`` to ``(i+1)*w - 1``. Section 7.3."""
    w = x.shape[-1] // h
    heads = np.empty((*x.shape[:-2], h, x.shape[-2], w))
    for column in range(h * w):
        owner, place = divmod(column, w)
        heads[..., owner, :, place] = x[..., column]
    return heads


def merge_heads(x: Numbers) -> Floats:
    """``(..., h, n, w)`` → ``(..., n, h*w)``, the inverse of ``split_heads``. Section 7.3."""
    h, n, w = x.shape[-3:]
    merged = np.empty((*x.shape[:-3], n, h * w))
    for column in range(h * w):
        merged[..., column] = x[..., column // w, :, column % w]
    return merged


def multi_head(X: Numbers, heads: Sequence[Head], W_o: Numbers, mask: Numbers | None = None) -> dict[str, Floats]:
    """``weights (..., h, n, n)``, ``concatenated (..., n, h*d_v)``, ``output (..., n, d_model)``. Section 7.3."""
    found = [self_attention(X, W_q, W_k, W_v, mask) for W_q, W_k, W_v in heads]
    concatenated = merge_heads(np.stack([output for output, _ in found], axis=-3))
    weights = np.stack([weights for _, weights in found], axis=-3)
    return {"weights": weights, "concatenated": concatenated, "output": project(concatenated, W_o)}


def expand_kv(k: Numbers, n_rep: int) -> Floats:
    """``(..., h_kv, n, w)`` → ``(..., h_kv*n_rep, n, w)``; query head ``i`` reads head ``i // n_rep``. Section 7.6."""
    h = k.shape[-3] * n_rep
    expanded = np.empty((*k.shape[:-3], h, *k.shape[-2:]))
    for head in range(h):
        expanded[..., head, :, :] = k[..., head // n_rep, :, :]
    return expanded


# ---- norms (7.3)
def layer_norm(x: Numbers, eps: float = 1e-5) -> Floats:
    """Each row with its mean taken off, over the root of its variance (divided by ``d``) and ``eps``. Section 7.3."""

    def row(values: Sequence[float]) -> list[float]:
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values) + eps)
        return [(v - mean) / spread for v in values]

    return _by_row(row, x)


def rms_norm(x: Numbers, weight: Numbers, eps: float = 1e-5) -> Floats:
    """Each row over the root of its mean square and ``eps``, times ``weight (d,)``; no mean. Section 7.3."""

    def row(values: Sequence[float]) -> list[float]:
        size = math.sqrt(math.fsum(v * v for v in values) / len(values) + eps)
        return [v / size * float(g) for v, g in zip(values, weight, strict=True)]

    return _by_row(row, x)


# ---- feed-forward (7.3, article 9)
def detectors(x: Numbers, W1: Numbers, b1: Numbers) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Activations ``(..., d_ff)`` and which detectors fire for at least one row ``(d_ff,)``. Section 7.3."""
    before = project(x, W1) + np.asarray(b1, np.float64)
    fired = before > 0
    return np.where(fired, before, 0.0), np.array([bool(fired[..., i].any()) for i in range(fired.shape[-1])])


def ffn_as_slots(x: Numbers, W1: Numbers, b1: Numbers, W2: Numbers) -> Floats:
    """``(..., d_ff, d_out)``: what each slot adds, its activation times its row of ``W2``. Article, section 9."""
    activations, _ = detectors(x, W1, b1)
    return np.stack([np.multiply.outer(activations[..., i], W2[i]) for i in range(len(W2))], axis=-2)


def ffn_relu(x: Numbers, W1: Numbers, b1: Numbers, W2: Numbers, b2: Numbers) -> Floats:
    """Two layers with ReLU between them, as the sum of its slots. Section 7.3."""
    total: Floats = ffn_as_slots(x, W1, b1, W2).sum(axis=-2) + np.asarray(b2, np.float64)
    return total


def gelu(z: Numbers) -> Floats:
    """``z Φ(z)``, by the complementary error function. Section 7.3 (Hendrycks and Gimpel 2016)."""
    values = [v * math.erfc(-v / math.sqrt(2.0)) / 2.0 for v in np.asarray(z, np.float64).ravel().tolist()]
    return np.array(values).reshape(np.shape(z))


def swiglu(x: Numbers, W_gate: Numbers, W_up: Numbers, W_down: Numbers) -> Floats:
    """``(silu(x W_gate) ⊙ x W_up) W_down``, with the logistic as half a tangent. Section 7.3 (Shazeer 2020)."""
    gate = project(x, W_gate)
    return project(gate * (1.0 + np.tanh(gate / 2.0)) / 2.0 * project(x, W_up), W_down)


def block(x: Numbers, params: Mapping[str, Any], mask: Numbers | None = None) -> Floats:
    """A pre-norm block; where ``norm_first`` is False, attention sees ``x`` as it is. Section 7.3."""
    seen = layer_norm(x) if params["norm_first"] else x
    stream = np.asarray(x, np.float64) + multi_head(seen, params["heads"], params["W_o"], mask)["output"]
    layers = (params[name] for name in ("W1", "b1", "W2", "b2"))
    written: Floats = stream + ffn_relu(layer_norm(stream), *layers)
    return written


def collapse_two_layers(W1: Numbers, b1: Numbers, W2: Numbers, b2: Numbers) -> tuple[Floats, Floats]:
    """One layer for two with nothing between them: its rows are what unit vectors become. Article, section 9."""

    def both(x: Numbers) -> Floats:
        result: Floats = project(project(x, W1) + b1, W2) + b2
        return result

    offset = both(np.zeros((1, len(W1))))[0]
    return both(np.eye(len(W1))) - offset, offset


def linear_backward(X: Numbers, W: Numbers, dY: Numbers) -> tuple[Floats, Floats]:
    """``(dW, dX)`` of ``Y = X W``: a sum of one outer product per row, and one dot product per entry. Article 13."""
    dW = np.zeros(W.shape)
    for row, message in zip(X, dY, strict=True):
        dW += np.multiply.outer(row, message)
    return dW, np.array([[math.fsum(message * entry) for entry in W] for message in dY])


# ---- router (7.7)
def top_k_router(x: Numbers, W_r: Numbers, k: int) -> Floats:
    """Gates ``(..., E)``: the ``k`` best experts share 1 by softmax, the others get 0. Section 7.7."""

    def row(scores: Sequence[float]) -> list[float]:
        best = sorted(range(len(scores)), key=lambda e: -scores[e])[:k]
        share = {e: 1.0 / math.fsum(math.exp(min(scores[other] - scores[e], 700.0)) for other in best) for e in best}
        return [share.get(e, 0.0) for e in range(len(scores))]

    return _by_row(row, project(np.atleast_2d(x), W_r)).reshape(*x.shape[:-1], W_r.shape[-1])


# ---- softmax and its temperature (article 11)
def two_key_weight(gap: Any) -> Floats:
    """The weight of the higher of two keys whose scores are ``gap`` apart. Article, section 11."""
    return np.asarray((1.0 + np.tanh(np.asarray(gap, np.float64) / 2.0)) / 2.0)


def entropy(weights: Numbers) -> Floats:
    """``-Σ w ln w`` in nats over the last axis; a weight of 0 adds nothing. Article, section 4."""
    rows = np.asarray(weights, np.float64)
    flat = [-math.fsum(w * math.log(w) for w in row if w > 0) for row in rows.reshape(-1, rows.shape[-1])]
    return np.array(flat).reshape(rows.shape[:-1])


def sweep(queries: Numbers, keys: Numbers) -> dict[str, float]:
    """One row of the article's table (section 11) for ``queries (trials, d_k)``, ``keys (trials, n_keys, d_k)``."""
    scores = np.einsum("td,tkd->tk", queries.astype(np.float64), keys)
    found = {"logit_std": math.sqrt(float(np.mean((scores - scores.mean()) ** 2)))}
    for name, temperature in (("unscaled", 1.0), ("scaled", math.sqrt(queries.shape[-1]))):
        # The larger of two shares by their ratio, so no maximum has to be taken off first.
        logits = scores / temperature
        with np.errstate(over="ignore"):
            weights = 1.0 / np.exp(logits[:, np.newaxis, :] - logits[:, :, np.newaxis]).sum(axis=-1)
        found[f"max_weight_{name}"] = float(weights.max(axis=-1).mean())
        found[f"entropy_{name}"] = float(entropy(weights).mean())
    return found


# ---- positions (7.4, article 14)
def rope(x: Numbers, positions: Sequence[int], base: float = 10000.0, *, halves: bool = False) -> Floats:
    """Each pair of coordinates turned by position times its rate. ``x (..., n, d)``, ``positions (n,)``.

    Pairs are neighbours (section 7.4), or coordinates half the width apart (article, section 14).
    """
    d = x.shape[-1]
    turned = np.empty(x.shape)
    for i in range(d // 2):
        a, b = (i, i + d // 2) if halves else (2 * i, 2 * i + 1)
        points = x[..., a].astype(np.float64) + 1j * x[..., b].astype(np.float64)
        points = points * np.array([cmath.rect(1.0, int(m) / math.pow(base, 2 * i / d)) for m in positions])
        turned[..., a], turned[..., b] = points.real, points.imag
    return turned


def pairing_permutation(d: int) -> list[int]:
    """Where each coordinate of the halves pairing stands among neighbours: evens first, then odds. 7.4, article 14."""
    return [2 * i for i in range(d // 2)] + [2 * i + 1 for i in range(d // 2)]


def rope_periods(head_dim: int, base: float = 10000.0) -> list[float]:
    """Positions in a full turn of each pair, fastest first. Article, section 14: 6.28 to 54,410 for a width of 128."""
    return [math.tau * math.exp(math.log(base) * 2 * i / head_dim) for i in range(head_dim // 2)]


def alibi_slopes(n_heads: int) -> list[float]:
    """``2^(-8i/n_heads)`` for heads 1 to ``n_heads``: 1/2 to 1/256 for eight. Section 7.4 (Press et al. 2022)."""
    ratio = math.pow(0.5, 8 / n_heads)
    return [math.pow(ratio, i + 1) for i in range(n_heads)]


def alibi_bias(n: int, slope: float) -> Floats:
    """``(n, n)``: minus slope times distance up to the diagonal, minus infinity above it. Section 7.4."""
    return np.array([[-slope * (i - j) if j <= i else -math.inf for j in range(n)] for i in range(n)])


def _by_row(row: Row, x: Numbers) -> Floats:
    rows = np.asarray(x, np.float64)
    return np.array([row(values) for values in _rows(rows)]).reshape(*rows.shape[:-1], -1)


def _rows(x: Floats) -> Iterator[list[float]]:
    yield from x.reshape(-1, x.shape[-1]).tolist()
