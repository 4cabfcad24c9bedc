"""The truth about a linear layer in float64, on other paths than a student takes: no matrix product, no calculus."""

from __future__ import annotations

import numpy as np

from autograder.checks.inputs import Floats


def linear(X: Floats, W: Floats, b: Floats) -> Floats:
    """``(..., d_out)`` of ``X (..., d_in)``, ``W (d_in, d_out)``, ``b (d_out,)``, entry for entry."""
    out = np.empty((*X.shape[:-1], len(b)))
    for at in np.ndindex(out.shape):
        row, column = X[at[:-1]], W[:, at[-1]]
        out[at] = b[at[-1]] + sum(x * w for x, w in zip(row, column, strict=True))
    return out


def loss(X: Floats, W: Floats, b: Floats, Y: Floats) -> float:
    """The mean of the squared errors over every example and output."""
    return float(np.mean((linear(X, W, b) - Y) ** 2))


def slopes(X: Floats, W: Floats, b: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """``dW (d_in, d_out)`` and ``db (d_out,)``: differences over a step of 1, which are exact where the loss is a
    parabola.
    """

    def slope(of: Floats) -> Floats:
        found = np.empty_like(of)
        for at in np.ndindex(of.shape):
            kept = of[at]
            of[at] = kept + 1
            up = loss(X, W, b, Y)
            of[at] = kept - 1
            found[at] = (up - loss(X, W, b, Y)) / 2
            of[at] = kept
        return found

    W, b = W.copy(), b.copy()
    return slope(W), slope(b)
