"""Mistakes of ``head_costs``: what is counted, how often, and in which unit."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise6"
EXERCISE = "7.13, exercise 6"
HEADS = "7.3, Multi-head attention"


@suspect(
    "flops_for_multiplications",
    task=TASK,
    hint="A multiplication with its addition counts twice; multiplications alone are asked.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 8 * n * d * d,
        "score_multiplications": 2 * h * n * n * w,
        "value_multiplications": 2 * h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "output_projection_forgotten",
    task=TASK,
    hint="The matrix that mixes the heads' outputs is left out.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 3 * d * d,
        "projection_multiplications": 3 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "output_multiplications_forgotten",
    task=TASK,
    hint="The multiplications of the matrix that mixes the heads' outputs are left out.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 3 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "output_projection_per_head",
    task=TASK,
    hint="Every head is given an output matrix of the full width; there is one for all heads together.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": (3 + h) * d * d,
        "projection_multiplications": (3 + h) * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "heads_of_full_width",
    task=TASK,
    hint="Every head is given the full width; the heads share it.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d
    return {
        "head_dim": w,
        "parameters": 4 * h * d * d,
        "projection_multiplications": 4 * h * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "head_width_not_divided",
    task=TASK,
    hint="The width of a head is the width of the model.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": d,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "one_head_counted",
    task=TASK,
    hint="Only one of the heads is counted.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 3 * d * w + w * d,
        "projection_multiplications": 4 * n * d * w,
        "score_multiplications": n * n * w,
        "value_multiplications": n * n * w,
        "score_entries": n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "biases_counted",
    task=TASK,
    hint="Biases are counted in; they are left out here.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d + 4 * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "projections_of_one_token",
    task=TASK,
    hint="The projections are counted for a single token.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "key_width_from_model_only",
    task=TASK,
    hint="Parameters of a head are counted with the narrow width on both sides; its matrices begin at the full width.",
    read=HEADS,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * h * w * w,
        "projection_multiplications": 4 * n * h * w * w,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "costs_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    d, h, n = (np.array([i], dtype=np.int32) for i in (d, h, n))
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(int(n[0]), int(w[0])),
    }


@suspect(
    "formulas_as_text",
    task=TASK,
    hint="Formulas come back as texts; numbers are asked.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    return {
        "head_dim": f"{d}/{h}",
        "parameters": f"4*{d}^2",
        "projection_multiplications": f"4*{n}*{d}^2",
        "score_multiplications": f"{n}^2*{d}",
        "value_multiplications": f"{n}^2*{d}",
        "score_entries": f"{h}*{n}^2",
        "score_rank_bound": f"{d}/{h}",
    }
