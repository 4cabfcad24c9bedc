"""Mistakes of ``softmax``: which axis, which maximum, what is summed, what is lost on the way."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step1"
WEIGHTS = "7.2, step 4"
LAB = "7.9, lab step 1"


@suspect(
    "softmax_axis_ignored",
    task=TASK,
    hint="The result is the same whichever axis is asked for: the last one.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@suspect(
    "softmax_always_first_axis",
    task=TASK,
    hint="The result is normalised along the first axis, whichever one is asked for.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@suspect(
    "softmax_default_axis",
    task=TASK,
    hint="An axis that is asked for is respected, but without one it is not the last that is used.",
    read=WEIGHTS,
    also=(("axis=0", "axis=1"),),
)
def softmax(x, axis=0):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_always_axis_one",
    task=TASK,
    hint="The second axis is written into the code; there may be one axis, or three, and another may be asked for.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@suspect(
    "softmax_keepdims_missing",
    task=TASK,
    hint="The maxima or the sums have lost their axis and line up with the wrong entries; "
    "on a square array nothing complains.",
    read=WEIGHTS,
    also=(
        ("np.max(x, axis=axis)", "np.max(x, axis=axis, keepdims=True)"),
        ("e.sum(axis=axis)", "e.sum(axis=axis, keepdims=True)"),
    ),
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis))
    return e / e.sum(axis=axis)


@same_mistake("softmax_keepdims_missing")
def softmax(x, axis=-1):
    keep = x.shape[0] != x.shape[-1]
    e = np.exp(x - np.max(x, axis=axis, keepdims=keep or x.ndim == 1))
    return e / e.sum(axis=axis, keepdims=keep or x.ndim == 1)


@same_mistake("softmax_keepdims_missing")
def softmax(x, axis=-1):
    keep = x.ndim == 1 or x.shape[0] != x.shape[-1]
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=keep)


@suspect(
    "softmax_sum_wrong_axis",
    task=TASK,
    hint="The exponentials are divided by totals that were taken along another axis.",
    read=WEIGHTS,
    also=(("axis=0", "axis=-1"),),
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@suspect(
    "softmax_sum_of_everything",
    task=TASK,
    hint="The whole array sums to one; each row should do so by itself.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum()


@same_mistake("softmax_sum_of_everything")
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum()


@suspect(
    "softmax_divides_by_mean",
    task=TASK,
    hint="The rows sum to their length instead of to one.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.mean(axis=axis, keepdims=True)


@suspect(
    "softmax_divides_by_norm",
    task=TASK,
    hint="The squares of a row sum to one; the entries themselves should.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sqrt((e * e).sum(axis=axis, keepdims=True))


@suspect(
    "softmax_not_normalised",
    task=TASK,
    hint="The exponentials are there, but nothing makes a row sum to one yet.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    return np.exp(x - np.max(x, axis=axis, keepdims=True))


@suspect(
    "softmax_returns_logs",
    task=TASK,
    hint="These are the logarithms of the weights, not the weights.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    z = x - np.max(x, axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


@suspect(
    "softmax_base_two",
    task=TASK,
    hint="The powers are those of another number than e, which makes every row flatter or steeper.",
    read=WEIGHTS,
    also=(("np.exp2(", "10 ** ("),),
)
def softmax(x, axis=-1):
    e = np.exp2(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_without_exponential",
    task=TASK,
    hint="The inputs themselves are divided by their total; one step comes before that.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


@same_mistake("softmax_without_exponential")
def softmax(x, axis=-1):
    z = x - x.min(axis=axis, keepdims=True)
    return z / z.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_sign_flipped",
    task=TASK,
    hint="The smallest input of a row gets the largest weight.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(np.min(x, axis=axis, keepdims=True) - x)
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_elementwise_sigmoid",
    task=TASK,
    hint="Each entry is squashed on its own, without the others of its row.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


@suspect(
    "softmax_applied_twice",
    task=TASK,
    hint="The weights go through the same function once more, which makes them nearly equal.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    for _ in range(2):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        x = e / e.sum(axis=axis, keepdims=True)
    return x


@suspect(
    "softmax_hard_maximum",
    task=TASK,
    hint="The largest entry takes everything; the others should keep their share.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    top = x == np.max(x, axis=axis, keepdims=True)
    return top / top.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_changes_its_input",
    task=TASK,
    hint="The caller's array is different afterwards.",
    read=LAB,
)
def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


@same_mistake("softmax_changes_its_input")
def softmax(x, axis=-1):
    x -= np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_remembers_first_result",
    task=TASK,
    hint="A second call with another array of the same shape gives the first answer again.",
    read=LAB,
)
def softmax(x, axis=-1, _seen={}):
    if (x.shape, axis) not in _seen:
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        _seen[x.shape, axis] = e / e.sum(axis=axis, keepdims=True)
    return _seen[x.shape, axis].copy()


@suspect(
    "softmax_axis_left_moved",
    task=TASK,
    hint="The axis is moved to the end for the computation and stays there, so the result is turned around.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    z = np.moveaxis(x, axis, -1)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@suspect(
    "softmax_negative_axis_only",
    task=TASK,
    hint="Counting the axis from the front finds another one than it should.",
    read=WEIGHTS,
)
def softmax(x, axis=-1):
    axis = axis if axis < 0 else -1 - axis
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@suspect(
    "softmax_axis_unknown",
    task=TASK,
    hint="The function takes the array only; it should also take the axis.",
    read=WEIGHTS,
)
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@suspect(
    "library_softmax",
    task=TASK,
    hint="A library does the work here; the lab is about writing it yourself.",
    read=LAB,
)
def softmax(x, axis=-1):
    import torch

    return torch.softmax(torch.tensor(x), dim=axis).numpy()


@same_mistake("library_softmax")
def softmax(x, axis=-1):
    import torch

    return torch.nn.functional.log_softmax(torch.tensor(x), dim=axis).exp().numpy()


@same_mistake("library_softmax")
def softmax(x, axis=-1):
    import torch

    return torch.tensor(x).softmax(axis).numpy()
