"""Probes of step 7: masks of every proportion, and functions that leak in one way each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.suspects.probes.record import Array, Notes


def observe_causal_mask(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Square, one query, a block behind cached keys, one key more than queries."""
    for name, sizes in {
        "square": (4,),
        "square, both given": (3, 3),
        "one token": (1,),
        "one query of five": (1, 5),
        "two behind three": (2, 5),
        "three behind one": (3, 4),
        "four behind many": (4, int(rng.integers(9, 14))),
        "larger square": (6,),
    }.items():
        notes.answer(name, lambda: lab.causal_mask(*sizes), kinds=True)


def observe_prefix_gap(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Causal functions, and leaks: into one row, in one direction, small, only as NaN."""
    X, x_new = rng.normal(size=(5, 3)), rng.normal(size=3)
    A = rng.normal(size=(3, 4))
    # The functions know the new token by its values, so a sequence without it does not leak.
    token = float(x_new[0])

    def before(Z: Array) -> Array:
        return np.tanh(np.cumsum(Z, axis=0) @ A)

    def leak(where: Any, size: Any) -> Callable[[Array], Array]:
        def fn(Z: Array) -> Array:
            out = before(Z)
            if Z[-1, 0] == token:
                out[where] += size
            return out

        return fn

    def ask(name: str, fn: Callable[[Array], Array]) -> None:
        def guarded(Z: Any) -> Array:
            if not isinstance(Z, np.ndarray) or Z.ndim != 2 or Z.shape[1] != 3 or len(Z) > 20:
                raise TypeError("fn takes the array of tokens")
            return fn(Z)

        notes.answer(name, lambda: lab.prefix_gap(guarded, X, x_new), kinds=True)

    ask("causal", before)
    ask("everything leaks", lambda Z: before(Z) + Z.sum(axis=0)[:1])
    ask("reads the last token", lambda Z: before(Z) + 0.4 * Z[-1:, :1])
    ask("reads the length", lambda Z: before(Z) / len(Z))
    ask("first row rises", leak(0, 0.31))
    ask("last old row rises", leak(-2, 0.42))
    ask("middle row falls", leak(2, np.array([-0.23, 0.0, 0.0, -0.05])))
    ask("one entry in the last column", leak((1, 3), 0.17))
    ask("a small leak", leak((3, 1), 4e-5))
    ask("a tiny leak", leak((3, 1), 3e-8))
    ask("cancelling leaks", leak(1, np.array([0.2, -0.2, 0.1, -0.1])))
    ask("the new row alone", leak(-1, 5.0))
    # In the first row: only there does every honest way to take a maximum keep it.
    ask("NaN everywhere", leak(..., np.nan))
    ask("NaN in the first row", leak(0, np.nan))
    kept = lab.kept(X)
    notes.answer("kept tokens", lambda: lab.prefix_gap(before, kept, x_new))
    notes.answer("X afterwards", kept.read)
