"""Mistakes of part 14 of ``block_receipts``: rotations in both pairings."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "positions"
ROPE = "7.4, RoPE: rotate instead of add"
SPEEDS = "the article, section 14, Step four: why the planes spin at different speeds"
CODE = "the article, section 14, The code"


@suspect(
    "rope_not_a_rotation",
    task=TASK,
    hint="Both halves of a pair get a plus sign, and a rotation needs one minus.",
    read=ROPE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2], y[..., 1::2] = a * c + b * s, a * s + b * c
    return y


@same_mistake("rope_not_a_rotation")
def rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    t = np.tile(np.outer(positions, base ** (-np.arange(half) / half)), 2)
    a, b = x[..., :half], x[..., half:]
    return x * np.cos(t) + np.concatenate([b, a], axis=-1) * np.sin(t)


@suspect(
    "rope_turns_the_other_way",
    task=TASK,
    hint="The pairs turn in the opposite direction: the minus sign is on the other line.",
    read=ROPE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    y = np.empty(x.shape)
    y[..., ::2], y[..., 1::2] = a * c + b * s, b * c - a * s
    return y


@suspect("rope_exponent_halved", task=TASK, hint="The exponent of a pair is half as large as it should be.", read=ROPE)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(d // 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect(
    "rope_exponent_doubled", task=TASK, hint="The exponent of a pair is twice as large as it should be.", read=ROPE
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-2 * np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect("rope_rates_grow", task=TASK, hint="Later pairs turn faster, and they should turn more slowly.", read=ROPE)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect("rope_one_rate", task=TASK, hint="All pairs turn at the same rate.", read=SPEEDS)
def rope(x, positions, base=10000.0):
    t = np.asarray(positions, dtype=float)[:, None]
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect("rope_adds", task=TASK, hint="A position vector is added, and nothing is turned.", read=ROPE)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    y = np.array(x, dtype=float)
    y[..., ::2] += np.sin(t)
    y[..., 1::2] += np.cos(t)
    return y


@suspect(
    "rope_overwrites_while_reading",
    task=TASK,
    hint="The first of a pair is written over before the second is computed from it.",
    read=ROPE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    x[..., ::2] = a * c - b * s
    x[..., 1::2] = a * s + b * c
    return x


@suspect("rope_in_place", task=TASK, hint="The turned pairs are written into the caller's array.", read=ROPE)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2].copy(), x[..., 1::2].copy()
    x[..., ::2] = a * c - b * s
    x[..., 1::2] = a * s + b * c
    return x


@suspect(
    "rope_counts_rows",
    task=TASK,
    hint="The rows are counted from zero, and the positions that are given have no effect.",
    read=ROPE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(np.arange(x.shape[-2]), base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect("rope_base_fixed", task=TASK, hint="The base is written in, and the argument has no effect.", read=SPEEDS)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect(
    "rope_angles_in_single_precision",
    task=TASK,
    hint="The angles are in single precision, which is too coarse far out.",
    read=CODE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d)).astype(np.float32)
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect("rope_changes_nothing", task=TASK, hint="Nothing is turned: the vectors come back as they were.", read=ROPE)
def rope(x, positions, base=10000.0):
    return np.array(x)


@suspect(
    "rope_parts_not_put_back",
    task=TASK,
    hint="The turned pairs are not put back where they came from: pairs and layout do not belong together.",
    read=CODE,
)
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


@same_mistake("rope_parts_not_put_back")
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.repeat(np.outer(positions, base ** (-np.arange(0, d, 2) / d)), 2, axis=-1)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return x * np.cos(t) + np.concatenate([-b, a], axis=-1) * np.sin(t)


@suspect(
    "halves_as_neighbours",
    task=TASK,
    hint="Neighbours are paired, as in the chapter, and halves are asked here.",
    read=CODE,
)
def rope_halves(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(t), np.sin(t)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)


@suspect(
    "halves_with_repeated_angles",
    task=TASK,
    hint="The angles are repeated for neighbours, and for halves they come one block after the other.",
    read=CODE,
)
def rope_halves(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.repeat(np.outer(positions, base ** (-np.arange(0, d, 2) / d)), 2, axis=-1)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return x * np.cos(t) + np.concatenate([-b, a], axis=-1) * np.sin(t)


@suspect(
    "halves_turn_the_other_way",
    task=TASK,
    hint="The halves turn in the opposite direction: the minus sign is on the other half.",
    read=CODE,
)
def rope_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    t = np.tile(np.outer(positions, base ** (-np.arange(half) / half)), 2)
    a, b = x[..., :half], x[..., half:]
    return x * np.cos(t) + np.concatenate([b, -a], axis=-1) * np.sin(t)


@suspect(
    "halves_without_a_minus",
    task=TASK,
    hint="There is no minus sign between the halves, and a rotation needs one.",
    read=CODE,
)
def rope_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    t = np.tile(np.outer(positions, base ** (-np.arange(half) / half)), 2)
    a, b = x[..., :half], x[..., half:]
    return x * np.cos(t) + np.concatenate([b, a], axis=-1) * np.sin(t)


@suspect("halves_base_fixed", task=TASK, hint="The base of the halves is written in.", read=SPEEDS)
def rope_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    t = np.tile(np.outer(positions, 10000.0 ** (-np.arange(half) / half)), 2)
    a, b = x[..., :half], x[..., half:]
    return x * np.cos(t) + np.concatenate([-b, a], axis=-1) * np.sin(t)


@suspect(
    "halves_exponent_halved",
    task=TASK,
    hint="The exponent of a pair of halves is half as large as it should be.",
    read=SPEEDS,
)
def rope_halves(x, positions, base=10000.0):
    d = x.shape[-1]
    t = np.tile(np.outer(positions, base ** (-np.arange(d // 2) / d)), 2)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return x * np.cos(t) + np.concatenate([-b, a], axis=-1) * np.sin(t)
