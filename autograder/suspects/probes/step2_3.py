"""Probes of steps 2 and 3: every table of the worked example, and comparisons of broken functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder import failures
from autograder.checks.inputs import random_mask
from autograder.lab import Lab
from autograder.reference import attention as truth
from autograder.reference import chapter
from autograder.suspects.probes.record import Array, Notes, kind

STAGES = ("queries", "keys", "values", "scores", "scaled_scores", "weights", "output")
#: A right comparison gives rounding where there is no difference, and different right code different rounding.
ROUNDING = 1e-11


def observe_worked_example(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The chapter's matrices, and others of other widths."""
    chapters = (chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)
    # d_model 5, d_k 3, d_v 2, four tokens: every length can be told from every other.
    sizes = {"fresh": (4, 5, 3, 2), "square": (4, 4, 4, 4), "wide": (2, 3, 6, 5)}
    cases: dict[str, tuple[Array, ...]] = {"the chapter's": chapters}
    for name, (n, d_model, d_k, d_v) in sizes.items():
        widths = (d_k, d_k, d_v)
        cases[name] = (rng.normal(size=(n, d_model)), *(rng.normal(size=(d_model, d)) for d in widths))
    for name, inputs in cases.items():
        _tables(notes, name, lambda: lab.worked_example(*inputs))


def _tables(notes: Notes, name: str, call: Callable[[], Any]) -> None:
    found: Any
    try:
        found = call()
    except (failures.TimedOut, failures.Died):
        raise
    except failures.SubmissionFault as error:
        found = f"raises {type(error).__name__}"
    for stage in STAGES:
        if isinstance(found, dict):
            notes.write(f"{name}: {stage}", found.get(stage, "missing"))
        else:
            notes.write(f"{name}: {stage}", f"no mapping but {kind(found)}")


def observe_compare_with_torch(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Right and broken attention functions; what each was asked; the kernel that ran and the one named."""
    asked: list[str] = []

    def ask(name: str, change: Any, inputs: list[Array], mask: Array | None = None) -> None:
        """``change(output, weights, Q, K, V, mask)`` turns the right answer into the broken one."""

        def attention_fn(Q: Any, K: Any, V: Any, mask: Any = None) -> tuple[Array, Array]:
            _refuse_others(Q, K, V, mask)
            asked.append(f"{'no ' if mask is None else ''}mask, {Q.dtype}")
            output, weights = truth.attention(Q, K, V, mask)
            changed: tuple[Array, Array] = change(output, weights, Q, K, V, mask)
            return changed

        named = {} if mask is None else {"mask": mask}
        notes.answer(
            name,
            lambda: lab.compare_with_torch(attention_fn, *inputs, **named),
            parts=("difference", "backend"),
            tolerance=ROUNDING,
        )

    # d_v differs from d_k and there are no leading axes: only the plain kernel can do this one.
    small = [rng.normal(size=s) for s in ((4, 3), (5, 3), (5, 2))]
    heads = [rng.normal(size=s) for s in ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5))]
    mask = random_mask(rng, (4, 6))
    # A thousand weights: dropout does not give the same difference twice.
    many = [rng.normal(size=s) for s in ((40, 4), (30, 4), (30, 3))]
    notes.twice("many keys", lambda name: ask(name, _right, many))
    ask("right", _right, small)
    ask("right with a mask", _right, heads, mask)
    for name, change in _broken(rng).items():
        ask(name, change, heads)
    ask("mask ignored", lambda o, w, Q, K, V, m: truth.attention(Q, K, V), heads, mask)
    ask("mask inverted", lambda o, w, Q, K, V, m: truth.attention(Q, K, V, None if m is None else ~m), heads, mask)
    ask("no scale", lambda o, w, Q, K, V, m: truth.attention(Q * np.sqrt(Q.shape[-1]), K, V, m), heads)
    ask("rows permuted", lambda o, w, Q, K, V, m: (o[..., ::-1, :], w), heads)
    notes.write("questions", "; ".join(asked[:60]))
    notes.write("kernel", _kernel(lab, heads))


def _refuse_others(*inputs: Any) -> None:
    """``TypeError`` for anything but small arrays, which is what the probes hand out."""
    for given in inputs:
        if given is not None and (not isinstance(given, np.ndarray) or given.size > 1000):
            raise TypeError("attention_fn takes the arrays that compare_with_torch was given")


def _right(output: Array, weights: Array, *_inputs: Any) -> tuple[Array, Array]:
    return output, weights


def _broken(rng: np.random.Generator) -> dict[str, Any]:
    """Changes of the output ``(2, 3, 4, 5)`` that one kind of comparison or another cannot see."""

    def added(change: Array | float, at: tuple[Any, ...] = (...,)) -> Any:
        def apply(output: Array, weights: Array, *_inputs: Any) -> tuple[Array, Array]:
            output = np.array(output)
            output[at] += change
            return output, weights

        return apply

    size = float(rng.uniform(0.3, 0.6))
    return {
        # Signed differences see only one of the next two.
        "one entry above": added(size, (1, 2, 2, 1)),
        "one entry below": added(-size, (1, 2, 2, 1)),
        "small, in every second head": added(3e-5, (slice(None), 1)),
        "one head of the first sequence": added(size, (0, 1, 1)),
        "only the first row": added(size, (..., 0, slice(None))),
        "only the last row": added(size, (..., -1, slice(None))),
        "everywhere": added(rng.normal(size=(2, 3, 4, 5))),
        "one NaN": added(np.nan, (1, 0, 1, 1)),
        "all NaN": added(np.nan),
        "weights wrong, output right": lambda output, weights, *_: (output, weights * 0),
    }


def _kernel(lab: Lab, inputs: list[Array]) -> str:
    """The kernels that ran on inputs which several kernels can do, and the backend that is named for them."""

    def right(Q: Any, K: Any, V: Any, mask: Any = None) -> tuple[Array, Array]:
        _refuse_others(Q, K, V, mask)
        return truth.attention(Q, K, V, mask)

    try:
        seen = lab.forbidden("compare_with_torch", right, *inputs)
        answer = lab.compare_with_torch(right, *inputs)
    except (failures.TimedOut, failures.Died):
        raise
    except failures.SubmissionFault as error:
        return f"raises {type(error).__name__}"
    named = answer[1] if isinstance(answer, list) and len(answer) == 2 else kind(answer)
    ran = sorted({"MATH" if name == "torch.softmax" else "FLASH_ATTENTION" for name in seen}) or ["none"]
    return "named the one that ran" if named in ran else f"{ran[0]} ran, {kind(named)} was named"
