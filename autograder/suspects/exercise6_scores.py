"""Mistakes of ``head_costs`` in the scores: their products, their number, their rank."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import suspect

TASK = "exercise6"
EXERCISE = "7.13, exercise 6"
BYTES = "7.6, The quadratic term, in bytes"


@suspect(
    "scores_of_one_head",
    task=TASK,
    hint="The products with scores and values are counted for one head only.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": n * n * w,
        "value_multiplications": n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "scores_of_full_width_heads",
    task=TASK,
    hint="Scores and values are counted as if every head had the full width.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * d,
        "value_multiplications": h * n * n * d,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "entries_of_one_head",
    task=TASK,
    hint="The score tensor is counted for one head only.",
    read=BYTES,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "entries_counted_wide",
    task=TASK,
    hint="The width of a head is counted into the score tensor; a score is a single number.",
    read=BYTES,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n * w,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "entries_in_bytes",
    task=TASK,
    hint="The score tensor is counted in bytes; its entries are asked.",
    read=BYTES,
    also=(
        ("2 * h * n * n", "4 * h * n * n"),
        ("2 * h * n * n", "8 * h * n * n"),
    ),
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": 2 * h * n * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "costs_linear_in_n",
    task=TASK,
    hint="Scores grow with the square of the length; here they grow with the length.",
    read=BYTES,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * w,
        "value_multiplications": h * n * w,
        "score_entries": h * n,
        "score_rank_bound": min(n, w),
    }


@suspect(
    "rank_of_full_width",
    task=TASK,
    hint="The rank bound is that of the full width; a head's scores come from its own.",
    read=EXERCISE,
    also=(("min(n, d)", "d"),),
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": min(n, d),
    }


@suspect(
    "rank_of_heads",
    task=TASK,
    hint="The rank bound is the number of heads.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": h,
    }


@suspect(
    "rank_is_length",
    task=TASK,
    hint="The rank bound is the number of tokens, which a table of that size has anyway.",
    read=EXERCISE,
)
def head_costs(d, h, n):
    w = d // h
    return {
        "head_dim": w,
        "parameters": 4 * d * d,
        "projection_multiplications": 4 * n * d * d,
        "score_multiplications": h * n * n * w,
        "value_multiplications": h * n * n * w,
        "score_entries": h * n * n,
        "score_rank_bound": n,
    }
