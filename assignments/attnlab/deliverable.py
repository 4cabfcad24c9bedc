"""What is handed in besides the notebook: ``measurements.json`` and ``note.md``.

The record keeps the raw samples, so that every derived number in it can be computed again.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

SCHEMA = "attnlab-measurements/1"

#: A run of ``time_generation``: seconds of the prefill, and one time for every id after the first.
Generation = tuple[float, Sequence[float]]


def host() -> str:
    """The kind of machine: system, processor, cores. Not its name, which may be a person's."""
    chip = platform.processor() or platform.machine() or "unknown processor"
    return f"{platform.system()} {platform.release()}, {chip}, {os.cpu_count()} cores"


def versions() -> dict[str, str]:
    """Versions of Python, NumPy and PyTorch, without importing PyTorch."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def threads() -> int:
    """How many threads NumPy's matrix products may use: the usual variables, and otherwise the cores."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def scaling_record(
    ns: Iterable[int],
    samples_seconds: Iterable[Iterable[float]],
    exponent: float,
    local_slopes: Iterable[float],
    *,
    d: int = 64,
) -> dict[str, Any]:
    """Step 5: sizes, every sample of ``time_calls`` in seconds (one row per size), and what was fitted."""
    return {
        "ns": [int(n) for n in ns],
        "d": int(d),
        "samples_seconds": [_floats(row) for row in samples_seconds],
        "exponent": float(exponent),
        "local_slopes": _floats(local_slopes),
    }


def memory_row(
    n: int, expected_bytes: int, allocated_peak_bytes: int, reserved_peak_bytes: int
) -> dict[str, int]:
    """Step 6, one size: what ``score_bytes`` says, and the two peaks of ``peak_memory``."""
    return {
        "n": int(n),
        "expected_bytes": int(expected_bytes),
        "allocated_peak_bytes": int(allocated_peak_bytes),
        "reserved_peak_bytes": int(reserved_peak_bytes),
    }


def memory_record(rows: Iterable[dict[str, int]], *, largest_n: int, resource: str) -> dict[str, Any]:
    """Step 6: the rows, the largest ``n`` that fitted, and the resource that ran out above it, in a word."""
    return {"rows": list(rows), "largest_n": int(largest_n), "resource": str(resource)}


def generation_record(
    *,
    prompt_tokens: int,
    new_tokens: int,
    recompute: Generation,
    cached: Generation,
    cache_bytes_formula: int,
    cache_bytes_measured: int,
) -> dict[str, Any]:
    """Step 8: both runs of ``time_generation`` (seconds) and the size of the cache, computed and measured.

    ``speedup_at_last`` is the last decode time without the cache over the last one with it.
    """
    runs = {
        name: {"prefill_seconds": float(prefill), "decode_seconds": _floats(decode)}
        for name, (prefill, decode) in (("recompute", recompute), ("cached", cached))
    }
    slow, fast = list(recompute[1]), list(cached[1])
    return {
        "prompt_tokens": int(prompt_tokens),
        "new_tokens": int(new_tokens),
        **runs,
        "speedup_at_last": float(slow[-1]) / float(fast[-1])
        if slow and fast and fast[-1] > 0
        else float("nan"),
        "cache_bytes_formula": int(cache_bytes_formula),
        "cache_bytes_measured": int(cache_bytes_measured),
    }


def write_measurements(
    *,
    scaling: dict[str, Any],
    memory: dict[str, Any],
    generation: dict[str, Any],
    dtype: object,
    device: str = "cpu",
    path: str | os.PathLike[str] = "measurements.json",
) -> dict[str, Any]:
    """Write the three parts with where and how they were measured; gives back what was written.

    A number that is not finite is written as null, since JSON has no NaN.
    """
    record = {
        "schema": SCHEMA,
        "host": host(),
        "device": str(device),
        "versions": versions(),
        "dtype": str(np.dtype(dtype)),  # type: ignore[call-overload]
        "threads": threads(),
        "scaling": scaling,
        "memory": memory,
        "generation": generation,
    }
    clean: dict[str, Any] = _finite(record)
    text = json.dumps(clean, indent=1, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")
    return clean


def write_note(
    *, largest_n: int, resource: str, why: str = "", path: str | os.PathLike[str] = "note.md"
) -> Path:
    """Write ``note.md``: the largest ``n``, the resource that ran out, and ``why``, in the student's words.

    Without ``why``, a note that is there already is left alone: a person's words are never overwritten.
    """
    note = Path(path)
    if not why.strip() and note.exists():
        return note
    words = why.strip() or "(Say how you know that it was this resource, and what would move the limit.)"
    note.write_text(
        f"# The largest sequence\n\nLargest n: {int(largest_n)}\n"
        f"Resource that ran out: {resource}\n\n{words}\n",
        encoding="utf-8",
    )
    return note


def _floats(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]


def _finite(value: Any) -> Any:
    """``value`` with None for every number that JSON cannot hold."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
