"""The two plots of the deliverable, readable in grey: line styles and markers differ, not only colours."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Path = str | PathLike[str]


def scaling(
    ns: Sequence[int],
    seconds: Sequence[float] | npt.NDArray[np.float64],
    exponent: float,
    path: Path = "scaling.png",
) -> Figure:
    """Log-log plot of one time (seconds) per size, and the line of the fitted exponent; saved to ``path``.

    ValueError where the two sequences differ in length, or a time is not positive.
    """
    sizes, times = np.asarray(ns, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
    if sizes.shape != times.shape or sizes.ndim != 1 or not sizes.size:
        raise ValueError("scaling takes one time per size")
    if not (times > 0).all() or not (sizes > 0).all():
        raise ValueError("a log-log plot needs positive sizes and times")
    figure, axes = _axes()
    axes.loglog(sizes, times, "ko", label="measured")
    # The fitted line goes through the middle of the points, in logarithms.
    level = np.exp(np.mean(np.log(times) - exponent * np.log(sizes)))
    axes.loglog(sizes, level * sizes**exponent, "k--", label=f"fit: n^{exponent:.2f}")
    axes.set_xticks(sizes, [f"{n:g}" for n in sizes])
    axes.minorticks_off()
    axes.set(
        xlabel="sequence length n (tokens)",
        ylabel="time of one call (s)",
        title="Time of attention against n",
    )
    return _finish(figure, axes, path)


def kv_latency(
    recompute: Sequence[float] | npt.NDArray[np.float64],
    cached: Sequence[float] | npt.NDArray[np.float64],
    path: Path = "kv_latency.png",
) -> Figure:
    """Seconds per generated id, recomputing and with the cache, on a logarithmic axis; saved to ``path``.

    Entry 0 of both belongs to the second new id: the first one comes out of the prefill. ValueError where a
    sequence is empty.
    """
    figure, axes = _axes()
    for name, values, style in (
        ("recomputing everything", recompute, "k-"),
        ("with the KV cache", cached, "k:"),
    ):
        times = np.asarray(values, dtype=np.float64)
        if times.ndim != 1 or not times.size:
            raise ValueError(f"there are no times {name}")
        axes.semilogy(np.arange(2, times.size + 2), times, style, label=name)
    axes.set(xlabel="generated token", ylabel="time of this token (s)", title="Latency per generated token")
    return _finish(figure, axes, path)


def _axes() -> tuple[Figure, Axes]:
    """A figure of its own: no window opens, and other plots of the notebook are left alone."""
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows by itself; one made without pyplot is only a line of text there."""

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    figure = Shown(figsize=(7.0, 4.6), dpi=120, layout="constrained", facecolor="white")
    return figure, figure.add_subplot()


def _finish(figure: Figure, axes: Axes, path: Path) -> Figure:
    axes.grid(visible=True, which="major", color="0.85")
    axes.legend()
    figure.savefig(path)
    return figure
