"""Exercise 5 in public: scale 1, scale 0, and how ratios of weights grow with the scale."""

from __future__ import annotations

import numpy as np

from attnlab import chapter
from attnlab.public.answers import Array, agree, array
from attnlab.public.declare import Checks, Lab

check = Checks("exercise5")

EXAMPLE = "section 7.2"
READ = "section 7.13, exercise 5"


def _row(lab: Lab, scale: float) -> Array:
    return array(lab.row_at_scale(scale), f"row_at_scale({scale:g})", (3,))


@check("row_at_scale.one", read=EXAMPLE)
def at_one_it_is_the_chapters(lab: Lab) -> None:
    """At s = 1 it is içti's row of the chapter: 0.4230, 0.5012, 0.0759."""
    guess = "içti is the last token; its row is where it looks, and its scores are divided by √2."
    agree(_row(lab, 1.0), chapter.PRINTED["weights"][2], chapter.PRINTED_TOLERANCE, "row_at_scale(1)", guess)


@check("row_at_scale.zero", read=READ, needs=["row_at_scale.one"])
def at_zero_it_is_flat(lab: Lab) -> None:
    """At s = 0 all scores are 0, and each of the three weights is a third."""
    guess = "The scale belongs to the matrices, not to the weights."
    agree(_row(lab, 0.0), np.full(3, 1 / 3), 1e-9, "row_at_scale(0)", guess)


@check("row_at_scale.both", read=READ, needs=["row_at_scale.one"])
def both_matrices_are_scaled(lab: Lab) -> None:
    """At s the logarithm of the ratio of two weights is s² times what it is at 1, for every pair."""
    at_one = np.log(_row(lab, 1.0))
    for scale in (0.5, 2.0):
        found = np.log(_row(lab, scale))
        apart, before = found - found[0], at_one - at_one[0]
        guess = ""
        if np.allclose(apart, scale * before, atol=1e-9):
            guess = "Only one of the two matrices is scaled."
        elif np.allclose(apart * scale**2, before, atol=1e-9):
            guess = "It is divided by s where it should be multiplied."
        agree(apart, scale**2 * before, 1e-9, f"row_at_scale({scale:g}), differences of the logarithms", guess)


@check("row_at_scale.large", read="section 7.2, step 4", needs=["row_at_scale.both"])
def a_large_scale_is_finite(lab: Lab) -> None:
    """At s = 100 the row is finite, and sütü takes everything."""
    guess = "exp of a score of some thousands overflows: subtract the largest score first."
    agree(_row(lab, 100.0), np.array([0.0, 1.0, 0.0]), 1e-9, "row_at_scale(100)", guess)
