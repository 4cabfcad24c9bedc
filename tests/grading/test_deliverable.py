"""What the files beside the notebook are found to say, and that nothing in them does harm."""

from __future__ import annotations

import io
import json
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from autograder.deliverable import drawn, findings

mpl.use("Agg")


def record(**changes: Any) -> dict[str, Any]:
    ns = [128, 256, 512, 1024]
    return {
        "dtype": "float32",
        "scaling": {
            "ns": ns,
            "samples_seconds": [[1e-9 * n**2, 1.1e-9 * n**2] for n in ns],
            "exponent": 2.0,
            **changes,
        },
        "memory": {
            "rows": [{"n": n, "expected_bytes": 4 * n * n} for n in ns],
            "largest_n": 6000,
            "resource": "memory",
        },
        "generation": {
            "recompute": {"prefill_seconds": 0.1, "decode_seconds": [0.1, 0.2]},
            "cached": {"prefill_seconds": 0.1, "decode_seconds": [0.01, 0.01]},
            "speedup_at_last": 20.0,
            "cache_bytes_formula": 1024,
            "cache_bytes_measured": 1024,
        },
    }


def said(data: object) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return " ".join(findings({"measurements.json": raw}))


def png(draw: bool) -> bytes:
    figure = Figure(figsize=(2, 2))
    if draw:
        figure.subplots().plot([1, 2, 4])
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def test_an_exponent_that_follows_from_its_samples_is_said_to() -> None:
    assert "is 2.00, as reported" in said(record())


def test_an_exponent_that_does_not_follow_is_told_apart() -> None:
    assert "1.50 was reported, which does not follow" in said(record(exponent=1.5))


def test_a_cache_that_is_not_what_the_formula_says_is_told_apart() -> None:
    wrong = record()
    wrong["generation"]["cache_bytes_measured"] = 2048
    assert "they should be equal" in said(wrong)


def test_expected_bytes_are_recomputed_from_the_dtype() -> None:
    wrong = record()
    wrong["dtype"] = "float64"
    assert "not n² times" in said(wrong)


def test_a_speed_up_is_recomputed() -> None:
    wrong = record()
    wrong["generation"]["speedup_at_last"] = 500.0
    assert "20 times; another was reported" in said(wrong)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"scaling": 3}',
        b'{"scaling": {"ns": [1, 2], "samples_seconds": [[NaN], [1]]}}',
        b'{"scaling": {"ns": [1, 2], "samples_seconds": [[1e999], [1]]}}',
        b'{"scaling": {"ns": [0, -1], "samples_seconds": [[1.0], [1.0]]}}',
        b'{"scaling": {"ns": [' + b"9" * 1000 + b", 2]" + b', "samples_seconds": [[1.0], [1.0]]}}',
        b'{"scaling": {"ns": [5, 5], "samples_seconds": [[1.0], [1.0]]}}',
        b"[" * 100_000,
        b'{"dtype": "<script>", "memory": {"rows": [{"n": 1, "expected_bytes": 1}]}}',
    ],
)
def test_hostile_measurements_give_a_sentence(data: bytes) -> None:
    assert len(said(data)) > 20


@pytest.mark.parametrize("dtype", ["M8[ns/0]", "m8[1/0s]", "(", "(-1,)f8", "V99999999999", "O", "f8," * 6, "\0"])
def test_a_dtype_that_numpy_stumbles_over_is_a_sentence(dtype: str) -> None:
    wrong = record()
    wrong["dtype"] = dtype
    assert "are not n² times the bytes of one" in said(wrong)


def test_a_count_of_thousands_of_digits_does_not_fill_the_page() -> None:
    wrong = record()
    wrong["generation"]["cache_bytes_measured"] = 10**4000
    assert len(said(wrong)) < 500


def test_a_blank_picture_is_told_apart_from_a_plot() -> None:
    assert drawn(png(draw=True))
    assert not drawn(png(draw=False))
    assert not drawn(b"\x89PNG\r\n\x1a\n" + b"\0" * 100)
    assert not drawn(b"GIF89a")


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        ("Resource that ran out: memory\n", "names one resource that ran out: memory"),
        ("Resource that ran out: memory and time\n", "names 2 resources"),
        ("It was slow.", "does not name the resource"),
    ],
)
def test_the_note_names_one_resource(note: str, sentence: str) -> None:
    assert sentence in " ".join(findings({"note.md": note.encode()}))


def test_nothing_handed_in_is_one_sentence() -> None:
    assert len(findings({})) == 1
