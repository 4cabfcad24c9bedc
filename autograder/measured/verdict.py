"""Does time grow with n²? Three answers, from samples alone: no clock, no submission, no device in here.

What is known about right code (single thread, d = 64, twenty ways to write it): slopes of one octave (a doubling
of n) lie anywhere from 1.1 (a Python loop over the queries) to 4.7 (the octave in which arrays outgrow what the
allocator reuses, and every page is faulted in anew), and a shared machine adds stalls of some 24 ms. So no single
slope means anything. What right code on an idle machine never showed is three octaves in a row that are all steep:
up to n = 2,048 the smallest of three was at most 2.05, where cubic code has 2.4 to 2.9.

Cost model: ``t = a + b·n + c·n²``. ``a`` is measured on its own at a tiny size and taken off; what is left has
slopes between 1 and 2 whatever ``b`` and ``c`` are, and whatever the code's constant factor. Where the
reference, timed in turn with the student's code, is itself steeper than 2 in an octave, the machine is the
reason, and the student's slope is corrected by as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Samples = Mapping[int, Sequence[float]]
Outcome = Literal["quadratic", "steeper", "flatter", "unclear"]

#: No sample counts as less than a nanosecond, whatever a coarse clock says.
SHORTEST = 1e-9
#: The tiny size at which the fixed cost ``a`` is measured.
TINY = 2
#: Octaves that are looked at: the last three. One step in memory behaviour spoils one of them, at most two.
OCTAVES = 3
#: A size counts where it takes at least this many times the fixed cost; below, taking that off leaves noise.
ABOVE_FIXED = 1.5
#: The line between n² and steeper, for slopes of an octave. Quadratic: the middle one of the three is below it,
#: noise added (right code: at most 2.25). Steeper: all three are above it, noise taken off (right code: the
#: smallest is at most 2.05; cubic code: 2.4 or more), and they are alike, as those of a power of n are.
LINE = 2.3
#: Largest difference of slopes that are alike. Cubic code had up to 0.3; a step in an octave makes 1 and more.
ALIKE = 0.6
#: Steeper than n² also needs this much between the fitted exponents of student and reference.
DIFFERENCE = 0.3
#: Largest correction of one octave by the reference; more than this is a stall of the machine, not a slope.
MOST_CORRECTION = 0.6
#: An octave whose own noise (in units of slope) is larger tells nothing.
MOST_NOISE = 0.4
#: Part of the time at the largest size that ``c·n²`` has in the fitted cost model. At least the first is
#: quadratic (the slowest loop over queries has 0.3); at most the second is not (linear code has 0.05). Where the
#: model fits badly because of a step, slopes above ``BENT`` show the square as well.
SHARE_OF_SQUARE, NO_SQUARE, BENT = 0.2, 0.1, 1.5
#: "Flatter than n²" is said only of code this much faster than the reference at the largest size: code that is
#: slow for another reason (an interpreter's loop) hides its square, code that skips the work cannot.
FASTER = 0.5


@dataclass(frozen=True)
class Finding:
    """The answer and what it rests on. Exponents are fitted over the octaves that were looked at (NaN: none)."""

    outcome: Outcome
    exponent: float
    reference_exponent: float
    share_of_square: float
    largest: int
    slopes: tuple[float, ...]
    noise: tuple[float, ...]
    reason: str


@dataclass(frozen=True)
class Curve:
    """Per size: the shortest sample, and how much longer the next one is (log2), which is the noise of a minimum."""

    ns: Array
    seconds: Array
    noise: Array

    @classmethod
    def of(cls, samples: Samples, overlaps: bool) -> Curve:
        """From at least two samples at ``TINY`` and each size. The fixed cost is taken off the seconds, unless it
        ``overlaps``: a GPU works while more is asked of it, so that the cost of asking hides behind the work."""
        best = {n: np.maximum(np.sort(samples[n])[:2], SHORTEST) for n in sorted(samples)}
        fixed = float(best[TINY][0])
        ns = np.array([n for n in best if n != TINY and best[n][0] >= ABOVE_FIXED * fixed])
        left = np.array([best[int(n)] - (0.0 if overlaps else fixed) for n in ns]).reshape(-1, 2)
        with np.errstate(all="ignore"):
            return cls(ns, left[:, 0], np.log2(left[:, 1] / left[:, 0]))

    def at(self, ns: Array) -> Array:
        """Seconds at these sizes, NaN where a size is too quick to tell from the fixed cost."""
        known = dict(zip(self.ns.tolist(), self.seconds.tolist(), strict=True))
        return np.array([known.get(int(n), np.nan) for n in ns])


def judge(student: Samples, reference: Samples, *, overlaps: bool = False) -> Finding:
    """What the samples say; both hold ``TINY`` and the same sizes, each twice the one before, in seconds.

    ``overlaps``: the fixed cost of a call goes on beside its work, as on a GPU, and does not add to it.
    """
    curve, machine = Curve.of(student, overlaps), Curve.of(reference, overlaps)
    largest = max(student)
    share = share_of_square(student)
    ns = curve.ns[-OCTAVES - 1 :]
    seconds, theirs = curve.seconds[-OCTAVES - 1 :], machine.at(ns)
    noise = curve.noise[-OCTAVES - 1 :]
    # A size that was too quick by chance leaves a step of two octaves.
    octaves = np.diff(np.log2(ns))
    slopes, blur = np.diff(np.log2(seconds)) / octaves, np.hypot(noise[:-1], noise[1:])
    excess = np.nan_to_num(np.diff(np.log2(theirs)) / octaves - 2.0)
    slopes = slopes - np.clip(excess, 0.0, MOST_CORRECTION)
    exponent, reference_exponent = fitted_exponent(ns, seconds), fitted_exponent(ns, theirs)

    def say(outcome: Outcome, reason: str) -> Finding:
        rounded = tuple(float(x) for x in slopes), tuple(float(x) for x in blur)
        return Finding(outcome, exponent, reference_exponent, share, largest, *rounded, reason)

    quick = min(student[largest]) <= FASTER * min(reference[largest])
    bent = len(slopes) > 0 and (np.median(slopes - blur) if not quick else slopes[-1] - blur[-1]) >= BENT
    if quick and share <= NO_SQUARE and (len(slopes) == 0 or slopes[-1] + blur[-1] < BENT):
        return say("flatter", "it is quicker than the work takes, and n² has no part in its time")
    if len(slopes) < OCTAVES:
        return say("unclear", "too few sizes could be told from the fixed cost of a call")
    if blur.max() > MOST_NOISE:
        return say("unclear", "the machine is too busy for these times to mean anything")
    # Without a slope of its own to compare with (sizes too quick for the reference) the student's stands alone.
    apart = np.isnan(reference_exponent) or exponent - reference_exponent >= DIFFERENCE
    if (slopes - blur).min() >= LINE and np.ptp(slopes) <= ALIKE and apart:
        return say("steeper", "every doubling of n costs much more than four times as much")
    square = bent or (share >= SHARE_OF_SQUARE and not quick)
    if np.median(slopes + blur) <= LINE and square:
        return say("quadratic", "t = a + b·n + c·n² explains the times")
    return say("unclear", "the times lie between what n² and another power of n would give")


def fitted_exponent(ns: Array, seconds: Array) -> float:
    """Least-squares slope on log-log axes; NaN for fewer than two sizes or where a time is missing."""
    if len(ns) < 2 or np.isnan(seconds).any():
        return float("nan")
    x, y = np.log2(ns) - np.log2(ns).mean(), np.log2(seconds)
    return float(x @ y / (x @ x))


def share_of_square(samples: Samples) -> float:
    """``c·n² / t`` at the largest size, for the best ``t = a + b·n + c·n²`` without a negative coefficient.

    The errors are relative, so every size counts alike. With three terms the non-negative fit is the best of the
    unconstrained fits of their subsets that comes out without a negative one.
    """
    ns = np.array(sorted(samples), dtype=float)
    seconds = np.array([max(min(samples[int(n)]), SHORTEST) for n in ns])
    terms = np.column_stack([np.ones_like(ns), ns, ns * ns]) / seconds[:, None]
    best, share = np.inf, 0.0
    for size in (1, 2, 3):
        for chosen in combinations(range(3), size):
            part = terms[:, chosen]
            scale = np.abs(part).max(axis=0)
            found = np.linalg.lstsq(part / scale, np.ones_like(ns), rcond=None)[0] / scale
            error = float(((part @ found - 1.0) ** 2).sum())
            if (found >= 0).all() and error < best:
                best = error
                square = found[chosen.index(2)] if 2 in chosen else 0.0
                share = float(square * ns[-1] ** 2 / seconds[-1])
    return min(share, 1.0)
