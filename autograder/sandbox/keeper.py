"""Limits of one submission: what the kernel refuses by itself, and the keeper, which watches the rest.

The keeper is the parent of the process that runs the student's code, outside of its process namespace. It ends
everything below it when a limit is passed or the grader says so, and then reports how it went.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
from typing import Any

MEBIBYTE = 2**20
_MEMORY_OF_STATUS = re.compile(rb"^Vm(?:RSS|PTE):\s+(\d+) kB$", re.MULTILINE)
_THREADS_OF_STATUS = re.compile(rb"^Threads:\s+(\d+)$", re.MULTILINE)
#: Open files of one process, which the kernel counts; and of all of a submission's, which the keeper counts: a full
#: buffer of a socket is up to half a MiB that no process shows.
_OPEN_FILES, _OPEN_FILES_TOGETHER = 512, 2048
#: How often the submission's other processes are told to stop, a millisecond apart.
MAX_ROUNDS = 300
#: How often the limits are looked at.
LOOK_SECONDS = 0.05
#: Seconds by which two readings of the same CPU time differ at most where one of them is in ticks, of a 100th each.
CLOSE = 0.03


def private_bytes() -> int:
    """Bytes of private memory that this process has mapped: what ``RLIMIT_DATA`` counts."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def set_limits(options: dict[str, Any]) -> None:
    """What the kernel can refuse by itself; the keeper watches the rest."""
    memory = private_bytes() + options["memory_mib"] * MEBIBYTE
    files = options["file_mib"] * MEBIBYTE
    for what, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CPU, int(options["cpu_seconds"])),
        (resource.RLIMIT_NPROC, options["processes"]),
    ):
        if what == resource.RLIMIT_NPROC and options["isolation"] == "none":
            continue  # it counts the grader's own processes too
        if what == resource.RLIMIT_DATA and options["device"] == "cuda":
            continue  # CUDA reserves far more than it uses; the keeper watches what is really there
        resource.setrlimit(what, (limit, limit))


def _tree(root: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat(int(entry))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry))
    found, todo = [], [root]
    while todo:
        process = todo.pop()
        found.append(process)
        todo += children.get(process, [])
    return found


def _used(process: int) -> tuple[int, int]:
    """Bytes of memory with the page tables that huge empty mappings need, and threads."""
    try:
        with open(f"/proc/{process}/status", "rb") as file:
            status = file.read()
    except OSError:
        return 0, 0
    threads = _THREADS_OF_STATUS.search(status)
    return 1024 * sum(map(int, _MEMORY_OF_STATUS.findall(status))), int(threads[1]) if threads else 0


def _descriptors(process: int) -> int:
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0


def _clock(process: int) -> float:
    """CPU seconds of all its threads, to the nanosecond (clock_getcpuclockid)."""
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def _ended_children(process: int) -> float:
    """CPU seconds of its children that have ended and were waited for, in ticks."""
    fields = _stat(process)
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _ignores_children(process: int) -> bool:
    """Whether it ignores SIGCHLD: then nobody waits for its children, and their time is added to nothing."""
    fields = _stat(process)
    return bool(fields) and bool(int(fields[30]) & 1 << (signal.SIGCHLD - 1))


def _stat(process: int) -> list[bytes]:
    """What the kernel says of it behind its name: state, parent and so on; nothing of one that is gone.

    Without a file object, which takes three times as long: there may be hundreds of processes, and they are read often.
    """
    try:
        descriptor = os.open(f"/proc/{process}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _state(process: int) -> bytes:
    return (_stat(process) or [b"X"])[0]


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            continue


class Others:
    """What the runner started: counted together with it, and stopped while a call is watched, so that only the runner
    can do the work of that call.

    The runner could wake it again, or start more: that shows in CPU time, which is the kernel's count.
    """

    def __init__(self, runner: int, own: int) -> None:
        self._runner, self._own = runner, own
        self._last, self._found = b"", list[int]()
        self._held: dict[int, float] = {}
        self._together = 0.0

    def spent(self) -> float:
        """CPU seconds of the runner and all that it started, as the kernel counts them; NaN where something in there
        keeps the kernel from counting."""
        others = self._now()
        if any(map(_ignores_children, [self._runner, *others])):
            return math.nan
        return _clock(self._runner) + self._spent(others)

    def hold(self) -> None:
        """Stop all of it."""
        for _ in range(MAX_ROUNDS):
            others = self._now()
            awake = [process for process in others if _state(process) not in (b"T", b"t", b"Z", b"X")]
            if not awake:
                break
            _signal(awake, signal.SIGSTOP)
            time.sleep(0.001)
        self._held, self._together = _alive(others), self._spent(others)

    def release(self) -> bool:
        """Let it go on; whether any of it worked meanwhile."""
        others = self._now()
        now, worked = _alive(others), self._spent(others) - self._together
        _signal(others, signal.SIGCONT)
        known = self._held.keys() <= now.keys() and all(now[p] == self._held.get(p, 0.0) for p in now)
        # One that had ended before may have been waited for meanwhile: then its time is known in ticks only.
        return not known or worked > CLOSE or _ignores_children(self._runner)

    def _now(self) -> list[int]:
        with open("/proc/loadavg", "rb") as file:
            last = file.read().split()[-1]
        # The process that was started last here is the one that it was: there is none that was not known.
        if last != self._last or self._found:
            self._last = last
            self._found = [p for p in _tree(self._own) if p not in (self._runner, self._own)]
        return self._found

    def _spent(self, others: list[int]) -> float:
        """CPU seconds of all that was started, ended or not."""
        ended = _ended_children(self._runner)
        return ended + sum(_clock(process) + _ended_children(process) for process in others)


def _alive(processes: list[int]) -> dict[int, float]:
    """CPU seconds of each that has not ended."""
    return {process: _clock(process) for process in processes if _state(process) not in (b"Z", b"X")}


def over_limit(own: int, baseline: int, options: dict[str, Any]) -> str | None:
    """Which limit the processes below the keeper are over, if any."""
    processes = [p for p in _tree(own) if p != own]
    used = [_used(p) for p in processes]
    # The kernel does not limit the threads of a submission that root started.
    if sum(max(1, threads) for _, threads in used) > options["processes"]:
        return "processes"
    few = _OPEN_FILES_TOGETHER // _OPEN_FILES
    if len(processes) > few and sum(map(_descriptors, processes)) > _OPEN_FILES_TOGETHER:
        return "files"
    # Pages that are still shared with the warm parent are not the submission's.
    memory = sum(max(0, size - baseline) for size, _ in used)
    return "memory" if memory > options["memory_mib"] * MEBIBYTE else None


def keep(runner: int, lifeline: socket.socket, options: dict[str, Any]) -> None:
    """Watch the runner until it is gone, then report its end on the lifeline and leave."""
    own, baseline, reason = os.getpid(), _used(os.getpid())[0], "ended"
    watched = select.poll()
    watched.register(lifeline, select.POLLIN)
    ended = os.pidfd_open(runner)
    watched.register(ended, select.POLLIN)
    others, gone, look = Others(runner, own), False, time.monotonic()
    while not gone:
        for descriptor, _events in watched.poll(1000 * LOOK_SECONDS):
            if descriptor == ended:
                gone = True
                break
            order = lifeline.recv(1)
            if order == b"i":
                os.kill(runner, signal.SIGINT)
            elif order == b"t":
                lifeline.sendall(struct.pack(">d", others.spent()))
            elif order == b"h":
                others.hold()
                lifeline.sendall(struct.pack(">d", 0))
            elif order == b"c":
                lifeline.sendall(struct.pack(">d", others.release()))
            else:
                reason = "killed" if reason == "ended" else reason
                kill(runner, own)
                if not order:
                    watched.unregister(lifeline)
        # Orders may come by the thousand, and a look takes longer than all that most of them ask for.
        if not gone and reason == "ended" and time.monotonic() >= look:
            look = time.monotonic() + LOOK_SECONDS
            if over := over_limit(own, baseline, options):
                reason = over
                kill(runner, own)
    kill(runner, own)
    _, status = os.waitpid(runner, 0)
    try:
        while os.waitpid(-1, 0):
            pass
    except ChildProcessError:
        pass
    if options["isolation"] == "user":
        sweep(options["uid"], options["shared"])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = {
        "reason": reason,
        "status": status,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_kib": usage.ru_maxrss,
    }
    try:
        lifeline.sendall(json.dumps(report).encode())
    except OSError:
        pass


def sweep(uid: int, folders: list[str]) -> None:
    """Remove what the submissions' user left in folders that anybody may write to."""
    for folder in folders:
        try:
            left = [entry for entry in os.scandir(folder) if entry.stat(follow_symlinks=False).st_uid == uid]
        except OSError:
            continue
        for entry in left:
            if entry.is_dir(follow_symlinks=False):
                remove(entry.path)
            else:
                try:
                    os.unlink(entry.path)
                except OSError:
                    continue


def remove(folder: str) -> None:
    """A folder and all that is in it, as far as that can be removed.

    What a submission left may be nested deeper than Python can follow, or than there are descriptors for.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        with contextlib.suppress(OSError):
            subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)


def kill(runner: int, own: int) -> None:
    """End the runner; the kernel ends its namespace. Without one, each descendant is ended by hand."""
    for _ in range(20):
        victims = [p for p in _tree(own) if p != own] or [runner]
        _signal(victims, signal.SIGKILL)
        if len(victims) <= 1:
            return
