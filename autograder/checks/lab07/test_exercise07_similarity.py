"""Exercise 7, ``position_similarity``: the dot product of two sinusoidal positions (section 7.4)."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import exercises as truth

check = Task("exercises", "exercise7")

FORMULA = "The sum over i = 0 … d/2 - 1 of cos(k ω_i), with ω_i = 10000^(-2i/d)."


def _expect(lab: Lab, offset: int, d: int, hint: str = FORMULA) -> None:
    """The sum of ``d/2`` cosines.

    An angle of size ``k`` is rounded by ``u·k``, and so is its cosine; ``d/2`` of them are added. The single precision
    of a table of positions in float32 is as right here as double, so ``u`` is 2^-24; a wrong formula is off by more.
    """
    name = f"position_similarity({offset}, {d})"
    found = compare.number(lab.position_similarity(offset, d), name)
    tolerance = compare.SAFETY * 2.0**-24 * (1 + offset) * d / 2
    compare.agree(found, truth.position_similarity(offset, d), tolerance, name=name, hint=hint)


@check("position_similarity.chapter")
def test_similarity_of_the_table(lab: Lab) -> None:
    """d = 64 at the offsets 16 and 32, where the more distant pair is the more similar one."""
    for offset in (16, 32):
        _expect(lab, offset, 64)


@check("position_similarity.near")
def test_similarity_of_near_positions(lab: Lab, rng: np.random.Generator) -> None:
    """At offset 0 every cosine is 1; at offset 1 all but the fast ones still nearly are."""
    # Two offsets and fresh widths: d/2 alone, or d, is not enough. A sine in place of the cosine gives 0 at 0.
    for d in (2 * int(rng.integers(3, 9)), 2 * int(rng.integers(10, 40))):
        for offset in (0, 1):
            _expect(lab, offset, d)


@check("position_similarity.offsets")
def test_similarity_at_other_offsets(lab: Lab, rng: np.random.Generator) -> None:
    """Any offset up to a hundred, at d = 64."""
    for offset in rng.integers(2, 100, size=4):
        _expect(lab, int(offset), 64)


@check("position_similarity.widths", needs=["position_similarity.offsets"])
def test_similarity_at_other_widths(lab: Lab, rng: np.random.Generator) -> None:
    """Other widths have other frequencies, and other numbers of them; the smallest width has one."""
    # Widths that are no powers of two: an exponent i/d, or one over d/2 - 1, agrees at most in the first frequency.
    for d in (2, 6, 2 * int(rng.integers(20, 60)) + 10):
        _expect(lab, int(rng.integers(3, 40)), d)


@check("position_similarity.far", needs=["position_similarity.offsets"])
def test_similarity_far_apart(lab: Lab, rng: np.random.Generator) -> None:
    """Thousands of positions apart the fast frequencies have turned many times."""
    # An approximation for small angles, 1 - x²/2, is far off here.
    for _ in range(2):
        _expect(lab, int(rng.integers(1000, 4000)), 2 * int(rng.integers(16, 40)))
