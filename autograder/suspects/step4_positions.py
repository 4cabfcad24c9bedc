"""Mistakes of ``sinusoidal_positions``: exponents, columns, where the positions start."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step4"
SIGNAL = "7.4, Adding a position signal"


@suspect(
    "exponent_doubled",
    task=TASK,
    hint="The frequencies fall twice as fast as they should; look at what the loop variable already counts.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (2 * np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "exponent_halved",
    task=TASK,
    hint="The frequencies fall half as fast as they should.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(d // 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "last_frequency_reaches_base",
    task=TASK,
    hint="The frequencies are spread to the very end of the range; the formula stops one step before it.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(d // 2) / max(d // 2 - 1, 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "operator_precedence",
    task=TASK,
    hint="A whole-number division gets between the parts of the exponent; brackets are missing.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] * np.exp(np.arange(d // 2) * (-math.log(10000.0) / d // 2))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@same_mistake("operator_precedence")
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** np.arange(0, d, 2) / d
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "exponent_cut_to_integer",
    task=TASK,
    hint="The exponent is cut to a whole number, so all columns turn at the same speed.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) // d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "cos_uses_next_frequency",
    task=TASK,
    hint="The two columns of a pair turn at different speeds; they should share one.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(d) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


@same_mistake("cos_uses_next_frequency")
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (2 * np.arange(d) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))


@suspect(
    "frequencies_inverted",
    task=TASK,
    hint="The later columns turn faster and faster; they should slow down.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] * 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "frequencies_in_reverse_order",
    task=TASK,
    hint="The fast columns are at the end; they belong at the start.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2)[::-1] / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "other_base",
    task=TASK,
    hint="The frequencies are spread over another range than the chapter's.",
    read=SIGNAL,
    also=(("1000.0", "100000.0"), ("1000.0", "1e6"), ("1000.0", "500.0"), ("1000.0", "5000.0")),
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 1000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "one_frequency_for_all",
    task=TASK,
    hint="All pairs of columns are equal; each should turn at its own speed.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 * np.ones(d // 2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "full_turns",
    task=TASK,
    hint="The angles are measured in turns or degrees; the formula has them in radians.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = 2 * np.pi * np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@same_mistake("full_turns")
def sinusoidal_positions(n, d):
    angles = np.radians(np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "sin_cos_swapped",
    task=TASK,
    hint="The even columns begin with one; at the first position they should be zero.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(n, d)


@suspect(
    "halves_not_interleaved",
    task=TASK,
    hint="All sines come first and all cosines after them; they should take turns.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


@suspect(
    "cosine_missing",
    task=TASK,
    hint="Every column holds a sine, or the odd ones are empty; half of them should be cosines.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.repeat(np.sin(angles), 2, axis=-1)


@same_mistake("cosine_missing")
def sinusoidal_positions(n, d):
    out = np.zeros((n, d))
    out[:, 0::2] = np.sin(np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d))
    return out


@suspect(
    "positions_from_one",
    task=TASK,
    hint="The first row belongs to the second position.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(1, n + 1)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "positions_backwards",
    task=TASK,
    hint="The first row belongs to the last position.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[::-1, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "positions_as_fractions",
    task=TASK,
    hint="The positions are squeezed into one unit, so a token's vector depends on how long the sentence is.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / n / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@same_mistake("positions_as_fractions")
def sinusoidal_positions(n, d):
    angles = np.linspace(0, 1, n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "positions_normalised",
    task=TASK,
    hint="The vectors are brought to another length; the formula leaves sine and cosine as they are.",
    read="7.4, Why sinusoids in particular",
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    out = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


@same_mistake("positions_normalised")
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return 0.3 * np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


@suspect(
    "positions_transposed",
    task=TASK,
    hint="Rows and columns are exchanged: there is one row per position.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d).T


@suspect(
    "positions_are_angles",
    task=TASK,
    hint="These are the angles; a wave comes after them.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    return np.repeat(angles, 2, axis=-1)


@suspect(
    "last_position_left_out",
    task=TASK,
    hint="One row at the end is missing or empty.",
    read=SIGNAL,
)
def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    out = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
    out[n - 1 :] = 0
    return out
