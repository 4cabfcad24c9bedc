"""Mistakes of ``weight_bytes``: whose parameters, and in which unit."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise10"
EXERCISE = "7.13, exercise 10"
EXPERTS = "7.7, Mixture of Experts"


@suspect(
    "active_parameters_only",
    task=TASK,
    hint="The active parameters of the exercise are counted; every expert has to be in memory.",
    read=EXPERTS,
    also=(("5 * 10**9 * bits", "parameters * 5 / 120 * bits"),),
)
def weight_bytes(parameters, bits):
    return 5 * 10**9 * bits / 8


@suspect(
    "weights_in_bits",
    task=TASK,
    hint="Bits come back; bytes are asked.",
    read=EXERCISE,
)
def weight_bytes(parameters, bits):
    return parameters * bits


@suspect(
    "weights_bits_as_bytes",
    task=TASK,
    hint="Every bit is taken for a byte of eight bits, or divided once too often.",
    read=EXERCISE,
    also=(("bits / 8 / 8", "bits * 8"),),
)
def weight_bytes(parameters, bits):
    return parameters * bits / 8 / 8


@suspect(
    "weights_in_gb",
    task=TASK,
    hint="The answer is in a larger unit; bytes are asked.",
    read=EXERCISE,
    also=(
        ("10**9", "2**30"),
        ("10**9", "10**6"),
        ("10**9", "2**20"),
    ),
)
def weight_bytes(parameters, bits):
    return parameters * bits / 8 / 10**9


@suspect(
    "weights_bits_ignored",
    task=TASK,
    hint="Every parameter takes the same bytes, whatever the bits.",
    read=EXERCISE,
    also=(
        ("* 2", "* 4"),
        ("* 2", "* 1"),
    ),
)
def weight_bytes(parameters, bits):
    return parameters * 2


@suspect(
    "weights_whole_bytes_only",
    task=TASK,
    hint="A parameter of less than a byte is counted as nothing.",
    read=EXERCISE,
)
def weight_bytes(parameters, bits):
    return parameters * (bits // 8)


@suspect(
    "weights_rounded_up_to_bytes",
    task=TASK,
    hint="Every parameter is given whole bytes; smaller ones share a byte.",
    read=EXERCISE,
    also=(("np.ceil(bits / 8)", "max(1, bits // 8)"),),
)
def weight_bytes(parameters, bits):
    return parameters * np.ceil(bits / 8)


@suspect(
    "weights_usual_widths_only",
    task=TASK,
    hint="Only the usual widths are known.",
    read=EXERCISE,
    also=(
        ("[bits]", ".get(bits, 2)"),
        ("[bits]", ".get(bits, 0)"),
    ),
)
def weight_bytes(parameters, bits):
    return parameters * {32: 4, 16: 2, 8: 1, 4: 0.5, 2: 0.25, 1: 0.125}[bits]


@suspect(
    "weights_divided_by_bits",
    task=TASK,
    hint="More bits make the weights smaller.",
    read=EXERCISE,
    also=(("parameters / bits * 8", "parameters / bits"),),
)
def weight_bytes(parameters, bits):
    return parameters / bits * 8


@suspect(
    "weights_power_of_bits",
    task=TASK,
    hint="The number of different values is counted, not the size of one.",
    read=EXERCISE,
    also=(("2**bits / 8", "2**bits"),),
)
def weight_bytes(parameters, bits):
    return parameters * 2**bits / 8


@suspect(
    "weights_parameters_ignored",
    task=TASK,
    hint="The number of parameters of the exercise is written in, whichever is given.",
    read=EXERCISE,
)
def weight_bytes(parameters, bits):
    return 120 * 10**9 * bits / 8


@suspect(
    "weights_overhead_added",
    task=TASK,
    hint="Something is added on top of the weights; they alone are asked.",
    read=EXERCISE,
    also=(
        ("1.2", "1.1"),
        ("1.2", "1.05"),
        ("1.2", "1.5"),
    ),
)
def weight_bytes(parameters, bits):
    return parameters * bits / 8 * 1.2


@suspect(
    "weights_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=EXERCISE,
)
def weight_bytes(parameters, bits):
    return int(np.array([parameters], dtype=np.int64).astype(np.int32)[0]) * bits // 8


@suspect(
    "weights_as_text",
    task=TASK,
    hint="A text comes back, where a number is asked.",
    read=EXERCISE,
)
def weight_bytes(parameters, bits):
    return f"{parameters * bits / 8e9:g} GB"
