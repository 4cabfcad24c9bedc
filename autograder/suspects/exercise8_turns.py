"""Mistakes of ``rope`` in how it works: in place, in single precision, for one shape only."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise8"
ROTATE = "7.4, RoPE: rotate instead of add"


@suspect(
    "rope_overwrites_while_reading",
    task=TASK,
    hint="The first coordinate of a pair is overwritten before the second is made from it.",
    read=ROTATE,
    also=(("y = x.copy()", "y = x"),),
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    y = x.copy()
    y[..., ::2] = y[..., ::2] * c - y[..., 1::2] * s
    y[..., 1::2] = y[..., ::2] * s + y[..., 1::2] * c
    return y


@suspect(
    "rope_changes_its_input",
    task=TASK,
    hint="The caller's array is turned in place.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2].copy(), x[..., 1::2].copy()
    y = x
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_single_precision_angles",
    task=TASK,
    hint="Angles are kept in single precision, which is too coarse far out.",
    read=ROTATE,
    also=((".astype(np.float32)", ".astype(np.float16).astype(float)"),),
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d)).astype(np.float32)
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_two_axes_only",
    task=TASK,
    hint="Axes in front of tokens and coordinates are not carried along.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    n, d = x.shape
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    y = np.empty((n, d))
    y[:, ::2] = x[:, ::2] * c - x[:, 1::2] * s
    y[:, 1::2] = x[:, ::2] * s + x[:, 1::2] * c
    return y


@suspect(
    "rope_first_axis_is_tokens",
    task=TASK,
    hint="Tokens are looked for along the first axis; they are on the last but one.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    y = np.empty(x.shape)
    for i in range(len(x)):
        c, s = np.cos(t[i % len(t)]), np.sin(t[i % len(t)])
        y[i][..., ::2] = x[i][..., ::2] * c - x[i][..., 1::2] * s
        y[i][..., 1::2] = x[i][..., ::2] * s + x[i][..., 1::2] * c
    return y


@suspect(
    "rope_one_position_for_all",
    task=TASK,
    hint="Every token is turned by the position of one of them.",
    read=ROTATE,
    also=(("[-1:]", "[:1]"),),
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(np.asarray(positions)[-1:], base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_slots_and_pairs_exchanged",
    task=TASK,
    hint="The position multiplies along the coordinates, and the frequency along the tokens.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    t = t.T if t.shape[0] == t.shape[1] else t[::-1]
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_last_pair_left_out",
    task=TASK,
    hint="The last pair of coordinates is not turned.",
    read=ROTATE,
    also=(("x[..., -2:]\n", "0.0\n"),),
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    y[..., -2:] = x[..., -2:]
    return y


@suspect(
    "rope_turns_twice",
    task=TASK,
    hint="Every pair is turned by twice the angle.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(2 * t), np.sin(2 * t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2] = a * c - b * s
    y[..., 1::2] = a * s + b * c
    return y


@suspect(
    "rope_without_effect",
    task=TASK,
    hint="The vectors come back as they were: nothing is turned.",
    read=ROTATE,
)
def rope(x, positions, base=10000.0):
    return np.array(x)
