"""Probes of step 6: numbers of bytes, a meter with a past, and limits to be found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.lab import Lab
from autograder.reference.devices import Limit, Meter
from autograder.suspects.probes.record import Notes, plain


def observe_score_bytes(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Each argument alone, all of them, none of the optional ones, and products beyond 32 and 53 bits."""

    def ask(name: str, *args: int) -> None:
        notes.answer(name, lambda: lab.score_bytes(*args), kinds=True)

    ask("one head", int(rng.integers(100, 300)))
    ask("heads", int(rng.integers(100, 300)), 3)
    for itemsize in (1, 2, 4, 8):
        ask(f"itemsize {itemsize}", 160, 5, itemsize)
    ask("one token", 1)
    ask("odd", 77, 7, 4)
    ask("the chapter's 4,096", 4096)
    ask("the chapter's 100,000", 100_000)
    ask("very large", 3_000_001, 33, 8)


class Remembering(Meter):
    """A meter that keeps the order in which it was reset (r) and read (a, b)."""

    def __init__(self, base: tuple[int, int]) -> None:
        super().__init__(base)
        self.order = ""
        self.read = False

    def reset(self) -> None:
        """Forget earlier peaks."""
        self.order += "r"
        super().reset()

    def allocated_peak(self) -> int:
        """Bytes."""
        self.order += "a"
        self.read = True
        return super().allocated_peak()

    def reserved_peak(self) -> int:
        """Bytes."""
        self.order += "b"
        self.read = True
        return super().reserved_peak()


def observe_peak_memory(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """A meter that was used before, a base that is always in use, functions that allocate, fail, take arguments."""
    surge = [int(b) for b in rng.integers(2_000_000, 9_000_000, size=2)]

    def ask(name: str, *args: Any, base: tuple[int, int] = (0, 0), before: int = 0, fails: bool = False) -> None:
        meter = Remembering(base)
        calls: list[int] = []
        meter.surge(before, 2 * before)

        def fn(*given: Any) -> list[float]:
            calls.append(len(given))
            meter.order += "f"
            if len(given) != len(args):
                raise TypeError(f"fn takes {len(args)} arguments")
            # Another surge at each call, so that two runs cannot pass for one.
            meter.surge(surge[0] + 1001 * len(calls), 3 * surge[1] + 5003 * len(calls))
            if fails:
                raise ValueError("fn failed")
            return [1.0, 2.0]

        handed = lab.stand_in(meter, methods=("reset", "allocated_peak", "reserved_peak"))

        def call() -> Any:
            found = lab.peak_memory(fn, *args, meter=handed)
            # Numbers of another meter differ from run to run; that they are such is what can be compared.
            return "not from the meter" if _two_numbers(found) and not meter.read else found

        notes.answer(name, call, parts=("allocated", "reserved"), kinds=True)
        notes.write(f"{name}: calls", calls)
        before_it, _, after_it = meter.order.partition("f")
        notes.write(f"{name}: reset before, after", ["r" in before_it, "r" in after_it])
        notes.write(f"{name}: read after", ["a" in after_it, "b" in after_it])

    ask("fresh meter")
    ask("earlier peak", before=90_000_000)
    ask("something in use", base=(70_000_001, 80_000_003))
    ask("both", 3, "x", base=(7_000_001, 8_000_003), before=90_000_000)
    ask("one argument", np.arange(3.0))
    ask("a function that fails", fails=True)


def _two_numbers(found: Any) -> bool:
    """Whether what came back is a pair of numbers: nothing at all, or a text, is from no meter, and no reading."""
    sequence = isinstance(found, list) or (isinstance(found, np.ndarray) and found.ndim > 0)
    return sequence and len(found) == 2 and not any(isinstance(plain(part), str) for part in found)


class Patient(Limit):
    """A limit that ends a search which asks far more often than it may."""

    def __call__(self, n: Any) -> bool:
        if len(self.asked) > 100:
            raise RuntimeError("asked far too often")
        return super().__call__(n)


def observe_largest_n(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Limits above, at and below the start; none at all; refusals by error and by answer."""

    def ask(name: str, largest: int, start: int | None = None, raises: Callable[[int], bool] = lambda n: False) -> None:
        limit = Patient(largest, raises)
        first = start or 1024
        named = {} if start is None else {"start": start}
        notes.answer(name, lambda: lab.largest_n(limit, **named), kinds=True)
        allowed = 2 * np.log2(max(largest, 1) / first) if largest > first else 0.0
        allowed += np.log2(first) + 6
        notes.write(f"{name}: asked", "nothing" if not limit.asked else "something")
        notes.write(f"{name}: too often", bool(len(limit.asked) > allowed))
        notes.write(f"{name}: too far", bool(max(limit.asked, default=0) > 2 * max(largest, first) + 1))

    ask("above the start", int(rng.integers(5000, 9000)))
    ask("a power above the start", 4096)
    ask("just above the start", 1025)
    ask("at the start", 1024)
    ask("just below the start", 1023)
    ask("far below the start", int(rng.integers(100, 400)))
    ask("one only", 1)
    ask("nothing", 0)
    ask("small start", int(rng.integers(300, 500)), 4)
    ask("odd start", int(rng.integers(600, 900)), 37)
    ask("odd just below a doubling", 73, 37)
    ask("refused by an error", int(rng.integers(5000, 9000)), None, lambda n: True)
    ask("refused by an error, from a small start", 45, 7, lambda n: True)
    ask("refused by an error near the limit only", 3000, None, lambda n: n < 4000)
    ask("refused by an error below the start", 700, None, lambda n: True)
    notes.answer("every limit from 8 to 23", lambda: [lab.largest_n(Patient(limit), start=8) for limit in range(8, 24)])
    notes.answer("a test that fails", lambda: lab.largest_n(_broken))


def _broken(n: Any) -> bool:
    if n > 3000:
        raise ValueError("not about memory")
    return True
