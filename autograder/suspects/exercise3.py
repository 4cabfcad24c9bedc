"""Mistakes of ``in_units``: which unit is which, and what is rounded away.

Those of ``kv_cache_bytes`` are the lab's, in ``step8_capacity``.
"""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import suspect

TASK = "exercise3"
UNITS = "7.6, The quadratic term, in bytes"
EXERCISE = "7.13, exercise 3"


@suspect(
    "gb_and_gib_exchanged",
    task=TASK,
    hint="The two units have changed places: the binary one is the larger unit, so its number is the smaller.",
    read=UNITS,
)
def in_units(n_bytes):
    return n_bytes / 2**30, n_bytes / 10**9


@suspect(
    "gib_for_both",
    task=TASK,
    hint="Both numbers are in the binary unit.",
    read=UNITS,
)
def in_units(n_bytes):
    return n_bytes / 2**30, n_bytes / 2**30


@suspect(
    "gb_for_both",
    task=TASK,
    hint="Both numbers are in the decimal unit.",
    read=UNITS,
)
def in_units(n_bytes):
    return n_bytes / 10**9, n_bytes / 10**9


@suspect(
    "units_mixed_powers",
    task=TASK,
    hint="Powers of ten and powers of two are mixed within one unit.",
    read=UNITS,
    also=(("2**20 / 1000", "2**10 / 10**6"),),
)
def in_units(n_bytes):
    return n_bytes / 10**9, n_bytes / 2**20 / 1000


@suspect(
    "units_too_small",
    task=TASK,
    hint="The units are a thousand times too small, or the quotients a thousand times too large.",
    read=UNITS,
    also=(("n_bytes / 10**6, n_bytes / 2**20", "n_bytes / 10**3, n_bytes / 2**10"),),
)
def in_units(n_bytes):
    return n_bytes / 10**6, n_bytes / 2**20


@suspect(
    "units_of_bits",
    task=TASK,
    hint="There is a factor of eight too much or too little: bytes are given, and bytes are asked.",
    read=UNITS,
    also=(("8 * n_bytes", "n_bytes / 8"),),
)
def in_units(n_bytes):
    n = 8 * n_bytes
    return n / 10**9, n / 2**30


@suspect(
    "units_rounded",
    task=TASK,
    hint="Digits are missing at the end: the quotients are rounded.",
    read=EXERCISE,
    also=((", 2)", ", 1)"), (", 2)", ", 3)"), (", 2)", ", 4)")),
)
def in_units(n_bytes):
    return round(n_bytes / 10**9, 2), round(n_bytes / 2**30, 2)


@suspect(
    "units_whole_only",
    task=TASK,
    hint="Whole units come back, and what is less than one of them is lost.",
    read=EXERCISE,
    also=(("n_bytes // 10**9, n_bytes // 2**30", "round(n_bytes / 10**9), round(n_bytes / 2**30)"),),
)
def in_units(n_bytes):
    return n_bytes // 10**9, n_bytes // 2**30


@suspect(
    "gib_from_rounded_gb",
    task=TASK,
    hint="The second number is made from the first with a factor that is only about right.",
    read=UNITS,
    also=(("/ 1.07", "/ 1.074"), ("/ 1.07", "* 0.93"), ("/ 1.07", "* 0.9313")),
)
def in_units(n_bytes):
    gb = n_bytes / 10**9
    return gb, gb / 1.07


@suspect(
    "units_multiplied",
    task=TASK,
    hint="A larger unit makes the number smaller: something is multiplied where it should be divided.",
    read=UNITS,
)
def in_units(n_bytes):
    return n_bytes * 10**9, n_bytes * 2**30


@suspect(
    "one_unit_only",
    task=TASK,
    hint="Two numbers are asked, one comes back.",
    read=EXERCISE,
    also=(("n_bytes / 10**9", "n_bytes / 2**30"),),
)
def in_units(n_bytes):
    return n_bytes / 10**9


@suspect(
    "units_in_a_mapping",
    task=TASK,
    hint="A mapping comes back; a pair, GB first, is asked.",
    read=EXERCISE,
)
def in_units(n_bytes):
    return {"gb": n_bytes / 10**9, "gib": n_bytes / 2**30}


@suspect(
    "units_as_text",
    task=TASK,
    hint="Texts come back, where numbers are asked.",
    read=EXERCISE,
)
def in_units(n_bytes):
    return f"{n_bytes / 10**9:.4f} GB", f"{n_bytes / 2**30:.4f} GiB"


@suspect(
    "query_heads_cached",
    task=TASK,
    hint="The number of query heads is written in; what is kept are the KV heads, which may be fewer.",
    read="7.6, The KV cache",
    also=(("* 32", "* 64"),),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * 32 * head_dim * tokens * itemsize
