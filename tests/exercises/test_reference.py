"""What the truths of the exercises give for the chapter's cases, to the digits that were worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.reference import attention, chapter
from autograder.reference import exercises as truth


def test_two_gaps_are_rounding_and_three_are_not() -> None:
    gaps = truth.order_gaps(chapter.X, chapter.SHUFFLED, chapter.W_Q, chapter.W_K, chapter.W_V)
    assert max(gaps["tokens"], gaps["mean_pool"]) < 1e-15
    broken = [gaps[key] for key in ("mean_pool_positions", "mean_pool_causal", "last_token_causal")]
    assert broken == pytest.approx([0.2401069081, 0.2019312811, 0.2052104113], abs=1e-9)


def test_the_last_of_one_causal_layer_does_not_see_the_order_before_it() -> None:
    gaps = truth.order_gaps(chapter.X, np.array([1, 0, 2]), chapter.W_Q, chapter.W_K, chapter.W_V)
    assert gaps["last_token_causal"] < 1e-15 < 1e-3 < gaps["mean_pool_causal"]


def test_both_caches_in_both_units() -> None:
    assert truth.in_units(attention.kv_cache_bytes(32, 32, 128, 100_000)) == (52.4288, 48.828125)
    assert truth.in_units(attention.kv_cache_bytes(32, 8, 128, 100_000)) == (13.1072, 12.20703125)


def test_a_constant_row_moves_the_weights_on_the_query_side_only() -> None:
    base = truth.constant_row_weights("key", [0.0, 0.0])
    assert base[2] == pytest.approx([0.4229523956, 0.5011799711, 0.0758676333], abs=1e-9)
    for row in ([0.9, -0.7], [-5.0, 3.0]):
        assert truth.constant_row_weights("key", row) == pytest.approx(base, abs=1e-15)
    moved = truth.constant_row_weights("query", [0.9, -0.7])
    assert moved[2] == pytest.approx([0.5821526466, 0.3498889472, 0.0679584062], abs=1e-9)
    assert np.abs(moved - base).max() == pytest.approx(0.1592002510, abs=1e-9)


def test_the_row_at_a_third_of_the_scores() -> None:
    assert truth.row_at_scale(3**-0.5) == pytest.approx([0.3813638380, 0.4035588869, 0.2150772750], abs=1e-9)


@pytest.mark.parametrize(("h", "width", "entries"), [(1, 512, 1_048_576), (8, 64, 8_388_608), (64, 8, 67_108_864)])
def test_costs_of_512_in_1_8_and_64_heads(h: int, width: int, entries: int) -> None:
    expected = (width, 1_048_576, 1_073_741_824, 536_870_912, 536_870_912, entries, width)
    assert tuple(truth.head_costs(512, h, 1024).values()) == expected


def test_offset_32_is_more_similar_than_offset_16() -> None:
    assert truth.position_similarity(16, 64) == pytest.approx(19.3728203, abs=5e-7)
    assert truth.position_similarity(32, 64) == pytest.approx(19.5539722, abs=5e-7)
    table = attention.sinusoidal_positions(40, 64)
    assert table[3] @ table[35] == pytest.approx(truth.position_similarity(32, 64), abs=1e-12)


def test_rotating_sees_the_offset_only_and_adding_does_not() -> None:
    rng = np.random.default_rng(11)  # the chapter's own query and key
    q, k = rng.normal(size=64), rng.normal(size=64)
    starts, places = [0, 100, 1000, 5000], attention.sinusoidal_positions(5006, 64)

    def turned(m: int, n: int) -> float:
        return float(truth.rope(q[None], [m])[0] @ truth.rope(k[None], [n])[0])

    def added(m: int, n: int) -> float:
        return float((q + places[m]) @ (k + places[n]))

    assert turned(5, 0) == pytest.approx(6.457169563694, abs=1e-11)
    assert truth.offset_spread(turned, 5, starts) < 3e-12
    assert truth.offset_spread(added, 5, starts) == pytest.approx(16.816221, abs=1e-6)


def test_both_contexts_of_the_node() -> None:
    lengths = [truth.max_context(320 * 10**9, 140 * 10**9, 4, 80, heads, 128) for heads in (64, 8)]
    assert lengths == [17_166, 137_329]


def test_no_width_of_the_exercise_fits_24_gb() -> None:
    assert [truth.weight_bytes(120 * 10**9, bits) / 1e9 for bits in (16, 8, 4)] == [240, 120, 60]


def test_the_two_budgets_are_not_the_same() -> None:
    gopher, chinchilla = truth.training_flops(280 * 10**9, 300 * 10**9), truth.training_flops(70 * 10**9, 1400 * 10**9)
    assert (gopher, chinchilla) == (504 * 10**21, 588 * 10**21)
    assert chinchilla / gopher == pytest.approx(1.1667, abs=1e-4)
