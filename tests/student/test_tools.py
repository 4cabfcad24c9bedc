"""Meters, guard, toy model, plots, deliverable and hints: what the notebook's own cells use."""

from __future__ import annotations

import json
import math
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlab import attempt, chapter, deliverable, guard, hints, plots
from attnlab.meters import NumpyMeter, ProcessMeter
from attnlab.steps import STEPS
from attnlab.tiny_lm import TinyLM

# ----------------------------------------------------------------- meters


def naive_attention(n: int) -> None:
    """Scores, exponentials and weights of one head in float32 are alive together: 3 · 4 · n² bytes."""
    queries = np.ones((n, 8), dtype=np.float32)
    scores = queries @ queries.T
    exponentials = np.exp(scores)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    weights @ queries


def test_numpy_meter_sees_the_three_tables_of_a_naive_attention() -> None:
    meter = NumpyMeter()
    meter.reset()
    naive_attention(1024)
    assert 3.0 <= meter.allocated_peak() / (4 * 1024**2) < 3.1
    assert meter.reserved_peak() >= meter.allocated_peak()


def test_numpy_meter_forgets_what_was_before_and_stops_tracing_once_it_was_read() -> None:
    meter = NumpyMeter()
    meter.reset()
    naive_attention(512)
    assert tracemalloc.is_tracing()
    first = meter.allocated_peak()
    assert not tracemalloc.is_tracing()
    assert meter.allocated_peak() == first  # a reading stays
    meter.reset()
    np.ones(1000)
    assert meter.allocated_peak() < first / 10


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux can put the mark back")
def test_process_meter_puts_the_high_water_mark_back() -> None:
    meter = ProcessMeter()
    meter.reset()
    naive_attention(2048)
    large = meter.allocated_peak()
    assert 2.5 < large / (4 * 2048**2) < 3.6
    meter.reset()
    naive_attention(512)
    assert meter.allocated_peak() < large / 4


# ------------------------------------------------------------------ guard


def test_a_size_within_the_limit_fits_and_one_over_it_does_not() -> None:
    # 8 bytes a number: 8 MB, and 8 GB.
    assert guard.fits_in_child(lambda n: np.ones(n), 10**6, limit_bytes=2**28)
    refused = guard.run_in_child(lambda n: np.ones(n), 10**9, limit_bytes=2**28)
    assert (refused.fits, refused.resource) == (False, "memory")
    assert "0.25 GiB" in refused.detail


def test_a_child_that_is_killed_takes_nobody_with_it() -> None:
    def killed(n: int) -> None:
        import os

        os.abort()

    assert guard.run_in_child(killed, 1).resource == "memory"


def test_a_size_that_takes_too_long_names_time_as_the_resource() -> None:
    assert guard.run_in_child(lambda n: time.sleep(n), 60, seconds=1.5).resource == "time"


def test_a_mistake_in_fn_is_not_taken_for_a_size_that_does_not_fit() -> None:
    def wrong(n: int) -> None:
        raise KeyError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"):
        guard.fits_in_child(wrong, 1)
    lock = threading.Lock()
    with pytest.raises(RuntimeError, match="cannot be sent"):
        guard.fits_in_child(lambda n: lock.acquire(timeout=n), 1)


# ---------------------------------------------------------------- TinyLM


def model(namespace: dict[str, Any], **options: Any) -> TinyLM:
    return TinyLM(namespace["attention"], namespace["causal_mask"], **options)


def test_the_toy_model_gives_the_same_logits_in_one_block_and_in_several(namespace: dict[str, Any]) -> None:
    lm = model(namespace, seed=3, n_layers=3)
    ids = [4, 0, 17, 2, 2, 9]
    caches = [namespace["KVCache"]() for _ in range(lm.n_layers)]
    parts = [lm(ids[a:b], caches, a) for a, b in ((0, 3), (3, 4), (4, 6))]
    whole = lm(ids)
    assert whole.shape == (6, lm.vocab)
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-10)
    assert caches[0].keys.shape == (lm.kv_heads, 6, lm.head_dim)


def test_a_prefill_without_a_mask_shows_in_the_last_row(namespace: dict[str, Any]) -> None:
    free = TinyLM(namespace["attention"], lambda n_q, n_k: np.ones((n_q, n_k), dtype=bool))
    assert np.abs(free([1, 2, 3])[-1] - model(namespace)([1, 2, 3])[-1]).max() > 1e-3


def test_positions_and_seed_matter_and_nothing_else_is_random(namespace: dict[str, Any]) -> None:
    np.testing.assert_array_equal(model(namespace)([1, 2]), model(namespace)([1, 2]))
    assert np.abs(model(namespace)([1], start=1) - model(namespace)([1])).max() > 1e-3
    assert np.abs(model(namespace, seed=1)([1]) - model(namespace)([1])).max() > 1e-3
    assert model(namespace, dtype=np.float32)([1, 2]).dtype == np.float32


@pytest.mark.parametrize(
    ("tokens", "options"), [([41], {}), ([], {}), ([-1], {}), ([1], {"start": 700}), ([1], {"caches": []})]
)
def test_the_toy_model_refuses_what_it_has_no_row_for(
    tokens: list[int], options: dict[str, Any], namespace: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        model(namespace)(tokens, **options)


def test_one_layer_is_refused_because_it_could_not_show_a_missing_mask(namespace: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least two layers"):
        model(namespace, n_layers=1)


# ----------------------------------------------------------------- plots


def grey_levels(path: Path) -> np.ndarray[Any, Any]:
    from matplotlib.image import imread

    return np.asarray(imread(path))[..., :3].mean(axis=-1)


def test_both_plots_are_written_and_not_blank(tmp_path: Path) -> None:
    ns = [128, 256, 512]
    scaling, latency = tmp_path / "scaling.png", tmp_path / "kv_latency.png"
    figure = plots.scaling(ns, [1e-7 * n**2 for n in ns], 2.0, path=scaling)
    assert "n^2.00" in figure.axes[0].get_legend().get_texts()[1].get_text()
    assert figure.axes[0].get_xlabel()
    plots.kv_latency(np.linspace(0.001, 0.1, 30), [0.001] * 30, path=latency)
    for path in (scaling, latency):
        levels = grey_levels(path)
        assert min(levels.shape) > 300
        assert levels.min() < 0.2  # ink in grey, too
        assert 0.005 < (levels < 0.5).mean() < 0.5


def test_the_two_curves_differ_in_more_than_colour(tmp_path: Path) -> None:
    figure = plots.kv_latency([0.1, 0.2], [0.1, 0.1], path=tmp_path / "kv.png")
    styles = {line.get_linestyle() for line in figure.axes[0].get_lines()}
    assert len(styles) == 2


def test_a_plot_of_impossible_times_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="positive"):
        plots.scaling([1, 2], [0.0, 1.0], 2.0, path=tmp_path / "s.png")
    with pytest.raises(ValueError, match="one time per size"):
        plots.scaling([1, 2], [1.0], 2.0, path=tmp_path / "s.png")
    with pytest.raises(ValueError, match="no times"):
        plots.kv_latency([], [1.0], path=tmp_path / "k.png")


# ----------------------------------------------------------- deliverable

KEYS = {"schema", "host", "device", "versions", "dtype", "threads", "scaling", "memory", "generation"}


def measurements(path: Path) -> dict[str, Any]:
    return deliverable.write_measurements(
        scaling=deliverable.scaling_record(
            np.array([128, 256]), np.ones((2, 3)), np.float64(2.0), np.array([2.0])
        ),
        memory=deliverable.memory_record(
            [deliverable.memory_row(np.int64(512), 1, 2, 3)], largest_n=np.int64(900), resource="memory"
        ),
        generation=deliverable.generation_record(
            prompt_tokens=16,
            new_tokens=3,
            recompute=(0.5, np.array([0.5, 0.6])),
            cached=(0.5, [0.1, 0.2]),
            cache_bytes_formula=64,
            cache_bytes_measured=64,
        ),
        dtype=np.float32,
        path=path,
    )


def test_the_record_has_every_key_and_plain_numbers(tmp_path: Path) -> None:
    path = tmp_path / "measurements.json"
    written = measurements(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record == written
    assert set(record) == KEYS
    assert record["schema"] == "attnlab-measurements/1"
    assert set(record["versions"]) == {"python", "numpy", "torch"}
    assert set(record["scaling"]) == {"ns", "d", "samples_seconds", "exponent", "local_slopes"}
    assert set(record["memory"]["rows"][0]) == {
        "n",
        "expected_bytes",
        "allocated_peak_bytes",
        "reserved_peak_bytes",
    }
    assert set(record["memory"]) == {"rows", "largest_n", "resource"}
    assert set(record["generation"]) == {
        "prompt_tokens",
        "new_tokens",
        "recompute",
        "cached",
        "speedup_at_last",
        "cache_bytes_formula",
        "cache_bytes_measured",
    }
    assert record["generation"]["recompute"] == {"prefill_seconds": 0.5, "decode_seconds": [0.5, 0.6]}
    assert record["generation"]["speedup_at_last"] == pytest.approx(3.0)
    assert record["dtype"] == "float32"
    assert record["threads"] >= 1


def test_a_number_that_json_cannot_hold_becomes_null(tmp_path: Path) -> None:
    path = tmp_path / "measurements.json"
    generation = deliverable.generation_record(
        prompt_tokens=1,
        new_tokens=1,
        recompute=(1, []),
        cached=(1, []),
        cache_bytes_formula=0,
        cache_bytes_measured=0,
    )
    assert math.isnan(generation["speedup_at_last"])
    deliverable.write_measurements(scaling={}, memory={}, generation=generation, dtype="float64", path=path)
    assert json.loads(path.read_text(encoding="utf-8"))["generation"]["speedup_at_last"] is None


def test_the_host_is_a_kind_of_machine_and_not_its_name() -> None:
    import platform

    assert platform.node() not in deliverable.host().split()


def test_the_note_names_one_resource_and_keeps_a_persons_words(tmp_path: Path) -> None:
    note = deliverable.write_note(
        largest_n=9000, resource="memory", why="İki tablo, √n.", path=tmp_path / "note.md"
    )
    text = note.read_text(encoding="utf-8")
    assert "Resource that ran out: memory\n" in text
    assert "Largest n: 9000\n" in text
    deliverable.write_note(largest_n=1, resource="time", path=note)
    assert note.read_text(encoding="utf-8") == text


# ------------------------------------------------------- hints and the rest


def test_every_step_has_a_hint_at_every_depth_and_none_is_code() -> None:
    assert hints.missing() == []
    for step in STEPS:
        texts = [hints.hint(step.id, depth) for depth in hints.DEPTHS]
        assert len(set(texts)) == 3
        for text in texts:
            assert 80 < len(text) < 900
            assert not {"def ", "np.", "return ", "lambda"} & {
                text[i:j] for i in range(len(text)) for j in (i + 3, i + 4, i + 6, i + 7)
            }


def test_attempt_says_in_one_line_what_is_not_written_and_lets_the_rest_through(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with attempt("step 5"):
        raise NotImplementedError("Yours to write.")
    assert (
        capsys.readouterr().out
        == "step 5: not written yet, so this cell stops here. Yours to write.\n"
    )
    with pytest.raises(ValueError, match="else"), attempt("step 5"):
        raise ValueError("something else")


def test_the_chapters_numbers_cannot_be_overwritten_by_accident() -> None:
    for table in (chapter.X, chapter.W_Q, *chapter.PRINTED.values()):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1.0
