"""Exercise 10, ``weight_bytes``: what all parameters take (sections 7.7 and 7.13)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import exercises as truth

check = Task("exercises", "exercise10")


def _expect(lab: Lab, parameters: int, bits: Iterable[int], hint: str) -> None:
    """Bytes, as any kind of number. All bits together are a multiple of 8, so that no byte is shared."""
    for width in bits:
        name = f"weight_bytes at {width} bits"
        compare.close(lab.weight_bytes(parameters, width), truth.weight_bytes(parameters, width), name=name, hint=hint)


def _parameters(rng: np.random.Generator) -> int:
    return int(rng.integers(10**8, 10**10)) * 8


@check("weight_bytes.chapter")
def test_weights_of_the_exercise(lab: Lab) -> None:
    """All 120 billion parameters, at 16, 8 and 4 bits, in bytes."""
    # The 5 billion that are active, GB instead of bytes, GiB: each is off by more than rounding.
    hint = "Every expert may be chosen, so all parameters must be there; 8 bits are a byte, and bytes are asked."
    _expect(lab, 120 * 10**9, (16, 8, 4), hint)


@check("weight_bytes.whole_bytes")
def test_weights_of_whole_bytes(lab: Lab, rng: np.random.Generator) -> None:
    """Any number of parameters at 8, 16 and 32 bits."""
    for _ in range(2):
        _expect(lab, _parameters(rng), (8, 16, 32), "Bits of one parameter, over 8, times the parameters.")


@check("weight_bytes.below_a_byte")
def test_weights_below_a_byte(lab: Lab, rng: np.random.Generator) -> None:
    """Four, two or one bit: several parameters share a byte."""
    # bits // 8 is 0 here.
    for _ in range(2):
        _expect(lab, _parameters(rng), (4, 2, 1), "Multiply before you divide by 8: half a byte is not nothing.")


@check("weight_bytes.odd_widths", needs=["weight_bytes.whole_bytes"])
def test_weights_of_odd_widths(lab: Lab, rng: np.random.Generator) -> None:
    """Widths such as 3, 5, 6 and 12 bits, as quantised files have them."""
    # A table of the usual widths, or rounding up to whole bytes.
    _expect(lab, _parameters(rng), (3, 5, 6, 12), "The formula holds for any number of bits.")


@check("weight_bytes.sizes", needs=["weight_bytes.whole_bytes"])
def test_weights_of_small_and_large_models(lab: Lab, rng: np.random.Generator) -> None:
    """A thousand parameters, ten trillion, and numbers that 8 does not divide."""
    for scale in (10**2, 10**12):
        parameters = int(rng.integers(10, 99)) * scale * 8
        _expect(lab, parameters, (16, 4), "Bytes at every size; no GB, and no 32-bit numbers.")
    # An odd number of them: parameters // 8 first loses up to seven, which shows where they are few.
    odd = 2 * int(rng.integers(100, 1000)) + 1
    _expect(lab, odd, (16, 24), "Multiply by the bits before you divide by 8: parameters need not come in eights.")
