"""Part 7 in public: the numbers in print, and that a part of a sequence or token does not count."""

from __future__ import annotations

from attnlab.public.answers import pair
from attnlab.public.block_receipts.asks import exactly, nearly
from attnlab.public.declare import Checks, Lab

check = Checks("serving")

CACHE = "section 7.6, the KV cache"
COST = "article, section 6"


@check("kv_bytes_per_token.printed", read=CACHE)
def cache_of_one_token(lab: Lab) -> None:
    """32 layers, heads of 128, 2 bytes: 128 KiB a token with 8 KV heads, 512 KiB with 32."""
    for kv_heads, wanted in ((8, 131_072), (32, 524_288)):
        known = {
            wanted / 2: "Keys and values are both kept.",
            wanted / 32: "Every layer has a cache.",
            2 * wanted: "2 bytes by default.",
        }
        exactly(lab, "kv_bytes_per_token", 32, kv_heads, 128, wanted=wanted, known=known)
    exactly(lab, "kv_bytes_per_token", 1, 1, 5, itemsize=4, wanted=40, known={20: "`itemsize` is not used."})


@check("concurrent_sequences.printed", read=COST)
def sequences_in_58_gb(lab: Lab) -> None:
    """58 GB hold 54 sequences of 8k tokens, 13 of 32k and 3 of 128k."""
    for context, wanted in ((8192, 54), (32_768, 13), (131_072, 3)):
        known = {wanted + 1: "Only whole sequences count.", 442_504: "These are tokens."}
        exactly(lab, "concurrent_sequences", 58_000_000_000, context, 131_072, wanted=wanted, known=known)


@check("concurrent_sequences.whole", read=COST, needs=["concurrent_sequences.printed"])
def only_whole_sequences(lab: Lab) -> None:
    """99 bytes hold 4 sequences of 20 bytes; 100 bytes hold 5."""
    exactly(lab, "concurrent_sequences", 99, 10, 2, wanted=4, known={5: "Most of a sequence is none: round down."})
    exactly(lab, "concurrent_sequences", 100, 10, 2, wanted=5, known={4: "Memory that is exactly full is enough."})


@check("roofline_tokens_per_second.printed", read=COST)
def two_ceilings_in_print(lab: Lab) -> None:
    """8.03 billion parameters of 2 bytes: 19,427 and 127 tokens a second on the A100, 61,644 and 209 on the H100."""
    for card, flops, moved, wanted in (
        ("A100", 312e12, 2.04e12, (19_427, 127)),
        ("H100", 990e12, 3.35e12, (61_644, 209)),
    ):
        found = lab.roofline_tokens_per_second(8.03e9, 2, flops, moved)
        names = ("compute-bound", "bandwidth-bound")
        for value, name, truth in zip(pair(found, "roofline_tokens_per_second", *names), names, wanted, strict=True):
            known = {
                2.0 * truth: "2 FLOPs for each parameter: a multiplication and an addition.",
                1.0 / truth: "These are seconds a token; tokens a second are asked.",
                float(sum(wanted) - truth): "The two are exchanged: compute-bound comes first.",
            }
            nearly(value, f"{card}, {name}", truth, 0.5, known)


@check("max_context.printed", read="section 7.13, exercise 9")
def longest_context_in_print(lab: Lab) -> None:
    """320 GB, 140 GB of weights, 4 users, 80 layers of width 128: 17,166 tokens with 64 KV heads, 137,329 with 8."""
    for kv_heads, wanted in ((64, 17_166), (8, 137_329)):
        known = {
            4 * wanted: "Every user has a cache.",
            2 * wanted: "Keys and values are both kept.",
            wanted + 1: "Round down.",
        }
        given = (320_000_000_000, 140_000_000_000, 4, 80, kv_heads, 128)
        exactly(lab, "max_context", *given, wanted=wanted, known=known)


@check("max_context.by_hand", read=CACHE, needs=["max_context.printed"])
def a_part_of_a_token_does_not_count(lab: Lab) -> None:
    """107 bytes, 20 of weights, 2 users, 4 bytes a token: 10 tokens each, and 11 with one byte more."""
    known = {11: "Most of a token is none: round down.", 8: "The weights are there once, not for each user."}
    exactly(lab, "max_context", 107, 20, 2, 1, 1, 1, wanted=10, known=known)
    exactly(lab, "max_context", 108, 20, 2, 1, 1, 1, wanted=11, known={10: "Exactly full is enough."})
