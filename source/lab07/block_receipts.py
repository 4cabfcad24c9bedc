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
# # The rest of the block, with receipts
#
# The lab took one head apart. Here you build what stands around it: several heads, the residual stream and
# its norms, the feed-forward layer, a whole block. Then you count: parameters, operations, bytes, what it
# takes to serve a model and to train one. Last come four things that are easier to believe after a test:
# why scores are divided by √d_k, that a causal model cannot look ahead, that a backward pass costs two
# forward ones, and that positions can be relative.
#
# **Two sources.** *Chapter* means sections 7.3 to 7.8 of the chapter, *article* means "Inside a Transformer
# Block". Both print many numbers. Your functions recompute them, and each one comes out as a *receipt*: a
# line with your number, the number that should come out, and how the two may be compared.
#
# - `exact`: the two must be equal, to the last digit.
# - `within t`: they may differ by `t`, which is half of the last digit in print, or a sampling error where the
#   number in print comes from random draws. Draws here are made with NumPy on the CPU, so that every machine
#   sees the same ones.
# - `of this machine`: a rounding error, for example. Yours may be another one, and nothing compares it.
#
# Where a source is loose or wrong, the text says so in one line, and no mark depends on the source's version.
#
# | part | you build | points | minutes |
# |---|---|---|---|
# | 1 | two heads, concatenated and projected | 6 | 30 |
# | 2 | residual and norms | 5 | 20 |
# | 3 | the feed-forward layer | 6 | 25 |
# | 4 | the whole block | 4 | 15 |
# | 5 | parameters | 7 | 25 |
# | 6 | FLOPs and bytes | 5 | 20 |
# | 7 | serving | 10 | 45 |
# | 8 | training | 5 | 15 |
# | 9 | GQA, MQA, mixture of experts | 8 | 35 |
# | 10 | linear or not | 4 | 20 |
# | 11 | why √d_k | 4 | 25 |
# | 12 | causality in a model | 3 | 15 |
# | 13 | the backward pass | 3 | 10 |
# | 14 | positions | 8 | 40 |
# | 15 | a second device | 2 | 10 |
#
# **How it is marked.** Cells that say `check("multi_head")` run *public* checks: quick, on fixed inputs, and
# meant to help. The mark comes from *hidden* checks with fresh values, so a number that was copied from the
# page earns nothing. Of the 80 points, 76 are given by machine; four, in part 7, are for a paragraph that a
# person reads. All in all, count on about six hours. Parts 1 to 4 build on each other, and the experiment of
# part 12 uses your block; the other parts can be done in any order.
#
# **The functions,** with the order of their arguments. Those with a default are passed by name.
#
# | part | function | gives |
# |---|---|---|
# | 1 | `self_attention(X, W_q, W_k, W_v, mask=None)` | `(output, weights)`, as in the lab |
# | | `split_heads(x, h)` | `(..., n, h·w)` as `(..., h, n, w)` |
# | | `merge_heads(x)` | the way back |
# | | `multi_head(X, heads, W_o, mask=None)` | mapping `weights`, `concatenated`, `output` |
# | 2 | `layer_norm(x, eps=1e-5)` | same shape |
# | | `rms_norm(x, weight, eps=1e-5)` | same shape |
# | | `pre_norm(x, norm, sublayer)` | same shape |
# | 3 | `ffn_relu(x, W1, b1, W2, b2)` | `(..., d_out)` |
# | | `gelu(z)` | same shape |
# | | `swiglu(x, W_gate, W_up, W_down)` | `(..., d_out)` |
# | | `detectors_fired(x, W1, b1)` | `(activations (..., d_ff), used (d_ff,))` |
# | 4 | `block(x, params, mask=None)` | `(..., n, d)` |
# | 5 | `attention_params(d_model, n_heads, n_kv_heads, head_dim)` | int |
# | | `ffn_params(d_model, d_ff, matrices=2)` | int |
# | | `model_params(config)` | int |
# | | `ffn_share(config)` | a fraction |
# | 6 | `attention_flops(n, n_heads, head_dim)` | int |
# | | `projection_flops(n, d_model, n_heads, n_kv_heads, head_dim)` | int |
# | | `score_matrix_bytes(n, n_heads, itemsize=4)` | int |
# | | `bytes_at(parameters, dtype)` | int |
# | | `attention_share(n, d)` | a fraction |
# | 7 | `kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2)` | int |
# | | `concurrent_sequences(free_bytes, context, bytes_per_token)` | int |
# | | `roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second)` | `(compute-bound, bandwidth-bound)` |
# | | `max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2)` | int |
# | 8 | `training_bytes(parameters)` | int |
# | | `activation_bytes(layers, n, d_model, batch=1, itemsize=2)` | int |
# | | `logits_bytes(n, vocab, batch=1, itemsize=4)` | int |
# | | `training_flops(parameters, tokens)` | a number |
# | | `gpu_years(gpu_hours)` | years |
# | 9 | `expand_kv(k, n_rep)` | `(..., h_kv·n_rep, n, w)` |
# | | `kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2)` | mapping `mha`, `gqa`, `mqa` |
# | | `top_k_router(x, W_r, k)` | gates `(..., E)` |
# | | `moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2)` | `(total, active)` |
# | | `moe_bytes(shared, n_experts, per_expert, n_active, itemsize)` | int |
# | 10 | `is_additive(fn, x, y, tolerance=1e-9)` | bool |
# | | `collapse_two_layers(W1, b1, W2, b2)` | `(W, b)` |
# | | `ffn_as_slots(x, W1, b1, W2)` | `(..., d_ff, d_out)` |
# | 11 | `two_key_weight(gap)` | same shape |
# | | `entropy(weights)` | `(...)`, nats |
# | | `scaling_sweep(batches)` | one mapping per batch |
# | 12 | `moved_positions(model, tokens, position)` | `(n,)` |
# | 13 | `linear_backward(X, W, dY)` | `(dW, dX)` |
# | 14 | `rope(x, positions, base=10000.0)` | same shape |
# | | `rope_halves(x, positions, base=10000.0)` | same shape |
# | | `pairing_permutation(d)` | int `(d,)` |
# | | `rope_periods(head_dim, base=10000.0)` | `(head_dim/2,)` |
# | | `alibi_slopes(n_heads)` | `(n_heads,)` |
# | | `alibi_bias(n, slope)` | `(n, n)` |
# | 15 | `same_on_both(fn, device_a, device_b, tolerance=1e-6)` | bool |
#
# **Rules.** If a name is defined twice, the last definition counts. Functions do not change what they are
# given. `...` in a shape means any number of leading axes, none included. A boolean mask says True where a
# query may attend. GB is $10^9$ bytes and GiB is $2^{30}$; a multiply and an add count as two FLOPs. Any
# library may be used in this notebook, a ready-made softmax included.
#
# **Cells that print or draw** start with `if experiment(__name__):`. They run here and when the file is run
# as a script, and not when it is imported or graded. Where a function is not written yet, such a cell says
# so in one line, and *Run all* goes on.
#
# **Stuck?** In a terminal, `attnlab hint multi_head` gives a hint, and `--depth 2` a plainer one.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": false, "locked": true, "task": false, "grade_id": "setup"}
from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attnlab import attempt, check, experiment, progress
from attnlab.chapter import B_1, B_2, DETECTORS, HEAD_2, MODELS, PRINTED, PRINTED_TOLERANCE, TOKENS
from attnlab.chapter import W_1, W_2, W_K, W_O, W_Q, W_V, X
from attnlab.second_device import CPU, STAND_IN

FEATURES = ("animate", "liquid", "action", "bias")
HEADS = ((W_Q, W_K, W_V), HEAD_2)  # the head of section 7.2, and the second one of 7.3
CHAPTER_BLOCK = {"heads": HEADS, "W_o": W_O, "W1": W_1, "b1": B_1, "W2": W_2, "b2": B_2, "norm_first": False}
GPT2_SMALL, GPT2_XL = MODELS["GPT-2 small"], MODELS["GPT-2 XL"]
LLAMA_8B, LLAMA_70B = MODELS["Llama-3-8B"], MODELS["Llama-3-70B"]


def shown(value: Any) -> str:
    """A value as a receipt shows it: whole numbers in full, others to seven digits."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value + 0.0:,.7g}"  # + 0.0 makes -0 a 0


def receipts(title: str) -> None:
    """The heading of a list of receipts."""
    print(f"\n{title:<62} {'yours':>17} {'expected':>15}   compared")


def receipt(what: str, found: Any, expected: Any = None, within: float | None = None) -> None:
    """Print one receipt. `expected` as a text has the digits of the page, and rounding to them is allowed.

    `within` allows more, where the page holds a random sample. A number is expected exactly; without `expected`,
    `found` is of this machine.
    """
    if isinstance(expected, str) and not isinstance(found, str):
        allowed = within if within is not None else 0.5 * 10.0 ** -len(expected.partition(".")[2])
        how, holds = f"within {allowed:g}", abs(found - float(expected.replace(",", ""))) <= allowed
    else:
        how, holds = ("of this machine", True) if expected is None else ("exact", found == expected)
    print(f"{what:<62} {shown(found):>17} {shown(expected):>15}   {how}{'' if holds else '  DIFFERS'}")


def table(title: str, values: Any, columns: Sequence[str], rows: Sequence[str] = TOKENS, printed: str = "") -> None:
    """Print a small matrix, and a receipt against the chapter's table of the name `printed`, if there is one."""
    print(f"\n{title}\n{' ' * 17}" + "".join(f"{name:>10}" for name in columns))
    for name, row in zip(rows, values, strict=True):
        print(f"{name:<17}" + "".join(f"{value + 0.0:10.4f}" for value in row))
    if printed:
        gap = apart(values, PRINTED[printed])
        verdict = "agrees with" if gap <= PRINTED_TOLERANCE else "DIFFERS from"
        print(f"{verdict} the chapter's table within {PRINTED_TOLERANCE:g}, which is what four digits allow")


def apart(one: Any, other: Any) -> float:
    """The largest difference between two arrays."""
    return float(np.max(np.abs(np.subtract(one, other))))


def sheet(panels: int = 1) -> tuple[Any, Any]:
    """A figure with `panels` axes side by side. A notebook shows it below the cell; a script opens no window."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, panels, figsize=(5.4 * panels, 4.0), layout="constrained", squeeze=False)
    return figure, axes[0]


if experiment(__name__):
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}")

# %% [markdown]
# ## Part 1. Two heads
#
# - **Build:** `self_attention` (the lab's; bring yours along), `split_heads`, `merge_heads`, `multi_head`.
# - **Time:** about 30 minutes.
# - **Points:** 6 (self_attention 1, split_heads 1, merge_heads 1, multi_head 3).
# - **Where:** chapter 7.3, from the second head to the projection; article, sections 4 and 7.
#
# **Why more than one head.** A softmax gives each token one set of weights, so one head can follow one
# relation at a time. The chapter's second head asks the opposite of the first: not *who are my arguments*
# but *which verb do I belong to*. Each head has its own three projections, reads the **whole** vector of
# every token, and writes a narrow result. The results are laid side by side and mixed by one more matrix,
# `W_o`, which decides what of each head goes where in the residual stream.
#
# **Slices are contiguous.** In practice all heads are projected at once: one matrix product, whose columns
# are then cut into heads. Head `i` owns the columns `i·w … (i+1)·w − 1`, next to each other, and not every
# `h`-th column. Reshape `(n, h·w)` to `(n, h, w)` *first* and swap the axes `n` and `h` *then*. A reshape
# straight to `(h, n, w)` has the right shape and mixes tokens with heads; no later shape check will find it.
# `merge_heads` undoes it in the opposite order.
#
# **`multi_head`.** `heads` is a sequence of triples `(W_q, W_k, W_v)`. Give back the weights of all heads
# `(..., h, n, n)`, the concatenated results `(..., n, h·d_v)`, and the output. The mask, if there is one, is
# the same for every head.
#
# **Said right.** 32 heads at n = 1,024 make 33,554,432 scores, which is 33.6 million. And the chapter's two
# heads differ for kedi and sütü; içti's rows are nearly the same in both.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "multi_head-self-attention"}
def self_attention(
    X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """One head on `X (..., n, d_model)`: `(output (..., n, d_v), weights (..., n, n))`, as in step 1 of the lab."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("self_attention: bring yours from the lab, with what it calls, or write it again.")
    queries, keys, values = X @ W_q, X @ W_k, X @ W_v
    scores = queries @ np.swapaxes(keys, -1, -2) / math.sqrt(keys.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ values, weights
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "multi_head-split-heads"}
def split_heads(x: np.ndarray, h: int) -> np.ndarray:
    """Cut `x (..., n, h·w)` into `h` heads of neighbouring columns: `(..., h, n, w)` (article, section 7)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("split_heads: cut the last axis into (h, w), then move h before n.")
    *leading, n, width = x.shape
    return np.swapaxes(x.reshape(*leading, n, h, width // h), -2, -3)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "multi_head-merge-heads"}
def merge_heads(x: np.ndarray) -> np.ndarray:
    """Lay the heads of `x (..., h, n, w)` side by side again: `(..., n, h·w)`, the inverse of `split_heads`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("merge_heads: move h behind n, then join (h, w) into one axis.")
    *leading, h, n, width = x.shape
    return np.swapaxes(x, -2, -3).reshape(*leading, n, h * width)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "multi_head-multi-head"}
def multi_head(
    X: np.ndarray,
    heads: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    W_o: np.ndarray,
    mask: np.ndarray | None = None,
) -> Mapping[str, np.ndarray]:
    """Several heads on `X (..., n, d_model)`, concatenated and projected (chapter section 7.3).

    `heads`: triples `W_q`, `W_k (d_model, d_k)`, `W_v (d_model, d_v)`; `W_o (h·d_v, d_model)`; `mask` boolean,
    broadcast to `(..., n, n)`. Gives `weights (..., h, n, n)`, `concatenated (..., n, h·d_v)`, `output
    (..., n, d_model)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("multi_head: run every head, lay the outputs side by side, multiply by W_o.")
    results = [self_attention(X, *head, mask=mask) for head in heads]
    concatenated = merge_heads(np.stack([output for output, _ in results], axis=-3))
    weights = np.stack([weights for _, weights in results], axis=-3)
    return {"weights": weights, "concatenated": concatenated, "output": concatenated @ W_o}
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** one head and the chapter's two heads against its tables, one token
# through three heads, which columns belong to which head, and that merging undoes splitting.
#
# **What it cannot see:** batches, masks, heads of other widths, and whether a head keeps to itself. The
# hidden checks look there.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 6, "grade_id": "multi_head-check"}
check("multi_head")


# %%
if experiment(__name__):
    with attempt("part 1"):
        found = multi_head(X, HEADS, W_O)
        table("head 2, weights", found["weights"][1], TOKENS, printed="head_2_weights")
        reports = ("agent", "object", "action", "noun")
        table("both heads side by side", found["concatenated"], reports, printed="concatenated")
        table("after W_o", found["output"], FEATURES, printed="projected")
        receipts("two heads")
        receipt("kedi's weight on the verb in head 2, percent", 100 * found["weights"][1][0, 2], "92")
        columns = split_heads(np.arange(4096)[np.newaxis], 32)[3, 0]
        receipt("4,096 columns, 32 heads: first column of head 3", columns[0], 384)
        receipt("                         last column of head 3", columns[-1], 511)
        at_once = [np.concatenate([head[i] for head in HEADS], axis=1) for i in range(3)]
        queries, keys, values = (split_heads(X @ W, 2) for W in at_once)
        alone = [X @ matrix for head in HEADS for matrix in head]
        together = [part[i] for i in range(2) for part in (queries, keys, values)]
        gap = max(apart(one, other) for one, other in zip(alone, together, strict=True))
        receipt("one wide projection cut into heads, against a projection each", gap)

# %% [markdown]
# ## Part 2. Residual and norms
#
# - **Build:** `layer_norm`, `rms_norm`, `pre_norm`.
# - **Time:** about 20 minutes.
# - **Points:** 5 (layer_norm 2, rms_norm 2, pre_norm 1).
# - **Where:** chapter 7.3, residual connections and layer normalisation; article, section 8.
#
# **Residual.** A sublayer does not replace a token's vector, it adds a correction to it. One that has
# nothing to say can give zeros, and the vector passes unharmed.
#
# **Layer norm** takes one token at a time: subtract the mean of its own features, divide by their standard
# deviation. The variance is the population's, with `1/d` and not `1/(d − 1)`, and a small `eps` is added to
# it *under the root*, so that a constant row gives zeros and not 0/0. Here without the learned γ and β.
#
# **RMSNorm** leaves the mean alone and divides by the root of the mean square; a learned weight per feature
# follows. Recent open models use it, since nothing was seen to be lost without the mean.
#
# **The order.** Pre-norm puts the norm on the branch: `x + sublayer(norm(x))`. The first `x` is the bare
# one, so a path without any norm leads through the whole stack. `pre_norm` is given two functions.
#
# **Said right.** The chapter's table needs eps = 10⁻⁵, which the text does not give: with eps = 0 six of its
# twelve cells differ in the fourth digit, and the rows have a standard deviation of 1 only up to 2·10⁻⁴. And
# içti's animate value comes out negative because of what it *holds* after the sum (action 0.9585), not of
# what it gained there (action 0.0585).

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "residual_and_norms-layer-norm"}
def layer_norm(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Each row of `x (..., d)` with mean 0 and variance about 1 (chapter section 7.3), without γ and β.

    Population variance; `eps` is added to it under the root.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("layer_norm: subtract the row's mean, divide by the root of its variance plus eps.")
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + eps)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "residual_and_norms-rms-norm"}
def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Each row of `x (..., d)` over the root of its mean square plus `eps`, times `weight (d,)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("rms_norm: the mean of the squares, not the square of the mean; nothing is subtracted.")
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps) * weight
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "residual_and_norms-pre-norm"}
def pre_norm(
    x: np.ndarray, norm: Callable[[np.ndarray], np.ndarray], sublayer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """`x (..., d)` plus what `sublayer` makes of `norm(x)`: the norm sits on the branch, not on the stream."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("pre_norm: norm, then sublayer, then add to the x that came in.")
    return x + sublayer(norm(x))
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** a row for each norm that can be done by hand, so that a forgotten mean,
# root or weight has a name; the chapter's normalised table; and the order of norm, sublayer and sum.
#
# **What it cannot see:** other values of eps, leading axes, rows that are nearly constant, float32.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 5, "grade_id": "residual_and_norms-check"}
check("residual_and_norms")


# %%
if experiment(__name__):
    with attempt("part 2"):
        residual = X + multi_head(X, HEADS, W_O)["output"]
        table("x + MultiHead(x)", residual, FEATURES, printed="residual")
        table("the same, normalised with eps = 1e-5", layer_norm(residual), FEATURES, printed="layer_norm")
        receipts("norms")
        without_eps = layer_norm(residual, eps=0.0)
        moved = np.count_nonzero(without_eps.round(4) != layer_norm(residual).round(4))
        receipt("cells whose fourth digit needs eps = 1e-5, of 12", moved, 6)
        receipt("içti's standard deviation after the norm", layer_norm(residual)[2].std(), "1", within=2e-4)
        ones = np.ones(4)
        length = np.sqrt(np.mean(np.square(rms_norm(residual, ones)[2])))
        receipt("RMSNorm: root of the mean square of içti's row afterwards", length, "1", within=2e-5)
        shifted = residual + 3.0
        receipt("add 3 to every feature: layer norm moves by", apart(layer_norm(shifted), layer_norm(residual)))
        receipt("                        RMSNorm moves by", apart(rms_norm(shifted, ones), rms_norm(residual, ones)))
        silent = pre_norm(residual, layer_norm, np.zeros_like)
        receipt("a sublayer that gives zeros changes the stream by", apart(silent, residual), 0.0)

# %% [markdown]
# ## Part 3. The feed-forward layer
#
# - **Build:** `ffn_relu`, `gelu`, `swiglu`, `detectors_fired`.
# - **Time:** about 25 minutes.
# - **Points:** 6 (ffn_relu 2, gelu 1, swiglu 2, detectors_fired 1).
# - **Where:** chapter 7.3, from the feed-forward sublayer to the block's output; article, section 9.
#
# **Why.** Given its weights, attention averages. What no token carries, no average can hold. The
# feed-forward layer works on one token at a time and bends: wider, a nonlinearity, narrow again.
#
# **A detector** is one column of `W1` with its bias as a threshold: it *fires* when the row's product with
# the column exceeds that threshold, and its row of `W2` is what it then adds. With ReLU everything else is
# exactly zero. `detectors_fired` gives the activations and, for each detector, whether any row at all made
# it fire (that is, gave an activation above zero).
#
# **Two other bends.** GELU multiplies `z` by Φ(z), the chance that a standard normal number lies below `z`;
# `math.erf` or `torch.special.erf` gives you Φ. (GPT-2's own code uses a formula with tanh which stays
# within 0.0005 of it; it is accepted. The shorter one with a logistic curve and 1.702 is not.) SwiGLU has
# no bend of its own but a gate: `silu(x W_gate)`, where `silu(z)` is `z` times the logistic function of
# `z`, says how much, `x W_up` says what, entry by entry; then `W_down`.
#
# **Said right.** Not every detector of the chapter writes into what it asks about: *animate + liquid*
# writes nothing into action, and *constant* writes nothing at all. GPT-2 bends with GELU, not ReLU.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "feed_forward-ffn-relu"}
def ffn_relu(x: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The feed-forward layer with ReLU (chapter section 7.3), row by row.

    `x (..., d)`, `W1 (d, d_ff)`, `b1 (d_ff,)`, `W2 (d_ff, d_out)`, `b2 (d_out,)`; gives `(..., d_out)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("ffn_relu: first layer with its bias, zero what is negative, second layer with its bias.")
    return np.maximum(x @ W1 + b1, 0.0) @ W2 + b2
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "feed_forward-gelu"}
def gelu(z: np.ndarray) -> np.ndarray:
    """`z` times the standard normal distribution function at `z`, entry by entry, for any shape."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("gelu: the distribution function is (1 + erf(z / √2)) / 2.")
    below = 0.5 * (1.0 + np.vectorize(math.erf, otypes=[float])(z / math.sqrt(2.0)))
    return z * below
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "feed_forward-swiglu"}
def swiglu(x: np.ndarray, W_gate: np.ndarray, W_up: np.ndarray, W_down: np.ndarray) -> np.ndarray:
    """The gated feed-forward layer (chapter section 7.3; article, section 9), without biases.

    `x (..., d)`, `W_gate` and `W_up (d, d_ff)`, `W_down (d_ff, d_out)`; gives `(..., d_out)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("swiglu: silu of one projection, times the other projection, times W_down.")
    gate = x @ W_gate
    logistic = 0.5 * (1.0 + np.tanh(0.5 * gate))  # 1 / (1 + exp(-gate)), without an overflow for large gates
    return (gate * logistic * (x @ W_up)) @ W_down
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "feed_forward-detectors-fired"}
def detectors_fired(x: np.ndarray, W1: np.ndarray, b1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`(activations, used)` of a first layer with ReLU on `x (..., d)`.

    `activations (..., d_ff)`; `used (d_ff,)` is boolean, True where the detector fires for at least one row.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("detectors_fired: the activations after ReLU, and which columns are above zero anywhere.")
    activations = np.maximum(x @ W1 + b1, 0.0)
    used = (activations > 0).reshape(-1, activations.shape[-1]).any(axis=0)
    return activations, used
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** a layer of two rows on paper, GELU on both sides of zero, a gate that is
# shut, open and half open, and the chapter's detector table.
#
# **What it cannot see:** other widths and leading axes, very large gates, and inputs that are changed.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 6, "grade_id": "feed_forward-check"}
check("feed_forward")


# %%
if experiment(__name__):
    with attempt("part 3"):
        residual = X + multi_head(X, HEADS, W_O)["output"]
        rows = layer_norm(residual)
        activations, used = detectors_fired(rows, W_1, B_1)
        table("what each detector says", np.transpose(activations), TOKENS, rows=DETECTORS, printed="detectors")
        written = pre_norm(residual, layer_norm, lambda normed: ffn_relu(normed, W_1, B_1, W_2, B_2))
        table("x + FFN(LN(x))", written, FEATURES, printed="block")
        receipts("the feed-forward layer")
        never = [DETECTORS[i] for i in np.flatnonzero(~np.asarray(used))]
        receipt("detectors that fire for no token: " + ", ".join(never), len(never), 3)
        receipt("içti misses animate + action by", -(rows[2] @ W_1[:, 0] + B_1[0]), "0.066")
        raw = layer_norm(X)[2] @ W_1[:, 1] + B_1[1]
        receipt("içti's liquid + action before attention, normalised", raw, "-0.20")
        receipt("GELU of 1: how often a normal number is below 1", gelu(np.array([1.0]))[0], "0.8413", within=1e-3)
        rng = np.random.default_rng(9)
        gate, up, down = (rng.standard_normal(shape) for shape in ((4, 6), (4, 6), (6, 4)))
        receipt("SwiGLU with a gate of zeros: largest output", apart(swiglu(rows, 0 * gate, up, down), 0.0), 0.0)

# %% [markdown]
# ## Part 4. The whole block
#
# - **Build:** `block`.
# - **Time:** about 15 minutes.
# - **Points:** 4.
# - **Where:** chapter 7.3, the whole block; article, section 8.
#
# **What goes where.** Attention first, then the feed-forward layer, each added to the stream, each with a
# layer norm on its branch. The chapter's worked example leaves out the *first* norm, to keep its numbers
# legible; a real pre-norm block has both. So `params["norm_first"]` says whether there is a norm before
# attention. The other keys are those of the functions above: `heads`, `W_o`, `W1`, `b1`, `W2`, `b2`.
#
# A mask goes to attention. No other line of a block may let one token see another.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "whole_block-block"}
def block(x: np.ndarray, params: Mapping[str, Any], mask: np.ndarray | None = None) -> np.ndarray:
    """One transformer block on `x (..., n, d)` (chapter section 7.3); gives `(..., n, d)`.

    `params`: `heads` and `W_o` as in `multi_head`; `W1`, `b1`, `W2`, `b2` as in `ffn_relu`; `norm_first`, whether
    a layer norm (eps 1e-5, no γ and β) stands before attention. One always stands before the feed-forward layer.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("block: add attention to the stream, then add the feed-forward layer of the normalised stream.")
    def attend(rows: np.ndarray) -> np.ndarray:
        return multi_head(rows, params["heads"], params["W_o"], mask=mask)["output"]

    def feed_forward(rows: np.ndarray) -> np.ndarray:
        return ffn_relu(rows, *(params[name] for name in ("W1", "b1", "W2", "b2")))

    attended = pre_norm(x, layer_norm, attend) if params["norm_first"] else x + attend(x)
    return pre_norm(attended, layer_norm, feed_forward)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the chapter's last table, and one token by hand with and without the
# first norm.
#
# **What it cannot see:** masks, batches, other shapes, and a block whose parts are right one by one and
# are put together in another order. The hidden checks give your `block` right parts where yours are not.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 4, "grade_id": "whole_block-check"}
check("whole_block")


# %%
if experiment(__name__):
    with attempt("part 4"):
        leaves = block(X, CHAPTER_BLOCK)
        table("what leaves the block", leaves, FEATURES, printed="block")
        receipts("the block")
        for feature, value, printed in zip(FEATURES, leaves[2], ("0.6438", "1.1810", "1.6654", "0.5"), strict=True):
            receipt(f"içti leaves with {feature}", value, printed)
        lengths = np.linalg.norm(leaves, axis=1)
        receipt("length of every token when it enters", np.linalg.norm(X, axis=1)[0], "1.03")
        receipt("shortest when it leaves", lengths.min(), "2.2")
        receipt("longest when it leaves", lengths.max(), "2.7")

# %% [markdown]
# ## Part 5. Parameters
#
# - **Build:** `attention_params`, `ffn_params`, `model_params`, `ffn_share`.
# - **Time:** about 25 minutes.
# - **Points:** 7 (attention_params 2, ffn_params 1, model_params 3, ffn_share 1).
# - **Where:** chapter 7.3, where the parameters live; article, sections 5, 9 and 13.
#
# **Attention.** Four matrices: queries and output are as wide as all query heads together, keys and values
# as wide as all KV heads together. The number of heads matters only through these widths. Biases are
# counted elsewhere.
#
# **A whole model.** `config` is a mapping:
#
# | key | |
# |---|---|
# | `vocab`, `d_model`, `layers` | the table of tokens, the width, the number of blocks |
# | `positions` | rows of a learned position table; 0 where there is none |
# | `n_heads`, `n_kv_heads`, `head_dim` | attention |
# | `d_ff`, `ffn_matrices` | width of the feed-forward layer; 2 (up, down) or 3 (gate, up, down) |
# | `biases` | whether every matrix of attention and feed-forward has one, as wide as its output |
# | `norm` | `"layer"`: γ and β; `"rms"`: γ alone. Two norms in a block and one after the last block |
# | `tied` | whether the output uses the input's token table; if not, there is a second one of that size |
#
# With every term in it, the count is exact, and GPT-2 small's published number comes out to the last digit.
#
# **The share** of the feed-forward matrices in one block is taken of its attention and feed-forward
# matrices, without biases and norms.
#
# **Said right.** Two thirds is the share of the old shape (4 d² of attention, 8 d² of feed-forward), not of
# every block. Llama 3's 14,336 is 3.5 d and not 8/3 d, which would be about 10,923. And d_model =
# n_heads × head_dim is a habit: Gemma 7B has 16 × 256 = 4,096 on a width of 3,072, so take `head_dim` from
# the configuration and compute nothing from it.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "parameters-attention-params"}
def attention_params(d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """Weights of the four matrices of one attention layer, without biases (chapter section 7.3)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("attention_params: W_q and W_o have n_heads heads, W_k and W_v have n_kv_heads.")
    queries_and_output = 2 * d_model * n_heads * head_dim
    keys_and_values = 2 * d_model * n_kv_heads * head_dim
    return queries_and_output + keys_and_values
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "parameters-ffn-params"}
def ffn_params(d_model: int, d_ff: int, matrices: int = 2) -> int:
    """Weights of one feed-forward layer of 2 or, with a gate, 3 matrices, without biases."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("ffn_params: every matrix joins d_model and d_ff.")
    return matrices * d_model * d_ff
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "parameters-model-params"}
def model_params(config: Mapping[str, Any]) -> int:
    """Every parameter of a decoder: token and position tables, blocks with norms and biases, the last norm.

    `config` has the keys of the table above.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("model_params: tables, then layers times one block, then one more norm.")
    width, hidden, matrices = config["d_model"], config["d_ff"], config["ffn_matrices"]
    n_heads, n_kv_heads, head_dim = config["n_heads"], config["n_kv_heads"], config["head_dim"]
    tables = width * (config["vocab"] * (1 if config["tied"] else 2) + config["positions"])
    norm = width * (2 if config["norm"] == "layer" else 1)
    one_block = attention_params(width, n_heads, n_kv_heads, head_dim) + ffn_params(width, hidden, matrices=matrices)
    one_block += 2 * norm
    if config["biases"]:
        one_block += (n_heads + 2 * n_kv_heads) * head_dim + width  # queries, keys, values; output
        one_block += (matrices - 1) * hidden + width  # what widens; what narrows
    return tables + config["layers"] * one_block + norm
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "parameters-ffn-share"}
def ffn_share(config: Mapping[str, Any]) -> float:
    """The fraction of a block's attention and feed-forward matrices that is feed-forward, between 0 and 1."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("ffn_share: feed-forward weights over feed-forward plus attention weights.")
    ffn = ffn_params(config["d_model"], config["d_ff"], matrices=config["ffn_matrices"])
    attention = attention_params(*(config[key] for key in ("d_model", "n_heads", "n_kv_heads", "head_dim")))
    return ffn / (ffn + attention)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the numbers in print, and a tiny model that can be counted on paper.
#
# **What it cannot see:** other configurations, where two mistakes that cancel in print do not cancel:
# untied tables with a learned position table, biases with few KV heads or with three matrices, RMSNorm
# with biases.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 7, "grade_id": "parameters-check"}
check("parameters")


# %%
if experiment(__name__):
    with attempt("part 5"):
        receipts("one attention layer, one feed-forward layer")
        for width, attention, ffn in ((768, 2_359_296, 4_718_592), (4096, 67_108_864, 134_217_728)):
            receipt(f"d = {width:,}: attention, full width", attention_params(width, 1, 1, width), attention)
            receipt(f"d = {width:,}: feed-forward of 4 d", ffn_params(width, 4 * width), ffn)
        receipt("Llama-3-8B: attention with 8 KV heads, M", attention_params(4096, 32, 8, 128) / 1e6, "41.9")
        receipt("Llama-3-8B: feed-forward, three matrices, M", ffn_params(4096, 14336, matrices=3) / 1e6, "176.2")
        receipt("Llama 2 7B: feed-forward over d², d_ff = 11,008", ffn_params(4096, 11008, matrices=3) / 4096**2, "8.1")
        receipts("whole models")
        receipt("GPT-2 small", model_params(GPT2_SMALL), 124_439_808)
        bare = {**GPT2_SMALL, "biases": False}
        receipt("GPT-2 small, the biases' part of it", model_params(GPT2_SMALL) - model_params(bare), 36_864 + 46_080)
        receipt("Llama-3-8B, two token tables, billions", model_params(LLAMA_8B) / 1e9, "8.030")
        one_table = {**LLAMA_8B, "tied": True}
        receipt("Llama-3-8B, if it were one table, billions", model_params(one_table) / 1e9, "7.505")
        receipts("share of the feed-forward matrices in a block, percent")
        for name, printed in (("GPT-2 XL", "67"), ("Llama-3-8B", "81"), ("Llama-3-70B", "82")):
            receipt(name, 100 * ffn_share(MODELS[name]), printed)

        figure, (axes,) = sheet()
        kinds = ("token and position tables", "attention", "feed-forward", "norms and biases (too few to see)")
        looks = (("0.95", ""), ("0.75", "//"), ("0.5", ".."), ("0.1", ""))
        words = {"ha": "center", "va": "center", "backgroundcolor": "white", "fontsize": 9}
        for row, config in enumerate(MODELS.values()):
            tables = model_params({**config, "layers": 0})  # and the last norm, which is too thin to be seen
            layers, width, heads = config["layers"], config["d_model"], (config["n_heads"], config["n_kv_heads"])
            attention = layers * attention_params(width, *heads, config["head_dim"])
            ffn = layers * ffn_params(width, config["d_ff"], matrices=config["ffn_matrices"])
            counts = (tables, attention, ffn, model_params(config) - tables - attention - ffn)
            left = 0.0
            for kind, count, (grey, hatch) in zip(kinds, counts, looks, strict=True):
                percent = 100 * count / sum(counts)
                label = "" if row else kind
                axes.barh(row, percent, left=left, color=grey, hatch=hatch, edgecolor="black", label=label)
                if percent > 6:
                    axes.text(left + percent / 2, row, f"{percent:.0f}%", **words)
                left += percent
        axes.set(title="Where the parameters are", xlabel="share of all parameters (%)")
        axes.set_yticks(range(len(MODELS)), MODELS)
        axes.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=8)

# %% [markdown]
# ## Part 6. FLOPs and bytes
#
# - **Build:** `attention_flops`, `projection_flops`, `score_matrix_bytes`, `bytes_at`, `attention_share`.
# - **Time:** about 20 minutes.
# - **Points:** 5 (attention_flops 1, projection_flops 1, score_matrix_bytes 1, bytes_at 1, attention_share 1).
# - **Where:** chapter 7.6, when the quadratic term dominates; article, section 5.
#
# **One rule.** A product of `(a, b)` with `(b, c)` has a·c results, each of b multiplications and b additions:
# 2·a·b·c FLOPs. Count operations, not time.
#
# **Three products.** Projections: every weight is used once per token. Scores: every query with every key,
# in every head. Mixing: every weight with a value, the same count again. `attention_flops` is scores *and*
# mixing, for all heads.
#
# **Bytes.** The score matrix has one number per head and pair of tokens; the article counts 4 bytes, for one
# layer. `bytes_at` knows `"fp32"`, `"bf16"`, `"fp16"`, `"fp8"`, `"int8"` and `"int4"`, where two numbers
# share a byte.
#
# **The share** of scores and mixing in a block of the old shape (full width, d_ff = 4 d): projections and
# feed-forward take 24 n d², scores and mixing 4 n² d. Half is reached at n = 6 d.
#
# **Said right.** The article's 6% at 1,024 tokens is one of the two quadratic products; together they are
# 11.1% of the attention layer. They do not take over at n = d, where they are a seventh of a block: the
# attention layer alone is even at 2 d, the block at 6 d. Below 6 d, what makes up more than half is
# projections *and* feed-forward; the feed-forward layer alone falls under half at 2 d.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "flops_and_bytes-attention-flops"}
def attention_flops(n: int, n_heads: int, head_dim: int) -> int:
    """FLOPs of scores and weighted sums in one layer: `n` queries, `n` keys, no mask, softmax left out."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("attention_flops: two products of 2 n² head_dim in each head.")
    scores = mixing = 2 * n * n * head_dim
    return n_heads * (scores + mixing)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "flops_and_bytes-projection-flops"}
def projection_flops(n: int, d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """FLOPs of the four projections of one attention layer for `n` tokens."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("projection_flops: each weight makes one multiply-add per token.")
    return 2 * n * attention_params(d_model, n_heads, n_kv_heads, head_dim)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "flops_and_bytes-score-matrix-bytes"}
def score_matrix_bytes(n: int, n_heads: int, itemsize: int = 4) -> int:
    """Bytes of the scores of one layer, `(n_heads, n, n)` (article, section 5)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("score_matrix_bytes: one number per head and pair of tokens.")
    return n_heads * n**2 * itemsize
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "flops_and_bytes-bytes-at"}
def bytes_at(parameters: int, dtype: str) -> int:
    """Bytes of that many numbers, an even one, in `"fp32"`, `"bf16"`, `"fp16"`, `"fp8"`, `"int8"` or `"int4"`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("bytes_at: the digits in the name are bits; int4 has two numbers in a byte.")
    bits = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}[dtype]
    return parameters * bits // 8
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "flops_and_bytes-attention-share"}
def attention_share(n: int, d: int) -> float:
    """The fraction of a block's FLOPs that is scores and mixing, for full-width attention and d_ff = 4 d."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("attention_share: 4 n² d over 4 n² d plus 24 n d².")
    return n / (n + 6 * d)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the numbers in print, and that every argument counts.
#
# **What it cannot see:** head counts and widths that do not multiply to d_model, and other lengths.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 5, "grade_id": "flops_and_bytes-check"}
check("flops_and_bytes")


# %%
if experiment(__name__):
    with attempt("part 6"):
        receipts("one attention layer, 1,024 tokens, 32 heads of 128, GFLOP")
        projections, quadratic = projection_flops(1024, 4096, 32, 32, 128), attention_flops(1024, 32, 128)
        receipt("four projections", projections / 1e9, "137.4")
        receipt("scores: half of attention_flops", quadratic / 2e9, "8.6")
        receipt("mixing: the other half", quadratic / 2e9, "8.6")
        receipt("share of the projections, percent", 100 * projections / (projections + quadratic), "89")
        receipt("share of both quadratic products, percent", 100 * quadratic / (projections + quadratic), "11.1")
        grouped = projection_flops(1024, 4096, 32, 8, 128)
        receipt("projections with 8 KV heads instead of 32, percent", 100 * grouped / projections, 62.5)
        receipt("one head of 4,096 instead of 32 of 128", attention_flops(1024, 1, 4096), quadratic)
        receipts("score matrix of one layer, fp32, 32 heads")
        sizes = {"MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
        for n, printed, unit in ((1024, 128, "MiB"), (8192, 8, "GiB"), (32768, 128, "GiB"), (131072, 2, "TiB")):
            receipt(f"n = {n:,}, {unit}", score_matrix_bytes(n, 32) / sizes[unit], float(printed))
        receipts("8.03 billion weights, GB")
        for dtype, printed in (("fp32", "32.1"), ("bf16", "16.1"), ("int8", "8.0"), ("int4", "4.0")):
            receipt(dtype, bytes_at(8_030_000_000, dtype) / 1e9, printed)
        receipts("share of scores and mixing in a block, percent")
        for d, n, printed in ((768, 1024, "18"), (768, 32768, "88"), (4096, 4096, "14"), (4096, 100_000, "80")):
            receipt(f"d = {d:,}, n = {n:,}", 100 * attention_share(n, d), printed)
        for d in (768, 4096):
            receipt(f"d = {d:,}, n = 6 d = {6 * d:,}", 100 * attention_share(6 * d, d), 50.0)

# %% [markdown]
# ## Part 7. Serving
#
# - **Build:** `kv_bytes_per_token`, `concurrent_sequences`, `roofline_tokens_per_second`, `max_context`, and
#   one paragraph in words.
# - **Time:** about 45 minutes.
# - **Points:** 10 (kv_bytes_per_token 1, concurrent_sequences 1, roofline_tokens_per_second 2, max_context 2,
#   and 4 for the paragraph, which a person reads).
# - **Where:** chapter 7.6, the KV cache; article, section 6.
#
# **The cache.** Every token that a model has read leaves keys and values behind, in every layer and for every
# KV head. Query heads do not appear in that count. What is left of a card after the weights, divided by the
# cache of one sequence, is how many people it can serve; a sequence that does not fit whole does not count.
#
# **Two meters.** One decode step of a single stream uses each weight for one multiply-add and moves each
# weight once. The arithmetic alone would allow one rate, the traffic alone another. Both go on at the same
# time, so the lower rate is the limit. `roofline_tokens_per_second` gives both.
#
# **The same formula, turned around.** `max_context`: a node, its weights (loaded once), so many users with a
# cache each. How many whole tokens can each of them have?
#
# **Said right.** The article's 58 GB are 77 − 16.06 − 3 for something that it does not name; with the exact
# 57.94 GB a whole 54th sequence does not fit. And a decode step reads *one row* of the input embedding, so
# it moves 15.0 GB and not 16.1: 223 tokens a second instead of 209.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "serving-kv-bytes-per-token"}
def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    """Bytes that one token adds to the KV cache of one sequence (article, section 6)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("kv_bytes_per_token: keys and values, in every layer, for every KV head.")
    return 2 * layers * kv_heads * head_dim * itemsize
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "serving-concurrent-sequences"}
def concurrent_sequences(free_bytes: int, context: int, bytes_per_token: int) -> int:
    """How many whole sequences of `context` tokens have room in `free_bytes` of cache."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("concurrent_sequences: divide by the cache of one sequence, and round down.")
    return int(free_bytes // (context * bytes_per_token))
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "serving-roofline-tokens-per-second"}
def roofline_tokens_per_second(
    parameters: int, itemsize: float, flops_per_second: float, bytes_per_second: float
) -> tuple[float, float]:
    """`(compute_bound, bandwidth_bound)`: tokens a second of one stream, if only that resource counted.

    `itemsize` is bytes per parameter. A token takes 2 FLOPs for every parameter and moves every parameter once.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("roofline_tokens_per_second: what a second provides over what a token takes, twice.")
    compute_bound = flops_per_second / (2 * parameters)
    bandwidth_bound = bytes_per_second / (parameters * itemsize)
    return compute_bound, bandwidth_bound
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "serving-max-context"}
def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """Whole tokens of context for each of `users`, in the memory that the weights leave (chapter, exercise 9)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("max_context: free memory, over users, over the cache of a token, rounded down.")
    per_token = kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=itemsize)
    return int((memory_bytes - weight_bytes) // (users * per_token))
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the numbers in print, that parts of a sequence or of a token do not
# count, and that memory which is exactly full is enough.
#
# **What it cannot see:** other models, cards and numbers of bytes, and your paragraph.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 6, "grade_id": "serving-check"}
check("serving")


# %%
if experiment(__name__):
    with attempt("part 7"):
        receipts("Llama-3-8B, bf16")
        per_token = kv_bytes_per_token(32, 8, 128)
        receipt("cache of one token, KiB", per_token // 1024, 128)
        receipt("the same with 32 KV heads, KiB", kv_bytes_per_token(32, 32, 128) // 1024, 512)
        receipt("cache of 8,192 tokens, GiB", 8192 * per_token / 2**30, 1.0)
        free = 58_000_000_000
        receipt("tokens of cache in 58 GB, thousands", free / per_token / 1e3, "442", within=1)
        for context, printed in ((8192, 54), (32768, 13), (131072, 3)):
            receipt(f"sequences of {context:,} tokens in 58 GB", concurrent_sequences(free, context, per_token), printed)
        receipt("sequences of 8,192 tokens in 57.94 GB", concurrent_sequences(57_940_000_000, 8192, per_token), 53)
        receipts("one stream, 8.03 billion weights in bf16, tokens a second")
        CARDS = {"A100 80GB": (312e12, 2.04e12), "H100 80GB": (990e12, 3.35e12)}  # FLOP/s in bf16, bytes a second
        for name, printed in (("A100 80GB", ("19,427", "127")), ("H100 80GB", ("61,644", "209"))):
            rates = roofline_tokens_per_second(8_030_000_000, 2, *CARDS[name])
            for what, rate, value in zip(("by arithmetic", "by bandwidth"), rates, printed, strict=True):
                receipt(f"{name}, {what}", rate, value)
        receipts("tokens for each of 4 users, 320 GB node, 140 GB of weights")
        for kv_heads, printed in ((64, 17_166), (8, 137_329)):
            found = max_context(320 * 10**9, 140 * 10**9, 4, 80, kv_heads, 128)
            receipt(f"80 layers, {kv_heads} KV heads of 128", found, printed)

        figure, (axes,) = sheet()
        intensity = np.geomspace(0.25, 2000, 200)  # FLOPs for each byte moved
        for (name, (flops, bandwidth)), line in zip(CARDS.items(), ("k--", "k-"), strict=True):
            axes.loglog(intensity, np.minimum(flops, intensity * bandwidth) / 1e12, line, label=name)
        for batch, marker in ((1, "o"), (64, "s"), (512, "^")):  # bf16: 2 FLOPs and 2 bytes for each weight
            height = min(CARDS["H100 80GB"][0], batch * CARDS["H100 80GB"][1]) / 1e12
            axes.plot(batch, height, marker, color="0.45", markersize=9, label=f"decoding on the H100, batch {batch}")
        axes.set(title="Roofline: peak rates, caches left out")
        axes.set(xlabel="FLOPs for each byte of weights moved", ylabel="TFLOP/s within reach")
        axes.grid(visible=True, which="major", color="0.85")
        axes.legend(fontsize=8)

# %% [markdown]
# ### In words (4 points, read by a person)
#
# Somebody wants to offer an 8B model in bf16 on one H100 and asks you two things: how many people can use it
# at once with 8k of context, and how fast will it write? Answer in one paragraph, with numbers from above.
# Say what limits each of the two, which of the two rates of the roofline to plan with and why, what changes
# when 64 streams are decoded together and what does not, and one thing that these numbers leave out.

# %% [markdown] nbgrader={"schema_version": 3, "grade": true, "solution": true, "locked": false, "task": false, "points": 4, "grade_id": "serving-what-binds"}
# BEGIN SOLUTION
# SKELETON: *Your answer here.*
# How many: the weights are there once, 16.06 GB, whoever is served. On top comes a cache for each
# conversation, 128 KiB a token or 1 GiB at 8k. About 58 GB are left for that, so 54 conversations fit. It is
# the caches that fill the card; at 128k the same room holds 3.
#
# How fast: to write one token, a single stream has every weight brought from memory, 16.06 GB, and spends
# one multiplication and one addition on each. The card could do that arithmetic 61,644 times a second and
# can bring those bytes 209 times a second. Both go on at once and the slower one decides, so 209 is the
# number to plan with, as a ceiling.
#
# With 64 streams the weights are brought once and used 64 times, so the arithmetic for each byte rises 64
# times and all streams together may come to 64 × 209 tokens a second; bandwidth is still the limit. What
# does not shrink is the cache: each stream has its own, and reads it at every step. At 2k tokens each, 64
# caches are 17 GB, as much traffic as the weights again, and at 8k they would not even fit.
#
# Left out: these cache reads, the prefill, fragmentation, and kernels that stay below the peak. Each of them
# makes the real number smaller. (That the input embedding is a lookup makes it 7% larger.)
# END SOLUTION

# %% [markdown]
# ## Part 8. Training
#
# - **Build:** `training_bytes`, `activation_bytes`, `logits_bytes`, `training_flops`, `gpu_years`.
# - **Time:** about 15 minutes.
# - **Points:** 5 (training_bytes 1, activation_bytes 1, logits_bytes 1, training_flops 1, gpu_years 1).
# - **Where:** chapter 7.8; article, section 6.
#
# **State.** Mixed precision with Adam keeps five numbers for each parameter: weight and gradient in bf16, and
# a master copy and two moments in fp32. 2 + 2 + 4 + 4 + 4 bytes.
#
# **Activations.** The backward pass needs what the forward pass computed. With checkpointing only the input
# of each block is kept, `(batch, n, d_model)`, and the rest is computed again. And the last layer makes a
# row of `vocab` logits for *every* position, in fp32.
#
# **Arithmetic.** 2 FLOPs for each parameter and token forward, 4 backward (part 13 says why): 6 N D.
#
# **Said right.** A second forward pass makes a step a third more expensive, not 30%. 2.1 GB of logits exceed
# the other activations only with checkpointing; without it the middle of the feed-forward layers alone takes
# 3.8 GB. Gopher and Chinchilla had "the same budget" by their authors' own count; 6 N D with the printed
# figures gives 5.04·10²³ and 5.88·10²³.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "training-training-bytes"}
def training_bytes(parameters: int) -> int:
    """Bytes of weights, gradients, master copy and both moments: bf16 for the first two, fp32 for the others."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("training_bytes: add up the bytes that one parameter needs.")
    return (2 + 2 + 4 + 4 + 4) * parameters
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "training-activation-bytes"}
def activation_bytes(layers: int, n: int, d_model: int, batch: int = 1, itemsize: int = 2) -> int:
    """Bytes of what checkpointing keeps: the input `(batch, n, d_model)` of each block."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("activation_bytes: one tensor for each block.")
    return layers * batch * n * d_model * itemsize
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "training-logits-bytes"}
def logits_bytes(n: int, vocab: int, batch: int = 1, itemsize: int = 4) -> int:
    """Bytes of one copy of the logits `(batch, n, vocab)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("logits_bytes: a number for each position and each id of the vocabulary.")
    return batch * n * vocab * itemsize
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "training-training-flops"}
def training_flops(parameters: float, tokens: float) -> float:
    """FLOPs of training on that many tokens, forward and backward, by the rule of six."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("training_flops: 2 forward and 4 backward, for each parameter and token.")
    return (2 + 4) * parameters * tokens
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "training-gpu-years"}
def gpu_years(gpu_hours: float) -> float:
    """Years that one card would need, at 365.25 days a year."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("gpu_years: hours over the hours of a year.")
    return gpu_hours / (365.25 * 24)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the numbers in print, and that every argument counts.
#
# **What it cannot see:** other sizes.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 5, "grade_id": "training-check"}
check("training")


# %%
if experiment(__name__):
    with attempt("part 8"):
        size = 8_030_000_000
        receipts("training an 8B model")
        receipt("weights, gradients, optimizer, GB", training_bytes(size) / 1e9, "128.5")
        receipt("over 77 GB by, GB", training_bytes(size) / 1e9 - 77, "51")
        receipt("checkpointed activations, 4,096 tokens, GB", activation_bytes(32, 4096, 4096) / 1e9, "1.1")
        receipt("one copy of the logits, 4,096 tokens, GB", logits_bytes(4096, 128_256) / 1e9, "2.1")
        receipt("one row of logits, kB", logits_bytes(1, 128_256) / 1e3, "513")
        receipt("FLOPs for one token, G", training_flops(size, 1) / 1e9, "48.2")
        receipt("FLOPs for 15 trillion tokens, 1e23", training_flops(size, 15e12) / 1e23, "7.2")
        receipt("1.3 million GPU-hours in years", gpu_years(1.3e6), "148")
        receipts("two models of chapter 7.8, 6 N D in 1e23")
        receipt("Gopher, 280B on 300B tokens", training_flops(280e9, 300e9) / 1e23, "5.04")
        receipt("Chinchilla, 70B on 1.4T tokens", training_flops(70e9, 1.4e12) / 1e23, "5.88")

# %% [markdown]
# ## Part 9. GQA, MQA and MoE
#
# - **Build:** `expand_kv`, `kv_table`, `top_k_router`, `moe_params`, `moe_bytes`.
# - **Time:** about 35 minutes.
# - **Points:** 8 (expand_kv 2, kv_table 1, top_k_router 2, moe_params 2, moe_bytes 1).
# - **Where:** chapter 7.6, GQA and MQA, and 7.7; article, section 7.
#
# **Fewer KV heads.** With grouped queries, several query heads share one head of keys and values. The cache
# holds the few; before the product they are repeated. The groups are *neighbours*: with two KV heads and
# four query heads the order is 0, 0, 1, 1. Tiling gives 0, 1, 0, 1, which has the right shape and pairs the
# wrong heads. `kv_table` gives the bytes of one sequence's cache for the three designs: all heads (`mha`),
# `n_kv_heads` of them (`gqa`), one (`mqa`).
#
# **Experts.** A router is one matrix: scores `x W_r`, one for each expert. The best `k` run, with gates that
# are the softmax *of those k scores alone*. `top_k_router` gives all `E` gates, zero for the others. (No
# two scores are equal in what is checked.)
#
# **Two sizes.** All experts have to be in memory; `k` of them work on a token. `moe_params` gives `(total,
# active)` as the chapter counts: full-width attention (4 d²) and the experts' matrices, for all layers,
# without embeddings, norms and router. `moe_bytes` is what must be resident; `n_active` is among its
# arguments because people are tempted to use it.
#
# **Said right.** 10.7 GB is an eighth of the 85.9 GB cache, and more than an eighth of an 80 GB card. GQA
# saves nothing on scores and mixing, but its projections do get cheaper (part 6: to 62.5%).

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gqa_mqa_moe-expand-kv"}
def expand_kv(k: np.ndarray, n_rep: int) -> np.ndarray:
    """Repeat each KV head of `k (..., h_kv, n, w)` for its `n_rep` query heads: `(..., h_kv·n_rep, n, w)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("expand_kv: every head n_rep times in a row, along the axis of heads.")
    return np.repeat(k, n_rep, axis=-3)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gqa_mqa_moe-kv-table"}
def kv_table(
    layers: int, n_heads: int, n_kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2
) -> Mapping[str, int]:
    """Bytes of the KV cache of one sequence of `tokens` with `mha`, `gqa` and `mqa` (chapter section 7.6)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("kv_table: the same count with n_heads, n_kv_heads and 1 KV head.")
    kept = {"mha": n_heads, "gqa": n_kv_heads, "mqa": 1}
    one = tokens * kv_bytes_per_token(layers, 1, head_dim, itemsize=itemsize)  # with a single KV head
    return {name: heads * one for name, heads in kept.items()}
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gqa_mqa_moe-top-k-router"}
def top_k_router(x: np.ndarray, W_r: np.ndarray, k: int) -> np.ndarray:
    """Gates `(..., E)` of `x (..., d)` for the router `W_r (d, E)`: softmax over the `k` best, 0 elsewhere."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("top_k_router: choose the k largest scores of each row, and softmax over these alone.")
    scores = x @ W_r
    chosen = np.argsort(scores, axis=-1)[..., -k:]
    best = np.take_along_axis(scores, chosen, axis=-1)
    shares = np.exp(best - best.max(axis=-1, keepdims=True))
    gates = np.zeros(scores.shape)
    np.put_along_axis(gates, chosen, shares / shares.sum(axis=-1, keepdims=True), axis=-1)
    return gates
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gqa_mqa_moe-moe-params"}
def moe_params(
    d_model: int, d_ff: int, layers: int, n_experts: int, top_k: int, matrices: int = 2
) -> tuple[int, int]:
    """`(total, active)`: weights that a mixture of experts holds, and those that one token meets (section 7.7).

    Attention of 4 d_model², experts of `matrices` matrices; no embeddings, norms, biases, and no router.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("moe_params: attention once per layer, plus all experts or top_k of them.")
    attention, expert = attention_params(d_model, 1, 1, d_model), ffn_params(d_model, d_ff, matrices=matrices)
    return layers * (attention + n_experts * expert), layers * (attention + top_k * expert)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "gqa_mqa_moe-moe-bytes"}
def moe_bytes(shared: int, n_experts: int, per_expert: int, n_active: int, itemsize: int) -> int:
    """Bytes that must be resident: `shared` parameters that every token meets, and all experts."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("moe_bytes: any token may go to any expert, so which of them have to be there?")
    return (shared + n_experts * per_expert) * itemsize
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the order of repeated heads, the numbers in print, the gates of one
# token, and what stays resident whatever is active.
#
# **What it cannot see:** other shapes and leading axes, large scores, several tokens that choose
# differently, experts of three matrices.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 8, "grade_id": "gqa_mqa_moe-check"}
check("gqa_mqa_moe")


# %%
if experiment(__name__):
    with attempt("part 9"):
        owners = expand_kv(np.arange(2.0).reshape(2, 1, 1), 2).reshape(-1)
        receipts("sharing keys and values")
        receipt("query heads 0 to 3 read the KV heads", " ".join(f"{owner:.0f}" for owner in owners), "0 0 1 1")
        smaller, larger = kv_table(32, 32, 8, 128, 100_000), kv_table(80, 64, 8, 128, 32_768)
        for name, printed in (("mha", "52.4"), ("gqa", "13.1"), ("mqa", "1.6")):
            receipt(f"{name}: 32 layers, 32 / 8 / 1 KV heads, 100,000 tokens, GB", smaller[name] / 1e9, printed)
        for name, printed in (("mha", "85.9"), ("gqa", "10.7")):
            receipt(f"{name}: 80 layers, 64 / 8 KV heads, 32,768 tokens, GB", larger[name] / 1e9, printed)
        receipts("eight experts, two of them active, d = 4,096, 32 layers")
        total, active = moe_params(4096, 4 * 4096, 32, 8, 2)
        dense, _ = moe_params(4096, 4 * 4096, 32, 1, 1)
        receipt("dense, billions", dense / 1e9, "6.4")
        receipt("total, billions", total / 1e9, "36.5")
        receipt("active, billions", active / 1e9, "10.7")
        receipt("active of total, percent", 100 * active / total, "29")
        shared, expert = 32 * attention_params(4096, 32, 32, 128), 32 * ffn_params(4096, 4 * 4096)
        receipt("resident bytes agree with the total, bf16", moe_bytes(shared, 8, expert, 2, 2), 2 * total)
        scores = np.log([[0.1, 0.62, 0.01, 0.02, 0.03, 0.38, 0.04, 0.05]])
        gates = top_k_router(np.array([1.0]), scores, 2)
        receipt("gates of experts 2 and 6", f"{gates[1]:.2f} {gates[5]:.2f}", "0.62 0.38")

# %% [markdown]
# ## Part 10. Linear or not
#
# - **Build:** `is_additive`, `collapse_two_layers`, `ffn_as_slots`.
# - **Time:** about 20 minutes.
# - **Points:** 4 (is_additive 2, collapse_two_layers 1, ffn_as_slots 1).
# - **Where:** chapter 7.3, the feed-forward sublayer; article, section 9.
#
# **The test.** A linear function gives for a sum the sum of what it gives for the parts: f(x + y) = f(x) +
# f(y). The article doubles the input instead, f(2x) = 2 f(x), and that is not enough: a ReLU network
# without biases passes it exactly, because ReLU does not mind a positive factor. `is_additive` allows
# rounding: `tolerance` times `1 + max|f(x)| + max|f(y)|`. A NaN is not additive.
#
# **Said right.** Attention is linear in its *values*, for given weights. It is not linear in the tokens,
# because the weights come from them.
#
# **Why a bend is needed.** Two linear layers in a row are one: find its matrix and its bias. With nothing
# between them, the wide middle buys nothing.
#
# **Slots.** The feed-forward layer is a sum over its detectors: activation `i` times row `i` of `W2`.
# `ffn_as_slots` gives the terms, `(..., d_ff, d_out)`, before they are added. The matrix product is that sum.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "linear_or_not-is-additive"}
def is_additive(
    fn: Callable[[np.ndarray], np.ndarray], x: np.ndarray, y: np.ndarray, tolerance: float = 1e-9
) -> bool:
    """Whether `fn(x + y)` is `fn(x) + fn(y)`, everywhere and up to rounding; `x` and `y` have one shape.

    Rounding: `tolerance · (1 + max|fn(x)| + max|fn(y)|)`. A NaN in a result gives False.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("is_additive: compare fn of the sum with the sum of fn, by the largest difference.")
    at_x, at_y = fn(x), fn(y)
    gap = np.max(np.abs(fn(x + y) - (at_x + at_y)))
    return bool(gap <= tolerance * (1.0 + np.max(np.abs(at_x)) + np.max(np.abs(at_y))))
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "linear_or_not-collapse-two-layers"}
def collapse_two_layers(
    W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`(W, b)` of the one layer that does what two do in a row, with nothing between them.

    `W1 (d, d_mid)`, `b1 (d_mid,)`, `W2 (d_mid, d_out)`, `b2 (d_out,)`; gives `W (d, d_out)` and `b (d_out,)`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("collapse_two_layers: multiply out both layers and collect what stands with x.")
    return W1 @ W2, b1 @ W2 + b2
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "linear_or_not-ffn-as-slots"}
def ffn_as_slots(x: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """What each detector of a ReLU layer adds, `(..., d_ff, d_out)`, for `x (..., d)`; `b2` is left out."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("ffn_as_slots: each activation times its row of W2, not yet summed.")
    activations = np.maximum(x @ W1 + b1, 0.0)
    return activations[..., np.newaxis] * W2
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** a matrix and ReLU, which doubling cannot tell apart; two layers by hand
# and two of different widths; and three slots by hand.
#
# **What it cannot see:** functions that are off by a constant or in one entry only, a NaN, and leading
# axes.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 4, "grade_id": "linear_or_not-check"}
check("linear_or_not")


# %%
if experiment(__name__):
    with attempt("part 10"):
        rng = np.random.default_rng(10)
        x, y = rng.standard_normal((6, 16)), rng.standard_normal((6, 16))
        W1, W2 = rng.standard_normal((16, 64)) / 4, rng.standard_normal((64, 16)) / 8
        b1, b2, none = rng.standard_normal(64), rng.standard_normal(16), np.zeros(64)
        fixed = np.exp(rng.standard_normal((6, 6)))
        fixed /= fixed.sum(axis=1, keepdims=True)

        def bend(rows: np.ndarray) -> np.ndarray:
            return ffn_relu(rows, W1, none, W2, np.zeros(16))

        def attend(rows: np.ndarray) -> np.ndarray:
            return self_attention(rows, W1, W1, W1)[0]

        receipts("is it additive?")
        receipt("attention in its values, the weights held fixed", is_additive(lambda rows: fixed @ rows, x, y), True)
        receipt("attention in the tokens", is_additive(attend, x, y), False)
        receipt("feed-forward layer without biases", is_additive(bend, x, y), False)
        receipt("  which doubling does not show: it is off by", apart(bend(2 * x), 2 * bend(x)), 0.0)
        receipts("one layer or two")
        W, b = collapse_two_layers(W1, b1, W2, b2)
        receipt("the collapsed layer against the two, apart by", apart(x @ W + b, (x @ W1 + b1) @ W2 + b2))
        summed, layer = np.sum(ffn_as_slots(x, W1, b1, W2), axis=-2) + b2, ffn_relu(x, W1, b1, W2, b2)
        receipt("the sum of the slots against the layer, apart by", apart(summed, layer))
        receipt("slots of Llama-3-8B, all layers", LLAMA_8B["d_ff"] * LLAMA_8B["layers"], 458_752)

# %% [markdown]
# ## Part 11. Why √d_k
#
# - **Build:** `two_key_weight`, `entropy`, `scaling_sweep`.
# - **Time:** about 25 minutes.
# - **Points:** 4 (two_key_weight 1, entropy 1, scaling_sweep 2).
# - **Where:** article, section 11; chapter 7.2, the step with the scale.
#
# **Gaps.** A softmax sees only differences. With two keys whose scores lie `gap` apart, the higher one gets
# 1 / (1 + e^−gap): a blend at 1, nearly everything at 8.
#
# **Spread.** The product of two vectors of d_k independent numbers with variance 1 has variance d_k. So
# wider heads have wider gaps, and without the division a head stops blending just because it is wide.
# Dividing by √d_k keeps the spread at 1. It has nothing to do with overflow, which subtracting the maximum
# takes care of. A saturated softmax has no slope, so no gradient reaches queries and keys.
#
# **Entropy** says how even a row of weights is: −Σ w ln w, in nats, from 0 (one key takes all) to ln n.
# A weight of 0 adds 0.
#
# **The sweep.** `batches` is a sequence of pairs: `queries (trials, d_k)` and `keys (trials, n_keys, d_k)`.
# For each pair, every query meets its own keys. Give `logit_std` (the standard deviation of all products, not
# divided by anything) and the means over trials of the largest weight and of the entropy, unscaled and
# scaled: `max_weight_unscaled`, `entropy_unscaled`, `max_weight_scaled`, `entropy_scaled`.
#
# **Said right.** The printed 1.74 and 0.35 are one sample of 512 trials; with more of them the limits are
# 1.72 and 0.36. Turning the scale off does not drive *every* weight of the worked example to an end:
# içti → kedi moves from 0.42295 to 0.42386. And the chapter's 1.10% at d_k = 8 is 1.07% before rounding.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "why_sqrt_dk-two-key-weight"}
def two_key_weight(gap: float | np.ndarray) -> float | np.ndarray:
    """The softmax weight of the higher of two keys whose scores lie `gap` apart; a number or an array."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("two_key_weight: write the softmax of (0, gap) and simplify.")
    return 1.0 / (1.0 + np.exp(-gap))
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "why_sqrt_dk-entropy"}
def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy in nats of the rows of `weights (..., n)`: `(...)`. A weight of 0 counts 0."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("entropy: minus the sum of w ln w; take care of w = 0.")
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -np.sum(weights * logs, axis=-1)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "why_sqrt_dk-scaling-sweep"}
def scaling_sweep(batches: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[dict[str, float]]:
    """For each `(queries (trials, d_k), keys (trials, n_keys, d_k))`: how sharp the weights are, and with √d_k.

    Keys `logit_std` (population), and as means over trials `max_weight_unscaled`, `entropy_unscaled`,
    `max_weight_scaled`, `entropy_scaled`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("scaling_sweep: products of each query with its keys, then softmax with and without the division.")
    rows = []
    for queries, keys in batches:
        logits = np.einsum("td,tkd->tk", queries, keys)
        row = {"logit_std": float(np.std(logits))}
        for name, spread in (("unscaled", 1.0), ("scaled", math.sqrt(queries.shape[-1]))):
            shares = np.exp((logits - logits.max(axis=-1, keepdims=True)) / spread)
            shares /= shares.sum(axis=-1, keepdims=True)
            row[f"max_weight_{name}"] = float(shares.max(axis=-1).mean())
            row[f"entropy_{name}"] = float(entropy(shares).mean())
        rows.append(row)
    return rows
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the gaps in print, entropies that can be done on paper, and two small
# batches.
#
# **What it cannot see:** other numbers of keys, batches of different widths in one call, and very large
# scores.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 4, "grade_id": "why_sqrt_dk-check"}
check("why_sqrt_dk")


# %%
if experiment(__name__):
    with attempt("part 11"):
        receipts("two keys: weight of the higher one")
        for gap, printed in ((1, "0.7310586"), (2, "0.8807971"), (4, "0.9820138"), (8, "0.9996646"), (16, "0.9999999")):
            receipt(f"gap {gap}", two_key_weight(gap), printed)
        receipts("entropy, nats")
        receipt("even over 12 keys", entropy(np.full(12, 1 / 12)), "2.48")
        receipt("all on one key", entropy(np.eye(8)[0]), 0.0)

        WIDTHS, TRIALS, KEYS = (4, 16, 64, 256, 1024), 512, 8
        rng = np.random.default_rng(0)
        draws = [(rng.standard_normal((TRIALS, d)), rng.standard_normal((TRIALS, KEYS, d))) for d in WIDTHS]
        sweep = scaling_sweep(draws)
        print(f"\n{KEYS} random keys, {TRIALS} trials; largest weight and entropy, unscaled and scaled")
        print(f"{'d_k':>6} {'√d_k':>7} {'logit std':>10}   {'max w':>8} {'entropy':>8}   {'max w':>8} {'entropy':>8}")
        for d, row in zip(WIDTHS, sweep, strict=True):
            pairs = [(row[f"max_weight_{kind}"], row[f"entropy_{kind}"]) for kind in ("unscaled", "scaled")]
            print(f"{d:6d} {math.sqrt(d):7.2f} {row['logit_std']:10.4f}", *(f"  {w:8.4f} {h:8.4f}" for w, h in pairs))
        # Four standard deviations of the difference of two samples of 512 trials: the printed ones are a sample too.
        receipts("the sweep against the article's sample")
        receipt("entropy, unscaled, d_k = 4", sweep[0]["entropy_unscaled"], "1.2986", within=0.12)
        receipt("entropy, unscaled, d_k = 1,024", sweep[-1]["entropy_unscaled"], "0.0674", within=0.05)
        receipt("entropy, scaled, d_k = 4", sweep[0]["entropy_scaled"], "1.7548", within=0.07)
        receipt("entropy, scaled, d_k = 1,024", sweep[-1]["entropy_scaled"], "1.7103", within=0.06)
        level = np.mean([row["entropy_scaled"] for row in sweep])
        receipt("entropy, scaled, mean over the widths", level, "1.74", within=0.05)

        figure, (left, right) = sheet(2)
        gaps = np.linspace(0, 16, 200)
        left.plot(gaps, two_key_weight(gaps), "k-")
        left.set(xlabel="gap between two scores", ylabel="weight of the higher key", title="A softmax sees gaps")
        right.semilogx(WIDTHS, [row["entropy_unscaled"] for row in sweep], "ko--", label="scores as they are")
        right.semilogx(WIDTHS, [row["entropy_scaled"] for row in sweep], "ks-", label="divided by √d_k")
        right.axhline(math.log(KEYS), color="0.5", linestyle=":", label="even weights: ln 8")
        right.set(xlabel="width of a head, d_k", ylabel="entropy of the weights (nats)", title="What the width does")
        right.set_xticks(WIDTHS, WIDTHS)
        right.set_ylim(0, 2.3)
        right.minorticks_off()
        right.legend(fontsize=8, loc="lower left")
        for axes in (left, right):
            axes.grid(visible=True, color="0.85")

# %% [markdown]
# ## Part 12. Causality in a model
#
# - **Build:** `moved_positions`.
# - **Time:** about 15 minutes.
# - **Points:** 3.
# - **Where:** article, section 13; chapter 7.5.
#
# **The test.** Run a model on some tokens. Change one of them, leave the rest, run again. Every position has
# a row of logits, one for each id of the vocabulary. By how much did each row move? In a causal model, the
# rows before the change do not move at all: not by rounding, but exactly 0, since the same numbers go through
# the same operations in the same shapes. (Appending a token, as in the lab, changes the shapes, and so may
# change last digits.) The rows from the change on move, although only one of them had its own token changed.
#
# `model(tokens)` gives logits `(n, vocab)`; `model.vocab` is the number of ids, counted from 0. Which other id
# you put in is up to you, so long as it is another one and the vocabulary has it. Leave `tokens` as they are.
#
# **Said right.** With the causal mask in the formula, shuffled tokens do not give shuffled outputs (step 4 of
# the lab; the article says otherwise). And a text of five tokens grades four predictions: what follows the
# last one is not in the text.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "causality-moved-positions"}
def moved_positions(model: Any, tokens: Sequence[int], position: int) -> np.ndarray:
    """By how much each position's logits move, at most, when the id at `position` is replaced: `(n,)`.

    `model(tokens)` gives `(n, vocab)`; the replacement is any other id from 0 to `model.vocab - 1`.
    """
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("moved_positions: run the model on a copy with one id replaced, and compare row by row.")
    changed = list(tokens)
    changed[position] = (changed[position] + 1) % model.vocab
    return np.max(np.abs(np.subtract(model(changed), model(tokens))), axis=-1)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** a causal model and one that looks ahead, which both only add up ids, and
# what they were fed.
#
# **What it cannot see:** the ends of the sequence, ids at the end of the vocabulary, models that leak
# only a little.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 3, "grade_id": "causality-check"}
check("causality")


# %%
class SmallModel:
    """Two blocks made of your `block`, between an embedding with positions and an unembedding; seeded weights."""

    vocab, width, n_heads = 64, 16, 4

    def __init__(self, causal: bool) -> None:
        rng = np.random.default_rng(13)

        def draw(*shape: int) -> np.ndarray:
            return rng.standard_normal(shape) / math.sqrt(shape[0])

        d, w = self.width, self.width // self.n_heads
        self.causal = causal
        self.embedding, self.places = rng.standard_normal((self.vocab, d)), rng.standard_normal((32, d))
        self.unembedding = draw(d, self.vocab)
        self.blocks = [
            {
                "heads": [(draw(d, w), draw(d, w), draw(d, w)) for _ in range(self.n_heads)],
                "W_o": draw(d, d),
                "W1": draw(d, 4 * d),
                "b1": np.zeros(4 * d),
                "W2": draw(4 * d, d),
                "b2": np.zeros(d),
                "norm_first": True,
            }
            for _ in range(2)
        ]

    def __call__(self, tokens: Sequence[int]) -> np.ndarray:
        stream = self.embedding[list(tokens)] + self.places[: len(tokens)]
        for params in self.blocks:
            stream = block(stream, params, mask=np.tri(len(tokens), dtype=bool) if self.causal else None)
        return stream @ self.unembedding


if experiment(__name__):
    with attempt("part 12"):
        ids = [5, 9, 12, 3, 7]
        with_mask, without = (moved_positions(SmallModel(causal), ids, 2) for causal in (True, False))
        receipts("the third of five tokens is replaced: largest change of the logits")
        for place, (change, printed) in enumerate(zip(with_mask, ("no", "no", "yes", "yes", "yes"), strict=True)):
            receipt(f"position {place + 1}, causal: changed by {change:.3g}", "yes" if change > 0 else "no", printed)
        receipt("position 1 of the same model without a mask", without[0])

# %% [markdown]
# ## Part 13. Backward costs two
#
# - **Build:** `linear_backward`.
# - **Time:** about 10 minutes.
# - **Points:** 3.
# - **Where:** article, sections 6 and 13.
#
# **Why two.** A layer `Y = X W` is one product forward. Backward it is handed `dY`, how the loss changes with
# each entry of its output, and owes two answers: how the loss changes with its weights, and how it changes
# with its input, which the layer before it is waiting for. Each is a product of the same size as the forward
# one. So a training step costs three forward passes, and the 2 N FLOPs of a token become 6 N.
#
# `X (n, d_in)`, `W (d_in, d_out)`, `dY (n, d_out)`. Shapes nearly decide it: `dW` has the shape of `W`, `dX`
# the shape of `X`, and there is only one product each that fits, up to which factor is transposed. With
# square matrices more than one fits, so test with a rectangular one.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "backward-linear-backward"}
def linear_backward(X: np.ndarray, W: np.ndarray, dY: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`(dW (d_in, d_out), dX (n, d_in))` of `Y = X W`, given `dY (n, d_out)`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("linear_backward: one product with X for the weights, one with W for the input.")
    return X.T @ dY, dY @ W.T
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the two shapes, and what happens to a loss when one entry of `W` or `X`
# is nudged.
#
# **What it cannot see:** other shapes, a single row, float32.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 3, "grade_id": "backward-check"}
check("backward")


# %%
if experiment(__name__):
    with attempt("part 13"):
        rng = np.random.default_rng(13)
        rows, matrix, above = (rng.standard_normal(shape) for shape in ((7, 5), (5, 3), (7, 3)))
        dW, dX = linear_backward(rows, matrix, above)
        import torch

        X_t, W_t = (torch.from_numpy(a).requires_grad_() for a in (rows, matrix))
        (X_t @ W_t).backward(torch.from_numpy(above))
        receipts("against PyTorch's autograd, float64")
        receipt("dW, apart by", apart(dW, W_t.grad.numpy()))
        receipt("dX, apart by", apart(dX, X_t.grad.numpy()))
        forward = 2 * 7 * 5 * 3
        receipts("FLOPs for one token of an 8.03B model, G")
        receipt("forward", 2 * 8.03, "16.1")
        receipt("forward and backward", training_flops(8.03e9, 1) / 1e9, "48.2")
        receipt("products backward over products forward", (2 * 5 * 7 * 3 + 2 * 7 * 3 * 5) / forward, 2.0)

# %% [markdown]
# ## Part 14. Positions
#
# - **Build:** `rope`, `rope_halves`, `pairing_permutation`, `rope_periods`, `alibi_slopes`, `alibi_bias`.
# - **Time:** about 40 minutes.
# - **Points:** 8 (rope 3, rope_halves 1, pairing_permutation 1, rope_periods 1, alibi_slopes 1, alibi_bias 1).
# - **Where:** chapter 7.4, RoPE and ALiBi; article, section 14.
#
# **RoPE** adds nothing. It takes pairs of coordinates and turns each by an angle that grows with the position:
# pair `i` of `d/2` by `position · base^(−2i/d)`. (a, b) becomes (a cos − b sin, a sin + b cos); one minus
# sign, or it is no rotation and lengths change. A query turned by m and a key turned by n have a product that
# depends on m − n alone, so the score knows the distance and not the place.
#
# **Two pairings.** The chapter pairs neighbours, coordinates `2i` and `2i + 1`. The article's code pairs
# coordinate `i` with `i + d/2`, because two halves are easier to slice. Both are relative; for the same
# vectors they give *different* scores, so weights trained with one do not work with the other. Write `rope`
# with neighbours and `rope_halves` with halves. (The hidden checks of `rope` take either pairing; with halves,
# the chapter's scores below come out differently.)
# `pairing_permutation(d)` is the order of coordinates `p` that turns one into the other: with `u =
# x[..., p]`, `rope_halves(u)` is the neighbours' result taken in the same order `p`.
#
# **Periods.** Pair `i` is back where it began after 2π · base^(2i/d) positions. The fast pairs tell near
# neighbours apart, the slow ones have hardly moved at the end of a long text. Fastest first.
#
# **ALiBi** turns nothing. It subtracts `slope · distance` from the scaled scores, and −∞ where the key comes
# later: the causal mask and the position in one matrix. With a power of two as the number of heads, head `i`
# from 1 has the slope 2^(−8i/n_heads).
#
# **Said right.** The article's column *plane i* counts coordinates, 0, 2, … 126; the planes are numbered 0 to
# 63. Llama 3 uses a base of 500,000, so its slowest pair needs 2.56 million positions and not 54,410. A gap
# of one full turn is not a whole number of positions, so no two offsets give exactly equal angles.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-rope"}
def rope(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Turn the pairs `(2i, 2i + 1)` of `x (..., n, d)`, d even, by `positions (n,)` times base^(-2i/d)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("rope: angles (n, d/2), then turn the even and odd columns together into a new array.")
    d = x.shape[-1]
    turns = np.asarray(positions, dtype=np.float64)[:, np.newaxis] * base ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(turns), np.sin(turns)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.empty(x.shape)
    turned[..., 0::2], turned[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return turned
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-rope-halves"}
def rope_halves(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Turn the pairs `(i, i + d/2)` of `x (..., n, d)`, by the same angles as `rope` (article, section 14)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("rope_halves: as rope, but the first half of the columns is paired with the second.")
    half = x.shape[-1] // 2
    turns = np.asarray(positions, dtype=np.float64)[:, np.newaxis] * base ** (-np.arange(half) / half)
    cos, sin = np.cos(turns), np.sin(turns)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-pairing-permutation"}
def pairing_permutation(d: int) -> np.ndarray:
    """Order `p (d,)` of coordinates with `rope_halves(x[..., p], …)` equal to the neighbours' result in order `p`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("pairing_permutation: which coordinate must stand in slot i, which in slot i + d/2?")
    return np.arange(d).reshape(-1, 2).T.reshape(-1)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-rope-periods"}
def rope_periods(head_dim: int, base: float = 10000.0) -> np.ndarray:
    """Positions until each pair has turned once: `(head_dim/2,)`, the fastest first."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("rope_periods: a full circle over the angle of one position.")
    return 2.0 * math.pi * base ** (np.arange(0, head_dim, 2) / head_dim)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-alibi-slopes"}
def alibi_slopes(n_heads: int) -> np.ndarray:
    """The slopes `(n_heads,)` of ALiBi for a power of two of heads, the steepest first (chapter section 7.4)."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("alibi_slopes: a geometric sequence that ends at 2 to the minus 8.")
    return 2.0 ** (-8.0 * np.arange(1, n_heads + 1) / n_heads)
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "positions-alibi-bias"}
def alibi_bias(n: int, slope: float) -> np.ndarray:
    """What ALiBi adds to the scaled scores of one head, `(n, n)`: a row for each query, −∞ for later keys."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("alibi_bias: minus slope times (query's place minus key's place), −∞ above the diagonal.")
    distance = np.arange(n)[:, np.newaxis] - np.arange(n)
    return np.where(distance >= 0, -slope * distance, -np.inf)
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** one pair turned by one radian, lengths that stay, scores that depend on
# the offset alone, both pairings and the order between them on a short vector, and the periods, slopes
# and biases in print.
#
# **What it cannot see:** other bases and widths, leading axes, and an array that is overwritten while it
# is read.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 8, "grade_id": "positions-check"}
check("positions")


# %%
if experiment(__name__):
    with attempt("part 14"):
        rng = np.random.default_rng(11)
        q, k = rng.standard_normal(64), rng.standard_normal(64)

        def scores(turn: Callable[..., np.ndarray], offset: int) -> np.ndarray:
            """q · k with the query `offset` places after the key, from four places."""
            starts = np.array([0, 100, 1000, 5000])
            return np.sum(turn(np.tile(q, (4, 1)), starts + offset) * turn(np.tile(k, (4, 1)), starts), axis=-1)

        receipts("one query, one key: score by offset, neighbours paired")
        CHAPTER_SCORES = {0: "2.152941", 1: "3.606170", 2: "5.453257", 5: "6.457170", 10: "8.827710"}
        CHAPTER_SCORES |= {50: "-0.061180", 200: "-13.740668"}
        for offset, printed in CHAPTER_SCORES.items():
            receipt(f"offset {offset}", scores(rope, offset)[0], printed)
        receipts("how far the score moves from place to place, at most")
        for name, turn in (("neighbours", rope), ("halves", rope_halves)):
            receipt(f"pairs of {name}", max(np.ptp(scores(turn, offset)) for offset in CHAPTER_SCORES))
        receipt("score at offset 1 with halves paired: another number", scores(rope_halves, 1)[0], "2.894065")
        order, places = pairing_permutation(64), np.arange(6)
        many = rng.standard_normal((6, 64))
        turned = rope(many, places)
        gap = apart(rope_halves(many[:, order], places), turned[:, order])
        receipt("reordered, then halves; neighbours, then reordered: apart by", gap)
        lengths = (np.linalg.norm(rows, axis=1) for rows in (many, turned))
        receipt("change of a vector's length, at most", apart(*lengths))
        receipts("positions in a full turn, heads of 128")
        for coordinate, printed in ((0, "6"), (32, "63"), (64, "628"), (96, "6,283"), (126, "54,410")):
            receipt(f"coordinate {coordinate}, pair {coordinate // 2}", rope_periods(128)[coordinate // 2], printed)
        receipt("the slowest pair with Llama 3's base, millions", rope_periods(128, base=500_000.0)[-1] / 1e6, "2.56")
        receipts("ALiBi")
        for head, printed in ((0, 1 / 2), (1, 1 / 4), (2, 1 / 8), (7, 1 / 256)):
            receipt(f"slope of head {head + 1} of 8", alibi_slopes(8)[head], printed)
        bias = alibi_bias(6, 0.5)
        table("what a head with slope 0.5 adds", bias, [f"key {j}" for j in range(6)], [f"query {i}" for i in range(6)])
        receipts("the chapter's 6 x 6 matrix, read off above")
        receipt("cells that are not minus infinity", np.count_nonzero(np.isfinite(bias)), 21)
        for query, key, printed in ((0, 0, 0.0), (1, 0, -0.5), (3, 1, -1.0), (5, 0, -2.5), (5, 4, -0.5), (2, 4, -math.inf)):
            receipt(f"query {query}, key {key}", bias[query, key], printed)

        figure, (left, right) = sheet(2)
        left.imshow(np.where(np.isfinite(bias), bias, np.nan), cmap="gray", vmin=-4.0, vmax=0.5)
        for i, j in np.ndindex(6, 6):
            hidden = np.isinf(bias[i, j])
            color = "black" if hidden or bias[i, j] > -2 else "white"
            left.text(j, i, "−∞" if hidden else f"{bias[i, j] + 0.0:.1f}", ha="center", va="center", color=color)
        left.set(xlabel="key", ylabel="query", title="ALiBi: what is added to the scores, slope 0.5")
        for base, style in ((10_000.0, "k-"), (500_000.0, "k--")):
            right.semilogy(rope_periods(128, base=base), style, label=f"base {base:,.0f}")
        right.axhline(8192, color="0.5", linestyle=":", label="a context of 8,192")
        right.set(title="RoPE: from fast hands to slow ones")
        right.set(xlabel="pair of coordinates", ylabel="positions in a full turn")
        right.grid(visible=True, color="0.85")
        right.legend(fontsize=8)

# %% [markdown]
# ## Part 15. A second device
#
# - **Build:** `same_on_both`.
# - **Time:** about 10 minutes.
# - **Points:** 2.
# - **Where:** article, section 15.
#
# **Why.** The article's RoPE once came out identical for every offset. Positions are integers; on that
# machine, moving an integer array off the device *and* casting it to float64 in one call did not convert the
# numbers but read their bits as floats. 105 became 5.2·10⁻³²², every angle became 0, every rotation the
# identity, and nothing complained. A result that looks too clean deserves a second device.
#
# **The device here** is a stand-in with that very fault, so that you can meet it on any machine. `CPU` and
# `STAND_IN` have `send(array)`, which gives an array over there; that one has `fetch()`, which brings it
# back, `fetch(dtype)`, which brings it back and casts it in one call, and `cast(dtype)`, which casts it over
# there.
#
# **`same_on_both`.** `fn(device)` computes something there and gives back an ordinary NumPy array. Compare
# what comes from the two devices: same shape, and no entry further apart than `tolerance`. NaN is never the
# same. Pass the devices on as they are; they may be anything.

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "second_device-same-on-both"}
def same_on_both(fn: Callable[[Any], np.ndarray], device_a: Any, device_b: Any, tolerance: float = 1e-6) -> bool:
    """Whether `fn(device)` gives the same array on both: equal shapes, no entry more than `tolerance` apart, no NaN."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("same_on_both: run fn once for each device, compare shapes, then entries.")
    on_a, on_b = (np.asarray(fn(device), dtype=np.float64) for device in (device_a, device_b))
    # A comparison with NaN is false, so a NaN in either result makes it so.
    return on_a.shape == on_b.shape and bool(np.all(np.abs(on_a - on_b) <= tolerance))
    # END SOLUTION


# %% [markdown]
# **What the check below sees:** the stand-in's fault, a way around it, and differences on both sides of
# the tolerance.
#
# **What it cannot see:** results of other shapes, a difference in one entry only, NaN.

# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 2, "grade_id": "second_device-check"}
check("second_device")


# %%
if experiment(__name__):
    with attempt("part 15"):
        places = np.array([0, 1, 105, 4096])
        vectors = np.random.default_rng(2).standard_normal((4, 64))

        def in_one_call(device: Any) -> np.ndarray:
            return rope(vectors, device.send(places).fetch(np.float64))

        def in_two_steps(device: Any) -> np.ndarray:
            return rope(vectors, device.send(places).fetch().astype(np.float64))

        receipts("two devices")
        receipt("105, moved and cast in one call", STAND_IN.send(places).fetch(np.float64)[2], 5.1877e-322)
        receipt("RoPE there changes the vectors by", apart(in_one_call(STAND_IN), vectors), 0.0)
        receipt("the same on both, moved and cast in one call", same_on_both(in_one_call, CPU, STAND_IN), False)
        receipt("the same on both, moved first and cast here", same_on_both(in_two_steps, CPU, STAND_IN), True)

# %% [markdown]
# Where you stand on the public checks. Run the notebook once from top to bottom (menu *Kernel*, *Restart
# Kernel and Run All Cells*), save it (*Ctrl+S*), and pack what you hand in with the last cell.

# %%
progress("block_receipts")

# %%
# Is the notebook saved? Then take away the # in front of the next line, and run this cell.
# from attnlab import pack; pack()
