"""Part 1, ``linear(X, W, b)`` -> ``(..., d_out)``."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import Floats
from autograder.lab import Lab
from autograder.reference import linear as truth

check = Task("linear_layers", "layer")


def _is_right(lab: Lab, X: Floats, W: Floats, b: Floats, hint: str) -> None:
    # One rounding for each of the products, and one for adding b.
    tolerance = compare.product_tolerance(X, W) + compare.SAFETY * compare.roundoff(b) * float(np.abs(b).max())
    compare.agree(lab.linear(X, W, b), truth.linear(X, W, b), tolerance, hint=hint)


@check("linear.bias_alone")
def test_of_zeros_the_bias_is_left(lab: Lab, rng: np.random.Generator) -> None:
    """Where an example is all zeros, what comes out is the bias."""
    # W is not zero: what multiplies by b, or forgets it, cannot be right here.
    _is_right(lab, np.zeros((3, 4)), rng.normal(size=(4, 2)), rng.normal(size=2), "With X all zeros only b is left.")


@check("linear.rectangular", needs=["linear.bias_alone"])
def test_inputs_and_outputs_may_differ_in_number(lab: Lab, rng: np.random.Generator) -> None:
    """The layer may have more inputs than outputs, and more outputs than inputs."""
    for d_in, d_out in ((5, 2), (2, 5)):  # with a square W its transpose would fit too
        X, W, b = rng.normal(size=(3, d_in)), rng.normal(size=(d_in, d_out)), rng.normal(size=d_out)
        _is_right(lab, X, W, b, "Compare one row with X[i] @ W + b.")


@check("linear.leading_axes", needs=["linear.bias_alone"])
def test_any_number_of_leading_axes(lab: Lab, rng: np.random.Generator) -> None:
    """One example, a batch of examples and a batch of sentences give each row the same treatment."""
    # Square where it can be: a bias that was added along the wrong axis has the right shape here, and wrong numbers.
    W, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    for lead in ((), (3,), (2, 3)):
        _is_right(lab, rng.normal(size=(*lead, 3)), W, b, "The last axis of X is the one that meets W.")


@check("linear.inputs", needs=["linear.rectangular"])
def test_inputs_stay_as_they_are(lab: Lab, rng: np.random.Generator) -> None:
    """The arrays that are handed over are not changed."""
    before = [rng.normal(size=shape) for shape in ((4, 3), (3, 3), (3,))]
    kept = [lab.kept(array) for array in before]
    compare.agree(lab.linear(*kept), truth.linear(*before), 1e-12)  # sums of four numbers of size one
    compare.unchanged("linear", ("X", "W", "b"), kept, before)
