"""Mistakes of part 6 of ``block_receipts``: FLOPs and bytes that are forgotten, or counted twice."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

COST = "flops_and_bytes"
GROUPED = "the article, section 7, What changes with grouped-query attention"
FLOP = "the article, section 5, What a FLOP is, and how to count one"
SCORES = "the article, section 5, Except in one place: the score matrix"
WEIGH = "the article, section 5, What those numbers weigh"
DOMINATE = "7.6, When does attention actually dominate?"


@suspect(
    "macs_not_flops",
    task=COST,
    hint="A multiplication and an addition count as one here, and as two is asked.",
    read=FLOP,
)
def attention_flops(n, n_heads, head_dim):
    return 2 * n * n * n_heads * head_dim


@suspect("linear_in_n", task=COST, hint="Every token meets every token, and here each meets only one.", read=DOMINATE)
def attention_flops(n, n_heads, head_dim):
    return 4 * n * n_heads * head_dim * head_dim


@same_mistake("linear_in_n")
def attention_flops(n, n_heads, head_dim):
    return 4 * n * n_heads * head_dim


@suspect("flops_of_one_head", task=COST, hint="Only one head is counted.", read=FLOP)
def attention_flops(n, n_heads, head_dim):
    return 4 * n * n * head_dim


@suspect("softmax_counted", task=COST, hint="The softmax is counted too, and only matmuls are asked.", read=FLOP)
def attention_flops(n, n_heads, head_dim):
    return 4 * n * n * n_heads * head_dim + 3 * n * n * n_heads


@suspect("causal_half", task=COST, hint="Only the visible half of the scores is counted.", read=FLOP)
def attention_flops(n, n_heads, head_dim):
    return 2 * n * (n + 1) * n_heads * head_dim


@suspect(
    "projections_counted_too",
    task=COST,
    hint="The projections are in it, and only what grows with the square is asked.",
    read=FLOP,
)
def attention_flops(n, n_heads, head_dim):
    return 4 * n * n * n_heads * head_dim + 8 * n * (n_heads * head_dim) ** 2


@suspect(
    "projection_macs", task=COST, hint="A multiplication and an addition count as one in the projections.", read=FLOP
)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 2 * n * d_model * head_dim * (n_heads + n_kv_heads)


@suspect("three_projections", task=COST, hint="The output projection is not counted.", read=FLOP)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 2 * n * d_model * head_dim * (n_heads + 2 * n_kv_heads)


@suspect("one_projection", task=COST, hint="One projection is counted, and there are four.", read=FLOP)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 2 * n * d_model * n_heads * head_dim


@suspect("projections_at_full_width", task=COST, hint="Keys and values have their full width here.", read=GROUPED)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 8 * n * d_model * n_heads * head_dim


@suspect(
    "projections_quadratic", task=COST, hint="The projections grow with the square of the length here.", read=DOMINATE
)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 4 * n * n * d_model * head_dim * (n_heads + n_kv_heads)


@suspect("one_token_projected", task=COST, hint="Only one token goes through the projections.", read=FLOP)
def projection_flops(n, d_model, n_heads, n_kv_heads, head_dim):
    return 4 * d_model * head_dim * (n_heads + n_kv_heads)


@suspect("one_score_matrix", task=COST, hint="Every head has a score matrix of its own.", read=SCORES)
def score_matrix_bytes(n, n_heads, itemsize=4):
    return n * n * itemsize


@suspect("scores_linear", task=COST, hint="The scores of a head are a square, and here they are a row.", read=SCORES)
def score_matrix_bytes(n, n_heads, itemsize=4):
    return n * n_heads * itemsize


@suspect("scores_in_half_precision", task=COST, hint="Without a word about it, a score takes four bytes.", read=SCORES)
def score_matrix_bytes(n, n_heads, itemsize=2):
    return n * n * n_heads * itemsize


@suspect("score_bytes_fixed", task=COST, hint="The bytes of a score are written in.", read=SCORES)
def score_matrix_bytes(n, n_heads, itemsize=4):
    return n * n * n_heads * 4


@suspect("score_bits", task=COST, hint="This counts bits, and bytes are asked.", read=WEIGH)
def score_matrix_bytes(n, n_heads, itemsize=4):
    return 8 * n * n * n_heads * itemsize


@suspect("score_entries", task=COST, hint="This counts numbers, and bytes are asked.", read=WEIGH)
def score_matrix_bytes(n, n_heads, itemsize=4):
    return n * n * n_heads


@suspect("bits_not_bytes", task=COST, hint="The bits of the format are not divided by eight.", read=WEIGH)
def bytes_at(parameters, dtype):
    return parameters * int("".join(c for c in dtype if c.isdigit()))


@suspect(
    "half_bytes_rounded_up", task=COST, hint="Two four-bit numbers share a byte, and here each takes one.", read=WEIGH
)
def bytes_at(parameters, dtype):
    return parameters * {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 1}[dtype]


@same_mistake("half_bytes_rounded_up")
def bytes_at(parameters, dtype):
    return parameters * ({"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}[dtype] // 8)


@suspect("always_two_bytes", task=COST, hint="The format has no effect: every number takes two bytes.", read=WEIGH)
def bytes_at(parameters, dtype):
    return 2 * parameters


@suspect(
    "bfloat_as_single",
    task=COST,
    hint="The brain float format takes as many bytes here as single precision.",
    read=WEIGH,
)
def bytes_at(parameters, dtype):
    return int(parameters * {"fp32": 4, "bf16": 4, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5}[dtype])


@suspect(
    "share_in_percent", task=COST, hint="A share is a number up to one, and this one is in percent.", read=DOMINATE
)
def attention_share(n, d):
    return 100 * n / (n + 6 * d)


@suspect(
    "one_matmul_in_the_share", task=COST, hint="Scores and weighted sum both count, and one is missing.", read=DOMINATE
)
def attention_share(n, d):
    return n / (n + 12 * d)


@suspect(
    "share_of_attention_alone",
    task=COST,
    hint="The feed-forward layer is not in the whole, only the projections are.",
    read=DOMINATE,
)
def attention_share(n, d):
    return n / (n + 2 * d)


@suspect(
    "ratio_not_share",
    task=COST,
    hint="This is one part over the other, and over both together is asked.",
    read=DOMINATE,
)
def attention_share(n, d):
    return n / (6 * d)


@suspect(
    "share_of_the_rest",
    task=COST,
    hint="This is the share of the rest, and of the quadratic part is asked.",
    read=DOMINATE,
)
def attention_share(n, d):
    return 6 * d / (n + 6 * d)


@suspect(
    "projections_in_the_share", task=COST, hint="The projections are counted as if they were quadratic.", read=DOMINATE
)
def attention_share(n, d):
    return (n + 2 * d) / (n + 6 * d)
