"""Mistakes of part 3 of ``block_receipts``: the feed-forward layer, its curves and gates, and what fires."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right_block import ffn_relu

TASK = "feed_forward"
FFN = "7.3, The feed-forward sublayer"
FIRING = "7.3, Watching it fire"
BACK = "7.3, Writing the answer back"
GATE = "the article, section 9, What it's made of"


@suspect("first_bias_forgotten", task=TASK, hint="The first bias, the firing threshold, is left out.", read=FIRING)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum(x @ W1, 0) @ W2 + b2


@suspect("second_bias_forgotten", task=TASK, hint="The second bias is left out of what is written back.", read=BACK)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum(x @ W1 + b1, 0) @ W2


@suspect(
    "relu_on_the_output",
    task=TASK,
    hint="ReLU is applied to the output, where it stands between the two layers.",
    read=FFN,
)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum((x @ W1 + b1) @ W2 + b2, 0)


@suspect(
    "relu_twice",
    task=TASK,
    hint="ReLU is applied to the output as well, and the output may be negative.",
    read=FFN,
)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum(np.maximum(x @ W1 + b1, 0) @ W2 + b2, 0)


@suspect(
    "nothing_between_the_layers",
    task=TASK,
    hint="Nothing stands between the two layers, so that they are one.",
    read=FFN,
)
def ffn_relu(x, W1, b1, W2, b2):
    return (x @ W1 + b1) @ W2 + b2


@suspect(
    "smooth_in_place_of_relu",
    task=TASK,
    hint="A smooth function stands in the place of ReLU and lets something through below zero.",
    read=FFN,
)
def ffn_relu(x, W1, b1, W2, b2):
    z = x @ W1 + b1
    return (z * (1 + np.vectorize(math.erf)(z / math.sqrt(2))) / 2) @ W2 + b2


@same_mistake("smooth_in_place_of_relu")
def ffn_relu(x, W1, b1, W2, b2):
    z = x @ W1 + b1
    return (z / (1 + np.exp(-z))) @ W2 + b2


@suspect(
    "leaky_relu",
    task=TASK,
    hint="A small part of what is below zero gets through, where ReLU stops all of it.",
    read=FFN,
    also=(("0.1 * z", "0.01 * z"), ("0.1 * z", "0.2 * z"), ("0.1 * z", "0.25 * z")),
)
def ffn_relu(x, W1, b1, W2, b2):
    z = x @ W1 + b1
    return np.where(z > 0, z, 0.1 * z) @ W2 + b2


@suspect(
    "absolute_in_place_of_relu",
    task=TASK,
    hint="Negative numbers turn positive, where ReLU makes zero of them.",
    read=FFN,
)
def ffn_relu(x, W1, b1, W2, b2):
    return np.abs(x @ W1 + b1) @ W2 + b2


@suspect(
    "first_matrix_transposed",
    task=TASK,
    hint="The first matrix is transposed: its rows belong to the features of x.",
    read=FIRING,
)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum(x @ W1.T + b1, 0) @ W2 + b2


@suspect(
    "thresholds_subtracted",
    task=TASK,
    hint="The first bias is subtracted, where it is added.",
    read=FIRING,
)
def ffn_relu(x, W1, b1, W2, b2):
    return np.maximum(x @ W1 - b1, 0) @ W2 + b2


@suspect(
    "gelu_by_logistic",
    task=TASK,
    hint="The normal distribution is approximated by a logistic curve, which is too far from it.",
    read=FFN,
)
def gelu(z):
    return z / (1 + np.exp(-1.702 * z))


@suspect(
    "silu_for_gelu", task=TASK, hint="This is SiLU, with the logistic curve in the place of the normal one.", read=FFN
)
def gelu(z):
    return z / (1 + np.exp(-z))


@suspect("relu_for_gelu", task=TASK, hint="This is ReLU, and GELU lets small negative numbers leak through.", read=FFN)
def gelu(z):
    return np.maximum(z, 0)


@suspect(
    "normal_share_alone",
    task=TASK,
    hint="The share of the normal distribution comes back by itself, and z times it is asked.",
    read=FFN,
)
def gelu(z):
    return (1 + np.vectorize(math.erf)(np.asarray(z) / math.sqrt(2))) / 2


@suspect(
    "erf_without_root_two",
    task=TASK,
    hint="The argument of the error function is not divided by the root of two.",
    read=FFN,
)
def gelu(z):
    return z * (1 + np.vectorize(math.erf)(np.asarray(z))) / 2


@suspect("gelu_not_halved", task=TASK, hint="The result is twice as large as it should be.", read=FFN)
def gelu(z):
    return z * (1 + np.vectorize(math.erf)(np.asarray(z) / math.sqrt(2)))


@suspect(
    "normal_density_for_gelu",
    task=TASK,
    hint="The height of the normal curve is used, where the share below z belongs.",
    read=FFN,
)
def gelu(z):
    return z * np.exp(-(np.asarray(z) ** 2) / 2) / math.sqrt(2 * math.pi)


@suspect(
    "gate_and_up_exchanged",
    task=TASK,
    hint="Gate and content are exchanged: the smooth curve belongs to the gate.",
    read=GATE,
)
def swiglu(x, W_gate, W_up, W_down):
    up = x @ W_up
    return ((x @ W_gate) * up / (1 + np.exp(-up))) @ W_down


@suspect(
    "logistic_gate",
    task=TASK,
    hint="The gate is a logistic curve alone, and it should be multiplied by its own argument.",
    read=GATE,
)
def swiglu(x, W_gate, W_up, W_down):
    return ((x @ W_up) / (1 + np.exp(-(x @ W_gate)))) @ W_down


@suspect("relu_gate", task=TASK, hint="The gate is a ReLU, where a smooth SiLU belongs.", read=GATE)
def swiglu(x, W_gate, W_up, W_down):
    return (np.maximum(x @ W_gate, 0) * (x @ W_up)) @ W_down


@suspect("gelu_gate", task=TASK, hint="The gate is a GELU, which is another layer, where SiLU belongs.", read=GATE)
def swiglu(x, W_gate, W_up, W_down):
    g = x @ W_gate
    return (g * (1 + np.vectorize(math.erf)(g / math.sqrt(2))) / 2 * (x @ W_up)) @ W_down


@suspect(
    "gate_added",
    task=TASK,
    hint="Gate and content are added, where the gate multiplies the content.",
    read=GATE,
)
def swiglu(x, W_gate, W_up, W_down):
    g = x @ W_gate
    return (g / (1 + np.exp(-g)) + x @ W_up) @ W_down


@suspect(
    "gate_after_the_product",
    task=TASK,
    hint="The smooth curve is applied to the product, where it belongs to the gate alone.",
    read=GATE,
)
def swiglu(x, W_gate, W_up, W_down):
    p = (x @ W_gate) * (x @ W_up)
    return (p / (1 + np.exp(-p))) @ W_down


@suspect(
    "up_forgotten", task=TASK, hint="The content branch is left out, and only the gate is written back.", read=GATE
)
def swiglu(x, W_gate, W_up, W_down):
    g = x @ W_gate
    return (g / (1 + np.exp(-g))) @ W_down


@suspect(
    "gate_without_curve", task=TASK, hint="The gate has no curve: it is a product of two straight branches.", read=GATE
)
def swiglu(x, W_gate, W_up, W_down):
    return ((x @ W_gate) * (x @ W_up)) @ W_down


@suspect(
    "fires_for_every_row",
    task=TASK,
    hint="A detector counts as used where it fires for every row, and one row is enough.",
    read=BACK,
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1 + b1, 0)
    return a, (a > 0).reshape(-1, a.shape[-1]).all(axis=0)


@suspect(
    "one_row_decides",
    task=TASK,
    hint="Only one row is looked at, and a detector may fire in any of them.",
    read=BACK,
    also=(("a[-1]", "a[0]"), ("a[-1]", "a.reshape(-1, a.shape[-1])[-1]"), ("a[-1]", "a.reshape(-1, a.shape[-1])[0]")),
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1 + b1, 0)
    return a, a[-1] > 0


@suspect(
    "fired_row_by_row",
    task=TASK,
    hint="Whether a detector fires is told row by row, and one answer for each detector is asked.",
    read=BACK,
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1 + b1, 0)
    return a, a > 0


@suspect(
    "rows_that_fire",
    task=TASK,
    hint="The answer is about rows, and about detectors is asked.",
    read=BACK,
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1 + b1, 0)
    return a, (a > 0).any(axis=-1)


@suspect(
    "times_fired",
    task=TASK,
    hint="It counts how often a detector fires, and only whether it does is asked.",
    read=BACK,
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1 + b1, 0)
    return a, (a > 0).reshape(-1, a.shape[-1]).sum(axis=0)


@suspect(
    "zero_counts_as_fired",
    task=TASK,
    hint="A detector that is exactly at zero counts as fired.",
    read=FIRING,
)
def detectors_fired(x, W1, b1):
    z = x @ W1 + b1
    return np.maximum(z, 0), (z >= 0).reshape(-1, z.shape[-1]).any(axis=0)


@suspect(
    "activations_before_relu",
    task=TASK,
    hint="The activations are those before ReLU, with negative numbers in them.",
    read=FIRING,
)
def detectors_fired(x, W1, b1):
    z = x @ W1 + b1
    return z, (z > 0).reshape(-1, z.shape[-1]).any(axis=0)


@suspect(
    "thresholds_of_detectors_forgotten",
    task=TASK,
    hint="The thresholds are left out, so that nearly everything fires.",
    read=FIRING,
)
def detectors_fired(x, W1, b1):
    a = np.maximum(x @ W1, 0)
    return a, (a > 0).reshape(-1, a.shape[-1]).any(axis=0)
