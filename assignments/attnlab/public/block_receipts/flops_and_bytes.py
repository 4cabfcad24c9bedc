"""Part 6 in public: the numbers in print."""

from __future__ import annotations

from attnlab.public.block_receipts.asks import exactly, nearly
from attnlab.public.declare import Checks, Lab

check = Checks("flops_and_bytes")

FLOP = "article, section 5"
SHARE = "section 7.6, when does attention actually dominate"


@check("attention_flops.printed", read=FLOP)
def both_quadratic_matmuls(lab: Lab) -> None:
    """At 1,024 tokens, 32 heads of 128 take 8,589,934,592 FLOPs for the scores and as many for the weighted sum."""
    known = {
        8_589_934_592: "One of the two, or an addition is not counted beside a multiplication.",
        536_870_912: "Every head does it.",
        16_777_216: "It grows with the square of the length.",
    }
    exactly(lab, "attention_flops", 1024, 32, 128, wanted=17_179_869_184, known=known)
    exactly(lab, "attention_flops", 1, 1, 1, wanted=4, known={2: "2 for the scores, 2 for the weighted sum."})


@check("projection_flops.printed", read=FLOP)
def four_projections_of_all_tokens(lab: Lab) -> None:
    """At 1,024 tokens the four projections take 137,438,953,472 FLOPs; with 8 KV heads 85,899,345,920."""
    known = {68_719_476_736: "2 for each weight: a multiplication and an addition.", 34_359_738_368: "One of four."}
    exactly(lab, "projection_flops", 1024, 4096, 32, 32, 128, wanted=137_438_953_472, known=known)
    known = {137_438_953_472: "Keys and values have fewer heads here."}
    exactly(lab, "projection_flops", 1024, 4096, 32, 8, 128, wanted=85_899_345_920, known=known)


@check("score_matrix_bytes.printed", read=FLOP)
def scores_of_one_layer(lab: Lab) -> None:
    """32 heads in fp32: 128 MiB at 1,024 tokens, 8 GiB at 8,192, 2 TiB at 131,072."""
    for n, wanted in ((1024, 128 * 2**20), (8192, 8 * 2**30), (131_072, 2 * 2**40)):
        known = {wanted / 32: "Every head has its scores.", wanted / 2: "4 bytes a score by default, not 2."}
        exactly(lab, "score_matrix_bytes", n, 32, wanted=wanted, known=known)
    exactly(lab, "score_matrix_bytes", 10, 3, itemsize=2, wanted=600, known={1200: "`itemsize` is not used."})


@check("bytes_at.printed", read=FLOP)
def formats_in_print(lab: Lab) -> None:
    """67,108,864 numbers take 256 MiB in fp32, 128 in bf16 and fp16, 64 in fp8; int4 numbers take half a byte."""
    for dtype, wanted in (("fp32", 256), ("bf16", 128), ("fp16", 128), ("fp8", 64), ("int8", 64), ("int4", 32)):
        size = wanted * 2**20
        known = {8 * size: "Bits; bytes are asked.", 2 * size: "Two int4 numbers share a byte."}
        exactly(lab, "bytes_at", 67_108_864, dtype, wanted=size, known=known)


@check("attention_share.printed", read=SHARE)
def crossover_in_print(lab: Lab) -> None:
    """Half at n = 6d, 18% at 1,024 tokens and a width of 768, 14% at 4,096 and 4,096: as fractions."""
    known = {
        0.75: "The feed-forward layer belongs to the whole too.",
        50.0: "Percent; a fraction is asked.",
        1.0: "A share is one part over both.",
    }
    nearly(lab.attention_share(6 * 768, 768), "attention_share(4608, 768)", 0.5, 1e-9, known)
    for n, d, wanted in ((1024, 768, 0.18), (32_768, 768, 0.88), (4096, 4096, 0.14)):
        nearly(lab.attention_share(n, d), f"attention_share({n}, {d})", wanted, 0.005)
