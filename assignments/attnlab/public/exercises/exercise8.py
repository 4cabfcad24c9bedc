"""Exercise 8 in public: one vector at a time, and scores whose spread is known."""

from __future__ import annotations

import math

import numpy as np

from attnlab.public.answers import Array, agree, array, number, untouched
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise8")

ROTATE = "section 7.4, RoPE: rotate instead of add"
READ = "section 7.13, exercise 8"


def _turned(lab: Lab, x: Array, positions: list[int]) -> Array:
    return array(lab.rope(x.copy(), np.array(positions)), "rope", x.shape)


@check("rope.position_zero", read=ROTATE)
def nothing_turns_at_zero(lab: Lab) -> None:
    """At position 0 nothing is turned, and the shape stays (..., n, d)."""
    for shape in ((2, 6), (3, 2, 4)):
        x = np.random.default_rng(2).normal(size=shape)
        agree(_turned(lab, x, [0, 0]), x, 1e-6, f"rope of shape {shape} at position 0", "Something is added to it.")


@check("rope.one_radian", read=ROTATE, needs=["rope.position_zero"])
def one_pair_at_one_radian(lab: Lab) -> None:
    """With d = 2, position 1 turns (1, 0) into (cos 1, sin 1), and (0, 1) into (-sin 1, cos 1)."""
    c, s = math.cos(1), math.sin(1)
    found, wanted = _turned(lab, np.eye(2), [1, 1]), np.array([[c, s], [-s, c]])
    guess = ""
    if np.allclose(found, wanted.T, atol=1e-6):
        guess = "It turns the other way round."
    elif not np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6):
        guess = "Lengths change, so it is no rotation: one of the two lines has a minus sign, and nothing is added."
    agree(found, wanted, 1e-6, "rope of the two unit vectors at position 1", guess)


@check("rope.neighbours", read=ROTATE, needs=["rope.one_radian"])
def neighbours_are_a_pair(lab: Lab) -> None:
    """With d = 4, coordinates 0 and 1 are a pair, and 2 and 3, which turns a hundred times more slowly."""
    found = _turned(lab, np.eye(4), [1, 1, 1, 1])
    if abs(found[0, 2]) > 1e-6:
        raise Mistake("The first coordinate is turned into the third.", "The chapter pairs neighbours, 2i with 2i + 1.")
    angles = [float(np.arctan2(found[at, at + 1], found[at, at])) for at in (0, 2)]
    for name, angle, wanted in zip(("first", "second"), angles, (1.0, 0.01), strict=True):
        if not abs(angle - wanted) < 1e-6:
            guess = "The exponent of pair i is 2i/d." if name == "second" and abs(angle - 0.1) < 1e-6 else ""
            raise Mistake(f"At position 1 the {name} pair turns by {angle:.4g} instead of {wanted:g} radians.", guess)


@check("rope.offset_only", read=ROTATE, needs=["rope.neighbours"])
def only_the_offset_counts(lab: Lab) -> None:
    """Lengths stay, and the score of two vectors at distance 5 is the same wherever they are."""
    q, k = np.random.default_rng(4).normal(size=(2, 16))
    starts = [0, 9, 100]
    queries, keys = _turned(lab, np.stack([q] * 3), [s + 5 for s in starts]), _turned(lab, np.stack([k] * 3), starts)
    lengths = np.linalg.norm(queries, axis=1)
    agree(lengths, np.full(3, np.linalg.norm(q)), 1e-5, "The lengths of the turned vectors", "Is it a rotation?")
    scores = np.einsum("id,id->i", queries, keys)
    guess = "Use the positions that are given, not the numbers of the rows."
    agree(scores, np.full(3, scores[0]), 1e-4, "The scores at the three places", guess)


@check("rope.unchanged", read=READ, needs=["rope.neighbours"])
def x_stays_as_it_is(lab: Lab) -> None:
    """x and the positions are as they were afterwards."""
    x, positions = np.random.default_rng(6).normal(size=(3, 4)), np.array([2, 3, 4])
    with untouched("rope", x=x, positions=positions):
        lab.rope(x, positions)


@check("offset_spread.two_kinds", read=READ)
def relative_and_absolute_scores(lab: Lab) -> None:
    """A score of the offset alone has a spread of 0; one that grows with the place has that of its extremes."""
    starts = [10, 0, 40, 20]
    for name, score, wanted in (
        ("m - n", lambda m, n: float(m - n), 0.0),
        ("m + n", lambda m, n: float(m + n), 80.0),
        ("-(m + n)", lambda m, n: -float(m + n), 80.0),
    ):
        found = number(lab.offset_spread(score, 5, starts), "offset_spread")
        if not abs(found - wanted) < 1e-9:
            guess = "The starts are in no order: take the largest and the smallest of all scores."
            if wanted == 0:
                guess = "score gets start + offset and start."
            said = f"For the score {name} and the starts {starts} the spread is {found:g} instead of {wanted:g}."
            raise Mistake(said, guess)


@check("offset_spread.asks", read=READ, needs=["offset_spread.two_kinds"])
def asked_at_the_offset(lab: Lab) -> None:
    """score is asked at the given offset, once or more for every start, with the query's position first."""
    asked: list[tuple[int, int]] = []

    def score(m: int, n: int) -> float:
        asked.append((int(m), int(n)))
        return 0.0

    lab.offset_spread(score, 7, [1, 20, 300])
    if set(asked) != {(8, 1), (27, 20), (307, 300)}:
        said = ", ".join(str(pair) for pair in asked[:4])
        raise Mistake(f"With the offset 7 and the starts 1, 20 and 300, score was asked at {said or 'nothing'}.")
