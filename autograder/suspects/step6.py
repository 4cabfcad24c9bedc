"""Mistakes of ``score_bytes`` and ``peak_memory``: factors, units, and when the meter is read."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step6"
BYTES = "7.6, The quadratic term, in bytes"
LAB = "7.9, lab step 6"


@suspect(
    "heads_forgotten",
    task=TASK,
    hint="Every head has scores of its own.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return n * n * itemsize


@suspect(
    "linear_in_n",
    task=TASK,
    hint="Doubling the length doubles the bytes here; look at how many scores there are.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * itemsize


@suspect(
    "itemsize_in_bits",
    task=TASK,
    hint="There is a factor of eight too much or too little: the size of a number is in bytes already.",
    read=BYTES,
    also=(("itemsize * 8", "itemsize // 8"),),
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n * itemsize * 8


@same_mistake("itemsize_in_bits")
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n * itemsize // 8 if itemsize >= 8 else heads * n * n * itemsize * 8


@suspect(
    "itemsize_ignored",
    task=TASK,
    hint="The size of a number is the same whatever is asked for.",
    read=BYTES,
    also=(("n * 2", "n * 4"), ("n * 2", "n * 8")),
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n * 2


@suspect(
    "entries_not_bytes",
    task=TASK,
    hint="These are the numbers in the table, not the bytes that they take.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n


@suspect(
    "default_itemsize_changed",
    task=TASK,
    hint="Without a size of a number being asked for, another one is used than the table in the chapter has.",
    read=BYTES,
    also=(("itemsize=4", "itemsize=8"), ("itemsize=4", "itemsize=1")),
)
def score_bytes(n, heads=1, itemsize=4):
    return heads * n * n * itemsize


@suspect(
    "default_heads_changed",
    task=TASK,
    hint="Without a number of heads being asked for, it should be one.",
    read=BYTES,
    also=(("heads=8", "heads=12"), ("heads=8", "heads=32")),
)
def score_bytes(n, heads=8, itemsize=2):
    return heads * n * n * itemsize


@suspect(
    "heads_squared",
    task=TASK,
    hint="The number of heads counts twice.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return (heads * n) ** 2 * itemsize


@suspect(
    "triangle_only",
    task=TASK,
    hint="Only half of the table is counted; a naive implementation stores all of it.",
    read=BYTES,
    also=(("n * (n + 1) // 2", "n * n // 2"), ("n * (n + 1) // 2", "n * (n - 1) // 2")),
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * (n + 1) // 2 * itemsize


@suspect(
    "weights_counted_too",
    task=TASK,
    hint="Twice as much is counted as is asked: the raw scores alone are meant.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return 2 * heads * n * n * itemsize


@suspect(
    "scores_counted_in_mebibytes",
    task=TASK,
    hint="The answer is in a larger unit, or is no whole number; bytes are asked.",
    read=BYTES,
    also=(
        ("/ 2**20", "/ 2**30"),
        ("/ 2**20", "/ 2**10"),
        ("/ 2**20", "/ 1e6"),
        ("/ 2**20", "/ 1e9"),
        ("/ 2**20", "// 2**20"),
        ("/ 2**20", "// 2**30"),
        ("/ 2**20", "* 1.0"),
    ),
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n * itemsize / 2**20


@suspect(
    "width_counted_in",
    task=TASK,
    hint="The width of a head is counted in; a score is a single number.",
    read=BYTES,
    also=(("* 64", "* 128"), ("n * n * 64", "n * 64")),
)
def score_bytes(n, heads=1, itemsize=2):
    return heads * n * n * 64 * itemsize


@suspect(
    "score_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=BYTES,
)
def score_bytes(n, heads=1, itemsize=2):
    return int(np.prod(np.array([heads, n, n, itemsize], dtype=np.int32), dtype=np.int32))


# ---- peak_memory
@suspect(
    "peak_not_reset",
    task=TASK,
    hint="An earlier, larger peak is still on the meter.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    fn(*args)
    return meter.allocated_peak(), meter.reserved_peak()


@suspect(
    "peak_reset_after_the_call",
    task=TASK,
    hint="The meter forgets the peak before it is read.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    fn(*args)
    meter.reset()
    return meter.allocated_peak(), meter.reserved_peak()


@suspect(
    "peak_read_before_the_call",
    task=TASK,
    hint="The meter is read before anything has been used.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    peaks = meter.allocated_peak(), meter.reserved_peak()
    fn(*args)
    return peaks


@suspect(
    "function_never_called",
    task=TASK,
    hint="What was to be measured never runs.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    return meter.allocated_peak(), meter.reserved_peak()


@suspect(
    "peak_in_mebibytes",
    task=TASK,
    hint="The answer is in a larger unit; bytes are asked, as the meter gives them.",
    read=LAB,
    also=(
        ("/ 2**20", "/ 2**30"),
        ("/ 2**20", "/ 2**10"),
        ("/ 2**20", "/ 1e3"),
        ("/ 2**20", "/ 1e6"),
        ("/ 2**20", "/ 1e9"),
        ("/ 2**20", "// 2**20"),
        ("/ 2**20", "// 2**10"),
    ),
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.allocated_peak() / 2**20, meter.reserved_peak() / 2**20


@suspect(
    "peaks_swapped",
    task=TASK,
    hint="Allocated and reserved have changed places.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.reserved_peak(), meter.allocated_peak()


@suspect(
    "allocated_twice",
    task=TASK,
    hint="Both numbers are the same reading; the other one is never asked for.",
    read=LAB,
    also=(("meter.allocated_peak(), meter.allocated_peak()", "meter.reserved_peak(), meter.reserved_peak()"),),
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.allocated_peak(), meter.allocated_peak()


@suspect(
    "one_peak_only",
    task=TASK,
    hint="Two readings are asked, one comes back.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.allocated_peak()


@suspect(
    "reserved_minus_allocated",
    task=TASK,
    hint="The two readings are combined; hand both back as the meter gives them.",
    read=LAB,
    also=(("meter.reserved_peak() - meter.allocated_peak()", "meter.allocated_peak() + meter.reserved_peak()"),),
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.allocated_peak(), meter.reserved_peak() - meter.allocated_peak()


@suspect(
    "two_runs_added",
    task=TASK,
    hint="The function runs more than once, and the readings are put together.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    peaks = []
    for _ in range(2):
        meter.reset()
        fn(*args)
        peaks.append((meter.allocated_peak(), meter.reserved_peak()))
    return peaks[0][0] + peaks[1][0], peaks[0][1] + peaks[1][1]


@same_mistake("two_runs_added")
def peak_memory(fn, *args, meter):
    peaks = []
    for _ in range(2):
        meter.reset()
        fn(*args)
        peaks.append((meter.allocated_peak(), meter.reserved_peak()))
    return (peaks[0][0] + peaks[1][0]) / 2, (peaks[0][1] + peaks[1][1]) / 2


@same_mistake("two_runs_added")
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    allocated = meter.allocated_peak()
    meter.reset()
    fn(*args)
    return allocated, meter.reserved_peak()


@suspect(
    "meter_argument_ignored",
    task=TASK,
    hint="The numbers come from another meter than the one that was handed over.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    import tracemalloc

    tracemalloc.start()
    fn(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, peak


@suspect(
    "size_of_the_result",
    task=TASK,
    hint="What is left afterwards is counted; the peak was during the call.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    result = np.asarray(fn(*args))
    return result.nbytes, result.nbytes


@suspect(
    "error_of_the_function_swallowed",
    task=TASK,
    hint="When the function fails, nobody hears of it.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    import contextlib

    meter.reset()
    with contextlib.suppress(Exception):
        fn(*args)
    return meter.allocated_peak(), meter.reserved_peak()


@same_mistake("error_of_the_function_swallowed")
def peak_memory(fn, *args, meter):
    meter.reset()
    try:
        fn(*args)
    except Exception:
        return 0, 0
    return meter.allocated_peak(), meter.reserved_peak()


@suspect(
    "peak_arguments_not_unpacked",
    task=TASK,
    hint="The function does not get its arguments as they were handed over.",
    read=LAB,
)
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(args)
    return meter.allocated_peak(), meter.reserved_peak()


@same_mistake("peak_arguments_not_unpacked")
def peak_memory(fn, *args, meter):
    meter.reset()
    fn()
    return meter.allocated_peak(), meter.reserved_peak()
