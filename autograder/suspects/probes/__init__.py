"""About a dozen questions to each function of the contract, chosen so that mistakes answer them differently.

``observe`` asks a submission through the ``lab`` interface, so a sandboxed submission and a suspect in this
process are asked the very same thing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.lab import Lab
from autograder.suspects.probes import (
    block_functions,
    exercises,
    linear_layers,
    step1,
    step2_3,
    step4,
    step5,
    step6,
    step7,
    step8,
)
from autograder.suspects.probes.record import Notes, Observation

PROBES: dict[str, Callable[[Lab, np.random.Generator, Notes], None]] = {
    "softmax": step1.observe_softmax,
    "attention": step1.observe_attention,
    "self_attention": step1.observe_self_attention,
    "worked_example": step2_3.observe_worked_example,
    "compare_with_torch": step2_3.observe_compare_with_torch,
    "permutation_gap": step4.observe_permutation_gap,
    "sinusoidal_positions": step4.observe_sinusoidal_positions,
    "equivariance_report": step4.observe_equivariance_report,
    "time_calls": step5.observe_time_calls,
    "local_slopes": step5.observe_local_slopes,
    "fit_exponent": step5.observe_fit_exponent,
    "score_bytes": step6.observe_score_bytes,
    "peak_memory": step6.observe_peak_memory,
    "largest_n": step6.observe_largest_n,
    "causal_mask": step7.observe_causal_mask,
    "prefix_gap": step7.observe_prefix_gap,
    "KVCache": step8.observe_kv_cache,
    "generate": step8.observe_generate,
    "time_generation": step8.observe_time_generation,
    "kv_cache_bytes": step8.observe_kv_cache_bytes,
}

EXERCISES: dict[str, Callable[[Lab, np.random.Generator, Notes], None]] = {
    "order_gaps": exercises.observe_order_gaps,
    "kv_cache_bytes": step8.observe_kv_cache_bytes,
    "in_units": exercises.observe_in_units,
    "weights_with_constant_row": exercises.observe_weights_with_constant_row,
    "row_at_scale": exercises.observe_row_at_scale,
    "head_costs": exercises.observe_head_costs,
    "position_similarity": exercises.observe_position_similarity,
    "rope": exercises.observe_rope,
    "offset_spread": exercises.observe_offset_spread,
    "max_context": exercises.observe_max_context,
    "weight_bytes": exercises.observe_weight_bytes,
    "training_flops": exercises.observe_training_flops,
}

#: The probes of each notebook.
ASKED: dict[str, dict[str, Callable[[Lab, np.random.Generator, Notes], None]]] = {
    "attention_lab": PROBES,
    "exercises": EXERCISES,
    "block_receipts": block_functions.PROBES,
    "linear_layers": {
        "linear": linear_layers.observe_linear,
        "loss_gradients": linear_layers.observe_loss_gradients,
    },
}


def observe(lab: Lab, function: str, rng: np.random.Generator, notebook: str = "attention_lab") -> list[Observation]:
    """What a submission answers to the probes of one function of a notebook.

    Inputs come from ``rng`` alone. A call that raises gives the type of the exception as its observation;
    ``failures.TimedOut`` and ``failures.Died`` end it, as nothing can be asked after them.
    """
    notes = Notes()
    ASKED[notebook][function](lab, rng, notes)
    return notes.observations
