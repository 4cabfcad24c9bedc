"""Exercise 7 in public: the chapter's table, and the case with a single frequency."""

from __future__ import annotations

import math

from attnlab.public.answers import number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise7")

READ = "section 7.4, why sinusoids"

#: The column of the chapter's table for d = 64.
TABLE = {0: 32.0, 1: 30.916832, 2: 28.303862, 16: 19.372820, 32: 19.553972, 64: 13.906089}


def _similarity(lab: Lab, offset: int, d: int) -> float:
    return number(lab.position_similarity(offset, d), f"position_similarity({offset}, {d})")


@check("position_similarity.zero", read=READ)
def at_offset_zero(lab: Lab) -> None:
    """At offset 0 every cosine is 1, and there are d/2 of them."""
    for d in (4, 10, 64):
        found = _similarity(lab, 0, d)
        if not abs(found - d / 2) < 1e-6:
            guess = {0.0: "A sine is 0 there; cosines are summed."}
            guess |= {1.0: "The sum is asked, not the mean, and not the cosine between the vectors."}
            guess |= {float(d): "Two columns share one frequency, and make one cosine."}
            said = f"position_similarity(0, {d}) is {found:.6g} instead of {d / 2:g}."
            raise Mistake(said, guess.get(found, ""))


@check("position_similarity.one_frequency", read=READ, needs=["position_similarity.zero"])
def a_single_frequency(lab: Lab) -> None:
    """At d = 2 the only frequency is 1: the similarity is the cosine of the offset, in radians."""
    for offset in (1, 3, 10):
        found = _similarity(lab, offset, 2)
        if not abs(found - math.cos(offset)) < 1e-5:
            guess = "Angles are in radians." if abs(found - math.cos(math.radians(offset))) < 1e-5 else ""
            raise Mistake(f"position_similarity({offset}, 2) is {found:.6g}, and not the cosine of {offset}.", guess)


@check("position_similarity.table", read=READ, needs=["position_similarity.zero"])
def as_in_the_table(lab: Lab) -> None:
    """At d = 64 it gives the chapter's table; at 32 it is larger than at 16."""
    for offset, wanted in TABLE.items():
        found = _similarity(lab, offset, 64)
        if not abs(found - wanted) < 1e-3:
            guess = "The exponent of the frequency of pair i is 2i/d." if offset else ""
            raise Mistake(f"position_similarity({offset}, 64) is {found:.6f}; the table has {wanted:.6f}.", guess)
