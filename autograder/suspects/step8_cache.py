"""Mistakes of ``KVCache``: the axis, what is kept, what is shared, what is lost on the way."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step8"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 8"


# ---- the axis
@suspect(
    "concatenates_axis_0",
    task=TASK,
    hint="New tokens are joined along the first axis, which holds the heads as soon as there are any.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=0)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=0)


@suspect(
    "concatenates_axis_1",
    task=TASK,
    hint="The axis of the tokens is counted from the front; how many axes stand before it varies.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=1)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=1)


@suspect(
    "concatenates_width",
    task=TASK,
    hint="The keys get wider instead of more.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-1)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=-1)


@suspect(
    "blocks_stacked",
    task=TASK,
    hint="Each block gets an axis of its own; a block should continue the one before.",
    read=CACHE,
)
class KVCache:
    def __init__(self):
        self._k, self._v = [], []

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    keys = property(lambda self: np.stack(self._k))
    values = property(lambda self: np.stack(self._v))


@same_mistake("blocks_stacked")
class KVCache:
    def __init__(self):
        self._k, self._v = [], []

    def append(self, k, v):
        self._k.append(np.array(k))
        self._v.append(np.array(v))

    keys = property(lambda self: np.stack(self._k, axis=-2))
    values = property(lambda self: np.stack(self._v, axis=-2))


@same_mistake("blocks_stacked")
class KVCache:
    def __init__(self):
        self.keys, self.values = [], []

    def append(self, k, v):
        self.keys.append(np.array(k))
        self.values.append(np.array(v))


@suspect(
    "cache_flattened",
    task=TASK,
    hint="The arrays lose their axes when they are joined.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.append(self.keys, k)
        self.values = np.array(v) if first else np.append(self.values, v)


@suspect(
    "values_joined_elsewhere",
    task=TASK,
    hint="Keys and values are not joined in the same way.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-2)
        self.values = np.array(v) if first else np.concatenate([self.values, v], axis=0)


@same_mistake("values_joined_elsewhere")
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-2)
        self.values = np.array(v)


# ---- what is kept
@suspect(
    "newest_first",
    task=TASK,
    hint="New tokens are put in front; they should come in the order of arrival.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(k) if first else np.concatenate([k, self.keys], axis=-2)
        self.values = np.array(v) if first else np.concatenate([v, self.values], axis=-2)


@suspect(
    "keeps_last_block_only",
    task=TASK,
    hint="Each block replaces the one before; everything earlier is forgotten.",
    read=CACHE,
)
class KVCache:
    def append(self, k, v):
        self.keys, self.values = np.array(k), np.array(v)


@suspect(
    "keeps_last_two_only",
    task=TASK,
    hint="Only the block before the last one is remembered; all earlier ones must stay.",
    read=CACHE,
)
class KVCache:
    _last = None

    def append(self, k, v):
        before = self._last
        self._last = (np.array(k), np.array(v))
        self.keys = np.array(k) if before is None else np.concatenate([before[0], k], axis=-2)
        self.values = np.array(v) if before is None else np.concatenate([before[1], v], axis=-2)


@suspect(
    "keeps_first_block_only",
    task=TASK,
    hint="After the first block nothing is added any more.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        if self.keys is None:
            self.keys, self.values = np.array(k), np.array(v)


@suspect(
    "block_keeps_last_row",
    task=TASK,
    hint="Of a block of several tokens only one is kept; a prompt comes as one block.",
    read=CACHE,
    also=(("-1:", ":1"),),
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        k, v = np.array(k[..., -1:, :]), np.array(v[..., -1:, :])
        self.keys = k if first else np.concatenate([self.keys, k], axis=-2)
        self.values = v if first else np.concatenate([self.values, v], axis=-2)


@suspect(
    "first_block_stored_twice",
    task=TASK,
    hint="The first block is in the cache two times.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        if self.keys is None:
            self.keys, self.values = k, v
        self.keys = np.concatenate([self.keys, k], axis=-2)
        self.values = np.concatenate([self.values, v], axis=-2)


@suspect(
    "cache_keys_and_values_swapped",
    task=TASK,
    hint="Keys come out where values are asked, and the other way round.",
    read=CACHE,
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        self.keys = np.array(v) if first else np.concatenate([self.keys, v], axis=-2)
        self.values = np.array(k) if first else np.concatenate([self.values, k], axis=-2)


@suspect(
    "keys_stored_as_values",
    task=TASK,
    hint="Both stores hold the same; one of the two arguments is never kept.",
    read=CACHE,
)
class KVCache:
    keys = None
    values = property(lambda self: self.keys)

    def append(self, k, v):
        self.keys = np.array(k) if self.keys is None else np.concatenate([self.keys, k], axis=-2)


@same_mistake("keys_stored_as_values")
class KVCache:
    values = None
    keys = property(lambda self: self.values)

    def append(self, k, v):
        self.values = np.array(v) if self.values is None else np.concatenate([self.values, v], axis=-2)
