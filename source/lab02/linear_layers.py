# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2. A linear layer and its gradients
#
# Two functions: the layer that every larger model is made of, and the slopes by which it learns. Count on half an hour.
#
# Cells that say `check("layer")` run *public* checks, which are quick and meant to help. The mark comes from *hidden*
# checks on inputs that are drawn afresh for your course. Keep the names and the order of the arguments, and do not change
# the arrays that you are given.
#
# Stuck? In a terminal, `attnlab hint layer` gives a hint.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": false, "locked": true, "task": false, "grade_id": "setup"}
from __future__ import annotations

import numpy as np

from attnlab import attempt, check, experiment, progress

# %% [markdown]
# ## Part 1. The layer
#
# - **Build:** `linear`.
# - **Points:** 4 (linear 4).
#
# One row of `X` is one example. The layer multiplies it by `W` and adds `b`, the same for every example:
#
# $$Y = X W + b$$
#
# `...` in a shape means any number of leading axes, none included: the same line of code serves one example, a batch of
# them, and a batch of sentences.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "layer-linear"}
def linear(X: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The layer's output `(..., d_out)` for `X (..., d_in)`, `W (d_in, d_out)` and `b (d_out,)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("linear: multiply every row of X by W, and add b to each of the results.")
    return X @ W + b
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 4, "grade_id": "layer-check"}
check("layer")

# %% [markdown]
# ## Part 2. The slopes
#
# - **Build:** `loss_gradients`, with `linear` in it.
# - **Points:** 6 (loss_gradients 6).
#
# The loss is the mean of the squared errors over *all* entries, `n` examples times `d_out` outputs:
#
# $$L = \frac{1}{n\,d_{out}} \sum_{i,j} (XW + b - Y)_{ij}^2$$
#
# `dW` and `db` hold the slope of `L` for each entry of `W` and of `b`, and have their shapes. To test a slope without
# any algebra, move one entry up by 1 and down by 1, and halve the difference of the two losses: `L` is a parabola in
# every single entry, and on a parabola that is exact.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gradients-loss-gradients"}
def loss_gradients(X: np.ndarray, W: np.ndarray, b: np.ndarray, Y: np.ndarray) -> dict[str, float | np.ndarray]:
    """`{"loss": float, "dW": (d_in, d_out), "db": (d_out,)}` for `X (n, d_in)` and the targets `Y (n, d_out)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("loss_gradients: the mean squared error, and its slopes for W and for b.")
    error = linear(X, W, b) - Y
    slope = 2 * error / error.size
    return {"loss": float(np.mean(error**2)), "dW": X.T @ slope, "db": slope.sum(axis=0)}
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 6, "grade_id": "gradients-check"}
check("gradients")

# %% [markdown]
# ## What it is for
#
# Thirty steps down the slope. The loss falls, fast at first and slowly afterwards.

# %%
if experiment(__name__):
    with attempt("part 2"):
        rng = np.random.default_rng(0)
        X, true_W = rng.normal(size=(200, 5)), rng.normal(size=(5, 2))
        Y = X @ true_W + 0.1 * rng.normal(size=(200, 2))
        W, b = np.zeros((5, 2)), np.zeros(2)
        for step in range(30):
            found = loss_gradients(X, W, b, Y)
            W, b = W - 0.3 * found["dW"], b - 0.3 * found["db"]
            if step % 5 == 0:
                print(f"step {step:2d}: loss {found['loss']:.4f}")

# %%
progress("linear_layers")
