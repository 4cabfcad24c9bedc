"""Probes of step 5: a device whose times are known to the tick, and times with known slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.reference.devices import TICK, Device, Workload
from autograder.suspects.probes.record import Notes, kind

#: Relative exactness is not needed: the smallest difference between two mistakes is one tick.
HALF_A_TICK = TICK / 2


class Counted:
    """A device's ``sync`` and ``clock``, and in which order they were called and by what."""

    def __init__(self, load: Workload) -> None:
        self.load, self.order = load, [""]
        self.given: set[str] = set()

    def _note(self, letter: str) -> None:
        # Repeats of the same pattern say nothing more than the first few.
        if len(self.order) < 400:
            self.order.append(letter)

    def sync(self) -> None:
        self._note("s")
        self.load.device.sync()

    def clock(self) -> float:
        self._note("c")
        return self.load.device.clock()

    def fn(self, *args: Any) -> None:
        self._note("f")
        if len(self.given) < 5:
            self.given.add(f"{len(args)} beginning with {kind(args[0]) if args else 'nothing'}")
        self.load.fn(*args)

    def make_args(self, n: Any) -> tuple[Any, ...]:
        self._note("m")
        return self.load.make_args(n)


def observe_time_calls(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """A device that works at once, one with a queue, sizes in any order, slow first calls."""
    each, jitter = int(rng.integers(50, 900)), rng.integers(1, 30_000, size=400)

    def steady(n: int, k: int) -> int:
        return each * n * n + 7

    def restless(n: int, k: int) -> int:
        return each * n * n + int(jitter[(k + 31 * n) % 400])

    def slow_at_first(n: int, k: int) -> int:
        return steady(n, k) * (9 - 2 * k if k < 3 else 1)

    def ask(
        name: str,
        ns: list[int],
        ticks: Callable[[int, int], int],
        *,
        queued: bool,
        warmup: int,
        repeats: int,
        **costs: int,
    ) -> None:
        load = Workload(Device(queued=queued), ns, ticks, **costs)
        counted = Counted(load)
        clocks: dict[str, Any] = {"clock": counted.clock, "sync": counted.sync}
        notes.answer(
            name,
            lambda: lab.time_calls(counted.fn, counted.make_args, ns, warmup=warmup, repeats=repeats, **clocks),
            tolerance=HALF_A_TICK,
        )
        notes.write(f"{name}: calls", [load.calls(n) for n in ns])
        order = "".join(counted.order)
        notes.write(f"{name}: given to fn", "; ".join(sorted(counted.given)))
        notes.write(f"{name}: sync used", bool(order.count("s")))
        notes.write(f"{name}: clock used", bool(order.count("c")))
        notes.write(f"{name}: around a call", _around(order))

    notes.twice("steady", lambda name: ask(name, [3, 6, 12], steady, queued=False, warmup=1, repeats=3))
    ask("restless", [4, 8], restless, queued=False, warmup=2, repeats=5)
    ask("falling sizes", [9, 6, 4, 5], restless, queued=False, warmup=1, repeats=2)
    ask("one argument", [5, 7], steady, queued=False, warmup=1, repeats=2, arguments=1)
    ask("slow first calls", [8, 4], slow_at_first, queued=False, warmup=3, repeats=4)
    ask("no warm-up", [8, 4], slow_at_first, queued=False, warmup=0, repeats=3)
    ask("queue", [4, 8, 16], restless, queued=True, warmup=2, repeats=3)
    ask("queue, slow arguments", [5, 3], steady, queued=True, warmup=1, repeats=2, filling=40_001, allocating=5_003)
    ask("queue, slow arguments, no warm-up", [3, 5], steady, queued=True, warmup=0, repeats=2, filling=40_001)
    ask("slow arguments", [5, 3], steady, queued=False, warmup=1, repeats=2, filling=40_001, allocating=5_003)


def _around(order: str) -> str:
    """What stands between the last two readings of the clock before the end, such as ``fs``."""
    parts = order.split("c")
    return parts[-2][-6:] if len(parts) > 2 else "nothing"


def observe_local_slopes(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Powers, uneven ratios, falling times, two sizes only."""
    for name, ns, seconds in _measurements(rng):
        notes.answer(name, lambda: lab.local_slopes(ns, seconds))


def observe_fit_exponent(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The same, where a fit, an average and the end points all differ."""
    for name, ns, seconds in _measurements(rng):
        notes.answer(name, lambda: lab.fit_exponent(ns, seconds))


def _measurements(rng: np.random.Generator) -> list[tuple[str, list[int], list[float]]]:
    """Name, sizes, seconds. No exponent is a whole number, and no sizes are spaced evenly unless named so."""
    doubling, uneven = [128, 256, 512, 1024, 2048, 4096], [100, 130, 300, 340, 900]
    power = float(rng.uniform(1.6, 2.4))
    rough = np.exp(rng.normal(scale=0.6, size=6))

    def times(ns: list[int], factors: Any) -> list[float]:
        return [float(t) for t in 1e-7 * np.array(ns, dtype=float) ** power * factors]

    return [
        ("doubling, exact", doubling, times(doubling, 1.0)),
        ("doubling, rough", doubling, times(doubling, rough)),
        ("uneven, exact", uneven, times(uneven, 1.0)),
        ("uneven, rough", uneven, times(uneven, rough[:5])),
        ("falling", [10, 30, 70, 110], [4.0, 5.5, 1.5, 0.7]),
        ("two sizes", [20, 50], [0.03, 0.11]),
        ("three sizes", [7, 20, 50], [0.003, 0.07, 0.11]),
        ("overhead", doubling, [0.02 + t for t in times(doubling, 1.0)]),
    ]
