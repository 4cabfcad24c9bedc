"""What the chapter builds on what, and the right parts that a later step may be given.

The rule (carry-over): a later function that fails with the student's own earlier ones is tried once more with
right ones in their place. What it then gets right counts in full, for the mark was taken where the mistake is.
The right ones run on the oracle's side and are only called from the submission: no code of theirs is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.lab import Lab
from autograder.suspects import right

#: Function -> the earlier functions of the lab that it may call.
BUILDS_ON: dict[str, tuple[str, ...]] = {
    "attention": ("softmax",),
    "self_attention": ("softmax", "attention"),
    "worked_example": ("softmax", "attention"),
    "equivariance_report": (
        "softmax",
        "attention",
        "self_attention",
        "permutation_gap",
        "sinusoidal_positions",
        "causal_mask",
    ),
    "generate": ("KVCache",),
    "time_generation": ("KVCache",),
    "kv_cache_bytes": ("KVCache",),
}


def give(lab: Lab, name: str) -> None:
    """Until the check is over, the submission's ``name`` is the right one."""
    lab.substitute(name, _right_cache(lab) if name == "KVCache" else getattr(right, name))


def _right_cache(lab: Lab) -> Callable[[], Any]:
    return lambda: lab.stand_in(right.KVCache(), methods=("append",), properties=("keys", "values"))
