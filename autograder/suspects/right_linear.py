"""Right definitions of what lab 2 asks for: the ground on which each suspect makes its one mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def linear(X: Array, W: Array, b: Array) -> Array:
    """Part 1: ``(..., d_out)``."""
    return np.asarray(X @ W + b)


def loss_gradients(X: Array, W: Array, b: Array, Y: Array) -> dict[str, Any]:
    """Part 2: the loss and its slopes."""
    error = linear(X, W, b) - Y
    slope = 2 * error / error.size
    return {"loss": float((error**2).mean()), "dW": X.T @ slope, "db": slope.sum(axis=0)}
