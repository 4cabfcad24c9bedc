"""Exercise 5, ``row_at_scale``: içti's weights with larger and smaller scores (sections 7.1 and 7.13)."""

from __future__ import annotations

import math

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.reference import exercises as truth

check = Task("exercises", "exercise5")

BOTH = "Both projections are multiplied by s, so a score, a product of two, grows by s times s."


def _expect(lab: Lab, scale: float, hint: str = BOTH) -> None:
    """The row ``(3,)`` at a scale."""
    # The law of compare.py for scores that are scale² times the chapter's.
    Q, K = chapter.X[2:] @ chapter.W_Q * scale, chapter.X @ chapter.W_K * scale
    expected = truth.row_at_scale(scale)
    compare.agree(
        lab.row_at_scale(scale), expected, compare.weights_tolerance(Q, K), name=f"row_at_scale({scale:.4g})", hint=hint
    )


@check("row_at_scale.chapter")
def test_row_of_the_exercise(lab: Lab) -> None:
    """içti's row at s = 1/√3, and at s = 1, where it is the chapter's own."""
    # The two together: a row that is written in is at most one of them.
    for scale in (1 / math.sqrt(3), 1.0):
        _expect(lab, scale)


@check("row_at_scale.any")
def test_row_at_any_scale(lab: Lab, rng: np.random.Generator) -> None:
    """Other scales, above and below 1."""
    # One matrix only (s instead of s²), the scale on √d_k, or a row of another token.
    for scale in (rng.uniform(0.3, 0.8), rng.uniform(1.2, 2.0), rng.uniform(0.85, 0.95)):
        _expect(lab, float(scale))


@check("row_at_scale.flat")
def test_row_at_small_scales(lab: Lab, rng: np.random.Generator) -> None:
    """The smaller the scale, the flatter the row; at 0 every token weighs the same."""
    # A division by s ends at 0; a row that is normalised by its own size never gets flat.
    for scale in (0.0, float(rng.uniform(0.05, 0.2)), float(rng.uniform(0.3, 0.5))):
        _expect(lab, scale)


@check("row_at_scale.sharp", needs=["row_at_scale.any"])
def test_row_at_large_scales(lab: Lab, rng: np.random.Generator) -> None:
    """The larger the scale, the more the largest score takes; the row stays finite."""
    # Scores near 20 000 overflow in exp unless the largest is subtracted first.
    for scale in (float(rng.uniform(2.5, 4.0)), 100.0):
        _expect(lab, scale, "Subtract the largest score of the row before exp; see the lab, step 1.")


@check("row_at_scale.sign", needs=["row_at_scale.any"])
def test_row_at_a_negative_scale(lab: Lab, rng: np.random.Generator) -> None:
    """A negative scale on both matrices gives the same row as its absolute value."""
    for scale in (-1.0, -float(rng.uniform(0.3, 0.8))):
        _expect(lab, scale)


@check("row_at_scale.each_call_alone", needs=["row_at_scale.any"])
def test_scales_do_not_pile_up(lab: Lab, rng: np.random.Generator) -> None:
    """Every call starts from the chapter's matrices: scales do not pile up."""
    # W_q *= s in place: the second call sees a matrix that is scaled already.
    for scale in rng.uniform(0.5, 0.9, size=3):
        _expect(lab, float(scale), "An earlier scale is still in the matrices; make new ones with W_q * s.")
