"""Exercise 8, ``rope`` and ``offset_spread``: rotating against adding (section 7.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import exercises as truth

check = Task("exercises", "exercise8")

PAIRS = "Coordinates 2i and 2i+1 are a pair, turned by position · base^(-2i/d)."
#: Where the exercise measures from (section 7.4).
STARTS = (0, 100, 1000, 5000)

Score = Callable[[Any, Any], float]


# ---- rope(x, positions, base=10000.0)
def _turned(lab: Lab, x: np.ndarray, positions: Sequence[int], hint: str = PAIRS, **named: float) -> None:
    """``rope`` of ``x (..., n, d)`` at ``positions (n,)``."""
    _agree(lab.rope(x, np.array(positions), **named), x, positions, hint, **named)


def _agree(found: Any, x: np.ndarray, positions: Sequence[int], hint: str, **named: float) -> None:
    """An angle of size ``p`` is rounded by ``u·p``, so a coordinate by that share of its pair; ``u`` is that of ``x``,
    or of the answer where that is coarser: the result's dtype is not graded.
    """
    single = isinstance(found, np.ndarray) and found.dtype == np.float32
    u = max(compare.roundoff(x), 2.0**-24 if single else 0.0)
    tolerance = compare.SAFETY * u * (1 + max(abs(p) for p in positions)) * 2 * float(np.abs(x).max())
    compare.agree(found, truth.rope(x, positions, **named), tolerance, name="rope", hint=hint)


@check("rope.one_pair")
def test_one_pair_is_turned(lab: Lab, rng: np.random.Generator) -> None:
    """Two coordinates: position 0 leaves them as they are, position 1 turns them by one radian."""
    # One frequency only, so nothing but the rotation itself matters: its sense, its minus sign, adding instead.
    hint = "(a, b) becomes (a cos θ - b sin θ, a sin θ + b cos θ)."
    _turned(lab, rng.normal(size=(2, 2)), [0, 1], hint)
    _turned(lab, rng.normal(size=(4, 2)), [0, 1, 2, 3], hint)


@check("rope.chapter")
def test_neighbouring_coordinates_are_a_pair(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's convention at d = 64: neighbours are a pair, and each pair has a frequency of its own."""
    # Coordinates j and j + d/2 as a pair (the article's convention), the exponent i/d, one frequency for all.
    _turned(lab, rng.normal(size=(5, 64)), [0, 1, 2, 5, 10])


@check("rope.widths", needs=["rope.one_pair"])
def test_other_widths_have_other_frequencies(lab: Lab, rng: np.random.Generator) -> None:
    """Any even width, powers of two or not."""
    # As many tokens as coordinates too: angles with their axes exchanged have the same shape there.
    for n, d in ((3, 4), (6, 6), (4, 2 * int(rng.integers(5, 20)))):
        _turned(lab, rng.normal(size=(n, d)), range(n))


@check("rope.any_positions", needs=["rope.one_pair"])
def test_positions_are_those_that_are_given(lab: Lab, rng: np.random.Generator) -> None:
    """Positions need not start at 0, be in order, or be different."""
    # Counting the rows instead of reading the positions; one block of a cache starts anywhere.
    start = int(rng.integers(3, 30))
    _turned(lab, rng.normal(size=(3, 6)), [start, start + 1, start + 2], "Use the positions that are handed over.")
    _turned(lab, rng.normal(size=(5, 6)), [7, 2, 2, 0, start], "Use the positions that are handed over.")


@check("rope.batch", needs=["rope.one_pair"])
def test_leading_axes_are_carried_along(lab: Lab, rng: np.random.Generator) -> None:
    """Batch and head axes in front: every head is turned alike, and one token is enough."""
    for lead, n in (((2,), 3), ((2, 3), 4), ((3,), 1)):
        x = rng.normal(size=(*lead, n, 6))
        _turned(lab, x, rng.integers(0, 20, size=n).tolist(), "The last two axes are tokens and coordinates.")


@check("rope.base", needs=["rope.one_pair"])
def test_the_base_is_an_argument(lab: Lab, rng: np.random.Generator) -> None:
    """`base` sets the slowest frequency, and is 10,000 if it is left out."""
    # Half a million is Llama 3's. A base that is written in shows in every pair but the first.
    for base in (500_000.0, float(rng.uniform(10, 1000))):
        _turned(lab, rng.normal(size=(4, 8)), [0, 3, 4, 9], "The frequencies are base^(-2i/d).", base=base)


@check("rope.far", needs=["rope.chapter"])
def test_far_positions_are_accurate(lab: Lab, rng: np.random.Generator) -> None:
    """Thousands of positions out, a float64 input keeps its digits: the exercise measures a spread of about 1e-13."""
    # Angles in single precision are off by 1e-4 at position 5000.
    _turned(lab, rng.normal(size=(4, 64)), [0, 105, 1005, 5005], "Compute the angles in double precision.")


@check("rope.lengths_and_offsets", needs=["rope.one_pair"])
def test_lengths_and_offset_scores(lab: Lab, rng: np.random.Generator) -> None:
    """A turned vector keeps its length, and the score of two depends on their offset alone."""
    q, k = rng.normal(size=(2, 16))
    starts = [0, 7, int(rng.integers(20, 60))]
    queries, keys = (
        compare.array(lab.rope(np.stack([one] * 3), np.array(where)), (3, 16), name="rope")
        for one, where in ((q, [s + 5 for s in starts]), (k, starts))
    )
    at_zero = compare.array(lab.rope(np.stack([q, k]), np.array([5, 0])), (2, 16), name="rope")
    # Held against the truth too: what is not turned at all has these properties as well.
    compare.agree(at_zero, truth.rope(np.stack([q, k]), [5, 0]), _loose(q, 5), name="rope", hint=PAIRS)
    lengths = np.linalg.norm(queries, axis=1)
    compare.agree(lengths, [np.linalg.norm(q)] * 3, _loose(q, 60), name="length", hint="A rotation changes no length.")
    scores = np.einsum("id,id->i", queries, keys)
    expected = float(at_zero[0] @ at_zero[1])
    compare.agree(scores, [expected] * 3, _loose(q, 60) * 16 * float(np.abs(k).max()), name="score", hint=PAIRS)


def _loose(x: np.ndarray, position: int) -> float:
    """Room for single precision, as these are properties and no digits: a mistake breaks them by 0.1 and more."""
    return compare.SAFETY * 2.0**-24 * (1 + position) * len(x) * float(np.abs(x).max())


@check("rope.float32", needs=["rope.chapter"])
def test_single_precision_inputs(lab: Lab, rng: np.random.Generator) -> None:
    """A float32 input is turned as well, within its own precision."""
    _turned(lab, rng.normal(size=(3, 8)).astype(np.float32), [0, 4, 11])


@check("rope.unchanged", needs=["rope.one_pair"])
def test_rope_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x and the positions are the same afterwards, and x may be read-only, transposed or strided."""
    x, positions = rng.normal(size=(4, 6)), np.array([0, 2, 3, 9])
    kept = [lab.kept(x), lab.kept(positions)]
    _agree(lab.rope(*kept), x, positions.tolist(), "Both coordinates of a pair come from the values before turning.")
    compare.unchanged("rope", ("x", "positions"), kept, [x, positions])
    for layout in ("readonly", "transposed", "strided"):
        found = lab.rope(lab.layout(x, layout), positions)
        _agree(found, x, positions.tolist(), f"x was {layout} in memory; make a new array for the result.")


# ---- offset_spread(score, offset, starts)
def _spread(lab: Lab, score: Score, offset: int, starts: Sequence[int], hint: str) -> None:
    """The submission's spread of ``score``, which runs here.

    The query stands behind the key in section 7.4; before it counts too, as only the offset is said to be fixed.
    """

    def asked(m: Any, n: Any) -> float:
        places = [_position(place) for place in (m, n)]
        return score(*places)

    found = compare.number(lab.offset_spread(asked, offset, list(starts)), "The spread")
    sides = [truth.offset_spread(one, offset, starts) for one in (score, lambda m, n: score(n, m))]
    nearest = min(sides, key=lambda side: abs(side - found))
    largest = max(abs(score(*pair)) for s in starts for pair in ((s + offset, s), (s, s + offset)))
    compare.agree(found, nearest, 4 * compare.roundoff() * (1 + largest), name="The spread", hint=hint)


def _position(place: Any) -> int:
    """A position as a submission may hand it over; ``TypeError`` for anything else."""
    try:
        return compare.whole(place, "a position")
    except CheckFailed as error:
        raise TypeError(f"score takes two positions; {error.message}") from None


@check("offset_spread.two_kinds")
def test_spread_of_relative_and_absolute_scores(lab: Lab, rng: np.random.Generator) -> None:
    """0 for a score that depends on the offset only, and more for one that depends on where the pair stands."""
    # Both in one check: neither "always 0" nor a number that is written in is right.
    hint = "The largest of the scores minus the smallest, over all starts, at the one offset."
    slope = float(rng.uniform(0.5, 1.5))
    _spread(lab, lambda m, n: slope * (m - n), 5, STARTS, hint)
    _spread(lab, lambda m, n: slope * (m - n) + math.sin(m) - math.cos(2 * n), 5, STARTS, hint)


@check("offset_spread.chapter", needs=["offset_spread.two_kinds"])
def test_spread_of_the_exercise(lab: Lab, rng: np.random.Generator) -> None:
    """A query and a key of width 64 at offset 5, with sinusoidal positions added to both."""
    q, k = rng.normal(size=(2, 64))
    turns = 10000.0 ** (-np.arange(32) / 32)

    def added(m: int, n: int) -> float:
        places = [np.stack([np.sin(p * turns), np.cos(p * turns)], axis=-1).reshape(64) for p in (m, n)]
        return float((q + places[0]) @ (k + places[1]))

    _spread(lab, added, 5, STARTS, "One score per start: score(start + offset, start).")


@check("offset_spread.extremes", needs=["offset_spread.two_kinds"])
def test_spread_is_between_the_extremes(lab: Lab, rng: np.random.Generator) -> None:
    """The largest and the smallest score may belong to any two starts, and both may be negative."""
    # Neither first nor last start; all below 0, so that a largest absolute score is no spread; no standard deviation.
    starts = [0, 3, 10, 40, 41]
    heights = rng.permutation([-9.0, -7.5, -7.0, -6.5, -2.0])
    while {heights[0], heights[-1]} & {-9.0, -2.0}:
        heights = rng.permutation(heights)
    at = dict(zip(starts, heights.tolist(), strict=True))
    hint = "The extremes are at starts in the middle; take max and min over all starts."
    _spread(lab, lambda m, n: at.get(min(m, n), 0.0), 2, starts, hint)


@check("offset_spread.offsets", needs=["offset_spread.two_kinds"])
def test_spread_at_other_offsets(lab: Lab, rng: np.random.Generator) -> None:
    """The offset and the starts are those that are given."""
    # Offset 0, a large one, one start alone; the score changes with both positions and with their product.
    a, b = (float(c) for c in rng.uniform(0.5, 2.0, size=2))

    def score(m: int, n: int) -> float:
        return a * math.sin(0.3 * m) + b * math.cos(0.2 * n) + math.sin(0.01 * m * n)

    for offset, starts in ((0, [0, 4, 9]), (200, [1, 50, 75]), (int(rng.integers(6, 40)), [2, 11, 13, 90])):
        _spread(lab, score, offset, starts, "The pairs are (start + offset, start) for every start that is given.")


@check("offset_spread.small", needs=["offset_spread.two_kinds"])
def test_small_spreads_are_reported(lab: Lab, rng: np.random.Generator) -> None:
    """A spread of 1e-9 is reported as it is: it is not rounded to 0, and a spread has no sign."""
    size = float(rng.uniform(1e-9, 9e-9))
    hint = "Give the difference as it is, not rounded and not divided by the score."
    _spread(lab, lambda m, n: size * (min(m, n) % 7), 5, STARTS, hint)
    _spread(lab, lambda m, n: -size * (min(m, n) % 7), 5, STARTS, hint)
