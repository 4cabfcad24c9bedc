"""What the chapter builds on what, and the right parts that a function may be given instead of the student's.

The rule itself is ``autograder.checks.follow_on``. The right parts run on the oracle's side and are only called from
the submission: no code of theirs is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.suspects import right, right_block

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
    # exercises; its table of positions has no check there
    "order_gaps": ("sinusoidal_positions",),
    "position_similarity": ("sinusoidal_positions",),
    # block_receipts
    "multi_head": ("self_attention", "split_heads", "merge_heads"),
    "block": (
        *("self_attention", "split_heads", "merge_heads", "multi_head"),
        *("layer_norm", "pre_norm", "ffn_relu", "detectors_fired"),
    ),
    "model_params": ("attention_params", "ffn_params"),
    "ffn_share": ("attention_params", "ffn_params"),
    "projection_flops": ("attention_params",),
    "max_context": ("kv_bytes_per_token", "kv_cache_bytes"),  # the latter in exercises
    "kv_table": ("kv_bytes_per_token",),
    "moe_params": ("attention_params", "ffn_params"),
    "ffn_as_slots": ("detectors_fired",),
    "scaling_sweep": ("entropy",),
    "rope_halves": ("rope", "pairing_permutation"),
    "alibi_bias": ("alibi_slopes",),
}

#: Numbers that all caches of one check hold together; no check needs a thousand.
MAX_CACHED = 100_000

#: Where the right parts are; a name of two of these modules is the same function.
_RIGHT = (right, right_block)


def give(lab: Lab, name: str) -> None:
    """Until the check is over, the submission's ``name`` is the right one."""
    parts = {key: value for module in reversed(_RIGHT) for key, value in vars(module).items()}
    lab.substitute(name, _right_cache(lab) if name == "KVCache" else parts[name])


def _right_cache(lab: Lab) -> Callable[[], Any]:
    """What is appended stays on the oracle's side until the check is over, so there is an end to it."""
    left = MAX_CACHED

    class Cache(right.KVCache):
        def append(self, k: Any, v: Any) -> None:
            nonlocal left
            left -= np.size(k) + np.size(v)
            if left < 0:
                raise ValueError("more than the caches of a check have to hold")
            super().append(k, v)

    return lambda: lab.stand_in(Cache(), methods=("append",), properties=("keys", "values"))
