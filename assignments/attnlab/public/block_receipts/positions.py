"""Part 14 in public: a quarter turn, lengths, offsets, both pairings on a short vector, and what is in print."""

from __future__ import annotations

import math

import numpy as np

from attnlab.public.answers import array, same, untouched
from attnlab.public.block_receipts.asks import close
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("positions")

ROPE = "section 7.4, RoPE"
HALVES = "article, section 14"
ALIBI = "section 7.4, ALiBi"

#: 1/√2: both coordinates of a unit vector that was turned by an eighth of a circle.
EIGHTH = math.sqrt(0.5)


@check("rope.one_pair", read=ROPE)
def one_pair_is_turned(lab: Lab) -> None:
    """(1, 0) at position 0 stays; at position 1 it becomes (cos 1, sin 1), and (0, 1) becomes (-sin 1, cos 1)."""
    c, s = math.cos(1.0), math.sin(1.0)
    x = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with untouched("rope", x=x):
        found = array(lab.rope(x, np.array([0, 1, 1])), "rope", (3, 2))
    if not np.abs(found - [[1, 0], [c, s], [-s, c]]).max() <= 1e-9:
        guess = ""
        if same(found[1:], [[c, -s], [s, c]]):
            guess = "It turns the other way round."
        elif same(found[1:], [[c, s], [s, c]]):
            guess = "Both lines have a plus; a rotation needs one minus."
        elif not same(found[0], [1, 0]):
            guess = "At position 0 nothing is turned, and nothing is added either."
        raise Mistake(f"The pair (1, 0) at position 1 became {np.round(found[1], 4).tolist()}.", guess)


@check("rope.offset", read=ROPE, needs=["rope.one_pair"])
def only_the_offset_counts(lab: Lab) -> None:
    """A rotation keeps lengths, and a query and a key that stay 3 apart keep their score, wherever they stand."""
    draw = np.random.default_rng(2).normal
    q, k = draw(size=8), draw(size=8)
    starts = np.array([0, 5, 105, 4093])
    queries = array(lab.rope(np.stack([q] * 4), starts), "rope", (4, 8))
    keys = array(lab.rope(np.stack([k] * 4), starts + 3), "rope", (4, 8))
    lengths = np.linalg.norm(queries, axis=-1)
    if not np.abs(lengths - np.linalg.norm(q)).max() <= 1e-9:
        raise Mistake("A vector has another length after it was turned.", "A rotation changes no length.")
    scores = (queries * keys).sum(axis=-1)
    if not np.ptp(scores) <= 1e-6:
        raise Mistake(f"The four scores are {np.round(scores, 4).tolist()}; they should be one number.", "")
    if abs(scores[0] - float(q @ k)) < 1e-9:
        raise Mistake("Turning changes nothing at all.", "The angle is position times rate.")


@check("rope_halves.pairs", read=HALVES)
def halves_are_paired(lab: Lab) -> None:
    """Of four coordinates, 0 and 2 are a pair that turns by 1, and 1 and 3 one that turns by a hundredth."""
    c, s = math.cos(1.0), math.sin(1.0)
    found = array(lab.rope_halves(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([1])), "rope_halves", (1, 4))[0]
    if not np.abs(found - [c, 0, s, 0]).max() <= 1e-9:
        guess = "Neighbours are paired here; coordinate i goes with i + d/2." if same(found, [c, s, 0, 0]) else ""
        raise Mistake(f"The row (1, 0, 0, 0) at position 1 became {np.round(found, 4).tolist()}.", guess)
    slow = lab.rope_halves(np.array([[0.0, 1.0, 0.0, 0.0]]), np.array([1]))
    close(slow, [[0, math.cos(0.01), 0, math.sin(0.01)]], "the slow pair", looks_like="Pair i turns by base^(-2i/d).")


@check("pairing_permutation.six", read=HALVES)
def six_coordinates(lab: Lab) -> None:
    """Of six coordinates, the first of each pair come first: 0, 2, 4, and then the second: 1, 3, 5."""
    found = array(lab.pairing_permutation(6), "pairing_permutation(6)", (6,)).tolist()
    if found != [0, 2, 4, 1, 3, 5]:
        guess = "This is the permutation the other way round." if found == [0, 3, 1, 4, 2, 5] else ""
        raise Mistake(f"It is {[int(i) for i in found]}.", guess)


@check("pairing_permutation.both", read=HALVES, needs=["rope.one_pair", "rope_halves.pairs", "pairing_permutation.six"])
def one_pairing_becomes_the_other(lab: Lab) -> None:
    """Turning neighbours and then sorting them is the same as sorting first and turning halves."""
    x, where = np.random.default_rng(6).normal(size=(3, 6)), np.array([0, 4, 9])
    order = [int(i) for i in lab.pairing_permutation(6)]
    neighbours = array(lab.rope(x, where), "rope", (3, 6))
    halves = array(lab.rope_halves(x[:, order], where), "rope_halves", (3, 6))
    # A rope that pairs halves is right too; then there is nothing to sort.
    if not (same(neighbours[:, order], halves) or same(neighbours, lab.rope_halves(x, where))):
        raise Mistake("The two pairings do not turn into each other.", "Are the rates the same in both?")


@check("rope_periods.printed", read=HALVES)
def periods_in_print(lab: Lab) -> None:
    """A width of 128: 6.28, 62.8, 628, 6,283 and 54,410 positions for the pairs 0, 16, 32, 48 and 63."""
    found = array(lab.rope_periods(128), "rope_periods(128)", (64,))
    for at, wanted in ((0, 6.283185), (16, 62.83185), (32, 628.3185), (48, 6283.185), (63, 54410.14)):
        if not abs(found[at] / wanted - 1) <= 1e-6:
            guess = ""
            if abs(found[at] * math.tau / wanted - 1) < 1e-6:
                guess = "A full turn is 2π radians."
            elif abs(found[63 - at] / wanted - 1) < 1e-6:
                guess = "The fastest comes first."
            raise Mistake(f"Pair {at} needs {found[at]:.6g} positions; {wanted:g} are in print.", guess)


@check("alibi_slopes.printed", read=ALIBI)
def slopes_of_eight_heads(lab: Lab) -> None:
    """Eight heads have 1/2, 1/4, … 1/256; four have 1/4, 1/16, 1/64, 1/256."""
    close(lab.alibi_slopes(8), [0.5**i for i in range(1, 9)], "alibi_slopes(8)", looks_like="Heads count from 1.")
    guess = "With fewer heads the slopes lie further apart: the last is 1/256 all the same."
    close(lab.alibi_slopes(4), [0.25, 0.0625, 0.015625, 0.00390625], "alibi_slopes(4)", looks_like=guess)


@check("alibi_bias.printed", read=ALIBI)
def bias_in_print(lab: Lab) -> None:
    """With a slope of a half, the last of six rows is -2.5, -2, -1.5, -1, -0.5, 0; the future is minus infinity."""
    found = array(lab.alibi_bias(6, 0.5), "alibi_bias(6, 0.5)", (6, 6), finite=False)
    last, first = found[5].tolist(), found[0].tolist()
    if not np.allclose(last, [-2.5, -2.0, -1.5, -1.0, -0.5, 0.0]):
        guess = "Distance is a penalty: it needs a minus." if np.allclose(last, [2.5, 2, 1.5, 1, 0.5, 0]) else ""
        raise Mistake(f"The last row is {last}.", guess)
    if first[1:] != [-math.inf] * 5:
        raise Mistake(f"The first row is {first}.", "Above the diagonal stands minus infinity, which hides the future.")
