"""Mistakes of lab 2: the bias, the transpose, and what a mean is taken over."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

PART_1, PART_2 = "Lab 2, part 1", "Lab 2, part 2"


@suspect("bias_left_out", task="layer", hint="The outputs are those of a layer without its bias.", read=PART_1)
def linear(X, W, b):
    return X @ W


@suspect(
    "weights_transposed",
    task="layer",
    hint="W seems to be turned: its first axis belongs to the inputs, its second one to the outputs.",
    read=PART_1,
    also=(("X @ W.T", "np.einsum('...i,oi->...o', X, W)"),),
)
def linear(X, W, b):
    return X @ W.T + b


@suspect(
    "bias_per_example",
    task="layer",
    hint="The bias is added along the wrong axis: there is one number for each output, not for each example.",
    read=PART_1,
)
def linear(X, W, b):
    return X @ W + b[:, None]


@suspect(
    "sum_for_mean",
    task="gradients",
    hint="The squared errors are added up; a mean divides by how many there are.",
    read=PART_2,
)
def loss_gradients(X, W, b, Y):
    error = linear(X, W, b) - Y
    return {"loss": (error**2).sum(), "dW": 2 * X.T @ error, "db": 2 * error.sum(axis=0)}


@suspect(
    "mean_over_examples_alone",
    task="gradients",
    hint="The mean is over the examples only; it runs over the outputs as well.",
    read=PART_2,
)
def loss_gradients(X, W, b, Y):
    error = linear(X, W, b) - Y
    slope = 2 * error / len(X)
    return {"loss": (error**2).sum() / len(X), "dW": X.T @ slope, "db": slope.sum(axis=0)}


@suspect(
    "two_of_the_square_forgotten",
    task="gradients",
    hint="The loss is right and every slope is half of what it should be: think of the derivative of a square.",
    read=PART_2,
)
def loss_gradients(X, W, b, Y):
    error = linear(X, W, b) - Y
    slope = error / error.size
    return {"loss": (error**2).mean(), "dW": X.T @ slope, "db": slope.sum(axis=0)}


@suspect(
    "slopes_point_down",
    task="gradients",
    hint="The slopes have the wrong sign: which way does the loss go when the prediction grows?",
    read=PART_2,
)
def loss_gradients(X, W, b, Y):
    error = Y - linear(X, W, b)
    slope = 2 * error / error.size
    return {"loss": (error**2).mean(), "dW": X.T @ slope, "db": slope.sum(axis=0)}


@suspect(
    "bias_slope_averaged",
    task="gradients",
    hint="dW is right, and db is a mean over the examples where each of them adds its part.",
    read=PART_2,
)
def loss_gradients(X, W, b, Y):
    error = linear(X, W, b) - Y
    slope = 2 * error / error.size
    return {"loss": (error**2).mean(), "dW": X.T @ slope, "db": slope.mean(axis=0)}


@same_mistake("bias_slope_averaged")
def loss_gradients(X, W, b, Y):
    error = linear(X, W, b) - Y
    slope = 2 * error / Y.shape[1]
    return {"loss": (error**2).mean(), "dW": X.T @ slope / len(X), "db": slope.mean(axis=0) / len(X)}
