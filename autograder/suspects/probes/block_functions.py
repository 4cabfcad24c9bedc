"""Probes of the functions of ``block_receipts`` that are handed functions, models, devices, or many batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.reference.watched_model import WatchedModel
from autograder.suspects.probes import block_arrays, block_numbers
from autograder.suspects.probes.record import Array, Notes

Function = Callable[[Array], Array]


def observe_pre_norm(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Two functions that are not linear, each of them left out, and what was called with what; x afterwards."""
    x = rng.normal(size=(3, 4))

    def norm(v: Any) -> Array:
        return np.asarray(np.tanh(0.7 * np.asarray(v, np.float64)) + 0.4)

    def sublayer(v: Any) -> Array:
        return np.asarray(np.cos(1.3 * np.asarray(v, np.float64)) - 0.2)

    def same(v: Any) -> Array:
        return np.asarray(v, np.float64)

    def nothing(v: Any) -> Array:
        return 0.0 * np.asarray(v, np.float64)

    for name, one, other in (
        ("both", norm, sublayer),
        ("no norm", same, sublayer),
        ("no sublayer", norm, same),
        ("silent sublayer", norm, nothing),
        ("silent norm", nothing, sublayer),
        ("exchanged", sublayer, norm),
    ):
        notes.answer(name, lambda: lab.pre_norm(x, one, other))
    kept = lab.kept(x)
    notes.answer("kept", lambda: lab.pre_norm(kept, norm, sublayer))
    notes.answer("x afterwards", kept.read)


def observe_is_additive(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Verdicts on functions that are linear, double only, have a bias, one odd entry, cancelling errors, NaN."""
    x, y = rng.normal(size=(2, 4, 3))
    W, up = rng.normal(size=(3, 3)), rng.normal(size=(3, 8))
    weights = rng.dirichlet(np.ones(4), size=4)
    signs = np.where(np.arange(12) % 2, 1.0, -1.0).reshape(4, 3)
    odd, broken = np.zeros((4, 3)), np.ones((4, 3))
    odd[2, 1], broken[1, 1] = 1e-3, np.nan

    def ask(name: str, fn: Function, **named: float) -> None:
        def handed_over(values: Any) -> Array:
            given = np.asarray(values, np.float64)
            if given.size > 1000:
                raise ValueError("far more than x and y")
            return fn(given)

        notes.answer(name, lambda: lab.is_additive(handed_over, x, y, **named), kinds=True)

    ask("a matrix", lambda v: v @ W)
    ask("fixed weights", lambda v: weights @ v)
    ask("relu", lambda v: np.maximum(v @ up, 0))
    ask("absolute", np.abs)
    ask("a bias upwards", lambda v: v @ W - 0.5)
    ask("a bias downwards", lambda v: v @ W + 0.5)
    ask("cancelling", lambda v: v + signs)
    ask("one odd entry", lambda v: v + odd)
    ask("huge", lambda v: 1e9 * (v @ W))
    ask("tiny bias", lambda v: v @ W + 1e-6)
    ask("very tiny bias", lambda v: v @ W + 1e-7)
    ask("tiny bias, wide tolerance", lambda v: v @ W + 1e-6, tolerance=1e-2)
    ask("small bias, wide tolerance", lambda v: v @ W + 1e-3, tolerance=1e-1)
    ask("square", lambda v: v * v)
    ask("NaN", lambda v: v * broken)
    ask("NaN everywhere", lambda v: v * np.nan)


def observe_scaling_sweep(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Batches of several widths and sizes, each by itself and two together."""
    keys = ("logit_std", "max_weight_unscaled", "entropy_unscaled", "max_weight_scaled", "entropy_scaled")

    def batch(trials: int, n_keys: int, d_k: int) -> tuple[Array, Array]:
        return rng.normal(size=(trials, d_k)), rng.normal(size=(trials, n_keys, d_k))

    def row(name: str, batches: list[tuple[Array, Array]], at: int) -> None:
        def pick() -> Any:
            found = lab.scaling_sweep(batches)
            return found[at] if isinstance(found, list) and len(found) == len(batches) else found

        notes.mapping(name, pick, keys)

    row("narrow", [batch(5, 4, 3)], 0)
    row("wide", [batch(4, 6, 25)], 0)
    row("width one", [batch(6, 3, 1)], 0)
    row("one trial", [batch(1, 5, 4)], 0)
    row("one key", [batch(4, 1, 3)], 0)
    two = [batch(3, 3, 2), batch(5, 4, 9)]
    row("first of two", two, 0)
    row("second of two", two, 1)


def observe_moved_positions(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Answers over the truth for the ids that were fed, in models that see the past, all, or little."""

    def ask(name: str, sees: str, n: int, position: int, *, vocab: int = 11, first: int | None = None) -> None:
        model = WatchedModel(rng, vocab=vocab, sees=sees)
        tokens = [int(i) for i in rng.integers(1, vocab - 1, size=n)]
        if first is not None:
            tokens[position] = first
        kept = lab.kept(list(tokens))
        seen = lab.stand_in(model, attributes={"vocab": vocab})
        notes.answer(name, lambda: _relative(lab.moved_positions(seen, kept, position), model, tokens))
        swaps = {tuple(i for i, (a, b) in enumerate(zip(fed, tokens, strict=False)) if a != b) for fed in model.calls}
        notes.write(f"{name}: ids that were changed", str(sorted(swaps)))
        notes.write(f"{name}: tokens afterwards", kept.get_whole() == tokens)

    ask("causal", "past", 6, 3)
    ask("first", "past", 5, 0)
    ask("last", "past", 5, 4)
    ask("leak", "all", 5, 3)
    ask("itself only", "itself", 5, 2)
    ask("one back", "previous", 6, 2)
    ask("the highest id", "past", 5, 2, first=10)
    ask("the lowest id", "past", 5, 2, first=0)
    ask("two words", "past", 4, 1, vocab=3, first=1)


def _relative(found: Any, model: WatchedModel, tokens: list[int]) -> Any:
    """The answer in parts of the right one for the ids that were fed: 1 where it is right, and 0 where nothing moved
    and 0 was said, so that which other id was chosen makes no difference.
    """
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf" or found.size > 1000 or not model.calls:
        return found
    before = model.logits(tuple(tokens))
    gaps = [np.abs(model.logits(fed) - before).max(axis=-1) for fed in model.calls if len(fed) == len(tokens)]
    largest = np.max(gaps, axis=0) if gaps else np.zeros(len(tokens))
    if found.shape != largest.shape:
        return f"an array of another shape, {found.ndim} axes"
    return np.where(largest > 0, found / np.where(largest > 0, largest, 1.0), found)


def observe_same_on_both(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Verdicts on answers that are equal, rounded, off in one entry, in sign, in shape, or NaN."""
    x = rng.normal(size=(3, 4)) + 2
    signs = np.where(np.arange(12) % 2, 0.01, -0.01).reshape(3, 4)
    odd, broken = x.copy(), x.copy()
    odd[1, 2] += 1e-3
    broken[1, 1] = np.nan

    def ask(name: str, one: Array, other: Array, **named: float) -> None:
        asked: list[str] = []

        def fn(device: Any) -> Array:
            asked.append(str(device)[:20])
            return one if device == "one" else other

        notes.answer(name, lambda: lab.same_on_both(fn, "one", "other", **named), kinds=True)
        notes.write(f"{name}: asked", ", ".join(sorted(set(asked))))

    ask("equal", x, x.copy())
    ask("rounded", x, x + 1e-10)
    ask("rounded downwards", x, x - 1e-10)
    ask("below", x, x - 0.01)
    ask("above", x, x + 0.01)
    ask("cancelling", x, x + signs)
    ask("one entry", x, odd)
    ask("one entry, the other way", odd, x)
    ask("a little more than allowed", x, x + 5e-6)
    ask("wide tolerance", x, x + 1e-4, tolerance=1e-2)
    ask("narrow tolerance", x, x + 1e-9, tolerance=1e-12)
    ask("NaN in one", x, broken)
    ask("NaN in the other", broken, x)
    ask("NaN in both", broken, broken.copy())
    ask("one row for all", np.repeat(x[:1], 3, axis=0), x[:1])
    ask("an axis more", x[:1], x[0])
    ask("shorter", x[0], x[0, :3])


PROBES: dict[str, block_numbers.Probe] = {
    **block_numbers.PROBES,
    **{
        name.removeprefix("observe_"): probe
        for name, probe in vars(block_arrays).items()
        if name.startswith("observe_")
    },
    **{name.removeprefix("observe_"): probe for name, probe in globals().items() if name.startswith("observe_")},
}
