"""Part 2 in public: rows by hand, the chapter's table, and the place of the norm."""

from __future__ import annotations

import math

import numpy as np

from attnlab import chapter
from attnlab.public.answers import Array, array, same, untouched
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("residual_and_norms")

NORM = "section 7.3, layer normalisation"
RESIDUAL = "section 7.3, residual connections"


@check("layer_norm.by_hand", read=NORM)
def a_row_by_hand(lab: Lab) -> None:
    """The row 1, 3, 5, 7 has mean 4 and variance 5; around its mean it is -3, -1, 1, 3."""
    found = array(lab.layer_norm(np.array([[1.0, 3.0, 5.0, 7.0]])), "layer_norm of (1, 3, 5, 7)", (1, 4))[0]
    wanted = [v / math.sqrt(5.00001) for v in (-3.0, -1.0, 1.0, 3.0)]
    guesses = (
        (
            [v / math.sqrt(20 / 3) for v in (-3, -1, 1, 3)],
            "The variance is divided by d - 1; here it is a mean over d.",
        ),
        ([v / 5 for v in (-3, -1, 1, 3)], "The row is divided by its variance; take the root."),
        ([v / math.sqrt(21) for v in (1, 3, 5, 7)], "The mean is not taken off: that would be RMSNorm."),
        ([-3, -1, 1, 3], "The row is centred and not scaled."),
        ([v / math.sqrt(5) for v in (-3, -1, 1, 3)], ""),
    )
    if not np.abs(found - wanted).max() <= 1e-7:
        near = [guess for row, guess in guesses if np.allclose(found, row, rtol=0, atol=2e-5)]
        guess = near[0] if near else "Mean and variance are those of this row alone."
        raise Mistake(f"It came out as {np.round(found, 4).tolist()}.", guess or "eps is 1e-5, inside the root.")


@check("layer_norm.table", read=NORM, needs=["layer_norm.by_hand"])
def the_chapters_rows(lab: Lab) -> None:
    """The chapter's residual rows give its table, each row by itself; x stays as it is."""
    # The printed residual rows have four digits, and so has the table: half a digit more is allowed for that.
    x = chapter.PRINTED["residual"].copy()
    with untouched("layer_norm", x=x):
        found = array(lab.layer_norm(x), "layer_norm", x.shape)
    gap = np.abs(found - chapter.PRINTED["layer_norm"]).max()
    if not gap <= 5e-4:
        guess = "Statistics of the whole array, or of a column, are those of other tokens."
        raise Mistake(f"The largest difference to the chapter's table is {gap:.2g}.", guess)


@check("rms_norm.by_hand", read="section 7.3, RMSNorm")
def scaled_by_hand(lab: Lab) -> None:
    """The row 1, 7, 5, 5 has a mean square of 25; weights multiply its features, and no mean is taken off."""
    x, weight = np.array([[1.0, 7.0, 5.0, 5.0]]), np.array([1.0, 2.0, -1.0, 0.0])
    found = array(lab.rms_norm(x, weight, eps=0.0), "rms_norm of (1, 7, 5, 5)", (1, 4))
    wanted = [[0.2, 2.8, -1.0, 0.0]]
    if not np.abs(found - wanted).max() <= 1e-9:
        guess = ""
        if same(found, [[0.2, 1.4, 1.0, 1.0]]):
            guess = "The weights are not used."
        elif same(found, np.array([[-3.5, 2.5, 0.5, 0.5]]) / math.sqrt(4.75) * weight):
            guess = "The mean is taken off; RMSNorm leaves it."
        elif same(found, [[0.1, 1.4, -0.5, 0.0]]):
            guess = "The squares are added up; their mean is asked."
        raise Mistake(f"It came out as {np.round(found[0], 4).tolist()}.", guess)


@check("pre_norm.order", read=NORM)
def norm_on_the_branch(lab: Lab) -> None:
    """With norm(x) = x/2 and sublayer(x) = x + 10, the row (2, 4) becomes (2 + 11, 4 + 12)."""

    def halve(x: Array) -> Array:
        return np.asarray(x) / 2

    def add_ten(x: Array) -> Array:
        return np.asarray(x) + 10

    x = np.array([[2.0, 4.0]])
    with untouched("pre_norm", x=x):
        found = array(lab.pre_norm(x, halve, add_ten), "pre_norm", (1, 2))[0].tolist()
    if found != [13.0, 16.0]:
        guesses = {
            (7.0, 9.0): "This is post-norm: the norm stands on the stream, after the sum.",
            (11.0, 12.0): "The residual is missing: x itself is added too.",
            (12.0, 14.0): "The normalised x is what is added; x passes by as it is.",
            (8.0, 11.0): "The norm comes after the sublayer; it belongs before it.",
            (14.0, 18.0): "Nothing is normalised.",
        }
        raise Mistake(f"The row (2, 4) became {found}.", guesses.get(tuple(found), ""))
