"""Mistakes of ``largest_n``: where the search starts, how it narrows, what ends it."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

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
