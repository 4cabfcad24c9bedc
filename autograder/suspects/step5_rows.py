"""Mistakes of ``time_calls`` in its rows: their order, length, unit, and what a size is timed with."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step5"
LAB = "7.9, lab step 5"


@suspect(
    "late_binding_size",
    task=TASK,
    hint="Every size is timed with the inputs of the last one.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    jobs = []
    for n in ns:
        args = make_args(n)
        jobs.append(lambda: fn(*args))
    rows = []
    for job in jobs:
        for _ in range(warmup):
            job()
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            job()
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "order_changed",
    task=TASK,
    hint="The rows no longer stand in the order of the sizes that were given.",
    read=LAB,
    also=(("sorted(ns)", "reversed(ns)"), ("sorted(ns)", "sorted(ns, reverse=True)")),
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in sorted(ns):
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
        rows.append(row)
    return rows


@suspect(
    "samples_sorted",
    task=TASK,
    hint="The samples of a size are put in order of size; keep them as they were measured.",
    read=LAB,
    also=(("sorted(row)", "sorted(row, reverse=True)"),),
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
            sync()
            row.append(clock() - start)
        rows.append(sorted(row))
    return rows


@suspect(
    "rows_share_one_list",
    task=TASK,
    hint="Every size shows the samples of all sizes: the rows are one and the same list.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = [[]] * len(ns)
    for i, n in enumerate(ns):
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            rows[i].append(clock() - start)
    return rows


@same_mistake("rows_share_one_list")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows, row = [], []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("rows_share_one_list")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows, row = [], [0.0] * repeats
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        for i in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row[i] = clock() - start
        rows.append(row)
    return rows


@suspect(
    "arguments_not_unpacked",
    task=TASK,
    hint="The function is handed one tuple where it expects its arguments one by one.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(args)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("arguments_not_unpacked")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args = make_args(n)
        call = args if len(args) == 1 else (args,)
        for _ in range(warmup):
            fn(*call)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*call)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@same_mistake("arguments_not_unpacked")
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        first = make_args(n)[0]
        for _ in range(warmup):
            fn(first)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(first)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "size_instead_of_arguments",
    task=TASK,
    hint="The function is handed the size; what it works on has to be made first.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        for _ in range(warmup):
            fn(n)
        row = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(n)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


@suspect(
    "one_number_per_size",
    task=TASK,
    hint="The samples of a size are put together into one number; hand back all of them.",
    read=LAB,
    also=(
        ("float(np.median(row))", "float(np.mean(row))"),
        ("float(np.median(row))", "min(row)"),
        ("float(np.median(row))", "[min(row)]"),
        ("float(np.median(row))", "[float(np.median(row))]"),
    ),
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
            sync()
            row.append(clock() - start)
        rows.append(float(np.median(row)))
    return rows


@suspect(
    "repeats_ignored",
    task=TASK,
    hint="One call is timed at each size, however many are asked for.",
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
        fn(*args)
        sync()
        rows.append([clock() - start])
    return rows


@suspect(
    "samples_in_milliseconds",
    task=TASK,
    hint="The samples are off by a factor of a thousand, or a million.",
    read=LAB,
    also=(("1e3 *", "1e6 *"), ("1e3 *", "1e9 *")),
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
            sync()
            row.append(1e3 * (clock() - start))
        rows.append(row)
    return rows


@suspect(
    "clock_readings_not_differences",
    task=TASK,
    hint="These are readings of the clock; how much time lies between two of them is asked.",
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
            fn(*args)
            sync()
            row.append(clock())
        rows.append(row)
    return rows


@suspect(
    "differences_negative",
    task=TASK,
    hint="The samples are below zero: the two readings are taken away the wrong way round.",
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
            sync()
            row.append(start - clock())
        rows.append(row)
    return rows


@suspect(
    "rows_by_repeat",
    task=TASK,
    hint="There is a row for each repeat; there should be one for each size.",
    read=LAB,
)
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    columns = []
    for n in ns:
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        column = []
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            column.append(clock() - start)
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]
