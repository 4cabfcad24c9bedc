"""Right definitions of every name of the contract: the ground on which each suspect makes its one mistake.

The text of this module is run first and the text of a suspect after it, as in a submission whose last
binding counts. It is not the truth that marks are measured against; that is ``autograder.reference``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def softmax(x: Array, axis: int = -1) -> Array:
    """Weights along ``axis``, same shape as ``x`` (chapter section 7.2, step 4)."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(e / np.sum(e, axis=axis, keepdims=True))


def attention(Q: Array, K: Array, V: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Output ``(..., n_q, d_v)`` and weights ``(..., n_q, n_k)`` (chapter section 7.1)."""
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights


def self_attention(X: Array, W_q: Array, W_k: Array, W_v: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """``attention`` of the three projections of ``X (..., n, d_model)``."""
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)


def worked_example(X: Array, W_q: Array, W_k: Array, W_v: Array) -> dict[str, Array]:
    """The seven stages of chapter section 7.2."""
    queries, keys, values = X @ W_q, X @ W_k, X @ W_v
    scores = queries @ keys.T
    scaled_scores = scores / math.sqrt(keys.shape[-1])
    weights = softmax(scaled_scores)
    return {
        "queries": queries,
        "keys": keys,
        "values": values,
        "scores": scores,
        "scaled_scores": scaled_scores,
        "weights": weights,
        "output": weights @ values,
    }


def compare_with_torch(
    attention_fn: Callable[..., Any], Q: Array, K: Array, V: Array, mask: Array | None = None
) -> tuple[float, str]:
    """Largest absolute difference to PyTorch's plain kernel, and that kernel's name."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    q, k, v = (torch.from_numpy(np.array(a)) for a in (Q, K, V))
    allowed = None if mask is None else torch.from_numpy(np.array(mask))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.max(np.abs(own - theirs.numpy()))), "MATH"


def permutation_gap(fn: Callable[[Array], Array], X: Array, perm: Array) -> float:
    """Largest change of ``fn`` when rows are shuffled before instead of after it."""
    return float(np.max(np.abs(fn(X[perm]) - fn(X)[perm])))


def sinusoidal_positions(n: int, d: int) -> Array:
    """``(n, d)`` position vectors (chapter section 7.4)."""
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def equivariance_report(
    X: Array, perm: Array, W_q: Array, W_k: Array, W_v: Array, position_scale: float = 0.3
) -> dict[str, float]:
    """Gaps of self-attention: plain, with positions, with a causal mask."""
    places = position_scale * sinusoidal_positions(*X.shape)
    mask = causal_mask(len(X))

    def gap(change: Callable[[Array], Array], mask: Array | None = None) -> float:
        return permutation_gap(lambda Z: self_attention(change(Z), W_q, W_k, W_v, mask=mask)[0], X, perm)

    return {
        "plain": gap(lambda Z: Z),
        "positions": gap(lambda Z: Z + places),
        "causal": gap(lambda Z: Z, mask),
    }


def time_calls(
    fn: Callable[..., object],
    make_args: Callable[[int], tuple[Any, ...]],
    ns: Sequence[int],
    *,
    warmup: int,
    repeats: int,
    clock: Callable[[], float],
    sync: Callable[[], None],
) -> list[list[float]]:
    """One row of ``repeats`` seconds for each ``n``."""
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


def local_slopes(ns: Sequence[int], seconds: Sequence[float]) -> list[float]:
    """Slope of each neighbouring pair on log-log axes."""
    return [float(s) for s in np.diff(np.log(seconds)) / np.diff(np.log(ns))]


def fit_exponent(ns: Sequence[int], seconds: Sequence[float]) -> float:
    """Least-squares slope on log-log axes."""
    return float(np.polyfit(np.log(ns), np.log(seconds), 1)[0])


def score_bytes(n: int, heads: int = 1, itemsize: int = 2) -> int:
    """Bytes of ``heads`` score matrices ``n`` by ``n`` (chapter section 7.6)."""
    return heads * n * n * itemsize


def peak_memory(fn: Callable[..., object], *args: object, meter: Any) -> tuple[int, int]:
    """Allocated and reserved peak bytes while ``fn(*args)`` ran."""
    meter.reset()
    result = fn(*args)
    peaks = meter.allocated_peak(), meter.reserved_peak()
    del result
    return peaks


def largest_n(fits: Callable[[int], bool], start: int = 1024) -> int:
    """The largest ``n`` that fits: doubling, then bisection; 0 where nothing does."""

    def ok(n: int) -> bool:
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


def causal_mask(n_q: int, n_k: int | None = None) -> Array:
    """Boolean ``(n_q, n_k)``, aligned at the lower right."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


def prefix_gap(fn: Callable[[Array], Array], X: Array, x_new: Array) -> float:
    """Largest change of the outputs of ``X (n, d)`` when ``x_new (d,)`` is appended."""
    return float(np.max(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))


class KVCache:
    """Keys and values ``(..., T, d)`` in the order of arrival."""

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None

    def append(self, k: Array, v: Array) -> None:
        """Store a block ``(..., t, d)`` of keys and one of values."""
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-2)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=-2)


def generate(model: Any, prompt: Sequence[int], n_new: int, *, use_cache: bool) -> tuple[list[int], Array]:
    """Greedy ids after ``prompt`` and the logits ``(n_new, vocab)`` that each was picked from."""
    tokens = [int(t) for t in prompt]
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    fed, rows = 0, []
    for _ in range(n_new):
        block = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(block[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


def time_generation(
    model: Any,
    prompt: Sequence[int],
    n_new: int,
    *,
    use_cache: bool,
    clock: Callable[[], float],
    sync: Callable[[], None],
) -> tuple[float, list[float]]:
    """Prefill seconds, and decode seconds of every id after the first."""
    tokens = [int(t) for t in prompt]
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    fed, seconds = 0, []
    for _ in range(n_new):
        sync()
        start = clock()
        block = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(block[-1])))
    return seconds[0], seconds[1:]


def kv_cache_bytes(layers: int, kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2) -> int:
    """Bytes of all cached keys and values (chapter section 7.6)."""
    return 2 * layers * kv_heads * head_dim * tokens * itemsize
