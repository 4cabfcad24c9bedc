"""Mistakes of ``rope``: pairs, frequencies, signs, and positions."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "exercise8"
ROTATE = "7.4, RoPE: rotate instead of add"


@suspect(
    "rope_pairs_halves",
    task=TASK,
    hint="The first half of the coordinates is paired with the second; in the chapter neighbours are a pair.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    h = x.shape[-1] // 2
    t = np.outer(positions, base ** (-np.arange(h) / h))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., :h], x[..., h:]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


@suspect(
    "rope_halves_out",
    task=TASK,
    hint="Pairs are neighbours going in, and halves coming out.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


@suspect(
    "rope_exponent_halved",
    task=TASK,
    hint="Every pair but the first turns too fast: the exponent grows half as fast as it should.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(d // 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_exponent_doubled",
    task=TASK,
    hint="Every pair but the first turns too slowly: the exponent grows twice as fast as it should.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-2 * np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_one_frequency",
    task=TASK,
    hint="All pairs turn by the same angle.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, np.ones(d // 2))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_not_a_rotation",
    task=TASK,
    hint="Lengths change: one of the two lines of a rotation has a minus sign.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c + b * s
    y[..., 1::2] = a * s + b * c
    return y


@same_mistake("rope_not_a_rotation")
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s - b * c
    return y


@suspect(
    "rope_turns_backwards",
    task=TASK,
    hint="Pairs turn the other way round.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c + b * s
    y[..., 1::2] = b * c - a * s
    return y


@suspect(
    "rope_adds",
    task=TASK,
    hint="A vector of the position is added; here pairs are rotated.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a + s
    y[..., 1::2] = b + c
    return y


@same_mistake("rope_adds")
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a + c
    y[..., 1::2] = b + s
    return y


@suspect(
    "rope_multiplies_only",
    task=TASK,
    hint="Coordinates are multiplied by cosines and sines without meeting each other.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c
    y[..., 1::2] = b * s
    return y


@same_mistake("rope_multiplies_only")
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c = np.cos(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c
    y[..., 1::2] = b * c
    return y


@suspect(
    "rope_coordinates_exchanged",
    task=TASK,
    hint="The two coordinates of a pair change places.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., 1::2] = a * c - b * s
    y[..., ::2] = a * s + b * c
    return y


@suspect(
    "rope_counts_rows",
    task=TASK,
    hint="The rows are counted from the beginning, whatever positions are given.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(np.arange(x.shape[-2]), base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_positions_from_one",
    task=TASK,
    hint="Every position is one too far.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(np.asarray(positions) + 1, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_positions_from_first",
    task=TASK,
    hint="Positions are counted from the first one that is given.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(np.asarray(positions) - np.asarray(positions)[0], base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_base_ignored",
    task=TASK,
    hint="The base is written in, whichever is asked.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_default_base_changed",
    task=TASK,
    hint="Another base than the chapter's is used where none is given.",
    read=ROTATE,
    also=(
        ("base=500000.0", "base=1000.0"),
        ("base=500000.0", "base=100000.0"),
    ),
)
def rope(x, positions, base=500000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_degrees",
    task=TASK,
    hint="The angles are taken for degrees; they are radians.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(np.radians(t)), np.sin(np.radians(t))
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_full_turns",
    task=TASK,
    hint="Angles are taken for whole turns of a circle.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y
