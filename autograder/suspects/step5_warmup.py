"""Mistakes of ``time_calls`` with the calls that come before the samples."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

TASK = "step5"
LAB = "7.9, lab step 5"


@suspect(
    "no_warm_up",
    task=TASK,
    hint="The first calls at each size are slower, and they are among the samples.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "warm_up_at_first_size_only",
    task=TASK,
    hint="The warm-up happens once for all sizes; every size has slow first calls of its own.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(0 if rows else warmup):
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("warm_up_at_first_size_only")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    first = make_args(ns[0])
    for _ in range(warmup):
        fn(*first)
    rows = []
    for n in ns:
        args = make_args(n)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "warm_up_count_ignored",
    task=TASK,
    hint="There is a warm-up, but not as many calls as were asked for.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("warm_up_count_ignored")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        if warmup:
            fn(*args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "warm_up_recorded",
    task=TASK,
    hint="The warm-up calls are among the samples, so the rows are too long.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        row = []
        for _ in range(warmup + repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "warm_up_counted_as_repeats",
    task=TASK,
    hint="The warm-up calls are taken off the repeats, so the rows are too short.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        row = []
        for i in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            if i >= warmup:
                row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "warm_up_inside_timing",
    task=TASK,
    hint="A sample covers more than one call.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            for _ in range(warmup):
                fn(*args)
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("warm_up_inside_timing")
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
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows
