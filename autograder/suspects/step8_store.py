"""Mistakes of ``KVCache`` in what it shares and hands out, and of ``kv_cache_bytes`` in its factors."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef, var-annotated, type-arg"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step8"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 8"


@suspect(
    "shared_class_attribute",
    task=TASK,
    hint="All caches share one store, so a second cache is not empty.",
    read=CACHE,
)
class KVCache:
    _k, _v = [], []

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    keys = property(lambda self: np.concatenate(self._k, axis=-2))
    values = property(lambda self: np.concatenate(self._v, axis=-2))


@same_mistake("shared_class_attribute")
class KVCache:
    def __init__(self, k=[], v=[]):
        self._k, self._v = k, v

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    keys = property(lambda self: np.concatenate(self._k, axis=-2))
    values = property(lambda self: np.concatenate(self._v, axis=-2))


@same_mistake("shared_class_attribute")
class KVCache:
    keys = values = None

    def append(self, k, v):
        kind = type(self)
        first = kind.keys is None
        kind.keys = np.array(k) if first else np.concatenate([kind.keys, k], axis=-2)
        kind.values = np.array(v) if first else np.concatenate([kind.values, v], axis=-2)


@suspect(
    "first_block_aliased",
    task=TASK,
    hint="The first block is not the cache's own: it changes when the caller reuses the array.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = k if first else np.concatenate([self.keys, k], axis=-2)
        self.values = v if first else np.concatenate([self.values, v], axis=-2)


@suspect(
    "blocks_aliased",
    task=TASK,
    hint="The blocks are not the cache's own: they change when the caller reuses an array.",
    read=CACHE,
)
class KVCache:
    def __init__(self):
        self._k, self._v = [], []

    def append(self, k, v):
        self._k.append(k)
        self._v.append(v)

    keys = property(lambda self: np.concatenate(self._k, axis=-2))
    values = property(lambda self: np.concatenate(self._v, axis=-2))


@suspect(
    "append_returns_new_cache",
    task=TASK,
    hint="Appending gives back another cache and leaves this one as it was.",
    read=LAB,
)
class KVCache:
    def __init__(self, keys=None, values=None):
        self.keys, self.values = keys, values

    def append(self, k, v):
        if self.keys is None:
            return KVCache(np.array(k), np.array(v))
        return KVCache(np.concatenate([self.keys, k], axis=-2), np.concatenate([self.values, v], axis=-2))


@same_mistake("append_returns_new_cache")
class KVCache(tuple):
    def __new__(cls, parts=(None, None)):
        return super().__new__(cls, parts)

    def append(self, k, v):
        if self[0] is None:
            return KVCache((np.array(k), np.array(v)))
        return KVCache((np.concatenate([self[0], k], axis=-2), np.concatenate([self[1], v], axis=-2)))

    keys = property(lambda self: self[0])
    values = property(lambda self: self[1])


@suspect(
    "keys_is_a_method",
    task=TASK,
    hint="Keys and values have to be called here; they should be there to be read.",
    read=LAB,
)
class KVCache:
    def __init__(self):
        self._k, self._v = [], []

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    def keys(self):
        return np.concatenate(self._k, axis=-2)

    def values(self):
        return np.concatenate(self._v, axis=-2)


@suspect(
    "cache_loses_digits",
    task=TASK,
    hint="What comes out has fewer digits than what went in.",
    read=CACHE,
    also=(("np.float16", "np.float32"),),
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        k, v = np.array(k, dtype=np.float16), np.array(v, dtype=np.float16)
        self.keys = k if first else np.concatenate([self.keys, k], axis=-2)
        self.values = v if first else np.concatenate([self.values, v], axis=-2)


@suspect(
    "reading_empties_cache",
    task=TASK,
    hint="After the keys were read once, something is missing.",
    read=LAB,
)
class KVCache:
    def __init__(self):
        self._k, self._v = [], []

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    @property
    def keys(self):
        parts, self._k = self._k, []
        return np.concatenate(parts, axis=-2)

    @property
    def values(self):
        parts, self._v = self._v, []
        return np.concatenate(parts, axis=-2)


@suspect(
    "cache_changes_the_block",
    task=TASK,
    hint="The caller's block is different afterwards.",
    read=LAB,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-2)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=-2)
        k *= 0
        v *= 0


# ---- kv_cache_bytes
@suspect(
    "factor_two_forgotten",
    task=TASK,
    hint="Only half of what is stored is counted.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return layers * kv_heads * head_dim * tokens * itemsize


@suspect(
    "factor_two_twice",
    task=TASK,
    hint="Something that is stored once per token is counted twice.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 4 * layers * kv_heads * head_dim * tokens * itemsize


@suspect(
    "third_tensor_counted",
    task=TASK,
    hint="The queries are counted too; they are used once and not kept.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 3 * layers * kv_heads * head_dim * tokens * itemsize


@suspect(
    "layers_forgotten",
    task=TASK,
    hint="Every layer keeps a store of its own.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * kv_heads * head_dim * tokens * itemsize


@suspect(
    "kv_heads_forgotten",
    task=TASK,
    hint="Every head has keys and values of its own.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * head_dim * tokens * itemsize


@suspect(
    "head_dim_forgotten",
    task=TASK,
    hint="A key is not one number but several.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * tokens * itemsize


@suspect(
    "tokens_forgotten",
    task=TASK,
    hint="The length of the text has no effect.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * itemsize


@suspect(
    "kv_itemsize_forgotten",
    task=TASK,
    hint="These are the numbers that are stored, not the bytes that they take.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens


@suspect(
    "kv_itemsize_ignored",
    task=TASK,
    hint="The size of a number is the same whatever is asked for.",
    read=CACHE,
    also=(("tokens * 2", "tokens * 4"), ("tokens * 2", "tokens * 8")),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens * 2


@suspect(
    "kv_default_itemsize_changed",
    task=TASK,
    hint="Without a size of a number being asked for, another one is used than the table in the chapter has.",
    read=CACHE,
    also=(("itemsize=4", "itemsize=8"), ("itemsize=4", "itemsize=1")),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=4):
    return 2 * layers * kv_heads * head_dim * tokens * itemsize


@suspect(
    "quadratic_in_tokens",
    task=TASK,
    hint="Twice the text takes four times the bytes here; each token is stored once.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens**2 * itemsize


@suspect(
    "kv_itemsize_in_bits",
    task=TASK,
    hint="There is a factor of eight too much or too little: the size of a number is in bytes already.",
    read=CACHE,
    also=(("itemsize * 8", "itemsize // 8"),),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens * itemsize * 8


@suspect(
    "kv_counted_in_gigabytes",
    task=TASK,
    hint="The answer is in a larger unit, or is no whole number; bytes are asked.",
    read=CACHE,
    also=(
        ("/ 1e9", "/ 2**30"),
        ("/ 1e9", "/ 1e6"),
        ("/ 1e9", "/ 2**20"),
        ("/ 1e9", "/ 2**10"),
        ("/ 1e9", "// 2**20"),
        ("/ 1e9", "* 1.0"),
    ),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens * itemsize / 1e9


@suspect(
    "last_token_not_counted",
    task=TASK,
    hint="One token more or less is counted than there is.",
    read=CACHE,
    also=(("tokens - 1", "tokens + 1"),),
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * (tokens - 1) * itemsize


@suspect(
    "kv_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=CACHE,
)
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    factors = np.array([2, layers, kv_heads, head_dim, tokens, itemsize], dtype=np.int32)
    return int(np.prod(factors, dtype=np.int32))
