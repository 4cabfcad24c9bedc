"""What a command and everything that it starts costs: seconds, CPU seconds, memory."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import select
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 2**20
#: Seconds between two looks at the memory of a process tree.
LOOK_SECONDS = 0.2
#: Characters of what a command said last, where it fails.
LAST_WORDS = 400

# perf_event_open(2): its number by machine, the clock of a task as an event, and how it is to be counted.
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_SOFTWARE, _TASK_CLOCK, _ATTRIBUTES = 1, 1, 128
_DISABLED, _INHERIT, _NO_KERNEL, _NO_HYPERVISOR, _ENABLE_ON_EXEC = 1 << 0, 1 << 1, 1 << 5, 1 << 6, 1 << 12
_CLOSE_ON_EXEC = 8


class Failed(RuntimeError):
    """A command did not do what it was measured for; the text is a sentence."""


@dataclass(frozen=True)
class Cost:
    """What a command took, with everything that it started.

    ``cpu_seconds`` is NaN where the kernel does not let them be counted. ``peak_bytes``: the most memory that all of
    them occupied at one time, pages that several share counted once (PSS).
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    def __add__(self, later: Cost) -> Cost:
        """Both, one after the other."""
        cpu = self.cpu_seconds + later.cpu_seconds
        return Cost(self.seconds + later.seconds, cpu, max(self.peak_bytes, later.peak_bytes))


def run(command: Sequence[str], *, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end. Raises ``Failed`` where it does not end well; nothing of it is left running.

    Its CPU seconds are those of every process below it, whoever waits for them, if anybody does: what a process is
    told about its children (``getrusage``, ``wait4``) leaves out all that ended unseen, as the sandbox's forks do.
    """
    with tempfile.TemporaryFile() as words, _counter() as counter:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
        )
        try:
            peak = _watch(process)
            seconds = time.monotonic() - start
        finally:
            _end(process)
        if process.returncode != 0:
            words.seek(0)
            said = words.read().decode("utf-8", "replace").strip()[-LAST_WORDS:]
            raise Failed(f"`{' '.join(command[:4])}` ended with {process.returncode}: {said}")
        return Cost(seconds, _read(counter), peak)


def _watch(process: subprocess.Popen[bytes]) -> int:
    """Wait for its end; the most bytes that the tree was seen to occupy."""
    peak = 0
    ended = os.pidfd_open(process.pid)
    try:
        # The end is seen when it comes, so that a look at the memory does not round the seconds.
        while not select.select([ended], [], [], LOOK_SECONDS)[0]:
            peak = max(peak, memory(process.pid))
        process.wait()
    finally:
        os.close(ended)
    return peak


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever stopped the measurement: a kernel or a worker that lost its parent would go on computing."""
    if process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for one in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        process.kill()
        process.wait()


def memory(root: int) -> int:
    """Bytes that a process tree occupies, pages that several share counted once (PSS) where the kernel tells."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in [psutil.Process(root), *psutil.Process(root).children(recursive=True)]:
            try:
                total += process.memory_full_info().pss
            except psutil.AccessDenied:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
    return total


# ---- CPU seconds
@contextlib.contextmanager
def _counter() -> Iterator[int | None]:
    """A clock of the kernel that starts with the next program that this thread starts, and that all below inherit."""
    try:
        counter = _open_counter()
    except OSError:
        yield None
        return
    try:
        yield counter
    finally:
        os.close(counter)


def _open_counter() -> int:
    attributes = bytearray(_ATTRIBUTES)
    how = _DISABLED | _INHERIT | _NO_KERNEL | _NO_HYPERVISOR | _ENABLE_ON_EXEC
    struct.pack_into("=IIQQQQQ", attributes, 0, _SOFTWARE, _ATTRIBUTES, _TASK_CLOCK, 0, 0, 0, how)
    try:
        number = _PERF_EVENT_OPEN[os.uname().machine]
    except KeyError:
        raise OSError(f"perf_event_open is not known for {os.uname().machine}") from None
    libc = ctypes.CDLL(None, use_errno=True)
    given = (ctypes.c_char * _ATTRIBUTES).from_buffer(attributes)
    this_thread, any_core, no_group = 0, -1, -1
    counter: int = libc.syscall(number, given, this_thread, any_core, no_group, ctypes.c_ulong(_CLOSE_ON_EXEC))
    if counter < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return counter


def _read(counter: int | None) -> float:
    if counter is None:
        return math.nan
    nanoseconds: int = struct.unpack("q", os.read(counter, 8))[0]
    return nanoseconds / 1e9


def uncounted() -> str | None:
    """Why CPU seconds cannot be counted here, as a sentence; None where they can."""
    try:
        os.close(_open_counter())
    except OSError as error:
        return (
            f"CPU seconds are not counted here: the kernel refuses perf_event_open ({error.strerror or error}). "
            "Where /proc/sys/kernel/perf_event_paranoid is above 2, an administrator can set it to 2; a container may "
            "need the capability PERFMON."
        )
    return None
