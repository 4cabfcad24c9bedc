"""Inputs of a measured call, drawn from a seed: the same numbers in the sandbox, on any device, and on this side.

At n = 16,384 and several heads they would not fit into a frame of the wire, so only the seed travels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Head size of the measurement (chapter 7.9, step 5).
D = 64

_generator, _single, _WIDTH = np.random.default_rng, np.float32, np.float32(np.sqrt(12.0))


def one_head(n: int, seed: int, head: int) -> np.ndarray[Any, Any]:
    """Queries, keys and values of one head, float32, as ``(3, n, 64)``.

    Uniform with mean 0 and variance 1: for scores that are sums of 64 products as good as normal ones, and drawn
    in a quarter of the time.
    """
    drawn = _generator([seed, head]).random((3, n, D), dtype=_single)
    drawn -= _single(0.5)
    drawn *= _WIDTH
    return drawn


def all_heads(n: int, seed: int, heads: int) -> np.ndarray[Any, Any]:
    """The same for every head, as ``(3, heads, n, 64)``."""
    drawn = np.empty((3, heads, n, D), _single)
    for head in range(heads):
        drawn[:, head] = one_head(n, seed, head)
    return drawn
