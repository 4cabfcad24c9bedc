"""How the checks of ``block_receipts`` ask: one call, one truth, one sentence behind what is off.

Counts are exact whole numbers of any type, rates are quotients to nine digits, arrays have the tolerance of the sum
that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.checks import compare
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block_costs as costs

Floats = npt.NDArray[np.float64]

#: What the contract calls the two rates of ``roofline_tokens_per_second``, the one pair of rates in this notebook.
CEILINGS = ("compute_bound", "bandwidth_bound")


def count(lab: Lab, name: str, *args: Any, hint: str, **named: Any) -> None:
    """The submission's ``name(*args)`` is exactly the whole number that listing every tensor gives."""
    whole(getattr(lab, name)(*args, **named), getattr(costs, name)(*args, **named), f"{name}{_said(args, named)}", hint)


def whole(found: Any, expected: int, name: str, hint: str) -> None:
    """Raise ``CheckFailed`` unless ``found`` is this whole number, of whatever type."""
    if compare.whole(found, name) != expected:
        raise CheckFailed(f"{name} is not right. {hint}")


def rate(lab: Lab, name: str, *args: Any, hint: str, relative: float = 1e-9, **named: Any) -> None:
    """The submission's ``name(*args)`` is a number or pair of numbers, right to a share of ``relative``."""
    found = getattr(lab, name)(*args, **named)
    expected = getattr(costs, name)(*args, **named)
    if not isinstance(expected, tuple):
        compare.close(found, expected, name=name, hint=hint, relative=relative)
        return
    for value, truth, which in zip(compare.pair(found, *CEILINGS), expected, CEILINGS, strict=True):
        compare.close(value, truth, name=f"{which} of {name}", hint=hint, relative=relative)


def distinct(rng: np.random.Generator, how_many: int, low: int = 2) -> list[int]:
    """Small whole numbers, all different, so that none can stand for another."""
    return [int(i) + low for i in rng.permutation(3 * how_many)[:how_many]]


def heads_of(rng: np.random.Generator, h: int, d_model: int, d_k: int, d_v: int) -> list[list[Floats]]:
    """``h`` heads of ``W_q``, ``W_k`` ``(d_model, d_k)`` and ``W_v (d_model, d_v)``, with scores of size 1."""
    size = d_model**-0.5
    return [[size * rng.normal(size=(d_model, width)) for width in (d_k, d_k, d_v)] for _ in range(h)]


def heads_tolerance(X: Floats, heads: Sequence[Sequence[Floats]], W_o: Floats | None = None) -> float:
    """The error law of attention for each head's ``|X||W|``, and once more for the sum that ``W_o`` makes of it."""
    parts = [[np.abs(X) @ np.abs(W) for W in head] for head in heads]
    law = max(compare.attention_tolerance(*part) for part in parts)
    return law if W_o is None else 2 * law * max(1.0, float(np.abs(W_o).sum(axis=0).max()))


def named_masks(mask: npt.NDArray[np.bool_] | None) -> Mapping[str, Any]:
    """The keyword argument of a call with or without a mask."""
    return {} if mask is None else {"mask": mask}


def _said(args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """``(3, "bf16", itemsize=4)``; nothing for arguments too long to say."""
    said = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in named.items())])
    return f"({said})" if len(said) <= 100 else ""
