"""Mistakes of ``time_calls``: what stands between the two readings of the clock, and which rows come out."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step5"
LAB = "7.9, lab step 5"


@suspect(
    "no_synchronisation",
    task=TASK,
    hint="The clock is read while work is still queued.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            start = clock()
            fn(*args)
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "no_sync_before_the_start",
    task=TASK,
    hint="What was queued earlier is still running when the clock starts, and is counted.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("no_sync_before_the_start")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    def timed(args):
        start = clock()
        fn(*args)
        sync()
        return clock() - start

    rows = []
    for n in ns:
        args = make_args(n)
        rows.append([timed(args) for _ in range(warmup + repeats)][warmup:])
    return rows


@suspect(
    "start_read_before_sync",
    task=TASK,
    hint="The clock starts and only then is the queue waited for, so older work is counted.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            start = clock()
            sync()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "sync_after_the_clock",
    task=TASK,
    hint="The queue is waited for, but not between the call and the second reading of the clock.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            row.append(clock() - start)
            sync()
        rows.append(row)
    return rows


@same_mistake("sync_after_the_clock")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("sync_after_the_clock")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        sync()
        row = []
        for _ in range(repeats):
            start = clock()
            fn(*args)
            row.append(clock() - start)
        sync()
        rows.append(row)
    return rows


@suspect(
    "one_interval_for_all",
    task=TASK,
    hint="One reading spans all repeats and is shared out, so the spread between calls is lost.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        sync()
        start = clock()
        for _ in range(repeats):
            fn(*args)
        sync()
        rows.append([(clock() - start) / repeats] * repeats)
    return rows


@same_mistake("one_interval_for_all")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append([float(np.mean(row))] * repeats)
    return rows


@same_mistake("one_interval_for_all")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append([min(row)] * repeats)
    return rows


@same_mistake("one_interval_for_all")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append([float(np.median(row))] * repeats)
    return rows


@suspect(
    "start_not_read_again",
    task=TASK,
    hint="The samples of a size grow from one to the next: the start is read only once.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        sync()
        start = clock()
        for _ in range(repeats):
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "allocation_inside_timing",
    task=TASK,
    hint="Making the inputs is part of what is timed.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        for _ in range(warmup):
            fn(*make_args(n))
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*make_args(n))
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "clock_ignored",
    task=TASK,
    hint="The times come from another clock than the one that was handed over.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    import time

    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = time.perf_counter()
            fn(*args)
            sync()
            row.append(time.perf_counter() - start)
        rows.append(row)
    return rows
