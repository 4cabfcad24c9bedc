"""Mistakes of part 2 of ``block_receipts``: which mean, which root, and where the norm stands."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "residual_and_norms"
NORM = "7.3, Layer normalisation, and why it moved to the front"
RMS = "7.3, And in practice, often not even layer norm"
RESIDUAL = "7.3, Residual connections"


@suspect(
    "sample_variance",
    task=TASK,
    hint="The variance is divided by one less than the width, and a plain mean over the features is asked.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)


@suspect(
    "norm_over_the_whole_array",
    task=TASK,
    hint="Mean and variance are those of the whole array, where every row has its own.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean()) / np.sqrt(x.var() + eps)


@suspect(
    "norm_over_the_tokens",
    task=TASK,
    hint="Mean and variance run over the tokens, where they run over the features of one token.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(0, keepdims=True)) / np.sqrt(x.var(0, keepdims=True) + eps)


@same_mistake("norm_over_the_tokens")
def layer_norm(x, eps=1e-5):
    axis = max(x.ndim - 2, 0)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


@suspect(
    "eps_outside_the_root",
    task=TASK,
    hint="The small number is added to the root, where it belongs to the variance inside of it.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps)


@suspect(
    "eps_as_a_floor",
    task=TASK,
    hint="The small number is a lower limit here, where it is added to the variance inside the root.",
    read=NORM,
    also=(
        ("np.maximum(x.std(-1, keepdims=True), eps)", "np.sqrt(np.maximum(x.var(-1, keepdims=True), eps))"),
        ("np.maximum(x.std(-1, keepdims=True), eps)", "np.maximum(x.std(-1, keepdims=True), np.sqrt(eps))"),
    ),
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.maximum(x.std(-1, keepdims=True), eps)


@suspect(
    "eps_left_out",
    task=TASK,
    hint="Nothing keeps the quotient finite where all features are equal.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


@suspect(
    "eps_written_in",
    task=TASK,
    hint="The small number is written in, and the argument has no effect.",
    read=NORM,
    also=(("1e-5)", "1e-6)"), ("+ 1e-5", "+ 1e-8")),
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@suspect(
    "variance_without_root",
    task=TASK,
    hint="The rows are divided by their variance, and its root is asked.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + eps)


@suspect(
    "layer_norm_keeps_the_mean",
    task=TASK,
    hint="The rows are scaled and not centred, which is what RMSNorm does.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


@same_mistake("layer_norm_keeps_the_mean")
def layer_norm(x, eps=1e-5):
    return x / np.sqrt(x.var(-1, keepdims=True) + eps)


@suspect(
    "rows_centred_only",
    task=TASK,
    hint="The rows are centred and not scaled.",
    read=NORM,
)
def layer_norm(x, eps=1e-5):
    return x - x.mean(-1, keepdims=True)


@suspect(
    "layer_norm_in_place",
    task=TASK,
    hint="The array of the caller is changed, and with it the stream that is added later.",
    read=RESIDUAL,
)
def layer_norm(x, eps=1e-5):
    x -= x.mean(-1, keepdims=True)
    x /= np.sqrt(x.var(-1, keepdims=True) + eps)
    return x


@suspect(
    "rms_norm_centres",
    task=TASK,
    hint="The mean is taken off first, which is what RMSNorm leaves out.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight


@suspect(
    "rms_norm_by_deviation",
    task=TASK,
    hint="The rows are divided by their standard deviation, where the root of the mean square belongs.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / np.sqrt(x.var(-1, keepdims=True) + eps) * weight


@suspect("rms_weight_forgotten", task=TASK, hint="The learned weights of the features are not used.", read=RMS)
def rms_norm(x, weight, eps=1e-5):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


@suspect(
    "rms_weight_plus_one",
    task=TASK,
    hint="One is added to the weights, which some models do and which is not asked.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * (1 + weight)


@suspect(
    "rms_sum_of_squares",
    task=TASK,
    hint="The rows are divided by their length, where the root of a mean belongs.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / np.sqrt((x**2).sum(-1, keepdims=True) + eps) * weight


@suspect(
    "rms_over_the_whole_array",
    task=TASK,
    hint="The mean square is that of the whole array, where every row has its own.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / np.sqrt((x**2).mean() + eps) * weight


@suspect(
    "rms_eps_outside_the_root",
    task=TASK,
    hint="The small number is added to the root, where it belongs to the mean square inside of it.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps) * weight


@suspect(
    "rms_without_root",
    task=TASK,
    hint="The rows are divided by their mean square, and its root is asked.",
    read=RMS,
)
def rms_norm(x, weight, eps=1e-5):
    return x / ((x**2).mean(-1, keepdims=True) + eps) * weight


@suspect(
    "post_norm",
    task=TASK,
    hint="The norm stands on the stream after the sum, which is post-norm; in pre-norm it is on the branch.",
    read=NORM,
)
def pre_norm(x, norm, sublayer):
    return norm(x + sublayer(x))


@suspect(
    "norm_on_the_stream",
    task=TASK,
    hint="The normalised input is what the sublayer's answer is added to, where x itself passes by.",
    read=NORM,
)
def pre_norm(x, norm, sublayer):
    seen = norm(x)
    return seen + sublayer(seen)


@suspect(
    "residual_forgotten",
    task=TASK,
    hint="The sublayer's answer replaces x, where it is added to it.",
    read=RESIDUAL,
)
def pre_norm(x, norm, sublayer):
    return sublayer(norm(x))


@suspect(
    "norm_after_the_sublayer",
    task=TASK,
    hint="The norm comes after the sublayer, and the sublayer should see what is normalised.",
    read=NORM,
)
def pre_norm(x, norm, sublayer):
    return x + norm(sublayer(x))


@suspect("norm_left_out", task=TASK, hint="The sublayer sees x as it is, and nothing is normalised.", read=NORM)
def pre_norm(x, norm, sublayer):
    return x + sublayer(x)


@suspect(
    "stream_written_over",
    task=TASK,
    hint="The array of the caller is changed, and others read the same stream.",
    read=RESIDUAL,
)
def pre_norm(x, norm, sublayer):
    x += sublayer(norm(x))
    return x
