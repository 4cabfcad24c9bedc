"""Mistakes of ``softmax`` that ordinary numbers do not show: overflow, lost rows, lost digits."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step1"
WEIGHTS = "7.2, step 4"
LAB = "7.9, lab step 1"


@suspect(
    "softmax_no_maximum",
    task=TASK,
    hint="Large inputs overflow before they are divided; think of what can be taken away from a row "
    "without changing its weights.",
    read=LAB,
)
def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_global_max",
    task=TASK,
    hint="One number is taken away from the whole array, so a row that lies far below the others vanishes altogether.",
    read=LAB,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_max_wrong_axis",
    task=TASK,
    hint="The sums are right, but what is taken away first belongs to another direction of the array.",
    read=LAB,
    also=(("axis=0", "axis=-1"),),
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_subtracts_mean",
    task=TASK,
    hint="Taking the average of a row away still leaves entries that are too large to exponentiate.",
    read=LAB,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.mean(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_subtracts_minimum",
    task=TASK,
    hint="What is taken away is the wrong end of the row: the large entries get larger instead of smaller.",
    read=LAB,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.min(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_divides_by_largest",
    task=TASK,
    hint="Making a row smaller by a factor changes its weights; making it smaller by a shift does not.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x / np.max(np.abs(x), axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_threshold_float64",
    task=TASK,
    hint="The care for large inputs starts at a size where single precision has overflowed long ago.",
    read=LAB,
    also=(("np.max(np.abs(x)) > 500", "np.max(x) > 700"),),
)
def softmax(x, axis=-1):
    if np.max(np.abs(x)) > 500:
        x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_hides_nan",
    task=TASK,
    hint="The overflow is still there, only covered up: those rows no longer sum to one.",
    read=LAB,
)
def softmax(x, axis=-1):
    with np.errstate(all="ignore"):
        e = np.exp(x)
        return np.nan_to_num(e / e.sum(axis=axis, keepdims=True))


@same_mistake("softmax_hides_nan")
def softmax(x, axis=-1):
    with np.errstate(all="ignore"):
        e = np.nan_to_num(np.exp(x))
        return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_longdouble",
    task=TASK,
    hint="A wider number type only moves the overflow further out; inputs of any finite size must do.",
    read=LAB,
)
def softmax(x, axis=-1):
    e = np.exp(np.asarray(x, dtype=np.longdouble))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float64)


@suspect(
    "softmax_clips_inputs",
    task=TASK,
    hint="Inputs beyond a bound are cut off, so entries that differ become equal.",
    read=LAB,
    also=(
        ("-50, 50", "-500, 500"),
        ("-50, 50", "-100, 100"),
        ("-50, 50", "-20, 20"),
        ("np.clip(x, -50, 50)", "np.minimum(x, 700)"),
        ("np.clip(x, -50, 50)", "np.minimum(x, 80)"),
    ),
)
def softmax(x, axis=-1):
    e = np.exp(np.clip(x, -50, 50))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_computed_in_half_the_digits",
    task=TASK,
    hint="Somewhere on the way the numbers lose digits that the input had.",
    read=LAB,
    also=(("float32", "float16"),),
)
def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float32)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_adds_epsilon",
    task=TASK,
    hint="A small number is added to the total, so a row sums to a little less than one; "
    "after the maximum is taken away there is nothing to protect from.",
    read=WEIGHTS,
    also=(("1e-8", "1e-3"), ("1e-8", "1e-5")),
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-8)


@suspect(
    "rounded_result",
    task=TASK,
    hint="The weights are rounded as for print; hand back every digit there is.",
    read=WEIGHTS,
    also=(
        ("keepdims=True), 4)", "keepdims=True), 1)"),
        ("keepdims=True), 4)", "keepdims=True), 2)"),
        ("keepdims=True), 4)", "keepdims=True), 3)"),
        ("keepdims=True), 4)", "keepdims=True), 5)"),
        ("keepdims=True), 4)", "keepdims=True), 6)"),
    ),
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.round(e / e.sum(axis=axis, keepdims=True), 4)
