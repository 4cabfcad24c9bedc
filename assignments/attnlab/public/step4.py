"""Step 4 in public: what moves with the tokens, what stays with the slots."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from attnlab import chapter
from attnlab.public.answers import Array, agree, array, mapping, number, same, untouched
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("step4")

SHUFFLE = "section 7.4, first part"
SINES = "section 7.4, adding a position signal"

#: Not its own inverse, so that undoing it with itself instead of with its inverse shows.
PERM = np.array([2, 0, 3, 1])


def _tokens() -> Array:
    return np.random.default_rng(4).normal(size=(4, 3))


# -------------------------------------------------------- permutation_gap


@check("permutation_gap.rows", read=SHUFFLE)
def row_by_row(lab: Lab) -> None:
    """A function that treats every row by itself has a gap of 0."""
    gap = number(lab.permutation_gap(lambda rows: np.tanh(rows), _tokens(), PERM), "permutation_gap")
    if abs(gap) > 1e-9:
        raise Mistake(
            f"The gap of a row-by-row function is {gap:.2g} instead of 0.",
            "Columns are permuted instead of rows, or the order is undone with perm itself, not its inverse.",
        )


@check("permutation_gap.slots", read=SHUFFLE, needs=["permutation_gap.rows"])
def slots(lab: Lab) -> None:
    """A function that adds a number of its own to every slot has the gap that the shuffle makes."""
    # The four rows change by 0, -3, -3 and 6: a mean and a forgotten last row show. With both signs, because
    # which one a signed maximum misses depends on what is subtracted from what.
    for sign in (1, -1):
        slot = sign * np.array([[0.0], [-3.0], [0.0], [3.0]])
        gap = number(lab.permutation_gap(partial(np.add, slot), _tokens(), PERM), "permutation_gap")
        if abs(gap - 6) <= 1e-9:
            continue
        raise Mistake(
            f"Where one row changes by 6 and the others by less, the gap is 6; it is reported as {gap:.3g}.",
            "The largest |difference| over every row and column is asked: no mean, no sign, no sorting.",
        )


@check("permutation_gap.unchanged", read=SHUFFLE, needs=["permutation_gap.rows"])
def gap_leaves_its_inputs_alone(lab: Lab) -> None:
    """permutation_gap does not reorder X or perm themselves."""
    tokens, perm = _tokens(), PERM.copy()
    with untouched("permutation_gap", X=tokens, perm=perm):
        lab.permutation_gap(lambda rows: rows.copy(), tokens, perm)


# --------------------------------------------------- sinusoidal_positions


@check("sinusoidal_positions.table", read=SINES)
def printed_table(lab: Lab) -> None:
    """For n = 3 and d = 4 it is the table that the chapter prints; position 0 is 0, 1, 0, 1."""
    wanted = chapter.PRINTED["positions"]
    found = array(lab.sinusoidal_positions(3, 4), "sinusoidal_positions(3, 4)", (3, 4))
    guess = ""
    if same(found[0], np.array([1.0, 0.0, 1.0, 0.0])):
        guess = "Sine and cosine are exchanged: even columns hold the sine."
    elif np.abs(found[0, :2] - wanted[1, :2]).max() < 1e-4:
        guess = "The first position is 1; it should be 0."
    elif np.abs(found[:, :2] - wanted[:, :2]).max() < 1e-4:
        guess = (
            "The first pair is right and the second is not: look at the exponent, and let a pair share it."
        )
    agree(found, wanted, chapter.PRINTED_TOLERANCE, "The table", guess)


@check("sinusoidal_positions.length", read="section 7.4, why sinusoids", needs=["sinusoidal_positions.table"])
def equal_lengths(lab: Lab) -> None:
    """Every position vector has the length √(d/2), as in the chapter for d = 64."""
    found = array(lab.sinusoidal_positions(20, 64), "sinusoidal_positions(20, 64)", (20, 64))
    lengths = np.sqrt((found**2).sum(axis=1))
    hint = "The sine and the cosine of a pair must share one frequency."
    agree(lengths, np.full(20, 5.656854), 1e-5, "The length of a position vector", hint)


@check("sinusoidal_positions.frequencies", read=SINES, needs=["sinusoidal_positions.length"])
def geometric_frequencies(lab: Lab) -> None:
    """From pair to pair of columns, the angle of position 1 shrinks by one fixed ratio, 10000^(2/d)."""
    for d in (6, 64):  # with d = 4 alone, a doubled exponent or a fixed 100 would not show
        row = array(lab.sinusoidal_positions(2, d), f"sinusoidal_positions(2, {d})", (2, d))[1]
        angles = np.arctan2(row[0::2], row[1::2])
        with np.errstate(all="ignore"):
            steps = np.log(angles[:-1]) - np.log(angles[1:])
        wanted = 2 / d * math.log(10_000)
        if not np.abs(steps - wanted).max() < 1e-6:
            raise Mistake(
                f"For d = {d}, the ratio of neighbouring frequencies is not the one of the formula.",
                "The exponent is 2i/d for pair i; a loop over even columns already has 2i.",
            )


@check(
    "sinusoidal_positions.offsets", read="section 7.4, why sinusoids", needs=["sinusoidal_positions.length"]
)
def only_the_offset_counts(lab: Lab) -> None:
    """The dot product of two positions depends on their distance only, wherever they are."""
    found = array(lab.sinusoidal_positions(40, 64), "sinusoidal_positions(40, 64)", (40, 64))
    products = np.array([found[p].dot(found[p + 8]) for p in range(32)])
    agree(
        products, np.full(32, 22.413912), 1e-5, "The dot product at distance 8, against the chapter's table"
    )


# ---------------------------------------------------- equivariance_report

CASES = ("plain", "positions", "causal")


def _report(lab: Lab, **scale: float) -> dict[str, float]:
    given = (chapter.X, np.array(chapter.ORDER), chapter.W_Q, chapter.W_K, chapter.W_V)
    result = lab.equivariance_report(*(g.copy() for g in given), **scale)
    found = mapping(result, "equivariance_report", CASES)
    for case in CASES:
        if isinstance(found[case], (bool, np.bool_)):
            raise Mistake(
                f"`{case}` is True or False.", "The size of the gap is asked, not whether there is one."
            )
    return {case: number(found[case], f"`{case}`") for case in CASES}


@check("equivariance_report.plain", read=SHUFFLE, needs=["permutation_gap.slots"])
def plain_is_rounding(lab: Lab) -> None:
    """Without a mask and without positions the gap is rounding, about 1e-16."""
    gap = _report(lab)["plain"]
    if not 0 <= gap < 1e-12:
        raise Mistake(
            f"`plain` is {gap:.3g}.", "There is still a mask or a position in it, or a comparison of slots."
        )


@check(
    "equivariance_report.positions",
    read=SINES,
    needs=["equivariance_report.plain", "sinusoidal_positions.table"],
)
def positions_break_it(lab: Lab) -> None:
    """With positions (scale 0.3), the chapter's matrices and the order içti kedi sütü, the gap is 0.3289."""
    gap = _report(lab)["positions"]
    if not abs(gap - chapter.GAPS["positions"]) < chapter.PRINTED_TOLERANCE:
        guess = ""
        if gap < 1e-12:
            guess = "The positions were added before the shuffle and moved along; they belong to slots."
        raise Mistake(f"`positions` is {gap:.4g}; the chapter prints 0.3289.", guess)


@check("equivariance_report.scale", read=SINES, needs=["equivariance_report.positions"])
def scale_is_used(lab: Lab) -> None:
    """position_scale is used: at 0, `positions` is rounding again; `causal` does not depend on it."""
    none, usual = _report(lab, position_scale=0.0), _report(lab)
    if not none["positions"] < 1e-12:
        raise Mistake(
            f"With position_scale=0, `positions` is still {none['positions']:.3g}.",
            "0.3 is written into the code.",
        )
    if not abs(none["causal"] - usual["causal"]) < 1e-12:
        raise Mistake(
            "`causal` changes with position_scale.",
            "The causal case has no positions: it shows the mask alone.",
        )


@check("equivariance_report.causal", read="section 7.4 and 7.5", needs=["equivariance_report.plain"])
def the_mask_breaks_it(lab: Lab) -> None:
    """With a causal mask and no positions the gap is far from rounding."""
    gap = _report(lab)["causal"]
    if not gap > 0.05:
        raise Mistake(
            f"`causal` is {gap:.3g}.",
            "The mask has no effect, or it moves with the tokens: it belongs to slots, like the positions.",
        )
