"""Part 10, linear or not: ``is_additive``, ``collapse_two_layers``, ``ffn_as_slots`` (section 7.3, article 9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import Floats
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block as truth

check = Task("block_receipts", "linear_or_not")

Function = Callable[[Floats], Floats]


# ---- is_additive(fn, x, y, tolerance=1e-9)
def _additive(lab: Lab, fn: Function, expected: bool, what: str, x: Any, y: Any, **named: float) -> None:
    """The verdict on a function, which runs on our side and is far from the tolerance on one side of it.

    ``x`` and ``y`` are arrays, or arrays that stay where the submission can write into them.
    """

    def handed_over(values: Any) -> Floats:
        rows = np.asarray(values, np.float64)
        if rows.size > 10_000:
            raise ValueError("this is far more than is_additive was given")
        return fn(rows)

    found = lab.is_additive(handed_over, x, y, **named)
    verdict = found.item() if isinstance(found, np.ndarray) and found.size == 1 else found
    if not isinstance(verdict, bool):
        raise CheckFailed(f"is_additive should answer True or False, but {compare.described(found)} came back.")
    if verdict is not expected:
        raise CheckFailed(
            f"is_additive says {verdict} of {what}. Compare fn(x + y) with fn(x) + fn(y), entry by entry, within "
            "tolerance · (1 + max|fn(x)| + max|fn(y)|)."
        )


def _relu_ffn(rng: np.random.Generator) -> Function:
    up, down = rng.normal(size=(3, 16)), rng.normal(size=(16, 4))
    return lambda v: np.maximum(v @ up, 0) @ down


def _mixing(rng: np.random.Generator, n: int) -> Function:
    weights = rng.dirichlet(np.ones(n), size=n)
    return lambda v: weights @ v


@check("is_additive.attention_and_ffn")
def test_fixed_weights_are_linear_and_relu_is_not(lab: Lab, rng: np.random.Generator) -> None:
    """Attention with its weights held fixed is linear in V; a ReLU layer without biases is not."""
    # Such a layer passes the doubling test exactly, so f(2x) = 2 f(x) cannot be what is tested.
    x, y = rng.normal(size=(2, 5, 3))
    _additive(lab, _mixing(rng, 5), True, "a weighted average with fixed weights", x, y)
    _additive(lab, _relu_ffn(rng), False, "a ReLU layer without biases, which doubles exactly", x, y)


@check("is_additive.affine", needs=["is_additive.attention_and_ffn"])
def test_a_bias_is_not_additive(lab: Lab, rng: np.random.Generator) -> None:
    """A matrix alone is additive; with a bias it no longer is."""
    # f(x + y) - f(x) - f(y) is minus the bias: where that is negative, a maximum without absolute values is blind.
    x, y, W = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    _additive(lab, lambda v: v @ W, True, "a matrix", x, y)
    for bias in (0.5, -0.5):
        _additive(lab, lambda v: v @ W + bias, False, "a matrix with a bias", x, y)


@check("is_additive.one_entry", needs=["is_additive.attention_and_ffn"])
def test_one_entry_is_enough(lab: Lab, rng: np.random.Generator) -> None:
    """A single entry that does not add up decides, and errors that cancel do not hide."""
    x, y = rng.normal(size=(2, 50, 20))
    pattern = np.where(np.arange(1000) % 2, 1.0, -1.0).reshape(50, 20)
    # One entry in a thousand, ten times as far off as rounding may be: a mean of absolute values, or of squares, is
    # blind to it. A sum of signed ones is blind to the pattern.
    odd = 1e-7 * (np.arange(1000).reshape(50, 20) == 707)
    _additive(lab, lambda v: v + odd, False, "a function with one odd entry", x, y)
    _additive(lab, lambda v: v + pattern, False, "a function whose errors cancel in a sum", x, y)
    _additive(lab, lambda v: v * pattern, True, "a function that only changes signs", x, y)


@check("is_additive.tolerance", needs=["is_additive.attention_and_ffn"])
def test_tolerance_grows_with_the_values(lab: Lab, rng: np.random.Generator) -> None:
    """Rounding is forgiven in proportion to the values; `tolerance` says how much."""
    x, y, W = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=(3, 2))
    # Values of a billion: their rounding alone is far above 1e-9, and far below 1e-9 of them.
    _additive(lab, lambda v: 1e9 * (v @ W), True, "a matrix with huge entries", x, y)
    _additive(lab, lambda v: v @ W + 1e-6, False, "a matrix with a small bias", x, y)
    _additive(lab, lambda v: v @ W + 1e-6, True, "a small bias within a wide tolerance", x, y, tolerance=1e-2)
    # Values of 1e-12: in proportion to them alone, without the 1, next to nothing is forgiven.
    _additive(lab, lambda v: 1e-12 * v**2, True, "squares far smaller than the tolerance", x, y)
    # Small entries beside huge ones: the largest count, and a bound for each entry by itself refuses the squares.
    mixed = "squares beside values of a billion, whose rounding is larger"
    _additive(lab, lambda v: np.array([1e9 * v, 1e-3 * v**2]), True, mixed, x, y)


@check("is_additive.nan", needs=["is_additive.attention_and_ffn"])
def test_nan_is_not_additive(lab: Lab, rng: np.random.Generator) -> None:
    """A function that gives NaN is not additive."""
    # Comparisons with NaN are False, so `not (gap > tolerance)` calls it additive.
    x, y = rng.normal(size=(2, 4, 3))
    broken = np.where(np.arange(12).reshape(4, 3) == 5, np.nan, 1.0)
    _additive(lab, lambda v: v * broken, False, "a function with a NaN in its answer", x, y)
    _additive(lab, lambda v: 2.0 * v, True, "a function that doubles", x, y)


@check("is_additive.other_functions", needs=["is_additive.attention_and_ffn"])
def test_softmax_and_sums(lab: Lab, rng: np.random.Generator) -> None:
    """Squares and softmax are not additive; sums and transposes are, though they change the shape."""
    x, y = rng.normal(size=(2, 3, 3))
    _additive(lab, lambda v: v @ v, False, "a product of the input with itself", x, y)
    _additive(lab, lambda v: np.swapaxes(v, -1, -2), True, "a transpose", x, y)
    _additive(lab, lambda v: np.exp(v) / np.exp(v).sum(axis=-1, keepdims=True), False, "a softmax", x, y)
    _additive(lab, lambda v: v.sum(axis=-1), True, "a sum over features", x, y)


@check("is_additive.unchanged", needs=["is_additive.attention_and_ffn"])
def test_is_additive_leaves_x_and_y_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x and y are the same afterwards: their sum is a new array."""
    # x += y gives the right verdict once.
    x, y, W = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    kept = [lab.kept(x), lab.kept(y)]
    _additive(lab, lambda v: v @ W, True, "a matrix", *kept)
    compare.unchanged("is_additive", ("x", "y"), kept, (x, y))


# ---- collapse_two_layers(W1, b1, W2, b2) -> (W, b)
_ONE = "(x W1 + b1) W2 + b2 multiplied out: what stands with x is W, the rest is b."


def _collapse(lab: Lab, rng: np.random.Generator, d: int, d_ff: int, d_out: int, hint: str = _ONE) -> None:
    layers = _layers(rng, d, d_ff, d_out)
    _collapsed(lab.collapse_two_layers(*layers), layers, hint)


def _layers(rng: np.random.Generator, d: int, d_ff: int, d_out: int) -> list[Floats]:
    return [rng.normal(size=shape) for shape in ((d, d_ff), (d_ff,), (d_ff, d_out), (d_out,))]


def _collapsed(answer: Any, layers: Sequence[Floats], hint: str = _ONE) -> None:
    W, b = compare.pair(answer, "W", "b")
    expected_W, expected_b = truth.collapse_two_layers(*layers)
    W1, b1, W2, b2 = (np.abs(layer) for layer in layers)
    # The truth is a difference of what unit vectors become, so it is rounded at the size of both parts together.
    tolerance = 4 * compare.SAFETY * 2.0**-53 * float(((W1 + b1) @ W2 + b2).max())
    compare.agree(W, expected_W, tolerance, name="W", hint=hint)
    compare.agree(b, expected_b, tolerance, name="b", hint=hint)


@check("collapse_two_layers.both_parts")
def test_two_layers_are_one(lab: Lab, rng: np.random.Generator) -> None:
    """Two layers with nothing between them are one matrix and one bias."""
    # b1 goes through W2: b1 + b2, or b2 alone, is not the bias. All widths differ.
    _collapse(lab, rng, 3, 7, 4)


@check("collapse_two_layers.square", needs=["collapse_two_layers.both_parts"])
def test_square_layers_in_their_order(lab: Lab, rng: np.random.Generator) -> None:
    """Square matrices are multiplied in the order in which x meets them."""
    # W2 @ W1 fits as well.
    _collapse(lab, rng, 4, 4, 4, f"x meets W1 first. {_ONE}")


@check("collapse_two_layers.widths", needs=["collapse_two_layers.both_parts"])
def test_layers_of_width_one(lab: Lab, rng: np.random.Generator) -> None:
    """Layers as narrow as one feature keep their axes."""
    for widths in ((1, 5, 1), (4, 1, 3), (1, 1, 1)):
        _collapse(lab, rng, *widths, hint="W has the shape (d, d_out) and b (d_out,), whatever the widths are.")


@check("collapse_two_layers.unchanged", needs=["collapse_two_layers.both_parts"])
def test_collapsing_leaves_both_layers_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The matrices and biases of both layers are the same afterwards."""
    # b2 += b1 @ W2 gives the right bias once.
    layers = _layers(rng, 3, 5, 4)
    kept = [lab.kept(layer) for layer in layers]
    _collapsed(lab.collapse_two_layers(*kept), layers)
    compare.unchanged("collapse_two_layers", ("W1", "b1", "W2", "b2"), kept, layers)


# ---- ffn_as_slots(x, W1, b1, W2)
_SLOTS = "Slot i adds its activation, max(0, x·W1[:, i] + b1[i]), times W2[i]."


def _slots(lab: Lab, rng: np.random.Generator, shape: tuple[int, ...], d_ff: int, d_out: int) -> None:
    arrays = _slotted(rng, shape, d_ff, d_out)
    _added(lab.ffn_as_slots(*arrays), arrays)


def _slotted(rng: np.random.Generator, shape: tuple[int, ...], d_ff: int, d_out: int) -> list[Floats]:
    """``x``, ``W1``, ``b1`` and ``W2``."""
    return [rng.normal(size=s) for s in (shape, (shape[-1], d_ff), (d_ff,), (d_ff, d_out))]


def _added(answer: Any, arrays: Sequence[Floats]) -> None:
    x, W1, b1, W2 = arrays
    bound = float((np.abs(x) @ np.abs(W1) + np.abs(b1)).max()) * float(np.abs(W2).max())
    tolerance = 2 * compare.SAFETY * 2.0**-53 * bound
    compare.agree(answer, truth.ffn_as_slots(x, W1, b1, W2), tolerance, name="slots", hint=_SLOTS)


@check("ffn_as_slots.each_slot")
def test_what_each_slot_adds(lab: Lab, rng: np.random.Generator) -> None:
    """Each slot's own contribution: how strongly it matched, times what it says."""
    # The sum over slots is the layer's output; activations before ReLU, and columns of W2 in place of rows, show.
    _slots(lab, rng, (5, 3), 6, 4)


@check("ffn_as_slots.square", needs=["ffn_as_slots.each_slot"])
def test_slots_of_square_layers(lab: Lab, rng: np.random.Generator) -> None:
    """Where all widths are equal, slots still stand before what they write."""
    # Every transpose, and slots behind the output's features, fit here.
    _slots(lab, rng, (4, 4), 4, 4)


@check("ffn_as_slots.batch", needs=["ffn_as_slots.each_slot"])
def test_slots_of_batches(lab: Lab, rng: np.random.Generator) -> None:
    """Any leading axes, and a single token."""
    for shape in ((2, 3, 4), (4,), (2, 1, 2, 3)):
        _slots(lab, rng, shape, 5, 2)


@check("ffn_as_slots.unchanged", needs=["ffn_as_slots.each_slot"])
def test_slots_leave_their_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x, W1, b1 and W2 are the same afterwards."""
    # W2 *= … and b1 += … give the right slots once.
    arrays = _slotted(rng, (3,), 5, 2)
    kept = [lab.kept(array) for array in arrays]
    _added(lab.ffn_as_slots(*kept), arrays)
    compare.unchanged("ffn_as_slots", ("x", "W1", "b1", "W2"), kept, arrays)
