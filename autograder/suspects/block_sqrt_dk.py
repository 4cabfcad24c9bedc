"""Mistakes of part 11 of ``block_receipts``: weights, entropy, and the sweep over widths."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import suspect
from autograder.suspects.right_block import entropy

SCALE = "why_sqrt_dk"
GAPS = "the article, section 11, Step one: a softmax only ever sees gaps"
SPREAD = "the article, section 4, What a head actually is"
RECEIPT = "the article, section 11, The receipt"


@suspect(
    "weight_of_the_lower_key",
    task=SCALE,
    hint="This is the weight of the lower key, and that of the higher one is asked.",
    read=GAPS,
)
def two_key_weight(gap):
    return 1 / (1 + np.exp(np.asarray(gap, dtype=float)))


@suspect(
    "gap_overflows",
    task=SCALE,
    hint="The exponential of a large gap overflows, and its quotient is no number.",
    read=GAPS,
)
def two_key_weight(gap):
    return np.exp(np.asarray(gap, dtype=float)) / (1 + np.exp(np.asarray(gap, dtype=float)))


@suspect(
    "ratio_of_weights",
    task=SCALE,
    hint="This is how many times more the higher key gets, and its weight is asked.",
    read=GAPS,
)
def two_key_weight(gap):
    return np.exp(np.asarray(gap, dtype=float))


@suspect(
    "tangent_for_weight",
    task=SCALE,
    hint="The curve goes from zero to one here, and two equal keys get a half each.",
    read=GAPS,
)
def two_key_weight(gap):
    return np.tanh(np.asarray(gap, dtype=float) / 2)


@suspect(
    "both_keys_weighed", task=SCALE, hint="Both weights come back, and only that of the higher key is asked.", read=GAPS
)
def two_key_weight(gap):
    high = 1 / (1 + np.exp(-np.asarray(gap, dtype=float)))
    return np.stack([1 - high, high], axis=-1)


@suspect(
    "power_of_two_weight",
    task=SCALE,
    hint="The base of the exponential is two here, and that of the softmax is e.",
    read=GAPS,
)
def two_key_weight(gap):
    return 1 / (1 + 2.0 ** -np.asarray(gap, dtype=float))


@suspect("entropy_in_bits", task=SCALE, hint="The entropy is in bits, and natural logarithms are asked.", read=SPREAD)
def entropy(weights):
    return -np.sum(weights * np.log2(np.where(weights > 0, weights, 1.0)), axis=-1)


@suspect("entropy_negative", task=SCALE, hint="The sign is missing: logarithms of weights are negative.", read=SPREAD)
def entropy(weights):
    return np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1)


@suspect("entropy_averaged", task=SCALE, hint="The terms are averaged, and their sum is asked.", read=SPREAD)
def entropy(weights):
    return -np.mean(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1)


@suspect(
    "entropy_nan_at_zero",
    task=SCALE,
    hint="A weight of zero gives NaN: zero times minus infinity is no number.",
    read=SPREAD,
)
def entropy(weights):
    return -np.sum(weights * np.log(weights), axis=-1)


@suspect(
    "entropy_of_everything",
    task=SCALE,
    hint="One number comes back for all rows, and one for each is asked.",
    read=SPREAD,
)
def entropy(weights):
    return -np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)))


@suspect(
    "entropy_down_the_columns", task=SCALE, hint="The sum runs down the rows, and along each row is asked.", read=SPREAD
)
def entropy(weights):
    return -np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=0)


@suspect(
    "entropy_as_token_count",
    task=SCALE,
    hint="This is how many keys a row looks at in effect, and its logarithm is asked.",
    read=SPREAD,
)
def entropy(weights):
    return np.exp(-np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1))


@suspect("entropy_relative", task=SCALE, hint="The entropy is divided by its largest value.", read=SPREAD)
def entropy(weights):
    return -np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1) / max(
        math.log(weights.shape[-1]), 1e-9
    )


@suspect(
    "sweep_divides_by_width",
    task=SCALE,
    hint="The scores are divided by the width itself, and its root is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std()}
        for name, c in (("unscaled", 1), ("scaled", q.shape[-1])):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect("sweep_exchanged", task=SCALE, hint="Scaled and unscaled are exchanged.", read=RECEIPT)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std()}
        for name, c in (("scaled", 1), ("unscaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "spread_of_a_sample",
    task=SCALE,
    hint="The spread is divided by one less than the number of scores, and by their number is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std(ddof=1)}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "spread_of_scaled_scores",
    task=SCALE,
    hint="The spread is that of the scaled scores, and of the scores as they are is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std() / math.sqrt(q.shape[-1])}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "spread_trial_by_trial",
    task=SCALE,
    hint="The spreads of the trials are averaged, and that of all scores together is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std(-1).mean()}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "softmax_over_trials",
    task=SCALE,
    hint="The softmax runs over the trials, and over the keys of each is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std()}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(0, keepdims=True))
            w = w / w.sum(0, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "largest_of_all_trials",
    task=SCALE,
    hint="The largest weight of all trials comes back, and the mean of each trial's is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std()}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "keys_of_the_first_trial",
    task=SCALE,
    hint="Every query meets the keys of the first trial, and each has keys of its own.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = q @ k[0].T
        row = {"logit_std": s.std()}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": entropy(w).mean()}
        rows.append(row)
    return rows


@suspect(
    "entropy_of_mean_weights",
    task=SCALE,
    hint="The weights are averaged before their entropy is taken, and the mean of entropies is asked.",
    read=RECEIPT,
)
def scaling_sweep(batches):
    rows = []
    for q, k in batches:
        s = np.einsum("td,tkd->tk", q, k)
        row = {"logit_std": s.std()}
        for name, c in (("unscaled", 1), ("scaled", math.sqrt(q.shape[-1]))):
            w = np.exp(s / c - (s / c).max(-1, keepdims=True))
            w = w / w.sum(-1, keepdims=True)
            row |= {f"max_weight_{name}": w.max(-1).mean(), f"entropy_{name}": float(entropy(w.mean(0)))}
        rows.append(row)
    return rows
