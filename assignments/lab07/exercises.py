# %% [markdown]
# # Lab 7, exercises. Numbers and arguments
#
# The eleven exercises of section 7.13, and before them twelve short questions on sections 7.10 and 7.11.
# Each exercise has a part that is computed and a part that is argued: you write a small function, look at
# what it gives for the chapter's case, and then say in words what the number shows and what it does not.
#
# | | you build | points | minutes |
# |---|---|---|---|
# | warm-up | answers to twelve questions | none | 25 |
# | 1 | three words that move a pronoun | 3 | 20 |
# | 2 | what a change of word order does to the outputs | 8 | 45 |
# | 3 | the bytes of a KV cache | 5 | 15 |
# | 4 | a constant feature, seen by queries and by keys | 6 | 30 |
# | 5 | scores that are a third as large | 4 | 20 |
# | 6 | the costs of 1, 8 and 64 heads | 8 | 35 |
# | 7 | the similarity of two positions | 5 | 25 |
# | 8 | rotating against adding | 9 | 50 |
# | 9 | the longest context of a 70B-class model | 4 | 20 |
# | 10 | what a mixture of experts weighs | 4 | 20 |
# | 11 | the compute of two training runs | 4 | 25 |
#
# **How it is marked.** 40 of the 60 points come from *hidden* checks, which call your functions on inputs
# that are drawn afresh for your course: a formula earns them, and a number copied from the chapter earns
# at most the point for that one case. `check("exercise2")` and its like run *public* checks, quick and on
# fixed inputs; they are there to help. The other 20 points are for what you write in words. A person
# reads it and looks for two to four things in each answer, worth the points that stand in its heading. A
# written answer that is left as it was handed out counts as not answered. All in all, count on about five
# and a half hours. Begin where you like; only 7, 8 and 9 use a small function from an earlier exercise.
#
# **Rules that the hidden checks rely on.** Keep the names and the order of the arguments. Functions
# return values that are not rounded, and do not change the arrays that they are given. If a name is
# defined twice, the last definition counts. `...` in a shape means any number of leading axes, none
# included. Use any library function that you like: writing attention yourself is the lab's business, not
# this notebook's.
#
# **Units.** GB is $10^9$ bytes, GiB is $2^{30}$ bytes; 16 bits are 2 bytes.
#
# **Cells that show something** start with `if experiment(__name__):`. They run here and when the file is
# run as a script, but not when it is imported or graded. Where a function that such a cell needs is not
# written yet, it says so in one line, and *Run all* goes on.
#
# **Stuck?** In a terminal, `attnlab hint exercise3` gives a hint, and `attnlab hint exercise3 --depth 2`
# a plainer one.

# %%
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from attnlab import answer, attempt, check, experiment, progress
from attnlab.chapter import TOKENS, W_K, W_Q, X


def attention_weights(Q: np.ndarray, K: np.ndarray, causal: bool = False) -> np.ndarray:
    """The weights `(n, n)` of PyTorch's own attention for one head, `Q` and `K (n, d_k)`, in float64.

    PyTorch returns weights times values and not the weights; with the identity as values that is the same thing.
    """
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    q, k, identity = (torch.from_numpy(np.array(a, dtype=np.float64)) for a in (Q, K, np.eye(len(K))))
    may_attend = torch.from_numpy(np.tri(len(Q), dtype=bool)) if causal else None
    return scaled_dot_product_attention(q, k, identity, attn_mask=may_attend).numpy()


# %% [markdown]
# The tool above is for exercises 2, 4 and 5. You may use your own functions from the lab instead; then
# paste them into a cell here, because this notebook is graded by itself. `X`, `W_Q`, `W_K` and `TOKENS`
# are those of section 7.2. The arrays are read-only; work on a copy where you change one.

# %% [markdown]
# ## Warm-up. Twelve questions
#
# - **Do:** replace each `...` by your answer and run the cell.
# - **Time:** about 25 minutes.
# - **Points:** none. `progress("exercises")` counts them, no mark does, and you may change an answer as
#   often as you like.
# - **Chapter:** the first six are about 7.10, the other six about 7.11.
#
# A claim is answered with one of three words. `"accept"`: right as it stands. `"reject"`: wrong.
# `"qualify"`: right in part, or under a condition that the claim does not name. A question about a number
# is answered with the number alone. Decide before you look anything up; each wrong choice has a sentence
# of its own that says what to think about next.
#
# **7.10, question 1.** As long as n < 6d, the feed-forward sublayer does more than half of the arithmetic
# of a block (full attention, d_ff = 4d).

# %% nbgrader={"grade_id": "question-intuition1"}
answer("intuition1", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.10, question 2.** If one matrix makes both the queries and the keys, the weight that token i gives
# to token j always equals the weight that j gives to i.

# %% nbgrader={"grade_id": "question-intuition2"}
answer("intuition2", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.10, question 3.** A 7B model in fp16 has 14 GB of weights, 32 layers, 32 KV heads and head dimension
# 128, and keeps its cache in fp16. What is the smallest whole number of tokens at which the raw KV cache
# of one conversation is larger than the weights?

# %% nbgrader={"grade_id": "question-intuition3"}
answer("intuition3", ...)  # a whole number of tokens

# %% [markdown]
# **7.10, question 4.** A mixture of experts with 35B parameters, 3B of them active per token, needs the
# memory of a 35B model and about the arithmetic of a 3B one; so it answers as fast as a dense 3B model.

# %% nbgrader={"grade_id": "question-intuition4"}
answer("intuition4", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.10, question 5.** Give GPT-2, whose table of learned positions has 1,024 rows, a text of 1,025
# tokens, and its prediction for the last token is a little worse than usual.

# %% nbgrader={"grade_id": "question-intuition5"}
answer("intuition5", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.10, question 6.** In a pre-norm model with additive positions, the residual stream after block 12 is
# the vector that entered block 1 plus the sum of what the 24 sublayers wrote.

# %% nbgrader={"grade_id": "question-intuition6"}
answer("intuition6", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.11, question 1.** Self-attention is a regression whose coefficients, the attention weights, are
# fitted in training.

# %% nbgrader={"grade_id": "question-interview1"}
answer("interview1", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.11, question 2.** A block has full-width attention (four d × d matrices) and a SwiGLU feed-forward
# with d_ff = 3d, which takes three matrices. How many percent of the parameters in these matrices are in
# the feed-forward sublayer?

# %% nbgrader={"grade_id": "question-interview2"}
answer("interview2", ...)  # percent

# %% [markdown]
# **7.11, question 3.** A 13B model in 16 bits has 40 layers, 40 KV heads and head dimension 128, and a
# 16-bit cache. How many GB (10⁹ bytes) do its weights and the raw KV caches of 4 requests of 8,192 tokens
# each take together?

# %% nbgrader={"grade_id": "question-interview3"}
answer("interview3", ...)  # GB

# %% [markdown]
# **7.11, question 4.** FlashAttention computes the same function as naive attention; the last digits may
# differ, the memory grows with n instead of n², and the number of multiplications still grows with n².

# %% nbgrader={"grade_id": "question-interview4"}
answer("interview4", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.11, question 5.** Encoder-only, decoder-only and encoder-decoder models differ in nothing but which
# cells of the attention matrix are allowed.

# %% nbgrader={"grade_id": "question-interview5"}
answer("interview5", ...)  # "accept", "reject" or "qualify"

# %% [markdown]
# **7.11, question 6.** Transformers replaced recurrent networks because they generate all tokens of a
# text in parallel.

# %% nbgrader={"grade_id": "question-interview6"}
answer("interview6", ...)  # "accept", "reject" or "qualify"

# %%
check("questions")


# %% [markdown]
# ## Exercise 1. One word moves a pronoun
#
# - **Write:** three one-word substitutions and what they assume, and a paragraph on what a map cannot
#   tell.
# - **Time:** about 20 minutes.
# - **Points:** 3, all read by a person. No check looks at this exercise.
# - **Chapter:** 7.1, the attention explorer and the box on the pronoun.
#
# In the chapter's map for *The robot poured coffee because it was ready*, the row of `it` puts 0.46 on
# coffee and 0.34 on robot; the missing 0.20 lies on other words.
#
# **(a)** Replace *ready* by one other word, three times, so that a reader would take `it` for one of the
# two nouns without hesitating. Name the noun each time, and the assumption **about the world** behind it:
# what drinks are like, what machines do, what people pour away. An assumption about grammar is of no use
# here; to be sure that none has crept in, let the rest of the sentence stand and take words of the same
# class.
#
# **(b)** Then, in a paragraph: what do 0.46 and 0.34 say about what a model "takes the pronoun for", and
# what not? Think of where this map comes from, of what a weight multiplies, of the other heads and
# layers, and of what else in the row moves when you change one word.

# %% [markdown] nbgrader={"grade_id": "exercise1-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 2. Word order, and who can see it
#
# - **Build:** `order_gaps`, five differences between a sentence and its reordering. On the way,
#   `sinusoidal_positions`: write it, or paste it from the lab; it has no points here.
# - **Time:** about 45 minutes.
# - **Points:** 8 (order_gaps 6, in words 2).
# - **Chapter:** 7.4, the shuffle test and the sinusoids; 7.5 for the mask. The pair of sentences is from
#   chapter 4.
#
# **Why.** *kalite iyi fiyat kötü* (quality good, price bad) and *kalite kötü fiyat iyi* say opposite
# things with the same four words. The mean of their word vectors is the same, cosine 1.0000. Attention is
# more than a mean; here you find out whether that is enough.
#
# **What to compare.** Let `out(rows)` be the attention outputs `(n, d_v)` of `rows`: queries, keys and
# values from the three matrices, one head. The second sentence is `X[perm]`: slot `i` holds token
# `perm[i]`. All five values are the largest absolute difference between two arrays:
#
# | key | compared | setting |
# |---|---|---|
# | `tokens` | each token with itself: `out(X[perm])` and `out(X)[perm]` | no mask, no positions |
# | `mean_pool` | the means over the tokens | no mask, no positions |
# | `mean_pool_positions` | the means over the tokens | `0.3 * P` added to the slots, no mask |
# | `mean_pool_causal` | the means over the tokens | causal mask, no positions |
# | `last_token_causal` | the outputs in the last slot, `[-1]` | causal mask, no positions |
#
# **Positions belong to slots.** `P` is the table of sinusoids for `n` slots; 0.3 is the chapter's scale.
# When words move, the position vectors stay, so `P` is added to `X[perm]` in the same order as to `X`.

# %% nbgrader={"grade_id": "exercise2-sinusoidal-positions"}
def sinusoidal_positions(n: int, d: int) -> np.ndarray:
    """Position vectors `(n, d)` for even `d` (chapter section 7.4), positions counted from 0.

    Column `2i` is `sin(pos / 10000**(2i/d))`, column `2i + 1` is the cosine of the same angle.
    """
    raise NotImplementedError("sinusoidal_positions: write it from the formula, or paste it from the lab.")


# %% nbgrader={"grade_id": "exercise2-order-gaps"}
def order_gaps(
    X: np.ndarray, perm: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray
) -> Mapping[str, float]:
    """The largest absolute differences between `X (n, d)` and `X[perm]` after one head, by the five keys above.

    `W_q` and `W_k (d, d_k)`, `W_v (d, d_v)`; `perm (n,)` holds each of `0 … n-1` once; `d` is even.
    """
    raise NotImplementedError("order_gaps: run both orders in three settings, and return a dict with the five keys.")


# %% [markdown]
# **What the check below sees:** for the chapter's three tokens in the order içti kedi sütü, all five
# values to a few digits; a case with equal weights, where the values can be told by hand; and an order
# that leaves the last token where it is.
#
# **What it cannot see:** other sentences, lengths, widths and orders. The hidden checks draw them.

# %%
check("exercise2")

# %% [markdown]
# The first of the next two cells draws the position table for 64 slots of 64 numbers. Each row is a slot,
# and columns further to the right change more slowly. The second gives the four words random vectors,
# fixed by a seed, and reports the five values for the pair of sentences, and for an order that leaves the
# last word where it is.

# %%
if experiment(__name__):
    with attempt("exercise 2, the table of positions"):
        import matplotlib.pyplot as plt

        positions = sinusoidal_positions(64, 64)
        figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
        image = axes.imshow(positions, cmap="gray", vmin=-1, vmax=1)
        axes.set(title="Sinusoidal positions, d = 64", xlabel="coordinate (sine and cosine in turn)", ylabel="position")
        figure.colorbar(image, label="value")

# %%
WORDS = ("kalite", "iyi", "fiyat", "kötü")
PAIR = np.array([0, 3, 2, 1])  # kalite kötü fiyat iyi
SAME_END = np.array([2, 1, 0, 3])  # fiyat iyi kalite kötü: the last word stays

if experiment(__name__):
    with attempt("exercise 2"):
        rng = np.random.default_rng(0)
        words = rng.standard_normal((4, 8))
        matrices = [rng.standard_normal((8, 8)) / np.sqrt(8) for _ in range(3)]
        gaps = [order_gaps(words, order, *matrices) for order in (PAIR, SAME_END)]
        titles = [" ".join(WORDS[i] for i in order) for order in (PAIR, SAME_END)]
        print(f"against {' '.join(WORDS)}:\n{'':20} {titles[0]:>24} {titles[1]:>24}")
        for key in gaps[0]:
            print(f"{key:20} {gaps[0][key]:24.2g} {gaps[1][key]:24.2g}")


# %% [markdown]
# ### In words (2 points, read by a person)
#
# Which symmetry holds without mask and positions, and what exactly breaks it in each of the two other
# settings? And under which read-out do the two sentences come apart: the mean over the tokens, or the
# last slot? Be careful with the last slot: another word stands there in the second sentence. What does
# the right column above say about it?

# %% [markdown] nbgrader={"grade_id": "exercise2-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 3. The bytes of a KV cache
#
# - **Build:** `kv_cache_bytes` and `in_units`.
# - **Time:** about 15 minutes.
# - **Points:** 5 (kv_cache_bytes 2, in_units 2, in words 1).
# - **Chapter:** 7.6, the KV cache, and the part on GQA and MQA.
#
# **The case.** 32 layers, 32 heads of dimension 128, a context of 100,000 tokens, 16-bit keys and values.
# With full multi-head attention every head has its own keys and values, so there are 32 KV heads;
# grouped-query attention with 8 KV heads lets four query heads share one. Count raw bytes, for one
# sequence, in whole numbers: two tensors (keys and values) in every layer, and in each of them one row of
# `head_dim` numbers for every KV head and token.
#
# **Units.** `in_units` gives the same bytes twice: in GB and in GiB. The difference is 7%, more than many
# a safety margin.

# %% nbgrader={"grade_id": "exercise3-kv-cache-bytes"}
def kv_cache_bytes(layers: int, kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2) -> int:
    """Bytes of all keys and values of `tokens` tokens, for one sequence, at `itemsize` bytes a number."""
    raise NotImplementedError("kv_cache_bytes: multiply up what is stored for each layer, head and token.")


# %% nbgrader={"grade_id": "exercise3-in-units"}
def in_units(n_bytes: int) -> tuple[float, float]:
    """`(gb, gib)`: the bytes in GB of 10^9 bytes and in GiB of 2^30 bytes, not rounded."""
    raise NotImplementedError("in_units: the same number of bytes in GB and in GiB.")


# %% [markdown]
# **What the check below sees:** on small numbers, that every argument is a factor; one row of the
# chapter's table; and both units for one GB, for one GiB and for a thousand bytes.
#
# **What it cannot see:** other shapes and item sizes, and a cache that is off by less than the table's
# digits.

# %%
check("exercise3")

# %%
if experiment(__name__):
    with attempt("exercise 3"):
        for name, kv_heads in (("full multi-head", 32), ("GQA", 8), ("MQA", 1)):
            gb, gib = in_units(kv_cache_bytes(32, kv_heads, 128, 100_000))
            print(f"{name:>15}, {kv_heads:2d} KV heads: {gb:.10g} GB = {gib:.10g} GiB")


# %% [markdown]
# ### In words (1 point, read by a person)
#
# Why does grouped-query attention exist? Say which factor of the formula it changes, what stays as it was
# for the queries, and what a server gains by it.

# %% [markdown] nbgrader={"grade_id": "exercise3-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 4. A feature that never varies
#
# - **Build:** `weights_with_constant_row`, the worked example with one row of `W_q` or `W_k` replaced.
# - **Time:** about 30 minutes.
# - **Points:** 6 (the function 4, in words 2).
# - **Chapter:** 7.2; the constant is the *always-on* column of its table of embeddings.
#
# **Why.** The fourth feature is 0.5 for every token, and the fourth rows of `W_q` and `W_k` are zero. It
# would be easy to conclude that a constant can never do anything. It can, on one of the two sides.
#
# **The function.** Take the chapter's `X`, `W_Q` and `W_K`. Put `row`, two numbers, in the place of the
# last row of `W_Q` if `side` is `"query"`, and of `W_K` if it is `"key"`. Return the attention weights of
# all three tokens, unmasked and with the usual scale. Each call starts again from the chapter's matrices.
#
# With `"query"` and `[0.9, -0.7]` the row of içti should come out as `[0.58215, 0.34989, 0.06796]`. Try
# other rows; here every row but zero moves something on one side, and none does on the other.

# %% nbgrader={"grade_id": "exercise4-weights-with-constant-row"}
def weights_with_constant_row(side: str, row: Sequence[float] | np.ndarray) -> np.ndarray:
    """The weights `(3, 3)` of section 7.2 with `row (2,)` as the last row of `W_Q` or of `W_K`.

    `side` is `"query"` or `"key"`, and says which of the two.
    """
    raise NotImplementedError("weights_with_constant_row: change a copy of one matrix, then compute the weights.")


# %% [markdown]
# **What the check below sees:** that a row of zeros gives the chapter's weights, that rows on the key
# side move nothing and rows on the query side move the weights of two keys apart as they should, and that
# a call knows nothing of the one before it.
#
# **What it cannot see:** other rows, and differences beyond the chapter's digits. And it reads no proof.

# %%
check("exercise4")

# %%
if experiment(__name__):
    with attempt("exercise 4"):
        before = weights_with_constant_row("query", [0.0, 0.0])
        for side in ("query", "key"):
            for row in ([0.9, -0.7], [3.0, 3.0], [-2.0, 5.0]):
                after = weights_with_constant_row(side, row)
                largest = np.max(np.abs(after - before))
                print(f"{side:>5} row {row}: içti {np.round(after[2], 5)}, largest move of any weight {largest:.4f}")


# %% [markdown]
# ### In words (2 points, read by a person)
#
# **(a)** Prove that on the key side the constant always cancels, whatever row `W_k` has for it. Write a
# token as $x_i = [z_i, c]$ and split the matrices in the same way, $W_q$ into $A$ and a last row $a$,
# $W_k$ into $B$ and a last row $b$. Which terms of $q_i \cdot k_j$ contain $b$? What does the softmax do
# with them?
#
# **(b)** In one sentence: why does the same feature matter in the queries and not in the keys?

# %% [markdown] nbgrader={"grade_id": "exercise4-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 5. Scores a third as large
#
# - **Build:** `row_at_scale`.
# - **Time:** about 20 minutes.
# - **Points:** 4 (the function 3, in words 1).
# - **Chapter:** 7.2, step 3, with its two tables of random vectors.
#
# **The case.** Multiply `W_Q` and `W_K` both by $1/\sqrt3$. Every score is then a third of what it was.
# Give the row of weights of içti, unmasked and with the usual $\sqrt{d_k}$; the function does it for any
# scale `s` that both matrices are multiplied by.
#
# **Two numbers to correct.** At $d_k = 2$ the division itself does little: without it içti's weight on
# kedi goes from 0.42295 to 0.42386 and not to an extreme, although the two other weights do move
# outwards. And in the table of random vectors, the spread at $d_k = 8$ is 1.07% above $\sqrt8$; the 1.10%
# in the text comes from rounded digits.

# %% nbgrader={"grade_id": "exercise5-row-at-scale"}
def row_at_scale(s: float) -> np.ndarray:
    """The attention weights `(3,)` of içti in section 7.2 with `W_Q` and `W_K` both multiplied by `s`."""
    raise NotImplementedError("row_at_scale: scale both matrices, then compute the last row of the weights.")


# %% [markdown]
# **What the check below sees:** the rows at `s = 1` and `s = 0`, how the ratios of the weights at other
# scales follow from those at 1, and that a large scale gives a finite row.
#
# **What it cannot see:** the exact weights at a scale that nobody has written down yet.

# %%
check("exercise5")

# %%
if experiment(__name__):
    with attempt("exercise 5"):
        rows = {s: np.asarray(row_at_scale(s)) for s in (0.0, 1 / np.sqrt(3), 1.0, np.sqrt(3), 3.0, 8.0)}
        print(f"{'s':>8} {'scores times':>13} {TOKENS[0]:>9} {TOKENS[1]:>9} {TOKENS[2]:>9} {'entropy':>9}")
        for s, row in rows.items():
            entropy = -np.sum(row * np.log(np.maximum(row, 1e-300)))
            print(f"{s:8.4f} {s * s:13.4g} {row[0]:9.5f} {row[1]:9.5f} {row[2]:9.5f} {entropy:9.4f}")
        print(f"\nthe largest entropy of three weights is ln 3 = {np.log(3):.4f}")


# %% [markdown]
# ### In words (1 point, read by a person)
#
# What happened to the row, and to the order of its three weights? From this, what is the division by
# $\sqrt{d_k}$ there to prevent? Say under which assumption the scores of a wide head would be large in
# the first place.

# %% [markdown] nbgrader={"grade_id": "exercise5-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 6. What heads cost
#
# - **Build:** `head_costs`, seven numbers for `h` heads of width `d / h` and `n` tokens.
# - **Time:** about 35 minutes.
# - **Points:** 8 (the function 6, in words 2).
# - **Chapter:** 7.3, from *Concatenate, then project* on.
#
# **Count.** `d` is the width of the model, a multiple of `h`; $d_k = d_v = d/h$; no biases. One
# multiplication of two numbers counts as 1 (a FLOP count would be twice as large, since it counts the
# addition as well). All heads together:
#
# | key | what it counts |
# |---|---|
# | `head_dim` | the width of a head |
# | `parameters` | the entries of the three input projections and `W_o` |
# | `projection_multiplications` | for `n` tokens, in the three input projections and `W_o` together |
# | `score_multiplications` | in all products of queries with keys |
# | `value_multiplications` | in all products of weights with values |
# | `score_entries` | the numbers in the score tables, written out as a naive implementation does |
# | `score_rank_bound` | the largest rank that one head's score table can have before the softmax: an `n × n` product of two matrices of inner width `head_dim` |
#
# All are whole numbers, so divide with `//`.

# %% nbgrader={"grade_id": "exercise6-head-costs"}
def head_costs(d: int, h: int, n: int) -> Mapping[str, int]:
    """The seven counts above for model width `d`, `h` heads (a divisor of `d`) and `n` tokens."""
    raise NotImplementedError("head_costs: count for one head, multiply by h, and return a dict with the seven keys.")


# %% [markdown]
# **What the check below sees:** all seven numbers in a small case that is counted by hand, and, in a
# second one, which of them stay the same for any number of heads.
#
# **What it cannot see:** other widths, numbers of heads and lengths, the chapter's d = 512 among them.

# %%
check("exercise6")

# %%
if experiment(__name__):
    with attempt("exercise 6"):
        columns = [head_costs(512, h, 1024) for h in (1, 8, 64)]
        print(f"{'d = 512, n = 1024':28}{'h = 1':>16}{'h = 8':>16}{'h = 64':>16}")
        for key in columns[0]:
            print(f"{key:28}" + "".join(f"{column[key]:16,d}" for column in columns))


# %% [markdown]
# ### In words (2 points, read by a person)
#
# What is lost as `h` grows, and what is not? Do equal multiplications mean equal time? Where in your
# table would you expect it to hurt first, and why there? Mind where the bound on the rank ends: the
# softmax can raise the rank again.

# %% [markdown] nbgrader={"grade_id": "exercise6-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 7. Are near positions similar?
#
# - **Build:** `position_similarity`.
# - **Time:** about 25 minutes.
# - **Points:** 5 (the function 3, in words 2).
# - **Chapter:** 7.4, *Why sinusoids in particular*.
#
# **The function.** The dot product of two sinusoidal position vectors depends only on their offset $k$:
# $\sum_i \cos(k\,\omega_i)$ with $\omega_i = 10000^{-2i/d}$ for $i = 0, 1, \dots, d/2 - 1$. Compute it
# from this formula; at d = 64 you should get the chapter's column, 19.372820 at offset 16 and 19.553972
# at offset 32.

# %% nbgrader={"grade_id": "exercise7-position-similarity"}
def position_similarity(offset: float, d: int) -> float:
    """The dot product of two sinusoidal position vectors of even width `d` that stand `offset` slots apart."""
    raise NotImplementedError("position_similarity: a sum of d/2 cosines.")


# %% [markdown]
# **What the check below sees:** offset 0, a width of 2, where there is a single frequency, and the
# chapter's table for d = 64.
#
# **What it cannot see:** other widths and offsets, and digits beyond the table's.

# %%
check("exercise7")

# %% [markdown]
# The next cell draws the curve for d = 64. Then it splits the difference between offsets 32 and 16 into
# the ten fastest frequencies and the other 22; the cosines stand in the odd columns of your table of
# positions.

# %%
if experiment(__name__):
    with attempt("exercise 7"):
        import matplotlib.pyplot as plt

        offsets = np.arange(129)
        similarity = [position_similarity(k, 64) for k in offsets]
        figure, axes = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
        axes.plot(offsets, similarity, "k.-", linewidth=0.8, markersize=3)
        for k, marker in ((16, "s"), (32, "D")):
            label = f"offset {k}: {similarity[k]:.3f}"
            axes.plot(k, similarity[k], marker, markerfacecolor="white", markeredgecolor="black", label=label)
        axes.set(title="Similarity of two positions, d = 64", xlabel="offset k (slots)", ylabel="sum of cosines")
        axes.grid(visible=True, color="0.85")
        axes.legend()

        cosines = sinusoidal_positions(33, 64)[:, 1::2]
        rise = cosines[32] - cosines[16]
        print(f"from offset 16 to 32: {similarity[32] - similarity[16]:+.4f} in all,")
        print(f"{rise[:10].sum():+.4f} from the ten fastest frequencies, {rise[10:].sum():+.4f} from the other 22")
        print(f"of the 128 steps drawn, {np.count_nonzero(np.diff(similarity) > 0)} go up")


# %% [markdown]
# ### In words (2 points, read by a person)
#
# Why is the sum larger at 32 than at 16? Say what the slow frequencies do between these offsets and what
# the fast ones do. Then judge two claims: "the similarity depends on the offset alone", and "nearer
# positions are more similar".

# %% [markdown] nbgrader={"grade_id": "exercise7-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 8. Rotating against adding
#
# - **Build:** `rope` and `offset_spread`.
# - **Time:** about 50 minutes.
# - **Points:** 9 (rope 5, offset_spread 2, in words 2).
# - **Chapter:** 7.4, *RoPE: rotate instead of add*.
#
# **`rope`.** Coordinates $2i$ and $2i+1$ are a pair, as in the chapter. A vector at position $m$ has each
# pair turned by the angle $m\,\theta_i$, $\theta_i = \mathrm{base}^{-2i/d}$ with $d$ the width of `x`:
# the pair $(a, b)$ becomes $(a\cos - b\sin,\; a\sin + b\cos)$. Other libraries pair coordinate $j$ with
# $j + d/2$; that is a RoPE as good as this one and gives other numbers.
#
# **`offset_spread`.** `score(m, n)` is a number for a query at position `m` and a key at position `n`.
# Over all `n` in `starts`, take the score at `m = n + offset` and return the largest minus the smallest.
# If only the offset matters, that is 0 up to rounding.
#
# **The experiment.** The chapter's query and key for d = 64 come from `np.random.default_rng(11)`: first
# the 64 numbers of the query, then those of the key. No $1/\sqrt d$. At offset 5 the RoPE score is
# 6.4572. If you see another number:
#
# | score at offset 5 | the likely cause |
# |---|---|
# | 3.0157 | coordinate j paired with j + 32 |
# | −4.1786 | the key stands ahead of the query, or every angle has the other sign |
#
# **One number to correct.** The chapter sets a spread of about 26 against RoPE's $10^{-13}$. That is the
# spread at the offsets 0 and 1. At offset 5 the same query and key give 16.8 with positions added, and
# with other vectors anything from below 1 to above 27 happens.

# %% nbgrader={"grade_id": "exercise8-rope"}
def rope(x: np.ndarray, positions: Sequence[int] | np.ndarray, base: float = 10000.0) -> np.ndarray:
    """`x (..., n, d)`, `d` even, with the pairs of row `i` turned for position `positions[i]`; the same shape.

    `positions (n,)` are whole numbers, in any order and not necessarily from 0.
    """
    raise NotImplementedError("rope: angles (n, d/2) first; then turn even and odd coordinates together.")


# %% nbgrader={"grade_id": "exercise8-offset-spread"}
def offset_spread(score: Callable[[int, int], float], offset: int, starts: Sequence[int]) -> float:
    """The largest minus the smallest `score(n + offset, n)` over the key positions `n` in `starts`."""
    raise NotImplementedError("offset_spread: one score for each start, then largest minus smallest.")


# %% [markdown]
# **What the check below sees:** that position 0 turns nothing, turns by one radian that can be done by
# hand, which coordinates are a pair, lengths that stay as they are and scores that depend on the offset,
# arrays that are left alone; and the spread of scores made up for the purpose, with the positions at
# which they are asked for.
#
# **What it cannot see:** other bases and widths, what happens in leading axes beyond their shape, and
# positions in any order.

# %%
check("exercise8")

# %% [markdown]
# The next cell measures both schemes at offset 5 from the positions 0, 100, 1,000 and 5,000. In the
# additive one, the position vector is added to the query and to the key themselves, which is what gives
# the chapter's table (so the projections are the identity). The third line draws projections at random
# and adds the positions before them. The plot shows the scores over the start.

# %%
STARTS = (0, 100, 1_000, 5_000)
OFFSET = 5

if experiment(__name__):
    with attempt("exercise 8"):
        import matplotlib.pyplot as plt

        rng = np.random.default_rng(11)
        query, key = rng.standard_normal(64), rng.standard_normal(64)
        to_query, to_key = (rng.standard_normal((64, 64)) / 8 for _ in range(2))
        slots = sinusoidal_positions(max(STARTS) + OFFSET + 1, 64)

        def rotated(m: int, n: int) -> float:
            return float(rope(query[np.newaxis], [m])[0] @ rope(key[np.newaxis], [n])[0])

        def added(m: int, n: int) -> float:
            return float((query + slots[m]) @ (key + slots[n]))

        def added_and_projected(m: int, n: int) -> float:
            return float((query + slots[m]) @ to_query @ ((key + slots[n]) @ to_key))

        schemes = {"RoPE": rotated, "added to q and k": added, "added, then projected": added_and_projected}
        for name, score in schemes.items():
            scores = ", ".join(f"{score(n + OFFSET, n):.4f}" for n in STARTS)
            print(f"{name:>22}: {scores}; spread {offset_spread(score, OFFSET, STARTS):.2g}")

        figure, axes = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
        starts = np.arange(0, 5_001, 25)
        axes.plot(starts, [added(n + OFFSET, n) for n in starts], color="0.45", linewidth=1, label="added to q and k")
        axes.plot(starts, [rotated(n + OFFSET, n) for n in starts], "k--", linewidth=2, label="RoPE")
        axes.set(
            title=f"One query and one key, offset {OFFSET}, everywhere in a text",
            xlabel="position of the key (slots)",
            ylabel="score",
        )
        axes.grid(visible=True, color="0.85")
        axes.legend()


# %% [markdown]
# ### In words (2 points, read by a person)
#
# One paragraph. What do the two spreads show as mathematics, and what do they not show about how well a
# model works? Say which position vectors and which projections your additive number belongs to.

# %% [markdown] nbgrader={"grade_id": "exercise8-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 9. The longest context
#
# - **Build:** `max_context`.
# - **Time:** about 20 minutes.
# - **Points:** 4 (the function 3, in words 1).
# - **Chapter:** 7.6, the KV cache; exercise 3 has the formula.
#
# **The case.** A 70B-class model: 80 layers, 64 query heads, head dimension 128, 140 GB of weights in 16
# bits, on a node of four cards of 80 GB, 320 GB in all. Four users at the same time, each with a 16-bit
# cache of their own. Count nothing but weights (once for all users) and raw caches. How many whole tokens
# can each user have, with 64 KV heads and with 8?
#
# **Two things to know.** The exercise holds the weights at 140 GB in both cases. In fact, keys and values
# for 64 heads need larger matrices, another 18.8 GB, so the first length is generous. And 10.7 GB, the
# cache for 32,768 tokens with 8 KV heads, is an eighth of 85.9 GB; it is a little more than an eighth of
# an 80 GB card.

# %% nbgrader={"grade_id": "exercise9-max-context"}
def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """The largest whole number of tokens that each of `users` can have at once; 0 if the weights alone do not fit.

    The memory holds the weights once and a raw cache for each user, at `itemsize` bytes a number.
    """
    raise NotImplementedError("max_context: what the weights leave, shared by the users, in whole tokens.")


# %% [markdown]
# **What the check below sees:** a case that can be done in the head, that every argument counts, and that
# the result is rounded down.
#
# **What it cannot see:** other nodes, models and item sizes.

# %%
check("exercise9")

# %%
if experiment(__name__):
    with attempt("exercise 9"):
        lengths = {heads: max_context(320 * 10**9, 140 * 10**9, 4, 80, heads, 128) for heads in (64, 8)}
        for heads, tokens in lengths.items():
            print(f"{heads:2d} KV heads: {tokens:,} tokens for each of four users")
        print(f"ratio: {lengths[8] / lengths[64]:.4f} (8, but for the rounding down)")


# %% [markdown]
# ### In words (1 point, read by a person)
#
# Why can nobody serve contexts of this length on this node? And go through the formula of the cache:
# which of its factors changed between the two cases, and which did not? Name every one.

# %% [markdown] nbgrader={"grade_id": "exercise9-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 10. What 5B active does not tell
#
# - **Build:** `weight_bytes`.
# - **Time:** about 20 minutes.
# - **Points:** 4 (the function 2, in words 2).
# - **Chapter:** 7.7.
#
# **The case.** A model is announced as "120B total parameters, 5B active". A colleague takes the 5B,
# calls it small, and expects the model to run on a card with 24 GB. Compute what its weights take at 16,
# 8 and 4 bits a parameter.

# %% nbgrader={"grade_id": "exercise10-weight-bytes"}
def weight_bytes(parameters: int, bits: int) -> float:
    """Bytes of `parameters` numbers of `bits` bits each; 8 bits are a byte."""
    raise NotImplementedError("weight_bytes: bits in all, as bytes.")


# %% [markdown]
# **What the check below sees:** a thousand parameters at 32, 16 and 8 bits, and at 4 and 6, where a
# parameter takes less than a byte.
#
# **What it cannot see:** other sizes and widths.

# %%
check("exercise10")

# %%
if experiment(__name__):
    with attempt("exercise 10"):
        card = 24e9
        for bits in (16, 8, 4):
            total, active = weight_bytes(120 * 10**9, bits), weight_bytes(5 * 10**9, bits)
            print(f"{bits:2d} bits: all {total / 1e9:g} GB, {total / card:.1f} cards of 24 GB; active {active / 1e9:g} GB a token")
        print(f"for one card: at most {card * 8 / (120 * 10**9):.1f} bits a parameter, and nothing else in it")


# %% [markdown]
# ### In words (2 points, read by a person)
#
# **(a)** Write the correction to your colleague: two sentences, with the arithmetic.
#
# **(b)** Then one sentence each for the three ways to make it fit, and what each of them costs in time or
# quality: fewer bits, several cards, weights in the memory of the CPU.

# %% [markdown] nbgrader={"grade_id": "exercise10-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Exercise 11. Two training runs
#
# - **Build:** `training_flops`.
# - **Time:** about 25 minutes.
# - **Points:** 4 (the function 2, in words 2).
# - **Chapter:** 7.8.
#
# **The rule.** Training a dense model with $N$ parameters on $D$ tokens takes about $6ND$ FLOPs: 2 per
# parameter and token on the way forward, 4 on the way back. The chapter's two runs are Gopher, 280B
# parameters and 300B tokens, and Chinchilla, 70B parameters and 1.4T tokens.
#
# **One statement to correct.** The chapter says that both used the same compute. By this rule and with
# these figures they did not, as you will see; "the same" holds only in the authors' own, finer count.

# %% nbgrader={"grade_id": "exercise11-training-flops"}
def training_flops(parameters: float, tokens: float) -> float:
    """FLOPs of training a dense model with `parameters` on `tokens`, by the rule 6 N D."""
    raise NotImplementedError("training_flops: the rule 6 N D.")


# %% [markdown]
# **What the check below sees:** small numbers that can be done in the head, and one large case.
#
# **What it cannot see:** other sizes, and a result that loses digits on the way.

# %%
check("exercise11")

# %%
if experiment(__name__):
    with attempt("exercise 11"):
        runs = {"Gopher": (280e9, 300e9), "Chinchilla": (70e9, 1.4e12)}
        flops = {name: training_flops(*run) for name, run in runs.items()}
        for name, (parameters, tokens) in runs.items():
            print(f"{name:>10}: {tokens / parameters:5.2f} tokens a parameter, {flops[name]:.3g} FLOPs")
        print(f"Chinchilla / Gopher: {flops['Chinchilla'] / flops['Gopher']:.3f}")

# %% [markdown]
# ### In words (2 points, read by a person)
#
# **(a)** Both ratios, 1.1 and 20 tokens a parameter, were read off a scaling law. What was different
# about the second analysis? Take these candidates one by one and say what became of each: the compute
# budget, the counting of parameters (with or without embeddings), the schedule of the learning rate, the
# range that was measured.
#
# **(b)** A new paper gives a third ratio. What would have to be in it before you moved a training budget
# because of it?

# %% [markdown] nbgrader={"grade_id": "exercise11-in-words"}
# *Your answer here.*

# %% [markdown]
# ## Where you stand
#
# The cell below sums up the public checks and your answers to the twelve questions. Read your written
# answers once more, run the notebook from top to bottom (menu *Kernel*, *Restart Kernel and Run All
# Cells*), save it (*Ctrl+S*), and pack what you hand in with the last cell.

# %%
progress("exercises")

# %%
# Is the notebook saved? Then take away the # in front of the next line, and run this cell.
# from attnlab import pack; pack()
