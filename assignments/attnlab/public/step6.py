"""Step 6 in public: bytes that can be counted, a meter that we can read, limits that we know."""

from __future__ import annotations

from collections.abc import Callable

from attnlab.public.answers import number, pair, whole
from attnlab.public.declare import Checks, Lab, Mistake, StudentError

check = Checks("step6")

TABLE = "section 7.6, the quadratic term in bytes"
READ = "section 7.9, step 6"


@check("score_bytes.table", read=TABLE)
def half_precision_table(lab: Lab) -> None:
    """At 2 bytes a score: 524,288 bytes at n = 512 and 2 GiB at n = 32,768, as in the chapter's table."""
    for n, wanted in ((512, 524_288), (32_768, 2 * 2**30)):
        found = whole(lab.score_bytes(n), f"score_bytes({n})")
        if found != wanted:
            guess = {
                wanted * 2: "The default is 2 bytes a score (half precision), not 4.",
                wanted * 8: "itemsize is in bytes already; no factor 8.",
                n * 2: "The scores are n by n: every query meets every key.",
            }.get(found, "")
            raise Mistake(f"score_bytes({n:,}) is {found:,}; the chapter's table has {wanted:,}.", guess)


@check("score_bytes.heads", read=TABLE, needs=["score_bytes.table"])
def heads_and_item_size(lab: Lab) -> None:
    """Every head has its own scores, and float32 takes 4 bytes."""
    one = whole(lab.score_bytes(100), "score_bytes(100)")
    for name, value, factor in (
        ("score_bytes(100, heads=12)", lab.score_bytes(100, heads=12), 12),
        ("score_bytes(100, itemsize=4)", lab.score_bytes(100, itemsize=4), 2),
        ("score_bytes(100, 3, 8)", lab.score_bytes(100, 3, 8), 12),
    ):
        if whole(value, name) != factor * one:
            raise Mistake(f"{name} should be {factor} times score_bytes(100).", "An argument is not used.")


class Meter:
    """A meter that writes down in which order it is used. ``fn`` raises the level while it runs."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self._peak = 900_000  # from earlier work: gone after reset()

    def reset(self) -> None:
        self.log.append("reset")
        self._peak = 0

    def allocated_peak(self) -> int:
        self.log.append("read")
        return self._peak

    def reserved_peak(self) -> int:
        self.log.append("read")
        return -(-self._peak // 4096) * 4096  # a system gives memory in pages of 4,096 bytes

    def run(self, first: int, second: int) -> list[int]:
        self.log.append("run")
        self._peak = max(self._peak, first + second)
        return [first, second]


@check("peak_memory.reading", read=READ)
def readings_are_handed_on(lab: Lab) -> None:
    """It gives back the meter's two readings, in bytes and unchanged, after one run of fn(*args)."""
    meter = Meter()
    found = pair(lab.peak_memory(meter.run, 70_000, 7, meter=meter), "peak_memory", "allocated", "reserved")
    allocated, reserved = number(found[0], "allocated bytes"), number(found[1], "reserved bytes")
    runs = meter.log.count("run")
    if runs != 1:
        raise Mistake(
            f"fn was called {runs} times; it should be once.", "Time and memory are measured on one run each."
        )
    if (allocated, reserved) != (70_007, 73_728):
        guess = ""
        if allocated >= 900_000:
            guess = "The meter is not reset before the run: the peak is an earlier one."
        elif allocated == 70_007 and reserved == 73_728 - 70_007:
            guess = "The second number is the reserved peak itself, not a difference."
        elif (reserved, allocated) == (70_007, 73_728):
            guess = "The two are exchanged: allocated comes first."
        elif 0 < allocated < 1000:
            guess = "It may be in KiB or MiB; bytes are asked."
        elif "read" not in meter.log:
            guess = "The meter that was handed in is not read."
        raise Mistake("The two numbers are not the readings of the meter.", guess)


@check("peak_memory.order", read=READ, needs=["peak_memory.reading"])
def reset_run_read(lab: Lab) -> None:
    """First reset, then the run, then the readings."""
    meter = Meter()
    lab.peak_memory(meter.run, 1, 2, meter=meter)
    before, _, after = " ".join(meter.log).partition("run")
    if "reset" not in before or "reset" in after or after.count("read") < 2:
        raise Mistake(
            f"The order was {', '.join(meter.log)}.", "Reset just before the run, read just after it."
        )


@check("peak_memory.error", read=READ, needs=["peak_memory.reading"])
def errors_come_through(lab: Lab) -> None:
    """An error in fn is not swallowed."""

    def too_large() -> None:
        raise MemoryError("no room")

    try:
        lab.peak_memory(too_large, meter=Meter())
    except StudentError as stopped:
        if isinstance(stopped.error, MemoryError):
            return
        raise
    raise Mistake(
        "fn raised a MemoryError, and peak_memory went on as if nothing had happened.",
        "Take the `except` out.",
    )


class Machine:
    """A machine on which sizes up to ``limit`` fit; it counts the questions, and says what was asked."""

    def __init__(self, limit: int, *, raises: bool = False) -> None:
        self.limit, self._raises = limit, raises
        self.asked: list[object] = []

    def fits(self, n: object) -> bool:
        self.asked.append(n)
        size = whole(n, "A size that largest_n tried")
        if size > self.limit and self._raises:
            raise MemoryError("no room")
        return size <= self.limit


def _search(lab: Lab, limit: int, *, raises: bool = False, start: int = 1024, most: int = 60) -> None:
    machine = Machine(limit, raises=raises)

    def fits(n: object) -> bool:
        if len(machine.asked) >= most:
            raise Mistake(
                f"After {most} sizes it was still looking.",
                "Double first, then halve the interval; never one by one.",
            )
        return machine.fits(n)

    asked: Callable[[object], bool] = fits
    try:
        found = whole(lab.largest_n(asked, start=start), "largest_n")
    except StudentError as stopped:
        if raises and isinstance(stopped.error, MemoryError):
            raise Mistake(
                "A MemoryError from fits(n) came through.",
                "It only means that this n does not fit: catch it everywhere.",
            ) from None
        raise
    if found != limit:
        guess = ""
        if raises:
            guess = "A MemoryError ends the search; it only means that this one size does not fit."
        elif found < limit and found & (found - 1) == 0 and limit > start:
            guess = (
                "The last doubling that fitted is given back; bisect between it and the first that did not."
            )
        elif abs(found - limit) == 1:
            guess = (
                "One size at the end of the interval is never tried, or the one that failed is given back."
            )
        raise Mistake(f"Where {limit:,} is the largest size that fits, largest_n found {found:,}.", guess)


@check("largest_n.between", read=READ)
def between_two_doublings(lab: Lab) -> None:
    """It finds the exact size between two doublings, and a power of two itself."""
    for limit in (1500, 2047, 2048, 5001):
        _search(lab, limit)


@check("largest_n.below", read=READ, needs=["largest_n.between"])
def below_the_start(lab: Lab) -> None:
    """Where already the start is too large it searches down, and gives back 0 if nothing fits."""
    for limit in (300, 1, 0):
        _search(lab, limit)


@check("largest_n.memory_error", read=READ, needs=["largest_n.between"])
def a_memory_error_is_a_no(lab: Lab) -> None:
    """A MemoryError from fits(n) counts as "does not fit", at any moment of the search."""
    for limit in (1500, 4000):
        _search(lab, limit, raises=True)


@check("largest_n.careful", read=READ, needs=["largest_n.between"])
def never_far_above(lab: Lab) -> None:
    """It never tries much more than twice what fits, because the machine has to survive the search."""
    machine = Machine(3000)
    lab.largest_n(machine.fits)
    highest = max(whole(n, "A size that largest_n tried") for n in machine.asked)
    if highest > 2 * 3000 + 1:
        raise Mistake(f"Where 3,000 is the most, it tried {highest:,}.", "Double; do not jump further.")
