"""A small language model on the oracle's side: the truth of step 8, and a witness of how it was called.

Two or more causal multi-head layers with added positions, float64, no training: only its arithmetic matters.
With one layer, or without positions, a wrong start or an unmasked prefill could not be seen in the logits.
The keys and values of a block go into the submission's own caches and are read back from there (chapter
section 7.6), the attention is the reference's, so step 8 does not depend on the student's step 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from autograder.reference.attention import attention, causal_mask
from autograder.reference.devices import Device, whole

Array = np.ndarray[Any, Any]

#: More calls than this in one check are refused; the longest check makes about forty.
MAX_CALLS = 2000
#: A greedy choice counts as clear where the best logit leads by this much; rounding moves them by about 1e-14.
CLEAR_LEAD = 1e-3
#: Answers without a cache that are remembered: every submission of a course is asked the same, some 200 times.
REMEMBERED = 2048


class Cache(Protocol):
    """A cache of the submission, spoken of by handle (``autograder.lab.Remote``)."""

    def call(self, method: str, *args: Any) -> Any: ...

    def get(self, attribute: str) -> Any: ...


@dataclass(frozen=True)
class Call:
    """One call of the model: the ids, the position of the first, whether caches were given, the last row of
    logits ``(vocab,)``, and the ticks of device work."""

    ids: tuple[int, ...]
    start: int
    cached: bool
    last_logits: Array
    ticks: int


#: Of a layer's number and its new keys and values ``(kv_heads, t, head_dim)``, those to attend to.
Join = Callable[[int, Array, Array], tuple[Array, Array]]


class _Weights:
    """The numbers of a model, and the arithmetic; two with the same numbers are the same."""

    def __init__(self, *, embedding: Array, places: Array, layers: Array, unembedding: Array, kv_heads: int) -> None:
        self._embedding, self._places, self._layers, self._unembedding = embedding, places, layers, unembedding
        self._kv_heads = kv_heads
        self._same = (kv_heads, layers.shape, *(a.tobytes() for a in (embedding, places, layers, unembedding)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Weights) and self._same == other._same

    def __hash__(self) -> int:
        return hash(self._same)

    @functools.lru_cache(maxsize=REMEMBERED)  # noqa: B019 a model is small, and the next submission meets it again
    def logits(self, ids: tuple[int, ...], start: int) -> Array:
        """``(t, vocab)``, without any cache; read-only."""
        found, _ = self.forward(np.array(ids), start, lambda _, k, v: (k, v))
        found.flags.writeable = False
        return found

    def forward(self, ids: Array, start: int, join: Join) -> tuple[Array, int]:
        """Logits ``(t, vocab)`` and the number of keys that the block attended to."""
        t = context = len(ids)
        x = self._embedding[ids] + self._places[start : start + t]
        for layer, (W_q, W_k, W_v, W_o) in enumerate(self._layers):
            q, k, v = (self._split(x @ W) for W in (W_q, W_k, W_v))
            k, v = join(layer, k, v)
            context = k.shape[-2]
            mixed, _ = attention(q, k, v, causal_mask(t, context))
            x = x + np.moveaxis(mixed, 0, 1).reshape(t, -1) @ W_o
        return x @ self._unembedding, context

    def _split(self, x: Array) -> Array:
        """``(t, width)`` → ``(kv_heads, t, head_dim)``."""
        return np.ascontiguousarray(np.moveaxis(x.reshape(len(x), self._kv_heads, -1), 1, 0))


class TinyLM:
    """``model(tokens, caches=None, start=0)`` → logits ``(t, vocab)``, as the contract of step 8 describes it.

    ``device``, where given, is charged for every call: a fixed part, and parts for each id and for each pair of
    id and key, so that every later call takes a little longer than the one before.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        n_layers: int = 2,
        kv_heads: int = 2,
        head_dim: int = 4,
        vocab: int = 31,
        n_max: int = 64,
        device: Device | None = None,
    ) -> None:
        self.n_layers, self.kv_heads, self.head_dim = n_layers, kv_heads, head_dim
        self.vocab, self.n_max, self.device = vocab, n_max, device
        width = kv_heads * head_dim
        self._weights = _Weights(
            embedding=rng.normal(size=(vocab, width)),
            places=0.7 * rng.normal(size=(n_max, width)),
            layers=1.6 / math.sqrt(width) * rng.normal(size=(n_layers, 4, width, width)),
            # Logits of size 1: ids that are drawn at random instead of picked differ from the greedy ones soon.
            unembedding=0.5 / math.sqrt(width) * rng.normal(size=(width, vocab)),
            kv_heads=kv_heads,
        )
        self._busy = False
        self.calls: list[Call] = []

    @property
    def attributes(self) -> dict[str, Any]:
        """What the submission sees of it beside calling it."""
        return {
            "n_layers": self.n_layers,
            "kv_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "vocab": self.vocab,
        }

    def __call__(self, tokens: Any, caches: Any = None, start: Any = 0) -> Array:
        """Logits ``(t, vocab)``. Raises ``TypeError`` or ``ValueError`` for what the contract does not allow."""
        if self._busy:
            raise RuntimeError("the model was called from within one of its own calls")
        if len(self.calls) >= MAX_CALLS:
            raise RuntimeError(f"the model was called more than {MAX_CALLS} times")
        ids, first = self._ids(tokens), whole(start, "start")
        if first < 0 or first + len(ids) > self.n_max:
            raise ValueError(f"positions {first} to {first + len(ids) - 1} are outside this model's range")
        stores = None if caches is None else self._stores(caches)
        self._busy = True
        try:
            if stores is None:
                logits, context = self._weights.logits(tuple(ids.tolist()), first), len(ids)
            else:
                logits, context = self._weights.forward(ids, first, functools.partial(self._join, stores))
        finally:
            self._busy = False
        t = len(ids)
        ticks = 3000 + 500 * t + 20 * t * context
        if self.device is not None:
            self.device.work(ticks)
        self.calls.append(Call(tuple(ids.tolist()), first, stores is not None, logits[-1], ticks))
        return logits

    def generate(self, prompt: Sequence[int], n_new: int) -> tuple[list[int], Array]:
        """The truth: greedy tokens (prompt first) and the logits ``(n_new, vocab)`` they were picked from.

        Everything is computed anew for each id, which is the path without any cache.
        """
        tokens, rows = list(prompt), []
        for _ in range(n_new):
            rows.append(self._weights.logits(tuple(tokens), 0)[-1])
            tokens.append(int(np.argmax(rows[-1])))
        return tokens, np.array(rows)

    def clear_prompt(self, rng: np.random.Generator, length: int, n_new: int) -> list[int]:
        """A random prompt whose greedy continuation hangs on no rounding (see ``CLEAR_LEAD``)."""
        for _ in range(1000):
            prompt = [int(i) for i in rng.integers(0, self.vocab, length)]
            logits = np.sort(self.generate(prompt, n_new)[1], axis=-1)
            if np.min(logits[:, -1] - logits[:, -2]) > CLEAR_LEAD:
                return prompt
        raise RuntimeError("no prompt of this model has a clear continuation")

    def _join(self, stores: Sequence[Cache], layer: int, k: Array, v: Array) -> tuple[Array, Array]:
        """Append a block to the submission's cache of a layer, and read back everything that it holds."""
        stores[layer].call("append", k, v)
        keys = self._cached(stores[layer].get("keys"), k.shape[-2], "keys")
        values = self._cached(stores[layer].get("values"), k.shape[-2], "values")
        if keys.shape != values.shape:
            raise ValueError(f"the cache holds keys {keys.shape} and values {values.shape}")
        return keys, values

    def _ids(self, tokens: Any) -> Array:
        try:
            ids = np.asarray(tokens)
        except (ValueError, TypeError) as error:
            raise TypeError("tokens must be a 1-D sequence of integers") from error
        if ids.ndim != 1 or ids.dtype.kind not in "iu" or not 0 < len(ids) <= self.n_max:
            raise TypeError("tokens must be a 1-D sequence of integers, at least one")
        if ids.min() < 0 or ids.max() >= self.vocab:
            raise ValueError("a token is not in the vocabulary")
        return ids.astype(np.int64)

    def _stores(self, caches: Any) -> Sequence[Cache]:
        if not isinstance(caches, list) or len(caches) != self.n_layers:
            raise ValueError(f"caches must be a list of {self.n_layers} caches, one for each layer")
        if not all(hasattr(c, "call") and hasattr(c, "get") for c in caches):
            raise TypeError("each of the caches must be a KVCache")
        return caches

    def _cached(self, found: Any, t: int, name: str) -> Array:
        """The cache's keys or values ``(kv_heads, T, head_dim)``, or ``ValueError`` where they cannot be that."""
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu" or found.ndim != 3:
            raise ValueError(f"the cache's {name} are not an array (kv_heads, T, head_dim)")
        heads, T, width = found.shape
        if heads != self.kv_heads or width != self.head_dim or not t <= T <= 4 * self.n_max:
            raise ValueError(
                f"the cache's {name} have the shape {found.shape}; with {self.kv_heads} heads of width "
                f"{self.head_dim} and at least {t} ids it should be ({self.kv_heads}, T, {self.head_dim})"
            )
        if not np.all(np.isfinite(found)):
            raise ValueError(f"the cache's {name} are not finite")
        return found.astype(np.float64)
