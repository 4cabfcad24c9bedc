"""Mistakes of part 7 of ``block_receipts``: what serving takes, and what was forgotten in it."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

from autograder.suspects.registry import same_mistake, suspect

SERVE = "serving"
CACHE = "7.6, The KV cache"
CEILING = "the article, section 6, The ceiling is the KV cache"
SPEED = "the article, section 6, How fast it generates"
CONTEXT = "7.13, exercise nine"


@suspect(
    "keys_without_values", task=SERVE, hint="Keys and values are both stored, and one of them is missing.", read=CACHE
)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return layers * kv_heads * head_dim * itemsize


@suspect("cache_of_one_layer", task=SERVE, hint="Every layer has a cache of its own.", read=CACHE)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 2 * kv_heads * head_dim * itemsize


@suspect("cache_of_one_head", task=SERVE, hint="Every KV head has keys and values of its own.", read=CACHE)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 2 * layers * head_dim * itemsize


@suspect("cached_bytes_fixed", task=SERVE, hint="The bytes of a cached number are written in.", read=CACHE)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 4 * layers * kv_heads * head_dim


@suspect(
    "cached_in_single_precision",
    task=SERVE,
    hint="Without a word about it, a cached number takes two bytes.",
    read=CACHE,
)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=4):
    return 2 * layers * kv_heads * head_dim * itemsize


@suspect("cache_in_bits", task=SERVE, hint="This counts bits of the cache, and bytes are asked.", read=CACHE)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 16 * layers * kv_heads * head_dim * itemsize


@suspect("cache_in_kib", task=SERVE, hint="This is in larger units, and bytes are asked.", read=CEILING)
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 2 * layers * kv_heads * head_dim * itemsize / 1024


@suspect(
    "sequences_rounded",
    task=SERVE,
    hint="The number of sequences is rounded to the nearest, and only whole ones fit.",
    read=CEILING,
)
def concurrent_sequences(free_bytes, context, bytes_per_token):
    return round(free_bytes / (context * bytes_per_token))


@suspect(
    "sequences_rounded_up",
    task=SERVE,
    hint="The number of sequences is rounded up, and only whole ones fit.",
    read=CEILING,
)
def concurrent_sequences(free_bytes, context, bytes_per_token):
    return math.ceil(free_bytes / (context * bytes_per_token))


@suspect(
    "parts_of_sequences", task=SERVE, hint="A part of a sequence is counted, and whole ones are asked.", read=CEILING
)
def concurrent_sequences(free_bytes, context, bytes_per_token):
    return free_bytes / (context * bytes_per_token)


@suspect("tokens_for_sequences", task=SERVE, hint="This counts tokens, and sequences are asked.", read=CEILING)
def concurrent_sequences(free_bytes, context, bytes_per_token):
    return free_bytes // bytes_per_token


@suspect("one_sequence_kept_free", task=SERVE, hint="One sequence less than fits is counted.", read=CEILING)
def concurrent_sequences(free_bytes, context, bytes_per_token):
    return max(0, (free_bytes - 1) // (context * bytes_per_token))


@suspect(
    "one_flop_a_parameter",
    task=SERVE,
    hint="A parameter takes a multiplication and an addition, and here it takes one of the two.",
    read=SPEED,
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return flops_per_second / parameters, bytes_per_second / (parameters * itemsize)


@suspect(
    "ceilings_exchanged",
    task=SERVE,
    hint="The two ceilings come in the other order: arithmetic first is asked.",
    read=SPEED,
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return bytes_per_second / (parameters * itemsize), flops_per_second / (2 * parameters)


@suspect(
    "seconds_for_rates", task=SERVE, hint="These are seconds for one token, and tokens a second are asked.", read=SPEED
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return 2 * parameters / flops_per_second, parameters * itemsize / bytes_per_second


@suspect(
    "itemsize_not_moved", task=SERVE, hint="Every parameter moves as one byte here, whatever it takes.", read=SPEED
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return flops_per_second / (2 * parameters), bytes_per_second / parameters


@suspect(
    "arithmetic_by_itemsize",
    task=SERVE,
    hint="The arithmetic depends on the bytes of a number here, and it does not.",
    read=SPEED,
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return flops_per_second / (2 * parameters * itemsize), bytes_per_second / (parameters * itemsize)


@suspect(
    "slower_ceiling_twice", task=SERVE, hint="Only the slower of the two comes back, and both are asked.", read=SPEED
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    slower = min(flops_per_second / (2 * parameters), bytes_per_second / (parameters * itemsize))
    return slower, slower


@suspect(
    "training_for_inference",
    task=SERVE,
    hint="This counts what a training step takes, and one decoded token is asked.",
    read=SPEED,
)
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return flops_per_second / (6 * parameters), bytes_per_second / (parameters * itemsize)


@suspect(
    "users_forgotten",
    task=SERVE,
    hint="Every user needs a cache, and the memory is not divided among them.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return (memory_bytes - weight_bytes) // (2 * layers * kv_heads * head_dim * itemsize)


@suspect(
    "weights_per_user",
    task=SERVE,
    hint="The weights are held once for all users, and here every user takes them.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return (memory_bytes // users - weight_bytes) // (2 * layers * kv_heads * head_dim * itemsize)


@suspect(
    "context_factor_two_forgotten",
    task=SERVE,
    hint="Keys and values are both cached, and one of them is missing in the context.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return (memory_bytes - weight_bytes) // (users * layers * kv_heads * head_dim * itemsize)


@suspect(
    "weights_not_taken_off", task=SERVE, hint="The weights take memory too, and they are not taken off.", read=CONTEXT
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return memory_bytes // (users * 2 * layers * kv_heads * head_dim * itemsize)


@suspect(
    "context_rounded",
    task=SERVE,
    hint="The number of tokens is rounded to the nearest or up, and a token fits as a whole or not.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return round((memory_bytes - weight_bytes) / (users * 2 * layers * kv_heads * head_dim * itemsize))


@same_mistake("context_rounded")
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return -((weight_bytes - memory_bytes) // (users * 2 * layers * kv_heads * head_dim * itemsize))


@suspect(
    "context_itemsize_fixed",
    task=SERVE,
    hint="The bytes of a cached number are written into the longest context.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return (memory_bytes - weight_bytes) // (users * 4 * layers * kv_heads * head_dim)


@suspect(
    "users_multiplied",
    task=SERVE,
    hint="More users give more tokens each, and the memory is shared among them.",
    read=CONTEXT,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return users * (memory_bytes - weight_bytes) // (2 * layers * kv_heads * head_dim * itemsize)
