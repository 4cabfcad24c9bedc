"""Exercise 2, ``order_gaps``: what a shuffle changes under five read-outs (sections 7.4, 7.5 and 7.13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import layer
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.reference import exercises as truth

check = Task("exercises", "exercise2")

#: Scale of the positions: 0.3 as in section 7.4 and in the notebook; section 7.13 names none, so plain ones count too.
SCALES = (chapter.POSITION_SCALE, 1.0)
BROKEN = ("mean_pool_positions", "mean_pool_causal", "last_token_causal")


def _inputs(rng: np.random.Generator, n: int, d: int, d_k: int, d_v: int) -> list[np.ndarray]:
    """``X (n, d)`` and three projections, scaled so that scores have a size of about 1."""
    X, *projections = layer(rng, (), n, d, d_k, d_v)
    return [X, *(W / np.sqrt(d) for W in projections)]


def _cycle(rng: np.random.Generator, n: int) -> np.ndarray:
    """A permutation of ``n`` in one cycle: every token moves, and for n > 2 it is not its own inverse."""
    order = rng.permutation(n)
    perm = np.empty(n, dtype=np.int64)
    perm[order] = np.roll(order, 1)
    return perm


def _chapters() -> list[np.ndarray]:
    return [chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V]


def _asked(lab: Lab, inputs: Sequence[Any], perm: Any, keys: Sequence[str]) -> dict[str, Any]:
    X, *projections = inputs
    return compare.mapping(lab.order_gaps(X, perm, *projections), keys, "The report")


def _agree(answer: dict[str, Any], inputs: list[np.ndarray], perm: np.ndarray, keys: Sequence[str], hint: str) -> None:
    """The named gaps are right, positions at one of ``SCALES``."""
    X, W_q, W_k, W_v = inputs
    # The law of compare.py, twice, for two runs; |X| and the positions (at most 1 each) bound what is projected. A
    # table of positions in float32 is as right as one in float64, so that gap may carry its rounding.
    bound = [(np.abs(X) + 1.0) @ np.abs(W) for W in (W_q, W_k, W_v)]
    tolerance = 2 * compare.attention_tolerance(*bound)
    single = 2 * compare.attention_tolerance(*(part.astype(np.float32) for part in bound))
    expected = [truth.order_gaps(X, perm, W_q, W_k, W_v, scale) for scale in SCALES]
    for key in keys:
        found, allowed = compare.number(answer[key], key), single if key == "mean_pool_positions" else tolerance
        nearest = min((other[key] for other in expected), key=lambda gap: abs(gap - found))
        compare.agree(found, nearest, allowed, name=key, hint=hint)


@check("order_gaps.chapter")
def test_gaps_of_the_chapter(lab: Lab) -> None:
    """The chapter's shuffle, içti kedi sütü: two gaps at rounding level and three that are not."""
    inputs = _chapters()
    answer = _asked(lab, inputs, chapter.SHUFFLED, truth.ORDER_KEYS)
    _agree(answer, inputs, chapter.SHUFFLED, truth.ORDER_KEYS, "Largest absolute differences of the outputs.")


@check("order_gaps.symmetric")
def test_gaps_without_positions_and_mask(lab: Lab, rng: np.random.Generator) -> None:
    """Without positions and mask, tokens keep their outputs in any order, and so their mean does not change."""
    hint = "Row i of the shuffled run belongs to token perm[i]: compare token by token, and means over the tokens."
    for n in (4, 5):
        inputs, perm = _inputs(rng, n, 4, 3, 2), _cycle(rng, n)
        answer = _asked(lab, inputs, perm, truth.ORDER_KEYS)
        _agree(answer, inputs, perm, ("tokens", "mean_pool"), hint)
        _one_moves(answer, inputs, perm)


def _one_moves(answer: dict[str, Any], inputs: list[np.ndarray], perm: np.ndarray) -> None:
    """One of the broken symmetries is seen as well, so that a report full of zeros earns nothing."""
    for key in BROKEN:
        try:
            _agree(answer, inputs, perm, (key,), "")
        except CheckFailed:
            continue
        return
    raise CheckFailed(
        "The two gaps that should be at rounding level are, but none of the three others is right, so this shows "
        "nothing yet."
    )


@check("order_gaps.positions")
def test_gap_of_the_mean_with_positions(lab: Lab, rng: np.random.Generator) -> None:
    """`mean_pool_positions`: the same positions are added to the slots in both orders, and the mean moves."""
    hint = "Hold the means for X[perm] + 0.3 P and for X + 0.3 P against each other: P is not shuffled. No mask here."
    for d in (4, 6):
        inputs, perm = _inputs(rng, 5, d, 3, 2), _cycle(rng, 5)
        # Positions shuffled along with the tokens give 0, a mask left on another number.
        _agree(_asked(lab, inputs, perm, BROKEN[:1]), inputs, perm, BROKEN[:1], hint)


@check("order_gaps.causal")
def test_gap_of_the_mean_with_a_causal_mask(lab: Lab, rng: np.random.Generator) -> None:
    """`mean_pool_causal`: slot i sees slots 0 to i in both orders, without positions, and the mean moves."""
    hint = "The mask belongs to the slots and stays where it is when the tokens move; no positions here."
    for n in (3, 5):
        inputs, perm = _inputs(rng, n, 4, 3, 2), _cycle(rng, n)
        # The mask upside down, one without the own slot, one shuffled with the tokens, a sum in place of a mean.
        _agree(_asked(lab, inputs, perm, BROKEN[1:2]), inputs, perm, BROKEN[1:2], hint)


@check("order_gaps.last_token")
def test_gap_of_the_last_slot(lab: Lab, rng: np.random.Generator) -> None:
    """`last_token_causal`: the output in the last slot, with the causal mask, where another token sits there."""
    hint = "Compare the last rows of the two runs, output[-1] with output[-1]: a read-out looks at a slot."
    for n in (3, 6):
        inputs, perm = _inputs(rng, n, 4, 3, 2), _cycle(rng, n)
        # The last token followed to its new slot gives another number, and so does the first slot.
        _agree(_asked(lab, inputs, perm, BROKEN[2:]), inputs, perm, BROKEN[2:], hint)


@check("order_gaps.last_token_stays", needs=["order_gaps.last_token"])
def test_gap_of_the_last_slot_when_its_token_stays(lab: Lab, rng: np.random.Generator) -> None:
    """If the last token stays, one causal layer gives it the same output in any order of the others."""
    hint = "The last slot sees all tokens, so only who sits there matters; earlier slots see fewer, so the mean moves."
    inputs = _inputs(rng, 5, 4, 3, 2)
    # A mask that hides the own slot, or lets the last one see less than everything, moves the last output.
    perm = np.append(_cycle(rng, 4), 4)
    keys = ("mean_pool_causal", "last_token_causal")
    _agree(_asked(lab, inputs, perm, keys), inputs, perm, keys, hint)


@check("order_gaps.longer", needs=["order_gaps.symmetric"])
def test_gaps_of_a_longer_sentence(lab: Lab, rng: np.random.Generator) -> None:
    """Nine tokens, three different widths, an order that is not its own inverse."""
    # One cycle of nine: undoing the shuffle with perm itself gives another order. d_k is neither d nor d_v.
    inputs, perm = _inputs(rng, 9, 8, 5, 3), _cycle(rng, 9)
    _agree(_asked(lab, inputs, perm, truth.ORDER_KEYS), inputs, perm, truth.ORDER_KEYS, "d_k is the width of the keys.")


@check("order_gaps.unchanged", needs=["order_gaps.symmetric"])
def test_order_gaps_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X, perm and the projections are the same afterwards."""
    inputs, perm = _inputs(rng, 4, 4, 3, 2), _cycle(rng, 4)
    kept = [lab.kept(array) for array in [*inputs, perm]]
    # X += P gives the right numbers once.
    answer = _asked(lab, kept[:4], kept[4], truth.ORDER_KEYS)
    _agree(answer, inputs, perm, truth.ORDER_KEYS, "")
    compare.unchanged("order_gaps", ("X", "W_q", "W_k", "W_v", "perm"), kept, [*inputs, perm])
