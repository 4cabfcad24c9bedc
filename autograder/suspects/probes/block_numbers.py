"""Probes of the functions of ``block_receipts`` that give numbers: each argument by itself, and round and odd cases.

Numbers stay small enough for a float to hold them exactly, and are chosen so that no factor can stand for another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.reference import block_costs as costs
from autograder.reference.block_costs import GPT2, LLAMA, Config
from autograder.suspects.probes.record import EXACT, Notes

Probe = Callable[[Lab, np.random.Generator, Notes], None]
#: Positional arguments and, where there are some, those by name.
Case = tuple[Sequence[Any], Mapping[str, Any]]

#: A year of 8,760 or of 8,766 hours; rates are quotients.
YEAR, QUOTIENT = 1e-3, 1e-9
#: A small model whose numbers are all different.
SMALL: Config = LLAMA | dict(
    vocab=211,
    positions=47,
    d_model=10,
    layers=3,
    n_heads=6,
    n_kv_heads=2,
    head_dim=7,
    d_ff=29,
    ffn_matrices=2,
    tied=True,
)


def _plain(*cases: Sequence[Any]) -> list[Case]:
    return [(case, {}) for case in cases]


def _named(case: Sequence[Any], *named: Mapping[str, Any]) -> list[Case]:
    return [(case, each) for each in named]


def _configs(*changes: Mapping[str, Any]) -> list[Case]:
    return [((SMALL | dict(change),), {}) for change in changes]


_SWITCHES: list[Case] = _configs(
    {},
    {"tied": False},
    {"positions": 0},
    {"norm": "layer"},
    {"biases": True},
    {"biases": True, "ffn_matrices": 3},
    {"ffn_matrices": 3},
    {"layers": 1},
    {"layers": 40},
    {"n_kv_heads": 6},
    {"head_dim": 2, "norm": "layer", "tied": False},
)

#: Every function with its cases and the relative difference that is no mistake.
CASES: dict[str, tuple[list[Case], float]] = {
    "attention_params": (
        _plain((11, 3, 3, 5), (10, 6, 2, 3), (7, 8, 1, 5), (13, 4, 4, 2), (16, 4, 4, 4), (16, 4, 2, 4), (1, 1, 1, 1)),
        0.0,
    ),
    "ffn_params": (
        [*_plain((7, 31), (8, 32), (5, 3)), *_named((6, 23), {"matrices": 3}, {"matrices": 2}, {"matrices": 1})],
        0.0,
    ),
    "model_params": ([*_SWITCHES, ((GPT2,), {}), ((LLAMA,), {})], 0.0),
    "ffn_share": ([*_SWITCHES, ((GPT2,), {}), ((LLAMA,), {})], QUOTIENT),
    "attention_flops": (_plain((5, 3, 7), (10, 3, 7), (5, 6, 7), (5, 3, 14), (1, 1, 1), (64, 4, 8), (37, 1, 11)), 0.0),
    "projection_flops": (
        _plain(
            (5, 7, 3, 3, 2), (10, 7, 3, 3, 2), (6, 11, 8, 2, 3), (1, 7, 4, 1, 5), (9, 16, 4, 4, 4), (3, 16, 4, 2, 4)
        ),
        0.0,
    ),
    "score_matrix_bytes": (
        [*_plain((7, 3), (14, 3), (7, 6), (31, 1)), *_named((9, 5), {"itemsize": 1}, {"itemsize": 2}, {"itemsize": 8})],
        0.0,
    ),
    "bytes_at": (_plain(*((62, dtype) for dtype in ("fp32", "bf16", "fp16", "fp8", "int8", "int4"))), 0.0),
    "attention_share": (_plain((1, 5), (6, 1), (30, 7), (500, 3), (12, 12), (7, 90)), QUOTIENT),
    "kv_bytes_per_token": (
        [
            *_plain((3, 5, 7), (6, 5, 7), (3, 10, 7), (3, 5, 14), (1, 1, 1)),
            *_named((4, 3, 11), {"itemsize": 1}, {"itemsize": 4}, {"itemsize": 8}),
        ],
        0.0,
    ),
    "concurrent_sequences": (
        _plain(
            (1000, 10, 30), (1000, 10, 25), (999, 10, 25), (20, 10, 30), (860, 10, 30), (740, 10, 30), (5600, 7, 100)
        ),
        0.0,
    ),
    "roofline_tokens_per_second": (
        _plain((50, 2, 7000, 900), (50, 4, 7000, 900), (100, 2, 7000, 900), (50, 1, 300, 9000), (70, 0.5, 700, 90)),
        QUOTIENT,
    ),
    "max_context": (
        [
            *_plain((100_003, 1000, 1, 3, 2, 5), (100_039, 1000, 4, 3, 2, 5), (999_999, 50_001, 7, 5, 1, 3)),
            *_plain((10_000, 4000, 2, 2, 3, 5), (61_000, 1000, 10, 2, 3, 5)),
            *_named((70_017, 2000, 3, 2, 4, 7), {"itemsize": 1}, {"itemsize": 4}),
        ],
        0.0,
    ),
    "training_bytes": (_plain((1,), (7,), (1001,), (123_456,)), 0.0),
    "activation_bytes": (
        [
            *_plain((3, 5, 7), (6, 5, 7), (3, 10, 7), (3, 5, 14)),
            *_named((3, 5, 7), {"batch": 5}, {"itemsize": 4}, {"batch": 3, "itemsize": 1}),
        ],
        0.0,
    ),
    "logits_bytes": (
        [
            *_plain((5, 31), (10, 31), (1, 17)),
            *_named((6, 23), {"batch": 5}, {"itemsize": 2}, {"batch": 3, "itemsize": 8}),
        ],
        0.0,
    ),
    "training_flops": (_plain((3, 7), (6, 7), (3, 14), (1, 1), (50, 1000), (7, 140)), QUOTIENT),
    "gpu_years": (_plain((8766.0,), (13_000.0,), (100.0,), (2_000_000.0,)), YEAR),
    "moe_bytes": (
        _plain(
            (11, 4, 7, 2, 2), (11, 4, 7, 1, 2), (11, 4, 7, 2, 1), (101, 8, 3, 2, 4), (0, 3, 5, 1, 2), (13, 1, 9, 1, 4)
        ),
        0.0,
    ),
}


def _probe(name: str) -> Probe:
    cases, share = CASES[name]
    parts = ("first", "second") if name == "roofline_tokens_per_second" else ()

    def observe(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
        for number, (args, named) in enumerate(cases, start=1):
            # Rounding, and the length of a year, make a difference in proportion.
            largest = float(np.max(getattr(costs, name)(*args, **named)))
            notes.answer(
                f"case {number}",
                lambda: getattr(lab, name)(*args, **named),
                parts=parts,
                tolerance=max(share * largest, EXACT),
            )

    return observe


PROBES: dict[str, Probe] = {name: _probe(name) for name in CASES}


def observe_kv_table(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Bytes of each scheme for odd and round models."""
    for label, args, named in (
        ("odd", (3, 6, 2, 5, 7), {}),
        ("one group", (3, 6, 1, 5, 7), {}),
        ("no groups", (2, 4, 4, 3, 11), {}),
        ("twice the tokens", (3, 6, 2, 5, 14), {}),
        ("one byte", (3, 6, 2, 5, 7), {"itemsize": 1}),
        ("four bytes", (5, 15, 3, 2, 9), {"itemsize": 4}),
    ):
        notes.mapping(label, lambda: lab.kv_table(*args, **named), ("mha", "gqa", "mqa"))


def observe_moe_params(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Total and active parameters for odd and round models, one expert, and experts that all run."""
    for label, args, named in (
        ("odd", (5, 7, 3, 8, 2), {}),
        ("wide experts", (4, 31, 2, 6, 1), {}),
        ("round", (8, 32, 4, 8, 2), {}),
        ("one expert", (5, 7, 3, 1, 1), {}),
        ("all run", (5, 7, 3, 4, 4), {}),
        ("gated", (5, 7, 3, 8, 2), {"matrices": 3}),
        ("gated, one layer", (6, 11, 1, 5, 3), {"matrices": 3}),
    ):
        notes.answer(label, lambda: lab.moe_params(*args, **named), parts=("total", "active"))


PROBES |= {"kv_table": observe_kv_table, "moe_params": observe_moe_params}
