"""The measured exponent on machines that exist only as numbers: right code is never failed, wrong code is caught.

Every run is seeded. The costs are fits to what was seen on real machines (milliseconds at n = 2048 of about 20 to
200); the machines are worse than any that should grade.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from autograder.failures import CheckFailed, Inconclusive, OutOfMemory
from autograder.measured import cpu
from autograder.measured.verdict import TINY, judge, share_of_square

Cost = Callable[[int], float]


def polynomial(a: float, b: float, c: float, e: float = 0.0) -> Cost:
    """Seconds ``a + b·n + c·n² + e·n³``, given in microseconds, microseconds, nanoseconds, and nanoseconds."""
    return lambda n: a * 1e-6 + b * 1e-6 * n + c * 1e-9 * n * n + e * 1e-9 * n**3


def with_steps(cost: Cost, **steps: float) -> Cost:
    """The same, times ``factor`` for every size from ``n512=factor`` on: arrays that outgrow a cache or the heap."""
    return lambda n: cost(n) * math.prod(f for key, f in steps.items() if n >= int(key[1:]))


REFERENCE = with_steps(polynomial(100, 0.2, 4.2), n1024=1.1)

RIGHT: dict[str, Cost] = {
    "like the reference": with_steps(polynomial(120, 0.2, 4.5), n1024=1.15),
    "float64 with temporaries": with_steps(polynomial(120, 0.3, 6), n512=1.2, n1024=1.25, n2048=1.2),
    "page faults from 2048 on": with_steps(polynomial(130, 0.3, 8), n512=1.1, n2048=3.0),
    "masked arrays": with_steps(polynomial(160, 0.3, 8), n512=1.1, n1024=1.4, n2048=1.2),
    "a broadcast product": with_steps(polynomial(120, 1, 65), n128=1.15, n256=1.2, n1024=5.0),
    "a loop over queries": polynomial(120, 6, 18),
    "masked arrays in a loop over queries": polynomial(150, 48, 22),
    "a loop over queries and keys": polynomial(150, 2, 2300),
    "nothing but Python": polynomial(150, 20, 4300),
    "unoptimised einsum": polynomial(120, 0.2, 21.5),
    "torch inside": with_steps(polynomial(200, 0.3, 8), n2048=1.6),
}
CUBIC: dict[str, Cost] = {
    "a product of two n×n matrices too many": with_steps(polynomial(120, 0.2, 4.5, 0.026), n1024=1.1),
    "one product too many": with_steps(polynomial(120, 0.2, 4.5, 0.017), n1024=1.15),
    "a third loop in Python": polynomial(150, 5, 200, 80),
    "a normaliser for every score": polynomial(150, 1, 600, 30),
}
SKIPPING: dict[str, Cost] = {
    "linear attention": polynomial(120, 0.22, 0.0),
    "a window of 64 keys": polynomial(120, 0.44, 0.0),
    "an answer kept from before": polynomial(120, 0.0, 0.0),
}


@dataclass(frozen=True)
class Machine:
    """``jitter``: sigma of a lognormal factor for every call. ``stalls``: preemptions per second of computing, each
    of some 24 ms. ``drift``: factor by which the machine slows down and recovers, in a wave of twenty seconds, as other
    jobs come and go. ``share``: how many jobs share the core once a call has used up its 6 ms of a time slice."""

    jitter: float
    stalls: float
    drift: float
    share: float


MACHINES = {
    "quiet": Machine(0.02, 0.2, 1.0, 1.0),
    "noisy": Machine(0.15, 5.0, 1.1, 1.0),
    "stalling": Machine(0.10, 25.0, 1.3, 1.0),
    "shared": Machine(0.08, 2.0, 1.2, 3.0),
    "overloaded": Machine(0.30, 40.0, 2.0, 2.0),
}


class Simulated:
    """A ``Measure`` without a clock. ``elapsed`` is the time that it would all have taken."""

    def __init__(self, student: Cost, machine: Machine, seed: int, *, right: bool = True) -> None:
        self._costs, self._machine, self._right = {"student": student, "reference": REFERENCE}, machine, right
        self._rng = np.random.default_rng(seed)
        self._phase = self._rng.uniform(0, 2 * math.pi)
        self.elapsed = 0.0

    def student(self, n: int) -> float:
        return self._call("student", n)

    def reference(self, n: int) -> float:
        return self._call("reference", n)

    def spot_check(self, n: int) -> bool:
        return self._right

    def _call(self, who: str, n: int) -> float:
        m, rng = self._machine, self._rng
        wave = 0.5 - 0.5 * math.cos(self._phase + 2 * math.pi * self.elapsed / 20)
        seconds = float(self._costs[who](n) * m.drift**wave * math.exp(abs(rng.normal(0, m.jitter))))
        seconds += max(0.0, seconds - 0.006) * (m.share - 1) * rng.uniform(0.7, 1.3)
        seconds += sum(rng.uniform(0.012, 0.036) for _ in range(rng.poisson(m.stalls * seconds)))
        self.elapsed += seconds
        return seconds


def outcomes(cost: Cost, machine: Machine, seeds: range, *, right: bool = True) -> Iterator[str]:
    """What a student would be told, run after run."""
    for seed in seeds:
        try:
            cpu.expect_quadratic(Simulated(cost, machine, seed, right=right))
        except CheckFailed:
            yield "failed"
        except Inconclusive:
            yield "inconclusive"
        else:
            yield "passed"


RUNS = 30
HOW_MANY = pytest.mark.parametrize("runs", [RUNS, pytest.param(2 * RUNS, marks=pytest.mark.soak)])


def tally(codes: dict[str, Cost], machine: str, *, right: bool = True, runs: int = RUNS) -> dict[str, Counter[str]]:
    """How often each kind of code was told what."""
    return {name: Counter(outcomes(cost, MACHINES[machine], range(runs), right=right)) for name, cost in codes.items()}


def part(found: dict[str, Counter[str]], verdict: str) -> float:
    """The part of all runs that ended with this verdict."""
    return sum(c[verdict] for c in found.values()) / sum(c.total() for c in found.values())


# 11 kinds of right code × 30 runs × 5 machines: 1,650 runs, of which none may fail; twice as many in `make soak`.
@HOW_MANY
@pytest.mark.parametrize(
    ("machine", "undecided"),
    [("quiet", 0.0), ("noisy", 0.05), ("stalling", 0.2), ("shared", 0.45), ("overloaded", 0.75)],
)
def test_right_code_is_never_failed_and_undecided_no_more_than_the_machine_is_bad(
    machine: str, undecided: float, runs: int
) -> None:
    found = tally(RIGHT, machine, runs=runs)
    assert {name: count for name, count in found.items() if count["failed"]} == {}
    assert part(found, "inconclusive") <= undecided, found


@HOW_MANY
@pytest.mark.parametrize(
    ("machine", "caught"), [("quiet", 1.0), ("noisy", 0.95), ("stalling", 0.15), ("shared", 0.0), ("overloaded", 0.0)]
)
def test_cubic_code_is_caught_and_gains_nothing_where_the_machine_is_too_bad(
    machine: str, caught: float, runs: int
) -> None:
    found = tally(CUBIC, machine, runs=runs)
    assert part(found, "failed") >= caught, found
    assert part(found, "passed") <= 0.005, found


@pytest.mark.parametrize("machine", MACHINES)
def test_code_that_skips_the_work_never_passes(machine: str) -> None:
    found = tally(SKIPPING, machine)
    assert part(found, "passed") == 0, found
    assert part(found, "failed") >= (0.99 if machine != "overloaded" else 0.8), found


@pytest.mark.parametrize("machine", MACHINES)
def test_the_quick_schedule_believes_no_wrong_code(machine: str) -> None:
    # Twice to six times as fast a product of matrices as was ever seen: the less it takes, the later it shows.
    fast = {f"{e} ns for n³": with_steps(polynomial(120, 0.2, 4.5, e), n1024=1.1) for e in (0.012, 0.008, 0.004)}
    for cost in (*CUBIC.values(), *fast.values(), *SKIPPING.values()):
        for seed in range(10):
            assert cpu.at_once(Simulated(cost, MACHINES[machine], seed), cpu.QUICK) is None


def test_plain_code_on_a_quiet_machine_is_decided_quickly() -> None:
    for name in ("like the reference", "float64 with temporaries", "a loop over queries", "torch inside"):
        machine = Simulated(RIGHT[name], MACHINES["quiet"], 3)
        cpu.expect_quadratic(machine)
        assert machine.elapsed < 0.25, name


def test_wrong_rows_at_the_largest_size_fail_whatever_the_time() -> None:
    with pytest.raises(CheckFailed, match="rows of the output are not right"):
        cpu.expect_quadratic(Simulated(RIGHT["like the reference"], MACHINES["quiet"], 1, right=False))


def test_wrong_rows_fail_also_where_the_machine_is_too_bad_to_tell() -> None:
    found = Counter(outcomes(RIGHT["like the reference"], MACHINES["overloaded"], range(20), right=False))
    assert found == {"failed": 20}


def test_right_code_takes_a_second_or_two_at_most() -> None:
    for name, cost in RIGHT.items():
        machine = Simulated(cost, MACHINES["quiet"], 3)
        cpu.expect_quadratic(machine)
        assert machine.elapsed < 2.5, name


def test_a_verdict_against_a_student_takes_two_schedules() -> None:
    finding = cpu.decide(Simulated(CUBIC["a third loop in Python"], MACHINES["quiet"], 5))
    assert finding.outcome == "steeper"

    class Unlucky(Simulated):
        """Cubic in the first schedule only, as a machine can make it look."""

        def student(self, n: int) -> float:
            return super().student(n) * (n if self.elapsed < 0.5 else 1)

    finding = cpu.decide(Unlucky(RIGHT["like the reference"], MACHINES["quiet"], 5))
    assert finding.outcome != "steeper"


def test_a_size_that_does_not_fit_into_memory_ends_the_climb() -> None:
    class Small(Simulated):
        def student(self, n: int) -> float:
            if n > 512:
                raise OutOfMemory("no more")
            return super().student(n)

    machine = Small(RIGHT["like the reference"], MACHINES["quiet"], 7)
    assert max(cpu.climb(machine, 1.0)) == 512
    assert cpu.decide(machine).outcome in ("quadratic", "unclear")


def test_the_cost_model_tells_n_from_n_squared() -> None:
    ns = [TINY, 64, 128, 256, 512]
    for a, b, c, low, high in ((1e-4, 0, 1e-8, 0.9, 1.0), (1e-4, 1e-6, 0, 0.0, 1e-9), (0, 1e-6, 1e-9, 0.3, 0.4)):
        share = share_of_square({n: [a + b * n + c * n * n] for n in ns})
        assert low <= share <= high


def test_the_fixed_cost_of_a_call_is_no_slope() -> None:
    # 5 ms for every call hides the square of these sizes from a plain log-log fit: its slope is 0.1.
    ns = [TINY, 64, 128, 256, 512]
    student = {n: [5e-3 + 2e-7 * n * n] * 3 for n in ns}
    finding = judge(student, student)
    assert finding.exponent == pytest.approx(2.0, abs=0.05)
