"""Two devices to compare on any machine: one is plain, the other has a bug that real ones have had.

The article's last section tells of it: on one accelerator, moving an array of integers to the host *and* asking for
float64 in the same call gave the integers' bits, read as floating-point numbers, and no error. Every position
became a number next to zero, and rotary positions were silently switched off. ``STAND_IN`` does the same, so that
the comparison that finds it can be tried without that hardware.

    from attnlab.second_device import CPU, STAND_IN

    there = STAND_IN.send(np.arange(4))
    there.fetch(np.float64)           # silently wrong: 1 comes back as 4.9e-324
    there.fetch().astype(np.float64)  # right: first move, then cast
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NO_FLOAT64 = "this device has no float64"


@dataclass(frozen=True)
class Device:
    """Somewhere to compute. ``faulty``: it has no float64, and casts integers to it by reading their bits."""

    name: str
    faulty: bool = False

    def send(self, values: Array) -> DeviceArray:
        """Move an array there; the dtype stays. TypeError for float64 where the device has none."""
        copied = np.array(values)
        if self.faulty and copied.dtype == np.float64:
            raise TypeError(NO_FLOAT64)
        return DeviceArray(self, copied)

    def __str__(self) -> str:
        return self.name


class DeviceArray:
    """An array on a device; it is on the host again after ``fetch``."""

    def __init__(self, device: Device, values: Array) -> None:
        self.device, self._values = device, values

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    def fetch(self, dtype: npt.DTypeLike | None = None) -> Array:
        """The values on the host; with a ``dtype``, moved and cast in one call, which is where the bug sits."""
        if dtype is None:
            return self._values.copy()
        wanted = np.dtype(dtype)
        if self.device.faulty and wanted == np.float64:
            if self.dtype != np.int64:
                raise TypeError(NO_FLOAT64)
            return self._values.view(np.float64).copy()  # the bits, not the numbers
        return self._values.astype(wanted)

    def cast(self, dtype: npt.DTypeLike) -> DeviceArray:
        """The values in another dtype, still there. TypeError for float64 where the device has none."""
        if self.device.faulty and np.dtype(dtype) == np.float64:
            raise TypeError(NO_FLOAT64)
        return DeviceArray(self.device, self._values.astype(dtype))


CPU = Device("cpu")
STAND_IN = Device("stand-in", faulty=True)
