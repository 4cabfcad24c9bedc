"""A small language model on the oracle's side that remembers what it was fed: the witness of ``moved_positions``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: More calls than this in one check are refused; honest code makes two, or one for each word of the vocabulary.
MAX_CALLS = 200
MAX_IDS = 64


class WatchedModel:
    """``model(ids)`` → logits ``(n, vocab)``; attribute ``vocab``. Article, section 13.

    ``sees`` says which ids the logits at ``i`` depend on: ``"past"`` on all up to ``i``, as with a causal mask;
    ``"all"`` on every one, a model without a mask; ``"hint"`` a little on every one, a mask that leaks; ``"itself"`` on
    that at ``i`` alone; ``"previous"`` on it and the one before.
    """

    def __init__(self, rng: np.random.Generator, *, vocab: int = 17, sees: str = "past") -> None:
        self.vocab, self.sees = vocab, sees
        self._table = rng.normal(size=(vocab, 6))
        self._out = rng.normal(size=(6, vocab))
        self.calls: list[tuple[int, ...]] = []

    def __call__(self, ids: Any) -> Floats:
        """Raises ``TypeError`` or ``ValueError`` for what is not a sequence of ids of the vocabulary."""
        try:
            tokens = np.asarray(ids)
        except (ValueError, TypeError) as error:
            raise TypeError("the model takes a sequence of integer ids") from error
        if tokens.ndim != 1 or tokens.dtype.kind not in "iu" or not 0 < len(tokens) <= MAX_IDS:
            raise TypeError("the model takes a sequence of integer ids")
        if tokens.min() < 0 or tokens.max() >= self.vocab:
            raise ValueError(f"an id is not in the vocabulary: they go from 0 to {self.vocab - 1}")
        if len(self.calls) >= MAX_CALLS:
            raise RuntimeError("the model was called far too often")
        self.calls.append(tuple(int(token) for token in tokens))
        return self.logits(self.calls[-1])

    def logits(self, tokens: tuple[int, ...]) -> Floats:
        """The same without being noticed."""
        x = self._table[list(tokens)]
        n = len(tokens)
        if self.sees == "all":
            seen = np.repeat(x.sum(axis=0)[np.newaxis], n, axis=0) + x
        elif self.sees == "itself":
            seen = x
        elif self.sees == "previous":
            seen = x + np.vstack([np.zeros((1, 6)), 0.5 * x[:-1]])
        else:
            # Row by row, so that a row whose ids are the same is the same to the last bit.
            seen = np.array([x[: i + 1].mean(axis=0) + x[i] for i in range(n)])
            if self.sees == "hint":
                seen += 1e-7 * x.sum(axis=0)
        return np.array([np.tanh(row) @ self._out for row in seen])
