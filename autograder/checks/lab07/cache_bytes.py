"""``kv_cache_bytes`` held against the truth: asked in step 8 of the lab and again in exercise 3."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import attention as reference

Shape = tuple[int, int, int, int]


def expect_cache_bytes(lab: Lab, shape: Shape, **named: int) -> None:
    """``kv_cache_bytes`` is exact for layers, heads, width and tokens."""
    found = compare.integer(lab.kv_cache_bytes(*shape, **named), "the number of bytes")
    if found != reference.kv_cache_bytes(*shape, **named):
        asked = ", ".join([str(n) for n in shape] + [f"{k}={v}" for k, v in named.items()])
        raise CheckFailed(
            f"kv_cache_bytes({asked}) is not right. Each token leaves a key and a value, of head_dim numbers, in every "
            "layer and KV head (section 7.6, the KV cache)."
        )


def cache_shape(rng: np.random.Generator) -> Shape:
    """Layers, KV heads, head width, tokens: all different, so that none can stand for another."""
    layers, heads, width, tokens = (int(i) for i in rng.permutation(20)[:4] + 2)
    return layers, heads, width, 50 * tokens + 7


def each_doubled(shape: Shape) -> list[Shape]:
    """The shape, and four with one of its numbers twice as large: a missing factor, or a square, shows beside it."""
    layers, heads, width, tokens = shape
    doubled = [(2 * layers, heads, width, tokens), (layers, 2 * heads, width, tokens)]
    return [shape, *doubled, (layers, heads, 2 * width, tokens), (layers, heads, width, 2 * tokens)]
