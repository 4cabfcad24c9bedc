"""The drawings of the class page, as numbers for a template: where each bar and each dot stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.pages.figures import CheckFigures, Distribution

LEFT, BAR, GAP = 20, 60, 6
#: A dot no larger than the margin of the drawing.
LARGEST_DOT = 12


@dataclass(frozen=True)
class Shape:
    """One bar: ``low`` and ``high`` are its points, ``count`` how many submissions are in it."""

    x: int
    y: int
    width: int
    height: int
    middle: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """A distribution in units of the drawing; ``median`` is where its line stands."""

    width: int
    height: int
    base: int
    right: int
    bars: list[Shape]
    median: float


def histogram(of: Distribution, height: int = 222) -> Histogram:
    """Bars as wide as their points, the tallest one up to the room for its number."""
    base, tallest = height - 42, height - 82
    most = max((bar.count for bar in of.bars), default=0) or 1
    bars = [
        Shape(
            x=LEFT + BAR * i,
            y=base - round(tallest * bar.count / most),
            width=BAR - GAP,
            height=round(tallest * bar.count / most),
            middle=LEFT + BAR * i + (BAR - GAP) / 2,
            low=bar.low,
            high=bar.high,
            count=bar.count,
        )
        for i, bar in enumerate(of.bars)
    ]
    right = LEFT + BAR * len(bars)
    share = min(1.0, max(0.0, of.median / of.full)) if of.full else 0.0
    return Histogram(right + LEFT, height, base, right, bars, round(LEFT + share * (right - LEFT), 1))


@dataclass(frozen=True)
class Dot:
    """Checks of about one pass rate and discrimination: ``radius`` grows with how many they are, up to a limit."""

    x: float
    y: float
    radius: float
    rate: float
    discrimination: float
    count: int


def scatter(checks: Sequence[CheckFigures]) -> list[Dot]:
    """Pass rate to the right (0 to 1 over 400), discrimination upwards (1 to -1 over 200), in steps of a twentieth."""
    where = Counter(
        (round(one.rate * 20) / 20, round(one.discrimination * 20) / 20)
        for one in checks
        if one.rate is not None and one.discrimination is not None
    )
    return [
        Dot(40 + 400 * rate, 110 - 100 * low_high, round(min(2.5 + count**0.5, LARGEST_DOT), 1), rate, low_high, count)
        for (rate, low_high), count in sorted(where.items())
    ]
