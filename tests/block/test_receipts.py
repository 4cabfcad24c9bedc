"""Every number in print comes out of right code: exactly, within a tolerance that is said, or on this machine only.

A receipt names what is compared and how. ``exact`` numbers are equal; ``within`` ones have the last printed digit as
their tolerance, or a sampling error; ``here`` ones are rounding errors, which another machine has in another size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from attnlab import chapter
from autograder.reference.attention import causal_mask
from autograder.release import mutants
from tests.filled_in import BLOCK

Label = Literal["exact", "within", "here"]


@dataclass(frozen=True)
class Receipt:
    """``compute(solution's names)`` against ``printed``, as its ``label`` says; ``tolerance`` is absolute."""

    what: str
    label: Label
    printed: Any
    compute: Callable[[dict[str, Any]], Any]
    tolerance: float = 0.0


HEADS = ((chapter.W_Q, chapter.W_K, chapter.W_V), chapter.HEAD_2)
LAYERS = {"W1": chapter.W_1, "b1": chapter.B_1, "W2": chapter.W_2, "b2": chapter.B_2}
THE_BLOCK = {"heads": HEADS, "W_o": chapter.W_O, "norm_first": False, **LAYERS}
GPT2, LLAMA = chapter.MODELS["GPT-2 small"], chapter.MODELS["Llama-3-8B"]
N = 8_030_000_000  # the article's own rounding of Llama-3-8B


def heads(s: dict[str, Any]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = s["multi_head"](chapter.X, HEADS, chapter.W_O)
    return found


def stream(s: dict[str, Any]) -> np.ndarray:
    return np.asarray(chapter.X + heads(s)["output"])


def normed(s: dict[str, Any]) -> np.ndarray:
    return np.asarray(s["layer_norm"](stream(s)))


def exact(what: str, printed: Any, compute: Callable[[dict[str, Any]], Any]) -> Receipt:
    return Receipt(what, "exact", printed, compute)


def within(what: str, printed: Any, tolerance: float, compute: Callable[[dict[str, Any]], Any]) -> Receipt:
    return Receipt(what, "within", printed, compute, tolerance)


def here(what: str, at_most: float, compute: Callable[[dict[str, Any]], Any]) -> Receipt:
    return Receipt(what, "here", at_most, compute)


def table(name: str, compute: Callable[[dict[str, Any]], Any]) -> Receipt:
    return within(f"7.3, the table of {name}", chapter.PRINTED[name], chapter.PRINTED_TOLERANCE, compute)


IN_THE_BLOCK = (
    table("head_2_weights", lambda s: heads(s)["weights"][1]),
    table("concatenated", lambda s: heads(s)["concatenated"]),
    table("projected", lambda s: heads(s)["output"]),
    table("residual", stream),
    table("layer_norm", normed),
    table("detectors", lambda s: s["detectors_fired"](normed(s), chapter.W_1, chapter.B_1)[0].T),
    table("block", lambda s: s["block"](chapter.X, THE_BLOCK)),
    exact("7.3, rows 3, 7 and 8 never fire", [2, 6, 7], lambda s: _silent(s)),
    within("7.3, içti leaves as", [0.6438, 1.1810, 1.6654, 0.5], 5e-5, lambda s: s["block"](chapter.X, THE_BLOCK)[2]),
    within("7.3, içti's length on the way in", 1.03, 5e-3, lambda s: np.linalg.norm(chapter.X[2])),
    within("7.3, lengths on the way out", (2.2, 2.7), 5e-2, lambda s: _lengths(s)),
    within(
        "7.3, içti misses animate + action by", -0.066, 5e-4, lambda s: (normed(s) @ chapter.W_1 + chapter.B_1)[2, 0]
    ),
    exact("article 4, head 3 owns the dimensions 384 to 511", [384, 511], lambda s: _third_head(s)),
    within(
        "7.3, RMSNorm keeps the mean",
        [0.3162, 0.9487],
        5e-5,
        lambda s: s["rms_norm"](np.array([1.0, 3.0]), np.ones(2)) / 1.41421356,
    ),
)

PARAMETERS = (
    exact("article 7, attention at full width", 67_108_864, lambda s: s["attention_params"](4096, 32, 32, 128)),
    within("article 7, with 8 KV heads, millions", 41.9, 5e-2, lambda s: s["attention_params"](4096, 32, 8, 128) / 1e6),
    exact("7.3, feed-forward at d = 768", 4_718_592, lambda s: s["ffn_params"](768, 3072)),
    exact("7.3, feed-forward at d = 8192", 536_870_912, lambda s: s["ffn_params"](8192, 32768)),
    within(
        "article 9, Llama 3's feed-forward, millions",
        176.2,
        5e-2,
        lambda s: s["ffn_params"](4096, 14336, matrices=3) / 1e6,
    ),
    exact("7.3, GPT-2 small", 124_439_808, lambda s: s["model_params"](GPT2)),
    within("article 13, Llama-3-8B untied, billions", 8.030, 5e-4, lambda s: s["model_params"](LLAMA) / 1e9),
    within("article 13, tied", 7.505, 5e-4, lambda s: s["model_params"]({**LLAMA, "tied": True}) / 1e9),
    within(
        "article 9, shares in percent",
        [67, 81, 82],
        0.5,
        lambda s: [100 * s["ffn_share"](chapter.MODELS[m]) for m in ("GPT-2 XL", "Llama-3-8B", "Llama-3-70B")],
    ),
)

COSTS = (
    within(
        "article 5, projections at 1,024 tokens, G",
        137.4,
        5e-2,
        lambda s: s["projection_flops"](1024, 4096, 32, 32, 128) / 1e9,
    ),
    within(
        "article 5, scores and weighted sum, G", 8.6 + 8.6, 0.1, lambda s: s["attention_flops"](1024, 32, 128) / 1e9
    ),
    within("article 5, both quadratic matmuls, percent", 11.1, 5e-2, lambda s: _quadratic_percent(s)),
    exact(
        "article 5, score matrices",
        [128 * 2**20, 8 * 2**30, 128 * 2**30, 2 * 2**40],
        lambda s: [s["score_matrix_bytes"](n, 32) for n in (1024, 8192, 32768, 131072)],
    ),
    exact(
        "article 5, 67.1 M numbers in MiB",
        [256, 128, 128, 64],
        lambda s: [s["bytes_at"](67_108_864, f) // 2**20 for f in ("fp32", "bf16", "fp16", "fp8")],
    ),
    within(
        "article 6, weights in GB",
        [32.1, 16.1, 8.0, 4.0],
        5e-2,
        lambda s: [s["bytes_at"](N, f) / 1e9 for f in ("fp32", "bf16", "int8", "int4")],
    ),
    exact("7.6, half at n = 6d", 0.5, lambda s: s["attention_share"](6 * 768, 768)),
    within(
        "7.6, shares in percent",
        [18, 88, 14, 80],
        0.5,
        lambda s: [
            100 * s["attention_share"](n, d) for n, d in ((1024, 768), (32768, 768), (4096, 4096), (100_000, 4096))
        ],
    ),
    exact(
        "article 6, KiB a token with 8 and 32 KV heads",
        [128, 512],
        lambda s: [s["kv_bytes_per_token"](32, h, 128) // 1024 for h in (8, 32)],
    ),
    within(
        "article 6, thousand tokens of cache",
        442,
        0.5,
        lambda s: (77e9 - 2 * N - 3e9) / s["kv_bytes_per_token"](32, 8, 128) / 1e3,
    ),
    exact(
        "article 6, sequences in 58 GB",
        [54, 13, 3],
        lambda s: [s["concurrent_sequences"](58 * 10**9, n, 131072) for n in (8192, 32768, 131072)],
    ),
    within(
        "article 6, the A100's two ceilings",
        [19_427, 127],
        0.5,
        lambda s: s["roofline_tokens_per_second"](N, 2, 312e12, 2.04e12),
    ),
    within(
        "article 6, the H100's two ceilings",
        [61_644, 209],
        0.5,
        lambda s: s["roofline_tokens_per_second"](N, 2, 990e12, 3.35e12),
    ),
    exact(
        "exercise 9, tokens for each user",
        [17_166, 137_329],
        lambda s: [s["max_context"](320 * 10**9, 140 * 10**9, 4, 80, h, 128) for h in (64, 8)],
    ),
    within("article 6, training state in GB", 128.5, 5e-2, lambda s: s["training_bytes"](N) / 1e9),
    within(
        "article 6, checkpointed activations in GB", 1.1, 5e-2, lambda s: s["activation_bytes"](32, 4096, 4096) / 1e9
    ),
    within("article 6, logits in GB", 2.1, 5e-2, lambda s: s["logits_bytes"](4096, 128256) / 1e9),
    within("article 6, compute of the run, 1e23", 7.2, 5e-2, lambda s: s["training_flops"](N, 15 * 10**12) / 1e23),
    within("article 6, GPU-years", 148, 0.5, lambda s: s["gpu_years"](1_300_000)),
    within(
        "7.6, caches in GB",
        [52.4, 13.1, 1.6],
        5e-2,
        lambda s: [b / 1e9 for b in s["kv_table"](32, 32, 8, 128, 100_000).values()],
    ),
    within(
        "7.7, parameters in billions",
        [36.5, 10.7],
        5e-2,
        lambda s: [n / 1e9 for n in s["moe_params"](4096, 16384, 32, 8, 2)],
    ),
)

BELIEFS = (
    exact("article 9, ReLU doubles and does not add", (True, False), lambda s: _relu(s)),
    here("article 9, two layers are one", 1e-10, lambda s: _collapsed_gap(s)),
    here("article 9, slots against the matmul", 1e-12, lambda s: _slot_gap(s)),
    within(
        "article 11, two keys",
        [0.7310586, 0.8807971, 0.9820138, 0.9996646, 0.9999999],
        6e-8,
        lambda s: s["two_key_weight"](np.array([1.0, 2.0, 4.0, 8.0, 16.0])),
    ),
    within("article 4, evenly over 12", 2.48, 5e-3, lambda s: s["entropy"](np.full(12, 1 / 12))),
    # 512 trials as in the article; its entropies were drawn too, so both sampling errors count (4 σ).
    within("article 11, entropy unscaled at d_k = 1024", 0.0674, 0.03, lambda s: sweep(s)[4]["entropy_unscaled"]),
    within(
        "article 11, entropy scaled",
        [1.7548, 1.735, 1.7407, 1.7318, 1.7103],
        0.06,
        lambda s: [row["entropy_scaled"] for row in sweep(s)],
    ),
    within(
        "article 11, spread over √d_k",
        [1, 1, 1, 1, 1],
        0.08,
        lambda s: [row["logit_std"] / math.sqrt(d) for row, d in zip(sweep(s), WIDTHS, strict=True)],
    ),
    exact("article 13, earlier positions stay", [0, 0], lambda s: moved(s)[:2].tolist()),
    exact("article 13, later positions move", [True, True, True], lambda s: (moved(s)[2:] > 1e-3).tolist()),
    here("article 13, against autograd", 1e-13, lambda s: _autograd_gap(s)),
    within(
        "7.4, RoPE scores by offset",
        [2.152941, 3.606170, 5.453257, 6.457170, 8.827710, -0.061180, -13.740668],
        5e-7,
        lambda s: [rope_score(s, m, 0) for m in (0, 1, 2, 5, 10, 50, 200)],
    ),
    here(
        "7.4, the spread of a score over starts",
        5e-12,
        lambda s: np.ptp([rope_score(s, n + 5, n) for n in (0, 100, 1000, 5000)]),
    ),
    here(
        "article 14, the halves' spread",
        5e-12,
        lambda s: np.ptp([rope_score(s, n - 3, n, "rope_halves") for n in (3, 8, 108, 4096)]),
    ),
    within(
        "article 14, positions in a full turn",
        [6.28, 62.8, 628, 6283, 54410],
        0.5,
        lambda s: np.asarray(s["rope_periods"](128))[[0, 16, 32, 48, 63]],
    ),
    exact("7.4, eight slopes", [2.0**-i for i in range(1, 9)], lambda s: np.asarray(s["alibi_slopes"](8)).tolist()),
    exact(
        "7.4, the 6 × 6 bias",
        [[-0.5 * (i - j) if j <= i else -math.inf for j in range(6)] for i in range(6)],
        lambda s: np.asarray(s["alibi_bias"](6, 0.5)).tolist(),
    ),
)

RECEIPTS = (*IN_THE_BLOCK, *PARAMETERS, *COSTS, *BELIEFS)
WIDTHS = (4, 16, 64, 256, 1024)


def _silent(s: dict[str, Any]) -> list[int]:
    used = s["detectors_fired"](normed(s), chapter.W_1, chapter.B_1)[1]
    return np.flatnonzero(~np.asarray(used)).tolist()


def _lengths(s: dict[str, Any]) -> tuple[float, float]:
    lengths = np.linalg.norm(s["block"](chapter.X, THE_BLOCK), axis=1)
    return float(lengths.min()), float(lengths.max())


def _third_head(s: dict[str, Any]) -> list[float]:
    head = s["split_heads"](np.arange(4096.0)[np.newaxis], 32)[3, 0]
    return [head[0], head[-1]]


def _quadratic_percent(s: dict[str, Any]) -> float:
    quadratic = s["attention_flops"](1024, 32, 128)
    return float(100 * quadratic / (quadratic + s["projection_flops"](1024, 4096, 32, 32, 128)))


def _relu(s: dict[str, Any]) -> tuple[bool, bool]:
    rng = np.random.default_rng(9)
    up, down = rng.normal(size=(8, 32)), rng.normal(size=(32, 8))
    x, y = rng.normal(size=(2, 5, 8))

    def layer(v: np.ndarray) -> np.ndarray:
        return np.asarray(s["ffn_relu"](v, up, np.zeros(32), down, np.zeros(8)))

    return np.array_equal(layer(2 * x), 2 * layer(x)), bool(s["is_additive"](layer, x, y))


def _collapsed_gap(s: dict[str, Any]) -> float:
    rng = np.random.default_rng(9)
    layers = [rng.normal(size=shape) for shape in ((64, 256), (256,), (256, 64), (64,))]
    x, (W, b) = rng.normal(size=(10, 64)), s["collapse_two_layers"](*layers)
    return float(np.abs((x @ layers[0] + layers[1]) @ layers[2] + layers[3] - (x @ W + b)).max())


def _slot_gap(s: dict[str, Any]) -> float:
    rng = np.random.default_rng(9)
    x, W1, b1, W2 = (rng.normal(size=shape) for shape in ((6, 16), (16, 64), (64,), (64, 16)))
    slots = s["ffn_as_slots"](x, W1, b1, W2)
    return float(np.abs(np.sum(slots, axis=-2) - s["ffn_relu"](x, W1, b1, W2, np.zeros(16))).max())


def sweep(s: dict[str, Any]) -> list[dict[str, float]]:
    rng = np.random.default_rng(0)
    found: list[dict[str, float]] = s["scaling_sweep"](
        [(rng.normal(size=(512, d)), rng.normal(size=(512, 8, d))) for d in WIDTHS]
    )
    return found


class BlockModel:
    """A language model of one block with a causal mask: the article's receipt, on five ids."""

    vocab = 50

    def __init__(self, s: dict[str, Any]) -> None:
        rng = np.random.default_rng(13)
        self._block, self._table = s["block"], rng.normal(size=(self.vocab, 8))
        shapes = {"W_o": (8, 8), "W1": (8, 16), "b1": (16,), "W2": (16, 8), "b2": (8,)}
        pairs = [tuple(0.5 * rng.normal(size=(8, 4)) for _ in range(3)) for _ in range(2)]
        drawn = {name: 0.5 * rng.normal(size=shape) for name, shape in shapes.items()}
        self._params = {"heads": pairs, "norm_first": True, **drawn}

    def __call__(self, ids: Any) -> np.ndarray:
        x = self._table[np.asarray(ids)]
        return np.asarray(self._block(x, self._params, mask=causal_mask(len(x))) @ self._table.T)


def moved(s: dict[str, Any]) -> np.ndarray:
    return np.asarray(s["moved_positions"](BlockModel(s), [5, 9, 12, 3, 7], 2))


def _autograd_gap(s: dict[str, Any]) -> float:
    import torch

    rng = np.random.default_rng(13)
    X, W, dY = (rng.normal(size=shape) for shape in ((6, 5), (5, 4), (6, 4)))
    x, w = (torch.from_numpy(a).requires_grad_() for a in (X.copy(), W.copy()))
    (x @ w).backward(torch.from_numpy(dY))
    dW, dX = s["linear_backward"](X, W, dY)
    assert w.grad is not None and x.grad is not None
    return float(max(np.abs(dW - w.grad.numpy()).max(), np.abs(dX - x.grad.numpy()).max()))


def rope_score(s: dict[str, Any], m: int, n: int, pairing: str = "rope") -> float:
    rng = np.random.default_rng(11)  # the chapter's own query and key
    q, k = rng.normal(size=64), rng.normal(size=64)
    turned = [s[pairing](vector[np.newaxis], np.array([at]))[0] for vector, at in ((q, m), (k, n))]
    return float(turned[0] @ turned[1])


@functools.cache
def names() -> dict[str, Any]:
    return mutants.bound(BLOCK.solution())


@pytest.mark.parametrize("receipt", RECEIPTS, ids=[f"{r.label}: {r.what}" for r in RECEIPTS])
def test_the_number_in_print_comes_out(receipt: Receipt) -> None:
    found = receipt.compute(names())
    if receipt.label == "exact":
        assert found == receipt.printed
    elif receipt.label == "within":
        assert np.abs(np.asarray(found, float) - np.asarray(receipt.printed, float)).max() <= receipt.tolerance
    else:
        # Of this machine: only that it is rounding is asked.
        assert 0 <= found <= receipt.printed


def test_every_receipt_says_how_it_is_compared() -> None:
    labels = [receipt.label for receipt in RECEIPTS]
    assert {label: labels.count(label) >= 5 for label in ("exact", "within", "here")} == dict.fromkeys(
        ("exact", "within", "here"), True
    )
    assert all((receipt.label == "within") == (receipt.tolerance > 0) for receipt in RECEIPTS)
    assert len({receipt.what for receipt in RECEIPTS}) == len(RECEIPTS) > 50
