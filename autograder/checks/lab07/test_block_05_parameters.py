"""Part 5, parameters: ``attention_params``, ``ffn_params``, ``model_params``, ``ffn_share`` (section 7.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import count, distinct, rate
from autograder.lab import Lab
from autograder.reference.block_costs import GPT2, LLAMA, Config

check = Task("block_receipts", "parameters")


def config(rng: np.random.Generator, **fixed: Any) -> Config:
    """A model whose numbers are all different, with fewer KV heads, and heads that are not as wide as the model."""
    d_model, layers, kv, head_dim, d_ff, positions = distinct(rng, 6, 3)
    sizes = {"vocab": int(rng.integers(200, 400)), "positions": positions + 30, "d_model": d_model, "layers": layers}
    heads = {"n_heads": 2 * kv, "n_kv_heads": kv, "head_dim": head_dim, "d_ff": d_ff + 40, "ffn_matrices": 2}
    return {**sizes, **heads, "biases": False, "norm": "rms", "tied": True, **fixed}


# ---- attention_params(d_model, n_heads, n_kv_heads, head_dim)
@check("attention_params.full_width")
def test_four_projections_at_full_width(lab: Lab, rng: np.random.Generator) -> None:
    """Queries, keys, values and the output: four matrices between the model's width and that of all heads."""
    # Heads that are together wider than the model: 4·d_model² is not the answer. Three matrices, and biases, show.
    for _ in range(2):
        d_model, heads, head_dim = distinct(rng, 3)
        hint = "Each matrix is d_model by (number of heads · head_dim), and W_o is one too."
        count(lab, "attention_params", d_model, heads, heads, head_dim, hint=hint)


@check("attention_params.kv_heads", needs=["attention_params.full_width"])
def test_only_keys_and_values_have_fewer_heads(lab: Lab, rng: np.random.Generator) -> None:
    """With fewer KV heads, W_k and W_v get narrower, and W_q and W_o do not."""
    # One of the two alone, or all four, narrowed.
    for rep in (2, 3, 8):
        d_model, kv, head_dim = distinct(rng, 3)
        hint = "W_k and W_v feed n_kv_heads heads, W_q and W_o all n_heads."
        count(lab, "attention_params", d_model, rep * kv, kv, head_dim, hint=hint)


@check("attention_params.llama", needs=["attention_params.full_width"])
def test_attention_of_real_models(lab: Lab, rng: np.random.Generator) -> None:
    """The printed counts: 67.1 M at full width, 41.9 M with 8 KV heads."""
    # The widths of other models beside them, so that the printed number alone does not do.
    for shape in ((4096, 32, 32, 128), (4096, 32, 8, 128), (8192, 64, 8, 128), (3072, 16, 16, 256)):
        count(lab, "attention_params", *shape, hint="Compare with the article, section 7.")


# ---- ffn_params(d_model, d_ff, matrices=2)
@check("ffn_params.two_matrices")
def test_up_and_down(lab: Lab, rng: np.random.Generator) -> None:
    """Two matrices between the model's width and the inner one, without biases."""
    # d_ff is no multiple of d_model: 8·d_model² is the case of 4·d_model alone.
    for _ in range(2):
        d_model, d_ff = distinct(rng, 2, 5)
        count(lab, "ffn_params", d_model, 7 * d_ff + 1, hint="One matrix up and one down, each d_model by d_ff.")


@check("ffn_params.three_matrices", needs=["ffn_params.two_matrices"])
def test_a_gated_layer_has_three(lab: Lab, rng: np.random.Generator) -> None:
    """`matrices` says how many there are: a gated layer has three."""
    for matrices in (3, 2):
        d_model, d_ff = distinct(rng, 2, 5)
        hint = "Gate, up and down are three matrices of the same size."
        count(lab, "ffn_params", d_model, d_ff, matrices=matrices, hint=hint)


@check("ffn_params.printed", needs=["ffn_params.two_matrices"])
def test_feed_forward_of_real_models(lab: Lab) -> None:
    """The printed counts: 4,718,592 and 134,217,728 for two matrices, 176.2 M for three."""
    for d_model, d_ff, matrices in ((768, 3072, 2), (4096, 16384, 2), (4096, 14336, 3), (8192, 28672, 3)):
        count(lab, "ffn_params", d_model, d_ff, matrices=matrices, hint="Compare with section 7.3.")


# ---- model_params(config)
def _model(lab: Lab, described: Config, hint: str) -> None:
    count(lab, "model_params", described, hint=hint)


@check("model_params.matrices")
def test_tables_and_blocks(lab: Lab, rng: np.random.Generator) -> None:
    """Token table, position table, and in each block the matrices of attention and feed-forward, with RMS norms."""
    # Numbers that are all different, so that a table or a matrix that is left out or counted twice shows; 12·d_model²
    # for a block is not the answer here.
    hint = "Token table, positions, all matrices of each block, two norms a block and one at the end."
    for _ in range(2):
        _model(lab, config(rng), hint)


@check("model_params.switches", needs=["model_params.matrices"])
def test_every_switch_of_a_config(lab: Lab, rng: np.random.Generator) -> None:
    """Untied tables, a gated layer, layer norm, and no position table: each changes the count by what it adds."""
    for name, value, hint in (
        ("tied", False, "Untied, the output has a table of its own, as large as the first and without a bias."),
        ("ffn_matrices", 3, "A gated layer has three matrices."),
        ("norm", "layer", "Layer norm has gamma and beta, RMSNorm gamma alone, in every block and at the end."),
        ("positions", 0, "Without learned positions there is no table of them."),
    ):
        _model(lab, config(rng, **{name: value}), hint)


@check("model_params.biases", needs=["model_params.matrices"])
def test_biases_are_as_wide_as_outputs(lab: Lab, rng: np.random.Generator) -> None:
    """With biases, every matrix of a block has one as wide as its output."""
    # Keys and values are narrower, so their biases are too; d_ff is the width of the gate's and the up matrix's.
    for matrices in (2, 3):
        hint = "A bias is as wide as what its matrix gives: W_k and W_v give n_kv_heads · head_dim, W_o gives d_model."
        _model(lab, config(rng, biases=True, ffn_matrices=matrices, norm="layer"), hint)


@check("model_params.printed", needs=["model_params.matrices"])
def test_real_models_are_counted_exactly(lab: Lab) -> None:
    """The printed totals: GPT-2 small exactly, Llama-3-8B untied and tied."""
    hint = "Compare with the closed count of section 7.3 and with section 13 of the article."
    for described in (GPT2, {**GPT2, "layers": 24, "d_model": 1024, "n_heads": 16, "n_kv_heads": 16, "d_ff": 4096}):
        _model(lab, described, hint)
    for tied in (False, True):
        _model(lab, {**LLAMA, "tied": tied}, hint)


@check("model_params.unchanged", needs=["model_params.matrices"])
def test_a_config_may_be_counted_twice(lab: Lab, rng: np.random.Generator) -> None:
    """A second model is counted by itself, with other keys in its config or none."""
    first, second = config(rng), config(rng, biases=True, rope_base=500000.0)
    for described in (first, second, first):
        _model(lab, described, "Nothing may be kept from an earlier model; other keys do not matter.")


# ---- ffn_share(config)
@check("ffn_share.any_model")
def test_share_of_any_block(lab: Lab, rng: np.random.Generator) -> None:
    """The feed-forward part of a block's matrices, between 0 and 1."""
    # Biases and norms are in neither part; embeddings belong to no block; percent is not a share.
    for fixed in ({"biases": True, "norm": "layer"}, {"ffn_matrices": 3, "tied": False}):
        hint = "Matrices of the feed-forward layer over those of both; no biases, no norms, no tables."
        rate(lab, "ffn_share", config(rng, **fixed), hint=hint)


@check("ffn_share.kv_heads", needs=["ffn_share.any_model"])
def test_share_rises_with_fewer_kv_heads(lab: Lab, rng: np.random.Generator) -> None:
    """Fewer KV heads make attention smaller, so the share of the rest rises."""
    for n_heads, kv in ((12, 12), (12, 3), (12, 1)):
        hint = "Keys and values have n_kv_heads heads in this share too."
        rate(lab, "ffn_share", config(rng, n_heads=n_heads, n_kv_heads=kv), hint=hint)


@check("ffn_share.printed", needs=["ffn_share.any_model"])
def test_printed_shares(lab: Lab) -> None:
    """67% for GPT-2's shape, 81 and 82% for Llama 3's."""
    larger = {**LLAMA, "d_model": 8192, "layers": 80, "n_heads": 64, "d_ff": 28672}
    for described in (GPT2, LLAMA, larger):
        rate(lab, "ffn_share", described, hint="Compare with section 9 of the article.")
