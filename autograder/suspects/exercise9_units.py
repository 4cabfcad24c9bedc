"""Mistakes of ``max_context`` in units and limits that nobody asked for."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise9"
EXERCISE = "7.13, exercise 9"


@suspect(
    "context_memory_in_binary",
    task=TASK,
    hint="Decimal and binary units are mixed: the bytes are converted, although they are bytes already.",
    read=EXERCISE,
    also=(("2**30 / 10**9", "10**9 / 2**30"),),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return int((memory_bytes - weight_bytes) * 2**30 / 10**9) // (users * token)


@suspect(
    "context_memory_per_card",
    task=TASK,
    hint="The memory is divided among the cards once more; all of it is given.",
    read=EXERCISE,
    also=(("(memory_bytes - weight_bytes) // 4", "(memory_bytes // 4 - weight_bytes // 4)"),),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // 4 // (users * token)


@suspect(
    "context_margin_taken_off",
    task=TASK,
    hint="A margin is taken off; the exercise counts weights and caches only.",
    read=EXERCISE,
    also=(
        ("0.9 *", "0.8 *"),
        ("0.9 *", "0.95 *"),
    ),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return int(0.9 * (memory_bytes - weight_bytes)) // (users * token)


@suspect(
    "context_of_all_users_together",
    task=TASK,
    hint="The tokens of all users together are given; each user's are asked.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token) * users


@suspect(
    "context_in_thousands",
    task=TASK,
    hint="The answer is in thousands of tokens, or rounded to them.",
    read=EXERCISE,
    also=(
        ("// 1000", "// 1024"),
        ("// 1000", "// 1000 * 1000"),
        ("// 1000", "// 1024 * 1024"),
    ),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token) // 1000


@suspect(
    "context_capped",
    task=TASK,
    hint="The length is cut at a limit that was not given.",
    read=EXERCISE,
    also=(("131072", "1000000"),),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return min((memory_bytes - weight_bytes) // (users * token), 131072)


@suspect(
    "context_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = np.prod(np.array([2, users, layers, kv_heads, head_dim, itemsize], dtype=np.int32), dtype=np.int32)
    free = np.array([memory_bytes - weight_bytes]).astype(np.int32)[0]
    return int(free // token)


@suspect(
    "context_users_squared",
    task=TASK,
    hint="The number of users counts twice; each has one cache.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * users * token)
