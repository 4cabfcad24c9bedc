"""Part 13, backward costs two: ``linear_backward`` (article, section 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import block as truth

check = Task("block_receipts", "backward")

_BOTH = "For Y = X W: dW = Xᵀ dY has the shape of W, dX = dY Wᵀ has the shape of X."


def _draw(rng: np.random.Generator, n: int, d_in: int, d_out: int) -> list[np.ndarray]:
    return [rng.normal(size=shape) for shape in ((n, d_in), (d_in, d_out), (n, d_out))]


def _compare(answer: Any, inputs: Sequence[np.ndarray], hint: str) -> None:
    X, W, dY = inputs
    dW, dX = compare.pair(answer, "dW", "dX")
    expected_dW, expected_dX = truth.linear_backward(X, W, dY)
    compare.agree(dW, expected_dW, compare.product_tolerance(X.T, dY), name="dW", hint=hint)
    compare.agree(dX, expected_dX, compare.product_tolerance(dY, W.T), name="dX", hint=hint)


@check("linear_backward.shapes")
def test_two_products(lab: Lab, rng: np.random.Generator) -> None:
    """What the weights should change by, and what the input should have been: one product each, in this order."""
    # All sizes differ, so only the right transposes fit; the pair exchanged shows as well.
    inputs = _draw(rng, 5, 3, 4)
    _compare(lab.linear_backward(*inputs), inputs, _BOTH)


@check("linear_backward.square", needs=["linear_backward.shapes"])
def test_square_products(lab: Lab, rng: np.random.Generator) -> None:
    """Where all sizes are equal, the transposes are still where they belong."""
    # Every wrong transpose fits here.
    inputs = _draw(rng, 4, 4, 4)
    _compare(lab.linear_backward(*inputs), inputs, _BOTH)


@check("linear_backward.sum_over_rows", needs=["linear_backward.shapes"])
def test_gradients_are_sums_over_rows(lab: Lab, rng: np.random.Generator) -> None:
    """One row, or many: the gradient of the weights is a sum over rows, not a mean."""
    for n in (1, 2, 8):
        inputs = _draw(rng, n, 2, 3)
        _compare(lab.linear_backward(*inputs), inputs, f"Every row adds to dW; nothing is divided by n. {_BOTH}")


@check("linear_backward.float32", needs=["linear_backward.shapes"])
def test_gradients_in_single_precision(lab: Lab, rng: np.random.Generator) -> None:
    """float32 inputs are as right as their precision allows, and may be transposed views."""
    inputs = [array.astype(np.float32) for array in _draw(rng, 6, 3, 5)]
    views = [lab.layout(array, "transposed") for array in inputs]
    _compare(lab.linear_backward(*views), inputs, _BOTH)


@check("linear_backward.autograd", needs=["linear_backward.shapes"])
def test_gradients_of_a_loss(lab: Lab, rng: np.random.Generator) -> None:
    """They are the derivatives of a loss: a small step along them changes it by as much as they say."""
    # dY of a loss that is a sum of squares of X W. The loss of a step, worked out without any gradient, is the witness.
    X, W, _ = _draw(rng, 4, 3, 2)
    dW, dX = compare.pair(lab.linear_backward(X, W, 2 * X @ W), "dW", "dX")
    grad_W = compare.array(dW, W.shape, name="dW")
    grad_X = compare.array(dX, X.shape, name="dX")
    step_W, step_X = rng.normal(size=W.shape), rng.normal(size=X.shape)
    for name, told, ahead, behind in (
        ("dW", grad_W * step_W, X @ (W + step_W), X @ (W - step_W)),
        ("dX", grad_X * step_X, (X + step_X) @ W, (X - step_X) @ W),
    ):
        # A quadratic loss: its central difference is exact, so a step of 1 needs no small number.
        slope = float((ahead**2).sum() - (behind**2).sum()) / 2
        compare.agree(told.sum(), slope, 1e-9 * (1 + abs(slope)), name=f"the slope along {name}", hint=_BOTH)


@check("linear_backward.unchanged", needs=["linear_backward.shapes"])
def test_backward_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X, W and dY are the same afterwards."""
    inputs = _draw(rng, 4, 3, 2)
    kept = [lab.kept(array) for array in inputs]
    _compare(lab.linear_backward(*kept), inputs, _BOTH)
    compare.unchanged("linear_backward", ("X", "W", "dY"), kept, inputs)
