"""Part 7, serving: cache bytes, sequences that fit, two ceilings, the longest context (section 7.6, article 6)."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import count, distinct, rate
from autograder.lab import Lab
from autograder.reference import block_costs as costs

check = Task("block_receipts", "serving")

# ---- kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2)
_CACHE = "A key and a value, in every layer and KV head, of head_dim numbers."


@check("kv_bytes_per_token.keys_and_values")
def test_a_key_and_a_value_each(lab: Lab, rng: np.random.Generator) -> None:
    """Each token leaves a key and a value in every layer and KV head, 2 bytes a number by default."""
    # Half of it is keys alone.
    for _ in range(2):
        count(lab, "kv_bytes_per_token", *distinct(rng, 3), hint=_CACHE)


@check("kv_bytes_per_token.itemsize", needs=["kv_bytes_per_token.keys_and_values"])
def test_bytes_of_a_cached_number(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one cached number."""
    for itemsize in (1, 4, 8):
        count(lab, "kv_bytes_per_token", *distinct(rng, 3), itemsize=itemsize, hint=f"itemsize is in bytes. {_CACHE}")


@check("kv_bytes_per_token.article", needs=["kv_bytes_per_token.keys_and_values"])
def test_cache_of_the_article(lab: Lab) -> None:
    """128 KiB a token with 8 KV heads, 512 KiB with 32."""
    for kv_heads in (8, 32, 1):
        count(lab, "kv_bytes_per_token", 32, kv_heads, 128, hint="Compare with section 6 of the article.")


# ---- concurrent_sequences(free_bytes, context, bytes_per_token)
_FLOOR = "free_bytes over the bytes of one full sequence, rounded down: a sequence fits as a whole or not."


@check("concurrent_sequences.whole")
def test_whole_sequences(lab: Lab, rng: np.random.Generator) -> None:
    """As many whole sequences as fit; most of another one does not count."""
    # About 0.8 of another one: rounding to the nearest, as the article's table does, gives one too many.
    for _ in range(2):
        context, per_token = int(rng.integers(100, 900)), int(rng.integers(1000, 9000)) * 2
        free = int((int(rng.integers(3, 60)) + rng.uniform(0.7, 0.9)) * context * per_token)
        count(lab, "concurrent_sequences", free, context, per_token, hint=_FLOOR)


@check("concurrent_sequences.edges", needs=["concurrent_sequences.whole"])
def test_exactly_full_and_too_small(lab: Lab, rng: np.random.Generator) -> None:
    """Memory that is exactly full is enough; a byte less is one sequence less; too little is none."""
    sequence = 8192 * 131072
    fit = int(rng.integers(2, 50))
    for free in (fit * sequence, fit * sequence - 1, sequence - 1, sequence):
        count(lab, "concurrent_sequences", free, 8192, 131072, hint=_FLOOR)


@check("concurrent_sequences.article", needs=["concurrent_sequences.whole"])
def test_users_of_one_card(lab: Lab) -> None:
    """About 54, 13 and 3 sequences of 8k, 32k and 128k tokens in 58 GB."""
    for context in (8192, 32768, 131072):
        hint = "58 GB are 58e9 bytes; the article rounds to the nearest, whole sequences are asked here."
        count(lab, "concurrent_sequences", 58 * 10**9, context, 131072, hint=hint)


@check("concurrent_sequences.budget", needs=["concurrent_sequences.whole"])
def test_sequences_of_real_caches(lab: Lab, rng: np.random.Generator) -> None:
    """Many or few bytes a token: the count goes the other way."""
    free = int(rng.integers(50, 60)) * 10**9
    for kv_heads in (1, 8, 32):
        per_token = costs.kv_bytes_per_token(32, kv_heads, 128)
        found = lab.concurrent_sequences(free, 32768, per_token)
        name = "the number of sequences"
        compare.agree(compare.whole(found, name), free // (32768 * per_token), 0.0, name=name, hint=_FLOOR)


# ---- roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second)
_ROOF = "First FLOP/s over 2 FLOPs per parameter, then bytes/s over the bytes of all weights."


@check("roofline_tokens_per_second.both")
def test_two_ceilings(lab: Lab, rng: np.random.Generator) -> None:
    """Tokens a second if only arithmetic counted, and if only moving the weights did, in this order."""
    # Numbers of no round size: a forgotten factor of 2, seconds in place of a rate, and the two exchanged show.
    for itemsize in (2, 4):
        parameters, flops, moved = rng.uniform(1e9, 9e9), rng.uniform(1e14, 9e14), rng.uniform(1e12, 5e12)
        rate(lab, "roofline_tokens_per_second", parameters, itemsize, flops, moved, hint=_ROOF)


@check("roofline_tokens_per_second.itemsize", needs=["roofline_tokens_per_second.both"])
def test_smaller_numbers_move_faster(lab: Lab, rng: np.random.Generator) -> None:
    """Fewer bytes a number raise the second ceiling and leave the first."""
    for itemsize in (4, 1, 0.5):
        hint = f"The arithmetic does not depend on the itemsize. {_ROOF}"
        rate(lab, "roofline_tokens_per_second", rng.uniform(1e9, 9e9), itemsize, 3.12e14, 2.04e12, hint=hint)


@check("roofline_tokens_per_second.article", needs=["roofline_tokens_per_second.both"])
def test_ceilings_of_two_cards(lab: Lab) -> None:
    """19,427 and 127 tokens a second on the A100, 61,644 and 209 on the H100."""
    for flops, moved in ((312e12, 2.04e12), (990e12, 3.35e12)):
        hint = "Compare with section 6 of the article, for 8.03e9 parameters of 2 bytes."
        rate(lab, "roofline_tokens_per_second", 8.03e9, 2, flops, moved, hint=hint)


# ---- max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2)
def _room(rng: np.random.Generator, users: int, model: list[int], itemsize: int = 2) -> tuple[int, int]:
    """Memory and weights that leave each user some thousand tokens and most of another one."""
    layers, kv_heads, head_dim = model
    token = users * costs.kv_bytes_per_token(layers, kv_heads, head_dim, itemsize)
    weights = int(rng.integers(10**8, 10**9)) * 2 + 1
    return weights + int((int(rng.integers(1000, 5000)) + rng.uniform(0.6, 0.9)) * token), weights


@check("max_context.any_model")
def test_tokens_for_each_user(lab: Lab, rng: np.random.Generator) -> None:
    """The weights are held once, the rest is shared among the users, and a token fits as a whole or not."""
    # One user beside many: weights taken off for each, or users forgotten. Most of a token left: rounding up.
    for users in (1, 7, int(rng.integers(20, 50))):
        model = distinct(rng, 3)
        hint = f"(memory - weights) over users times the bytes of a token, rounded down. {_CACHE}"
        count(lab, "max_context", *_room(rng, users, model), users, *model, hint=hint)


@check("max_context.itemsize", needs=["max_context.any_model"])
def test_context_with_other_cached_numbers(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is that of the cached numbers, 2 where nothing is said; the weights are in bytes already."""
    for itemsize in (1, 4):
        model = distinct(rng, 3)
        memory, weights = _room(rng, 3, model, itemsize)
        hint = "Only the cache has itemsize bytes a number."
        count(lab, "max_context", memory, weights, 3, *model, itemsize=itemsize, hint=hint)


@check("max_context.exercise", needs=["max_context.any_model"])
def test_context_of_the_node(lab: Lab) -> None:
    """17,166 tokens for each of four users with 64 KV heads, eight times as many with 8; exactly full is enough."""
    for kv_heads in (64, 8):
        hint = "Compare with exercise 9: 320 GB, 140 GB of weights, 80 layers of width 128."
        count(lab, "max_context", 320 * 10**9, 140 * 10**9, 4, 80, kv_heads, 128, hint=hint)
    full = 140 * 10**9 + 4 * 5000 * costs.kv_bytes_per_token(80, 8, 128)
    count(lab, "max_context", full, 140 * 10**9, 4, 80, 8, 128, hint="The memory is exactly full here, and that fits.")
