"""Mistakes of ``position_similarity``: frequencies, their number, and what is summed."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise7"
WHY = "7.4, Why sinusoids in particular"
SIGNAL = "7.4, Adding a position signal"


@suspect(
    "similarity_exponent_halved",
    task=TASK,
    hint="Every frequency but the first is too high: the exponent grows half as fast as it should.",
    read=SIGNAL,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(d // 2) / d)
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_exponent_doubled",
    task=TASK,
    hint="Every frequency but the first is too low: the exponent grows twice as fast as it should.",
    read=SIGNAL,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-2 * np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_exponent_to_the_end",
    task=TASK,
    hint="The frequencies are spread so that the last one reaches the end; the divisor is the width itself.",
    read=SIGNAL,
    also=(("max(1, d - 2)", "max(1, d - 1)"),),
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / max(1, d - 2))
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_counts_columns",
    task=TASK,
    hint="There are as many cosines as columns; two columns share one frequency.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(d) / d)
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_twice_the_sum",
    task=TASK,
    hint="The sum is twice as large as it should be: sine and cosine of a pair together make one cosine.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(2 * np.sum(np.cos(offset * w)))


@suspect(
    "similarity_mean",
    task=TASK,
    hint="The sum is divided by the number of its terms, which makes it the cosine between the two vectors.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.mean(np.cos(offset * w)))


@suspect(
    "similarity_divided_by_width",
    task=TASK,
    hint="The sum is divided by the width; nothing is divided here.",
    read=WHY,
    also=(("/ d)", "/ np.sqrt(d))"),),
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(offset * w)) / d)


@suspect(
    "similarity_of_sines",
    task=TASK,
    hint="Sines are summed in place of cosines.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.sin(offset * w)))


@suspect(
    "similarity_signs_lost",
    task=TASK,
    hint="Absolute values, or squares, are summed; a cosine may be negative.",
    read=WHY,
    also=(("np.abs(np.cos(offset * w))", "np.cos(offset * w) ** 2"),),
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.abs(np.cos(offset * w))))


@suspect(
    "similarity_small_angles",
    task=TASK,
    hint="The cosine is replaced by an approximation that holds for small angles only.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(1 - (offset * w) ** 2 / 2))


@suspect(
    "similarity_first_frequency_only",
    task=TASK,
    hint="Only one of the frequencies is left in the sum.",
    read=WHY,
    also=(("np.cos(offset) * d / 2", "np.cos(offset)"),),
)
def position_similarity(offset, d):
    return float(np.cos(offset) * d / 2)


@suspect(
    "similarity_last_frequency_missing",
    task=TASK,
    hint="One of the frequencies is missing from the sum.",
    read=WHY,
    also=(("w[:-1]", "w[1:]"),),
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(offset * w[:-1])))


@suspect(
    "similarity_frequencies_inverted",
    task=TASK,
    hint="Angles are multiplied by the wavelengths where they should be divided by them.",
    read=SIGNAL,
)
def position_similarity(offset, d):
    w = 10000.0 ** (np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_degrees",
    task=TASK,
    hint="The angles are taken for degrees; they are radians.",
    read=WHY,
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(np.radians(offset * w))))


@suspect(
    "similarity_base",
    task=TASK,
    hint="Another base than the chapter's is used for the frequencies.",
    read=SIGNAL,
    also=(("1000.0 **", "500000.0 **"), ("1000.0 **", "20000.0 **")),
)
def position_similarity(offset, d):
    w = 1000.0 ** (-np.arange(0, d, 2) / d)
    return float(np.sum(np.cos(offset * w)))


@suspect(
    "similarity_rounded",
    task=TASK,
    hint="Digits are missing at the end: the sum is rounded.",
    read=WHY,
    also=(
        (", 2)", ", 1)"),
        (", 2)", ")"),
    ),
)
def position_similarity(offset, d):
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    return round(float(np.sum(np.cos(offset * w))), 2)
