# Right answers to steps 5 and 6.
# %% time_calls from the largest size to the smallest
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = {}
    for n in sorted(ns, reverse=True):
        args = make_args(n)
        for _ in range(warmup):
            fn(*args)
        sync()
        rows[n] = []
        while len(rows[n]) < repeats:
            sync()
            t0 = clock()
            fn(*args)
            sync()
            rows[n].append(clock() - t0)
    return [rows[n] for n in ns]


# %% time_calls into an array, fresh arguments for each sample
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    table = np.zeros((len(ns), repeats))
    for i, n in enumerate(ns):
        for _ in range(warmup):
            fn(*make_args(n))
        for j in range(repeats):
            arguments = make_args(n)
            sync()
            begin = clock()
            fn(*arguments)
            sync()
            table[i, j] = clock() - begin
    return table


# %% time_calls with a generator of samples
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    def samples(n):
        args = make_args(n)
        for turn in range(warmup + repeats):
            sync()
            t = clock()
            fn(*args)
            sync()
            t = clock() - t
            if turn >= warmup:
                yield t

    return tuple(tuple(samples(n)) for n in ns)


# %% local_slopes by a comprehension over pairs
def local_slopes(ns, seconds):
    pairs = list(zip(ns, seconds))
    return [(math.log(t2) - math.log(t1)) / (math.log(n2) - math.log(n1)) for (n1, t1), (n2, t2) in zip(pairs, pairs[1:])]


# %% local_slopes with log2 and slices
def local_slopes(ns, seconds):
    x, y = np.log2(np.asarray(ns, dtype=float)), np.log2(np.asarray(seconds, dtype=float))
    return (y[1:] - y[:-1]) / (x[1:] - x[:-1])


# %% fit_exponent by the normal equations
def fit_exponent(ns, seconds):
    A = np.column_stack([np.log(ns), np.ones(len(ns))])
    return np.linalg.solve(A.T @ A, A.T @ np.log(seconds))[0]


# %% fit_exponent from covariance and variance
def fit_exponent(ns, seconds):
    c = np.cov(np.log10(ns), np.log10(seconds))
    return c[0, 1] / c[0, 0]


# %% fit_exponent with the statistics module
import statistics


def fit_exponent(ns, seconds):
    return statistics.linear_regression([math.log(float(n)) for n in ns], [math.log(float(t)) for t in seconds]).slope


# %% score_bytes from a shape
def score_bytes(n, heads=1, itemsize=2):
    return math.prod((heads, n, n, itemsize))


# %% peak_memory that keeps the result alive until it has read
def peak_memory(fn, *args, meter):
    meter.reset()
    kept = fn(*args)
    allocated, reserved = meter.allocated_peak(), meter.reserved_peak()
    del kept
    return [allocated, reserved]


# %% peak_memory with a context manager
import contextlib


@contextlib.contextmanager
def metered(meter):
    meter.reset()
    readings = []
    yield readings
    readings += [meter.allocated_peak(), meter.reserved_peak()]


def peak_memory(fn, *args, meter):
    with metered(meter) as readings:
        fn(*args)
    return tuple(readings)


# %% largest_n by recursion
def largest_n(fits, start=1024):
    def ok(n):
        try:
            return bool(fits(n))
        except MemoryError:
            return False

    def between(good, bad):
        if bad - good <= 1:
            return good
        middle = (good + bad) // 2
        return between(middle, bad) if ok(middle) else between(good, middle)

    def climb(good, next_):
        return climb(next_, 2 * next_) if ok(next_) else between(good, next_)

    return climb(0, start)


# %% largest_n that remembers what it has tried, and halves its way down
def largest_n(fits, start=1024):
    seen = {}

    def ok(n):
        if n not in seen:
            try:
                seen[n] = bool(fits(n))
            except MemoryError:
                seen[n] = False
        return seen[n]

    high = start
    if ok(start):
        while ok(2 * high):
            high *= 2
        low, high = high, 2 * high
    else:
        low = start // 2
        while low and not ok(low):
            high, low = low, low // 2
        if low == 0:
            return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low
