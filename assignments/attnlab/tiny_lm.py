"""A small causal language model whose attention and mask are the student's own (step 8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class TinyLM:
    """Embedding and position, ``n_layers`` of multi-head self-attention with a residual, unembedding.

    ``attention(q, k, v, mask=m)`` gives ``(output, weights)`` on ``(heads, t, head_dim)`` arrays, and
    ``causal_mask(n_q, n_k)`` a boolean ``(n_q, n_k)``: both are the student's. The weights are random but
    fixed by ``seed``, so the text means nothing, and is the same on every machine up to rounding. At least
    two layers: with one, a prefill without a mask could not be seen in the logits of the last token.

    Positions are random vectors for each of ``n_max`` slots, so that a wrong ``start`` shows.
    """

    def __init__(
        self,
        attention: Callable[..., Any],
        causal_mask: Callable[[int, int], Any],
        *,
        seed: int = 0,
        n_layers: int = 2,
        kv_heads: int = 2,
        head_dim: int = 6,
        vocab: int = 41,
        n_max: int = 700,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        if n_layers < 2:
            raise ValueError(
                "TinyLM needs at least two layers; with one, a missing mask in the prefill cannot be seen"
            )
        rng = np.random.default_rng(seed)
        width = kv_heads * head_dim

        def draw(*shape: int, scale: float = 1.0) -> npt.NDArray[Any]:
            return (scale * rng.normal(size=shape)).astype(dtype)

        self.n_layers, self.kv_heads, self.head_dim, self.vocab, self.n_max = (
            n_layers,
            kv_heads,
            head_dim,
            vocab,
            n_max,
        )
        self.dtype = np.dtype(dtype)
        self._attention, self._causal_mask = attention, causal_mask
        self._embedding = draw(vocab, width)
        self._places = draw(n_max, width, scale=0.7)
        # Four square matrices a layer: queries, keys, values, and the way back into the residual stream.
        self._layers = [
            [draw(width, width, scale=1.6 / math.sqrt(width)) for _ in range(4)] for _ in range(n_layers)
        ]
        self._unembedding = draw(width, vocab)

    def __call__(
        self, tokens: Sequence[int], caches: Sequence[Any] | None = None, start: int = 0
    ) -> npt.NDArray[Any]:
        """Logits ``(t, vocab)`` of the ``t`` ids in ``tokens``, which stand at the positions ``start …``.

        With ``caches``, one per layer, the block's keys and values ``(kv_heads, t, head_dim)`` are appended
        to each, and the block attends to all that is cached. ValueError where an id or position is out of
        range.
        """
        ids = np.asarray(tokens, dtype=np.int64).reshape(-1)
        if not ids.size or ids.min() < 0 or ids.max() >= self.vocab:
            raise ValueError(f"tokens must be one or more ids from 0 to {self.vocab - 1}")
        if start < 0 or start + ids.size > self.n_max:
            raise ValueError(f"positions {start} to {start + ids.size - 1} are not within n_max={self.n_max}")
        if caches is not None and len(caches) != self.n_layers:
            raise ValueError(f"one cache per layer: {self.n_layers}, not {len(caches)}")
        stream = self._embedding[ids] + self._places[start : start + ids.size]
        for at, (*projections, back) in enumerate(self._layers):
            heads = [self._split(stream.dot(projection)) for projection in projections]
            if caches is not None:
                caches[at].append(heads[1], heads[2])
                heads[1:] = caches[at].keys, caches[at].values
            mask = self._causal_mask(ids.size, heads[1].shape[-2])
            mixed = np.asarray(self._attention(*heads, mask=mask)[0], dtype=self.dtype)
            stream = stream + self._merge(mixed).dot(back)
        logits: npt.NDArray[Any] = stream.dot(self._unembedding)
        return logits

    def _split(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``(t, heads · head_dim)`` to ``(heads, t, head_dim)``."""
        return rows.reshape(len(rows), self.kv_heads, self.head_dim).transpose(1, 0, 2)

    def _merge(self, heads: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``(heads, t, head_dim)`` to ``(t, heads · head_dim)``."""
        return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)
