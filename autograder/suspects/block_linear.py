"""Mistakes of part 10 of ``block_receipts``: tests of linearity, one layer for two, and slots."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

LINEAR = "linear_or_not"
DOUBLING = "the article, section 9, Why an FFN is needed at all"
COLLAPSE = "the article, section 9, What it's made of"
SLOTS = "the article, section 9, Why knowledge ends up there"


@suspect(
    "doubling_for_adding",
    task=LINEAR,
    hint="Doubling is tested, which a ReLU layer without biases passes as well.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    return bool(np.allclose(fn(2 * x), 2 * fn(x), rtol=0, atol=tolerance * (1 + np.abs(fn(x)).max())))


@suspect(
    "one_direction_only",
    task=LINEAR,
    hint="Only differences in one direction are seen: take absolute values.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    a, b = fn(x), fn(y)
    return bool(np.max(fn(x + y) - a - b) <= tolerance * (1 + np.abs(a).max() + np.abs(b).max()))


@suspect(
    "mean_difference",
    task=LINEAR,
    hint="The differences are averaged, so that one of them hardly counts or two cancel.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    a, b = fn(x), fn(y)
    return bool(abs(np.mean(fn(x + y) - a - b)) <= tolerance * (1 + np.abs(a).max() + np.abs(b).max()))


@suspect(
    "bits_must_agree",
    task=LINEAR,
    hint="Equality to the last bit is asked of it, and rounding alone breaks that.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    return bool(np.array_equal(fn(x + y), fn(x) + fn(y)))


@suspect(
    "tolerance_not_scaled",
    task=LINEAR,
    hint="The tolerance does not grow with the values, and rounding does.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    return bool(np.max(np.abs(fn(x + y) - fn(x) - fn(y))) <= tolerance)


@suspect(
    "tolerance_ignored", task=LINEAR, hint="The tolerance has no effect on the verdict about adding.", read=DOUBLING
)
def is_additive(fn, x, y, tolerance=1e-9):
    return bool(np.allclose(fn(x + y), fn(x) + fn(y)))


@suspect(
    "nan_counts_as_additive",
    task=LINEAR,
    hint="A function that gives NaN is called additive: comparisons with NaN are never true.",
    read=DOUBLING,
)
def is_additive(fn, x, y, tolerance=1e-9):
    a, b = fn(x), fn(y)
    return not np.any(np.abs(fn(x + y) - a - b) > tolerance * (1 + np.nanmax(np.abs(a)) + np.nanmax(np.abs(b))))


@suspect("verdict_inverted", task=LINEAR, hint="True and false are exchanged.", read=DOUBLING)
def is_additive(fn, x, y, tolerance=1e-9):
    a, b = fn(x), fn(y)
    return not np.all(np.abs(fn(x + y) - a - b) <= tolerance * (1 + np.abs(a).max() + np.abs(b).max()))


@same_mistake("doubling_for_adding")
def is_additive(fn, x, y, tolerance=1e-9):
    a = fn(x)
    return bool(np.all(np.abs(fn(x + x) - a - a) <= tolerance * (1 + 2 * np.abs(a).max())))


@suspect(
    "biases_added",
    task=LINEAR,
    hint="The first bias is added as it is, and it goes through the second matrix.",
    read=COLLAPSE,
)
def collapse_two_layers(W1, b1, W2, b2):
    return W1 @ W2, np.resize(b1, b2.shape) + b2


@suspect(
    "first_bias_lost", task=LINEAR, hint="The first bias is lost, and it goes through the second matrix.", read=COLLAPSE
)
def collapse_two_layers(W1, b1, W2, b2):
    return W1 @ W2, b2


@suspect("second_bias_lost", task=LINEAR, hint="The second bias is lost when two layers become one.", read=COLLAPSE)
def collapse_two_layers(W1, b1, W2, b2):
    return W1 @ W2, b1 @ W2


@suspect(
    "layers_in_the_other_order",
    task=LINEAR,
    hint="The matrices are multiplied in the other order, and x meets the first one first.",
    read=COLLAPSE,
)
def collapse_two_layers(W1, b1, W2, b2):
    return W2 @ W1, b1 @ W2 + b2


@suspect("collapsed_matrix_transposed", task=LINEAR, hint="The one matrix comes back transposed.", read=COLLAPSE)
def collapse_two_layers(W1, b1, W2, b2):
    return (W1 @ W2).T, b1 @ W2 + b2


@suspect("bias_of_slots_forgotten", task=LINEAR, hint="The thresholds of the slots are left out.", read=SLOTS)
def ffn_as_slots(x, W1, b1, W2):
    return np.maximum(x @ W1, 0)[..., None] * W2


@suspect(
    "slots_before_relu",
    task=LINEAR,
    hint="Slots that did not match add something negative: ReLU is missing.",
    read=SLOTS,
)
def ffn_as_slots(x, W1, b1, W2):
    return (x @ W1 + b1)[..., None] * W2


@suspect("slots_summed", task=LINEAR, hint="The slots are summed up already, and each by itself is asked.", read=SLOTS)
def ffn_as_slots(x, W1, b1, W2):
    return np.maximum(x @ W1 + b1, 0) @ W2


@suspect(
    "slots_behind_features",
    task=LINEAR,
    hint="The slots stand behind the features of the output, and before them is asked.",
    read=SLOTS,
)
def ffn_as_slots(x, W1, b1, W2):
    return np.maximum(x @ W1 + b1, 0)[..., None, :] * W2.T


@suspect(
    "all_or_nothing_slots",
    task=LINEAR,
    hint="A slot that matches is added as a whole, whatever the strength of the match.",
    read=SLOTS,
)
def ffn_as_slots(x, W1, b1, W2):
    return (x @ W1 + b1 > 0)[..., None] * W2
