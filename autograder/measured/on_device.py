"""Single calls of attention on a device, timed there: what runs in the sandbox when ``--device cuda`` is asked for.

``Bench`` holds one function, inputs that were made on the device before any clock started, and the last output. Its
seconds are those between two events in the device's own queue. Like everything in the sandbox it is not trusted:
``measured.cuda`` holds each of its times against a clock that the submission cannot reach.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from autograder.measured import array_functions, inputs  # noqa: F401 (the first teaches DeviceArray its functions)
from autograder.measured.device_array import DeviceArray, LeftTheDevice


class Device(Protocol):
    """Where calls are timed. A call may return before its work is done; ``synchronize`` waits for all of it."""

    @property
    def name(self) -> str:
        """As torch calls it."""
        ...

    def synchronize(self) -> None: ...

    def hold(self) -> None:
        """Keep the device busy for a moment (a millisecond or so): what is asked for next queues up behind."""
        ...

    def mark(self) -> Any:
        """An event in the queue, behind everything that was asked for so far."""
        ...

    def elapsed(self, start: Any, end: Any) -> float:
        """Seconds between two events that have happened."""
        ...

    def reset_peaks(self) -> None: ...

    def allocated(self) -> int:
        """Most bytes that tensors took since ``reset_peaks``, above what they took then."""
        ...

    def reserved(self) -> int:
        """The same of what the allocator reserved for them."""
        ...

    def free(self) -> int:
        """Bytes of memory that nobody uses."""
        ...


class Cuda:
    """The current CUDA device. Raises ``RuntimeError`` where PyTorch has none."""

    name = "cuda"

    def __init__(self) -> None:
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no CUDA device here")
        # TensorFloat-32 keeps 10 bits of a float32's 23: results would not agree to float32's accuracy.
        torch.set_float32_matmul_precision("highest")
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        self._levels = (0, 0)
        # Used by PyTorch's own tests for this purpose; without it more of a short call is launching.
        self._sleep: Callable[[int], None] | None = getattr(torch.cuda, "_sleep", None)

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def hold(self) -> None:
        if self._sleep is not None:
            self._sleep(HOLD_CYCLES)

    def mark(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def elapsed(self, start: torch.cuda.Event, end: torch.cuda.Event) -> float:
        return float(start.elapsed_time(end)) / 1000.0

    def reset_peaks(self) -> None:
        self.synchronize()
        gc.collect()
        # Blocks that are kept from earlier calls would hide what this one needs.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        self._levels = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()

    def allocated(self) -> int:
        return int(torch.cuda.max_memory_allocated()) - self._levels[0]

    def reserved(self) -> int:
        return int(torch.cuda.max_memory_reserved()) - self._levels[1]

    def free(self) -> int:
        return int(torch.cuda.mem_get_info()[0])


class Processor:
    """PyTorch's own CPU device behind the same face: how all of this is tested where there is no GPU."""

    name = "cpu"

    def synchronize(self) -> None:
        """Nothing to wait for: a call here returns when its work is done."""

    def hold(self) -> None:
        """Nothing queues up here."""

    def mark(self) -> float:
        return time.perf_counter()

    def elapsed(self, start: float, end: float) -> float:
        return end - start

    def reset_peaks(self) -> None:
        gc.collect()

    def allocated(self) -> int:
        return 0  # PyTorch does not count memory on a CPU

    def reserved(self) -> int:
        return 0

    def free(self) -> int:
        return 2**30


#: About 1 to 1.5 ms on any card of the last ten years, longer than it takes to ask for one call of attention.
HOLD_CYCLES = 2_000_000

DEVICES: dict[str, Callable[[], Device]] = {"cuda": Cuda, "cpu": Processor}


def timed_call(device: Device, call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call on the device, and its result: nothing before it and all of its own work is counted.

    The device is held until the call is asked for, so that its seconds are work and not the gaps between launches.
    """
    device.synchronize()
    device.hold()
    start = device.mark()
    result = call()
    end = device.mark()
    device.synchronize()
    return device.elapsed(start, end), result


class Bench:
    """One function of a submission on one device."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self._device = function, DEVICES[name]()
        self._arguments: list[DeviceArray] = []
        self._output: torch.Tensor | None = None

    def load(self, n: int, heads: int, seed: int, dtype: str = "float32") -> None:
        """Fresh inputs of shape ``(heads, n, 64)``, or ``(n, 64)`` for one head."""
        # What came before goes first: two sets of large arrays may not fit.
        self._arguments, self._output = [], None
        drawn = inputs.all_heads(n, seed, heads) if heads > 1 else inputs.one_head(n, seed, 0)
        with _out_of_memory():
            there = torch.from_numpy(drawn).to(self._device.name, getattr(torch, dtype))
            # Each a tensor of its own: students get arrays that own their memory.
            self._arguments = [DeviceArray(part.clone()) for part in there]
        self._device.synchronize()

    def run(self) -> float:
        """Seconds of one call on the inputs that are loaded."""
        self._output = None
        with _out_of_memory():
            seconds, self._output = timed_call(self._device, self._call)
        return seconds

    def peak(self) -> list[int]:
        """Bytes that one call took at most, allocated and reserved, above its inputs."""
        self._output = None
        self._device.reset_peaks()
        with _out_of_memory():
            self._output = self._call()
            self._device.synchronize()
        return [self._device.allocated(), self._device.reserved()]

    def rows(self, positions: Sequence[int], head: int) -> np.ndarray[Any, Any]:
        """Rows of the last output, as float64."""
        if self._output is None:
            raise RuntimeError("nothing was computed yet")
        one = self._output if self._output.ndim == 2 else self._output[head]
        return one[torch.tensor(positions, device=one.device)].detach().double().cpu().numpy()

    def shape(self) -> list[int]:
        """Of the last output."""
        return [] if self._output is None else list(self._output.shape)

    def free(self) -> int:
        return self._device.free()

    def _call(self) -> torch.Tensor:
        try:
            with torch.device(self._device.name), _TorchCode():
                result = self._function(*self._arguments)
        except ValueError as error:
            # What float() raised while an element was put into a NumPy array; NumPy has other words for it.
            raise error.__cause__ if isinstance(error.__cause__, LeftTheDevice) else error from None
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        tensor = first.tensor if isinstance(first, DeviceArray) else first
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != self._device.name:
            raise LeftTheDevice(f"the output came back as {type(first).__name__}, not on the device")
        return tensor


class _TorchCode(TorchFunctionMode):
    """Lets code that uses torch inside run here unchanged: its ways from NumPy to torch and back stay on the device."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        options = kwargs or {}
        if func in (torch.as_tensor, torch.tensor, torch.asarray) and args and isinstance(args[0], DeviceArray):
            tensor = args[0].tensor
            return tensor.to(options.get("dtype") or tensor.dtype, copy=func is torch.tensor)
        if func is torch.Tensor.numpy:
            return DeviceArray(args[0].detach())
        return func(*args, **options)


@contextlib.contextmanager
def _out_of_memory() -> Iterator[None]:
    """A GPU's own refusal as the error that Python has for it."""
    try:
        yield
    except torch.OutOfMemoryError:
        gc.collect()
        torch.cuda.empty_cache()
        raise MemoryError("the memory of the GPU was used up") from None
