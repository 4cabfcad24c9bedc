"""Part 14, positions: ``rope`` in both pairings, its periods, and ALiBi (section 7.4; article, section 14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block as truth

check = Task("block_receipts", "positions")

# ---- rope(x, positions, base=10000.0)
_TURN = "Pair i is turned by position · base^(-2i/d): (a cos - b sin, a sin + b cos)."


def _tolerance(x: np.ndarray, positions: Sequence[int]) -> float:
    """An angle of size ``p`` is rounded by ``u·p``, and so is each coordinate, by that share of its pair."""
    farthest = max(abs(int(p)) for p in positions)
    return 2 * compare.SAFETY * compare.roundoff(x) * (1 + farthest) * float(np.abs(x).max())


def _rope(lab: Lab, x: np.ndarray, positions: Sequence[int], hint: str = _TURN, **named: float) -> None:
    _either(lab.rope(x, np.array(positions), **named), x, positions, hint, **named)


def _either(answer: Any, x: np.ndarray, positions: Sequence[int], hint: str, **named: float) -> None:
    """Neighbours as pairs (the chapter) or halves (the article): a permutation of each other, and both are right."""
    found = compare.array(answer, x.shape, name="rope")
    both = [truth.rope(x, positions, **named, halves=halves) for halves in (False, True)]
    nearest = min(both, key=lambda expected: float(np.abs(found - expected).max()))
    compare.agree(found, nearest, _tolerance(x, positions), name="rope", hint=hint)


@check("rope.one_pair")
def test_one_pair_is_rotated(lab: Lab, rng: np.random.Generator) -> None:
    """Two coordinates are turned like the hand of a clock that runs backwards, by one radian a position."""
    # Only the rotation matters here: two plus signs change the length, the wrong sign turns the other way, and adding a
    # position vector is no rotation at all.
    _rope(lab, rng.normal(size=(4, 2)), [0, 1, 2, 5], "(a, b) becomes (a cos θ - b sin θ, a sin θ + b cos θ).")


@check("rope.frequencies", needs=["rope.one_pair"])
def test_each_pair_has_its_frequency(lab: Lab, rng: np.random.Generator) -> None:
    """Each pair turns more slowly than the one before, by the same ratio."""
    # The exponent i/d instead of 2i/d, one frequency for all, and d for the model's width show from the second pair on.
    for n, d in ((5, 8), (4, 6), (6, 6)):
        _rope(lab, rng.normal(size=(n, d)), range(n))


@check("rope.positions", needs=["rope.one_pair"])
def test_rotation_by_given_positions(lab: Lab, rng: np.random.Generator) -> None:
    """Positions come from outside: they may start anywhere, repeat, and be thousands."""
    # Rows counted from 0 instead; angles in single precision are off by 1e-4 at position 5,000.
    start = int(rng.integers(3, 40))
    for positions in ([start, start + 1, start + 2], [7, 7, 2], [0, 1000, 5000]):
        _rope(lab, rng.normal(size=(3, 16)), positions, f"Use the positions that are handed over. {_TURN}")


@check("rope.batch", needs=["rope.one_pair"])
def test_rotation_of_heads(lab: Lab, rng: np.random.Generator) -> None:
    """Batch and head axes stand in front, and every head is turned alike."""
    for lead, n in (((3,), 3), ((2, 3), 4), ((2,), 1)):
        _rope(lab, rng.normal(size=(*lead, n, 6)), range(2, 2 + n), "The last two axes are tokens and coordinates.")


@check("rope.base", needs=["rope.one_pair"])
def test_rotation_with_another_base(lab: Lab, rng: np.random.Generator) -> None:
    """`base` sets the slowest frequency; it is 10,000 if it is left out, and 500,000 in Llama 3."""
    for base in (500_000.0, float(rng.uniform(20, 900))):
        _rope(lab, rng.normal(size=(3, 8)), [1, 4, 9], "The rates are base^(-2i/d).", base=base)


@check("rope.offset_only", needs=["rope.one_pair"])
def test_scores_depend_on_the_offset(lab: Lab, rng: np.random.Generator) -> None:
    """The same query and key, the same distance apart, score the same wherever they stand, and keep their lengths."""
    q, k = rng.normal(size=(2, 64))
    starts = [0, 100, 1000, 5000]
    turned = {}
    for name, vector, offset in (("query", q, 5), ("key", k, 0)):
        where = [s + offset for s in starts]
        rows = np.stack([vector] * len(starts))
        turned[name] = compare.array(lab.rope(rows, np.array(where)), rows.shape, name="rope")
        # Held against the truth too: what is not turned at all has these properties as well.
        _either(turned[name], rows, where, _TURN)
        lengths = np.linalg.norm(turned[name], axis=-1)
        norm = float(np.linalg.norm(vector))
        compare.agree(lengths, [norm] * 4, 1e-10 * norm, name="the length", hint="A rotation changes no length.")
    scores = np.einsum("id,id->i", turned["query"], turned["key"])
    compare.agree(scores, [scores[0]] * 4, 1e-9, name="the score", hint="Section 7.4: 1e-13 against a spread of 26.")


@check("rope.unchanged", needs=["rope.one_pair"])
def test_rotation_is_not_in_place(lab: Lab, rng: np.random.Generator) -> None:
    """x is the same afterwards, and may be strided or single precision."""
    # The first of a pair written over before the second is computed from it is wrong, and spoils the caller's array.
    for layout in ("c", "strided"):
        x = rng.normal(size=(3, 6)).astype(np.float32)
        kept = lab.kept(x, layout)
        _either(lab.rope(kept, np.arange(3)), x, range(3), "Compute both coordinates from the old ones.")
        compare.unchanged("rope", ["x"], [kept], [x])


# ---- rope_halves(x, positions, base=10000.0)
_HALVES = "Coordinate i is paired with i + d/2, as in section 14 of the article."


def _halves(lab: Lab, x: np.ndarray, positions: Sequence[int], **named: float) -> None:
    found = lab.rope_halves(x, np.array(positions), **named)
    expected = truth.rope(x, positions, **named, halves=True)
    compare.agree(found, expected, _tolerance(x, positions), name="rope_halves", hint=_HALVES)


@check("rope_halves.pairing")
def test_halves_are_paired(lab: Lab, rng: np.random.Generator) -> None:
    """Coordinate i and coordinate i + d/2 are a pair."""
    # Neighbours as pairs, angles repeated in place of tiled, and halves with the wrong sign show from d = 4 on.
    for n, d in ((4, 4), (3, 10)):
        _halves(lab, rng.normal(size=(n, d)), range(n))


@check("rope_halves.batch", needs=["rope_halves.pairing"])
def test_halves_of_heads_and_far_positions(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes, positions that start anywhere, and thousands of them."""
    for lead, positions in (((2, 3), [4, 5, 9]), ((3,), [0, 2000, 4093])):
        _halves(lab, rng.normal(size=(*lead, 3, 8)), positions)


@check("rope_halves.base", needs=["rope_halves.pairing"])
def test_halves_with_another_base(lab: Lab, rng: np.random.Generator) -> None:
    """`base` is an argument here as well."""
    for base in (500_000.0, 100.0):
        _halves(lab, rng.normal(size=(3, 6)), [0, 3, 8], base=base)


@check("rope_halves.unchanged", needs=["rope_halves.pairing"])
def test_rotation_of_halves_is_not_in_place(lab: Lab, rng: np.random.Generator) -> None:
    """x and the positions are the same afterwards."""
    # Two halves of x that are written over, each with its turned one, give the right answer once.
    x, positions = rng.normal(size=(3, 6)), np.array([1, 4, 9])
    kept = [lab.kept(x), lab.kept(positions)]
    expected = truth.rope(x, [1, 4, 9], halves=True)
    compare.agree(lab.rope_halves(*kept), expected, _tolerance(x, [9]), name="rope_halves", hint=_HALVES)
    compare.unchanged("rope_halves", ("x", "positions"), kept, (x, positions))


# ---- pairing_permutation(d)
_TAKE = "It says for each coordinate of the halves pairing which neighbour-paired coordinate it is."


def _order(lab: Lab, d: int) -> None:
    found = lab.pairing_permutation(d)
    compare.agree(found, truth.pairing_permutation(d), 0.0, name="p", hint=_TAKE)
    # The right positions as floats, which no array takes as an index.
    if np.asarray(found).dtype.kind not in "iu":
        raise CheckFailed("p is in the right order; its positions must be integers, so that x[..., p] works.")


@check("pairing_permutation.order")
def test_evens_then_odds(lab: Lab, rng: np.random.Generator) -> None:
    """The permutation that turns one pairing into the other, for any even width."""
    # The inverse is another permutation from d = 6 on: it interleaves.
    for d in (6, 10, 2 * int(rng.integers(6, 20))):
        _order(lab, d)


@check("pairing_permutation.narrow", needs=["pairing_permutation.order"])
def test_permutation_of_narrow_heads(lab: Lab) -> None:
    """A width of 2 has one pair and nothing to move; a width of 4 moves the middle."""
    for d in (2, 4):
        _order(lab, d)


@check("pairing_permutation.as_index", needs=["pairing_permutation.order"])
def test_permutation_is_an_index(lab: Lab, rng: np.random.Generator) -> None:
    """As an index it takes turned neighbours to turned halves: `rope(x)[..., p]` is `rope_halves(x[..., p])`."""
    for d in (8, 12):
        found = compare.array(lab.pairing_permutation(d), (d,), name="p")
        if sorted(found.tolist()) != list(range(d)):
            raise CheckFailed("p should hold every index from 0 to d - 1 once.")
        p, x = found.astype(int), rng.normal(size=(3, d))
        neighbours = truth.rope(x, [0, 3, 7])[:, p]
        halves = truth.rope(x[:, p], [0, 3, 7], halves=True)
        compare.agree(neighbours, halves, _tolerance(x, [7]), name="rope(x)[..., p]", hint=_TAKE)


# ---- rope_periods(head_dim, base=10000.0)
_PERIOD = "A full turn is 2π, and pair i turns by base^(-2i/head_dim) a position."


def _periods(lab: Lab, head_dim: int, **named: float) -> None:
    expected = np.array(truth.rope_periods(head_dim, **named))
    # As shares of the truth: they go from 6 to many thousands.
    found = compare.array(lab.rope_periods(head_dim, **named), expected.shape, name="periods") / expected
    compare.agree(found, np.ones(len(expected)), 1e-9, name="periods", of=compare.RELATIVE, hint=_PERIOD)


@check("rope_periods.turns")
def test_positions_in_a_full_turn(lab: Lab, rng: np.random.Generator) -> None:
    """How many positions each pair needs for a full turn, the fastest first."""
    # Rates in place of periods, the exponent i/d, twice as many entries, and the slowest first show.
    for head_dim in (4, 2 * int(rng.integers(5, 20))):
        _periods(lab, head_dim)


@check("rope_periods.base", needs=["rope_periods.turns"])
def test_periods_with_another_base(lab: Lab, rng: np.random.Generator) -> None:
    """A larger base makes slow pairs slower, and leaves the fastest as it is."""
    for base in (500_000.0, float(rng.uniform(20, 900))):
        _periods(lab, 8, base=base)


@check("rope_periods.article", needs=["rope_periods.turns"])
def test_periods_of_the_article(lab: Lab) -> None:
    """6, 63, 628, 6,283 and 54,410 positions are among those of a width of 128."""
    for head_dim in (128, 64):
        _periods(lab, head_dim)


# ---- alibi_slopes(n_heads), alibi_bias(n, slope)
_SLOPES = "Head i of h, counted from 1, has the slope 2^(-8i/h)."


def _slopes(lab: Lab, n_heads: int) -> None:
    expected = truth.alibi_slopes(n_heads)
    compare.agree(lab.alibi_slopes(n_heads), expected, 1e-12, name="slopes", hint=_SLOPES)


@check("alibi_slopes.eight")
def test_slopes_of_eight_and_more_heads(lab: Lab) -> None:
    """From a half to 1/256 with eight heads, and between the same ends with more."""
    # 2^-i is right for eight heads only; counting from 0 begins with 1.
    for n_heads in (8, 16):
        _slopes(lab, n_heads)


@check("alibi_slopes.few", needs=["alibi_slopes.eight"])
def test_slopes_of_few_heads(lab: Lab) -> None:
    """Few heads are spread over the same range: the last slope is always 1/256."""
    for n_heads in (1, 2, 4):
        _slopes(lab, n_heads)


@check("alibi_slopes.many", needs=["alibi_slopes.eight"])
def test_slopes_of_many_heads(lab: Lab) -> None:
    """Many heads lie closer together."""
    for n_heads in (32, 64):
        _slopes(lab, n_heads)


_BIAS = "-slope · (i - j) where j ≤ i, and minus infinity above the diagonal."


def _bias(lab: Lab, n: int, slope: float) -> None:
    expected = truth.alibi_bias(n, slope)
    found = compare.array(lab.alibi_bias(n, slope), (n, n), name="bias", finite=False)
    above = ~np.isfinite(expected)
    if not np.all(found[above] == -np.inf):
        raise CheckFailed(f"Above the diagonal the bias must be minus infinity, so that the future is hidden. {_BIAS}")
    found[above] = expected[above] = 0.0
    compare.agree(found, expected, 1e-12 * (1 + n * slope), name="bias", hint=_BIAS)


@check("alibi_bias.distance")
def test_bias_grows_with_distance(lab: Lab, rng: np.random.Generator) -> None:
    """Each key is penalised in proportion to its distance, and the future is hidden."""
    # A plus sign, the transpose, squares, a penalty that does not depend on the slope, and 0 above the diagonal show.
    for n, slope in ((5, float(rng.uniform(0.1, 1.0))), (4, 0.125)):
        _bias(lab, n, slope)


@check("alibi_bias.chapter", needs=["alibi_bias.distance"])
def test_bias_of_the_chapter(lab: Lab) -> None:
    """The 6 × 6 matrix of the chapter, with a slope of a half and of a quarter."""
    for slope in (0.5, 0.25):
        _bias(lab, 6, slope)


@check("alibi_bias.edges", needs=["alibi_bias.distance"])
def test_bias_of_one_and_of_many_tokens(lab: Lab) -> None:
    """One token alone has no distance; far tokens are penalised without a limit."""
    for n, slope in ((1, 0.5), (2, 1 / 256), (40, 0.5)):
        _bias(lab, n, slope)
