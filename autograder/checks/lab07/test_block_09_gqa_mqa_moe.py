"""Part 9, GQA, MQA and MoE: shared keys, their caches, a router and its parameters (sections 7.6 and 7.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import count, distinct, whole
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block as truth
from autograder.reference import block_costs as costs

check = Task("block_receipts", "gqa_mqa_moe")

# ---- expand_kv(k, n_rep)
_GROUPS = "Neighbouring query heads share a KV head: 0, 0, 1, 1, not 0, 1, 0, 1."


def _expand(lab: Lab, k: np.ndarray, n_rep: int, hint: str = _GROUPS) -> None:
    # Values are only copied, so they come out exactly.
    compare.agree(lab.expand_kv(k, n_rep), truth.expand_kv(k, n_rep), 0.0, name="expanded", hint=hint)


@check("expand_kv.groups")
def test_neighbouring_heads_share_a_kv_head(lab: Lab, rng: np.random.Generator) -> None:
    """Each KV head serves a group of neighbouring query heads."""
    # Tiling gives 0, 1, 0, 1, which has the same shape; repeating tokens or columns has another.
    for h, n_rep in ((2, 2), (3, 4)):
        _expand(lab, rng.normal(size=(h, 4, 3)), n_rep)


@check("expand_kv.edges", needs=["expand_kv.groups"])
def test_one_kv_head_and_no_sharing(lab: Lab, rng: np.random.Generator) -> None:
    """One KV head for all (MQA), and one for each (MHA), are the two ends."""
    _expand(lab, rng.normal(size=(1, 3, 2)), 6, "With one KV head all query heads share it.")
    _expand(lab, rng.normal(size=(4, 3, 2)), 1, "With as many KV heads as query heads nothing changes.")
    # All sizes equal: copies along another axis have the same shape only where n_rep is 1.
    _expand(lab, rng.normal(size=(2, 2, 2)), 2)


@check("expand_kv.batch", needs=["expand_kv.groups"])
def test_kv_heads_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes stay in front: heads are the third axis from the end."""
    # Two members of two heads: members instead of heads repeated would be 4 by 2.
    for lead in ((2,), (2, 3)):
        _expand(lab, rng.normal(size=(*lead, 2, 3, 2)), 2, f"Heads are axis -3. {_GROUPS}")


@check("expand_kv.unchanged", needs=["expand_kv.groups"])
def test_expanding_leaves_the_cache_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The cache itself is the same afterwards, and may be a strided array."""
    k = rng.normal(size=(2, 4, 3))
    for layout in ("strided", "readonly"):
        kept = lab.kept(k, layout)
        compare.agree(lab.expand_kv(kept, 3), truth.expand_kv(k, 3), 0.0, name="expanded", hint=_GROUPS)
        compare.unchanged("expand_kv", ["k"], [kept], [k])


# ---- kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, itemsize=2)
def _table(lab: Lab, *args: int, hint: str, **named: int) -> None:
    found = compare.mapping(lab.kv_table(*args, **named), ("mha", "gqa", "mqa"), "the result of kv_table")
    layers, n_heads, n_kv_heads, head_dim, tokens = args
    expected = costs.kv_table(layers, n_heads, n_kv_heads, head_dim, tokens, **named)
    for name, total in expected.items():
        whole(found[name], total, name, hint)


@check("kv_table.three_schemes")
def test_caches_of_three_schemes(lab: Lab, rng: np.random.Generator) -> None:
    """Bytes of the cache with a KV head for each query head, for each group, and one for all."""
    # All numbers differ: query heads in the formula of GQA, and a cache of keys alone, show.
    for _ in range(2):
        layers, kv, head_dim, tokens = distinct(rng, 4)
        hint = "Keys and values; n_heads, n_kv_heads and 1 heads."
        _table(lab, layers, 3 * kv, kv, head_dim, tokens, hint=hint)


@check("kv_table.itemsize", needs=["kv_table.three_schemes"])
def test_caches_with_other_numbers(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one number, in all three caches."""
    for itemsize in (1, 4):
        layers, kv, head_dim, tokens = distinct(rng, 4)
        _table(lab, layers, 2 * kv, kv, head_dim, tokens, hint="itemsize is a factor of all three.", itemsize=itemsize)


@check("kv_table.chapter", needs=["kv_table.three_schemes"])
def test_caches_of_the_chapter(lab: Lab) -> None:
    """52.4, 13.1 and 1.6 GB at 100,000 tokens."""
    for tokens in (100_000, 4096):
        _table(lab, 32, 32, 8, 128, tokens, hint="Compare with the table of section 7.6.")


# ---- top_k_router(x, W_r, k)
_SOFTMAX_OF_K = "Keep the k largest of x W_r, softmax over those alone, 0 for the others."


def _route(lab: Lab, x: np.ndarray, W_r: np.ndarray, k: int, hint: str = _SOFTMAX_OF_K) -> None:
    _compare(lab.top_k_router(x, W_r, k), x, W_r, k, hint)


def _compare(answer: Any, x: np.ndarray, W_r: np.ndarray, k: int, hint: str) -> None:
    tolerance = compare.softmax_tolerance(np.abs(x) @ np.abs(W_r))
    expected = truth.top_k_router(x, W_r, k)
    compare.agree(answer, expected, tolerance, name="gates", hint=hint)
    if np.any(compare.array(answer, expected.shape, name="gates")[expected == 0] != 0):
        raise CheckFailed(f"Experts that are not chosen must get exactly 0, or they would have to run. {hint}")


@check("top_k_router.two_of_many")
def test_the_best_k_share_one(lab: Lab, rng: np.random.Generator) -> None:
    """The k best experts of each token share a gate of 1, and all others get 0."""
    # Softmax over all without a new normalisation, raw scores, plain shares of scores, and the smallest k show.
    _route(lab, rng.normal(size=(5, 4)), rng.normal(size=(4, 8)), 2)
    _route(lab, rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), 3)


@check("top_k_router.edges", needs=["top_k_router.two_of_many"])
def test_one_expert_and_all_experts(lab: Lab, rng: np.random.Generator) -> None:
    """With k = 1 the best expert gets 1; with all experts it is an ordinary softmax."""
    for k in (1, 6):
        _route(lab, rng.normal(size=(5, 3)), rng.normal(size=(3, 6)), k)


@check("top_k_router.batch", needs=["top_k_router.two_of_many"])
def test_every_token_has_its_own_route(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes are tokens like others, and each is routed by itself; a single token works too."""
    # As many tokens as experts: choosing along the wrong axis has the same shape.
    for shape in ((5, 3), (2, 5, 3), (3,)):
        hint = f"Along the last axis, the experts. {_SOFTMAX_OF_K}"
        _route(lab, rng.normal(size=shape), rng.normal(size=(3, 5)), 2, hint)


@check("top_k_router.negative", needs=["top_k_router.two_of_many"])
def test_scores_far_below_zero(lab: Lab, rng: np.random.Generator) -> None:
    """Scores may all be negative, or large: the gates of the best k still share 1."""
    # A 0 in place of minus infinity beats every negative score; exp of 2000 overflows.
    x, W_r = np.ones((3, 1)), -rng.uniform(1.0, 3.0, size=(1, 6))
    _route(lab, x, W_r, 2, "An expert that is not chosen must not count as a score of 0.")
    _route(lab, 1000 * x, W_r, 2, "Take the largest off before exp.")
    _route(lab, -1000 * x, W_r, 2, "Take the largest off before exp.")


@check("top_k_router.unchanged", needs=["top_k_router.two_of_many"])
def test_routing_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x and the router's matrix are the same afterwards."""
    x, W_r = rng.normal(size=(4, 3)), rng.normal(size=(3, 5))
    kept = [lab.kept(x, "transposed"), lab.kept(W_r)]
    _compare(lab.top_k_router(*kept, 2), x, W_r, 2, _SOFTMAX_OF_K)
    compare.unchanged("top_k_router", ("x", "W_r"), kept, (x, W_r))


# ---- moe_params(d_model, d_ff, layers, n_experts, top_k, matrices=2) -> (total, active)
_EXPERTS = "Attention once and the experts n_experts or top_k times, in every layer; router and embeddings left out."


def _moe(lab: Lab, *args: int, hint: str = _EXPERTS, **named: int) -> None:
    found = compare.pair(lab.moe_params(*args, **named), "total", "active")
    d_model, d_ff, layers, n_experts, top_k = args
    expected = costs.moe_params(d_model, d_ff, layers, n_experts, top_k, **named)
    for value, truth_of_it, name in zip(found, expected, ("total", "active"), strict=True):
        whole(value, truth_of_it, name, hint)


@check("moe_params.total_and_active")
def test_total_and_active_parameters(lab: Lab, rng: np.random.Generator) -> None:
    """All experts are held, the chosen ones are used, and attention is there once for both."""
    # Attention multiplied by the experts, active for total, one layer, and the router counted in show.
    for _ in range(2):
        d_model, d_ff, layers, top_k = distinct(rng, 4)
        _moe(lab, d_model, d_ff, layers, top_k + int(rng.integers(2, 9)), top_k)


@check("moe_params.matrices", needs=["moe_params.total_and_active"])
def test_gated_experts(lab: Lab, rng: np.random.Generator) -> None:
    """Experts with a gate have three matrices."""
    for matrices in (3, 2):
        d_model, d_ff, layers, top_k = distinct(rng, 4)
        _moe(lab, d_model, d_ff, layers, top_k + 3, top_k, matrices=matrices)


@check("moe_params.edges", needs=["moe_params.total_and_active"])
def test_dense_is_one_expert(lab: Lab, rng: np.random.Generator) -> None:
    """One expert is a dense model, and where all experts run, active is total."""
    d_model, d_ff, layers = distinct(rng, 3)
    _moe(lab, d_model, d_ff, layers, 1, 1)
    _moe(lab, d_model, d_ff, layers, 5, 5)
    _moe(lab, d_model, d_ff, layers, 7, 1)


@check("moe_params.chapter", needs=["moe_params.total_and_active"])
def test_experts_of_the_chapter(lab: Lab) -> None:
    """36.5 billion parameters, of which 10.7 are active; dense, 6.4."""
    for experts, top_k in ((8, 2), (1, 1), (64, 8)):
        _moe(lab, 4096, 16384, 32, experts, top_k, hint=f"Compare with section 7.7. {_EXPERTS}")


# ---- moe_bytes(shared, n_experts, per_expert, n_active, itemsize)
_RESIDENT = "Any expert may be chosen, so all of them are held, and what they share is held once."


@check("moe_bytes.resident")
def test_everything_is_resident(lab: Lab, rng: np.random.Generator) -> None:
    """The shared part once and every expert, whatever is active."""
    # The shared part forgotten, or active experts alone, show.
    for _ in range(2):
        shared, per_expert, active, more = distinct(rng, 4, 3)
        count(lab, "moe_bytes", 100 * shared + 1, active + more, per_expert, active, 2, hint=_RESIDENT)


@check("moe_bytes.active", needs=["moe_bytes.resident"])
def test_active_experts_do_not_matter(lab: Lab, rng: np.random.Generator) -> None:
    """How many experts run for a token has no effect on what must be held."""
    shared, per_expert = distinct(rng, 2, 5)
    for active in (1, 4, 9):
        count(lab, "moe_bytes", shared, 9, per_expert, active, 4, hint=_RESIDENT)


@check("moe_bytes.itemsize", needs=["moe_bytes.resident"])
def test_bytes_of_a_parameter(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one parameter, of the shared ones too."""
    shared, per_expert, experts = distinct(rng, 3, 3)
    for itemsize in (1, 2, 4):
        count(lab, "moe_bytes", shared, experts, per_expert, 2, itemsize, hint="Every parameter takes itemsize bytes.")


@check("moe_bytes.chapter", needs=["moe_bytes.resident"])
def test_bytes_of_the_chapters_experts(lab: Lab) -> None:
    """The chapter's 36.5 billion parameters take 73 GB at 2 bytes."""
    attention, expert = 32 * 4 * 4096**2, 32 * 8 * 4096**2
    for experts in (8, 1):
        count(lab, "moe_bytes", attention, experts, expert, 1, 2, hint=f"Compare with section 7.7. {_RESIDENT}")
