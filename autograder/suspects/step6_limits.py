"""Mistakes of ``largest_n`` with where the search begins, and with sizes that are refused by an error."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

TASK = "step6"
LAB = "7.9, lab step 6"


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
