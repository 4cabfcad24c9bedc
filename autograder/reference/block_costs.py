"""What a block and a model cost: parameters, FLOPs, bytes and time, each by listing what is there and adding up.

A student multiplies a closed formula out; here every matrix, table and tensor is listed by its shape first, so that a
forgotten or doubled factor cannot be in both. Whole numbers are exact integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

Shape = tuple[int, ...]
Config = dict[str, Any]

#: GPT-2 small (section 7.3) and Llama-3-8B (article, sections 1 and 13), as their configurations give them.
GPT2: Config = {
    "vocab": 50257,
    "positions": 1024,
    "d_model": 768,
    "layers": 12,
    "n_heads": 12,
    "n_kv_heads": 12,
    "head_dim": 64,
    "d_ff": 3072,
    "ffn_matrices": 2,
    "biases": True,
    "norm": "layer",
    "tied": True,
}
LLAMA: Config = {
    "vocab": 128256,
    "positions": 0,
    "d_model": 4096,
    "layers": 32,
    "n_heads": 32,
    "n_kv_heads": 8,
    "head_dim": 128,
    "d_ff": 14336,
    "ffn_matrices": 3,
    "biases": False,
    "norm": "rms",
    "tied": False,
}

#: Bits of one number in each storage format. Article, section 5 (and 6 for the integer formats).
BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
#: Bytes that training holds for each parameter: weights, gradients, master copy, two moments. Article, section 6.
TRAINING_STATE = {"bf16 weights": 2, "bf16 gradients": 2, "fp32 master": 4, "Adam m": 4, "Adam v": 4}
#: Hours of a year of 365.25 days.
HOURS_PER_YEAR = 365.25 * 24


def attention_matrices(d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> list[Shape]:
    """W_q, W_k, W_v, W_o as (in, out). Sections 7.3 and 7.6: only keys and values have ``n_kv_heads`` heads."""
    queries, keys = n_heads * head_dim, n_kv_heads * head_dim
    return [(d_model, queries), (d_model, keys), (d_model, keys), (queries, d_model)]


def ffn_layers(d_model: int, d_ff: int, matrices: int) -> list[Shape]:
    """Up and down, or gate, up and down, as (in, out). Section 7.3."""
    up: list[Shape] = [(d_model, d_ff)] * (matrices - 1)
    return [*up, (d_ff, d_model)]


def total(shapes: list[Shape]) -> int:
    """Numbers in tensors of these shapes."""
    return sum(math.prod(shape) for shape in shapes)


def attention_params(d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """Weights of the four projections, no biases. Section 7.3: 4d² at full width; article 7: 41.9 M for Llama-3-8B."""
    return total(attention_matrices(d_model, n_heads, n_kv_heads, head_dim))


def ffn_params(d_model: int, d_ff: int, matrices: int = 2) -> int:
    """Weights of the feed-forward layer, no biases. Section 7.3: 8d²; article 9: 176.2 M for Llama-3-8B."""
    return total(ffn_layers(d_model, d_ff, matrices))


def model_params(config: Mapping[str, Any]) -> int:
    """Every parameter of a model. Section 7.3: 124,439,808 for GPT-2 small; article 13: 8.030 B for Llama-3-8B."""
    d = config["d_model"]
    return total(list(_tensors(config, d)))


def _tensors(config: Mapping[str, Any], d: int) -> Iterator[Shape]:
    yield config["vocab"], d
    yield config["positions"], d
    if not config["tied"]:
        yield d, config["vocab"]
    norm = [(d,), (d,)] if config["norm"] == "layer" else [(d,)]
    for _ in range(config["layers"]):
        for matrix in _block_matrices(config):
            yield matrix
            if config["biases"]:
                yield (matrix[1],)
        yield from norm + norm
    yield from norm


def _block_matrices(config: Mapping[str, Any]) -> list[Shape]:
    attention = attention_matrices(*(config[key] for key in ("d_model", "n_heads", "n_kv_heads", "head_dim")))
    return attention + ffn_layers(config["d_model"], config["d_ff"], config["ffn_matrices"])


def ffn_share(config: Mapping[str, Any]) -> float:
    """Part of a block's matrices that is feed-forward. Article, section 9: 67, 81 and 82%."""
    matrices = _block_matrices(config)
    return float(Fraction(total(matrices[4:]), total(matrices)))


# ---- arithmetic and memory (7.6, article 5)
def matmul_flops(a: int, b: int, c: int) -> int:
    """``(a, b) @ (b, c)``: a multiplication and an addition for each of the ``a*c`` entries and ``b`` terms."""
    return a * c * (b + b)


def attention_flops(n: int, n_heads: int, head_dim: int) -> int:
    """Both matmuls that grow with n²: scores and the weighted sum. Article 5: 8.6 G each at 1,024 tokens."""
    return sum(matmul_flops(n, head_dim, n) + matmul_flops(n, n, head_dim) for _ in range(n_heads))


def projection_flops(n: int, d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """The four projections of ``n`` tokens. Article 5: 137.4 G at 1,024 tokens and full width."""
    matrices = attention_matrices(d_model, n_heads, n_kv_heads, head_dim)
    return sum(matmul_flops(n, rows, columns) for rows, columns in matrices)


def score_matrix_bytes(n: int, n_heads: int, itemsize: int = 4) -> int:
    """The scores of all heads of one layer. Article 5: 128 MiB, 8 GiB, 128 GiB, 2 TiB."""
    return sum(n * n * itemsize for _ in range(n_heads))


def bytes_at(parameters: int, dtype: str) -> int:
    """Bytes of so many numbers in a format. Article 5: 256, 128, 128, 64 MiB."""
    return parameters * BITS[dtype] // 8


def attention_share(n: int, d: int) -> float:
    """Part of a block's FLOPs in the two n² matmuls, at full width and d_ff = 4d. Section 7.6: half at n = 6d."""
    quadratic = attention_flops(n, 1, d)
    linear = projection_flops(n, d, 1, 1, d) + sum(matmul_flops(n, *shape) for shape in ((d, 4 * d), (4 * d, d)))
    return float(Fraction(quadratic, quadratic + linear))


# ---- serving (7.6, article 6)
def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    """A key and a value for every layer and head. Article 6: 128 KiB (8 heads) and 512 KiB (32)."""
    return total([(layers, kv_heads, head_dim, itemsize)] * 2)


def concurrent_sequences(free_bytes: int, context: int, bytes_per_token: int) -> int:
    """Whole sequences that fit. Article 6: about 54, 13 and 3 in 58 GB."""
    return int(free_bytes // (context * bytes_per_token))


def roofline_tokens_per_second(
    parameters: float, itemsize: float, flops_per_second: float, bytes_per_second: float
) -> tuple[float, float]:
    """Compute-bound and bandwidth-bound decode steps a second, batch 1. Article 6: 19,427 and 127; 61,644 and 209."""
    arithmetic, movement = 2.0 * parameters / flops_per_second, parameters * itemsize / bytes_per_second
    return 1.0 / arithmetic, 1.0 / movement


def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """Whole tokens for each user once the weights are held. Exercise 9: 17,166 and 137,329."""
    return (memory_bytes - weight_bytes) // (users * kv_bytes_per_token(layers, kv_heads, head_dim, itemsize))


def kv_table(
    layers: int, n_heads: int, n_kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2
) -> dict[str, int]:
    """Cache bytes of the three schemes. Section 7.6: 52.4, 13.1 and 1.6 GB."""
    heads = {"mha": n_heads, "gqa": n_kv_heads, "mqa": 1}
    return {name: tokens * kv_bytes_per_token(layers, h, head_dim, itemsize) for name, h in heads.items()}


# ---- experts (7.7)
def moe_params(
    d_model: int, d_ff: int, layers: int, n_experts: int, top_k: int, matrices: int = 2
) -> tuple[int, int]:
    """Total and active parameters, without router and embeddings. Section 7.7: 36.5 B and 10.7 B."""
    attention = total([(d_model, d_model)] * 4)
    expert = ffn_params(d_model, d_ff, matrices)
    held, used = (layers * (attention + sum([expert] * count)) for count in (n_experts, top_k))
    return held, used


def moe_bytes(shared: int, n_experts: int, per_expert: int, n_active: int, itemsize: int) -> int:
    """Bytes that must be resident: any expert may be chosen, so ``n_active`` has no part in it. Section 7.7."""
    return sum([shared, *[per_expert] * n_experts]) * itemsize


# ---- training (article 6)
def training_bytes(parameters: int) -> int:
    """Weights, gradients and optimizer state. Article 6: 128.5 GB for 8.03 B."""
    return sum(parameters * each for each in TRAINING_STATE.values())


def activation_bytes(layers: int, n: int, d_model: int, batch: int = 1, itemsize: int = 2) -> int:
    """One input saved for each block, everything else recomputed. Article 6: 1.1 GB."""
    return total([(batch, n, d_model, itemsize)] * layers)


def logits_bytes(n: int, vocab: int, batch: int = 1, itemsize: int = 4) -> int:
    """A score for every word at every position. Article 6: 2.1 GB."""
    return total([(n, vocab, itemsize)] * batch)


def training_flops(parameters: float, tokens: float) -> float:
    """A forward pass and a backward one of twice its cost, for every token. Article 6: 7.2e23."""
    forward = 2.0 * parameters * tokens
    return forward + 2.0 * forward


def gpu_years(gpu_hours: float) -> float:
    """Article 6: 148 for 1.3 million hours."""
    return gpu_hours / HOURS_PER_YEAR
