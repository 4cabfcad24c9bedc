"""Mistakes of ``KVCache`` with a store of fixed size: what happens when it is full, or not yet."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step8"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 8"


@suspect(
    "overwrites_at_capacity",
    task=TASK,
    hint="After a certain number of tokens the oldest ones disappear without a word.",
    read=CACHE,
    also=(("512", "64"), ("512", "128"), ("512", "256"), ("512", "500")),
)
class KVCache:
    keys = values = None

    def append(self, k, v):
        first = self.keys is None
        keys = np.array(k) if first else np.concatenate([self.keys, k], axis=-2)
        values = np.array(v) if first else np.concatenate([self.values, v], axis=-2)
        self.keys, self.values = keys[..., -512:, :], values[..., -512:, :]


@same_mistake("overwrites_at_capacity")
class KVCache:
    def __init__(self, capacity=512):
        self._capacity, self._n, self._stores = capacity, 0, None

    def append(self, k, v):
        if self._stores is None:
            shapes = [a.shape[:-2] + (self._capacity, a.shape[-1]) for a in (k, v)]
            self._stores = [np.zeros(shape) for shape in shapes]
        for t in range(k.shape[-2]):
            for store, block in zip(self._stores, (k, v), strict=True):
                store[..., self._n % self._capacity, :] = block[..., t, :]
            self._n += 1

    keys = property(lambda self: self._stores[0][..., : min(self._n, self._capacity), :].copy())
    values = property(lambda self: self._stores[1][..., : min(self._n, self._capacity), :].copy())


@suspect(
    "full_at_capacity",
    task=TASK,
    hint="After a certain number of tokens the cache takes no more.",
    read=CACHE,
    also=(("512", "64"), ("512", "128"), ("512", "256")),
)
class KVCache:
    def __init__(self, capacity=512):
        self._capacity, self._n, self._stores = capacity, 0, None

    def append(self, k, v):
        if self._stores is None:
            shapes = [a.shape[:-2] + (self._capacity, a.shape[-1]) for a in (k, v)]
            self._stores = [np.zeros(shape) for shape in shapes]
        new = self._n + k.shape[-2]
        for store, block in zip(self._stores, (k, v), strict=True):
            store[..., self._n : new, :] = block
        self._n = new

    keys = property(lambda self: self._stores[0][..., : self._n, :].copy())
    values = property(lambda self: self._stores[1][..., : self._n, :].copy())


@suspect(
    "growth_loses_rows",
    task=TASK,
    hint="When the store grows, not all of the old tokens move along.",
    read=CACHE,
)
class KVCache:
    def __init__(self):
        self._n, self._capacity, self._stores = 0, 32, None

    def append(self, k, v):
        if self._stores is None:
            shapes = [a.shape[:-2] + (self._capacity, a.shape[-1]) for a in (k, v)]
            self._stores = [np.zeros(shape) for shape in shapes]
        new = self._n + k.shape[-2]
        while new > self._capacity:
            moved, half = [], self._capacity // 2
            self._capacity *= 2
            for store in self._stores:
                larger = np.zeros(store.shape[:-2] + (self._capacity, store.shape[-1]))
                larger[..., :half, :] = store[..., :half, :]
                moved.append(larger)
            self._stores = moved
        for store, block in zip(self._stores, (k, v), strict=True):
            store[..., self._n : new, :] = block
        self._n = new

    keys = property(lambda self: self._stores[0][..., : self._n, :].copy())
    values = property(lambda self: self._stores[1][..., : self._n, :].copy())


@same_mistake("growth_loses_rows")
class KVCache:
    def __init__(self):
        self._n, self._stores = 0, None

    def append(self, k, v):
        new = self._n + k.shape[-2]
        if self._stores is None or new > self._stores[0].shape[-2]:
            shapes = [a.shape[:-2] + (2 * new, a.shape[-1]) for a in (k, v)]
            self._stores = [np.zeros(shape) for shape in shapes]
        for store, block in zip(self._stores, (k, v), strict=True):
            store[..., self._n : new, :] = block
        self._n = new

    keys = property(lambda self: self._stores[0][..., : self._n, :].copy())
    values = property(lambda self: self._stores[1][..., : self._n, :].copy())


@suspect(
    "unused_rows_returned",
    task=TASK,
    hint="The whole store comes back, with rows that hold no token yet.",
    read=CACHE,
    also=(("1024", "600"), ("1024", "2048")),
)
class KVCache:
    def __init__(self, capacity=1024):
        self._n, self._capacity, self.keys, self.values = 0, capacity, None, None

    def append(self, k, v):
        if self.keys is None:
            self.keys = np.zeros(k.shape[:-2] + (self._capacity, k.shape[-1]))
            self.values = np.zeros(v.shape[:-2] + (self._capacity, v.shape[-1]))
        new = self._n + k.shape[-2]
        self.keys[..., self._n : new, :], self.values[..., self._n : new, :] = k, v
        self._n = new


@suspect(
    "place_counts_calls",
    task=TASK,
    hint="The place of the next token counts how often something was added, not how many tokens that was.",
    read=CACHE,
)
class KVCache:
    def __init__(self, capacity=2048):
        self._calls, self._n, self._stores, self._capacity = 0, 0, None, capacity

    def append(self, k, v):
        if self._stores is None:
            shapes = [a.shape[:-2] + (self._capacity, a.shape[-1]) for a in (k, v)]
            self._stores = [np.zeros(shape) for shape in shapes]
        for store, block in zip(self._stores, (k, v), strict=True):
            store[..., self._calls : self._calls + k.shape[-2], :] = block
        self._calls += 1
        self._n += k.shape[-2]

    keys = property(lambda self: self._stores[0][..., : self._n, :].copy())
    values = property(lambda self: self._stores[1][..., : self._n, :].copy())
