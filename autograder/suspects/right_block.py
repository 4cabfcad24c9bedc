"""Right definitions of every name of ``block_receipts``, beside those of the lab in ``right.py``.

The ground on which each suspect of that notebook makes its one mistake; not the truth that marks are measured
against, which is ``autograder.reference``. Only ``np``, ``math`` and the lab's functions are used from around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.suspects.right import self_attention, softmax

Array = np.ndarray[Any, Any]


def split_heads(x: Array, h: int) -> Array:
    """``(..., n, h*w)`` → ``(..., h, n, w)``, heads from neighbouring columns (7.3)."""
    return np.asarray(np.swapaxes(x.reshape(*x.shape[:-1], h, x.shape[-1] // h), -2, -3))


def merge_heads(x: Array) -> Array:
    """``(..., h, n, w)`` → ``(..., n, h*w)`` (7.3)."""
    moved = np.swapaxes(x, -2, -3)
    return np.asarray(moved.reshape(*moved.shape[:-2], -1))


def multi_head(X: Array, heads: Sequence[Sequence[Array]], W_o: Array, mask: Array | None = None) -> dict[str, Array]:
    """Weights ``(..., h, n, n)``, concatenation ``(..., n, h*d_v)``, output ``(..., n, d_model)`` (7.3)."""
    found = [self_attention(X, W_q, W_k, W_v, mask=mask) for W_q, W_k, W_v in heads]
    concatenated = merge_heads(np.stack([output for output, _ in found], axis=-3))
    weights = np.stack([weights for _, weights in found], axis=-3)
    return {"weights": weights, "concatenated": concatenated, "output": concatenated @ W_o}


def layer_norm(x: Array, eps: float = 1e-5) -> Array:
    """Mean 0 and variance 1 in each row (7.3)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps))


def rms_norm(x: Array, weight: Array, eps: float = 1e-5) -> Array:
    """Each row over the root of its mean square, times ``weight`` (7.3)."""
    return np.asarray(x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * weight)


def pre_norm(x: Array, norm: Callable[[Array], Array], sublayer: Callable[[Array], Array]) -> Array:
    """The norm on the branch (7.3)."""
    return np.asarray(x + sublayer(norm(x)))


def ffn_relu(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
    """Two layers with ReLU between them (7.3)."""
    return np.asarray(np.maximum(x @ W1 + b1, 0) @ W2 + b2)


def gelu(z: Array) -> Array:
    """``z Φ(z)`` (7.3)."""
    return np.asarray(z * (1 + np.vectorize(math.erf, otypes=[float])(np.asarray(z) / math.sqrt(2))) / 2)


def swiglu(x: Array, W_gate: Array, W_up: Array, W_down: Array) -> Array:
    """A gated feed-forward layer (7.3)."""
    gate = x @ W_gate
    with np.errstate(over="ignore"):
        return np.asarray((gate / (1 + np.exp(-gate)) * (x @ W_up)) @ W_down)


def detectors_fired(x: Array, W1: Array, b1: Array) -> tuple[Array, Array]:
    """Activations, and which detectors fire at all (7.3)."""
    activations = np.maximum(x @ W1 + b1, 0)
    return activations, (activations > 0).any(axis=tuple(range(activations.ndim - 1)))


def block(x: Array, params: Mapping[str, Any], mask: Array | None = None) -> Array:
    """A pre-norm block, or one without its first norm (7.3)."""
    seen = layer_norm(x) if params["norm_first"] else x
    stream = x + multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return np.asarray(stream + ffn_relu(layer_norm(stream), params["W1"], params["b1"], params["W2"], params["b2"]))


def attention_params(d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """Weights of the four projections (7.3)."""
    return 2 * d_model * head_dim * (n_heads + n_kv_heads)


def ffn_params(d_model: int, d_ff: int, matrices: int = 2) -> int:
    """Weights of a feed-forward layer (7.3)."""
    return matrices * d_model * d_ff


def model_params(config: Mapping[str, Any]) -> int:
    """Every parameter of a model (7.3; article, section 13)."""
    d, q, kv, d_ff = config["d_model"], config["n_heads"], config["n_kv_heads"], config["d_ff"]
    one = attention_params(d, q, kv, config["head_dim"]) + ffn_params(d, d_ff, config["ffn_matrices"])
    if config["biases"]:
        one += (q + 2 * kv) * config["head_dim"] + d + (config["ffn_matrices"] - 1) * d_ff + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return int(tables * d + config["layers"] * (one + 2 * norm) + norm)


def ffn_share(config: Mapping[str, Any]) -> float:
    """Feed-forward part of a block's matrices (article, section 9)."""
    attention = attention_params(config["d_model"], config["n_heads"], config["n_kv_heads"], config["head_dim"])
    ffn = ffn_params(config["d_model"], config["d_ff"], config["ffn_matrices"])
    return ffn / (ffn + attention)


def attention_flops(n: int, n_heads: int, head_dim: int) -> int:
    """Scores and weighted sum (article, section 5)."""
    return 4 * n * n * n_heads * head_dim


def projection_flops(n: int, d_model: int, n_heads: int, n_kv_heads: int, head_dim: int) -> int:
    """The four projections of ``n`` tokens (article, section 5)."""
    return 2 * n * attention_params(d_model, n_heads, n_kv_heads, head_dim)


def score_matrix_bytes(n: int, n_heads: int, itemsize: int = 4) -> int:
    """Scores of one layer (article, section 5)."""
    return n * n * n_heads * itemsize


def bytes_at(parameters: int, dtype: str) -> int:
    """Bytes of so many numbers (article, section 5)."""
    bits = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
    return parameters * bits[dtype] // 8


def attention_share(n: int, d: int) -> float:
    """Quadratic part of a block's FLOPs (7.6)."""
    return n / (n + 6 * d)


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    """Cache bytes of one token (7.6)."""
    return 2 * layers * kv_heads * head_dim * itemsize


def concurrent_sequences(free_bytes: int, context: int, bytes_per_token: int) -> int:
    """Whole sequences that fit (article, section 6)."""
    return free_bytes // (context * bytes_per_token)


def roofline_tokens_per_second(
    parameters: float, itemsize: float, flops_per_second: float, bytes_per_second: float
) -> tuple[float, float]:
    """Compute-bound and bandwidth-bound (article, section 6)."""
    return flops_per_second / (2 * parameters), bytes_per_second / (parameters * itemsize)


def max_context(
    memory_bytes: int, weight_bytes: int, users: int, layers: int, kv_heads: int, head_dim: int, itemsize: int = 2
) -> int:
    """Whole tokens for each user (exercise 9)."""
    return (memory_bytes - weight_bytes) // (users * kv_bytes_per_token(layers, kv_heads, head_dim, itemsize))


def training_bytes(parameters: int) -> int:
    """State of training (article, section 6)."""
    return 16 * parameters


def activation_bytes(layers: int, n: int, d_model: int, batch: int = 1, itemsize: int = 2) -> int:
    """Saved inputs of all blocks (article, section 6)."""
    return layers * batch * n * d_model * itemsize


def logits_bytes(n: int, vocab: int, batch: int = 1, itemsize: int = 4) -> int:
    """All logits (article, section 6)."""
    return batch * n * vocab * itemsize


def training_flops(parameters: int, tokens: int) -> int:
    """6ND (7.8)."""
    return 6 * parameters * tokens


def gpu_years(gpu_hours: float) -> float:
    """Hours in years (article, section 6)."""
    return gpu_hours / 8766


def expand_kv(k: Array, n_rep: int) -> Array:
    """Each KV head for a group of query heads (7.6)."""
    return np.repeat(k, n_rep, axis=-3)


def kv_table(
    layers: int, n_heads: int, n_kv_heads: int, head_dim: int, tokens: int, itemsize: int = 2
) -> dict[str, int]:
    """Caches of MHA, GQA and MQA (7.6)."""
    one = tokens * kv_bytes_per_token(layers, 1, head_dim, itemsize)
    return {"mha": n_heads * one, "gqa": n_kv_heads * one, "mqa": one}


def top_k_router(x: Array, W_r: Array, k: int) -> Array:
    """Softmax over the ``k`` best experts (7.7)."""
    scores = x @ W_r
    kept = scores >= np.sort(scores, axis=-1)[..., -k, None]
    return softmax(np.where(kept, scores, -np.inf))


def moe_params(d_model: int, d_ff: int, layers: int, n_experts: int, top_k: int, matrices: int = 2) -> tuple[int, int]:
    """Total and active parameters (7.7)."""
    attention, expert = 4 * d_model**2, ffn_params(d_model, d_ff, matrices)
    return layers * (attention + n_experts * expert), layers * (attention + top_k * expert)


def moe_bytes(shared: int, n_experts: int, per_expert: int, n_active: int, itemsize: int) -> int:
    """Resident bytes (7.7)."""
    return (shared + n_experts * per_expert) * itemsize


def is_additive(fn: Callable[[Array], Array], x: Array, y: Array, tolerance: float = 1e-9) -> bool:
    """Whether ``fn(x + y)`` is ``fn(x) + fn(y)`` (article, section 9)."""
    together, one, other = fn(x + y), fn(x), fn(y)
    allowed = tolerance * (1 + np.max(np.abs(one)) + np.max(np.abs(other)))
    return bool(np.all(np.abs(together - one - other) <= allowed))


def collapse_two_layers(W1: Array, b1: Array, W2: Array, b2: Array) -> tuple[Array, Array]:
    """One layer for two (article, section 9)."""
    return W1 @ W2, b1 @ W2 + b2


def ffn_as_slots(x: Array, W1: Array, b1: Array, W2: Array) -> Array:
    """What each slot adds (article, section 9)."""
    return np.asarray(np.maximum(x @ W1 + b1, 0)[..., None] * W2)


def two_key_weight(gap: Any) -> Any:
    """The weight of the higher of two keys (article, section 11)."""
    return 1 / (1 + np.exp(-np.asarray(gap, dtype=float)))


def entropy(weights: Array) -> Array:
    """Nats over the last axis (article, section 11)."""
    safe = np.where(weights > 0, weights, 1.0)
    return np.asarray(-np.sum(weights * np.log(safe), axis=-1))


def scaling_sweep(batches: Sequence[tuple[Array, Array]]) -> list[dict[str, float]]:
    """Largest weight and entropy with and without the scale (article, section 11)."""
    rows = []
    for queries, keys in batches:
        scores = np.einsum("td,tkd->tk", queries, keys)
        row = {"logit_std": float(np.std(scores))}
        for name, scale in (("unscaled", 1.0), ("scaled", math.sqrt(queries.shape[-1]))):
            weights = softmax(scores / scale)
            row[f"max_weight_{name}"] = float(np.mean(np.max(weights, axis=-1)))
            row[f"entropy_{name}"] = float(np.mean(entropy(weights)))
        rows.append(row)
    return rows


def moved_positions(model: Any, tokens: Sequence[int], position: int) -> Array:
    """How far each position's logits move when one id changes (article, section 13)."""
    swapped = list(tokens)
    swapped[position] = (swapped[position] + 1) % model.vocab
    return np.asarray(np.max(np.abs(model(swapped) - model(list(tokens))), axis=-1))


def linear_backward(X: Array, W: Array, dY: Array) -> tuple[Array, Array]:
    """``dW`` and ``dX`` (article, section 13)."""
    return X.T @ dY, dY @ W.T


def rope(x: Array, positions: Array, base: float = 10000.0) -> Array:
    """Neighbouring coordinates turned as a pair (7.4)."""
    d = x.shape[-1]
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    a, b = x[..., ::2], x[..., 1::2]
    turned = [a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)]
    return np.stack(turned, axis=-1).reshape(x.shape)


def rope_halves(x: Array, positions: Array, base: float = 10000.0) -> Array:
    """Coordinates ``i`` and ``i + d/2`` turned as a pair (article, section 14)."""
    d = x.shape[-1]
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    a, b = x[..., : d // 2], x[..., d // 2 :]
    turned = [a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)]
    return np.concatenate(turned, axis=-1)


def pairing_permutation(d: int) -> Array:
    """Evens, then odds (7.4; article, section 14)."""
    return np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])


def rope_periods(head_dim: int, base: float = 10000.0) -> Array:
    """Positions in a full turn (article, section 14)."""
    return np.asarray(2 * math.pi * base ** (np.arange(0, head_dim, 2) / head_dim))


def alibi_slopes(n_heads: int) -> Array:
    """``2^(-8i/n_heads)`` from 1 on (7.4)."""
    return np.asarray(2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads))


def alibi_bias(n: int, slope: float) -> Array:
    """Minus slope times distance, minus infinity above (7.4)."""
    distance = np.arange(n)[:, None] - np.arange(n)
    return np.where(distance >= 0, -slope * distance, -np.inf)


def same_on_both(fn: Callable[[Any], Array], device_a: Any, device_b: Any, tolerance: float = 1e-6) -> bool:
    """Whether a function gives the same on two devices (article, section 15)."""
    one, other = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= tolerance))
