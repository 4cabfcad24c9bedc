"""Step 3 in public: does the comparison with PyTorch see what it should see?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnlab.public.answers import Array, number, pair
from attnlab.public.declare import Checks, Lab, Mistake
from attnlab.words import kind

check = Checks("step3")

READ = "section 7.9, step 3"


def _inputs() -> tuple[Array, Array, Array, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Two heads, n_q = 3, n_k = 4, and a mask that leaves every query at least one key."""
    rng = np.random.default_rng(5)
    mask = np.array([[True, False, False, True], [True, True, False, False], [False, True, True, True]])
    return rng.normal(size=(1, 2, 3, 4)), rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(1, 2, 4, 4)), mask


def _torch_attention(Q: Array, K: Array, V: Array, mask: Any = None) -> tuple[Array, Array]:
    """PyTorch's own attention with NumPy on both sides, as the ``attention_fn`` that must agree."""
    import torch

    allowed = None if mask is None else torch.from_numpy(np.array(mask))
    parts = [torch.from_numpy(np.array(part)) for part in (Q, K, V, np.broadcast_to(np.eye(4), V.shape))]
    both = [
        torch.nn.functional.scaled_dot_product_attention(parts[0], parts[1], last, attn_mask=allowed).numpy()
        for last in parts[2:]
    ]
    return both[0], both[1]


def _gap(lab: Lab, fn: Any, mask: Any = None) -> float:
    """What ``compare_with_torch`` says about ``fn``."""
    given = _inputs()[:3]
    result = (
        lab.compare_with_torch(fn, *given) if mask is None else lab.compare_with_torch(fn, *given, mask=mask)
    )
    return number(pair(result, "compare_with_torch", "max_abs_diff", "backend")[0], "`max_abs_diff`")


def _case(mask: Any) -> str:
    return "without a mask" if mask is None else "with a mask"


@check("compare_with_torch.agrees", read=READ)
def agreement_is_small(lab: Lab) -> None:
    """PyTorch's own attention, handed in as attention_fn, is as good as equal to PyTorch, mask or no mask."""
    for mask in (None, _inputs()[3]):
        gap = _gap(lab, _torch_attention, mask)
        if not 0 <= gap < 1e-9:
            raise Mistake(
                f"The difference is {gap:.2g} {_case(mask)}; in float64 it is about 1e-15.",
                "The same mask goes to both sides: attention_fn(Q, K, V, mask=mask) and attn_mask=mask."
                if mask is not None
                else "Compare the outputs, in the same dtype, with dropout_p=0.",
            )


@check("compare_with_torch.sees", read=READ, needs=["compare_with_torch.agrees"])
def one_wrong_entry_is_seen(lab: Lab) -> None:
    """A single wrong entry, too low by 0.25 in the last head, is reported as 0.25."""

    def broken(Q: Array, K: Array, V: Array, mask: Any = None) -> tuple[Array, Array]:
        output, weights = _torch_attention(Q, K, V, mask=mask)
        output[0, -1, -1, -1] -= 0.25  # lower, so that a signed maximum misses it
        return output, weights

    gap = _gap(lab, broken)
    if not abs(gap - 0.25) < 1e-6:
        guess = (
            "A mean, the weights, or only a part of the output is compared; take the largest |difference|."
        )
        if gap < 1e-6:
            guess = "attention_fn is compared with itself, or without the absolute value, or not all of it."
        raise Mistake(f"An output that is wrong by 0.25 in one entry is reported as {gap:.2g}.", guess)


@check("compare_with_torch.mask", read=READ, needs=["compare_with_torch.agrees"])
def a_wrong_mask_is_seen(lab: Lab) -> None:
    """An attention_fn that reads the mask the wrong way round, or ignores it, is found out."""
    mask = _inputs()[3]
    for name, fn in (
        ("ignores the mask", lambda Q, K, V, mask=None: _torch_attention(Q, K, V)),
        ("reads the mask the wrong way round", lambda Q, K, V, mask=None: _torch_attention(Q, K, V, ~mask)),
    ):
        gap = _gap(lab, fn, mask)
        if not gap > 1e-3:
            raise Mistake(
                f"An attention_fn that {name} is reported as {gap:.2g}.",
                "PyTorch is called without the mask, or attention_fn is compared with itself.",
            )


@check("compare_with_torch.nan", read=READ, needs=["compare_with_torch.agrees"])
def nan_is_not_small(lab: Lab) -> None:
    """An output with a NaN in it must not look good: the difference is nan or inf."""

    def partly_nan(Q: Array, K: Array, V: Array, mask: Any = None) -> tuple[Array, Array]:
        output, weights = _torch_attention(Q, K, V, mask=mask)
        output[..., 0, 0] = math.nan
        return output, weights

    gap = _gap(lab, partly_nan)
    if math.isfinite(gap):
        raise Mistake(
            f"An output that is partly NaN is reported as {gap:.2g}.",
            "A NaN is lost by nanmax, nan_to_num and Python's own max(); np.max keeps it.",
        )


@check("compare_with_torch.backend", read=READ, needs=["compare_with_torch.agrees"])
def backend_is_named(lab: Lab) -> None:
    """backend is the name of a member of torch.nn.attention.SDPBackend, such as "MATH"."""
    from torch.nn.attention import SDPBackend

    result = lab.compare_with_torch(_torch_attention, *_inputs()[:3])
    backend = pair(result, "compare_with_torch", "max_abs_diff", "backend")[1]
    known = [name for name in dir(SDPBackend) if name.isupper() and name != "ERROR"]
    if not isinstance(backend, str) or backend not in known:
        guess = "A device is not a backend." if str(backend).lower() in ("cpu", "cuda", "mps") else ""
        raise Mistake(f"backend is {kind(backend)}; PyTorch knows {', '.join(known)}.", guess)


@check("compare_with_torch.own", read=READ, needs=["compare_with_torch.agrees"])
def your_attention_agrees(lab: Lab) -> None:
    """Your own attention of step 1 agrees with PyTorch, with and without a mask."""
    lab.need("attention", "step 1")
    for mask in (None, _inputs()[3]):
        gap = _gap(lab, lab.get("attention"), mask)
        if not gap < 1e-5:
            raise Mistake(
                f"Your attention differs from PyTorch's by {gap:.2g} {_case(mask)}.",
                "Step 1 tells more: check it first.",
            )
