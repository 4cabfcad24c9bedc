"""The parts of the notebook ``block_receipts``: chapter sections 7.3 to 7.8 and the article on the block."""

from __future__ import annotations

from attnlab.step import Step


def _part(number: int, identifier: str, title: str, functions: str, read: str, written: str = "") -> Step:
    return Step(identifier, number, title, tuple(functions.split()), read, written, notebook="block_receipts")


PARTS: tuple[Step, ...] = (
    _part(1, "multi_head", "Two heads", "self_attention split_heads merge_heads multi_head", "chapter section 7.3"),
    _part(2, "residual_and_norms", "Residual and norms", "layer_norm rms_norm pre_norm", "chapter section 7.3"),
    _part(3, "feed_forward", "The feed-forward layer", "ffn_relu gelu swiglu detectors_fired", "chapter section 7.3"),
    _part(4, "whole_block", "The whole block", "block", "chapter section 7.3"),
    _part(
        5,
        "parameters",
        "Parameters",
        "attention_params ffn_params model_params ffn_share",
        "chapter section 7.3 and article section 13",
    ),
    _part(
        6,
        "flops_and_bytes",
        "FLOPs and bytes",
        "attention_flops projection_flops score_matrix_bytes bytes_at attention_share",
        "chapter section 7.6 and article section 5",
    ),
    _part(
        7,
        "serving",
        "Serving",
        "kv_bytes_per_token concurrent_sequences roofline_tokens_per_second max_context",
        "chapter section 7.6 and article section 6",
        "Your answer on what limits the service is read by a person.",
    ),
    _part(
        8,
        "training",
        "Training",
        "training_bytes activation_bytes logits_bytes training_flops gpu_years",
        "chapter section 7.8 and article section 6",
    ),
    _part(
        9,
        "gqa_mqa_moe",
        "GQA, MQA and MoE",
        "expand_kv kv_table top_k_router moe_params moe_bytes",
        "chapter sections 7.6 and 7.7",
    ),
    _part(
        10,
        "linear_or_not",
        "Linear or not",
        "is_additive collapse_two_layers ffn_as_slots",
        "chapter section 7.3 and article section 9",
    ),
    _part(11, "why_sqrt_dk", "Why √d_k", "two_key_weight entropy scaling_sweep", "article section 11"),
    _part(12, "causality", "Causality in a model", "moved_positions", "article section 13"),
    _part(13, "backward", "Backward costs two", "linear_backward", "article section 13"),
    _part(
        14,
        "positions",
        "Positions",
        "rope rope_halves pairing_permutation rope_periods alibi_slopes alibi_bias",
        "chapter section 7.4 and article section 14",
    ),
    _part(15, "second_device", "A second device", "same_on_both", "article section 15"),
)
