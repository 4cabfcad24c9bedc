"""Hidden checks of step 5, in the order in which a report shows them.

The clock is injected and the device is ours (``autograder.reference.devices``), so every expected number is exact
and no check here needs a quiet machine; the last one, which does, is built for a bad one (``autograder.measured``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.measured import exponent
from autograder.reference.devices import Array, Device, Workload

check = Task("attention_lab", "step5")

#: Relative. Clock readings are exact here; this leaves room for float32 rows and for other orders of arithmetic.
CLOSE = 1e-6


def timed_rows(lab: Lab, load: Workload, ns: Sequence[int], *, warmup: int, repeats: int) -> Array:
    """What ``time_calls`` gives for this workload, as ``(len(ns), repeats)`` seconds."""
    device = load.device
    rows = lab.time_calls(
        load.fn,
        load.make_args,
        list(ns),
        warmup=warmup,
        repeats=repeats,
        clock=device.clock,
        sync=device.sync,
    )
    found = compare.array(rows, (len(ns), repeats), name="the rows of seconds")
    for n in ns:
        if load.calls(n) < repeats:
            raise CheckFailed(f"fn was called only {load.calls(n)} time(s) at one size to take {repeats} samples.")
    return found


def as_measured(rows: Array, load: Workload, ns: Sequence[int], hint: str) -> None:
    """Each row is what the last calls at its size really took, call by call."""
    truth = np.array([load.seconds(n, rows.shape[1]) for n in ns])
    compare.agree(rows / truth, np.ones(truth.shape), CLOSE, name="rows", of=compare.RELATIVE, hint=hint)


def steady(rng: np.random.Generator) -> Any:
    """A cost that depends on the size alone: a fixed part and a part for each pair, as attention has."""
    fixed, each = (int(i) for i in rng.integers(50, 900, 2))
    return lambda n, k: fixed + each * n * n


def restless(rng: np.random.Generator) -> Any:
    """A cost that no two calls share, so that a mean, a sum or a copied sample cannot look like the samples."""
    each, jitter = int(rng.integers(50, 900)), rng.integers(1, 40_000, size=200)
    return lambda n, k: each * n * n + int(jitter[(k + 31 * n) % 200])


@check("time_calls.rows")
def test_one_row_of_samples_per_size(lab: Lab, rng: np.random.Generator) -> None:
    """For every size there is one row with one number of seconds per repeat, read from the clock handed in."""
    # No queue, no slow first call, sizes in order: nothing but the clock and the bookkeeping. A shared row
    # ([[]] * len(ns)), medians, milliseconds, or a clock of one's own shows here.
    ns = [3, 6, 12]
    load = Workload(Device(queued=False), ns, steady(rng))
    rows = timed_rows(lab, load, ns, warmup=1, repeats=4)
    as_measured(rows, load, ns, "Each sample is clock() after the call minus clock() before it, in seconds.")


@check("time_calls.arguments")
def test_arguments_are_unpacked(lab: Lab, rng: np.random.Generator) -> None:
    """`fn` gets what `make_args(n)` gave as separate arguments, however many there are."""
    # fn refuses anything but the arguments of one size; one argument only hides fn(args) from many a test.
    for count in (1, 3, 2):
        ns = [5, 10]
        load = Workload(Device(queued=False), ns, steady(rng), arguments=count)
        rows = timed_rows(lab, load, ns, warmup=1, repeats=2)
        as_measured(rows, load, ns, "Call fn(*make_args(n)): the tuple holds its positional arguments.")


@check("time_calls.order", needs=["time_calls.rows"])
def test_rows_belong_to_the_sizes_given(lab: Lab, rng: np.random.Generator) -> None:
    """Row i belongs to `ns[i]`, in whatever order the sizes come."""
    # Falling, then mixed: sorting the sizes, or timing every size with the arguments of the last, shows.
    for ns in ([9, 6, 4], [int(n) for n in rng.permutation([4, 7, 11, 20])]):
        load = Workload(Device(queued=False), ns, steady(rng))
        rows = timed_rows(lab, load, ns, warmup=1, repeats=2)
        as_measured(rows, load, ns, "The rows must come in the order of ns, each timed with its own arguments.")


@check("time_calls.one_call_per_sample", needs=["time_calls.rows"])
def test_each_sample_is_one_call(lab: Lab, rng: np.random.Generator) -> None:
    """Each sample is the time of exactly one call, not a mean or a sum over several."""
    # No two calls cost the same: one interval around all repeats, divided, gives equal samples.
    ns = [4, 8]
    load = Workload(Device(queued=False), ns, restless(rng))
    rows = timed_rows(lab, load, ns, warmup=2, repeats=5)
    as_measured(rows, load, ns, "Read the clock before and after every single call, and keep every sample.")


@check("time_calls.warm_up", needs=["time_calls.rows"])
def test_warm_up_calls_are_made_and_not_recorded(lab: Lab, rng: np.random.Generator) -> None:
    """At every size `warmup` calls are made first and left out of the samples; there may be none."""
    cost = steady(rng)
    # The first three calls at each size are slow: warming up once instead of `warmup` times, or at the first
    # size only, leaves a slow sample. With warmup=0 the slow first call is a sample like any other.
    for warmup, repeats in ((3, 2), (0, 2)):
        ns = [8, 4]
        load = Workload(Device(queued=False), ns, lambda n, k: cost(n, k) * (9 - 2 * k if k < 3 else 1))
        rows = timed_rows(lab, load, ns, warmup=warmup, repeats=repeats)
        as_measured(rows, load, ns, f"With warmup={warmup}, the first {warmup} calls at each size are not samples.")
        for n in ns:
            if load.calls(n) != warmup + repeats:
                raise CheckFailed(
                    f"With warmup={warmup} and repeats={repeats}, fn should be called {warmup + repeats} times at "
                    f"each size; it was called {load.calls(n)} times at one of them."
                )


@check("time_calls.synchronised", needs=["time_calls.rows"])
def test_queued_work_is_waited_for(lab: Lab, rng: np.random.Generator) -> None:
    """On a device that works through a queue, a sample holds the work of its own call, all of it."""
    # The clock stands still until sync(): without one the samples are 0, with one after the second reading only
    # they miss the work, and without one before the first they hold the warm-up calls too.
    ns = [4, 8, 16]
    load = Workload(Device(queued=True), ns, restless(rng))
    rows = timed_rows(lab, load, ns, warmup=2, repeats=3)
    as_measured(rows, load, ns, "Call sync() before the first and before the second reading of the clock.")


@check("time_calls.starts_idle", needs=["time_calls.synchronised"])
def test_earlier_work_is_not_in_a_sample(lab: Lab, rng: np.random.Generator) -> None:
    """Work that was queued before a sample, as by `make_args`, is finished before the clock starts."""
    # No warm-up call that could bring a sync() along: the arguments themselves are still being filled.
    ns = [6, 12]
    load = Workload(Device(queued=True), ns, restless(rng), filling=70_000)
    rows = timed_rows(lab, load, ns, warmup=0, repeats=3)
    as_measured(rows, load, ns, "Call sync() before the clock starts: making the arguments may still be going on.")


@check("time_calls.arguments_outside", needs=["time_calls.rows"])
def test_making_arguments_is_not_timed(lab: Lab, rng: np.random.Generator) -> None:
    """The arguments are made outside the timed region."""
    # Making them takes about as long as the call itself.
    ns = [6, 12]
    load = Workload(Device(queued=False), ns, restless(rng), allocating=90_000)
    rows = timed_rows(lab, load, ns, warmup=1, repeats=3)
    as_measured(rows, load, ns, "make_args(n) is called between the readings of the clock; make them before.")


def slopes(ns: Array, seconds: Array) -> Array:
    """Slope of each neighbouring pair on log-log axes, ``(len(ns) - 1,)``: log of the ratio to the base of n's."""
    return np.array([np.log(seconds[i + 1] / seconds[i]) / np.log(ns[i + 1] / ns[i]) for i in range(len(ns) - 1)])


def times_with(ns: Array, exponents: Array, first: float) -> Array:
    """Times whose local slopes are these exponents, starting at ``first`` seconds."""
    return first * np.concatenate([[1.0], np.cumprod((ns[1:] / ns[:-1]) ** exponents)])


@check("local_slopes.doubling")
def test_slopes_of_doubled_sizes(lab: Lab, rng: np.random.Generator) -> None:
    """Between neighbouring sizes the slope is the change of log seconds over the change of log n."""
    # A different slope for each pair, so that one slope repeated (end points, a fit) and n over t show.
    ns = 128 * 2 ** np.arange(5)
    seconds = times_with(ns, rng.uniform(0.6, 2.9, 4), 3e-4)
    compare.agree(lab.local_slopes(ns, seconds), slopes(ns, seconds), CLOSE, name="slopes")


@check("local_slopes.two_sizes")
def test_slopes_of_two_sizes(lab: Lab, rng: np.random.Generator) -> None:
    """Two sizes give one slope."""
    # Central differences and spline derivatives need more points, or give as many slopes as points.
    ns = np.array([300, 600])
    seconds = times_with(ns, rng.uniform(1.2, 1.8, 1), 2e-3)
    compare.agree(lab.local_slopes(ns, seconds), slopes(ns, seconds), CLOSE, name="slopes")


@check("local_slopes.any_ratio", needs=["local_slopes.doubling"])
def test_slopes_of_unequal_ratios(lab: Lab, rng: np.random.Generator) -> None:
    """The ratio of neighbouring sizes may be anything, and change from pair to pair."""
    # log2 of the ratio of times is right for doubled sizes only.
    ns = np.cumsum(rng.integers(20, 400, 6)) + 40
    seconds = times_with(ns, rng.uniform(0.5, 3.0, 5), 1e-3)
    compare.agree(lab.local_slopes(ns, seconds), slopes(ns, seconds), CLOSE, name="slopes")
    # Falling sizes: a ratio below 1.
    compare.agree(
        lab.local_slopes(ns[::-1].copy(), seconds[::-1].copy()),
        slopes(ns, seconds)[::-1],
        CLOSE,
        name="slopes",
    )


@check("local_slopes.flat_and_falling", needs=["local_slopes.doubling"])
def test_slopes_may_be_zero_or_negative(lab: Lab, rng: np.random.Generator) -> None:
    """A size that takes as long as the one before, or less, gives a slope of 0 or below."""
    # Fixed costs make real curves flat, noise makes them fall: a clipped or absolute slope hides both.
    ns = np.array([64, 128, 192, 512, 1024])
    exponents = np.array([0.0, -rng.uniform(0.4, 1.5), rng.uniform(1.0, 2.0), -rng.uniform(2.0, 3.9)])
    seconds = times_with(ns, exponents, 5e-4)
    compare.agree(lab.local_slopes(ns, seconds), slopes(ns, seconds), CLOSE, name="slopes")


@check("local_slopes.unit_of_time", needs=["local_slopes.doubling"])
def test_slopes_do_not_depend_on_the_unit(lab: Lab, rng: np.random.Generator) -> None:
    """Very short and very long times give the same slopes: only ratios count."""
    # A small number added inside the logarithm bends the slopes of times this short; so does rounding them.
    ns = np.array([8, 16, 40, 80])
    exponents = rng.uniform(0.8, 2.5, 3)
    for first in (2e-9, 4e3):
        seconds = times_with(ns, exponents, first)
        compare.agree(lab.local_slopes(ns, seconds), slopes(ns, seconds), CLOSE, name="slopes")


def least_squares(ns: Array, seconds: Array) -> float:
    """Slope of the least-squares line through ``(log n, log t)``, from the normal equations of all pairs.

    ``Σ_ij (x_i - x_j)(y_i - y_j) / Σ_ij (x_i - x_j)²`` is the usual slope, without a mean or a solver.
    """
    x, y = np.log(ns), np.log(seconds)
    dx, dy = x[:, None] - x, y[:, None] - y
    return float((dx * dy).sum() / (dx * dx).sum())


@check("fit_exponent.power_law")
def test_fit_finds_the_power(lab: Lab, rng: np.random.Generator) -> None:
    """Times that follow a power of n exactly give this power."""
    # Not a whole number, so that a rounded exponent shows; a fit on linear or half-logarithmic axes is far off.
    ns = 128 * 2 ** np.arange(6)
    for power in (rng.uniform(1.55, 1.9), rng.uniform(2.1, 2.45)):
        seconds = times_with(ns, np.full(5, power), 3e-4)
        compare.agree(compare.number(lab.fit_exponent(ns, seconds), "the exponent"), power, CLOSE, name="the exponent")


@check("fit_exponent.least_squares", needs=["fit_exponent.power_law"])
def test_fit_is_the_least_squares_line(lab: Lab, rng: np.random.Generator) -> None:
    """Times that do not lie on a line are fitted by least squares on log-log axes, every point counting alike."""
    # Noise at every point: the mean of the local slopes, the two ends, the last few points, a weighted or a
    # robust fit, or the first coefficient of a parabola give something else.
    ns = 128 * 2 ** np.arange(6)
    seconds = 2e-9 * ns**1.9 * np.exp(rng.normal(0, 0.35, 6))
    found = compare.number(lab.fit_exponent(ns, seconds), "the exponent")
    compare.agree(found, least_squares(ns, seconds), CLOSE, name="the exponent")


@check("fit_exponent.any_spacing", needs=["fit_exponent.power_law"])
def test_fit_of_unevenly_spaced_sizes(lab: Lab, rng: np.random.Generator) -> None:
    """The sizes may be spaced in any way and come in any order."""
    # Uneven spacing tells log n from the number of the point; shuffled, first and last are not the ends.
    ns = rng.permutation(np.cumsum(rng.integers(20, 900, 7)) + 40)
    seconds = 1e-8 * ns**1.6 * np.exp(rng.normal(0, 0.3, 7))
    found = compare.number(lab.fit_exponent(ns, seconds), "the exponent")
    compare.agree(found, least_squares(ns, seconds), CLOSE, name="the exponent")


@check("fit_exponent.few_points", needs=["fit_exponent.power_law"])
def test_fit_of_two_and_three_points(lab: Lab, rng: np.random.Generator) -> None:
    """Two points give the slope between them, and a falling curve a negative exponent."""
    # Two points leave nothing for a parabola; times of nanoseconds show a number added inside the logarithm.
    for ns in (np.array([100, 350]), np.array([50, 60, 400])):
        for first, last in ((3e-9, 8e-8), (5.0, 0.4)):
            seconds = np.exp(np.linspace(np.log(first), np.log(last), len(ns))) * rng.uniform(0.8, 1.2, len(ns))
            found = compare.number(lab.fit_exponent(ns, seconds), "the exponent")
            compare.agree(found, least_squares(ns, seconds), CLOSE, name="the exponent")


@check(
    "measured_exponent.quadratic",
    needs=["attention_lab.step1.attention.one_token", "attention_lab.step1.attention.rectangular"],
    seconds=30.0,
    measured=True,
)
def test_attention_takes_quadratic_time(measure: exponent.Measure) -> None:
    """Measured beside the reference on the grader's machine, your attention takes time that grows with n²."""
    exponent.expect_quadratic(measure)
