"""Inputs that several hidden checks draw, with components of size 1 where nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def qkv(rng: np.random.Generator, lead: tuple[int, ...], n_q: int, n_k: int, d_k: int, d_v: int) -> list[Floats]:
    """``Q (*lead, n_q, d_k)``, ``K (*lead, n_k, d_k)``, ``V (*lead, n_k, d_v)``."""
    return [rng.normal(size=(*lead, n, d)) for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v))]


def layer(rng: np.random.Generator, lead: tuple[int, ...], n: int, d_model: int, d_k: int, d_v: int) -> list[Floats]:
    """``X (*lead, n, d_model)`` and projections: twice ``(d_model, d_k)``, then ``(d_model, d_v)``."""
    return [rng.normal(size=(*lead, n, d_model)), *(rng.normal(size=(d_model, d)) for d in (d_k, d_k, d_v))]


def random_mask(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """A boolean mask; every row sees at least one key and misses at least one, as rows that see nothing are
    not graded. How many it sees differs from row to row.
    """
    n_k = shape[-1]
    rank = rng.random(shape).argsort(axis=-1)
    visible: npt.NDArray[np.bool_] = rank < rng.integers(1, n_k, size=(*shape[:-1], 1))
    return visible


def with_scores(
    rng: np.random.Generator, queries: Sequence[float] | Floats, keys: Sequence[float] | Floats
) -> tuple[Floats, Floats]:
    """``Q (n_q, 4)`` and ``K (n_k, 4)`` whose scaled scores are ``queries[i] * keys[j]`` and a noise of
    size 1.

    The noise keeps the weights from being all or nothing where the chosen parts are equal.
    """
    Q, K = rng.normal(size=(len(queries), 4)), rng.normal(size=(len(keys), 4))
    Q[:, 0], K[:, 0] = 2.0 * np.asarray(queries), keys  # 2 = sqrt(d_k)
    return Q, K
