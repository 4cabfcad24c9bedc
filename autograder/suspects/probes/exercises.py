"""Probes of the exercises: the chapter's cases, fresh ones, and what each mistake would answer another way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.reference.exercises import COST_KEYS, ORDER_KEYS
from autograder.suspects.probes.record import Array, Notes, fault, kind

#: Relative: what another order of multiplications and divisions can move, and far less than a rounded number.
RELATIVE = 1e-9


def _parts(notes: Notes, name: str, call: Callable[[], Any], keys: Sequence[str], tolerance: float) -> None:
    """Note each entry of a mapping by itself, or what came instead for each of them."""
    found: Any
    try:
        found = call()
    except (failures.TimedOut, failures.Died):
        raise
    except failures.SubmissionFault as error:
        found = fault(error)
    for key in keys:
        value = found.get(key, "missing") if isinstance(found, dict) else f"no mapping but {kind(found)}"
        notes.write(f"{name}: {key}", value, tolerance)


# ---- exercise 2
def observe_order_gaps(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The chapter's shuffle, a longer cycle, an order in which the last token stays, a swap; tokens that are kept."""

    def ask(name: str, X: Any, perm: Any, *projections: Any) -> None:
        _parts(notes, name, lambda: lab.order_gaps(X, perm, *projections), ORDER_KEYS, 1e-12)

    ask("the chapter's", chapter.X, chapter.SHUFFLED, chapter.W_Q, chapter.W_K, chapter.W_V)
    fresh = [rng.normal(size=s) for s in ((4, 3), (4, 3), (4, 2))]
    X = rng.normal(size=(5, 4))
    ask("fresh", X, np.array([2, 0, 3, 4, 1]), *fresh)
    ask("last stays", X, np.array([1, 2, 3, 0, 4]), *fresh)
    # Its own inverse: only here is shuffling once more the same as shuffling back.
    ask("a swap", X, np.array([1, 0, 2, 4, 3]), *fresh)
    wide = [rng.normal(size=(6, 6)) for _ in range(4)]
    ask("square", wide[0], np.array([1, 2, 0, 4, 5, 3]), *wide[1:])
    kept = lab.kept(X)
    ask("kept tokens", kept, np.array([2, 0, 3, 4, 1]), *fresh)
    notes.answer("X afterwards", kept.read)


# ---- exercise 3
def observe_in_units(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """One of each unit, the chapter's caches, few and very many bytes."""
    sizes = {"one GB": 10**9, "one GiB": 2**30, "32 heads": 52_428_800_000, "8 heads": 13_107_200_000}
    sizes |= {"few": 1009, "some": 3_456_789, "fresh": int(rng.integers(10**9, 10**12)) * 2 + 1, "many": 10**16 + 7}
    for name, n_bytes in sizes.items():
        tolerance = RELATIVE * n_bytes / 2**30
        notes.answer(name, lambda: lab.in_units(n_bytes), parts=("gb", "gib"), tolerance=tolerance)


# ---- exercise 4
def observe_weights_with_constant_row(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The chapter's row on either side, one number at a time, fresh rows, large ones; one call after another."""

    def ask(name: str, side: str, row: Sequence[float] | Array) -> None:
        notes.answer(f"{name}, {side}", lambda: lab.weights_with_constant_row(side, np.array(row)))

    rows: dict[str, Sequence[float] | Array] = {"the chapter's": (0.9, -0.7), "zeros": (0.0, 0.0)}
    rows |= {"first number": (1.0, 0.0), "second number": (0.0, 1.0)}
    rows |= {"fresh": rng.uniform(0.5, 1.5, size=2), "large": (900.0, -1300.0)}
    # The row of one side follows another row on the other side: what stays in a matrix is not what is asked.
    ask("the chapter's", "key", rows["the chapter's"])
    for (before, first), (name, row) in pairwise(rows.items()):
        ask(before, "query", first)
        ask(name, "key", row)
    ask("large", "query", rows["large"])
    ask("the chapter's, again", "query", rows["the chapter's"])


# ---- exercise 5
def observe_row_at_scale(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The exercise's scale, 1, others on both sides of it, 0, below 0, and one whose exponentials overflow."""
    scales = {"1/√3": 1 / math.sqrt(3), "1": 1.0, "2": 2.0, "half": 0.5, "0": 0.0, "below 0": -0.7, "100": 100.0}
    for name, scale in {**scales, "fresh": float(rng.uniform(0.8, 1.3))}.items():
        notes.answer(name, lambda: lab.row_at_scale(scale))


# ---- exercise 6
def observe_head_costs(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The exercise's three, a width that is no power of two, one head, and products beyond 32 bits."""
    sizes = {"1 head": (512, 1, 1024), "8 heads": (512, 8, 1024), "64 heads": (512, 64, 1024), "odd": (35, 5, 61)}
    h = int(rng.integers(3, 9))
    sizes |= {"fresh": (7 * h, h, 7 * h + int(rng.integers(1, 30))), "large": (8192, 64, 100_003)}
    for name, (d, heads, n) in sizes.items():
        _parts(notes, name, lambda: lab.head_costs(d, heads, n), COST_KEYS, 0.25)


# ---- exercise 7
def observe_position_similarity(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Offset 0, near ones, the table's, far ones; one frequency and many."""
    asked = [(0, 64), (1, 64), (16, 64), (32, 64), (0, 10), (3, 2), (5, 6), (7, 30), (1000, 64)]
    for offset, d in (*asked, (int(rng.integers(20, 200)), 48)):
        notes.answer(f"{offset} of {d}", lambda: lab.position_similarity(offset, d), tolerance=1e-7)


# ---- exercise 8
def observe_rope(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """One pair, more of them, positions of any kind, leading axes, other bases, far positions; arrays that are kept."""

    def ask(name: str, x: Any, positions: Any, **base: float) -> None:
        notes.answer(name, lambda: lab.rope(x, np.array(positions), **base))

    x = rng.normal(size=(4, 8))
    ask("one pair", rng.normal(size=(3, 2)), [0, 1, 2])
    ask("position 0", x[:1], [0])
    ask("first pair", np.eye(8)[:2], [1, 1])
    ask("second pair", np.eye(8)[2:4], [1, 1])
    ask("last pair", np.eye(8)[6:], [3, 3])
    ask("rows", x, [0, 1, 2, 3])
    ask("later rows", x, [5, 6, 7, 8])
    ask("any order", x, [9, 2, 2, 40])
    ask("square", rng.normal(size=(6, 6)), range(6))
    ask("as many tokens as pairs", rng.normal(size=(4, 8)), [3, 1, 2, 7])
    ask("heads", rng.normal(size=(3, 2, 6)), [4, 5])
    ask("batch and heads", rng.normal(size=(2, 3, 4, 4)), [0, 1, 2, 3])
    ask("another base", x, [0, 1, 2, 3], base=500_000.0)
    ask("a small base", x, [0, 1, 2, 3], base=50.0)
    ask("far", x, [100, 1000, 5000, 5005])
    kept = lab.kept(x)
    ask("kept", kept, [1, 2, 3, 4])
    notes.answer("x afterwards", kept.read)


def observe_offset_spread(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Scores of the offset alone, of one position, of both; extremes anywhere, one start, a tiny spread."""

    def ask(name: str, score: Callable[[int, int], float], offset: int, starts: Sequence[int]) -> None:
        asked: list[int] = []

        def guarded(m: Any, n: Any) -> float:
            if not all(isinstance(place, int) for place in (m, n)) or len(asked) > 100:
                raise TypeError("score takes two positions")
            asked.append(m - n)
            return score(m, n)

        notes.answer(name, lambda: lab.offset_spread(guarded, offset, list(starts)), tolerance=1e-13)
        notes.write(f"{name}: offsets", sorted(set(asked)))

    starts = (0, 100, 1000, 5000)
    a = float(rng.uniform(0.5, 1.5))
    ask("offset alone", lambda m, n: a * (m - n), 5, starts)
    ask("query", lambda m, n: math.sin(m), 5, starts)
    ask("key", lambda m, n: math.cos(a * n), 5, starts)
    ask("both", lambda m, n: math.sin(0.3 * m) + math.cos(0.7 * n) + math.sin(0.01 * m * n), 5, starts)
    ask("other starts", lambda m, n: math.sin(0.3 * m) * math.cos(0.7 * n) - 4, 17, (3, 9, 20, 50, 81))
    heights = {0: -7.5, 3: -9.0, 10: -6.5, 40: -2.0, 41: -7.0}
    ask("extremes inside", lambda m, n: heights.get(int(min(m, n)), 0.0), 2, (0, 3, 10, 40, 41))
    ask("falling", lambda m, n: -0.25 * (m + n), 4, (1, 2, 9))
    ask("offset 0", lambda m, n: math.sin(m + 2 * n), 0, (0, 2, 5))
    ask("one start", lambda m, n: math.sin(m + 2 * n), 3, (7,))
    ask("tiny", lambda m, n: 1e-9 * (min(m, n) % 7), 5, starts)


# ---- exercise 9
def observe_max_context(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The exercise's two, one user and many, each number of the shape alone, nearly and exactly full, much room."""

    def ask(name: str, memory: int, weights: int, *shape: int, **named: int) -> None:
        found = notes.answer(name, lambda: lab.max_context(memory, weights, *shape, **named), tolerance=1e-3)
        whole = isinstance(found, (int, float)) and math.isfinite(found) and found == int(found)
        notes.write(f"{name}: whole", whole)

    ask("64 heads", 320 * 10**9, 140 * 10**9, 4, 80, 64, 128)
    ask("8 heads", 320 * 10**9, 140 * 10**9, 4, 80, 8, 128)
    # Most of a token more than whole ones in every case but the full ones, so that each way of rounding shows.
    shape = (5, 7, 3, 11)
    token = 5 * 2 * 7 * 3 * 11 * 2
    most = 7 * token // 10
    weights = int(rng.integers(10**7, 10**8)) * 2 + 1
    ask("fresh", weights + 4321 * token + most, weights, *shape)
    ask("one user", weights + 4321 * token + most, weights, 1, *shape[1:])
    ask("many users", weights + 43210 * token + most, weights, 50, *shape[1:])
    for itemsize in (1, 4, 8):
        ask(f"itemsize {itemsize}", weights + 1234 * token * itemsize // 2 + most, weights, *shape, itemsize=itemsize)
    for place, name in enumerate(("layers", "KV heads", "head width"), start=1):
        alone = [4, 1, 1, 1]
        alone[place] = 9
        ask(f"{name} alone", 10**6 + 2000 * 144 + 100, 10**6, *alone)
    ask("no weights", 5000 * token + most, 0, *shape)
    ask("exactly full", 10**9 + 1000 * 4 * 2 * 7 * 3 * 11 * 2, 10**9, 4, 7, 3, 11)
    ask("much room", weights + 5_000_000 * token + most, weights, *shape)
    ask("little room", weights + 3 * token + most, weights, *shape)


# ---- exercise 10
def observe_weight_bytes(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The exercise's model and others, at widths of whole bytes, below one, and between."""
    asked = {f"the exercise's at {bits}": (120 * 10**9, bits) for bits in (16, 8, 4)}
    asked |= {f"fresh at {bits}": (int(rng.integers(10**6, 10**9)) * 8, bits) for bits in (32, 16, 8, 4, 2, 1)}
    asked |= {f"others at {bits}": (7_000_000 * 8, bits) for bits in (3, 5, 6, 12)}
    for name, (parameters, bits) in {**asked, "few": (16, 16), "very many": (8 * 10**12, 16)}.items():
        notes.answer(name, lambda: lab.weight_bytes(parameters, bits), tolerance=RELATIVE * parameters * bits / 8)


# ---- exercise 11
def observe_training_flops(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Both models of the exercise, each number alone, both doubled, products beyond 64 bits."""
    asked = {"Gopher": (280 * 10**9, 300 * 10**9), "Chinchilla": (70 * 10**9, 1400 * 10**9), "one": (1, 1)}
    parameters, tokens = (int(i) for i in rng.integers(10**6, 10**9, size=2))
    asked |= {"fresh": (parameters, tokens), "twice N": (2 * parameters, tokens), "twice D": (parameters, 2 * tokens)}
    asked |= {"N alone": (1237, 1), "D alone": (1, 4567), "large": (3 * 10**12, 7 * 10**13), "middle": (12_345, 67_891)}
    for name, (n, d) in asked.items():
        notes.answer(name, lambda: lab.training_flops(n, d), tolerance=RELATIVE * 6 * n * d)
