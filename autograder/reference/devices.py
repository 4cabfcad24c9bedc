"""Stand-ins whose answers are known exactly: a device with its clock, a memory meter, a size limit.

The checks of steps 5, 6 and 8 hand these to the student's code, so that a timing check needs no quiet machine
and a memory check no memory. They run on the oracle's side; what they are called with is the submission's and
is refused with ``TypeError`` or ``ValueError`` where it is not what the contract says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Seconds of one tick: about a microsecond, and a power of two, so that clock readings and differences are exact.
TICK = 2.0**-20
#: A search that asks more often than this is ended; the contract allows a few dozen questions.
MAX_QUESTIONS = 5000


def whole(value: Any, what: str) -> int:
    """A whole number from the submission as an ``int``. A float is taken where it has no fraction, as 1024.0."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} must be a whole number")
    if isinstance(value, float) and not value.is_integer():
        raise TypeError(f"{what} must be a whole number, not {value!r}")
    return int(value)


class Device:
    """A device whose work is finished when ``sync`` says so, and the clock that goes with it.

    ``queued=True``: work is only put into a queue, the clock stands still until ``sync`` waits for it.
    ``queued=False``: work is done at once, as on a CPU. The clock starts at an odd time on purpose: only
    differences mean anything. Times are kept in ticks (``TICK`` seconds).
    """

    def __init__(self, *, queued: bool, origin: int = 5_000_003) -> None:
        self.queued = queued
        self._now = origin
        self._busy_until = origin

    def clock(self) -> float:
        """Seconds. Reading the clock takes no time."""
        return self._now * TICK

    def sync(self) -> None:
        """Wait until the queue is empty."""
        self._now = max(self._now, self._busy_until)

    def work(self, ticks: int) -> None:
        """Do this much work, or queue it."""
        self._busy_until = max(self._now, self._busy_until) + ticks
        if not self.queued:
            self.sync()

    def wait(self, ticks: int) -> None:
        """Time that passes on the host (an allocation), while the device goes on with its queue."""
        self._now += ticks
        self._busy_until = max(self._now, self._busy_until)


class Workload:
    """A function to be timed at several sizes, with ``make_args`` for it; remembers what every call cost.

    ``ticks(n, k)`` is the cost of the k-th call (from 0) at size n. ``arguments`` (1 to 3) is how many
    positional arguments there are: an array ``(n, 2)``, the size, and a list. ``filling``: ticks of device
    work that ``make_args`` queues (random numbers are drawn there). ``allocating``: ticks that pass on the host
    meanwhile.
    """

    def __init__(
        self,
        device: Device,
        sizes: Iterable[int],
        ticks: Callable[[int, int], int],
        *,
        arguments: int = 2,
        filling: int = 0,
        allocating: int = 0,
    ) -> None:
        self.device, self.sizes, self._ticks = device, tuple(sizes), ticks
        self._arguments, self._filling, self._allocating = arguments, filling, allocating
        self._done: defaultdict[int, list[int]] = defaultdict(list)

    def make_args(self, n: Any) -> tuple[Any, ...]:
        """Positional arguments for ``fn`` at size ``n``."""
        size = whole(n, "the size given to make_args")
        if size not in self.sizes:
            raise ValueError("make_args was called with a size that is not among ns")
        self.device.wait(self._allocating)
        if self._filling:
            self.device.work(self._filling)
        return self._arguments_of(size)

    def fn(self, *args: Any) -> None:
        """The function to be timed. Raises ``TypeError`` where it is not called with what ``make_args`` gave."""
        if len(args) != self._arguments:
            raise TypeError(f"fn takes {self._arguments} positional argument(s) and was given {len(args)}")
        first = args[0]
        if not isinstance(first, np.ndarray) or first.ndim != 2 or len(first) not in self.sizes:
            raise TypeError("the first argument of fn is not the array that make_args gave")
        size = len(first)
        if not same_arguments(args, self._arguments_of(size)):
            raise TypeError("fn was not called with the arguments that make_args gave for one size")
        ticks = self._ticks(size, len(self._done[size]))
        self._done[size].append(ticks)
        self.device.work(ticks)

    def calls(self, n: int) -> int:
        """How often ``fn`` was called at this size."""
        return len(self._done[n])

    def seconds(self, n: int, last: int) -> Array:
        """What the last calls at this size really took, ``(last,)`` or fewer where there were fewer calls."""
        return np.array(self._done[n][-last:], dtype=float) * TICK

    def _arguments_of(self, size: int) -> tuple[Any, ...]:
        return (np.arange(2.0 * size).reshape(size, 2), size, [size, -size])[: self._arguments]


def same_arguments(given: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether a function was called with these arguments: arrays, and plain values that compare with ``==``."""
    return len(given) == len(right) and all(map(_same, given, right))


def _same(given: Any, right: Any) -> bool:
    if isinstance(right, np.ndarray):
        return isinstance(given, np.ndarray) and given.shape == right.shape and bool(np.all(given == right))
    return type(given) is type(right) and bool(given == right)


class Meter:
    """A memory meter as the lab describes it: a reading is the highest level since the last ``reset``.

    ``base`` is what is in use all the time (allocated, reserved), as on a device that already holds a model;
    after a reset a reading starts from there, which is how ``torch.cuda.reset_peak_memory_stats`` behaves.
    """

    def __init__(self, base: tuple[int, int] = (0, 0)) -> None:
        self._level, self._peak = list(base), list(base)

    def reset(self) -> None:
        """Forget earlier peaks."""
        self._peak = list(self._level)

    def allocated_peak(self) -> int:
        """Bytes."""
        return self._peak[0]

    def reserved_peak(self) -> int:
        """Bytes."""
        return self._peak[1]

    def surge(self, allocated: int, reserved: int) -> None:
        """Go up by this many bytes and come down again, as temporaries do."""
        self._peak = [
            max(peak, level + more)
            for peak, level, more in zip(self._peak, self._level, (allocated, reserved), strict=True)
        ]


class Limit:
    """A monotone ``fits``: sizes up to ``largest`` fit. Remembers every question.

    Too large a size is answered with ``MemoryError`` where ``raises(n)`` says so, else with ``False``.
    """

    def __init__(self, largest: int, raises: Callable[[int], bool] = lambda n: False) -> None:
        self.largest, self._raises = largest, raises
        self.asked: list[int] = []

    def __call__(self, n: Any) -> bool:
        size = whole(n, "the size given to fits")
        if size < 0:
            raise ValueError("there is no negative size")
        if len(self.asked) >= MAX_QUESTIONS:
            raise RuntimeError(f"fits was asked more than {MAX_QUESTIONS} times")
        self.asked.append(size)
        if size > self.largest and self._raises(size):
            raise MemoryError("this size does not fit")
        return size <= self.largest
