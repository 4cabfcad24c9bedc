"""Step 7 in public: who may see whom, and what a new token may not change."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from attnlab.picture import WRONG, Picture, marked
from attnlab.public.answers import Array, array, booleans, number, pair
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("step7")

Booleans = npt.NDArray[np.bool_]

MASK = "section 7.5"
READ = "section 7.9, step 7"


def _seen(mask: Booleans, called: str) -> Picture | None:
    """Who may see whom, against the rule in words: the queries are the last tokens, and nobody looks ahead."""
    n_q, n_k = mask.shape
    late = np.arange(n_k)[None, :] - np.arange(n_k - n_q, n_k)[:, None]
    title = f"Your {called}, 1 for True; query {n_q - 1} is the last token, and {WRONG} breaks the rule"
    return marked(mask.astype(np.int64), mask != (late <= 0), title, "query", "key")


@check("causal_mask.square", read=MASK)
def token_by_token(lab: Lab) -> None:
    """In a square mask, token i may see the tokens 0 to i: itself and what came before."""
    mask = booleans(lab.causal_mask(4), "causal_mask(4)", (4, 4))
    seen = mask.sum(axis=1).tolist()
    if seen != [1, 2, 3, 4] or not mask[:, 0].all():
        guess = ""
        if seen == [0, 1, 2, 3]:
            guess = "The diagonal is missing: a token may look at itself."
        elif seen == [2, 3, 4, 4]:
            guess = "It is one step too far: every token sees the next one."
        elif seen == [4, 3, 2, 1] or seen == [3, 2, 1, 0]:
            guess = "It is upside down: True means that the query may look there."
        said = f"Row by row, {seen} tokens may be seen; it should be 1, 2, 3, 4."
        raise Mistake(said, guess, _seen(mask, "causal_mask(4)"))


@check("causal_mask.lower_right", read="section 7.6, the KV cache", needs=["causal_mask.square"])
def aligned_at_the_lower_right(lab: Lab) -> None:
    """With more keys than queries, the queries are the last tokens: the last one sees every key."""
    for n_q, n_k in ((1, 6), (2, 5)):
        mask = booleans(lab.causal_mask(n_q, n_k), f"causal_mask({n_q}, {n_k})", (n_q, n_k))
        seen = mask.sum(axis=1).tolist()
        wanted = list(range(n_k - n_q + 1, n_k + 1))
        falls = bool((mask[:, 1:] & ~mask[:, :-1]).any())  # once a key is hidden, all later ones are
        if seen != wanted or falls:
            guess = "Some order is wrong: hidden keys are always the last ones of a row."
            if seen == list(range(1, n_q + 1)):
                guess = (
                    "It is aligned at the upper left; with cached keys the queries are the last positions."
                )
            called = f"causal_mask({n_q}, {n_k})"
            said = f"{called} lets its rows see {seen} keys; it should be {wanted}."
            raise Mistake(said, guess, _seen(mask, called))


@check("prefix_gap.causal", read=READ)
def a_causal_function_has_no_gap(lab: Lab) -> None:
    """A function whose rows depend on earlier rows only has a gap of 0."""
    tokens, new = np.random.default_rng(8).normal(size=(5, 3)), np.array([9.0, -9.0, 9.0])
    gap = number(lab.prefix_gap(lambda rows: np.cumsum(rows, axis=0), tokens, new), "prefix_gap")
    if abs(gap) > 1e-12:
        guess = "The new row must come last, and output i is compared with output i, for the first n rows."
        raise Mistake(f"The gap of a running sum is {gap:.2g} instead of 0.", guess)


@check("prefix_gap.leak", read=READ, needs=["prefix_gap.causal"])
def a_leak_is_seen(lab: Lab) -> None:
    """A leak is reported with its size, even a small one that touches one row only."""
    tokens, new = np.random.default_rng(8).normal(size=(5, 3)), np.array([4.0, -8.0, 1.0])

    def leaking(row: int, amount: float) -> float:
        def fn(rows: Array) -> Array:
            result = rows.copy()
            if len(rows) > 5:
                result[row] += amount * rows[-1]
            return result

        return number(lab.prefix_gap(fn, tokens, new), "prefix_gap")

    for row, amount in ((2, 1.0), (0, 1e-6), (4, 1.0)):  # the last old row is easy to leave out
        wanted = 8 * amount  # the largest |entry| of the new row, which is negative
        gap = leaking(row, amount)
        if not abs(gap - wanted) < 1e-3 * wanted:
            guess = "The largest absolute change of the first n rows is asked: no mean, nothing rounded away."
            if abs(gap) < 1e-12 and amount == 1:
                guess = "The new row x_new is not what was appended, or this row is not compared."
            raise Mistake(f"A leak of {wanted:.1g} into row {row} of 5 is reported as {gap:.2g}.", guess)


@check("prefix_gap.nan", read=READ, needs=["prefix_gap.causal"])
def nan_is_a_gap(lab: Lab) -> None:
    """Where an output becomes NaN, the gap is nan."""

    def breaks(rows: Array) -> Array:
        return rows if len(rows) == 5 else np.full(rows.shape, math.nan)

    gap = number(lab.prefix_gap(breaks, np.ones((5, 3)), np.ones(3)), "prefix_gap")
    if math.isfinite(gap):
        raise Mistake(
            f"Outputs that are NaN are reported as a gap of {gap:.2g}.", "Python's max() loses a NaN."
        )


@check("prefix_gap.own", read=READ, needs=["causal_mask.square", "prefix_gap.leak"])
def your_attention_is_causal(lab: Lab) -> None:
    """Your own attention with your causal mask has no gap beyond rounding; without the mask it has."""
    lab.need("attention", "step 1")
    tokens, new = np.random.default_rng(9).normal(size=(6, 4)), np.array([30.0, -30.0, 30.0, -30.0])

    def attend(rows: Array, *, causal: bool) -> Array:
        mask = {"mask": lab.causal_mask(len(rows))} if causal else {}
        result = lab.attention(rows, rows, rows, **mask)
        return array(pair(result, "attention", "output", "weights")[0], "`output`")

    with_mask = number(lab.prefix_gap(lambda rows: attend(rows, causal=True), tokens, new), "prefix_gap")
    without = number(lab.prefix_gap(lambda rows: attend(rows, causal=False), tokens, new), "prefix_gap")
    if not with_mask < 1e-9:
        raise Mistake(
            f"With the causal mask the gap is {with_mask:.2g}.", "Hidden keys still count a little."
        )
    if not without > 1e-3:
        raise Mistake(f"Without a mask the gap is only {without:.2g}.", "A mask seems to be on all the time.")
