"""Probes of step 1: ``softmax``, ``attention`` and ``self_attention``, and what a library did for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder import failures
from autograder.checks.inputs import random_mask
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.suspects.probes.record import EXACT, SINGLE, Array, Notes

RESULTS = ("output", "weights")
#: Scores of a few thousand carry an error of a few thousand roundoffs.
LARGE_SCORES = 1e-8


def observe_softmax(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Which axis, how far it is from overflow, what it leaves behind."""

    def ask(name: str, x: Any, tolerance: float = EXACT, **axis: int) -> None:
        notes.answer(name, lambda: lab.softmax(x, **axis), tolerance=tolerance)

    ask("rows", rng.normal(size=(3, 5)))
    ask("one axis", rng.normal(size=5))
    # Square, so that sums which lost their axis line up with the wrong entries in silence.
    square = rng.normal(size=(4, 4))
    ask("square", square)
    ask("square, axis 0", square, axis=0)
    solid = rng.normal(size=(2, 3, 4))
    for axis in (0, 1, -2):
        ask(f"three axes, axis {axis}", solid, axis=axis)
    # Half float16 can hold, half beyond exp's range in float32, float64 and extended precision.
    ask("a thousand", np.array([1000.0, 1001.0, 1002.0]))
    ask("beyond extended precision", np.array([[20000.0, 19999.0, 19998.5]]))
    far = np.array([[0.0, 1.0, 2.0], [2000.0, 2001.0, 2003.0], [-3000.0, -3001.0, -3000.5]])
    ask("rows far apart", far)
    ask("columns far apart", far.T, axis=0)
    ask("one below many", np.array([[0.0, 900.0, 890.0, 895.0, 899.0]]))
    ask("one above many", np.array([[0.0, 0.0, 1500.0, 0.0, 0.0], [0.0, 600.0, 598.0, 600.0, 600.0]]))
    ask("float32 just beyond 88", np.array([[90.0, 95.0, 94.0]], dtype=np.float32), SINGLE)
    ask("float32 beyond 88", np.array([[95.0, 120.0, 119.0], [300.0, 299.0, 298.0]], dtype=np.float32), SINGLE)
    ask("moderately large", np.array([[52.0, 60.0, 59.0, 58.5], [-60.0, -52.0, -55.0, -53.0]]))
    ask("transposed", lab.layout(rng.normal(size=(3, 4)), "transposed"))
    ask("strided", lab.layout(rng.normal(size=(3, 4)), "strided"))
    _inputs_afterwards(notes, lab, "softmax", [rng.normal(size=(2, 3))], ("x",))
    # Same shape as the first question: an answer that was remembered is given again.
    ask("again, other numbers", rng.normal(size=(3, 5)))
    row = notes.observations[0].value
    if not isinstance(row, str):
        notes.write("row sums", row.sum(axis=-1) if row.ndim else row)
    notes.write("library", library(lab, "softmax", rng.normal(size=(3, 5))))


def observe_attention(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Scale, axes, mask, numbers of any size, memory."""

    def ask(name: str, *inputs: Any, mask: Any = None, tolerance: float = EXACT) -> None:
        named = {} if mask is None else {"mask": mask}
        notes.answer(name, lambda: lab.attention(*inputs, **named), parts=RESULTS, tolerance=tolerance)

    # d_k = 6 is no square number, and no other length here is 6; d_v and the numbers of tokens differ too.
    plain = _qkv(rng, (), 3, 5, 6, 2)
    ask("one token", *_qkv(rng, (), 1, 1, 4, 3))
    # Blocks of 2, 4 or 32 leave a remainder in 7 and 71, and scores that rise along the keys move the maximum.
    # Of five hundred weights, dropout spares all only once in a lifetime.
    Q, K, V = _qkv(rng, (), 7, 71, 4, 3)
    K[:, 0], Q[:, 0] = np.linspace(0, 3, 71), np.abs(Q[:, 0]) + 1
    notes.twice("many keys", lambda name: ask(name, Q, K, V))
    ask("rectangular", *plain)
    square = _qkv(rng, (), 4, 4, 4, 4)
    ask("square", *square)
    batch = _qkv(rng, (2,), 3, 5, 6, 4)
    ask("batch", *batch)
    heads = _qkv(rng, (2, 3), 4, 5, 3, 2)
    ask("batch and heads", *heads)
    # All axes alike: a transpose or a sum over the wrong axis raises nothing.
    ask("batch like tokens", *_qkv(rng, (3,), 3, 3, 3, 3))
    ask("heads like tokens", *_qkv(rng, (2, 3), 3, 3, 3, 3))
    ask("the chapter's", chapter.X @ chapter.W_Q, chapter.X @ chapter.W_K, chapter.X @ chapter.W_V)
    _masks(ask, rng, plain, square, batch, heads)
    _large(ask, rng)
    single = [a.astype(np.float32) for a in _qkv(rng, (2,), 4, 5, 6, 3)]
    ask("float32", *single, tolerance=SINGLE)
    layouts = [lab.layout(a, name) for a, name in zip(square, ("strided", "transposed", "readonly"), strict=True)]
    ask("memory layouts", *layouts)
    ask("other memory layouts", lab.layout(square[0], "transposed"), square[1], lab.layout(square[2], "transposed"))
    kept = _qkv(rng, (), 3, 3, 4, 4)
    _inputs_afterwards(notes, lab, "attention", [*kept, _mask(rng, (3, 3))], ("Q", "K", "V", "mask"))
    ask("again, other numbers", *_qkv(rng, (), 3, 5, 6, 2))
    seen = library(lab, "attention", *plain, mask=_mask(rng, (3, 5)))
    notes.write("library", seen)


def _masks(ask: Any, rng: np.random.Generator, plain: Any, square: Any, batch: Any, heads: Any) -> None:
    """Every shape a mask may have; no row is hidden altogether."""
    ask("mask", *plain, mask=_mask(rng, (3, 5)))
    ask("square mask", *square, mask=_mask(rng, (4, 4)))
    triangle = np.tri(4, dtype=bool)
    ask("triangle", *square, mask=triangle)
    ask("mask per sequence", *batch, mask=_mask(rng, (2, 3, 5)))
    ask("one mask for the batch", *batch, mask=_mask(rng, (3, 5)))
    ask("mask for all heads", *heads, mask=_mask(rng, (2, 1, 4, 5)))
    ask("mask per head", *heads, mask=_mask(rng, (2, 3, 4, 5)))
    # One row for all queries: hides keys, as for padding.
    ask("padding", *plain, mask=np.array([[True, True, False, True, False]]))
    ask("padding per sequence", *heads, mask=_mask(rng, (2, 1, 1, 5)))
    # Same shapes as "mask" above: a mask that was remembered would still hide.
    ask("no mask after masks", *plain)
    # Visible scores near -300 (a fill of -100 outweighs them), then a hidden score 2,000 above the visible ones.
    hidden = np.array([[True, True, True, False], [True, False, True, True]])
    low = _scored([-20.0, -15.0], [20.0, 19.9, 19.8, 20.1], rng)
    ask("low visible scores", *low, mask=hidden, tolerance=LARGE_SCORES)
    high = _scored([1.0, 1.5], [0.1, 0.2, -0.3, 2000.0], rng)
    ask("high hidden score", *high, mask=np.array([[True, True, True, False]]), tolerance=LARGE_SCORES)


def _mask(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A random mask; the first key is always visible, so that a causal mask on top leaves no row without keys,
    and the last one hidden.
    """
    mask = random_mask(rng, shape)
    mask[..., 0], mask[..., -1] = True, False
    return mask


def _large(ask: Any, rng: np.random.Generator) -> None:
    """Scores beyond what exp can hold, rows far apart, rows far below zero."""
    ask("large scores", *_scored([40.0, -45.0, 30.0], [30.0, 29.9, -31.0, 8.0], rng), tolerance=LARGE_SCORES)
    ask("rows far apart", *_scored([100.0, 0.1], [20.0, 20.01, 19.99], rng), tolerance=LARGE_SCORES)
    ask("scores far below zero", *_scored([-100.0, -90.0], [20.0, 20.01, 19.99], rng), tolerance=LARGE_SCORES)
    ask("moderately large scores", *_scored([1.0, -1.0], [60.0, 59.0, 58.5, 12.0, 11.0], rng))


def observe_self_attention(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Which matrix goes where, and whether the mask arrives."""

    def ask(name: str, *inputs: Any, mask: Any = None, tolerance: float = EXACT) -> None:
        named = {} if mask is None else {"mask": mask}
        notes.answer(name, lambda: lab.self_attention(*inputs, **named), parts=RESULTS, tolerance=tolerance)

    rectangular = _projected(rng, (3,), 5, 2, 3)
    ask("rectangular", *rectangular)
    # Square matrices: a transposed, swapped or forgotten one raises nothing.
    square = _projected(rng, (4,), 4, 4, 4)
    ask("square", *square)
    ask("values of another width", *_projected(rng, (4,), 5, 3, 5))
    batch = _projected(rng, (2, 4), 5, 3, 3)
    ask("batch", *batch)
    ask("two leading axes", *_projected(rng, (2, 3, 3), 4, 4, 2))
    ask("mask", *square, mask=_mask(rng, (4, 4)))
    ask("rectangular mask", *rectangular, mask=_mask(rng, (3, 3)))
    ask("mask per sequence", *batch, mask=_mask(rng, (2, 4, 4)))
    X, W_q, W_k, W_v = _projected(rng, (4,), 3, 3, 2)
    ask("large scores", 60 * X, 8 * W_q, 8 * W_k, W_v, tolerance=1e-6)
    ask("float32", *(a.astype(np.float32) for a in rectangular), tolerance=SINGLE)
    ask("the chapter's", chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)
    names = ("X", "W_q", "W_k", "W_v", "mask")
    inputs = [*_projected(rng, (3,), 4, 4, 4), _mask(rng, (3, 3))]
    _inputs_afterwards(notes, lab, "self_attention", inputs, names)
    notes.write("library", library(lab, "self_attention", *rectangular))


def library(lab: Lab, name: str, *args: Any, **kwargs: Any) -> str:
    """Whether a library's softmax or attention did the work."""
    try:
        return "yes" if lab.forbidden(name, *args, **kwargs) else "no"
    except (failures.TimedOut, failures.Died):
        raise
    except failures.SubmissionFault as error:
        return f"raises {type(error).__name__}"


def _inputs_afterwards(notes: Notes, lab: Lab, name: str, arrays: list[Array], names: tuple[str, ...]) -> None:
    """What a call leaves in the caller's arrays. The last one is the mask, where there are several."""
    kept = [lab.kept(array) for array in arrays]
    positional = kept if len(kept) == 1 else kept[:-1]
    named = {} if len(kept) == 1 else {"mask": kept[-1]}
    notes.answer("kept inputs", lambda: getattr(lab, name)(*positional, **named), parts=RESULTS if named else ())
    for label, array in zip(names, kept, strict=True):
        notes.answer(f"{label} afterwards", array.read)


def _qkv(rng: np.random.Generator, lead: tuple[int, ...], n_q: int, n_k: int, d_k: int, d_v: int) -> list[Array]:
    """``Q (*lead, n_q, d_k)``, ``K (*lead, n_k, d_k)``, ``V (*lead, n_k, d_v)``."""
    return [rng.normal(size=(*lead, n, d)) for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v))]


def _scored(queries: list[float], keys: list[float], rng: np.random.Generator) -> list[Array]:
    """Inputs with scaled scores ``queries[i] * keys[j]`` exactly, and random values."""
    Q, K = np.zeros((len(queries), 4)), np.zeros((len(keys), 4))
    Q[:, 1], K[:, 1] = 2.0 * np.array(queries), keys
    return [Q, K, rng.normal(size=(len(keys), 3))]


def _projected(rng: np.random.Generator, lead: tuple[int, ...], d_model: int, d_k: int, d_v: int) -> list[Array]:
    """``X (*lead, d_model)`` with its three matrices; the widths differ as asked."""
    return [rng.normal(size=(*lead, d_model)), *(rng.normal(size=(d_model, d)) for d in (d_k, d_k, d_v))]
