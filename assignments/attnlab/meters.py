"""Peak memory during a piece of work: what NumPy asked for, what the system gave, what a GPU gave.

Every meter has ``reset()``, ``allocated_peak()`` and ``reserved_peak()``. Both peaks are bytes above the
level at ``reset()``, so what was there before is not counted.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import tracemalloc
from typing import TYPE_CHECKING, Protocol

from attnlab import process_memory

if TYPE_CHECKING:
    import torch


class Meter(Protocol):
    """What ``peak_memory`` takes as its ``meter``."""

    def reset(self) -> None: ...
    def allocated_peak(self) -> int: ...
    def reserved_peak(self) -> int: ...


class ProcessMeter:
    """The memory that the process itself occupied at most: the system's own high-water mark.

    It counts what every library touched; allocated and reserved are one number here. On Linux the mark is put
    back at ``reset``. Elsewhere it cannot be: there a reading is right where the work went above everything
    before it (so measure sizes in rising order), and 0 where it did not.
    """

    def __init__(self) -> None:
        self._level = 0
        self._mark = 0

    def reset(self) -> None:
        _give_back_freed_memory()
        process_memory.reset_peak()
        self._level, self._mark = process_memory.current(), process_memory.peak()

    def allocated_peak(self) -> int:
        peak = process_memory.peak()
        return max(0, peak - self._level) if peak > self._mark else 0

    def reserved_peak(self) -> int:
        return self.allocated_peak()


class NumpyMeter:
    """What Python and NumPy allocated at most (``tracemalloc`` sees every NumPy buffer, exactly).

    ``reserved_peak`` is what the process occupied at most, as ``ProcessMeter`` says. Reading a peak ends the
    measurement: tracing is switched off again if ``reset`` switched it on, so that later timings are not
    slowed down, and both readings stay until the next ``reset``. PyTorch's own memory is not seen here: use
    ``ProcessMeter`` or ``CudaMeter`` for it.
    """

    def __init__(self) -> None:
        self._process = ProcessMeter()
        self._ours = False
        self._level = 0
        self._readings: tuple[int, int] | None = (0, 0)

    def reset(self) -> None:
        gc.collect()
        if not tracemalloc.is_tracing():
            tracemalloc.start(1)
            self._ours = True
        self._process.reset()
        tracemalloc.reset_peak()
        self._level = tracemalloc.get_traced_memory()[0]
        self._readings = None

    def allocated_peak(self) -> int:
        return self._read()[0]

    def reserved_peak(self) -> int:
        return self._read()[1]

    def _read(self) -> tuple[int, int]:
        if self._readings is None:
            allocated = max(0, tracemalloc.get_traced_memory()[1] - self._level)
            # Small objects come from pages that were there before, so the process may not have grown.
            occupied = self._process.reserved_peak()
            if self._ours:
                tracemalloc.stop()
                self._ours = False
            self._readings = allocated, max(allocated, occupied)
        return self._readings


class CudaMeter:
    """What PyTorch allocated on a GPU at most, and what its allocator reserved for that.

    ``device`` as in ``torch.cuda``; None is the current one. RuntimeError where there is no CUDA.
    """

    def __init__(self, device: torch.device | str | int | None = None) -> None:
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("CudaMeter needs a CUDA device, and PyTorch sees none here; use NumpyMeter.")
        self._cuda = torch.cuda
        self._device = device
        self._levels = (0, 0)

    def reset(self) -> None:
        self._cuda.synchronize(self._device)
        gc.collect()
        self._cuda.empty_cache()  # or blocks kept from earlier work would hide what this work reserves
        self._cuda.reset_peak_memory_stats(self._device)
        self._levels = self._cuda.memory_allocated(self._device), self._cuda.memory_reserved(self._device)

    def allocated_peak(self) -> int:
        self._cuda.synchronize(self._device)
        return max(0, self._cuda.max_memory_allocated(self._device) - self._levels[0])

    def reserved_peak(self) -> int:
        self._cuda.synchronize(self._device)
        return max(0, self._cuda.max_memory_reserved(self._device) - self._levels[1])


def _give_back_freed_memory() -> None:
    """Let go of what was freed but kept for later: it would count as occupied before the work begins."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):  # only glibc has malloc_trim
        ctypes.CDLL(None).malloc_trim(0)
