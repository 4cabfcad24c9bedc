"""Hidden checks of step 6, in the order in which a report shows them.

The meter and the limit are ours (``autograder.reference.devices``): no memory is used, every answer is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed, Raised
from autograder.lab import Lab
from autograder.reference import attention as reference
from autograder.reference.devices import Limit, Meter, same_arguments

check = Task("attention_lab", "step6")


def expect_bytes(lab: Lab, n: int, **named: int) -> None:
    """``score_bytes`` of these arguments is exact."""
    found = compare.integer(lab.score_bytes(n, **named), "the number of bytes")
    asked = ", ".join([f"n={n}", *(f"{k}={v}" for k, v in named.items())])
    if found != reference.score_bytes(n, **named):
        raise CheckFailed(
            f"score_bytes is not right for {asked}. Count the entries of all score matrices, then the bytes of each "
            "(section 7.6, the quadratic term in bytes)."
        )


@check("score_bytes.one_head")
def test_scores_of_one_head(lab: Lab, rng: np.random.Generator) -> None:
    """One head at half precision, the defaults: n × n scores of 2 bytes."""
    # A fresh n beside a row of the chapter's table: linear growth, another default, bits or KiB show.
    for n in (4096, int(rng.integers(300, 5000)) * 2 + 1):
        expect_bytes(lab, n)


@check("score_bytes.heads", needs=["score_bytes.one_head"])
def test_every_head_has_its_own_scores(lab: Lab, rng: np.random.Generator) -> None:
    """Every head has a score matrix of its own."""
    for heads in (1, 3, int(rng.integers(5, 60))):
        expect_bytes(lab, int(rng.integers(100, 3000)), heads=heads)


@check("score_bytes.itemsize", needs=["score_bytes.one_head"])
def test_bytes_per_score(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one score: 1, 2, 4 or 8."""
    # 8 above all: code that takes an itemsize for bits often guesses from its size.
    for itemsize in (4, 8, 1, 2):
        expect_bytes(lab, int(rng.integers(100, 3000)), heads=int(rng.integers(2, 9)), itemsize=itemsize)


@check("score_bytes.long_context", needs=["score_bytes.one_head"])
def test_bytes_of_a_long_context(lab: Lab, rng: np.random.Generator) -> None:
    """A hundred thousand tokens and many heads: the count stays an exact integer."""
    # 32-bit integers overflow at 2 GiB, float32 loses the last digits.
    expect_bytes(lab, 100_000)
    expect_bytes(lab, int(rng.integers(90_000, 130_000)) * 2 + 1, heads=int(rng.integers(33, 999)), itemsize=8)


def surges(rng: np.random.Generator) -> tuple[int, int]:
    """Allocated and reserved bytes of one call: uneven numbers, some MB, the second the larger."""
    allocated = int(rng.integers(3_000_000, 9_000_000)) * 2 + 1
    return allocated, allocated + int(rng.integers(1_000_000, 2_000_000)) * 2


def peaks(lab: Lab, fn: Callable[..., None], *args: Any, meter: Meter) -> Any:
    """``peak_memory`` of the submission with our meter."""
    methods = ("reset", "allocated_peak", "reserved_peak")
    return lab.peak_memory(fn, *args, meter=lab.stand_in(meter, methods=methods))


def expect_peaks(found: Any, truth: tuple[int, int], hint: str) -> None:
    """A pair of meter readings, allocated first."""
    names = ("the allocated peak", "the reserved peak")
    for value, right, name in zip(compare.pair(found, *names), truth, names, strict=True):
        compare.agree(compare.number(value, name), right, 0.5, name=name, hint=hint)


@check("peak_memory.readings")
def test_both_peaks_of_the_meter(lab: Lab, rng: np.random.Generator) -> None:
    """The meter's two readings come back in bytes, allocated first, taken after `fn` has run."""
    # The memory is given back before fn returns, so what is in use afterwards is not the peak. MiB, the
    # difference of the two, one of them twice, or another meter (tracemalloc) show.
    meter, surge = Meter(), surges(rng)
    found = peaks(lab, lambda: meter.surge(*surge), meter=meter)
    expect_peaks(found, surge, "Give back what the meter reads, in bytes.")


@check("peak_memory.reset", needs=["peak_memory.readings"])
def test_meter_is_reset_first(lab: Lab, rng: np.random.Generator) -> None:
    """A larger peak from before the call is forgotten: the meter is reset first."""
    meter, surge = Meter(), surges(rng)
    meter.surge(surge[0] * 3, surge[1] * 3)
    # The second call is smaller: a reset that comes once, or only after reading, would show the first.
    for part in (1, 2):
        expected = (surge[0] // part, surge[1] // part)
        found = peaks(lab, lambda: meter.surge(*expected), meter=meter)
        expect_peaks(found, expected, "An earlier peak is still in it; call meter.reset() before fn.")


@check("peak_memory.one_call", needs=["peak_memory.readings"])
def test_readings_are_of_one_call(lab: Lab, rng: np.random.Generator) -> None:
    """Both readings belong to the same call of `fn`."""
    # Every call needs more than the one before: a mean or a sum of two calls, or one reading of each, shows.
    meter, used = Meter(), [surges(rng)]

    def fn() -> None:
        meter.surge(*used[-1])
        used.append((used[-1][0] + 2**21, used[-1][1] + 2**20))

    found = peaks(lab, fn, meter=meter)
    expect_peaks(found, used[max(len(used) - 2, 0)], "Call fn once between reset and the two readings.")


@check("peak_memory.unchanged", needs=["peak_memory.readings"])
def test_readings_are_given_back_unchanged(lab: Lab, rng: np.random.Generator) -> None:
    """What was in use all along counts too: the readings come back as the meter gives them."""
    # After a reset this meter reads the model that is held anyway, as CudaMeter does; nothing is subtracted.
    base, surge = surges(rng), surges(rng)
    meter = Meter(base)
    found = peaks(lab, lambda: meter.surge(*surge), meter=meter)
    expect_peaks(found, (base[0] + surge[0], base[1] + surge[1]), "Subtract nothing from the meter's readings.")


@check("peak_memory.arguments")
def test_arguments_reach_the_function(lab: Lab, rng: np.random.Generator) -> None:
    """`fn` gets all the arguments that follow it, in their order."""
    array, number = rng.normal(size=(3, 2)), int(rng.integers(1000, 5000))
    # One argument, an array: fn(args) hands over a tuple. Two of a kind: the order shows.
    for args in ((array,), (array, number, number + 1, "içti")):
        meter, surge = Meter(), surges(rng)

        def fn(*given: Any) -> None:
            if not same_arguments(given, args):
                raise TypeError("fn was not called with the arguments given to peak_memory")
            meter.surge(*surge)

        expect_peaks(peaks(lab, fn, *args, meter=meter), surge, "Call fn(*args).")


@check("peak_memory.error", needs=["peak_memory.readings"])
def test_error_of_the_function_is_passed_on(lab: Lab, rng: np.random.Generator) -> None:
    """An error in `fn` is not swallowed: it comes out of `peak_memory`."""
    meter, surge = Meter(), surges(rng)
    text = f"size {int(rng.integers(10**6))} is refused"

    def refuse() -> None:
        meter.surge(*surge)
        raise ValueError(text)

    try:
        peaks(lab, refuse, meter=meter)
    except Raised as error:
        if error.type_name != "ValueError" or text not in error.text:
            raise CheckFailed(
                f"fn raised a ValueError, but {error.type_name} came out of peak_memory; let it pass as it is."
            ) from None
    else:
        raise CheckFailed("fn raised a ValueError, and peak_memory returned as if nothing had happened.")
    # The next measurement is as good as before.
    smaller = (surge[0] // 2, surge[1] // 2)
    expect_peaks(peaks(lab, lambda: meter.surge(*smaller), meter=meter), smaller, "This was the call after an error.")


def expect_largest(lab: Lab, fits: Limit, start: int | None = None) -> None:
    """``largest_n`` finds the limit."""
    named = {} if start is None else {"start": start}
    found = compare.integer(lab.largest_n(fits, **named), "the largest n")
    if found == fits.largest:
        return
    asked = "the default start" if start is None else f"start={start}"
    below = "below" if fits.largest < (start or 1024) else "at or above"
    how = "does not fit" if found > fits.largest else "fits, but a larger one does too"
    raise CheckFailed(
        f"With {asked} and a limit {below} it, the size that came back {how}. Double until a size does not fit, then "
        "bisect between the last that fits and the first that does not."
    )


@check("largest_n.above_start")
def test_limit_above_start(lab: Lab, rng: np.random.Generator) -> None:
    """The largest size that fits is found exactly, not only the last doubling that did."""
    # Limits between the doublings: the last doubling, a coarse step, or a float midpoint give another number.
    for largest in (1024 * 3 + 1, int(rng.integers(2050, 4090)), int(rng.integers(9000, 16000)) * 2 + 1):
        expect_largest(lab, Limit(largest))


@check("largest_n.edges", needs=["largest_n.above_start"])
def test_limits_at_the_doublings(lab: Lab, rng: np.random.Generator) -> None:
    """The answer is right where the limit is a doubling, one more or one less."""
    # An end of the bisection that is left out, or counted twice, shows next to a doubling and next to start.
    for largest in (1024, 1025, 2047, 2048, 2049, 4095, 8192):
        expect_largest(lab, Limit(largest))


@check("largest_n.start", needs=["largest_n.above_start"])
def test_search_from_another_start(lab: Lab, rng: np.random.Generator) -> None:
    """The search may start at any size of at least 1."""
    for start in (1, 3, int(rng.integers(100, 900)) * 2 + 1):
        for largest in (start, start + 1, start * int(rng.integers(5, 40)) + int(rng.integers(2, 90))):
            expect_largest(lab, Limit(largest), start)


@check("largest_n.below_start", needs=["largest_n.above_start"])
def test_limit_below_start(lab: Lab, rng: np.random.Generator) -> None:
    """If the start itself does not fit, the search goes down; if nothing fits, the answer is 0."""
    for largest in (1023, int(rng.integers(300, 900)), int(rng.integers(4, 100)), 2, 1, 0):
        expect_largest(lab, Limit(largest))
    expect_largest(lab, Limit(0), 1)


@check("largest_n.memory_error", needs=["largest_n.above_start"])
def test_memory_error_means_does_not_fit(lab: Lab, rng: np.random.Generator) -> None:
    """A `MemoryError` from `fits` means that this size does not fit, at any point of the search."""
    for largest in (int(rng.integers(3000, 9000)), int(rng.integers(100, 900))):
        # Always; only while bisecting (sizes within twice the limit); only far above, so that both kinds come.
        for raises in (lambda n: True, lambda n: n % 1024 != 0, lambda n: n % 1024 == 0):
            expect_largest(lab, Limit(largest, raises))


@check("largest_n.other_errors", needs=["largest_n.above_start"])
def test_other_errors_are_passed_on(lab: Lab, rng: np.random.Generator) -> None:
    """Only `MemoryError` is caught: any other error is a bug in `fits` and comes out of `largest_n`."""
    fits = Limit(int(rng.integers(2100, 4000)))
    text = f"broken at call {int(rng.integers(10**6))}"

    def broken(n: Any) -> bool:
        if fits(n):
            return True
        raise ValueError(text)

    try:
        lab.largest_n(broken)
    except Raised as error:
        if error.type_name != "ValueError" or text not in error.text:
            raise CheckFailed(f"fits raised a ValueError, but {error.type_name} came out of largest_n.") from None
    else:
        raise CheckFailed("fits raised a ValueError, and largest_n went on as if the size did not fit.")
    expect_largest(lab, Limit(fits.largest))


@check("largest_n.questions", needs=["largest_n.above_start"])
def test_few_questions_and_no_huge_size(lab: Lab, rng: np.random.Generator) -> None:
    """The search asks few questions, and never tries a size above twice the largest that fits."""
    # Every question may take minutes, and a size far too large can take the machine down. Going up one by one
    # asks thousands. The three limits above start are a little more than start times a power of 4, 10 and 5, so
    # that jumps by more than 2 land far above; from a small start a fixed first size does.
    near = int(rng.integers(2, 300))
    for start, largest in (
        (1024, 2**16 + near),
        (1024, 102_400 + near),
        (1024, 128_000 + near),
        (1024, 2 * near),
        (1, int(rng.integers(3, 10))),
        (100_000, 150_000 + near),
        (1000, 0),
    ):
        fits = Limit(largest)
        expect_largest(lab, fits, start)
        allowed = 2 * math.log2(max(largest, start) / start) + math.log2(start) + 6
        if len(fits.asked) > allowed:
            raise CheckFailed(
                f"With start={start}, fits was asked {len(fits.asked)} times; doubling and then halving the interval "
                f"needs no more than {int(allowed)} here."
            )
        if max(fits.asked, default=0) > 2 * max(largest, start) + 1:
            raise CheckFailed(
                "A size more than twice the largest that fits was tried, which can take a machine down: begin at "
                "start, double, and never jump ahead."
            )
