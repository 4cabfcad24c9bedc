"""Exercise 2 in public: the chapter's shuffle, and cases in which the answer can be told without computing."""

from __future__ import annotations

import numpy as np

from attnlab import chapter
from attnlab.public.answers import Array, mapping, number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise2")

SHUFFLE = "section 7.4, the shuffle test"
POSITIONS = "section 7.4, adding a position signal"
MASK = "section 7.5"

KEYS = ("tokens", "mean_pool", "mean_pool_positions", "mean_pool_causal", "last_token_causal")
#: What the chapter's sentence and order give, to four digits.
GAPS = {"mean_pool_positions": 0.2401, "mean_pool_causal": 0.2019, "last_token_causal": 0.2052}


def _gaps(lab: Lab, X: Array, order: tuple[int, ...], *matrices: Array) -> dict[str, float]:
    projections = matrices or (chapter.W_Q, chapter.W_K, chapter.W_V)
    given = (X.copy(), np.array(order), *(W.copy() for W in projections))
    found = mapping(lab.order_gaps(*given), "order_gaps", KEYS)
    for key in KEYS:
        if isinstance(found[key], (bool, np.bool_)):
            raise Mistake(f"`{key}` is True or False.", "The size of the gap is asked, not whether there is one.")
    return {key: number(found[key], f"`{key}`") for key in KEYS}


@check("order_gaps.rounding", read=SHUFFLE)
def two_gaps_are_rounding(lab: Lab) -> None:
    """For içti kedi sütü, `tokens` and `mean_pool` are at rounding level, about 1e-16."""
    gaps = _gaps(lab, chapter.X, chapter.ORDER)
    for key in KEYS[:2]:
        if not 0 <= gaps[key] < 1e-12:
            guess = "Row i of the shuffled run is token perm[i] of the other one." if key == "tokens" else ""
            raise Mistake(f"`{key}` is {gaps[key]:.3g}.", guess or "There is a mask or a position in it.")


@check("order_gaps.chapter", read=SHUFFLE, needs=["order_gaps.rounding"])
def three_gaps_are_not(lab: Lab) -> None:
    """For the same order the other three are 0.2401, 0.2019 and 0.2052."""
    gaps = _gaps(lab, chapter.X, chapter.ORDER)
    for key, wanted in GAPS.items():
        if not abs(gaps[key] - wanted) < chapter.PRINTED_TOLERANCE:
            raise Mistake(f"`{key}` is {gaps[key]:.4g} instead of {wanted}.", _guess(key, gaps[key]))


def _guess(key: str, gap: float) -> str:
    if key == "mean_pool_positions":
        if gap < 1e-12:
            return "The positions move along with the tokens; they belong to the slots."
        return "These are positions of size 1; the chapter adds 0.3 of them." if abs(gap - 0.6417) < 1e-4 else ""
    if gap < 1e-12:
        return "The mask has no effect, or it moves along with the tokens; it belongs to the slots."
    if key == "last_token_causal" and abs(gap - 0.4308) < 1e-4:
        return "The token that was last is followed to its new slot; compare the last slots, [-1] with [-1]."
    return ""


@check("order_gaps.equal_weights", read=MASK, needs=["order_gaps.chapter"])
def running_means(lab: Lab) -> None:
    """With W_q = 0 all weights are equal, so that slot i holds the mean of the first i tokens: the gap can be told."""
    X, order = np.array([[1.0, 0.0], [0.0, 2.0], [4.0, 0.0], [0.0, 8.0]]), (3, 0, 1, 2)
    none, identity = np.zeros((2, 2)), np.eye(2)
    gaps = _gaps(lab, X, order, none, identity, identity)
    counts = np.arange(1, 5)[:, None]
    means = [(np.cumsum(rows, axis=0) / counts).mean(axis=0) for rows in (X, X[list(order)])]
    wanted = float(np.abs(means[0] - means[1]).max())
    if not abs(gaps["mean_pool_causal"] - wanted) < 1e-9:
        raise Mistake(
            f"`mean_pool_causal` is {gaps['mean_pool_causal']:.4g} instead of {wanted:.4g}.",
            "The mean runs over the tokens, axis 0, and slot i sees itself and what comes before.",
        )


@check("order_gaps.last_stays", read="section 7.13, exercise 2", needs=["order_gaps.chapter"])
def the_last_token_stays(lab: Lab) -> None:
    """If the last token stays in its slot, `last_token_causal` is rounding and `mean_pool_causal` is not."""
    gaps = _gaps(lab, chapter.X, (1, 0, 2))
    if not gaps["last_token_causal"] < 1e-12:
        guess = "The last slot sees every token, itself too; without positions it does not see their order."
        raise Mistake(f"`last_token_causal` is {gaps['last_token_causal']:.3g}.", guess)
    if not gaps["mean_pool_causal"] > 1e-3:
        raise Mistake(f"`mean_pool_causal` is {gaps['mean_pool_causal']:.3g}.", "Earlier slots see fewer tokens.")
