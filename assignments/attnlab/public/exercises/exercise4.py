"""Exercise 4 in public: the chapter's own weights, and how much each weight must move against its neighbour."""

from __future__ import annotations

import math

import numpy as np

from attnlab import chapter
from attnlab.picture import shares
from attnlab.public.answers import Array, agree, array
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise4")

EXAMPLE = "section 7.2"
READ = "section 7.13, exercise 4"


def _weights(lab: Lab, side: str, row: tuple[float, float]) -> Array:
    name = f'weights_with_constant_row("{side}", {list(row)})'
    found = array(lab.weights_with_constant_row(side, np.array(row)), name, (3, 3))
    if not np.allclose(found.sum(axis=1), 1, atol=1e-6):
        guess = "Softmax runs over the keys, along the last axis."
        picture = shares(found, "Your weights; every row must sum to 1")
        raise Mistake(f"The rows of {name} do not sum to 1.", guess, picture)
    return found


def _printed(lab: Lab, side: str, row: tuple[float, float], name: str, guess: str) -> None:
    found, table = _weights(lab, side, row), chapter.PRINTED["weights"]
    agree(found, table, chapter.PRINTED_TOLERANCE, f"{name}, against the chapter's table", guess)


@check("weights_with_constant_row.zeros", read=EXAMPLE)
def a_row_of_zeros(lab: Lab) -> None:
    """With a row of zeros, on either side, the weights are those of the chapter's table."""
    guess = "Scale, axis, or another matrix than the chapter's."
    for side in ("query", "key"):
        _printed(lab, side, (0.0, 0.0), f"Zeros on the {side} side", guess)


@check("weights_with_constant_row.key", read=READ, needs=["weights_with_constant_row.zeros"])
def the_key_side_moves_nothing(lab: Lab) -> None:
    """On the key side no row moves any weight."""
    for row in ((0.9, -0.7), (-3.0, 2.0)):
        _printed(lab, "key", row, f"{list(row)} on the key side", "Is the row in W_k, and in its fourth row?")


@check("weights_with_constant_row.query", read=READ, needs=["weights_with_constant_row.zeros"])
def the_query_side_moves_by_the_keys(lab: Lab) -> None:
    """On the query side a row moves the weights of two keys apart, by half its product with their difference."""
    before, keys = _weights(lab, "query", (0.0, 0.0)), chapter.PRINTED["keys"]
    for row in ((1.0, 0.0), (0.0, 1.0), (-0.4, 0.8)):
        moved = np.log(_weights(lab, "query", row) / before)
        shift = 0.5 * keys @ np.array(row) / math.sqrt(2)
        apart, wanted = moved - moved[:, :1], np.broadcast_to(shift - shift[0], (3, 3))
        if np.allclose(apart, 0, atol=1e-9):
            guess = "It is in no matrix, or in the one of the keys."
            raise Mistake(f"{list(row)} on the query side moves nothing.", guess)
        guess = ""
        if np.allclose(apart, 2 * wanted, atol=1e-6) or np.allclose(2 * apart, wanted, atol=1e-6):
            guess = "The constant feature is 0.5: that is in X already."
        elif np.allclose(apart, -wanted, atol=1e-6):
            guess = "The sign of the row is turned round."
        agree(apart, wanted, 1e-6, f"{list(row)} on the query side, how far the logarithms of the weights move", guess)


@check("weights_with_constant_row.each_call_alone", read=READ, needs=["weights_with_constant_row.query"])
def each_call_starts_anew(lab: Lab) -> None:
    """A call knows nothing of the one before it."""
    _weights(lab, "query", (1.0, 1.0))
    guess = "The row of an earlier call is still in the matrix: copy it before you change it."
    _printed(lab, "key", (0.0, 0.0), "After a call with another row", guess)
