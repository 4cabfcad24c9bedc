"""The numbers that the explorers show are NumPy's: the chapter's own case, and states drawn from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlab import chapter
from attnlab.explorers.catalogue import EXPLORERS, HEADS, LEAN
from autograder.reference import attention, block, block_costs, exercises
from tests.explorers import javascript

pytestmark = pytest.mark.skipif(javascript.node() is None, reason="node is not on the path; the browser tests remain")

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """``ask(name, state, …)``: what the explorer of that name makes of each state."""
    return lambda name, *states: javascript.answers(tmp_path, name, states)


@pytest.fixture
def draw() -> np.random.Generator:
    return np.random.default_rng(7)


def test_the_chapters_row_is_the_first_thing_that_the_layer_shows(ask: Ask) -> None:
    (shown,) = ask("attention-layer", {})
    np.testing.assert_allclose(shown["numbers"]["weights"], chapter.PRINTED["weights"], atol=chapter.PRINTED_TOLERANCE)
    assert "0.4230 on kedi, 0.5012 on sütü, 0.0759 on içti" in shown["finding"]
    tables = {"Q": "queries", "K": "keys", "V": "values", "scores": "scores", "readied": "scaled_scores"}
    for name, table in {**tables, "output": "output"}.items():
        np.testing.assert_allclose(shown["numbers"][name], chapter.PRINTED[table], atol=chapter.PRINTED_TOLERANCE)


def test_the_layer_computes_every_stage(ask: Ask, draw: np.random.Generator) -> None:
    states = [
        {"causal": bool(draw.integers(2)), "scaled": bool(draw.integers(2)), "lengthen": float(draw.uniform(0.05, 16))}
        for _ in range(8)
    ]
    for answer in ask("attention-layer", *states):
        state, shown = answer["state"], answer["numbers"]
        queries = chapter.X @ chapter.W_Q * state["lengthen"]
        keys, values = chapter.X @ chapter.W_K, chapter.X @ chapter.W_V
        # The reference divides by √2 itself: a layer that does not is one with longer queries.
        factor = 1.0 if state["scaled"] else math.sqrt(2)
        mask = np.tri(3, dtype=bool) if state["causal"] else None
        output, weights = attention.attention(queries * factor, keys, values, mask)
        readied = queries @ keys.T * factor / math.sqrt(2)
        if state["causal"]:
            readied[~np.tri(3, dtype=bool)] = -np.inf
        ours = {"Q": queries, "K": keys, "V": values, "scores": queries @ keys.T, "readied": readied}
        for name, value in {**ours, "weights": weights, "output": output}.items():
            np.testing.assert_allclose(shown[name], value, **TOLERANCE)


def test_the_pronoun_leans_as_the_chapter_says_and_as_the_slider_does(ask: Ask, draw: np.random.Generator) -> None:
    states = [
        {"head": str(draw.choice(list(HEADS))), "token": int(draw.integers(8)), "causal": bool(draw.integers(2)),
         "coffee": float(draw.uniform(0, LEAN["together"]))}
        for _ in range(8)
    ]  # fmt: skip
    first, *rest = ask("attention-head", {}, *states)
    assert first["numbers"]["row"][3] == 0.46
    assert first["numbers"]["row"][1] == pytest.approx(0.34)
    for answer in rest:
        state, shown = answer["state"], answer["numbers"]
        table = np.array(HEADS[state["head"]]) / 100
        if state["head"] == LEAN["head"]:
            table[5, 3], table[5, 1] = state["coffee"], 0.8 - state["coffee"]
        if state["causal"]:
            table = np.tril(table)
            table /= table.sum(axis=1, keepdims=True)
        row = table[state["token"]]
        np.testing.assert_allclose(shown["weights"], table, **TOLERANCE)
        np.testing.assert_allclose(shown["row"], row, **TOLERANCE)
        assert shown["entropy"] == pytest.approx(block.entropy(row))
        assert shown["spread"] == pytest.approx(math.exp(block.entropy(row)))
        assert row[shown["largest"]] == row.max()


def test_the_rows_of_every_head_sum_to_100() -> None:
    assert {sum(row) for rows in HEADS.values() for row in rows} == {100}


def test_arrows_in_the_plane_score_as_in_numpy(ask: Ask, draw: np.random.Generator) -> None:
    states = [
        {"token": int(token), "queries": queries.tolist(), "keys": keys.tolist()}
        for token, (queries, keys) in zip(draw.integers(3, size=8), draw.uniform(-1.5, 2.5, (8, 2, 3, 2)), strict=True)
    ]
    first, *rest = ask("query-key-plane", {}, *states)
    np.testing.assert_allclose(first["numbers"]["weights"], chapter.PRINTED["weights"][2], atol=6e-5)
    np.testing.assert_allclose(first["numbers"]["scores"], chapter.PRINTED["scores"][2], atol=6e-5)
    for answer in [first, *rest]:
        state, shown = answer["state"], answer["numbers"]
        query, keys = np.array(state["queries"])[[state["token"]]], np.array(state["keys"])
        _, weights = attention.attention(query, keys, keys)
        np.testing.assert_allclose(shown["weights"], weights[0], **TOLERANCE)
        np.testing.assert_allclose(shown["scores"], keys @ query[0], **TOLERANCE)
        lengths = np.linalg.norm(keys, axis=1)
        np.testing.assert_allclose(shown["lengths"], lengths, **TOLERANCE)
        np.testing.assert_allclose(shown["cosines"], keys @ query[0] / lengths / np.linalg.norm(query), **TOLERANCE)


def test_the_stream_leaves_the_block_as_the_chapter_prints_it(ask: Ask) -> None:
    (shown,) = ask("residual-stream", {"stage": 4})
    for name, table in (("middle", "residual"), ("normalised", "layer_norm"), ("block", "block")):
        np.testing.assert_allclose(shown["numbers"][name], chapter.PRINTED[table], atol=chapter.PRINTED_TOLERANCE)
    for head, table in enumerate(("weights", "head_2_weights")):
        np.testing.assert_allclose(shown["numbers"]["weights"][head], chapter.PRINTED[table], atol=6e-5)
    fired = np.transpose(shown["numbers"]["fired"])
    np.testing.assert_allclose(fired, chapter.PRINTED["detectors"], atol=chapter.PRINTED_TOLERANCE)


@pytest.mark.parametrize("on", [(h1, h2, ff) for h1 in (True, False) for h2 in (True, False) for ff in (True, False)])
def test_the_stream_with_parts_left_out_is_the_block_without_them(ask: Ask, on: tuple[bool, bool, bool]) -> None:
    first, second, forward = on
    parts = {"head1": first, "head2": second, "feedForward": forward}
    stages = [answer["numbers"] for answer in ask("residual-stream", *({**parts, "stage": s} for s in (1, 2, 3, 4)))]
    # A head that is off writes with rows of zeros; so does a feed-forward layer that is off.
    W_o = chapter.W_O * np.repeat([first, second], 2)[:, None]
    params = {
        "norm_first": False,
        "heads": [(chapter.W_Q, chapter.W_K, chapter.W_V), chapter.HEAD_2],
        "W_o": W_o,
        "W1": chapter.W_1,
        "b1": chapter.B_1,
        "W2": chapter.W_2 * forward,
        "b2": chapter.B_2 * forward,
    }
    after = block.block(chapter.X, params)
    middle = chapter.X + block.multi_head(chapter.X, params["heads"], W_o)["output"]
    for shown, stream in zip(stages, (chapter.X, middle, block.layer_norm(middle), after), strict=True):
        np.testing.assert_allclose(shown["shown"], stream, **TOLERANCE)
        np.testing.assert_allclose(shown["lengths"], np.linalg.norm(stream, axis=1), **TOLERANCE)
    assert [shown["change"] is None for shown in stages] == [True, False, True, False]
    np.testing.assert_allclose(stages[1]["change"], middle - chapter.X, **TOLERANCE)
    np.testing.assert_allclose(stages[3]["change"], after - middle, **TOLERANCE)


@pytest.mark.parametrize("width", [4, 64, 128])
def test_two_positions_share_what_their_offset_says(ask: Ask, width: int, draw: np.random.Generator) -> None:
    table = attention.sinusoidal_positions(128, width)
    states = [{"width": width, "position": int(p), "offset": int(k)} for p, k in draw.integers(0, 128, (6, 2))]
    for answer in ask("sinusoids", *states):
        state, shown = answer["state"], answer["numbers"]
        p, k = state["position"], state["offset"]
        assert p + k < 128
        np.testing.assert_allclose(shown["at"], table[p], atol=1e-9)
        assert shown["product"] == pytest.approx(table[p] @ table[p + k], abs=1e-9)
        np.testing.assert_allclose(shown["shared"], table @ table[0], atol=1e-9)
        np.testing.assert_allclose(shown["then"], table[p + k], atol=1e-9)
        assert [shown["shortest"], shown["longest"]] == pytest.approx(block.rope_periods(width)[:: width // 2 - 1])


def test_offset_32_shares_more_than_offset_16(ask: Ask) -> None:
    nearer, farther = ask("sinusoids", {"offset": 16}, {"offset": 32})
    assert nearer["numbers"]["product"] == pytest.approx(19.372820, abs=5e-7)
    assert farther["numbers"]["product"] == pytest.approx(19.553972, abs=5e-7)
    assert "closer positions can share less" in farther["finding"]


@pytest.mark.parametrize(
    ("kind", "mask"), [("bidirectional", np.ones((3, 3), bool)), ("causal", np.tri(3, dtype=bool))]
)
def test_a_mask_leaves_the_weights_of_masked_attention(ask: Ask, kind: str, mask: np.ndarray) -> None:
    (shown,) = ask("masks", {"kind": kind})
    _, weights = attention.self_attention(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V, mask)
    np.testing.assert_allclose(shown["numbers"]["weights"], weights, **TOLERANCE)
    np.testing.assert_array_equal(shown["numbers"]["mask"], mask)


def test_the_masks_start_from_the_chapters_weights(ask: Ask) -> None:
    (shown,) = ask("masks", {})
    np.testing.assert_allclose(shown["numbers"]["weights"], chapter.PRINTED["weights"], atol=6e-5)


def test_cells_that_are_opened_and_closed_are_a_mask_like_any_other(ask: Ask, draw: np.random.Generator) -> None:
    masks = [mask | np.eye(3, dtype=bool) for mask in draw.integers(2, size=(8, 3, 3)).astype(bool)]
    states = [
        {"kind": "bidirectional", "equal": bool(draw.integers(2)), "after": bool(draw.integers(2)),
         "flipped": " ".join(f"{i}{j}" for i, j in np.argwhere(~mask))}
        for mask in masks
    ]  # fmt: skip
    queries, keys = chapter.X @ chapter.W_Q, chapter.X @ chapter.W_K
    for mask, answer in zip(masks, ask("masks", *states), strict=True):
        state, shown = answer["state"], answer["numbers"]
        asked = np.zeros_like(queries) if state["equal"] else queries
        _, weights = attention.attention(asked, keys, keys, None if state["after"] else mask)
        np.testing.assert_allclose(shown["weights"], weights * mask, **TOLERANCE)
        np.testing.assert_allclose(shown["sums"], (weights * mask).sum(axis=1), **TOLERANCE)
        assert shown["open"] == mask.sum()


def test_a_translated_word_has_two_attentions_that_sum_to_one_each(ask: Ask) -> None:
    (shown,) = ask("masks", {"kind": "crossed"})
    weights, words = np.array(shown["numbers"]["weights"]), chapter.X[[0, 2, 1]]
    projections = (chapter.W_Q, chapter.W_K, chapter.W_V)
    _, own = attention.self_attention(words, *projections, attention.causal_mask(3))
    _, cross = attention.attention(words @ chapter.W_Q, chapter.X @ chapter.W_K, chapter.X @ chapter.W_V)
    np.testing.assert_allclose(weights[3:], np.hstack([cross, own]), **TOLERANCE)
    assert not weights[:3, 3:].any()


def test_zeroing_after_the_softmax_leaves_a_hole_and_no_key_leaves_nothing(ask: Ask) -> None:
    late, none = ask("masks", {"kind": "causal", "after": True}, {"kind": "causal", "flipped": "00"})
    assert late["numbers"]["sums"][0] == pytest.approx(0.696067531669025)
    assert "leaves a hole" in late["finding"]
    assert math.isnan(none["numbers"]["sums"][0])
    assert "0 divided by 0" in none["finding"]


def test_the_calculator_starts_from_the_chapters_case(ask: Ask) -> None:
    (shown,) = ask("kv-cache", {})
    assert shown["numbers"]["request"] == 52_428_800_000
    assert "52.4288 GB = 48.8281 GiB" in shown["finding"]


def test_every_ready_made_shape_needs_what_the_formula_says(ask: Ask) -> None:
    shapes = EXPLORERS["kv-cache"].given()["SHAPES"]
    for answer in ask("kv-cache", *shapes.values()):
        state, shown = answer["state"], answer["numbers"]
        per_token = block_costs.kv_bytes_per_token(state["layers"], state["kvHeads"], state["headDim"])
        assert shown["perToken"] == per_token
        assert shown["request"] == attention.kv_cache_bytes(
            state["layers"], state["kvHeads"], state["headDim"], state["tokens"]
        )
        schemes = block_costs.kv_table(
            state["layers"], state["heads"], state["kvHeads"], state["headDim"], state["tokens"]
        )
        assert list(shown["schemes"].values()) == list(schemes.values())
        gb, gib = exercises.in_units(shown["request"])
        assert f"{gb:,.4f} GB = {gib:,.4f} GiB" in answer["finding"]
    llama = block_costs.kv_bytes_per_token(32, 8, 128)
    assert llama == 128 * 1024


def test_what_fits_is_counted_in_whole_requests(ask: Ask, draw: np.random.Generator) -> None:
    states = [
        {"layers": int(draw.integers(1, 100)), "heads": 64, "kvHeads": int(draw.integers(1, 64)), "headDim": 128,
         "tokens": int(draw.integers(1, 100_000)), "users": int(draw.integers(1, 50)), "memory": 320, "weights": 140,
         "bytes": bytes_each}
        for bytes_each in (4, 2, 1, 0.5)
    ]  # fmt: skip
    for answer in ask("kv-cache", *states):
        state, shown = answer["state"], answer["numbers"]
        per_token = block_costs.kv_bytes_per_token(state["layers"], state["kvHeads"], state["headDim"], state["bytes"])
        free = 180 * 10**9
        assert (shown["perToken"], shown["free"]) == (per_token, free)
        assert shown["all"] == per_token * state["tokens"] * state["users"]
        assert shown["fit"] == block_costs.concurrent_sequences(free, state["tokens"], per_token)
        assert shown["longest"] == free // (per_token * state["users"])


@pytest.mark.parametrize(("kv_heads", "longest"), [(64, 17_166), (8, 137_329)])
def test_four_users_of_a_70b_class_reach_the_context_of_exercise_9(ask: Ask, kv_heads: int, longest: int) -> None:
    shape = EXPLORERS["kv-cache"].given()["SHAPES"]["70B class, grouped (8 KV heads)"]
    (shown,) = ask("kv-cache", {**shape, "kvHeads": kv_heads, "users": 4})
    assert shown["numbers"]["longest"] == longest
    assert longest == block_costs.max_context(320 * 10**9, 140 * 10**9, 4, 80, kv_heads, 128)


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_state_that_makes_no_sense_is_left_out(ask: Ask, name: str) -> None:
    (usual,) = ask(name, {})
    keys = [*usual["state"], "__proto__", "unknown"]
    junk = [None, "<img src=x onerror=alert(1)>", -1e300, [], [[1]], {"a": 1}]
    for answer in ask(name, *(dict.fromkeys(keys, value) for value in junk)):
        assert answer["finding"]
        assert "undefined" not in answer["finding"]
        assert answer["state"].keys() == usual["state"].keys()
