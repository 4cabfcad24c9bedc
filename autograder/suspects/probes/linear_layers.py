"""Probes of lab 2: questions to each function, to which its known mistakes give different answers."""

from __future__ import annotations

import functools

import numpy as np

from autograder.lab import Lab
from autograder.suspects.probes.record import Notes


def observe_linear(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """More inputs than outputs, fewer, and as many; no bias, no example of weight, leading axes."""
    for name, lead, d_in, d_out in (
        ("narrow", (4,), 5, 2),
        ("wide", (4,), 2, 5),
        ("square", (3,), 3, 3),
        ("one", (), 3, 2),
        ("one, square", (), 3, 3),
        ("sentences", (2, 3), 3, 3),
    ):
        X, W, b = rng.normal(size=(*lead, d_in)), rng.normal(size=(d_in, d_out)), rng.normal(size=d_out)
        notes.answer(name, functools.partial(lab.linear, X, W, b))
        notes.answer(f"{name}, no bias", functools.partial(lab.linear, X, W, 0 * b))
        notes.answer(f"{name}, zeros", functools.partial(lab.linear, 0 * X, W, b))


def observe_loss_gradients(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Sizes that all differ, one output, one example, and predictions that are right but for a constant."""
    sizes = {"plain": (7, 3, 2), "one output": (6, 3, 1), "one example": (1, 2, 4), "many": (50, 2, 3)}
    for name, (n, d_in, d_out) in sizes.items():
        X, W, b = rng.normal(size=(n, d_in)), rng.normal(size=(d_in, d_out)), rng.normal(size=d_out)
        targets = {"": rng.normal(size=(n, d_out)), ", off by one": X @ W + b - 1}
        for what, Y in targets.items():
            ask = functools.partial(lab.loss_gradients, X, W, b, Y)
            notes.mapping(f"{name}{what}", ask, ("loss", "dW", "db"))
