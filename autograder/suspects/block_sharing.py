"""Mistakes of part 9 of ``block_receipts``: shared keys, their caches, the router and its experts."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "gqa_mqa_moe"
GQA = "7.6, GQA and MQA: fewer keys, same queries"
MOE = "7.7, Mixture of Experts"


@suspect(
    "tile_instead_of_repeat",
    task=TASK,
    hint="The heads are tiled, so that neighbouring query heads do not share one.",
    read=GQA,
)
def expand_kv(k, n_rep):
    return np.concatenate([k] * n_rep, axis=-3)


@suspect("tokens_repeated", task=TASK, hint="The tokens are repeated, and the heads should be.", read=GQA)
def expand_kv(k, n_rep):
    return np.repeat(k, n_rep, axis=-2)


@suspect(
    "batch_repeated", task=TASK, hint="The first axis is repeated, which is the batch where there is one.", read=GQA
)
def expand_kv(k, n_rep):
    return np.repeat(k, n_rep, axis=0)


@suspect("kv_heads_expanded_backwards", task=TASK, hint="The groups come in the opposite order.", read=GQA)
def expand_kv(k, n_rep):
    return np.repeat(np.flip(k, axis=-3), n_rep, axis=-3)


@suspect(
    "kv_axis_added",
    task=TASK,
    hint="The copies stand on an axis of their own, and the head axis should get longer.",
    read=GQA,
)
def expand_kv(k, n_rep):
    return np.repeat(np.expand_dims(k, -3), n_rep, axis=-3)


@suspect("kv_not_expanded", task=TASK, hint="The heads come back as they are.", read=GQA)
def expand_kv(k, n_rep):
    return k


@suspect(
    "table_without_values",
    task=TASK,
    hint="Keys and values are both stored, and one of them is missing in the table.",
    read=GQA,
)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = layers * head_dim * tokens * itemsize
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": one}


@suspect(
    "query_heads_in_the_cache",
    task=TASK,
    hint="The cache of shared heads has as many heads here as there are queries.",
    read=GQA,
)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 2 * layers * head_dim * tokens * itemsize
    return {"mha": n_heads * one, "gqa": n_heads * one, "mqa": one}


@suspect(
    "group_size_for_group_count",
    task=TASK,
    hint="The number of queries in a group is taken for the number of groups.",
    read=GQA,
)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 2 * layers * head_dim * tokens * itemsize
    return {"mha": n_heads * one, "gqa": n_heads // n_kv_heads * one, "mqa": one}


@suspect("table_of_one_layer", task=TASK, hint="Every layer has a cache of its own, and one is in the table.", read=GQA)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 2 * head_dim * tokens * itemsize
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": one}


@suspect("table_bytes_fixed", task=TASK, hint="The bytes of a cached number are written into the table.", read=GQA)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 4 * layers * head_dim * tokens
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": one}


@suspect("table_in_gigabytes", task=TASK, hint="The table is in gigabytes, and bytes are asked.", read=GQA)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 2 * layers * head_dim * tokens * itemsize / 1e9
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": one}


@suspect(
    "mqa_per_query_head",
    task=TASK,
    hint="All queries share one head in the last scheme, and here none is left or each has its own.",
    read=GQA,
)
def kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2):
    one = 2 * layers * head_dim * tokens * itemsize
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": n_heads * one}


@suspect(
    "gates_not_renormalised",
    task=TASK,
    hint="The gates are those of a softmax over all experts, and those of the chosen should share one.",
    read=MOE,
)
def top_k_router(x, W_r, k):
    s = x @ W_r
    e = np.exp(s - s.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return np.where(s >= np.sort(s, -1)[..., -k, None], p, 0)


@suspect("every_expert_used", task=TASK, hint="Every expert gets a share, and only the best ones run.", read=MOE)
def top_k_router(x, W_r, k):
    s = x @ W_r
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@suspect("worst_experts_chosen", task=TASK, hint="The experts with the smallest scores are chosen.", read=MOE)
def top_k_router(x, W_r, k):
    s = x @ W_r
    s = np.where(s <= np.sort(s, -1)[..., k - 1, None], s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@suspect(
    "hidden_scores_zero",
    task=TASK,
    hint="Experts that are not chosen keep a score of zero, and a share with it.",
    read=MOE,
)
def top_k_router(x, W_r, k):
    s = x @ W_r
    s = np.where(s >= np.sort(s, -1)[..., -k, None], s, 0.0)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@suspect("equal_gates", task=TASK, hint="All chosen experts get the same share, whatever their scores.", read=MOE)
def top_k_router(x, W_r, k):
    s = x @ W_r
    return (s >= np.sort(s, -1)[..., -k, None]) / k


@suspect(
    "scores_as_gates", task=TASK, hint="The raw scores come back for the chosen experts, without a softmax.", read=MOE
)
def top_k_router(x, W_r, k):
    s = x @ W_r
    return np.where(s >= np.sort(s, -1)[..., -k, None], s, 0.0)


@suspect("shares_of_scores", task=TASK, hint="The scores are divided by their sum, where a softmax belongs.", read=MOE)
def top_k_router(x, W_r, k):
    s = x @ W_r
    s = np.where(s >= np.sort(s, -1)[..., -k, None], s, 0.0)
    return s / s.sum(-1, keepdims=True)


@suspect(
    "experts_choose_tokens",
    task=TASK,
    hint="Each expert chooses its tokens, where each token chooses its experts.",
    read=MOE,
)
def top_k_router(x, W_r, k):
    s = x @ W_r
    if s.ndim == 1:
        s = s[None]
    s = np.where(s >= np.sort(s, -2)[..., -min(k, s.shape[-2]), :][..., None, :], s, -1e30)
    e = np.exp(s - s.max(-2, keepdims=True))
    return e / e.sum(-2, keepdims=True)


@suspect("one_expert_too_many", task=TASK, hint="One expert more than asked is chosen.", read=MOE)
def top_k_router(x, W_r, k):
    s = x @ W_r
    s = np.where(s >= np.sort(s, -1)[..., -min(k + 1, s.shape[-1]), None], s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@suspect(
    "router_overflows",
    task=TASK,
    hint="The exponentials overflow for large scores: take the largest off first.",
    read="7.2, step four",
)
def top_k_router(x, W_r, k):
    s = x @ W_r
    e = np.where(s >= np.sort(s, -1)[..., -k, None], np.exp(s), 0.0)
    return e / e.sum(-1, keepdims=True)


@suspect(
    "active_for_total", task=TASK, hint="Total and active parameters are exchanged, or one stands for both.", read=MOE
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2, matrices * d_model * d_ff
    return layers * (a + top_k * e), layers * (a + n_experts * e)


@same_mistake("active_for_total")
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2, matrices * d_model * d_ff
    return layers * (a + top_k * e), layers * (a + top_k * e)


@suspect(
    "attention_of_moe_forgotten",
    task=TASK,
    hint="Attention has parameters too, and only the experts are counted.",
    read=MOE,
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    e = matrices * d_model * d_ff
    return layers * n_experts * e, layers * top_k * e


@suspect(
    "attention_once_per_expert",
    task=TASK,
    hint="Attention is multiplied by the number of experts, and it is there once.",
    read=MOE,
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    one = 4 * d_model**2 + matrices * d_model * d_ff
    return layers * n_experts * one, layers * top_k * one


@suspect("router_counted", task=TASK, hint="The router's matrix is in the count, and it is left out here.", read=MOE)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2 + d_model * n_experts, matrices * d_model * d_ff
    return layers * (a + n_experts * e), layers * (a + top_k * e)


@suspect(
    "experts_of_one_layer", task=TASK, hint="Every layer has experts of its own, and one layer is counted.", read=MOE
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2, matrices * d_model * d_ff
    return a + n_experts * e, a + top_k * e


@suspect(
    "experts_with_two_matrices",
    task=TASK,
    hint="Experts have two matrices here, also where they have a gate.",
    read=MOE,
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2, 2 * d_model * d_ff
    return layers * (a + n_experts * e), layers * (a + top_k * e)


@suspect(
    "active_in_proportion",
    task=TASK,
    hint="The active part is a fraction of everything, and attention is active as a whole.",
    read=MOE,
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    total = layers * (4 * d_model**2 + n_experts * matrices * d_model * d_ff)
    return total, total * top_k / n_experts


@suspect(
    "expert_width_fixed",
    task=TASK,
    hint="The inner width of an expert is taken to be four times the model's.",
    read=MOE,
)
def moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2):
    a, e = 4 * d_model**2, 4 * matrices * d_model**2
    return layers * (a + n_experts * e), layers * (a + top_k * e)


@suspect("shared_part_forgotten", task=TASK, hint="What the experts share must be held too.", read=MOE)
def moe_bytes(shared, n_experts, per_expert, n_active, itemsize):
    return n_experts * per_expert * itemsize


@suspect(
    "active_experts_held",
    task=TASK,
    hint="Only the active experts are held here, and any expert may be chosen.",
    read=MOE,
)
def moe_bytes(shared, n_experts, per_expert, n_active, itemsize):
    return (shared + n_active * per_expert) * itemsize


@suspect(
    "shared_part_per_expert",
    task=TASK,
    hint="The shared part is held once for every expert here, and it is held once.",
    read=MOE,
)
def moe_bytes(shared, n_experts, per_expert, n_active, itemsize):
    return n_experts * (shared + per_expert) * itemsize


@suspect(
    "shared_part_in_one_byte",
    task=TASK,
    hint="The shared part is not multiplied by the bytes of a parameter.",
    read=MOE,
)
def moe_bytes(shared, n_experts, per_expert, n_active, itemsize):
    return shared + n_experts * per_expert * itemsize


@suspect("parameters_for_bytes", task=TASK, hint="This counts parameters, and their bytes are asked.", read=MOE)
def moe_bytes(shared, n_experts, per_expert, n_active, itemsize):
    return shared + n_experts * per_expert
