"""Exercise 3, ``kv_cache_bytes`` and ``in_units``: section 7.6, the KV cache."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.cache_bytes import cache_shape, each_doubled, expect_cache_bytes
from autograder.lab import Lab
from autograder.reference import attention as reference
from autograder.reference import exercises as truth

check = Task("exercises", "exercise3")

#: Layers, KV heads, head width and tokens of the exercise, with as many KV heads as query heads and with 8.
MULTI_HEAD, GROUPED = (32, 32, 128, 100_000), (32, 8, 128, 100_000)


# ---- kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2)
@check("kv_cache_bytes.chapter")
def test_bytes_of_the_exercise(lab: Lab) -> None:
    """The exercise's cache with 32 KV heads, and with 8."""
    # Both, so that one number written in gets neither; a factor 2 that is missing makes both wrong.
    for shape in (MULTI_HEAD, GROUPED):
        expect_cache_bytes(lab, shape)


@check("kv_cache_bytes.formula")
def test_bytes_of_any_cache(lab: Lab, rng: np.random.Generator) -> None:
    """Keys and values of every layer, KV head and token, at 2 bytes each unless said otherwise."""
    # Doubling each number in turn: a missing factor, a square, and a number of heads that is written in.
    for shape in each_doubled(cache_shape(rng)):
        expect_cache_bytes(lab, shape)


@check("kv_cache_bytes.itemsize", needs=["kv_cache_bytes.formula"])
def test_bytes_of_other_number_types(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one stored number: 1, 2, 4 or 8."""
    for itemsize in (4, 8, 1, 2):
        expect_cache_bytes(lab, cache_shape(rng), itemsize=itemsize)


@check("kv_cache_bytes.long_context", needs=["kv_cache_bytes.formula"])
def test_bytes_of_a_longer_context(lab: Lab, rng: np.random.Generator) -> None:
    """Hundreds of thousands of tokens: the count stays an exact integer."""
    # 32-bit integers overflow at 2 GiB, float32 loses the last digits.
    for layers, kv_heads in ((80, 64), (126, 8)):
        expect_cache_bytes(lab, (layers, kv_heads, 128, int(rng.integers(100_000, 400_000)) * 2 + 1))


# ---- in_units(n_bytes)
def _units(lab: Lab, n_bytes: int, hint: str) -> None:
    parts = compare.pair(lab.in_units(n_bytes), "gb", "gib")
    for found, expected, name in zip(parts, truth.in_units(n_bytes), ("gb", "gib"), strict=True):
        compare.close(found, expected, name=name, hint=hint)


@check("in_units.chapter")
def test_units_of_the_exercise(lab: Lab) -> None:
    """The exercise's two caches in GB and in GiB."""
    for shape in (MULTI_HEAD, GROUPED):
        _units(lab, reference.kv_cache_bytes(*shape), "A GB is 10^9 bytes, a GiB is 2^30: the GB number is the larger.")


@check("in_units.one_of_each")
def test_one_gb_and_one_gib(lab: Lab) -> None:
    """10^9 bytes are one GB and less than one GiB; 2^30 bytes are one GiB and more than one GB."""
    # Units that are exchanged, MiB, and powers of 1000 and 1024 that are mixed.
    for n_bytes in (10**9, 2**30):
        _units(lab, n_bytes, "The pair has GB first. GB: 10^9 bytes. GiB: 2^30 bytes.")


@check("in_units.unrounded")
def test_units_are_not_rounded(lab: Lab, rng: np.random.Generator) -> None:
    """Any number of bytes, in both units with all its digits."""
    # Odd numbers: no two digits, no whole GiB, no integer division.
    for n_bytes in (int(rng.integers(10**9, 10**11)) * 2 + 1, int(rng.integers(10**11, 10**12)) * 2 + 1):
        _units(lab, n_bytes, "Give the quotients as they are; rounding is for printing.")


@check("in_units.small", needs=["in_units.unrounded"])
def test_units_of_few_bytes(lab: Lab, rng: np.random.Generator) -> None:
    """Much less than one GB is a small number, and not 0."""
    for n_bytes in (int(rng.integers(100, 10_000)) * 2 + 1, int(rng.integers(10**6, 10**7)) * 2 + 1):
        _units(lab, n_bytes, "Below one GB the quotient is below 1: divide with / and do not round.")


@check("in_units.large", needs=["in_units.unrounded"])
def test_units_of_very_many_bytes(lab: Lab, rng: np.random.Generator) -> None:
    """Petabytes are no exception."""
    # Another unit from some size on, a limit of 32 bits.
    for power in (14, 16):
        _units(lab, int(rng.integers(10**power, 10 ** (power + 1))), "The units are GB and GiB whatever the size.")
