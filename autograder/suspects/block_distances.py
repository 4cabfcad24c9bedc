"""Mistakes of part 14 of ``block_receipts``: the pairings, their periods, and penalties for distance."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "positions"
PLANES = "the article, section 14, Step three: but a head is many numbers"
SPEEDS = "the article, section 14, Step four: why the planes spin at different speeds"
ALIBI = "7.4, ALiBi: skip the encoding, penalise distance"


@suspect(
    "pairing_inverted", task=TASK, hint="This is the permutation the other way round: it interleaves.", read=PLANES
)
def pairing_permutation(d):
    return np.argsort(np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)]))


@suspect("odds_first", task=TASK, hint="The second coordinates of the pairs come first.", read=PLANES)
def pairing_permutation(d):
    return np.concatenate([np.arange(1, d, 2), np.arange(0, d, 2)])


@suspect("nothing_permuted", task=TASK, hint="Nothing is moved, and the two pairings are not the same.", read=PLANES)
def pairing_permutation(d):
    return np.arange(d)


@suspect(
    "halves_exchanged",
    task=TASK,
    hint="The two halves are exchanged, and neighbours should be pulled apart.",
    read=PLANES,
)
def pairing_permutation(d):
    return np.roll(np.arange(d), d // 2)


@suspect(
    "permutation_of_pairs_only",
    task=TASK,
    hint="Only one coordinate of each pair is in it, and all of them are asked.",
    read=PLANES,
)
def pairing_permutation(d):
    return np.arange(0, d, 2)


@suspect(
    "rates_for_periods",
    task=TASK,
    hint="These are the rates of the pairs, and how long a full turn takes is asked.",
    read=SPEEDS,
)
def rope_periods(head_dim, base=10000.0):
    return base ** (-np.arange(0, head_dim, 2) / head_dim)


@suspect(
    "turn_of_one_radian", task=TASK, hint="A turn is one radian long here, and a full circle is asked.", read=SPEEDS
)
def rope_periods(head_dim, base=10000.0):
    return base ** (np.arange(0, head_dim, 2) / head_dim)


@suspect("half_turns", task=TASK, hint="These are half turns, and full circles are asked.", read=SPEEDS)
def rope_periods(head_dim, base=10000.0):
    return math.pi * base ** (np.arange(0, head_dim, 2) / head_dim)


@suspect(
    "period_exponent_halved",
    task=TASK,
    hint="The exponents of the periods are half as large as they should be.",
    read=SPEEDS,
)
def rope_periods(head_dim, base=10000.0):
    return 2 * math.pi * base ** (np.arange(head_dim // 2) / head_dim)


@suspect("slowest_first", task=TASK, hint="The slowest pair comes first, and the fastest is asked.", read=SPEEDS)
def rope_periods(head_dim, base=10000.0):
    return (2 * math.pi * base ** (np.arange(0, head_dim, 2) / head_dim))[::-1]


@suspect(
    "period_for_each_coordinate",
    task=TASK,
    hint="There is an entry for each coordinate, and one for each pair is asked.",
    read=SPEEDS,
)
def rope_periods(head_dim, base=10000.0):
    return np.repeat(2 * math.pi * base ** (np.arange(0, head_dim, 2) / head_dim), 2)


@suspect("period_base_fixed", task=TASK, hint="The base of the periods is written in.", read=SPEEDS)
def rope_periods(head_dim, base=10000.0):
    return 2 * math.pi * 10000.0 ** (np.arange(0, head_dim, 2) / head_dim)


@suspect(
    "rates_over_a_circle",
    task=TASK,
    hint="The rates are divided by a circle, and a circle is divided by the rates.",
    read=SPEEDS,
)
def rope_periods(head_dim, base=10000.0):
    return base ** (-np.arange(0, head_dim, 2) / head_dim) / (2 * math.pi)


@suspect(
    "slopes_for_eight_heads",
    task=TASK,
    hint="Each slope is half the one before, which is right for eight heads alone.",
    read=ALIBI,
)
def alibi_slopes(n_heads):
    return 2.0 ** -np.arange(1, n_heads + 1)


@suspect(
    "slopes_from_zero", task=TASK, hint="The heads are counted from zero, so that the first slope is one.", read=ALIBI
)
def alibi_slopes(n_heads):
    return 2.0 ** (-8 * np.arange(n_heads) / n_heads)


@suspect(
    "slopes_linear",
    task=TASK,
    hint="The slopes fall in equal steps, and each is a fixed part of the one before.",
    read=ALIBI,
)
def alibi_slopes(n_heads):
    return np.linspace(0.5, 1 / 256, n_heads)


@suspect(
    "slopes_reversed", task=TASK, hint="The slopes come in the opposite order: the steepest first is asked.", read=ALIBI
)
def alibi_slopes(n_heads):
    return 2.0 ** (-8 * np.arange(n_heads, 0, -1) / n_heads)


@suspect(
    "slopes_negative", task=TASK, hint="The slopes are negative here, and the sign belongs to the bias.", read=ALIBI
)
def alibi_slopes(n_heads):
    return -(2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads))


@suspect("slopes_grow", task=TASK, hint="The slopes grow from head to head, and they should fall.", read=ALIBI)
def alibi_slopes(n_heads):
    return 2.0 ** (8 * np.arange(1, n_heads + 1) / n_heads)


@suspect("distance_rewarded", task=TASK, hint="Distance is rewarded: the sign of the penalty is missing.", read=ALIBI)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, slope * (i - j), -np.inf)


@suspect(
    "future_visible",
    task=TASK,
    hint="The future is not hidden: above the diagonal there is no minus infinity.",
    read=ALIBI,
)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -slope * (i - j), 0.0)


@same_mistake("future_visible")
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return -slope * np.abs(i - j)


@same_mistake("future_visible")
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -slope * (i - j), -1e9)


@suspect("bias_transposed", task=TASK, hint="Queries and keys are exchanged: the past is hidden.", read=ALIBI)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j >= i, -slope * (j - i), -np.inf)


@suspect("distance_squared", task=TASK, hint="The penalty grows with the square of the distance.", read=ALIBI)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -slope * (i - j) ** 2, -np.inf)


@suspect("slope_not_used", task=TASK, hint="The slope has no effect on the penalty.", read=ALIBI)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -0.5 * (i - j), -np.inf)


@suspect(
    "nearest_penalised", task=TASK, hint="A token pays for itself too: its distance to itself is none.", read=ALIBI
)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -slope * (i - j + 1), -np.inf)


@suspect("distance_divided", task=TASK, hint="The slope divides the distance, and it multiplies it.", read=ALIBI)
def alibi_bias(n, slope):
    i, j = np.indices((n, n))
    return np.where(j <= i, -(i - j) / slope, -np.inf)
