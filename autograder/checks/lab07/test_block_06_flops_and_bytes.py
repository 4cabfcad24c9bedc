"""Part 6, FLOPs and bytes: quadratic matmuls, projections, score matrices, formats (section 7.6, article 5)."""

from __future__ import annotations

import numpy as np

from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import count, distinct, rate
from autograder.lab import Lab

check = Task("block_receipts", "flops_and_bytes")

_FLOP = "(a, b) @ (b, c) takes 2abc: a multiplication and an addition each time."


# ---- attention_flops(n, n_heads, head_dim)
_BOTH = f"Q Kᵀ and weights @ V both count, for every head. {_FLOP}"


@check("attention_flops.both_matmuls")
def test_scores_and_weighted_sum(lab: Lab, rng: np.random.Generator) -> None:
    """The scores and the weighted sum together, an addition counted like a multiplication."""
    # Half of it is one matmul, or multiply-adds counted once; all four numbers differ.
    for _ in range(2):
        n, heads, head_dim = distinct(rng, 3, 3)
        count(lab, "attention_flops", n, heads, head_dim, hint=_BOTH)


@check("attention_flops.growth", needs=["attention_flops.both_matmuls"])
def test_flops_grow_with_the_square_of_n(lab: Lab, rng: np.random.Generator) -> None:
    """Four times as many for twice the tokens, twice as many for twice the heads or twice their width."""
    n, heads, head_dim = distinct(rng, 3, 3)
    for asked in ((2 * n, heads, head_dim), (n, 2 * heads, head_dim), (n, heads, 2 * head_dim), (1, 1, 1)):
        count(lab, "attention_flops", *asked, hint="Every token meets every token, in every head.")


@check("attention_flops.article", needs=["attention_flops.both_matmuls"])
def test_flops_of_the_article(lab: Lab) -> None:
    """8.6 G for each of the two at 1,024 tokens, however many heads share the width."""
    for heads, head_dim in ((1, 4096), (8, 512), (32, 128), (64, 64)):
        count(lab, "attention_flops", 1024, heads, head_dim, hint="Compare with section 5 of the article: 8.6 + 8.6 G.")
    # Far beyond 32 bits; Python's integers hold it, and so would a float.
    count(lab, "attention_flops", 131072, 128, 128, hint="The product is far beyond 32 bits.")


# ---- projection_flops(n, d_model, n_heads, n_kv_heads, head_dim)
@check("projection_flops.full_width")
def test_four_projections_of_n_tokens(lab: Lab, rng: np.random.Generator) -> None:
    """Each weight of the four matrices is used in one multiplication and one addition per token."""
    for _ in range(2):
        n, d_model, heads, head_dim = distinct(rng, 4, 3)
        hint = f"Four matrices, W_o included, applied to n tokens. {_FLOP}"
        count(lab, "projection_flops", n, d_model, heads, heads, head_dim, hint=hint)


@check("projection_flops.kv_heads", needs=["projection_flops.full_width"])
def test_fewer_kv_heads_take_fewer_flops(lab: Lab, rng: np.random.Generator) -> None:
    """Narrower keys and values are also cheaper to compute, and the cost is linear in n."""
    n, d_model, kv, head_dim = distinct(rng, 4, 3)
    for tokens in (n, 2 * n, 1):
        hint = "Linear in n; W_k and W_v have n_kv_heads heads."
        count(lab, "projection_flops", tokens, d_model, 4 * kv, kv, head_dim, hint=hint)


@check("projection_flops.article", needs=["projection_flops.full_width"])
def test_projections_of_the_article(lab: Lab) -> None:
    """137.4 G at 1,024 tokens and full width, 85.9 G with 8 KV heads."""
    for kv in (32, 8):
        count(lab, "projection_flops", 1024, 4096, 32, kv, 128, hint="Compare with section 5 of the article.")


# ---- score_matrix_bytes(n, n_heads, itemsize=4)
@check("score_matrix_bytes.every_head")
def test_every_head_holds_its_scores(lab: Lab, rng: np.random.Generator) -> None:
    """n × n scores for every head, 4 bytes each where nothing else is said."""
    # One head only, linear in n, and 2 bytes as in the lab show.
    for _ in range(2):
        n, heads = distinct(rng, 2, 5)
        count(lab, "score_matrix_bytes", 10 * n + 1, heads, hint="heads · n · n · itemsize, with 4 bytes by default.")


@check("score_matrix_bytes.itemsize", needs=["score_matrix_bytes.every_head"])
def test_bytes_of_one_score(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one score."""
    for itemsize in (8, 2, 1):
        n, heads = distinct(rng, 2, 5)
        count(lab, "score_matrix_bytes", n, heads, itemsize=itemsize, hint="itemsize is in bytes, not in bits.")


@check("score_matrix_bytes.article", needs=["score_matrix_bytes.every_head"])
def test_score_matrices_of_the_article(lab: Lab) -> None:
    """128 MiB, 8 GiB, 128 GiB and 2 TiB for 32 heads."""
    # 32-bit integers overflow from 8,192 tokens on.
    for n in (1024, 8192, 32768, 131072):
        count(lab, "score_matrix_bytes", n, 32, hint="Compare with section 5 of the article; a MiB is 2^20 bytes.")


# ---- bytes_at(parameters, dtype)
_FORMATS = "A format is named by its bits: divide them by 8."


@check("bytes_at.floats")
def test_floating_point_formats(lab: Lab, rng: np.random.Generator) -> None:
    """4 bytes for fp32, 2 for bf16 and fp16, 1 for fp8."""
    # All in one check: an answer that ignores the format is right for one of them.
    for dtype in ("fp32", "bf16", "fp16", "fp8"):
        count(lab, "bytes_at", int(rng.integers(1000, 9000)) * 2, dtype, hint=_FORMATS)


@check("bytes_at.integers", needs=["bytes_at.floats"])
def test_integer_formats(lab: Lab, rng: np.random.Generator) -> None:
    """1 byte for int8, half a byte for int4."""
    for dtype in ("int8", "int4"):
        count(lab, "bytes_at", int(rng.integers(1000, 9000)) * 2, dtype, hint="Two int4 numbers share a byte.")


@check("bytes_at.article", needs=["bytes_at.floats"])
def test_weights_of_the_article(lab: Lab) -> None:
    """256, 128, 128 and 64 MiB for four matrices, and 32.1 to 4.0 GB for 8.03 billion parameters."""
    for dtype in ("fp32", "bf16", "fp16", "fp8"):
        count(lab, "bytes_at", 67_108_864, dtype, hint="Compare with section 5 of the article.")
    for dtype in ("fp32", "bf16", "int8", "int4"):
        count(lab, "bytes_at", 8_030_000_000, dtype, hint="Compare with section 6 of the article.")


# ---- attention_share(n, d)
_SHARE = "4n²d over 24nd² + 4n²d, a number between 0 and 1."


@check("attention_share.any_length")
def test_share_of_the_quadratic_part(lab: Lab, rng: np.random.Generator) -> None:
    """The part of a block's FLOPs that is quadratic, for short and long sequences."""
    # Against the projections alone it would be n/(n + 2d), with one matmul n/(n + 12d); percent is not a share.
    for n in (1, 40, 100_000):
        rate(lab, "attention_share", int(n * rng.integers(2, 9)), int(rng.integers(20, 900)), hint=_SHARE)


@check("attention_share.crossover", needs=["attention_share.any_length"])
def test_crossover_at_six_widths(lab: Lab, rng: np.random.Generator) -> None:
    """Exactly half at n = 6d, whatever d is."""
    for d in (768, 4096, int(rng.integers(50, 900))):
        rate(lab, "attention_share", 6 * d, d, hint="At n = 6d both parts are equal.")


@check("attention_share.chapter", needs=["attention_share.any_length"])
def test_shares_of_the_chapter(lab: Lab) -> None:
    """The chapter's table: 18, 50 and 88% at a width of 768, 14, 50 and 80% at 4,096."""
    for n, d in ((1024, 768), (32768, 768), (4096, 4096), (100_000, 4096)):
        rate(lab, "attention_share", n, d, hint="Compare with the table of section 7.6.")
