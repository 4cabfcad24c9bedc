"""Exercise 4, ``weights_with_constant_row``: a feature that is the same for every token (sections 7.2 and 7.13)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import chapter
from autograder.reference import exercises as truth

check = Task("exercises", "exercise4")

#: The row of the chapter's case, on the query side.
CASE = np.array([0.9, -0.7])
QUERY = "On the query side the row is dotted with each key, and the keys differ: the weights move."
KEY = "On the key side every key of a row gets the same number, and softmax does not see it: no weight moves."


def _row(rng: np.random.Generator) -> np.ndarray:
    """A row ``(2,)`` of size about 1, so that it moves weights in the first digit."""
    row: np.ndarray = rng.uniform(0.5, 1.5, size=2) * rng.choice([-1.0, 1.0], size=2)
    return row


def _expect(lab: Lab, side: str, row: np.ndarray, hint: str, handed: Any = None) -> None:
    """The weights ``(3, 3)`` for ``row`` on ``side``; ``handed`` is the same row as it is handed over."""
    found = lab.weights_with_constant_row(side, row if handed is None else handed)
    compare.agree(found, truth.constant_row_weights(side, row), _tolerance(side, row), name="weights", hint=hint)


def _tolerance(side: str, row: np.ndarray) -> float:
    """The law of compare.py for the scores that the student softmaxes, the constant of a row included."""
    W_q, W_k = chapter.W_Q.copy(), chapter.W_K.copy()
    (W_q if side == "query" else W_k)[truth.CONSTANT] = row
    return compare.weights_tolerance(chapter.X @ W_q, chapter.X @ W_k)


@check("weights_with_constant_row.chapter")
def test_constant_row_of_the_exercise(lab: Lab) -> None:
    """The row [0.9, -0.7]: on the query side içti's weights move, on the key side none does."""
    _expect(lab, "query", CASE, QUERY)
    _expect(lab, "key", CASE, KEY)


@check("weights_with_constant_row.query")
def test_constant_row_of_the_queries(lab: Lab, rng: np.random.Generator) -> None:
    """Other rows on the query side: all nine weights."""
    # One coordinate alone, then both: a row that is transposed, ignored, or set for another feature shows.
    for row in (np.array([1.1, 0.0]), np.array([0.0, -1.3]), _row(rng), _row(rng)):
        _expect(lab, "query", row, QUERY)


@check("weights_with_constant_row.both")
def test_constant_row_of_either_side(lab: Lab, rng: np.random.Generator) -> None:
    """The same row on either side: the query side moves the weights, the key side moves nothing."""
    # Both in one check, so that the unchanged weights of the chapter alone earn nothing.
    for _ in range(3):
        row = _row(rng)
        _expect(lab, "query", row, QUERY)
        _expect(lab, "key", row, KEY)


@check("weights_with_constant_row.zero", needs=["weights_with_constant_row.query"])
def test_constant_row_of_zeros(lab: Lab, rng: np.random.Generator) -> None:
    """A row of zeros on either side is the chapter's own example; twice a row moves the weights further."""
    hint = "The row takes the place of the zeros in the projection."
    row = _row(rng)
    for factor in (0.0, 1.0, 2.0):
        _expect(lab, "query", factor * row, hint)
    _expect(lab, "key", 0.0 * row, KEY)


@check("weights_with_constant_row.each_call_alone", needs=["weights_with_constant_row.query"])
def test_calls_do_not_change_the_matrices(lab: Lab, rng: np.random.Generator) -> None:
    """Every call starts from the chapter's matrices: an earlier row is not in them any more."""
    # A row written into the shared matrix of queries is still there when the key side is asked.
    hint = "An earlier call is still in the matrices; copy a matrix before you change a row of it."
    first, second = _row(rng), _row(rng)
    for side, row in (("query", first), ("key", second), ("query", second), ("query", first)):
        _expect(lab, side, row, hint)


@check("weights_with_constant_row.large", needs=["weights_with_constant_row.both"])
def test_large_constant_rows(lab: Lab, rng: np.random.Generator) -> None:
    """Rows some thousand times as large: the key side still moves nothing, and the query side stays finite."""
    # Positive, so that nothing cancels: scores of about a thousand, whose exp overflows as it stands.
    row = 3000 * np.abs(_row(rng))
    for side in ("key", "query"):
        _expect(lab, side, row, "Subtract the largest score of a row before exp; see the lab, step 1.")


@check("weights_with_constant_row.unchanged", needs=["weights_with_constant_row.query"])
def test_the_row_is_left_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The caller's row is the same afterwards."""
    row = _row(rng)
    kept = lab.kept(row)
    _expect(lab, "query", row, QUERY, handed=kept)
    compare.unchanged("weights_with_constant_row", ("row",), [kept], [row])
