"""Step 3, ``compare_with_torch(attention_fn, Q, K, V, mask=None)`` -> ``(max_abs_diff, backend)``: section
7.9, step 3.

The submission is handed attention functions that live here, right and broken ones. What it has to report is
known: PyTorch's result is the truth within rounding, so the largest difference is that of the function from
the truth. Every check asks about a broken function too, because a comparison that always says 0 verifies
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import qkv, random_mask
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import attention as truth
from autograder.sandbox.forbidden import KERNELS

check = Task("attention_lab", "step3")

Attention = Callable[..., tuple[np.ndarray, np.ndarray]]

#: Members of torch.nn.attention.SDPBackend that can run; ERROR and OVERRIDEABLE name no kernel.
_BACKENDS = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
#: What is seen on a CPU when these run: the plain one is built from a softmax, the other is a kernel.
_SEEN = {
    KERNELS["_softmax"]: "MATH",
    KERNELS["_scaled_dot_product_flash_attention_for_cpu"]: "FLASH_ATTENTION",
}


def _function(compute: Attention, inputs: Sequence[np.ndarray]) -> Attention:
    """``compute`` as the submission may call it: with NumPy arrays no larger than the ones of this check."""
    largest = max(a.size for a in inputs) * max(a.shape[-2] for a in inputs)

    def attention_fn(Q: Any, K: Any, V: Any, mask: Any = None) -> tuple[np.ndarray, np.ndarray]:
        for part in (Q, K, V) if mask is None else (Q, K, V, mask):
            if not isinstance(part, np.ndarray) or part.size > largest:
                raise TypeError("attention_fn takes NumPy arrays: call it with the Q, K, V and mask that were given")
        output, weights = compute(Q, K, V, mask)
        # As careful code does: the result has the dtype of the inputs.
        return output.astype(Q.dtype), weights.astype(Q.dtype)

    return attention_fn


def _off_by(change: np.ndarray) -> Attention:
    """Right weights, and ``change`` added to the output."""

    def compute(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        output, weights = truth.attention(Q, K, V, mask)
        return output + change, weights

    return compute


def _expect(
    lab: Lab, compute: Attention, inputs: Sequence[np.ndarray], mask: np.ndarray | None, what: str, hint: str
) -> Any:
    """The reported difference is that of ``compute`` from the truth; gives the reported backend back."""
    named = {} if mask is None else {"mask": mask}
    answer = lab.compare_with_torch(_function(compute, inputs), *inputs, **named)
    return _difference_agrees(answer, compute, inputs, mask, what, hint)


def _difference_agrees(
    answer: Any,
    compute: Attention,
    inputs: Sequence[np.ndarray],
    mask: np.ndarray | None,
    what: str,
    hint: str,
) -> Any:
    reported, backend = compare.pair(answer, "max_abs_diff", "backend")
    difference = compare.number(reported, "max_abs_diff")
    Q, K, V = inputs
    largest = float(np.max(np.abs(compute(Q, K, V, mask)[0] - truth.attention(Q, K, V, mask)[0])))
    # Twice the law: the function of the check is rounded to the inputs' dtype, and so is PyTorch's result.
    tolerance = 2 * compare.attention_tolerance(Q, K, V) + compare.roundoff(Q) * 4 * largest
    compare.agree(difference, largest, tolerance, name="max_abs_diff", hint=f"attention_fn was {what}. {hint}")
    return backend


def _both(
    lab: Lab, wrong: Attention, inputs: Sequence[np.ndarray], mask: np.ndarray | None, what: str, hint: str
) -> None:
    """A right function gives rounding, the broken one its true difference."""
    _expect(lab, truth.attention, inputs, mask, "a right one, so only rounding should be left", hint)
    _expect(lab, wrong, inputs, mask, what, hint)


@check("compare_with_torch.plain")
def test_compare_right_and_broken(lab: Lab, rng: np.random.Generator) -> None:
    """A right attention differs by rounding only, and a broken one by as much as it is wrong."""
    inputs = qkv(rng, (), 4, 5, 3, 3)

    def unscaled(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        return truth.attention(math.sqrt(Q.shape[-1]) * Q, K, V, mask)

    # How far the scale moves the output depends on the inputs: a comparison on data of its own cannot know
    # it, and one that leaves out PyTorch, or scales otherwise, gives another number.
    hint = "Report max |attention_fn(Q, K, V, mask=mask)[0] - scaled_dot_product_attention(...)|."
    _both(lab, unscaled, inputs, None, "one that forgets the scale", hint)


@check("compare_with_torch.mask", needs=["compare_with_torch.plain"])
def test_compare_with_a_mask(lab: Lab, rng: np.random.Generator) -> None:
    """Both sides get the same mask, with True for: may attend."""
    hint = "Hand the mask to both: mask=mask here, and there attn_mask as a boolean tensor, with is_causal off."

    def inverted(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        return truth.attention(Q, K, V, None if mask is None else ~mask)

    # A random mask: is_causal in its place, 0 and 1 added as numbers, or no mask at all, differ from it.
    # The inverted function depends on the mask, so leaving it out on both sides is seen too.
    _both(
        lab,
        inverted,
        qkv(rng, (), 4, 5, 3, 3),
        random_mask(rng, (4, 5)),
        "one with the mask inverted",
        hint,
    )
    mask = random_mask(rng, (2, 1, 3, 4))
    _both(lab, inverted, qkv(rng, (2, 2), 3, 4, 3, 3), mask, "one with the mask inverted", hint)


@check("compare_with_torch.every_entry", needs=["compare_with_torch.plain"])
def test_compare_every_head_and_entry(lab: Lab, rng: np.random.Generator) -> None:
    """One wrong entry is found, wherever it is and whichever sign it has."""
    hint = "The largest absolute difference over all batch members, heads, rows and columns."
    inputs = qkv(rng, (2, 3), 4, 5, 3, 3)
    for sign, member in ((1.0, (-1, -1)), (-1.0, (0, 0))):
        # In the last head of the last batch member, then in the first, so that a comparison of one of them is
        # seen; one entry among many, so that a mean or a norm is; smaller errors of the other sign around it,
        # so that a signed maximum is.
        change = np.where(rng.random((2, 3, 4, 3)) < 0.5, -sign * 1e-3, 0.0)
        change[(*member, rng.integers(4), rng.integers(3))] = sign * rng.uniform(0.2, 0.4)
        _both(lab, _off_by(change), inputs, None, "right but for one entry", hint)


@check("compare_with_torch.outputs", needs=["compare_with_torch.plain"])
def test_compare_outputs_not_weights(lab: Lab, rng: np.random.Generator) -> None:
    """The outputs are compared, entry by entry: not the weights, and not lengths or sums."""
    hint = "Compare the outputs themselves, entry by entry; the weights do not matter here."

    def other_weights(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        output, weights = truth.attention(Q, K, V, mask)
        return output, weights[..., ::-1].copy()

    def rows_exchanged(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        output, weights = truth.attention(Q, K, V, mask)
        return np.roll(output, 1, axis=-2), weights

    # Right outputs with wrong weights: no difference. Rows exchanged, with right weights: sums, norms and
    # sorted entries are those of the right output.
    inputs = qkv(rng, (2, 2), 4, 4, 3, 3)
    _expect(lab, other_weights, inputs, None, "right in its output, with wrong weights", hint)
    _expect(lab, rows_exchanged, inputs, None, "right in its weights, with rows of the output exchanged", hint)


@check("compare_with_torch.small_differences", needs=["compare_with_torch.plain"])
def test_compare_in_the_precision_of_theqkv(lab: Lab, rng: np.random.Generator) -> None:
    """A difference of 10^-9 is reported for float64 inputs; float32 inputs are compared as float32."""
    hint = "Keep the dtype of the inputs and report the difference itself, not rounded and not as True or False."
    # Sees a comparison in float32 (which reports 10^-7 for everything), rounding, and a bare allclose.
    change = np.zeros((2, 2, 3, 4))
    change[0, 1, 2, 3] = rng.uniform(2e-9, 8e-9)
    _both(lab, _off_by(change), qkv(rng, (2, 2), 3, 4, 4, 4), None, "off by about 10^-9 in one entry", hint)
    single = [a.astype(np.float32) for a in qkv(rng, (2, 2), 3, 4, 4, 4)]
    _both(lab, _off_by(np.float32(0.25) * (change > 0)), single, None, "off by 0.25 in one entry", hint)


@check("compare_with_torch.shapes", needs=["compare_with_torch.plain"])
def test_compare_at_several_shapes(lab: Lab, rng: np.random.Generator) -> None:
    """It works with and without batch and head axes, and for values wider than keys."""
    hint = "Only the last two axes are fixed: tokens and features."
    # d_v != d_k and n_q != n_k: a buffer shaped like Q is seen. Three and four axes; the error is in the
    # last entry, which a buffer that is too small leaves out.
    for lead in ((), (3,), (2, 3)):
        inputs = qkv(rng, lead, 3, 5, 2, 4)
        change = np.zeros((*lead, 3, 4))
        change[..., -1, -1] = rng.uniform(0.2, 0.4)
        _both(lab, _off_by(change), inputs, None, "off in the last entry", hint)


@check("compare_with_torch.views", needs=["compare_with_torch.plain"])
def test_compare_takes_views_and_leaves_them_alone(lab: Lab, rng: np.random.Generator) -> None:
    """Transposed, strided and read-only arrays are arrays like others, and stay as they are."""
    for layout in ("transposed", "strided", "readonly"):
        inputs = qkv(rng, (2, 2), 3, 4, 4, 4)
        change = np.zeros((2, 2, 3, 4))
        change[1, 1, 2, 3] = rng.uniform(0.2, 0.4)
        # torch.from_numpy shares memory: what is done in place to the tensor is done to the caller's array.
        kept = [lab.kept(a, layout) for a in inputs]
        answer = lab.compare_with_torch(_function(_off_by(change), inputs), *kept)
        _difference_agrees(answer, _off_by(change), inputs, None, f"off in the last entry, the inputs {layout}", "")
        compare.unchanged("compare_with_torch", ("Q", "K", "V"), kept, inputs)


@check("compare_with_torch.not_a_number", needs=["compare_with_torch.plain"])
def test_compare_reports_nan(lab: Lab, rng: np.random.Generator) -> None:
    """NaN in either result gives nan or inf, never a small number."""
    inputs = qkv(rng, (2, 2), 3, 4, 3, 3)
    change = np.zeros((2, 2, 3, 3))
    # One NaN among right entries, neither first nor last: nanmax, and max() of Python on a list, leave it
    # out.
    change[1, 0, 1, 1] = np.nan
    poisoned = [a.copy() for a in inputs]
    poisoned[2][0, 1, 2, 0] = np.nan

    def blind(Q: Any, K: Any, V: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        return truth.attention(Q, K, np.nan_to_num(V), mask)

    # NaN in the values, and a function that hides it: now the NaN is in PyTorch's result.
    for compute, given, whose in (
        (_off_by(change), inputs, "attention_fn's"),
        (blind, poisoned, "PyTorch's"),
    ):
        answer = lab.compare_with_torch(_function(compute, given), *given)
        reported, _ = compare.pair(answer, "max_abs_diff", "backend")
        if math.isfinite(compare.number(reported, "max_abs_diff")):
            raise CheckFailed(
                f"One entry of {whose} result was NaN, and the reported difference is a finite number. Where "
                "there is NaN nothing is verified: np.max keeps it; nanmax, nan_to_num and > lose it."
            )
    _expect(lab, _off_by(np.nan_to_num(change, nan=0.5)), inputs, None, "off by 0.5 in one entry", "")


@check("compare_with_torch.backend_name", needs=["compare_with_torch.plain"])
def test_compare_names_a_backend(lab: Lab, rng: np.random.Generator) -> None:
    """The second result is the name of a member of torch.nn.attention.SDPBackend, as text."""
    change = np.zeros((1, 2, 3, 4))
    change[0, 1, 2, 3] = rng.uniform(0.2, 0.4)
    backend = _expect(lab, _off_by(change), qkv(rng, (1, 2), 3, 4, 4, 4), None, "off in the last entry", "")
    # Sees the device ("cpu"), a version, the member itself in place of its name, and "SDPBackend.MATH".
    if not isinstance(backend, str) or backend not in _BACKENDS:
        came = "another text" if isinstance(backend, str) else compare.described(backend)
        raise CheckFailed(
            f"backend should be the name of the kernel that ran, one of {', '.join(_BACKENDS)}; {came} came "
            "back. sdpa_kernel(SDPBackend.MATH) chooses one, and SDPBackend.MATH.name is its name."
        )


@check("compare_with_torch.backend_ran", needs=["compare_with_torch.backend_name"])
def test_compare_names_the_backend_that_ran(lab: Lab, rng: np.random.Generator) -> None:
    """The backend named is the one that ran."""
    # Four axes and equal widths: a CPU takes the fused kernel there unless told otherwise. Values of
    # another width: it has the plain one only. So a name that is written down without looking is wrong in
    # one of the two, and a name that was forced is right in both. Graded only where the kernel is seen to
    # run.
    for d_v in (4, 6):
        inputs = qkv(rng, (1, 2), 3, 5, 4, d_v)
        change = np.zeros((1, 2, 3, d_v))
        change[0, 1, 2, 3] = rng.uniform(0.2, 0.4)
        backend = _expect(lab, _off_by(change), inputs, None, "off in one entry", "")
        seen = lab.forbidden("compare_with_torch", _function(truth.attention, inputs), *inputs)
        ran = {_SEEN[name] for name in seen if name in _SEEN}
        if ran and backend not in ran:
            widths = "equal widths of keys and values" if d_v == 4 else "values wider than the keys"
            raise CheckFailed(
                f"With four axes and {widths} another kernel ran than the one reported. Which one it is "
                "depends on shapes and device: force one with sdpa_kernel, or find out, and name that."
            )
