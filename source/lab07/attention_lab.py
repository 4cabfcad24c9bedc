# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 7. Attention: build it, then measure it
#
# You will write attention in NumPy, check it against the numbers of chapter 7 and against PyTorch, find out
# what it cannot see, and then put a clock and a meter on it: how its time grows, how its memory grows,
# where your machine stops, and what a KV cache changes. At the end you hold two plots, a file of
# measurements and a short note, all made from your own code.
#
# | step | you build | points | minutes |
# |---|---|---|---|
# | 1 | softmax, attention, self-attention | 21 | 60 |
# | 2 | every number of section 7.2 | 7 | 20 |
# | 3 | a comparison with PyTorch | 7 | 30 |
# | 4 | the shuffle test, and why a mask fails it | 15 | 60 |
# | 5 | a stopwatch, and the exponent of attention | 15 | 60 |
# | 6 | a memory measurement, and the largest length that fits | 13 | 45 |
# | 7 | a causal mask, proved by behaviour | 8 | 30 |
# | 8 | a KV cache that generates 512 tokens | 14 | 90 |
# | end | the note and the files to hand in | counted in step 6 | 30 |
#
# **How it is marked.** Cells that say `check("step1")` run *public* checks: quick, on fixed small inputs,
# and meant to help; you can read them in the package, `attnlab/public`. The mark comes from *hidden* checks
# on inputs that are drawn afresh for your course, so passing the public ones is a good sign and not the
# mark. Seven of the 100 points are read by a person: a paragraph in step 4 and the note at the end. All in
# all, count on about seven hours.
#
# **Rules that the hidden checks rely on.** Keep the names and the order of the arguments; `mask` and
# everything after a `*` is passed by name. If a name is defined twice, the last definition counts.
# Functions do not change the arrays that they are given, which may be transposed or read-only. `...` in a
# shape means any number of leading axes (batch, heads), none included. In step 1, write softmax and
# attention yourself: a call to a ready-made one is noticed while your function runs, whatever name it was
# imported under. Otherwise write in any style you like, and add cells and functions of your own where you
# want them.
#
# **Cells that measure** start with `if experiment(__name__):`. They run here and when the file is run as a
# script, but not when it is imported or graded. Where a function that such a cell needs is not written yet,
# it says so in one line, and *Run all* goes on.
#
# **Stuck?** In a terminal, `attnlab hint step1` gives a hint, and `attnlab hint step1 --depth 2` a plainer
# one.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": false, "locked": true, "task": false, "grade_id": "setup"}
from __future__ import annotations

import os

# One thread for the matrix library, set before NumPy is imported because that is when the library reads it.
# Two threads on a busy machine wait for each other: a product of 0.2 ms can then take 24 ms, and the curve of
# step 5 would show the scheduler instead of attention.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attnlab import attempt, check, deliverable, experiment, plots, progress
from attnlab.chapter import TOKENS, W_K, W_Q, W_V, X
from attnlab.guard import fits_in_child, run_in_child
from attnlab.meters import NumpyMeter
from attnlab.tiny_lm import TinyLM


class Measurements(dict[str, dict[str, Any]]):
    """What steps 5, 6 and 8 find, for the files at the end; what is not there yet says so."""

    def __missing__(self, name: str) -> dict[str, Any]:
        raise NotImplementedError(f"There is no measurement of {name} yet; run its step above first.")


measured = Measurements()


def table(title: str, values: np.ndarray, columns: Sequence[str] = (), rows: Sequence[str] = TOKENS) -> None:
    """Print a small matrix `(n_rows, n_columns)` with its names, to four decimals."""
    print(f"\n{title}")
    if columns:
        print(" " * 8 + "".join(f"{name:>9}" for name in columns))
    for name, row in zip(rows, values, strict=True):
        print(f"{name:<8}" + "".join(f"{value:9.4f}" for value in row))


# %% [markdown]
# ## Step 1. Scaled dot-product attention
#
# - **Build:** `softmax`, then `attention` on top of it, then `self_attention` on top of that.
# - **Time:** about 60 minutes.
# - **Points:** 21 (softmax 5, attention 12, self_attention 4).
# - **Chapter:** the equation in 7.1, the five stages in 7.2, the mask in 7.5.
#
# $$\operatorname{attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# **Why.** Each later step calls these three functions. Written once for any leading axes, they serve one
# head, many heads and a batch of sentences without a loop, and the cost that you measure in step 5 is the
# cost of the two matrix products and the table between them, not of Python.
#
# **Softmax.** `np.exp` overflows above about 709 in float64 and 88 in float32. Subtracting one number from
# a whole row changes nothing (it cancels between numerator and sum), so subtract each row's own maximum
# first: the largest exponent is then 0. Take the maximum *per row*; with one maximum for the whole array, a
# row that lies 2,000 below it turns into 0/0. Remember `keepdims=True`, or the maxima line up with the
# wrong axis.
#
# **Attention.** Work on the last two axes and let `@` and broadcasting carry the rest. `K.T` reverses *all*
# axes, which is the same thing only for a plain matrix; `np.swapaxes(K, -1, -2)` is what you want. `n_q`
# and `n_k` may differ, and so may `d_k` and `d_v`; the width that belongs under the root is that of the
# queries and keys.
#
# **Mask.** Boolean, `True` = *may attend*, the same meaning as in PyTorch. It acts on the scores, before
# the softmax: zeros put into the weights afterwards leave rows that no longer sum to one. A row that may
# attend to nothing is not asked for.
#
# **A detail for steps 5 and 6.** `np.sqrt(64)` is a float64 and turns float32 scores into float64, twice
# the bytes; `math.sqrt(64)` is a plain Python number and leaves them alone. No mark depends on it.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step1-softmax"}
def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Exponentials along one axis, divided by their sum. `x (...)` gives the same shape.

    Any finite input gives a finite result: `[1000., 1001., 1002.]`, and rows that lie 2,000 apart.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("softmax: subtract the maximum along the axis, then exponentiate and divide.")
    exponentials = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step1-attention"}
def attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scaled dot-product attention (chapter section 7.2): `(output, weights)`.

    `Q (..., n_q, d_k)`, `K (..., n_k, d_k)`, `V (..., n_k, d_v)`; `mask` is boolean, True = may attend, and
    broadcasts to `(..., n_q, n_k)`. `output (..., n_q, d_v)`, `weights (..., n_q, n_k)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("attention: scores, scale, mask, softmax, weighted sum, in this order.")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step1-self-attention"}
def self_attention(
    X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Attention in which one sequence asks, answers and supplies: `(output, weights)`.

    `X (..., n, d_model)`, `W_q` and `W_k (d_model, d_k)`, `W_v (d_model, d_v)`; `mask` as in `attention`.
    `output (..., n, d_v)`, `weights (..., n, n)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("self_attention: project X three times, then call attention.")
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** on small fixed inputs, the rows that sum to one, the scale, every axis of
# softmax, large scores, batch and head axes, masks, inputs left as they were, and no library call.
#
# **What it cannot see:** how exact float32 results are, transposed and read-only arrays, shapes and masks
# that it does not try, a result that depends on earlier calls, and a fill that hides a key almost but not
# quite. The hidden checks look there.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 21, "grade_id": "step1-check"}
check("step1")

# %%
if experiment(__name__):
    with attempt("step 1"):
        print("softmax of [1000, 1001, 1002]:", softmax(np.array([1000.0, 1001.0, 1002.0])).round(4))
        output, weights = attention(np.ones((1, 2)), np.eye(2), np.array([[10.0, 0.0], [0.0, 10.0]]))
        print(f"two keys that match equally well share the weight, {weights}, and their values are averaged: {output}")

# %% [markdown]
# ## Step 2. The chapter's numbers
#
# - **Build:** `worked_example`, which returns every stage of section 7.2 under its own name.
# - **Time:** about 20 minutes.
# - **Points:** 7.
# - **Chapter:** 7.2, all of its tables.
#
# **Why.** A final answer that is wrong does not say where it went wrong. A list of stages does: the first
# stage that differs is the line to read. Return a mapping with the keys `queries`, `keys`, `values`,
# `scores`, `scaled_scores`, `weights` and `output`.
#
# **What the içti row can and cannot tell you.** The chapter's last row of weights is
# `[0.4230, 0.5012, 0.0759]`. If yours differs, compare it with these. A transpose and an axis are two
# possible causes, and there are others:
#
# | içti's row | the likely cause |
# |---|---|
# | `[0.4905, 0.5329, 0.3565]` | softmax along the wrong axis (the row does not even sum to one) |
# | `[0.2945, 0.3490, 0.3565]` | scores transposed, or `W_q` and `W_k` exchanged: the two look the same here |
# | `[0.4239, 0.5388, 0.0373]` | no division by √d_k |
# | `[0.4125, 0.4651, 0.1224]` | divided by d_k, or by √d_model |
# | `[0.2825, 0.2940, 0.4235]` | no projections at all |
#
# A right row proves little. içti stands last, so a causal mask left on by mistake does not touch it, and
# nothing that goes wrong in the values reaches the weights. Without the scale its first weight moves by
# 0.0009 only. Compare all rows and all stages.
#
# The printed tables are rounded (a printed row may add up to 1.0001). Your values are compared with the
# exact ones, so do not round, and take every width from the arrays: the function is also called with
# matrices that are not the chapter's.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step2-worked-example"}
def worked_example(X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray) -> Mapping[str, np.ndarray]:
    """Every stage of unmasked self-attention on `X (n, d_model)` (chapter section 7.2).

    `queries`, `keys (n, d_k)`, `values (n, d_v)`; `scores`, `scaled_scores`, `weights (n, n)`; `output (n, d_v)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("worked_example: return a dict with the seven stages, none of them rounded.")
    queries, keys, values = X @ W_q, X @ W_k, X @ W_v
    scores = queries @ keys.T
    scaled_scores = scores / math.sqrt(keys.shape[-1])
    weights = softmax(scaled_scores)
    return {
        "queries": queries,
        "keys": keys,
        "values": values,
        "scores": scores,
        "scaled_scores": scaled_scores,
        "weights": weights,
        "output": weights @ values,
    }
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** each stage against the one before it, for one set of other matrices, and
# all seven tables to the digits that the chapter prints.
#
# **What it cannot see:** whether the function works for matrices that nobody has written down yet, and
# errors smaller than the printed digits. The hidden checks draw new matrices and compare with exact values.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 7, "grade_id": "step2-check"}
check("step2")

# %%
if experiment(__name__):
    with attempt("step 2"):
        stages = worked_example(X, W_Q, W_K, W_V)
        for stage in ("queries", "keys", "values"):
            table(stage, stages[stage])
        for stage in ("scores", "scaled_scores", "weights"):
            table(f"{stage}: each row looks, each column is looked at", stages[stage], columns=TOKENS)
        table("output", stages["output"])

# %% [markdown]
# ## Step 3. Against PyTorch
#
# - **Build:** `compare_with_torch`, the largest absolute difference between an attention function and
#   PyTorch's, with the name of the PyTorch kernel that ran.
# - **Time:** about 30 minutes.
# - **Points:** 7.
# - **Chapter:** 7.9, item 3; why two exact kernels differ in the last digits is in 7.6, under
#   FlashAttention.
#
# **Why.** The chapter gives you three tokens and one head. An independent implementation gives you every
# other shape. A comparison is only worth as much as its power to say no, so the hidden checks hand yours
# broken attention functions as well as right ones and look at what it reports.
#
# **How.** `torch.nn.functional.scaled_dot_product_attention` takes tensors; `torch.from_numpy(np.array(a))`
# makes one from a copy that PyTorch may own. Pass the mask itself as `attn_mask` (boolean, same meaning as
# yours), `dropout_p=0.0`, and leave the scale at its default. Compare outputs, all of them, entry by entry.
#
# PyTorch chooses among several kernels by shape, dtype and device. To report which one ran, choose it
# yourself: inside `with sdpa_kernel(SDPBackend.MATH):` (both from `torch.nn.attention`) only that one may
# run, and its name is `SDPBackend.MATH.name`.
#
# **NaN.** `max(0.1, nan)` in Python keeps 0.1. `np.max` keeps the NaN. A comparison that loses a NaN calls
# a broken function perfect.
#
# **How small is small?** Two right implementations round differently. For scores of size $S$ and values up
# to $|V|$, allow $8\,u\,(1 + S)\,|V|$, where $u$ is half of the distance from 1 to the next number
# ($6\cdot10^{-8}$ in float32, $1.1\cdot10^{-16}$ in float64). For standard normal inputs that is near the
# chapter's $10^{-5}$ in float32; with scores in the hundreds, right code exceeds $10^{-5}$ most of the
# time.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step3-compare-with-torch"}
def compare_with_torch(
    attention_fn: Callable[..., tuple[np.ndarray, np.ndarray]],
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[float, str]:
    """`(max_abs_diff, backend)` of `attention_fn(Q, K, V, mask=mask)` against PyTorch's own attention.

    Shapes as in `attention`, with a mask of at least two axes. NaN in either result gives NaN or infinity.
    `backend` is the name of the `torch.nn.attention.SDPBackend` member that ran, for example `"MATH"`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("compare_with_torch: run both on the same inputs, compare every entry of the outputs.")
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    backend = SDPBackend.MATH  # takes every shape, dtype and mask
    q, k, v = (torch.from_numpy(np.array(a)) for a in (Q, K, V))
    attn_mask = None if mask is None else torch.from_numpy(np.array(mask))
    with sdpa_kernel(backend):
        theirs = scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=0.0).numpy()
    ours, _ = attention_fn(Q, K, V, mask=mask)
    if np.shape(ours) != theirs.shape:  # broadcasting would let one head stand for all
        return math.inf, backend.name
    return float(np.max(np.abs(ours - theirs))), backend.name
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the comparison accepts PyTorch's own attention and yours, and notices one
# wrong entry, a mask that is ignored or inverted, and a NaN.
#
# **What it cannot see:** other shapes and heads, two results that differ and yet agree in some summary (a
# norm, a mean, sorted values), and whether the kernel that you name is the one that ran.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 7, "grade_id": "step3-check"}
check("step3")

# %%
if experiment(__name__):
    with attempt("step 3"):
        rng = np.random.default_rng(3)
        print(f"{'Q':>14} {'K and V':>14} {'dtype':>8} {'mask':>5} {'largest difference':>19}  kernel")
        for q_shape, k_shape in (((5, 8), (5, 8)), ((3, 8), (7, 8)), ((2, 4, 16, 32), (2, 4, 16, 32))):
            for dtype in (np.float64, np.float32):
                q, k, v = (rng.standard_normal(s).astype(dtype) for s in (q_shape, k_shape, k_shape))
                keep = rng.random((q_shape[-2], k_shape[-2])) < 0.7
                keep[:, 0] = True  # every query may attend to something
                for mask in (None, keep):
                    difference, backend = compare_with_torch(attention, q, k, v, mask=mask)
                    shown = f"{q_shape!s:>14} {k_shape!s:>14} {dtype.__name__:>8}"
                    print(f"{shown} {'no' if mask is None else 'yes':>5} {difference:19.1e}  {backend}")

# %% [markdown]
# ## Step 4. What attention cannot see: order
#
# - **Build:** `permutation_gap`, `sinusoidal_positions`, `equivariance_report`, and one paragraph in words.
# - **Time:** about 60 minutes.
# - **Points:** 15 (4 for each function, 3 for the paragraph, which a person reads).
# - **Chapter:** the beginning of 7.4 for the shuffle test and the sinusoids, 7.5 for the mask.
#
# **Why.** Shuffle the tokens, run attention, and look: without a mask each token gets the output it had
# before, in its new place. That property is *permutation equivariance*, and it is why a transformer needs a
# source of position at all. Then break it in two ways and see how the number changes.
#
# **The shuffle.** `X[perm]` puts token `perm[i]` into slot `i`. So `fn(X[perm])` must be compared with
# `fn(X)[perm]`. If you would rather undo the shuffle, the inverse is `np.argsort(perm)`; applying `perm` a
# second time undoes it only when `perm` is its own inverse, and the chapter's order içti kedi sütü,
# `[2, 0, 1]`, is not.
#
# **Positions belong to slots.** When words move, the position vectors stay. So they are added *after* the
# shuffle: compare attention on `X[perm] + position_scale * P` with attention on `X + position_scale * P`.
# Added before it, they would travel with the words and the test would find nothing.
#
# **The mask.** Step 7 builds a general one. Here a square one is enough, and `np.tri(n, dtype=bool)` is
# exactly that.
#
# For the chapter's tokens in the order içti kedi sütü you should see about $10^{-16}$ without anything and
# 0.3289 with positions. What the causal mask does by itself, without any positions, you find out here.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step4-permutation-gap"}
def permutation_gap(fn: Callable[[np.ndarray], np.ndarray], X: np.ndarray, perm: np.ndarray) -> float:
    """The largest `|fn(X[perm]) - fn(X)[perm]|`: 0 up to rounding where `fn` is permutation equivariant.

    `fn` maps `(n, d)` to `(n, d_v)`; `perm (n,)` holds each of `0 … n-1` once. NaN in a result gives NaN.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("permutation_gap: compare fn of the shuffled rows with the shuffled rows of fn.")
    return float(np.max(np.abs(fn(X[perm]) - fn(X)[perm])))
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step4-sinusoidal-positions"}
def sinusoidal_positions(n: int, d: int) -> np.ndarray:
    """Position vectors `(n, d)` for even `d` (chapter section 7.4), positions counted from 0.

    Column `2i` is `sin(pos / 10000**(2i/d))`, column `2i + 1` is the cosine of the same angle.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("sinusoidal_positions: angles (n, d/2) first, then sines and cosines in turn.")
    angles = np.arange(n)[:, np.newaxis] / 10000.0 ** (np.arange(0, d, 2) / d)
    positions = np.empty((n, d))
    positions[:, 0::2] = np.sin(angles)
    positions[:, 1::2] = np.cos(angles)
    return positions
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step4-equivariance-report"}
def equivariance_report(
    X: np.ndarray,
    perm: np.ndarray,
    W_q: np.ndarray,
    W_k: np.ndarray,
    W_v: np.ndarray,
    position_scale: float = 0.3,
) -> Mapping[str, float]:
    """Permutation gaps of self-attention's outputs on `X (n, d_model)` in three settings.

    `plain`: no mask, no positions. `positions`: `position_scale * P` added to the slots after the shuffle.
    `causal`: a causal mask and no positions.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("equivariance_report: three functions of X, one permutation_gap each.")
    slots = position_scale * sinusoidal_positions(*X.shape)
    causal = np.tri(len(X), dtype=bool)

    def gap(mask: np.ndarray | None = None, added: np.ndarray | float = 0.0) -> float:
        return permutation_gap(lambda rows: self_attention(rows + added, W_q, W_k, W_v, mask=mask)[0], X, perm)

    return {"plain": gap(), "positions": gap(added=slots), "causal": gap(mask=causal)}
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the two gaps that the chapter prints, that the third is far from rounding,
# a position scale of 0, and the printed position table with its lengths, frequencies and distances.
#
# **What it cannot see:** the size of the causal gap, other permutations and other matrices, a NaN that gets
# lost, and whether the paragraph explains anything: a person reads that.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 12, "grade_id": "step4-check"}
check("step4")

# %%
if experiment(__name__):
    with attempt("step 4"):
        order = np.array([2, 0, 1])
        print("order:", " ".join(TOKENS[i] for i in order))
        for setting, value in equivariance_report(X, order, W_Q, W_K, W_V).items():
            print(f"{setting:>10}: largest change {value:.4g}")
        for name, i in (("kedi", 0), ("içti", 2)):
            before = self_attention(X, W_Q, W_K, W_V, mask=np.tri(3, dtype=bool))[0][i]
            slot = int(np.argsort(order)[i])
            after = self_attention(X[order], W_Q, W_K, W_V, mask=np.tri(3, dtype=bool))[0][slot]
            print(f"with the mask, {name} gives {before.round(4)} in slot {i}, {after.round(4)} in slot {slot}")

# %% [markdown]
# ### In words (3 points, read by a person)
#
# The causal mask adds no position vector to anything, and yet the shuffle test fails with it. Explain why
# to somebody who has not read the chapter: one paragraph, no formula needed, one concrete case. The cell
# above gives you one: where does içti's output come from when it stands first?

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "solution": true, "locked": false, "task": false, "points": 3, "grade_id": "step4-why-causal-breaks"}
# BEGIN SOLUTION
# SKELETON: *Your answer here.*
# Without a mask every word looks at all words of the sentence and takes a weighted average of what they
# carry. The weights depend on the words alone, and an average does not ask in which order its terms were
# listed. Deal the same words out in another order and each of them still meets the same company, so each
# gets the same result and only carries it to a new seat.
#
# The causal mask is a rule about seats, not about words: seat 1 may look at seat 1, seat 2 at the first
# two, seat 3 at the first three. When the words change seats, the rule stays where it is. The same word
# then sees a different set of words, so its average is taken over something else and comes out different.
#
# In the example, içti in the last seat may look at all three words and ends as a mixture of them, [0.53,
# 0.60]. Moved to the first seat it may look only at itself, puts all its weight there, and keeps its own
# value, [0.10, 0.20]. No position was added anywhere; how many and which neighbours a word may see already
# says where it sits.
# END SOLUTION

# %% [markdown]
# ## Step 5. The exponent
#
# - **Build:** `time_calls`, `local_slopes`, `fit_exponent`.
# - **Time:** about 60 minutes.
# - **Points:** 15 (time_calls 5, local_slopes 3, fit_exponent 3, and 4 for the measured growth of your own
#   `attention`).
# - **Chapter:** 7.6, the quadratic term and when it dominates.
#
# **Why.** Theory says $O(n^2 d)$. If the time is $c\,n^p$, then $\log t = \log c + p \log n$: on log-log
# axes the points lie on a line and $p$ is its slope. What you measure will be near 2 and not 2, and the
# reasons are the interesting part.
#
# **The stopwatch.** Four things make a timing worth keeping:
#
# - *Warm-up calls* that are not recorded: the first call pays for memory that later calls find ready.
# - *Arguments made outside* the timed region.
# - *One call per sample, several samples per size*, all kept. A disturbance can only add time, so the
#   smallest sample is the one closest to the cost of the work.
# - *Waiting for the device.* A GPU call returns as soon as the work is queued. `sync()` waits until it is
#   done: call it before the clock starts (or you time what was queued earlier) and again before the clock
#   stops (or you time the queueing). NumPy is done when it returns, so on a CPU `sync` has nothing to do;
#   with CUDA it is `torch.cuda.synchronize`.
#
# The clock and `sync` are arguments, so the hidden checks can hand you a clock that they control and know
# the right answer to the last digit, on any machine.
#
# **Slopes.** `local_slopes` gives one slope per neighbouring pair, for any ratio of sizes, not only
# doublings. `fit_exponent` gives one slope for all points, by least squares on the logarithms.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step5-time-calls"}
def time_calls(
    fn: Callable[..., object],
    make_args: Callable[[int], tuple[Any, ...]],
    ns: Sequence[int],
    *,
    warmup: int,
    repeats: int,
    clock: Callable[[], float],
    sync: Callable[[], object],
) -> Sequence[Sequence[float]]:
    """Seconds of `repeats` single calls `fn(*make_args(n))` for each `n`: one row per size, in the order of `ns`.

    `warmup` calls per size come first and are not recorded. `clock()` is the time in seconds; `sync()` waits for
    the device, and is called before the clock starts and before it stops.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("time_calls: for each n make the arguments, warm up, then take one sample per call.")
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step5-local-slopes"}
def local_slopes(ns: Sequence[int], seconds: Sequence[float]) -> Sequence[float] | np.ndarray:
    """The slope between each pair of neighbours on log-log axes: `len(ns) - 1` numbers.

    `seconds` has one number per `n`; neighbouring sizes may have any ratio.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("local_slopes: difference of log seconds over difference of log n.")
    return np.diff(np.log(seconds)) / np.diff(np.log(ns))
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step5-fit-exponent"}
def fit_exponent(ns: Sequence[int], seconds: Sequence[float]) -> float:
    """The least-squares slope of log seconds against log n, over all points."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("fit_exponent: a straight line through (log n, log seconds); return its slope.")
    slope, _ = np.polyfit(np.log(ns), np.log(seconds), deg=1)
    return float(slope)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** with a made-up clock and a made-up device, that every sample is the time of
# one call, in the right row; and that exact power laws, and one bent curve, give the right slopes.
#
# **What it cannot see:** the measured growth of your `attention`. The grader times it next to a reference,
# alternately and in one process, and looks at the *difference* of the two exponents; so a slow or busy
# machine costs nothing, and if the noise is too large to tell, those points wait and are not lost.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 15, "grade_id": "step5-check"}
check("step5")

# %%
HEAD_DIM = 64
SIZES = [128, 256, 512, 1024, 2048, 4096]


def random_head(n: int) -> tuple[np.ndarray, ...]:
    """`Q`, `K`, `V` of shape `(n, HEAD_DIM)`, standard normal, float32."""
    rng = np.random.default_rng(n)
    return tuple(rng.standard_normal((n, HEAD_DIM), dtype=np.float32) for _ in range(3))


def nothing_to_wait_for() -> None:
    """The `sync` of a device that has finished when the call returns, as NumPy on a CPU has."""


scaling_plot = None

if experiment(__name__):
    with attempt("step 5"):
        samples = time_calls(
            attention, random_head, SIZES, warmup=2, repeats=7, clock=time.perf_counter, sync=nothing_to_wait_for
        )
        fastest = [min(row) for row in samples]
        slopes, exponent = local_slopes(SIZES, fastest), fit_exponent(SIZES, fastest)
        measured["scaling"] = deliverable.scaling_record(SIZES, samples, exponent, slopes, d=HEAD_DIM)
        print(f"{'n':>6} {'fastest, ms':>12} {'local slope':>12}")
        for n, seconds, slope in zip(SIZES, fastest, [math.nan, *slopes], strict=True):
            print(f"{n:6d} {1000 * seconds:12.3f} {'' if math.isnan(slope) else f'{slope:.2f}':>12}")
        print(f"\nfitted exponent over all sizes: {exponent:.2f}")
        scaling_plot = plots.scaling(SIZES, fastest, exponent, path="scaling.png")

scaling_plot

# %% [markdown]
# **Reading the slopes.** You will need this for the note. At small `n`, the part of a call that does not
# depend on `n` (Python, allocation, starting a product) still counts, and so do the parts that grow with
# `n` and not with `n²`; both pull the slope under 2. Then the `n × n` table outgrows one level of cache
# after the other (in float32 it is 1 MiB at n = 512 and 64 MiB at n = 4096), which is the likely reason for
# slopes above 2 in between. Look where yours does what. A single local slope from one run says little: run
# the cell again and see how far they move.

# %% [markdown]
# ## Step 6. Memory
#
# - **Build:** `score_bytes`, `peak_memory`, `largest_n`.
# - **Time:** about 45 minutes.
# - **Points:** 13 (score_bytes 2, peak_memory 3, largest_n 4, and 4 for the note at the end, which a person
#   reads).
# - **Chapter:** 7.6, the table of score matrices.
#
# **Why.** Time runs out slowly, memory at once. First predict: one number per pair of tokens, `itemsize`
# bytes each. Then measure: the peak is larger than one table, because scores, exponentials and weights are
# alive at the same time. Then find the length at which your machine says no.
#
# **Units.** The chapter's table counts 2 bytes a number (fp16) and GiB of $2^{30}$ bytes. NumPy's float32
# takes 4 bytes and its float64 takes 8, so the same n costs twice and four times as much here.
#
# **Meters.** A meter has `reset()`, `allocated_peak()` and `reserved_peak()`, in bytes above the level at
# the reset. *Allocated* is what the program asked for; *reserved* is what it holds for that, spare room
# included. `NumpyMeter` counts every NumPy buffer (through `tracemalloc`) and takes the reserved peak from
# the system's high-water mark of the process. `ProcessMeter` has only that mark, and so also sees libraries
# that allocate past Python; `CudaMeter` asks PyTorch. `peak_memory` resets the meter, makes one call, and
# reports both readings as they are. An error in `fn` goes through to the caller.
#
# **The search.** Double until something does not fit, then bisect between the last size that did and the
# first that did not. `fits(n)` says no by returning `False` or by raising `MemoryError`, at any point of
# the search. If `start` itself does not fit, look below it; if nothing fits, the answer is 0. Sizes are
# whole numbers. The hidden checks allow $2\log_2(n/\mathrm{start}) + \log_2 \mathrm{start} + 6$ trials, and
# none above $2\max(n, \mathrm{start}) + 1$: a trial far beyond what fits is what the search is there to
# avoid.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step6-score-bytes"}
def score_bytes(n: int, heads: int = 1, itemsize: int = 2) -> int:
    """Bytes of the raw `(heads, n, n)` score tensor at `itemsize` bytes a number (chapter section 7.6)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("score_bytes: count the entries of the score tensor, times the bytes of one.")
    return heads * n * n * itemsize
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step6-peak-memory"}
def peak_memory(fn: Callable[..., object], *args: Any, meter: Any) -> tuple[int, int]:
    """`(allocated_bytes, reserved_bytes)`: what `meter` read at its peak during the one call `fn(*args)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("peak_memory: reset the meter, call fn once, return the two peaks.")
    meter.reset()
    fn(*args)
    return meter.allocated_peak(), meter.reserved_peak()
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step6-largest-n"}
def largest_n(fits: Callable[[int], bool], start: int = 1024) -> int:
    """The largest `n` with `fits(n)` true, by doubling from `start` and then bisection; 0 if nothing fits.

    `fits` is monotone; a `MemoryError` in it means that this size does not fit. No other exception is caught.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("largest_n: double from start while it fits, then bisect.")
    def does_fit(n: int) -> bool:
        try:
            return fits(n)
        except MemoryError:
            return False

    low, high = 0, start  # low fits (or is 0); high is the next size to try, and at the end one that does not fit
    while does_fit(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if does_fit(middle):
            low = middle
        else:
            high = middle
    return low
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the chapter's table, a meter that only reports what it was told, an error
# inside `fn`, and searches that end at a known size, also below `start` and with `MemoryError`.
#
# **What it cannot see:** sizes and starts that it does not try, a search that takes too many trials, and
# your note.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 9, "grade_id": "step6-check"}
check("step6")

# %% [markdown]
# The next cell compares prediction and measurement, then searches for the largest `n` under a limit of half
# a GiB. Each trial runs in a child process that may use that much and no more, so only the child is
# refused, and neither your notebook nor your machine goes down with it. Raise `MEMORY_LIMIT` to learn more
# about your machine; each doubling of `n` takes four times the memory and four times the time.

# %%
MEMORY_LIMIT = 2**29  # bytes: half a GiB


def run_one_head(n: int) -> None:
    """One head of `n` tokens in float32: what the search tries out in a child process."""
    attention(*random_head(n))


if experiment(__name__):
    with attempt("step 6"):
        print("the chapter's table, 2 bytes an entry:")
        for n in (512, 4096, 32768, 100000):
            print(f"{n:7,d} {score_bytes(n) / 2**30:10.4f} GiB")
        print(f"\nfloat32, one head of width {HEAD_DIM}, MiB")
        print(f"{'n':>6} {'one table':>10} {'allocated peak':>15} {'tables alive':>13} {'reserved peak':>14}")
        rows = []
        for n in (512, 1024, 2048, 4096):
            expected = score_bytes(n, itemsize=4)
            allocated, reserved = peak_memory(attention, *random_head(n), meter=NumpyMeter())
            rows.append(deliverable.memory_row(n, expected, allocated, reserved))
            sizes = f"{expected / 2**20:10.1f} {allocated / 2**20:15.2f} {allocated / expected:13.2f}"
            print(f"{n:6d} {sizes} {reserved / 2**20:14.2f}")
        largest = largest_n(lambda n: fits_in_child(run_one_head, n, limit_bytes=MEMORY_LIMIT))
        refused = run_in_child(run_one_head, largest + 1, limit_bytes=MEMORY_LIMIT)
        print(f"\nlargest n under {MEMORY_LIMIT / 2**30:g} GiB: {largest:,}. One token more: {refused.detail}")
        measured["memory"] = deliverable.memory_record(
            rows, largest_n=largest, resource=refused.resource or "unclear: a second trial of n + 1 fitted"
        )

# %% [markdown]
# ## Step 7. The causal invariant
#
# - **Build:** `causal_mask` and `prefix_gap`.
# - **Time:** about 30 minutes.
# - **Points:** 8 (4 each).
# - **Chapter:** 7.5 for the mask; 7.6 for what it makes possible.
#
# **Why.** The claim is about behaviour: with a causal mask, a token that arrives later changes nothing that
# came before. A triangle of zeros in the weights is a picture of the claim, and appending a token is a test
# of it. Step 8 rests on it: keys and values can be kept only because they never change again.
#
# **The mask.** Each row belongs to a query and each column to a key; True = may attend. When `n_q < n_k`,
# the queries are the *last* `n_q` positions of the sequence, as they are when new tokens meet a filled
# cache. So the triangle is aligned at the lower right: the last query sees every key. A mask aligned at the
# upper left would let a new token see only the oldest key, and no square test would notice.
#
# **The test.** Run `fn` on `X`, append the row `x_new`, run again, compare the first `n` outputs.
#
# **Equal is not identical.** A longer matrix can be multiplied in other blocks and summed in another order,
# so right code moves in the last digits at some lengths: at a seventh to nine tenths of those that were
# tried, depending on library, dtype, width and threads. Compare with a tolerance ($10^{-12}$ in float64 and
# $10^{-5}$ in float32 for inputs near 1). And do not use NaN as the appended row: 0 · NaN is NaN, so the
# weighted sum of a *right* function turns NaN as well. A row of large numbers is a good probe.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step7-causal-mask"}
def causal_mask(n_q: int, n_k: int | None = None) -> np.ndarray:
    """Boolean `(n_q, n_k)`, True = may attend, aligned at the lower right: the last query sees every key.

    `n_k` is `n_q` if it is not given, and never smaller than `n_q`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("causal_mask: query i stands at position i + n_k - n_q; it sees the keys up to there.")
    if n_k is None:
        n_k = n_q
    return np.tri(n_q, n_k, k=n_k - n_q, dtype=bool)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step7-prefix-gap"}
def prefix_gap(fn: Callable[[np.ndarray], np.ndarray], X: np.ndarray, x_new: np.ndarray) -> float:
    """The largest change of the outputs of `X (n, d)` when the row `x_new (d,)` is appended to it.

    `fn` maps `(n, d)` to `(n, d_v)` for any `n`. NaN in a result gives NaN.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("prefix_gap: append x_new, run fn on both, compare the first n rows.")
    longer = np.concatenate([X, x_new[np.newaxis]])
    return float(np.max(np.abs(fn(longer)[: len(X)] - fn(X))))
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** square masks and wider ones, functions that leak by a known amount, a NaN,
# and your own attention with your own mask.
#
# **What it cannot see:** shapes that it does not try, and leaks that only a very large `x_new` brings out.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 8, "grade_id": "step7-check"}
check("step7")

# %%
if experiment(__name__):
    with attempt("step 7"):
        print(causal_mask(2, 5).astype(int), "<- two new tokens, three cached ones\n")
        rng = np.random.default_rng(7)
        text, new_token = rng.standard_normal((64, 4)), rng.standard_normal(4)

        def causal_head(rows: np.ndarray) -> np.ndarray:
            return self_attention(rows, W_Q, W_K, W_V, mask=causal_mask(len(rows)))[0]

        def open_head(rows: np.ndarray) -> np.ndarray:
            return self_attention(rows, W_Q, W_K, W_V)[0]

        for size in (1, 100, 1000):
            with_mask = prefix_gap(causal_head, text, size * new_token)
            without = prefix_gap(open_head, text, size * new_token)
            print(f"new token of size {size:>4}: change {with_mask:.1e} with the mask, {without:.1e} without")
        gaps = [prefix_gap(causal_head, text[:n], new_token) for n in range(1, 65)]
        print(f"\nwith the mask, {np.count_nonzero(gaps)} of 64 lengths change at all, by {max(gaps):.1e} at most")

# %% [markdown]
# ## Step 8. The KV cache
#
# - **Build:** `KVCache`, `generate`, `time_generation`, `kv_cache_bytes`.
# - **Time:** about 90 minutes.
# - **Points:** 14 (KVCache 4, generate 5, time_generation 3, kv_cache_bytes 2).
# - **Chapter:** 7.6, the KV cache, prefill and decode.
#
# **Why.** To pick token 501, a model without a cache runs the 500 before it again, and for token 502 it
# runs 501. By the invariant of step 7 nothing about those tokens has changed, their keys and values
# included. Keep these, and a step costs one token.
#
# **The model.** `TinyLM` is a seeded transformer with two layers, several heads and positions, built around
# *your* `attention` and `causal_mask`. `model(tokens, caches=None, start=0)` takes a block of `t` ids that
# stand at positions `start`, `start + 1`, … and returns logits `(t, vocab)`. With `caches`, one `KVCache`
# per layer, it appends the block's keys and values and attends to everything that the cache holds.
#
# **`KVCache`.** `append(k, v)` takes blocks `(..., t, d)`; the prompt arrives as one block, later tokens
# one at a time. `keys` and `values` are everything so far, `(..., T, d)`, in the order of arrival. Copy
# what you store: the caller may reuse its arrays. And give each cache its own storage: a list in the class
# body belongs to all caches at once.
#
# **`generate`.** Greedy decoding: the next id is the position of the largest logit in the *last* row.
# Without a cache, feed the whole sequence each time. With one, feed the prompt once (prefill) and then only
# the newest id, with `start` at its true position. Each id goes through the model once, so `P + n_new − 1`
# ids in all: the last one chosen need not be fed. New caches for every call.
#
# **`time_generation`.** The same loop under a clock. The pass over the prompt gives the first new id, so
# its time is the prefill; each id after the first has a decode time, `n_new − 1` of them. `sync` as in step
# 5.
#
# **`kv_cache_bytes`.** Two tensors (keys and values) per layer, one row of `head_dim` numbers per KV head
# and token.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step8-kv-cache"}
class KVCache:
    """The keys and values that one layer has computed so far.

    `keys` and `values`, attributes or properties, are `(..., T, d)` after blocks of `T` tokens in all.
    """

    def __init__(self) -> None:
        # BEGIN SOLUTION
        # SKELETON: raise NotImplementedError("KVCache: start with nothing stored; each cache needs its own storage.")
        self.keys: np.ndarray | None = None
        self.values: np.ndarray | None = None
        # END SOLUTION

    def append(self, k: np.ndarray, v: np.ndarray) -> None:
        """Store copies of the blocks `k` and `v`, both `(..., t, d)` with `t >= 1`, after what is there."""
        # BEGIN SOLUTION
        # SKELETON: raise NotImplementedError("KVCache.append: join the new block to the stored ones along the token axis, -2.")
        # Joining copies all T stored rows. The attention that follows reads all of them anyway, so a step stays O(T).
        if self.keys is None or self.values is None:
            self.keys, self.values = np.array(k), np.array(v)
        else:
            self.keys = np.concatenate([self.keys, k], axis=-2)
            self.values = np.concatenate([self.values, v], axis=-2)
        # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step8-generate"}
def generate(model: Any, prompt: Sequence[int], n_new: int, *, use_cache: bool) -> tuple[list[int], np.ndarray]:
    """`(tokens, logits)`: the prompt followed by `n_new >= 1` greedy ids, and the logits that chose them.

    `logits (n_new, vocab)`. With `use_cache`, each id goes through the model once.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("generate: feed, take the last row's argmax, append, repeat n_new times.")
    tokens, logits = list(prompt), []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    done = 0  # how many tokens have their keys and values in the caches
    for _ in range(n_new):
        block = model(tokens[done:], caches=caches, start=done)
        logits.append(np.array(block[-1]))  # a copy, so that the rest of the block can be freed
        if use_cache:
            done = len(tokens)
        tokens.append(int(np.argmax(logits[-1])))
    return tokens, np.stack(logits)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step8-time-generation"}
def time_generation(
    model: Any,
    prompt: Sequence[int],
    n_new: int,
    *,
    use_cache: bool,
    clock: Callable[[], float],
    sync: Callable[[], object],
) -> tuple[float, list[float]]:
    """`(prefill_seconds, decode_seconds)` of a greedy generation; one decode time per new id after the first."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("time_generation: the loop of generate, with sync and clock around each pass.")
    tokens, seconds = list(prompt), []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    done = 0
    for _ in range(n_new):
        sync()
        begin = clock()
        block = model(tokens[done:], caches=caches, start=done)
        sync()
        seconds.append(clock() - begin)
        if use_cache:
            done = len(tokens)
        tokens.append(int(np.argmax(block[-1])))
    return seconds[0], seconds[1:]
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step8-kv-cache-bytes"}
def kv_cache_bytes(layers: int, kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2) -> int:
    """Bytes of all keys and values of `tokens` tokens (chapter section 7.6), for one sequence."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("kv_cache_bytes: keys and values, for every layer, head and token.")
    return 2 * layers * kv_heads * head_dim * tokens * itemsize
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** a cache that keeps copies in order, ids that go through the model once and
# at their positions, the same ids and logits with and without the cache, and a clock read at the right
# moments.
#
# **What it cannot see:** other models, prompts and lengths, and blocks with other leading axes.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 14, "grade_id": "step8-check"}
check("step8")

# %% [markdown]
# The next cell generates 512 tokens twice from the same prompt, with the same weights and dtype. It
# compares tokens and logits, times both ways with the prefill apart from the decode steps, and holds the
# size of the caches against the formula. The logits agree to rounding, not to the bit: a product with one
# row runs through another kernel than a product with 500.

# %%
PROMPT_TOKENS, NEW_TOKENS = 16, 512
latency_plot = None

if experiment(__name__):
    with attempt("step 8"):
        model = TinyLM(attention, causal_mask, seed=0, n_max=PROMPT_TOKENS + NEW_TOKENS)
        prompt = np.random.default_rng(8).integers(model.vocab, size=PROMPT_TOKENS).tolist()

        slow_tokens, slow_logits = generate(model, prompt, NEW_TOKENS, use_cache=False)
        fast_tokens, fast_logits = generate(model, prompt, NEW_TOKENS, use_cache=True)
        print("same tokens:", list(slow_tokens) == list(fast_tokens))
        change = np.max(np.abs(np.subtract(slow_logits, fast_logits))) / np.max(np.abs(slow_logits))
        print(f"largest difference of logits, relative to the largest logit: {change:.1e}")

        def timed(use_cache: bool) -> tuple[float, Sequence[float]]:
            return time_generation(
                model, prompt, NEW_TOKENS, use_cache=use_cache, clock=time.perf_counter, sync=nothing_to_wait_for
            )

        recompute, cached = timed(use_cache=False), timed(use_cache=True)

        caches = [KVCache() for _ in range(model.n_layers)]
        model(fast_tokens[:-1], caches=caches)  # the last id was chosen and never fed
        in_the_arrays = sum(np.asarray(part).nbytes for cache in caches for part in (cache.keys, cache.values))
        by_the_formula = kv_cache_bytes(
            model.n_layers, model.kv_heads, model.head_dim, len(fast_tokens) - 1, itemsize=model.dtype.itemsize
        )
        measured["generation"] = deliverable.generation_record(
            prompt_tokens=PROMPT_TOKENS,
            new_tokens=NEW_TOKENS,
            recompute=recompute,
            cached=cached,
            cache_bytes_formula=by_the_formula,
            cache_bytes_measured=in_the_arrays,
        )
        for name, (prefill, decode) in (("recompute", recompute), ("cached", cached)):
            print(f"{name:>9}: prefill {1000 * prefill:.2f} ms, last step {1000 * decode[-1]:.3f} ms")
        late = [float(np.median(decode[-16:])) for _, decode in (recompute, cached)]
        print(f"speed-up at token {NEW_TOKENS}: {measured['generation']['speedup_at_last']:.0f} times, from one sample each;")
        print(f"over the last 16 tokens, by the medians: {late[0] / late[1]:.0f} times")
        print(f"cache: {by_the_formula:,} bytes by the formula, {in_the_arrays:,} bytes in the arrays")
        latency_plot = plots.kv_latency(recompute[1], cached[1], path="kv_latency.png")

latency_plot

# %% [markdown]
# ## The files to hand in
#
# - **Hand in** this notebook together with `measurements.json`, `scaling.png`, `kv_latency.png` and
#   `note.md`. The cells above drew the plots; the cells below write the rest, in the folder of the
#   notebook.
# - **Time:** about 30 minutes.
# - **Points:** 4 for the note, read by a person and counted in step 6.
#
# **The note** is half a page for a colleague who has to decide what to run on this machine:
#
# 1. The largest `n`, under which conditions (width, dtype, limit), and the **one** resource that ran out.
# 2. How you know that it was this resource: how many tables of how many bytes were alive, and how near that
#    comes to the limit. Where allocated and reserved peaks differ, and why.
# 3. The fitted exponent, where your local slopes leave 2, and what shows up there.
# 4. What the two latency curves do as the sequence grows, why, and the speed-up at token 512.
#
# Give the resource in `resource` and the rest in `why`; the cell puts them into `note.md`, below the
# largest `n`. In an f-string, `{memory["largest_n"]:,}` is your own number, and always agrees with the
# file. Your numbers are not compared with those of another machine.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": true, "locked": false, "task": false, "points": 4, "grade_id": "step6-note"}
if experiment(__name__):
    with attempt("the note"):
        scaling, memory, generation = measured["scaling"], measured["memory"], measured["generation"]
        # BEGIN SOLUTION
        # SKELETON: raise NotImplementedError('Replace this line by resource = "…" and why = f"""…""", in your words.')
        last, slopes = memory["rows"][-1], scaling["local_slopes"]
        alive = last["allocated_peak_bytes"] / last["expected_bytes"]
        allocated, reserved = (last[f"{kind}_peak_bytes"] / 2**20 for kind in ("allocated", "reserved"))
        predicted = math.isqrt(int(MEMORY_LIMIT / (4 * alive)))
        steepest = int(np.argmax(slopes))
        last_row = scaling["samples_seconds"][-1]
        slow, fast = (generation[kind]["decode_seconds"] for kind in ("recompute", "cached"))
        slow_end, fast_end = np.median(slow[-16:]), np.median(fast[-16:])
        resource = "memory"
        why = f"""\
**Length.** {memory["largest_n"]:,} tokens was the most for one head of width {HEAD_DIM} in float32, in a process that may
take {MEMORY_LIMIT / 2**30:g} GiB. With one token more it was refused memory. Time was not the limit: {SIZES[-1]:,} tokens
take {1000 * min(last_row):.0f} ms.

**Bytes.** At n = {last["n"]:,} the allocated peak was {alive:.2f} tables of n × n numbers: scores, exponentials and
weights are alive together. That many tables of 4 bytes an entry fill {MEMORY_LIMIT / 2**30:g} GiB at n = {predicted:,}, near
what the search found. So the length grows with the square root of the memory: four times the memory, twice the
length. The reserved peak at n = {last["n"]:,} was {reserved:.2f} MiB against {allocated:.2f} MiB allocated: they are close
because NumPy takes arrays of this size from the system page by page and gives them back when they are freed.

**Exponent.** The fit over all sizes is {scaling["exponent"]:.2f}; the local slopes are
{", ".join(f"{slope:.2f}" for slope in slopes)}. At the small end a call costs something at any n, and work that grows only
with n still weighs, which lowers the slope. The steepest step is from {SIZES[steepest]:,} to {SIZES[steepest + 1]:,}, where a
table grows from {SIZES[steepest] ** 2 * 4 / 2**20:g} to {SIZES[steepest + 1] ** 2 * 4 / 2**20:g} MiB; most likely it no longer
fits a cache there, so that each entry gets dearer. The samples at n = {SIZES[-1]:,} lie up to {max(last_row) / min(last_row) - 1:.0%}
above the fastest one, which says how far to trust a single slope.

**Cache.** Without it a step grew from {1000 * slow[0]:.2f} to {1000 * slow_end:.2f} ms, because every earlier
token runs again, with n × n scores. With it a step took {1000 * fast_end:.2f} ms at the end and hardly less at the start:
one row of scores is little next to the fixed cost of a call. Around token {NEW_TOKENS} that is
{slow_end / fast_end:.0f} times faster (medians of the last 16 tokens). The price is memory again:
{generation["cache_bytes_measured"]:,} bytes here, and the same amount more with every token.
"""
        # END SOLUTION
        deliverable.write_note(largest_n=memory["largest_n"], resource=resource, why=why, path="note.md")

# %%
if experiment(__name__):
    with attempt("the files"):
        deliverable.write_measurements(
            scaling=measured["scaling"],
            memory=measured["memory"],
            generation=measured["generation"],
            dtype="float32",
            path="measurements.json",
        )

# %% [markdown]
# Where you stand on the public checks. Run the notebook once from top to bottom (menu *Kernel*, *Restart
# Kernel and Run All Cells*), save it (*Ctrl+S*), and pack what you hand in with the last cell: one zip with the
# notebooks, the measurements, the plots and the note, and a receipt.

# %%
progress()

# %%
# Is the notebook saved? Then take away the # in front of the next line, and run this cell.
# from attnlab import pack; pack()
