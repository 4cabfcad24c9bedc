"""Part 3, the feed-forward layer: ``ffn_relu``, ``gelu``, ``swiglu``, ``detectors_fired`` (section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block as truth
from autograder.reference import chapter

check = Task("block_receipts", "feed_forward")


def layers(rng: np.random.Generator, d: int, d_ff: int, d_out: int) -> list[np.ndarray]:
    """``W1 (d, d_ff)``, ``b1``, ``W2 (d_ff, d_out)``, ``b2``, with biases as large as the rest."""
    return [rng.normal(size=shape) for shape in ((d, d_ff), (d_ff,), (d_ff, d_out), (d_out,))]


def ffn_tolerance(x: np.ndarray, weights: Sequence[np.ndarray]) -> float:
    """8·u for each of the two products, of the largest sum of absolute values."""
    W1, b1, W2, b2 = (np.abs(w) for w in weights)
    bound = (np.abs(x) @ W1 + b1) @ W2 + b2
    return 2 * compare.SAFETY * compare.roundoff(x, *weights) * float(bound.max())


def rows_of_the_chapter() -> np.ndarray:
    """What the chapter's feed-forward layer reads: its table after layer norm."""
    heads = [[chapter.W_Q, chapter.W_K, chapter.W_V], list(chapter.HEAD_2)]
    return truth.layer_norm(chapter.X + truth.multi_head(chapter.X, heads, chapter.W_O)["output"])


# ---- ffn_relu(x, W1, b1, W2, b2)
_FFN = "max(0, x W1 + b1) W2 + b2, for every row by itself."


def _ffn(lab: Lab, x: np.ndarray, weights: Sequence[np.ndarray], hint: str = _FFN) -> None:
    expected = truth.ffn_relu(x, *weights)
    compare.agree(lab.ffn_relu(x, *weights), expected, ffn_tolerance(x, weights), name="ffn_relu", hint=hint)


@check("ffn_relu.two_layers")
def test_two_layers_with_relu_between(lab: Lab, rng: np.random.Generator) -> None:
    """Widen, cut off below zero, narrow: both layers with their biases."""
    # d, d_ff and d_out all differ. Biases of size 1: a forgotten one, ReLU on the output, or another nonlinearity show.
    _ffn(lab, rng.normal(size=(6, 3)), layers(rng, 3, 8, 4))
    # Hidden values in the tens: a ReLU that is cut off above as well, at 1 or at 6.
    _ffn(lab, 20.0 * rng.normal(size=(6, 3)), layers(rng, 3, 8, 4), "Above zero ReLU changes nothing, however large.")


@check("ffn_relu.square", needs=["ffn_relu.two_layers"])
def test_square_matrices(lab: Lab, rng: np.random.Generator) -> None:
    """Where everything is equally wide, the matrices are still used from their own side."""
    # Every transpose fits here.
    _ffn(lab, rng.normal(size=(4, 4)), layers(rng, 4, 4, 4), "x W1, not x W1ᵀ: rows of W1 belong to features of x.")


@check("ffn_relu.chapter", needs=["ffn_relu.two_layers"])
def test_feed_forward_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's eight detectors write what its block output shows."""
    x = rows_of_the_chapter()
    weights = [chapter.ASKS.T.copy(), -chapter.THRESHOLDS, chapter.WRITES, np.zeros(4)]
    _ffn(lab, x, weights, "Compare with section 7.3: the output less the residual row.")
    # içti misses a detector by 0.009 there; with lower thresholds others fire.
    _ffn(lab, x, [weights[0], weights[1] + 0.4, *weights[2:]], "Here the thresholds are lower than in the chapter.")


@check("ffn_relu.negative", needs=["ffn_relu.two_layers"])
def test_all_below_zero_leaves_the_bias(lab: Lab, rng: np.random.Generator) -> None:
    """Where every detector is below zero, only the last bias is left."""
    # GELU, SiLU and a leaky ReLU let something through.
    W1, b1, W2, b2 = layers(rng, 3, 5, 2)
    _ffn(lab, rng.normal(size=(4, 3)), [0.1 * W1, -np.abs(b1) - 1, W2, b2], "ReLU gives exactly 0 below zero.")


@check("ffn_relu.batch", needs=["ffn_relu.two_layers"])
def test_feed_forward_of_batches(lab: Lab, rng: np.random.Generator) -> None:
    """Any leading axes: every row goes through the same layer by itself."""
    for shape in ((2, 3, 4), (2, 2, 1, 4), (4,)):
        _ffn(lab, rng.normal(size=shape), layers(rng, 4, 6, 3))


@check("ffn_relu.unchanged", needs=["ffn_relu.two_layers"])
def test_ffn_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x, both matrices and both biases are the same afterwards."""
    # x *= … and b1 += … give the right answer once.
    x, weights = rng.normal(size=(4, 3)), layers(rng, 3, 5, 2)
    kept = [lab.kept(array) for array in (x, *weights)]
    expected = truth.ffn_relu(x, *weights)
    compare.agree(lab.ffn_relu(*kept), expected, ffn_tolerance(x, weights), name="ffn_relu", hint=_FFN)
    compare.unchanged("ffn_relu", ("x", "W1", "b1", "W2", "b2"), kept, (x, *weights))


# ---- gelu(z)
#: The tanh form, which is right too, is off by up to 5e-4; the logistic one (1.702) by 2e-2.
GELU_TOLERANCE = 1e-3


def _gelu(lab: Lab, z: np.ndarray, hint: str) -> None:
    compare.agree(lab.gelu(z), truth.gelu(z), GELU_TOLERANCE, name="gelu", hint=hint)


@check("gelu.bend")
def test_gelu_around_zero(lab: Lab, rng: np.random.Generator) -> None:
    """z times the share of a standard normal below z; small negative numbers leak through."""
    # From -3 to 3, where ReLU, SiLU, the logistic approximation, Φ alone and erf without its √2 all differ from it.
    _gelu(lab, np.linspace(-3.0, 3.0, 25) + rng.uniform(-0.05, 0.05), "z Φ(z), with Φ the normal distribution.")


@check("gelu.tails", needs=["gelu.bend"])
def test_gelu_far_out(lab: Lab, rng: np.random.Generator) -> None:
    """Far to the right it is z itself, far to the left it is 0, and both are finite."""
    # exp(-z) and z³ overflow, and inf·0 is NaN.
    z = np.array([-1e4, -200.0, -40.0, 0.0, 40.0, 200.0, 1e4])
    _gelu(lab, z + rng.uniform(0, 0.1), "Nothing in it may overflow: Φ is 0 or 1 out there.")


@check("gelu.shape", needs=["gelu.bend"])
def test_gelu_keeps_the_shape(lab: Lab, rng: np.random.Generator) -> None:
    """Any shape, entry by entry."""
    for shape in ((2, 3, 4), (1, 5), (7,)):
        _gelu(lab, rng.normal(size=shape), "Each entry is treated by itself.")


@check("gelu.unchanged", needs=["gelu.bend"])
def test_gelu_leaves_z_alone(lab: Lab, rng: np.random.Generator) -> None:
    """z is the same afterwards."""
    # z *= … gives the right answer once.
    z = rng.normal(size=(3, 4))
    kept = lab.kept(z)
    compare.agree(lab.gelu(kept), truth.gelu(z), GELU_TOLERANCE, name="gelu")
    compare.unchanged("gelu", ["z"], [kept], [z])


# ---- swiglu(x, W_gate, W_up, W_down)
_SWIGLU = "(silu(x W_gate) ⊙ (x W_up)) W_down with silu(z) = z · logistic(z)."


def _swiglu(lab: Lab, x: np.ndarray, weights: Sequence[np.ndarray], hint: str = _SWIGLU) -> None:
    gate, up, down = (np.abs(w) for w in weights)
    bound = float((((np.abs(x) @ gate) * (np.abs(x) @ up)) @ down).max())
    # The logistic moves by less than its argument does, so this is three products, and a factor of the gate's size.
    tolerance = 3 * compare.SAFETY * compare.roundoff(x) * bound * (1 + float((np.abs(x) @ gate).max()))
    compare.agree(lab.swiglu(x, *weights), truth.swiglu(x, *weights), tolerance, name="swiglu", hint=hint)


def _gated(rng: np.random.Generator, d: int, d_ff: int, d_out: int) -> list[np.ndarray]:
    return [rng.normal(size=shape) for shape in ((d, d_ff), (d, d_ff), (d_ff, d_out))]


@check("swiglu.gate")
def test_one_branch_gates_the_other(lab: Lab, rng: np.random.Generator) -> None:
    """One branch, through SiLU, says how much of the other is let through."""
    # Random matrices: gate and up exchanged, a plain logistic (GLU), ReLU or GELU as the gate, and a sum in place of a
    # product all give something else.
    _swiglu(lab, rng.normal(size=(5, 3)), _gated(rng, 3, 6, 4))
    _swiglu(lab, rng.normal(size=(4, 4)), _gated(rng, 4, 4, 4), "The gate is W_gate, the content W_up, in this order.")


@check("swiglu.closed", needs=["swiglu.gate"])
def test_a_closed_gate_lets_nothing_through(lab: Lab, rng: np.random.Generator) -> None:
    """Gates far below zero are closed, far above it they are as large as they are; nothing overflows."""
    # exp(-z) of a gate of -1000 overflows, and inf in a quotient is a warning at best and NaN at worst.
    x, (gate, up, down) = np.abs(rng.normal(size=(3, 2))) + 1, _gated(rng, 2, 4, 3)
    for size in (-1000.0, 1000.0, 0.0):
        _swiglu(lab, x, [np.full(gate.shape, size), up, down], "The logistic must be finite for any gate.")


@check("swiglu.batch", needs=["swiglu.gate"])
def test_swiglu_of_batches(lab: Lab, rng: np.random.Generator) -> None:
    """Any leading axes, and any widths."""
    for shape, d_ff, d_out in (((2, 3, 4), 7, 4), ((2, 2, 1, 3), 2, 5), ((4,), 3, 1)):
        _swiglu(lab, rng.normal(size=shape), _gated(rng, shape[-1], d_ff, d_out))


@check("swiglu.unchanged", needs=["swiglu.gate"])
def test_swiglu_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x and the matrices are the same afterwards."""
    x, weights = rng.normal(size=(3, 4)), _gated(rng, 4, 5, 2)
    kept = [lab.kept(array) for array in (x, *weights)]
    compare.agree(lab.swiglu(*kept), truth.swiglu(x, *weights), 1e-11, name="swiglu", hint=_SWIGLU)
    compare.unchanged("swiglu", ("x", "W_gate", "W_up", "W_down"), kept, (x, *weights))


# ---- detectors_fired(x, W1, b1) -> (activations, used)
def _fired(answer: Any, x: np.ndarray, W1: np.ndarray, b1: np.ndarray, hint: str) -> None:
    activations, used = compare.pair(answer, "activations", "used")
    expected, fires = truth.detectors(x, W1, b1)
    bound = float((np.abs(x) @ np.abs(W1) + np.abs(b1)).max())
    tolerance = compare.SAFETY * compare.roundoff(x) * bound
    compare.agree(activations, expected, tolerance, name="activations", hint=hint)
    found = compare.boolean(used, fires.shape, "used")
    if not np.array_equal(found, fires):
        raise CheckFailed(f"used is not right for {int((found != fires).sum())} of {fires.size} detectors. {hint}")


_USED = "A detector is used where its activation is above 0 for at least one row."


@check("detectors_fired.some")
def test_which_detectors_fire(lab: Lab, rng: np.random.Generator) -> None:
    """The activations, and for each detector whether it fires for at least one row."""
    # Some detectors fire for every row, some for one, some for none: all() in place of any(), and used per row, show.
    # The last one is above 0 by a thousandth, in one row: a threshold of 0.1 or 0.5 takes it for silent.
    x, W1 = rng.normal(size=(4, 3)), rng.normal(size=(3, 7))
    before = np.sort(x @ W1, axis=0)
    one = -(before[-1] + before[-2]) / 2
    b1 = np.array([one[0], 9.0, -9.0, one[3], -9.0, 9.0, 1e-3 - before[-1, 6]])
    _fired(lab.detectors_fired(x, W1, b1), x, W1, b1, _USED)


@check("detectors_fired.chapter", needs=["detectors_fired.some"])
def test_detectors_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's detector table, and the three rows of W2 that are never used."""
    x, W1, b1 = rows_of_the_chapter(), chapter.ASKS.T.copy(), -chapter.THRESHOLDS
    _fired(lab.detectors_fired(x, W1, b1), x, W1, b1, "Compare with the detector table of section 7.3.")


@check("detectors_fired.batch", needs=["detectors_fired.some"])
def test_detectors_over_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes are rows as well; a detector at exactly zero does not fire."""
    x, W1, b1 = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 6)), rng.normal(size=6) - 3
    _fired(lab.detectors_fired(x, W1, b1), x, W1, b1, f"{_USED} Rows are all leading axes together.")
    # Whole numbers: x W1 + b1 is exactly 0 for the first detector, which is not above 0.
    x, W1 = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 1.0, -1.0], [1.0, 1.0, -1.0]])
    b1 = np.array([-3.0, -2.0, 1.0])
    _fired(lab.detectors_fired(x, W1, b1), x, W1, b1, "A detector that is exactly at 0 does not fire.")


@check("detectors_fired.unchanged", needs=["detectors_fired.some"])
def test_detectors_leave_their_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x, W1 and b1 are the same afterwards."""
    # x *= … and b1 += … give the right answer once.
    x, W1, b1 = (rng.normal(size=shape) for shape in ((4, 3), (3, 6), (6,)))
    kept = [lab.kept(array) for array in (x, W1, b1)]
    _fired(lab.detectors_fired(*kept), x, W1, b1, _USED)
    compare.unchanged("detectors_fired", ("x", "W1", "b1"), kept, (x, W1, b1))
