"""Mistakes of ``worked_example``: the first stage that is wrong, and copied or shared tables."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import suspect
from autograder.suspects.right import softmax

TASK = "step2"
PROJECT = "7.2, step 1"
SCORES = "7.2, step 2"
SCALE = "7.2, step 3"
WEIGHTS = "7.2, step 4"
AVERAGE = "7.2, step 5"
LAB = "7.9, lab step 2"


@suspect(
    "worked_no_scale",
    task=TASK,
    hint="The scaled scores are the raw scores; in the last row that is nearly invisible, so look at the others.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    w = softmax(s)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=s, weights=w, output=w @ v)


@suspect(
    "worked_divided_by_dk",
    task=TASK,
    hint="The scores are made smaller than they should be: look at the divisor once more.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / k.shape[-1]
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_scale_of_the_chapter",
    task=TASK,
    hint="The divisor fits the chapter's head only; other matrices bring another width.",
    read=SCALE,
    also=(("math.sqrt(2)", "1.4142"),),
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(2)
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_scale_of_the_tokens",
    task=TASK,
    hint="The divisor comes from the width of the tokens, which is not what the scores grow with "
    "(in the chapter it happens to give the width of the keys).",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(X.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_scale_multiplied",
    task=TASK,
    hint="The scaled scores are larger than the raw ones.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s * math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_scale_sqrt_n",
    task=TASK,
    hint="The divisor counts the tokens; a score does not grow with their number.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(len(X))
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_scores_transposed",
    task=TASK,
    hint="Queries and keys are right, but in the table of scores the rows belong to the keys.",
    read=SCORES,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = k @ q.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_queries_and_keys_swapped",
    task=TASK,
    hint="The two matrices that decide where information moves have changed places.",
    read=PROJECT,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_k, X @ W_q, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_keys_use_wq",
    task=TASK,
    hint="The keys come out like the queries: one matrix is used twice.",
    read=PROJECT,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_q, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_values_use_wk",
    task=TASK,
    hint="The values come out like the keys: one matrix is used twice.",
    read=PROJECT,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_k
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_values_not_projected",
    task=TASK,
    hint="The tokens hand over themselves; the third matrix is left out.",
    read=PROJECT,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_no_projections",
    task=TASK,
    hint="The scores compare the tokens as they are, which the chapter tries first and then gives up.",
    read="7.1, Why three projections, and not one?",
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = X @ X.T
    z = s / math.sqrt(X.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_wrong_axis",
    task=TASK,
    hint="The columns of the weights sum to one; the rows should.",
    read=WEIGHTS,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z, axis=0)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_weights_of_raw_scores",
    task=TASK,
    hint="The scaled scores are there, but the weights were made from something else.",
    read=WEIGHTS,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    w = softmax(s)
    z = s / math.sqrt(k.shape[-1])
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_weights_not_normalised",
    task=TASK,
    hint="The table of weights holds exponentials that do not sum to one yet.",
    read=WEIGHTS,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = np.exp(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_output_weights_transposed",
    task=TASK,
    hint="All tables but the last are right; in the last product the weights stand the wrong way round.",
    read=AVERAGE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w.T @ v)


@suspect(
    "worked_output_mixes_keys",
    task=TASK,
    hint="All tables but the last are right; the last one mixes what tokens advertise.",
    read=AVERAGE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ k)
