"""Probes of step 4: functions with known gaps, tables of positions, and reports on several sets of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.suspects.probes.record import Array, Notes, kind

NAMES = ("plain", "positions", "causal")


def observe_permutation_gap(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Functions that break equivariance in one way each, and an order that is not its own inverse."""
    # Cycles of 3 and 4: neither the order nor its square is the identity.
    X, perm = rng.normal(size=(7, 4)), np.array([1, 2, 0, 4, 5, 6, 3])
    A = rng.normal(size=(4, 3))
    slot = rng.uniform(0.5, 1.5, size=(7, 1))

    def ask(name: str, fn: Callable[[Array], Array], X: Array = X, perm: Array = perm) -> None:
        def guarded(Z: Any) -> Array:
            if not isinstance(Z, np.ndarray) or Z.ndim != 2 or Z.size > 4 * X.size:
                raise TypeError("fn takes the array of tokens")
            return fn(Z)

        notes.answer(name, lambda: lab.permutation_gap(guarded, X, perm), kinds=True)

    def tokenwise(Z: Array) -> Array:
        return np.tanh(Z @ A)

    def at_slot(which: int, size: float) -> Callable[[Array], Array]:
        """Token by token, but one slot gets something of its own."""

        def fn(Z: Array) -> Array:
            out = tokenwise(Z)
            out[which] += size * np.array([1.0, 0.0, 0.5])
            return out

        return fn

    ask("equivariant", tokenwise)
    ask("slots weighted", lambda Z: slot[: len(Z)] * tokenwise(Z))
    # A slot that gains: the shuffled side gains in one row and loses in another, so move both by hand.
    ask("last slot gains", at_slot(-1, 0.7))
    ask("first slot gains", at_slot(0, 0.4))
    ask("a tiny gap", at_slot(2, 3e-7))
    ask("every slot alike", lambda Z: tokenwise(Z)[::-1])
    marked = X[perm[0], 0]
    ask("higher when shuffled", lambda Z: tokenwise(Z) + (0.6 if Z[0, 0] == marked else 0.0))
    ask("lower when shuffled", lambda Z: tokenwise(Z) - (0.6 if Z[0, 0] == marked else 0.0))
    ask("last row when shuffled", lambda Z: _row(tokenwise(Z), -1, 0.5 if Z[0, 0] == marked else 0.0))
    ask("first row when shuffled", lambda Z: _row(tokenwise(Z), 0, 0.3 if Z[0, 0] == marked else 0.0))
    # As many columns as rows: exchanging columns raises nothing.
    ask("square", lambda Z: np.cumsum(Z, axis=0), rng.normal(size=(5, 5)), np.array([1, 2, 3, 4, 0]))
    # Its own inverse: only here is shuffling again the same as putting back.
    ask("a swap", lambda Z: slot[: len(Z)] * tokenwise(Z), perm=np.array([1, 0, 2, 3, 4, 5, 6]))
    kept = lab.kept(X)
    notes.answer("kept tokens", lambda: lab.permutation_gap(tokenwise, kept, perm))
    notes.answer("X afterwards", kept.read)


def _row(out: Array, which: int, change: float) -> Array:
    out = np.array(out)
    out[which] += change
    return out


def observe_sinusoidal_positions(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths with one, two and more frequencies; as many positions as columns; few and many positions."""
    sizes = {f"{n} positions, {d} columns": (n, d) for n, d in ((5, 6), (3, 4), (4, 4), (6, 2), (1, 8))}
    for name, (n, d) in {**sizes, "many positions": (int(rng.integers(150, 250)), 10)}.items():
        notes.answer(name, lambda: lab.sinusoidal_positions(n, d))


def observe_equivariance_report(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The chapter's case, fresh matrices, other sizes of the positions."""

    def ask(name: str, *inputs: Any, **scale: float) -> None:
        found: Any
        try:
            found = lab.equivariance_report(*inputs, **scale)
        except (failures.TimedOut, failures.Died):
            raise
        except failures.SubmissionFault as error:
            found = f"raises {type(error).__name__}"
        for part in NAMES:
            value = found.get(part, "missing") if isinstance(found, dict) else f"no mapping but {kind(found)}"
            notes.write(f"{name}: {part}", value)
            notes.write(f"{name}: {part}, kind", kind(value) if not isinstance(value, str) else value)

    matrices = (chapter.W_Q, chapter.W_K, chapter.W_V)
    ask("the chapter's", chapter.X, chapter.SHUFFLED, *matrices)
    fresh = [rng.normal(size=s) for s in ((4, 3), (4, 3), (4, 2))]
    # Five tokens in a cycle: neither its own inverse nor the square of it.
    X, perm = rng.normal(size=(5, 4)), np.array([2, 0, 3, 4, 1])
    ask("fresh", X, perm, *fresh)
    ask("larger positions", X, perm, *fresh, position_scale=1.7)
    ask("no positions", X, perm, *fresh, position_scale=0.0)
    ask("square", rng.normal(size=(6, 4)), np.array([1, 2, 0, 4, 5, 3]), *(rng.normal(size=(4, 4)) for _ in range(3)))
    kept = lab.kept(X)
    ask("kept tokens", kept, perm, *fresh)
    notes.answer("X afterwards", kept.read)
