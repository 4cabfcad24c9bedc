"""What each notebook asks for, in order: names of its steps and of their functions.

The eight steps of the lab (chapter section 7.9) stand here, the other notebooks in modules of their own.
"""

from __future__ import annotations

import re

from attnlab.block_table import PARTS
from attnlab.exercises_table import EXERCISES
from attnlab.linear_table import LINEAR_LAYERS
from attnlab.step import KINDS, LAB, Step

STEPS: tuple[Step, ...] = (
    Step(
        "step1",
        1,
        "Scaled dot-product attention",
        ("softmax", "attention", "self_attention"),
        "chapter section 7.2",
    ),
    Step("step2", 2, "The chapter's numbers", ("worked_example",), "chapter section 7.2"),
    Step("step3", 3, "Against PyTorch", ("compare_with_torch",), "chapter section 7.9, step 3"),
    Step(
        "step4",
        4,
        "Permutation equivariance",
        ("permutation_gap", "sinusoidal_positions", "equivariance_report"),
        "chapter section 7.4",
        "Your answer on why the causal mask alone breaks equivariance is read by a person.",
    ),
    Step(
        "step5",
        5,
        "The exponent",
        ("time_calls", "local_slopes", "fit_exponent"),
        "chapter section 7.9, step 5",
    ),
    Step(
        "step6",
        6,
        "Memory",
        ("score_bytes", "peak_memory", "largest_n"),
        "chapter section 7.6",
        "Your note on the resource that ran out is read by a person.",
    ),
    Step("step7", 7, "The causal invariant", ("causal_mask", "prefix_gap"), "chapter section 7.9, step 7"),
    Step(
        "step8",
        8,
        "The KV cache",
        ("KVCache", "generate", "time_generation", "kv_cache_bytes"),
        "chapter section 7.6, the KV cache",
    ),
)

#: The steps of each notebook, in order.
NOTEBOOKS: dict[str, tuple[Step, ...]] = {
    LAB: STEPS,
    "exercises": EXERCISES,
    "block_receipts": PARTS,
    "linear_layers": LINEAR_LAYERS,
}

BY_ID = {step.id: step for steps in NOTEBOOKS.values() for step in steps}


def find(name: object) -> Step | None:
    """The step that a person means by ``"step1"``, ``"Step 1"``, ``"1"`` or ``1``, ``"exercise 3"`` or
    ``"multi_head"``; None if there is none.
    """
    text = re.sub(r"[\s-]+", "_", str(name).strip().lower())
    if text in BY_ID:
        return BY_ID[text]
    match = re.fullmatch(rf"({'|'.join(KINDS.values())})?_?(\d+)", text, re.IGNORECASE)
    if match is None:
        return None
    kind = (match[1] or KINDS[LAB]).capitalize()
    return next((step for step in BY_ID.values() if step.name == f"{kind} {int(match[2])}"), None)


def listed() -> str:
    """How steps are called, for a sentence: ``step1 to step8, …``."""
    return ", ".join(f"{steps[0].id} to {steps[-1].id}" for steps in NOTEBOOKS.values() if steps)


def functions(notebook: str = LAB) -> tuple[str, ...]:
    """Every name that a notebook asks for, in order."""
    return tuple(name for step in NOTEBOOKS[notebook] for name in step.functions)
