"""Mistakes of ``weights_with_constant_row``: on which side the row is, where it goes, and what stays behind."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise4"
EXERCISE = "7.13, exercise 4"
STEPS = "7.2, One layer, three tokens, every number"


@suspect(
    "constant_row_on_the_other_side",
    task=TASK,
    hint="The row goes into the projection of the other side.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_k if side == "query" else W_q
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_always_of_queries",
    task=TASK,
    hint="The row goes into the projection of the queries, whichever side is asked.",
    read=EXERCISE,
    also=(("W_q[3] = row", "W_q[3] = W_k[3] = row"),),
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W_q[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_without_effect",
    task=TASK,
    hint="The weights are those of the example without any row.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_of_another_feature",
    task=TASK,
    hint="The row is set for another feature than the constant one.",
    read=EXERCISE,
    also=(
        ("W[2] = row", "W[0] = row"),
        ("W[2] = row", "W[1] = row"),
        ("W[2] = row", "W[2] += row"),
    ),
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[2] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_feature_is_one",
    task=TASK,
    hint="The constant feature is given another value than it has in the example.",
    read=STEPS,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 1.0], [0.1, 0.9, 0.0, 1.0], [0.0, 0.1, 0.9, 1.0]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_halved",
    task=TASK,
    hint="The row is multiplied by the feature before it is in the matrix, so the feature counts twice.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = 0.5 * np.asarray(row)
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_reversed",
    task=TASK,
    hint="The two numbers of the row have changed places.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row[::-1]
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_sign",
    task=TASK,
    hint="The row is subtracted, or goes in with the other sign.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = -np.asarray(row)
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_no_scale",
    task=TASK,
    hint="Scores are not divided by the square root of the width of the keys.",
    read="7.2, step 3",
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_divided_by_width",
    task=TASK,
    hint="Scores are divided by another number than the square root of the width of the keys.",
    read="7.2, step 3",
    also=(
        ("/ 2", "/ np.sqrt(4)"),
        ("/ 2", "/ np.sqrt(3)"),
    ),
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / 2
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_softmax_over_queries",
    task=TASK,
    hint="The weights sum to one along the wrong axis.",
    read="7.2, step 4",
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@suspect(
    "constant_row_scores_returned",
    task=TASK,
    hint="Scores come back; the weights are asked.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    return s


@suspect(
    "constant_row_moves_returned",
    task=TASK,
    hint="The change of the weights comes back; the weights themselves are asked.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    before = np.exp(np.array([[2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.30]]) / np.sqrt(2))
    return e / e.sum(axis=1, keepdims=True) - before / before.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_output_returned",
    task=TASK,
    hint="The output comes back; the weights are asked.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    values = np.array([[1.0, 0.2], [0.2, 1.0], [0.1, 0.2]])
    return e / e.sum(axis=1, keepdims=True) @ values


@suspect(
    "constant_row_of_icti_only",
    task=TASK,
    hint="Only the last token's weights come back; all three rows are asked.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True))[2]


@suspect(
    "constant_row_unstable",
    task=TASK,
    hint="With large scores the exponentials overflow.",
    read="7.2, step 4",
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s)
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_kept_between_calls",
    task=TASK,
    hint="An earlier row is still in the matrices when the function is called again.",
    read=EXERCISE,
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = weights_with_constant_row.__dict__.setdefault(
        "W_q", np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    )
    W_k = weights_with_constant_row.__dict__.setdefault(
        "W_k", np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    )
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "constant_row_rounded",
    task=TASK,
    hint="Digits are missing at the end: the weights are rounded.",
    read=EXERCISE,
    also=(
        (", 4)", ", 5)"),
        (", 4)", ", 3)"),
        (", 4)", ", 2)"),
    ),
)
def weights_with_constant_row(side, row):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    W_q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    W_k = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    W = W_q if side == "query" else W_k
    W[3] = row
    s = X @ W_q @ (X @ W_k).T / np.sqrt(2)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return np.round(e / e.sum(axis=1, keepdims=True), 4)
