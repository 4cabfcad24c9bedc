"""Probes of the functions of ``block_receipts`` from arrays to arrays: shapes that differ, square ones, batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.suspects.probes.record import Array, Notes

#: The tanh form of GELU is right too.
GELU = 1e-3


def observe_self_attention(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths that all differ, square, a batch, and masks."""

    def ask(name: str, lead: tuple[int, ...], n: int, widths: tuple[int, int, int], mask: Array | None = None) -> None:
        d, d_k, d_v = widths
        X, *matrices = (rng.normal(size=s) for s in ((*lead, n, d), (d, d_k), (d, d_k), (d, d_v)))
        named = {} if mask is None else {"mask": mask}
        notes.answer(name, lambda: lab.self_attention(X, *matrices, **named), parts=("output", "weights"))

    ask("one token", (), 1, (3, 2, 2))
    ask("widths differ", (), 4, (5, 3, 2))
    ask("square", (), 3, (3, 3, 3))
    ask("batch", (3,), 3, (4, 2, 3))
    ask("causal", (), 4, (3, 2, 2), np.tri(4, dtype=bool))
    ask("half hidden", (), 4, (3, 2, 2), np.array([[True, False, True, False]] * 4))


def observe_split_heads(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Two heads and more, one, as many as tokens, heads of one column, batches."""
    for name, shape, h in (
        ("two heads", (5, 6), 2),
        ("three heads", (4, 12), 3),
        ("one head", (3, 4), 1),
        ("columns", (3, 4), 4),
        ("square", (3, 9), 3),
        ("as many tokens", (4, 8), 2),
        ("batch", (2, 4, 6), 3),
        ("two axes", (2, 3, 4, 6), 2),
    ):
        x = rng.normal(size=shape)
        notes.answer(name, lambda: lab.split_heads(x, h), tolerance=0.0)


def observe_merge_heads(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The same shapes, the other way."""
    for name, shape in {
        "two heads": (2, 5, 3),
        "three heads": (3, 4, 2),
        "one head": (1, 4, 3),
        "columns": (4, 3, 1),
        "cube": (3, 3, 3),
        "one token": (3, 1, 2),
        "batch": (2, 3, 4, 2),
        "two axes": (2, 2, 2, 3, 2),
    }.items():
        x = rng.normal(size=shape)
        notes.answer(name, lambda: lab.merge_heads(x), tolerance=0.0)


def observe_multi_head(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Two heads, one, more than the model is wide, square, masks, batches."""

    def ask(
        name: str, lead: tuple[int, ...], n: int, h: int, widths: tuple[int, int, int], mask: Array | None = None
    ) -> None:
        d, d_k, d_v = widths
        X = rng.normal(size=(*lead, n, d))
        heads = [tuple(rng.normal(size=(d, w)) for w in (d_k, d_k, d_v)) for _ in range(h)]
        W_o = rng.normal(size=(h * d_v, d))
        named = {} if mask is None else {"mask": mask}
        keys = ("weights", "concatenated", "output")
        notes.mapping(name, lambda: lab.multi_head(X, heads, W_o, **named), keys)

    ask("one token", (), 1, 2, (4, 2, 2))
    ask("two heads", (), 4, 2, (6, 4, 3))
    ask("one head", (), 3, 1, (5, 2, 5))
    ask("wide", (), 3, 3, (4, 2, 3))
    ask("square", (), 4, 2, (4, 2, 2))
    ask("causal", (), 3, 3, (3, 2, 1), np.tri(3, dtype=bool))
    ask("one key hidden", (), 4, 2, (4, 2, 2), np.array([True, True, False, True]))
    ask("batch", (3,), 3, 3, (3, 2, 1))
    ask("batch, causal", (2,), 4, 2, (4, 2, 2), np.tri(4, dtype=bool))


def _rows(rng: np.random.Generator, *shape: int) -> Array:
    """Rows with a mean and a size of their own."""
    lead = (*shape[:-1], 1)
    return np.asarray(rng.uniform(0.5, 3, size=lead) * rng.normal(size=shape) + rng.uniform(1, 2, size=lead))


def observe_layer_norm(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Uneven rows, small variances, large eps, equal entries, batches; x afterwards."""

    def ask(name: str, x: Array, **named: float) -> None:
        notes.answer(name, lambda: lab.layer_norm(x, **named))

    ask("rows", _rows(rng, 3, 4))
    ask("wide rows", _rows(rng, 2, 9))
    ask("square", _rows(rng, 4, 4))
    ask("one row", _rows(rng, 6))
    ask("batch", _rows(rng, 2, 3, 5))
    ask("nearly equal", 1 + 3e-3 * rng.normal(size=(3, 6)))
    ask("equal", np.full((2, 4), 2.0))
    ask("eps of a half", _rows(rng, 3, 4), eps=0.5)
    ask("eps far larger than the variance", 1 + 3e-3 * rng.normal(size=(3, 6)), eps=0.5)
    ask("small eps", _rows(rng, 3, 4), eps=0.01)
    kept = lab.kept(_rows(rng, 3, 4))
    notes.answer("kept", lambda: lab.layer_norm(kept))
    notes.answer("x afterwards", kept.read)


def observe_rms_norm(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Uneven rows, weights of one and others, small rows, large eps, batches; x afterwards."""

    def ask(name: str, x: Array, weight: Array | None = None, **named: float) -> None:
        g = rng.normal(size=x.shape[-1]) if weight is None else weight
        notes.answer(name, lambda: lab.rms_norm(x, g, **named))

    ask("rows", _rows(rng, 3, 4))
    ask("weights of one", _rows(rng, 3, 5), np.ones(5))
    ask("square", _rows(rng, 4, 4))
    ask("no mean", np.array([[1.0, -1.0, 2.0, -2.0]]))
    ask("one row", _rows(rng, 6))
    ask("batch", _rows(rng, 2, 3, 5))
    ask("small", 3e-3 * rng.normal(size=(3, 6)))
    ask("zeros", np.zeros((2, 4)))
    ask("eps of a half", _rows(rng, 3, 4), eps=0.5)
    kept = lab.kept(_rows(rng, 3, 4))
    notes.answer("kept", lambda: lab.rms_norm(kept, np.ones(4)))
    notes.answer("x afterwards", kept.read)


def _layers(rng: np.random.Generator, d: int, d_ff: int, d_out: int) -> list[Array]:
    return [rng.normal(size=shape) for shape in ((d, d_ff), (d_ff,), (d_ff, d_out), (d_out,))]


def observe_ffn_relu(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths that differ, square, all below zero, all above, one bias or none, batches."""

    def ask(name: str, shape: tuple[int, ...], d_ff: int, d_out: int, *keep: int, shift: float = 0.0) -> None:
        x, weights = rng.normal(size=shape), _layers(rng, shape[-1], d_ff, d_out)
        weights = [w if i % 2 == 0 or not keep or i in keep else np.zeros_like(w) for i, w in enumerate(weights)]
        weights[1] = weights[1] + shift
        notes.answer(name, lambda: lab.ffn_relu(x, *weights))

    ask("widths differ", (5, 3), 7, 4)
    ask("square", (4, 4), 4, 4)
    ask("no bias", (5, 3), 7, 4, 9)
    ask("first bias", (5, 3), 7, 4, 1)
    ask("second bias", (5, 3), 7, 4, 3)
    ask("all below", (4, 3), 5, 2, shift=-20.0)
    ask("all above", (4, 3), 5, 2, shift=20.0)
    ask("batch", (2, 3, 4), 6, 4)
    ask("one row", (4,), 6, 3)


def observe_gelu(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The bend on both sides, tails, and shapes."""
    for name, z in {
        "zero": np.zeros(2),
        "left of zero": np.linspace(-1.4, -0.3, 7),
        "right of zero": np.linspace(0.3, 1.4, 7),
        "left bend": np.linspace(-3.5, -1.6, 7),
        "right bend": np.linspace(1.6, 3.5, 7),
        "far": np.array([-30.0, 30.0]),
        "a table": rng.normal(size=(2, 3)),
    }.items():
        notes.answer(name, lambda: lab.gelu(z), tolerance=GELU)


def observe_swiglu(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths that differ, square, closed and open gates, no content, batches."""

    def ask(name: str, shape: tuple[int, ...], d_ff: int, d_out: int, gate: float = 1.0, up: float = 1.0) -> None:
        d = shape[-1]
        x, g, u, down = (rng.normal(size=s) for s in (shape, (d, d_ff), (d, d_ff), (d_ff, d_out)))
        notes.answer(name, lambda: lab.swiglu(x, gate * g, up * u, down))

    ask("widths differ", (5, 3), 6, 4)
    ask("square", (4, 4), 4, 4)
    ask("small gates", (4, 3), 5, 2, gate=0.01)
    ask("large gates", (4, 3), 5, 2, gate=8.0)
    ask("closed", (4, 3), 5, 2, gate=0.0)
    ask("no content", (4, 3), 5, 2, up=0.0)
    ask("small content", (4, 3), 5, 2, up=0.01)
    ask("batch", (2, 3, 4), 6, 4)
    ask("one row", (4,), 6, 3)


def observe_detectors_fired(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Detectors that fire always, sometimes, once, never and exactly at zero; batches; one row."""

    def ask(name: str, x: Array, W1: Array, b1: Array) -> None:
        notes.answer(name, lambda: lab.detectors_fired(x, W1, b1), parts=("activations", "used"), kinds=True)

    x, W1 = rng.normal(size=(4, 3)), rng.normal(size=(3, 6))
    top = np.sort(x @ W1, axis=0)
    once = -(top[-1] + top[-2]) / 2
    ask("once, always, never", x, W1, np.array([once[0], 9.0, -9.0, once[3], once[4], -9.0]))
    ask("random", x, W1, rng.normal(size=6))
    ask("always", x, W1, np.full(6, 9.0))
    ask("never", x, W1, np.full(6, -9.0))
    ask("no thresholds", x, W1, np.zeros(6))
    ask("at zero", np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones((2, 3)), np.array([-3.0, -2.0, -4.0]))
    # In the first row alone, the last alone, between them, in the first and the last, in none, in all of them.
    rows = np.array([[1, -1, -1, 1, -1, 1], [-1, -1, 1, -1, -1, 1], [-1, 1, -1, 1, -1, 1]])
    ask("one row each", np.eye(3), rows * rng.uniform(1, 3, size=rows.shape), np.zeros(6))
    ask("as many rows as detectors", rng.normal(size=(6, 3)), W1, rng.normal(size=6) - 2)
    ask("batch", rng.normal(size=(2, 3, 3)), W1, rng.normal(size=6) - 2)


def observe_block(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """With the first norm and without, one token, a silent layer, a mask, a batch; x afterwards."""

    def params(d: int, h: int, *, norm_first: bool, heads: float = 1.0, ffn: float = 1.0) -> dict[str, Any]:
        shapes = {"W_o": (2 * h, d), "W1": (d, 5), "b1": (5,), "W2": (5, d), "b2": (d,)}
        drawn = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        drawn |= {"W_o": heads * drawn["W_o"], "W2": ffn * drawn["W2"], "b2": ffn * drawn["b2"]}
        matrices = [tuple(0.5 * rng.normal(size=(d, 2)) for _ in range(3)) for _ in range(h)]
        return {"heads": matrices, "norm_first": norm_first, **drawn}

    def ask(name: str, x: Array, given: dict[str, Any], **named: Array) -> None:
        notes.answer(name, lambda: lab.block(x, given, **named), tolerance=1e-9)

    ask("plain", _rows(rng, 4, 4), params(4, 2, norm_first=False))
    ask("norm first", _rows(rng, 4, 4), params(4, 2, norm_first=True))
    ask("one token", _rows(rng, 1, 4), params(4, 1, norm_first=False))
    ask("silent heads", _rows(rng, 3, 4), params(4, 2, norm_first=True, heads=0.0))
    ask("silent feed-forward", _rows(rng, 3, 4), params(4, 2, norm_first=False, ffn=0.0))
    ask("both silent", _rows(rng, 3, 4), params(4, 2, norm_first=True, heads=0.0, ffn=0.0))
    ask("causal", _rows(rng, 4, 4), params(4, 2, norm_first=False), mask=np.tri(4, dtype=bool))
    ask("batch", _rows(rng, 2, 3, 4), params(4, 2, norm_first=True))
    x = _rows(rng, 3, 4)
    kept = lab.kept(x)
    given = params(4, 2, norm_first=False)
    notes.answer("kept", lambda: lab.block(kept, given), tolerance=1e-9)
    notes.answer("x afterwards", kept.read)


def observe_expand_kv(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Groups of two and more, one head, no sharing, equal sizes, batches."""
    for name, shape, n_rep in (
        ("two heads", (2, 4, 3), 2),
        ("three heads", (3, 2, 2), 4),
        ("one head", (1, 3, 2), 3),
        ("no sharing", (3, 2, 2), 1),
        ("cube", (2, 2, 2), 2),
        ("batch", (2, 2, 3, 2), 2),
        ("two axes", (2, 3, 2, 2, 2), 3),
    ):
        k = rng.normal(size=shape)
        notes.answer(name, lambda: lab.expand_kv(k, n_rep), tolerance=0.0)


def observe_top_k_router(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Two of many, one, all; square; negative and large scores; batches; one token."""

    def ask(name: str, x: Array, W_r: Array, k: int) -> None:
        notes.answer(name, lambda: lab.top_k_router(x, W_r, k))

    ask("two of eight", rng.normal(size=(5, 4)), rng.normal(size=(4, 8)), 2)
    ask("three of four", rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), 3)
    ask("one", rng.normal(size=(5, 3)), rng.normal(size=(3, 6)), 1)
    ask("all", rng.normal(size=(5, 3)), rng.normal(size=(3, 4)), 4)
    ask("negative", np.ones((3, 1)), -rng.uniform(1, 3, size=(1, 6)), 2)
    ask("large", 1000 * np.ones((3, 1)), rng.uniform(1, 3, size=(1, 6)), 2)
    ask("batch", rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5)), 2)
    ask("one token", rng.normal(size=4), rng.normal(size=(4, 5)), 2)


def observe_collapse_two_layers(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths that differ, square, no biases, one of them."""
    for name, widths, keep in (
        ("widths differ", (3, 7, 4), (1, 3)),
        ("square", (4, 4, 4), (1, 3)),
        ("first bias", (3, 5, 2), (1,)),
        ("second bias", (3, 5, 2), (3,)),
        ("no bias", (2, 3, 2), ()),
        ("narrow", (1, 4, 1), (1, 3)),
    ):
        layers = [w if i % 2 == 0 or i in keep else 0 * w for i, w in enumerate(_layers(rng, *widths))]
        notes.answer(name, lambda: lab.collapse_two_layers(*layers), parts=("W", "b"))


def observe_ffn_as_slots(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Widths that differ, square, no biases, all slots open, none; batches."""
    for name, shape, d_ff, d_out, shift in (
        ("widths differ", (5, 3), 6, 4, 0.0),
        ("square", (4, 4), 4, 4, 0.0),
        ("all match", (3, 3), 4, 2, 20.0),
        ("none matches", (3, 3), 4, 2, -20.0),
        ("one token", (4,), 5, 3, 0.0),
        ("batch", (2, 3, 4), 5, 2, 0.0),
    ):
        x, (W1, b1, W2, _) = rng.normal(size=shape), _layers(rng, shape[-1], d_ff, d_out)
        notes.answer(name, lambda: lab.ffn_as_slots(x, W1, b1 + shift, W2))


def observe_linear_backward(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Shapes that differ, square, one row, many rows, equal pairs of sizes."""
    for name, n, d_in, d_out in (
        ("shapes differ", 5, 3, 4),
        ("square", 4, 4, 4),
        ("one row", 1, 3, 2),
        ("many rows", 9, 2, 3),
        ("square weights", 6, 3, 3),
        ("square input", 3, 3, 5),
        ("square message", 4, 2, 4),
    ):
        X, W, dY = (rng.normal(size=s) for s in ((n, d_in), (d_in, d_out), (n, d_out)))
        notes.answer(name, lambda: lab.linear_backward(X, W, dY), parts=("dW", "dX"))


def _observe_rotation(function: str, lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """One pair, several, another base, far positions, others than 0, 1, 2, batches; x afterwards."""

    def ask(name: str, shape: tuple[int, ...], positions: list[int], **named: float) -> None:
        x = rng.normal(size=shape)
        where = np.array(positions)
        notes.answer(name, lambda: getattr(lab, function)(x, where, **named))

    ask("one pair", (3, 2), [0, 1, 2])
    ask("two pairs", (3, 4), [0, 1, 2])
    ask("square", (6, 6), [0, 1, 2, 3, 4, 5])
    ask("many pairs", (3, 12), [1, 2, 3])
    ask("another base", (3, 6), [1, 4, 9], base=100.0)
    ask("a large base", (2, 8), [3, 7], base=500_000.0)
    ask("start elsewhere", (3, 4), [7, 8, 9])
    ask("position zero", (2, 6), [0, 0])
    ask("batch", (2, 3, 4), [2, 3, 4])
    x = rng.normal(size=(3, 6))
    far = rng.normal(size=(2, 6))
    # Loose enough for any way to compute the angles in double precision, and tight enough to see single.
    notes.answer("far", lambda: getattr(lab, function)(far, np.array([3000, 4093])), tolerance=1e-9)
    kept = lab.kept(x)
    notes.answer("kept", lambda: getattr(lab, function)(kept, np.arange(3)))
    notes.answer("x afterwards", kept.read)


def observe_rope(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """See ``_observe_rotation``."""
    _observe_rotation("rope", lab, rng, notes)


def observe_rope_halves(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """See ``_observe_rotation``."""
    _observe_rotation("rope_halves", lab, rng, notes)


def observe_pairing_permutation(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Narrow heads and wider ones."""
    for d in (2, 4, 6, 8, 10, 16):
        notes.answer(f"width {d}", lambda: lab.pairing_permutation(d), tolerance=0.0)


def observe_rope_periods(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Narrow and wide heads, and other bases."""
    for head_dim, named in (
        (2, {}),
        (4, {}),
        (10, {}),
        (8, {"base": 100.0}),
        (6, {"base": 500.0}),
        (16, {"base": 50.0}),
    ):
        label = f"width {head_dim}"
        notes.answer(label, lambda: lab.rope_periods(head_dim, **named), tolerance=1e-6)


def observe_alibi_slopes(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Fewer than eight heads, eight, and more."""
    for n_heads in (1, 2, 4, 8, 16, 32):
        notes.answer(f"{n_heads} heads", lambda: lab.alibi_slopes(n_heads))


def observe_alibi_bias(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """One token, two, more, and several slopes."""
    for n, slope in ((1, 0.5), (2, 0.25), (4, 0.5), (5, 0.125), (6, 0.75), (3, 2.0)):
        notes.answer(f"{n} tokens, slope {slope}", lambda: lab.alibi_bias(n, slope))


def observe_two_key_weight(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """No gap, the article's, small and huge ones; numbers and arrays."""
    for gap in (0.0, 0.3, 1.0, 2.0, 4.0, 16.0, 1000.0):
        notes.answer(f"gap {gap:g}", lambda: lab.two_key_weight(gap))
    for name, gaps in {"a row": np.array([0.5, 1.5, 3.0]), "a table": rng.uniform(0, 3, size=(2, 2))}.items():
        notes.answer(name, lambda: lab.two_key_weight(gaps))


def observe_entropy(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Random rows, square, even, one-hot, with zeros, batches, one row."""
    for name, weights in {
        "rows": rng.dirichlet(np.ones(5), size=3),
        "square": rng.dirichlet(np.ones(4), size=4),
        "even": np.full((2, 8), 0.125),
        "two of four": np.array([[0.5, 0.5, 0.0, 0.0]]),
        "one-hot": np.array([[0.0, 1.0, 0.0]]),
        "some zeros": np.array([[0.2, 0.0, 0.8], [0.5, 0.3, 0.2]]),
        "one row": rng.dirichlet(np.ones(6)),
        "batch": rng.dirichlet(np.ones(3), size=(2, 3)),
    }.items():
        notes.answer(name, lambda: lab.entropy(weights))
