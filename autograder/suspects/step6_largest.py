"""Mistakes of ``largest_n``: where the search starts, how it narrows, what ends it."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-redef, no-any-return"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

TASK = "step6"
LAB = "7.9, lab step 6"


@suspect(
    "doubling_without_bisection",
    task=TASK,
    hint="The search stops at a size that was reached by doubling; the limit lies somewhere beyond it.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = start
    while n and not ok(n):
        n //= 2
    while n and ok(2 * n):
        n *= 2
    return n


@same_mistake("doubling_without_bisection")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = start
    while ok(2 * n):
        n *= 2
    return n


@same_mistake("doubling_without_bisection")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = start
    while ok(n):
        n *= 2
    return n // 2


@suspect(
    "linear_search",
    task=TASK,
    hint="The search goes on in steps of one, and asks far more often than it needs to.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = start
    while n and not ok(n):
        n -= 1
    while ok(n + 1):
        n += 1
    return n


@same_mistake("linear_search")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = start
    while ok(2 * n):
        n *= 2
    while ok(n + 1):
        n += 1
    return n


@same_mistake("linear_search")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    n = 0
    while ok(n + 1):
        n += 1
    return n


@suspect(
    "upper_end_excluded_twice",
    task=TASK,
    hint="One size near the limit is never tried: an end that is already excluded is moved once more.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if ok(middle):
            low = middle
        else:
            high = max(middle - 1, low + 1)
    return low


@same_mistake("upper_end_excluded_twice")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "returns_first_that_failed",
    task=TASK,
    hint="This size is the smallest that does not fit.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return high


@suspect(
    "search_stops_early",
    task=TASK,
    hint="The search ends while several sizes are still open.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > max(16, low // 100):
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@same_mistake("search_stops_early")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    for _ in range(5):
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "start_assumed_to_fit",
    task=TASK,
    hint="The first size is taken to fit; a small machine may refuse it.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = start, 2 * start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "nothing_below_start",
    task=TASK,
    hint="When the first size does not fit, the search gives up instead of going down.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    if not ok(start):
        return 0
    low, high = start, 2 * start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@same_mistake("nothing_below_start")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    if not ok(start):
        return None
    low, high = start, 2 * start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "never_below_one",
    task=TASK,
    hint="One token is reported to fit although nothing does.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 1, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "memory_error_not_caught",
    task=TASK,
    hint="A size that is refused with an error ends everything; it only means that it does not fit.",
    read=LAB,
)
def largest_n(fits, start=1024):
    low, high = 0, start
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@suspect(
    "memory_error_ends_search",
    task=TASK,
    hint="A refused size while narrowing down ends the search; it only means that this size does not fit.",
    read=LAB,
)
def largest_n(fits, start=1024):
    low, high = 0, start
    try:
        while fits(high):
            low, high = high, 2 * high
    except MemoryError:
        pass
    try:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
    except MemoryError:
        pass
    return low


@same_mistake("memory_error_ends_search")
def largest_n(fits, start=1024):
    low, high = 0, start
    try:
        while fits(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
    except MemoryError:
        pass
    return low


@suspect(
    "every_error_means_too_large",
    task=TASK,
    hint="Any error is taken for a lack of memory, so a bug in the test looks like a small machine.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except Exception:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "float_midpoint",
    task=TASK,
    hint="Sizes that are no whole numbers are tried or handed back.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@same_mistake("float_midpoint")
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(int(n)))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "jumps_too_far",
    task=TASK,
    hint="The search tries sizes far beyond what it needs, which a real machine may not survive.",
    read=LAB,
    also=(("10 * high", "4 * high"), ("0, start", "0, 2**20")),
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 10 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "sizes_tried_again",
    task=TASK,
    hint="The same size is tried again and again, and every try is expensive.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return all([bool(fits(n)) for _ in range(3)])
        except MemoryError:
            return False

    low, high = 0, start
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


@suspect(
    "start_ignored",
    task=TASK,
    hint="The search begins at a size of its own, not at the one that was asked for.",
    read=LAB,
)
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    low, high = 0, 1024
    while ok(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low
