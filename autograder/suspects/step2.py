"""Mistakes of ``worked_example``: the first stage that is wrong, and copied or shared tables."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-redef, no-any-return"

from __future__ import annotations

import math

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
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
    "worked_causal_mask_on",
    task=TASK,
    hint="Later tokens are hidden; the last row cannot show it, because nothing comes after it.",
    read="7.2, Do it yourself",
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(np.where(np.tri(len(X), dtype=bool), z, -np.inf))
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_causal_mask_on")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = np.where(np.tri(len(X), dtype=bool), s / math.sqrt(k.shape[-1]), -1e9)
    w = softmax(z)
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


@suspect(
    "worked_rounded",
    task=TASK,
    hint="The tables are rounded as they are printed; hand back every digit there is.",
    read=LAB,
    also=(
        ("np.round(table, 4)", "np.round(table, 2)"),
        ("np.round(table, 4)", "np.round(table, 3)"),
        ("np.round(table, 4)", "np.round(table, 6)"),
    ),
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    tables = dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)
    return {name: np.round(table, 4) for name, table in tables.items()}


@same_mistake("worked_rounded")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = np.round(X @ W_q, 2), np.round(X @ W_k, 2), np.round(X @ W_v, 2)
    s = np.round(q @ k.T, 2)
    z = np.round(s / math.sqrt(k.shape[-1]), 4)
    w = np.round(softmax(z), 4)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=np.round(w @ v, 4))


@suspect(
    "worked_stages_share_memory",
    task=TASK,
    hint="The table of scores holds the scaled ones: it was changed after it had been stored, "
    "or the wrong one was stored.",
    read=SCALE,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = z = q @ k.T
    z /= math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@suspect(
    "worked_copied_from_chapter",
    task=TASK,
    hint="The tables are the chapter's whatever the matrices are; they should be computed.",
    read=LAB,
)
def worked_example(X, W_q, W_k, W_v):
    X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])
    q = X @ np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
    k = X @ np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
    v = X @ np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.2, 0.2]])
    s = q @ k.T
    z = s / math.sqrt(2)
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_copied_from_chapter")
def worked_example(X, W_q, W_k, W_v):
    return dict(
        queries=np.array([[1.8, 0.2], [0.2, 1.8], [1.8, 2.0]]),
        keys=np.array([[1.35, 0.15], [0.15, 1.35], [0.0, 0.15]]),
        values=np.array([[1.0, 0.2], [0.2, 1.0], [0.1, 0.2]]),
        scores=np.array([[2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.3]]),
        scaled_scores=np.array(
            [[1.7395, 0.3818, 0.0212], [0.3818, 1.7395, 0.1909], [1.9304, 2.1001, 0.2121]]
        ),
        weights=np.array([[0.6961, 0.1791, 0.1249], [0.1750, 0.6804, 0.1446], [0.4230, 0.5012, 0.0759]]),
        output=np.array([[0.7444, 0.3433], [0.3256, 0.7443], [0.5308, 0.6009]]),
    )


@suspect(
    "worked_last_row_only",
    task=TASK,
    hint="Only the row of the last token is there; every token has one.",
    read=LAB,
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled_scores=z, weights=w[-1], output=w[-1] @ v)


@suspect(
    "worked_stage_missing",
    task=TASK,
    hint="One of the seven tables is missing, or is called something else.",
    read=LAB,
    also=(("scaled=z", "scaled_score=z"), ("weights=w", "attention=w"), (", output=w @ v", "")),
)
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(queries=q, keys=k, values=v, scores=s, scaled=z, weights=w, output=w @ v)


@same_mistake("worked_stage_missing")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / math.sqrt(k.shape[-1])
    w = softmax(z)
    return dict(Q=q, K=k, V=v, scores=s, scaled_scores=z, weights=w, output=w @ v)


@same_mistake("worked_stage_missing")
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    w = softmax(q @ k.T / math.sqrt(k.shape[-1]))
    return dict(weights=w, output=w @ v)
