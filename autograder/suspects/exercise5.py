"""Mistakes of ``row_at_scale``: how the scale reaches the scores, and whose row it is."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise5"
EXERCISE = "7.13, exercise 5"
SCALE = "7.2, step 3"


@suspect(
    "scale_on_one_side_only",
    task=TASK,
    hint="Only one of the two matrices is scaled; a score is a product of both.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "scale_divides",
    task=TASK,
    hint="The scores shrink where they should grow, and grow where they should shrink.",
    read=EXERCISE,
    also=(("/ s / s", "/ s"),),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) / s / s / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "scale_without_effect",
    task=TASK,
    hint="The scale has no effect on the row.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "scale_on_weights",
    task=TASK,
    hint="The scale is applied to the weights; it belongs to the matrices, before softmax.",
    read=EXERCISE,
    also=(("s * e", "s * s * e"),),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return s * e / e.sum()


@suspect(
    "scale_on_values_too",
    task=TASK,
    hint="The scale is applied three times; there are two matrices in a score.",
    read=EXERCISE,
    also=(("s**3", "s**4"),),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s**3 / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "row_of_another_token",
    task=TASK,
    hint="The row is that of another token.",
    read=EXERCISE,
    also=(("[2.46, 0.54, 0.03]", "[0.54, 2.46, 0.27]"),),
)
def row_at_scale(s):
    scores = np.array([2.46, 0.54, 0.03]) * s * s / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "all_rows_returned",
    task=TASK,
    hint="All three rows come back; the last token's is asked.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([[2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.30]]) * s * s / np.sqrt(2)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "column_instead_of_row",
    task=TASK,
    hint="How much the last token is looked at comes back; where it looks is asked.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([[2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.30]]) * s * s / np.sqrt(2)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True))[:, 2]


@suspect(
    "row_scores_returned",
    task=TASK,
    hint="Scores come back; the weights are asked.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / np.sqrt(2)
    return scores


@suspect(
    "row_not_divided_by_root",
    task=TASK,
    hint="The scores are not divided by the square root of the width of the keys.",
    read=SCALE,
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "row_divided_by_width",
    task=TASK,
    hint="The scores are divided by another number than the square root of the width of the keys.",
    read=SCALE,
    also=(("/ 2", "/ np.sqrt(3)"),),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / 2
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "row_divided_by_scaled_root",
    task=TASK,
    hint="The scale also goes into the divisor, which depends on nothing but the width.",
    read=SCALE,
    also=(("(s * np.sqrt(2))", "(s * s * np.sqrt(2))"),),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / (s * np.sqrt(2))
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "row_not_normalised",
    task=TASK,
    hint="The exponentials do not sum to one.",
    read="7.2, step 4",
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e


@suspect(
    "row_normalised_without_exp",
    task=TASK,
    hint="The scores are divided by their sum, without an exponential.",
    read="7.2, step 4",
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / np.sqrt(2)
    return scores / scores.sum()


@suspect(
    "row_unstable",
    task=TASK,
    hint="With large scores the exponentials overflow.",
    read="7.2, step 4",
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / np.sqrt(2)
    e = np.exp(scores)
    return e / e.sum()


@suspect(
    "row_scale_of_the_case_only",
    task=TASK,
    hint="The scale of the exercise is written in, whichever is asked.",
    read=EXERCISE,
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) / 3 / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return e / e.sum()


@suspect(
    "row_rounded",
    task=TASK,
    hint="Digits are missing at the end: the row is rounded.",
    read=EXERCISE,
    also=(
        (", 4)", ", 5)"),
        (", 4)", ", 3)"),
        (", 4)", ", 2)"),
    ),
)
def row_at_scale(s):
    scores = np.array([2.73, 2.97, 0.30]) * s * s / np.sqrt(2)
    e = np.exp(scores - scores.max())
    return np.round(e / e.sum(), 4)
