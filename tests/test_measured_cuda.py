"""The measured exponent on a GPU that exists only as numbers: a queue that only ``synchronize`` drains, launches that
cost more than small sizes do, and code that lies about its time. Nothing in here needs a GPU, or shows that one works;
``tests/gpu`` does.
"""

from __future__ import annotations

import fcntl
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from autograder import failures
from autograder.measured import cpu, cuda, inputs
from autograder.measured.on_device import timed_call
from autograder.measured.verdict import Finding

GIB = 2**30
WIRE = 2e-4


@dataclass
class Card:
    """A GPU and its host on one simulated clock. A launch costs the host time and puts work into the queue.

    ``each``: seconds for one score (of one head). ``gib``: free memory.
    """

    each: float
    gib: float
    launch: float = 15e-6
    jitter: float = 0.03
    host: float = 0.0
    ready: float = 0.0
    name: str = "simulated"
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(4))

    def kernel(self, seconds: float) -> None:
        self.host += self.launch * math.exp(abs(self.rng.normal(0, self.jitter)))
        self.ready = max(self.ready, self.host) + max(seconds, 2e-6) * math.exp(abs(self.rng.normal(0, self.jitter)))

    def synchronize(self) -> None:
        self.host = max(self.host, self.ready) + 5e-6

    def hold(self) -> None:
        self.ready = max(self.ready, self.host) + 1.5e-3

    def mark(self) -> float:
        return max(self.host, self.ready)

    def elapsed(self, start: float, end: float) -> float:
        assert max(start, end) <= self.host, "an event was read before it had happened"
        return end - start

    def reset_peaks(self) -> None: ...

    def allocated(self) -> int:
        return 0

    def reserved(self) -> int:
        return 0

    def free(self) -> int:
        return int(self.gib * GIB)


#: What a card does of one call, as a part of n² scores in each head.
Work = Callable[[int], float]

CARDS = {
    # 4.8 TB/s and 60 TFLOP/s: launches dominate up to n = 2,048 in spite of 8 heads.
    "a large card": lambda: Card(each=11e-12, gib=140),
    # 0.36 TB/s: the square shows from n = 1,024 on, and n = 16,384 does not fit.
    "a small card": lambda: Card(each=140e-12, gib=8),
    "a small card, restless": lambda: Card(each=140e-12, gib=8, jitter=0.15),
}
RIGHT: dict[str, Work] = {
    "like the reference": lambda n: 1.0,
    "in float64": lambda n: 2.2,
    "twice as fast in a cache": lambda n: 0.5 if n <= 1024 else 1.1,
}
CUBIC: dict[str, Work] = {"one product too many": lambda n: 1 + n / 64, "two": lambda n: 1 + n / 32}
SKIPPING: dict[str, Work] = {"linear attention": lambda n: 64 / n, "an answer from before": lambda n: 1e-9}


class Simulated:
    """A bench on a card: ``call`` goes through the same timing routine as the sandbox's."""

    def __init__(self, card: Card, work: Work, *, lie: Callable[[float], float] | None = None, arrays: int = 3) -> None:
        self.card, self.work, self.lie, self.arrays = card, work, lie, arrays
        self.n, self.heads, self.seed = 0, 0, 0

    def call(self, method: str, *args: Any) -> Any:
        self.card.host += WIRE
        return getattr(self, method)(*args)

    def load(self, n: int, heads: int, seed: int) -> None:
        self.n, self.heads, self.seed = n, heads, seed
        if self.arrays * heads * n * n * 4 > self.card.free():
            raise failures.OutOfMemory("no more")

    def run(self) -> float:
        seconds, _ = timed_call(self.card, self.attention)
        return self.lie(seconds) if self.lie else seconds

    def attention(self) -> None:
        for _ in range(8):
            self.card.kernel(self.card.each * self.heads * self.n**2 * self.work(self.n) / 8)

    def free(self) -> int:
        return self.card.free()

    def rows(self, positions: list[int], head: int) -> np.ndarray[Any, Any]:
        queries, keys, values = inputs.one_head(self.n, self.seed, head)
        weights = np.exp(queries[positions] @ keys.T / np.float32(8))
        found: np.ndarray[Any, Any] = weights @ values / weights.sum(axis=-1, keepdims=True)
        return found


def measure(card: Card, work: Work, seed: int = 0, **options: Any) -> cuda.OnDevice:
    return cuda.OnDevice(
        Simulated(card, work, **options), Simulated(card, lambda n: 1.0), seed, clock=lambda: card.host
    )


def decide(device: cuda.OnDevice) -> Finding:
    return cpu.decide(device, cuda.SHORT, cuda.LONG)


# ---- timing
def test_only_the_call_s_own_work_is_counted_and_all_of_it() -> None:
    card = Card(each=0, gib=1, jitter=0)
    card.kernel(5.0)

    def call() -> str:
        for _ in range(3):
            card.kernel(0.25)
        return "result"

    seconds, result = timed_call(card, call)
    assert result == "result"
    assert seconds == pytest.approx(0.75, rel=1e-3)


def test_small_sizes_show_launches_and_large_ones_the_square() -> None:
    card = CARDS["a large card"]()
    device = measure(card, RIGHT["like the reference"])
    assert device.student(256) < 1.2 * device.student(128)
    assert device.student(16384) == pytest.approx(4 * device.student(8192), rel=0.15)


def test_held_back_the_device_shows_work_and_not_the_gaps_between_launches() -> None:
    card = CARDS["a large card"]()
    device = measure(card, RIGHT["like the reference"])
    held = device.student(1024)
    card.hold = lambda: None  # type: ignore[method-assign]
    assert held < 0.8 * device.student(1024)


# ---- the verdict
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("code", RIGHT)
def test_right_code_is_found_quadratic(card: str, code: str) -> None:
    for seed in range(5):
        device = measure(CARDS[card](), RIGHT[code], seed)
        finding = decide(device)
        assert finding.outcome == "quadratic", finding
        assert device.spot_check(finding.largest)


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("code", CUBIC)
def test_cubic_code_never_passes(card: str, code: str) -> None:
    assert decide(measure(CARDS[card](), CUBIC[code])).outcome in ("steeper", "unclear")


def test_cubic_code_is_seen_as_such_where_it_dominates() -> None:
    assert decide(measure(CARDS["a small card"](), CUBIC["two"])).outcome == "steeper"


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("code", SKIPPING)
def test_code_that_skips_the_work_is_seen(card: str, code: str) -> None:
    outcome = decide(measure(CARDS[card](), SKIPPING[code])).outcome
    assert outcome == "flatter" or (outcome == "unclear" and code == "linear attention")


def test_a_size_that_does_not_fit_ends_the_climb() -> None:
    device = measure(CARDS["a small card"](), RIGHT["like the reference"])
    assert max(cpu.climb(device, 10.0, cuda.SIZES)) == 16384
    device = measure(CARDS["a small card"](), RIGHT["like the reference"], arrays=5)
    assert device.heads == 1
    assert max(cpu.climb(device, 10.0, cuda.SIZES)) == 16384
    hungry = measure(CARDS["a small card"](), RIGHT["like the reference"], arrays=9)
    assert max(cpu.climb(hungry, 10.0, cuda.SIZES)) == 8192
    assert decide(hungry).outcome == "quadratic"


@pytest.mark.parametrize(("gib", "heads"), [(140, 8), (80, 4), (40, 2), (24, 1), (8, 1), (1, 1), (2000, 8)])
def test_heads_are_as_many_as_fit(gib: float, heads: int) -> None:
    assert cuda.heads_that_fit(gib * GIB) == heads


# ---- whose clock
@pytest.mark.parametrize(
    "lie", [lambda s: s / 100, lambda s: s * 100, lambda s: 1e-3, lambda s: -s, lambda s: math.nan, lambda s: math.inf]
)
def test_code_that_lies_about_its_time_is_timed_by_the_oracle(lie: Callable[[float], float]) -> None:
    card = CARDS["a small card"]()
    device = measure(card, CUBIC["two"], lie=lie)
    assert device.student(8192) > card.each * 8192**2 * CUBIC["two"](8192)
    assert device.contradicted == 1
    assert decide(device).outcome != "quadratic"


def test_honest_events_are_believed() -> None:
    device = measure(CARDS["a large card"](), RIGHT["like the reference"])
    decide(device)
    assert device.contradicted == 0
    assert device.samples > 50


def test_a_time_that_is_no_number_cannot_be_read() -> None:
    device = measure(CARDS["a small card"](), RIGHT["like the reference"], lie=lambda s: [s])
    with pytest.raises(failures.Unreadable):
        device.student(128)


def test_one_measurement_at_a_time_uses_the_gpu() -> None:
    with cuda.turn():
        path = next(p for p in cuda_locks() if p.exists())
        with path.open("w", encoding="utf-8") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def cuda_locks() -> Iterator[Any]:
    import os
    import tempfile
    from pathlib import Path

    yield Path(tempfile.gettempdir()) / f"attnlab-gpu-{os.getuid()}.lock"
