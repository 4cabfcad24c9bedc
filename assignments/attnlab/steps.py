"""The eight steps of the lab (chapter section 7.9), in order: the one table of their names and functions."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One step: ``functions`` are the names that a student binds, in the order in which they are met.

    ``read`` says where the chapter explains it; ``written`` is set where a person also reads an answer.
    """

    id: str
    number: int
    title: str
    functions: tuple[str, ...]
    read: str
    written: str = ""


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

BY_ID = {step.id: step for step in STEPS}


def find(name: object) -> Step | None:
    """The step that a person means by ``"step1"``, ``"Step 1"``, ``"1"`` or ``1``; None if there is none."""
    match = re.fullmatch(r"(?:step)?\s*(\d+)", str(name).strip().lower())
    return BY_ID.get(f"step{int(match[1])}") if match else None


def functions() -> tuple[str, ...]:
    """Every name that the lab asks for, in order."""
    return tuple(name for step in STEPS for name in step.functions)
