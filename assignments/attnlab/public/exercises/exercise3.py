"""Exercise 3 in public: a cache that can be counted by hand, and one of each unit."""

from __future__ import annotations

from attnlab.public.answers import number, pair, whole
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise3")

CACHE = "section 7.6, the KV cache"
UNITS = "section 7.6, the quadratic term in bytes"


@check("kv_cache_bytes.one_number", read=CACHE)
def one_number_per_key(lab: Lab) -> None:
    """One layer, one KV head of width 1 and one token: a key and a value of 2 bytes each, 4 bytes."""
    found = whole(lab.kv_cache_bytes(1, 1, 1, 1), "kv_cache_bytes(1, 1, 1, 1)")
    if found != 4:
        guess = {2: "Keys and values are both kept.", 8: "A number takes 2 bytes unless said otherwise."}
        raise Mistake(f"kv_cache_bytes(1, 1, 1, 1) is {found:,}.", guess.get(found, ""))


@check("kv_cache_bytes.factors", read=CACHE, needs=["kv_cache_bytes.one_number"])
def every_argument_is_a_factor(lab: Lab) -> None:
    """Layers, KV heads, width, tokens and bytes of a number all multiply."""
    for name, given in (("layers", (3, 1, 1, 1)), ("kv_heads", (1, 3, 1, 1)), ("head_dim", (1, 1, 3, 1))):
        found = whole(lab.kv_cache_bytes(*given), f"kv_cache_bytes{given}")
        if found != 12:
            raise Mistake(f"kv_cache_bytes{given} is {found:,}; it should be 3 times 4.", f"`{name}` is not used once.")
    found = whole(lab.kv_cache_bytes(2, 3, 5, 7, itemsize=4), "kv_cache_bytes(2, 3, 5, 7, itemsize=4)")
    if found != 1680:
        raise Mistake(f"kv_cache_bytes(2, 3, 5, 7, itemsize=4) is {found:,} instead of 2 · 2 · 3 · 5 · 7 · 4.")


@check("kv_cache_bytes.table", read=CACHE, needs=["kv_cache_bytes.one_number"])
def rounded_as_in_the_table(lab: Lab) -> None:
    """At 4,096 tokens the 7B-class model of the chapter's table needs 2.1 GB."""
    found = whole(lab.kv_cache_bytes(32, 32, 128, 4096), "kv_cache_bytes(32, 32, 128, 4096)")
    if round(found / 1e9, 1) != 2.1:
        raise Mistake(f"kv_cache_bytes(32, 32, 128, 4096) is {found:,}; the table has 2.1 GB.")


@check("in_units.one_of_each", read=UNITS)
def one_of_each_unit(lab: Lab) -> None:
    """10^9 bytes are 1 GB and 0.9313 GiB; 2^30 bytes are 1.0737 GB and 1 GiB."""
    for n_bytes, wanted in ((10**9, (1.0, 0.931323)), (2**30, (1.073742, 1.0))):
        name = f"in_units({n_bytes:,})"
        gb, gib = (number(part, name) for part in pair(lab.in_units(n_bytes), name, "gb", "gib"))
        if not (abs(gb - wanted[0]) < 1e-6 and abs(gib - wanted[1]) < 1e-6):
            guess = ""
            if abs(gb - wanted[1]) < 1e-6 and abs(gib - wanted[0]) < 1e-6:
                guess = "The two are exchanged: GB comes first, and the GiB is the larger unit."
            elif (gb, gib) == (round(gb, 2), round(gib, 2)):
                guess = "Nothing is rounded in the answer; printing rounds."
            raise Mistake(f"{name} is ({gb:.6g}, {gib:.6g}).", guess)


@check("in_units.small", read=UNITS, needs=["in_units.one_of_each"])
def less_than_one(lab: Lab) -> None:
    """A thousand bytes are a millionth of a GB, and not nothing."""
    gb, gib = (number(part, "in_units(1000)") for part in pair(lab.in_units(1000), "in_units(1000)", "gb", "gib"))
    if not (0.9e-6 < gb < 1.1e-6 and 0.9e-6 < gib < 1.1e-6):
        raise Mistake(f"in_units(1000) is ({gb:.3g}, {gib:.3g}).", "Divide with /, and do not round.")
