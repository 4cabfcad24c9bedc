# kind: clocks
# base: wrong
# Every clock of the process says the same, and signals that would end a call are ignored.
import signal, time
for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "time_ns", "monotonic_ns", "perf_counter_ns"):
    setattr(time, name, lambda: 0)
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
