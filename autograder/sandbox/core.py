"""One core for a grading and its sandbox.

A check asks the submission some thousand things, and each side waits while the other one works. On one core that is a
switch between two processes. Between two cores every message wakes one that has gone to sleep, which on a virtual
machine costs as much CPU time as all the rest of a grading.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
from collections.abc import Iterator

#: Part of the time of a grading that it may have waited for its core. Beyond, somebody else works there, whom the
#: kernel does not move away: another container's grader, which cannot be seen from here.
CROWDED = 0.25

#: Without a file: the kernel gives a name to one process, and takes it back at its end.
NAME = "\0attnlab-core-{core}"
#: The core of this process, and its claim to it.
_claim: tuple[int, socket.socket] | None = None


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Meanwhile this thread, and what it starts, keeps to a core that no other grader here has; where there is none,
    it goes where it did."""
    global _claim
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if _claim is None or _claim[0] not in allowed:
        _give_up()
        _claim = _claim_one(allowed) if len(allowed) > 1 else None
    if _claim is None:
        yield
        return
    core, begun, waited = _claim[0], time.monotonic(), _waited()
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, allowed)
        if _waited() - waited > CROWDED * (time.monotonic() - begun):
            _give_up()


def _claim_one(allowed: set[int]) -> tuple[int, socket.socket] | None:
    """Any, so that those who cannot see each other seldom meet."""
    for core in random.SystemRandom().sample(sorted(allowed), len(allowed)):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(NAME.format(core=core))
        except OSError:
            claim.close()
            continue
        return core, claim
    return None


def _give_up() -> None:
    global _claim
    if _claim is not None:
        _claim[1].close()
        _claim = None


def _waited() -> float:
    """Seconds for which this thread could have run and did not; 0 where the kernel does not tell."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
