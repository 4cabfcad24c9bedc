"""What was handed in beside the notebook: the measurements, the two plots, the note.

Every derived number is computed again from the raw samples, and nothing is timed again: a measurement of another
machine is taken as it is. The findings are sentences for the person who marks the note, and for the student; no
point hangs on them alone. The files are hostile: they are read with limits and never executed or rendered.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np

#: A fitted exponent may differ from the recomputed one by this much: another right fit of the same samples
#: (minimum or median of the repeats) moves it by less.
EXPONENT_TOLERANCE = 0.1
#: The two counts of cache bytes must be equal (chapter section 7.6); times are compared to four digits.
RELATIVE = 1e-3
#: Bytes of a picture that are unpacked at most; the lab's plots have about 2 MB.
MAX_PIXELS = 64 * 2**20
MAX_JSON = 4 * 2**20
#: Bytes of one entry, by the names of its dtype. ``np.dtype`` is not asked: some texts end the process in it.
ITEMSIZES = {name: kind.itemsize for kind in map(np.dtype, "bBhHiIqQefd") for name in (kind.name, kind.str)}

RESOURCES = {
    "memory": ("memory", "ram", "bellek", "speicher", "mémoire", "memoria"),
    "time": ("time", "patience", "zaman", "zeit", "temps", "tiempo"),
    "address space": ("address space", "rlimit"),
    "disk": ("disk", "swap"),
}


#: JSON has integers of thousands of digits.
_Integer = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


class _Scaling(msgspec.Struct):
    ns: list[_Integer]
    samples_seconds: list[list[float]]
    exponent: float | None = None
    local_slopes: list[float | None] = []


class _Row(msgspec.Struct):
    n: _Integer
    expected_bytes: _Integer
    allocated_peak_bytes: _Integer = 0


class _Memory(msgspec.Struct):
    rows: list[_Row] = []
    largest_n: _Integer = 0
    resource: str = ""


class _Run(msgspec.Struct):
    prefill_seconds: float | None = None
    decode_seconds: list[float] = []


class _Generation(msgspec.Struct):
    recompute: _Run
    cached: _Run
    speedup_at_last: float | None = None
    cache_bytes_formula: _Integer = 0
    cache_bytes_measured: _Integer = -1


class _Measurements(msgspec.Struct):
    scaling: _Scaling | None = None
    memory: _Memory | None = None
    generation: _Generation | None = None
    dtype: str = ""


def findings(files: Mapping[str, bytes]) -> list[str]:
    """What is there, what follows from it, and what does not. One sentence each; empty for nothing handed in."""
    if not any(name in files for name in ("measurements.json", "scaling.png", "kv_latency.png", "note.md")):
        return ["No measurements, plots or note were handed in beside the notebook."]
    return [*_measurements(files.get("measurements.json")), *_plots(files), *_note(files.get("note.md"))]


def _measurements(data: bytes | None) -> Iterator[str]:
    if data is None:
        yield "measurements.json was not handed in."
        return
    try:
        if len(data) > MAX_JSON:
            raise ValueError("larger than 4 MiB")
        found = msgspec.json.decode(data, type=_Measurements)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        yield f"measurements.json cannot be read: {str(error)[:150]}."
        return
    for part, name in ((found.scaling, "scaling"), (found.memory, "memory"), (found.generation, "generation")):
        if part is None:
            yield f"measurements.json has no part '{name}'."
    if found.scaling is not None:
        yield _scaling(found.scaling)
    if found.memory is not None and found.memory.rows:
        yield _memory(found.memory.rows, found.dtype)
    if found.generation is not None:
        yield from _generation(found.generation)


def _scaling(scaling: _Scaling) -> str:
    rows = [[t for t in row if math.isfinite(t) and t > 0] for row in scaling.samples_seconds[:1000]]
    sizes = scaling.ns[: len(rows)]
    if len(sizes) != len(scaling.ns) or len(sizes) < 2 or not all(rows) or min(sizes) <= 0 or len({*sizes}) < 2:
        return "The samples of the scaling are not one row of positive seconds for each n."
    if max(sizes) > 2**40:
        return "The sizes of the scaling are not sequence lengths."
    fitted = [_slope(sizes, [pick(row) for row in rows]) for pick in (min, _median)]
    words = f"The exponent that follows from the {len(sizes)} sizes is {fitted[0]:.2f}"
    if scaling.exponent is None:
        return f"{words}; none was reported."
    if min(abs(scaling.exponent - f) for f in fitted) <= EXPONENT_TOLERANCE:
        return f"{words}, as reported."
    return f"{words}; {scaling.exponent:.2f} was reported, which does not follow from these samples."


def _slope(ns: Sequence[int], seconds: Sequence[float]) -> float:
    return float(np.polyfit(np.log(np.asarray(ns, float)), np.log(np.asarray(seconds, float)), 1)[0])


def _median(row: Sequence[float]) -> float:
    return float(np.median(row))


def _memory(rows: Sequence[_Row], dtype: str) -> str:
    itemsize = ITEMSIZES.get(dtype, 0)
    wrong = [row.n for row in rows if row.expected_bytes != row.n**2 * itemsize]
    if wrong:
        return f"At n = {wrong[0]} the expected bytes are not n² times the bytes of one {dtype[:20] or 'entry'}."
    return f"The expected bytes are n² times {itemsize} at all {len(rows)} sizes."


def _generation(generation: _Generation) -> Iterator[str]:
    if generation.cache_bytes_formula == generation.cache_bytes_measured:
        yield f"The cache measures {generation.cache_bytes_measured:,} bytes, exactly what the formula gives."
    else:
        yield (
            f"The cache measures {generation.cache_bytes_measured:,} bytes, and the formula gives "
            f"{generation.cache_bytes_formula:,}: they should be equal."
        )
    slow, fast = generation.recompute.decode_seconds, generation.cached.decode_seconds
    if not slow or not fast or fast[-1] <= 0:
        yield "The latencies have no last token to compare."
        return
    ratio = slow[-1] / fast[-1]
    reported = generation.speedup_at_last
    agrees = reported is not None and abs(reported - ratio) <= RELATIVE * abs(ratio)
    yield f"The speed-up at the last token is {ratio:.0f} times" + (
        ", as reported." if agrees else "; another was reported."
    )


def _plots(files: Mapping[str, bytes]) -> Iterator[str]:
    for name in ("scaling.png", "kv_latency.png"):
        if name not in files:
            yield f"{name} was not handed in."
        elif not drawn(files[name]):
            yield f"{name} is blank, or no PNG."
        else:
            yield f"{name} is there and not blank."


def drawn(data: bytes) -> bool:
    """Whether the bytes are a PNG with more than one colour; decided on its unpacked rows, without rendering it."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return False
    at, packed = 8, bytearray()
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    try:
        rows = zlib.decompressobj().decompress(packed, MAX_PIXELS)
    except zlib.error:
        return False
    # One colour gives a row filter and one pixel over and over: at most a handful of different bytes.
    return len(set(rows)) > 8


def _note(data: bytes | None) -> Iterator[str]:
    if data is None:
        yield "note.md was not handed in."
        return
    text = data[:200_000].decode("utf-8", "replace")
    line = next((row for row in text.splitlines() if row.strip().lower().startswith("resource that ran out:")), "")
    stated = line.partition(":")[2].lower()
    named = [name for name, words in RESOURCES.items() if any(word in stated for word in words)]
    if len(named) == 1:
        yield f"note.md names one resource that ran out: {named[0]}."
    elif named:
        yield f"note.md names {len(named)} resources where one is asked for."
    else:
        yield "note.md does not name the resource that ran out in a line 'Resource that ran out: …'."
