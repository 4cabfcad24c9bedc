"""Mistakes of ``max_context``: what a token takes, who shares what, and how it is rounded."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

TASK = "exercise9"
EXERCISE = "7.13, exercise 9"
CACHE = "7.6, The KV cache"


@suspect(
    "context_of_one_user",
    task=TASK,
    hint="The room is given to one user; every user needs a cache.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // token


@suspect(
    "context_times_users",
    task=TASK,
    hint="The room is multiplied by the users; they share it.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) * users // token


@suspect(
    "context_weights_per_user",
    task=TASK,
    hint="The weights are taken off for every user; they are in memory once.",
    read=EXERCISE,
    also=(("memory_bytes // users - weight_bytes", "(memory_bytes - users * weight_bytes) // users"),),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes // users - weight_bytes) // token


@suspect(
    "context_weights_forgotten",
    task=TASK,
    hint="The whole memory is given to the caches; the weights are in it as well.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return memory_bytes // (users * token)


@suspect(
    "context_weights_added",
    task=TASK,
    hint="The weights are added to the memory.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes + weight_bytes) // (users * token)


@suspect(
    "context_keys_only",
    task=TASK,
    hint="Twice too many tokens: keys and values are both kept.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_factor_four",
    task=TASK,
    hint="Half as many tokens as fit: a factor of two is counted twice.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 4 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_layers_forgotten",
    task=TASK,
    hint="The cache of one layer is counted; every layer has its own.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_kv_heads_forgotten",
    task=TASK,
    hint="The cache of one head is counted; every KV head has its own.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_query_heads",
    task=TASK,
    hint="The query heads of the exercise are counted, whatever the number of KV heads is.",
    read=CACHE,
    also=(
        ("* 64", "* 32"),
        ("* 64", "* 8"),
    ),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * 64 * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_head_width_forgotten",
    task=TASK,
    hint="One number per head is counted; a key has as many as the head is wide.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_itemsize_forgotten",
    task=TASK,
    hint="Numbers are counted, where they take bytes.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_itemsize_ignored",
    task=TASK,
    hint="Every number takes the same bytes, whatever is asked.",
    read=CACHE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * 2
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_default_itemsize",
    task=TASK,
    hint="Another size of a number is used where none is given.",
    read=CACHE,
    also=(
        ("itemsize=4", "itemsize=1"),
        ("itemsize=4", "itemsize=8"),
    ),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=4):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) // (users * token)


@suspect(
    "context_weights_times_itemsize",
    task=TASK,
    hint="The weights are multiplied by the size of a number; they are given in bytes.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes * itemsize) // (users * token)


@suspect(
    "context_rounded_up",
    task=TASK,
    hint="The last token does not fit as a whole: the number is rounded up.",
    read=EXERCISE,
    also=(
        ("-((weight_bytes - memory_bytes) // (users * token))", "(memory_bytes - weight_bytes) // (users * token) + 1"),
    ),
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return -((weight_bytes - memory_bytes) // (users * token))


@suspect(
    "context_rounded_to_nearest",
    task=TASK,
    hint="Most of a token is taken for a token: the number is rounded to the nearest.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return round((memory_bytes - weight_bytes) / (users * token))


@suspect(
    "context_not_rounded",
    task=TASK,
    hint="A part of a token is left in the answer; whole tokens are asked.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes) / (users * token)


@suspect(
    "context_full_memory_refused",
    task=TASK,
    hint="Where the memory is exactly full, the last token is refused.",
    read=EXERCISE,
)
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return (memory_bytes - weight_bytes - 1) // (users * token)


@same_mistake("context_full_memory_refused")
def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    token = 2 * layers * kv_heads * head_dim * itemsize
    return -((weight_bytes - memory_bytes) // (users * token)) - 1
