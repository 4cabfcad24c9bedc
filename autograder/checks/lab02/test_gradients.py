"""Part 2, ``loss_gradients(X, W, b, Y)`` -> ``{"loss", "dW", "db"}``."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import Floats
from autograder.lab import Lab
from autograder.reference import linear as truth

check = Task("linear_layers", "gradients")

#: Losses of size 10 to 100, of which the truth takes differences: some 1e-14 each. The smallest mistake is a factor.
TOLERANCE = 1e-10


def _drawn(rng: np.random.Generator) -> list[Floats]:
    # n, d_in and d_out all differ, so that no mean over the wrong axis and no transpose has the right number or shape.
    return [rng.normal(size=shape) for shape in ((7, 3), (3, 2), (2,), (7, 2))]


@check("loss_gradients.loss")
def test_the_loss_is_the_mean_over_every_entry(lab: Lab, rng: np.random.Generator) -> None:
    """The loss is the mean of the squared errors, over all examples and all outputs."""
    drawn = _drawn(rng)
    found = compare.mapping(lab.loss_gradients(*drawn), ["loss"], "The result")["loss"]
    hint = "With n examples and d_out outputs there are n times d_out squared errors."
    compare.close(found, truth.loss(*drawn), name="loss", hint=hint)


@check("loss_gradients.dW")
def test_each_weight_has_its_slope(lab: Lab, rng: np.random.Generator) -> None:
    """Each entry of dW is the slope of the loss for that entry of W."""
    drawn = _drawn(rng)
    found = compare.mapping(lab.loss_gradients(*drawn), ["dW"], "The result")["dW"]
    hint = "Move one entry of W up and down by 1, and halve the difference of the losses."
    compare.agree(found, truth.slopes(*drawn)[0], TOLERANCE, name="dW", hint=hint)


@check("loss_gradients.db")
def test_the_bias_collects_the_slopes_of_all_examples(lab: Lab, rng: np.random.Generator) -> None:
    """Each entry of db is the slope of the loss for that entry of b, which every example shares."""
    drawn = _drawn(rng)
    found = compare.mapping(lab.loss_gradients(*drawn), ["db"], "The result")["db"]
    compare.agree(found, truth.slopes(*drawn)[1], TOLERANCE, name="db", hint="Every example has its part in it.")
