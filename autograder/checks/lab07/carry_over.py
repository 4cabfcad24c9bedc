"""What the chapter builds on what, and the right parts that a function may be given instead of the student's.

The rule itself is ``autograder.checks.follow_on``. The right parts run on the oracle's side and are only called from
the submission: no code of theirs is handed out.
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
