"""Step 5 in public: the stopwatch on a device that we can wind ourselves, and slopes of known powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.public.answers import array, number
from attnlab.public.declare import Checks, Lab, Mistake
from attnlab.words import kind

check = Checks("step5")

READ = "section 7.9, step 5"


class Device:
    """A device like a GPU: ``run`` only queues work, ``sync`` waits for it. Time passes as we say, exactly.

    A size takes ``n`` seconds, and three times that for the first call at that size (a cold start).
    """

    def __init__(self, *, cold: bool = True) -> None:
        self.now = 0.0
        self.queued = 0.0
        self.calls: list[int] = []
        self._cold = cold

    def make_args(self, n: int) -> tuple[int, str]:
        self.now += 1000.0  # making inputs is slow, and must not be in any sample
        return n, "second argument"

    def run(self, n: int, second: str) -> None:
        if second != "second argument":
            raise TypeError("fn takes the arguments that make_args made")
        first = self._cold and n not in self.calls
        self.calls.append(n)
        self.queued += 3.0 * n if first else float(n)

    def sync(self) -> None:
        self.now, self.queued = self.now + self.queued, 0.0

    def clock(self) -> float:
        return self.now


def _time(lab: Lab, device: Device, ns: Sequence[int], warmup: int, repeats: int) -> np.ndarray[Any, Any]:
    rows = lab.time_calls(
        device.run, device.make_args, ns, warmup=warmup, repeats=repeats, clock=device.clock, sync=device.sync
    )
    try:
        lengths = [len(row) for row in rows]
    except TypeError:
        raise Mistake(
            f"time_calls gave back {kind(rows)}; it should be one row of seconds per size."
        ) from None
    if lengths != [repeats] * len(ns):
        raise Mistake(
            f"The rows of time_calls have the lengths {lengths}; it should be {len(ns)} rows of {repeats}.",
            "One row per size, one number per repeat; the warm-up is not recorded, and no mean is taken.",
        )
    return array(rows, "the rows of time_calls")


@check("time_calls.rows", read=READ)
def one_row_per_size(lab: Lab) -> None:
    """There is one row per size, in the order of ns, with one number per repeat."""
    ns = [4, 2, 7]  # not sorted: a row must stay with its size
    rows = _time(lab, Device(cold=False), ns, warmup=1, repeats=3)
    order = [float(np.median(row)) for row in rows]
    if not rows.any() or np.argsort(order).tolist() == np.argsort(ns).tolist():
        return  # no time at all is the next check's matter
    guess = "The sizes are sorted first." if order == sorted(order) else ""
    if len(set(order)) == 1:
        guess = "Every size is timed with the same arguments, or the rows are one and the same list."
    raise Mistake("The rows do not belong to the sizes in the order of ns.", guess)


@check("time_calls.sync", read=READ, needs=["time_calls.rows"])
def waits_for_the_device(lab: Lab) -> None:
    """Each sample is exactly one call: sync waits for queued work before the start and before the stop."""
    rows = _time(lab, Device(cold=False), [4, 2], warmup=1, repeats=3)
    if np.array_equal(rows, np.array([[4.0] * 3, [2.0] * 3])):
        return
    guess = ""
    if not rows.any():
        guess = (
            "sync() is missing, or comes after the clock was read: work that is only queued takes no time."
        )
    elif rows.max() >= 1000:
        guess = "make_args runs inside the timed part."
    elif np.array_equal(rows[:, 1:], np.array([[4.0] * 2, [2.0] * 2])):
        guess = "sync() before the start is missing: the first sample pays for the warm-up."
    raise Mistake("A call that takes n seconds is not reported as n seconds.", guess)


@check("time_calls.warmup", read=READ, needs=["time_calls.sync"])
def warms_up(lab: Lab) -> None:
    """Every size gets its warm-up calls, and they are not recorded; then come exactly `repeats` calls."""
    device = Device()
    rows = _time(lab, device, [4, 2], warmup=2, repeats=3)
    if rows.max() > 4:
        raise Mistake("The slow first call of a size is in the samples.", "Warm up again for every size.")
    for n in (4, 2):
        if device.calls.count(n) != 5:
            raise Mistake(
                f"With warmup=2 and repeats=3, fn was called {device.calls.count(n)} times at one size."
            )


# Powers of n on sizes whose ratios differ (1.5, 2.67, 2, 5): assuming that n doubles shows.
SIZES = [100, 150, 400, 800, 4000]


@check("local_slopes.power", read=READ)
def slope_of_a_power(lab: Lab) -> None:
    """For times that grow like n squared, every local slope is 2, whatever the ratio of the sizes."""
    seconds = [3e-9 * n**2 for n in SIZES]
    slopes = array(lab.local_slopes(list(SIZES), seconds), "local_slopes", (4,))
    guess = ""
    if np.allclose(slopes, 0.5):
        guess = "It is upside down: the change of log time belongs on top, that of log n below."
    elif len({round(slope, 6) for slope in slopes.tolist()}) > 1:
        guess = "The sizes are taken as doubling; divide by the change of log n that there is."
    if np.abs(slopes - 2).max() > 1e-6:
        raise Mistake("The slopes of n squared are not all 2.", guess)


@check("local_slopes.bend", read=READ, needs=["local_slopes.power"])
def every_pair_has_its_own_slope(lab: Lab) -> None:
    """Where the curve bends, every neighbouring pair shows its own slope."""
    # Flat, then linear, then cubic: 1 → 1 → 10 → 10,000 at 10, 100, 1,000, 10,000.
    slopes = array(
        lab.local_slopes([10, 100, 1000, 10_000], [1.0, 1.0, 10.0, 10_000.0]), "local_slopes", (3,)
    )
    hint = "A smoothed slope (np.gradient) or one slope for all is something else."
    agree_to = np.array([0.0, 1.0, 3.0])
    if np.abs(slopes - agree_to).max() > 1e-6:
        raise Mistake("A curve with the local slopes 0, 1 and 3 is reported otherwise.", hint)


@check("fit_exponent.power", read=READ)
def exponent_of_a_power(lab: Lab) -> None:
    """For times that grow like n to the power 1.5, the exponent is 1.5 and not rounded."""
    found = number(lab.fit_exponent(list(SIZES), [2e-7 * n**1.5 for n in SIZES]), "fit_exponent")
    if not abs(found - 1.5) < 1e-6:
        guess = "Take logarithms of both the sizes and the seconds, and fit a straight line."
        if abs(found - 2 / 3) < 1e-6:
            guess = "The arguments of the fit are exchanged: the sizes are x, the seconds are y."
        elif found == round(found):
            guess = "The exponent is rounded to a whole number."
        raise Mistake(f"The exponent of n^1.5 is reported as {found:.4g}.", guess)


@check("fit_exponent.least_squares", read=READ, needs=["fit_exponent.power"])
def all_points_count(lab: Lab) -> None:
    """Where the points are not on a line, it is the least-squares slope of all of them."""
    # log10 of the seconds is 0, 0, 0, 1 at 1, 2, 3, 4: the best line has the slope 0.3, the end points 1/3.
    found = number(lab.fit_exponent([10, 100, 1000, 10_000], [1.0, 1.0, 1.0, 10.0]), "fit_exponent")
    if not abs(found - 0.3) < 1e-6:
        guess = "The mean of the local slopes, or the two end points, are not the least-squares line."
        raise Mistake(
            f"Three equal times and one ten times as long have the slope 0.3; it is {found:.3g} here.", guess
        )
