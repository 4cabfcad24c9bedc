"""One submission leaves messages wherever it can; another, later or at the same moment, looks for them."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from autograder.lab import Lab
from autograder.sandbox import launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from tests.attacks.conftest import Grader
from tests.sandbox.conftest import Cell

needs_namespaces = pytest.mark.skipif(
    launch.unavailable("bubblewrap") is not None, reason="without namespaces the folders of the machine are shared"
)

WAYS = """
import builtins, ctypes, fcntl, os, socket, sys
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)
PLACES = ["/dev", "/dev/shm", "/dev/pts", "/tmp", "/var/tmp", "/run", "/kit", os.environ["HOME"], "/proc/1/cwd"]
MARK = "message-between-submissions"
"""
LEAVE = """
def leave():
    left = []
    builtins.MARK = np.MARK = sys.modules["json"].MARK = MARK
    os.environ[MARK] = MARK
    for place in PLACES:
        try:
            with open(f"{place}/{MARK}", "w") as file: file.write(MARK)
            left.append(place)
        except OSError: pass
    for path in ("/dev/null", "/dev/zero", "/dev/pts/ptmx", "/dev", "/proc/uptime"):
        try: os.utime(path, (12345, 12345))
        except OSError: pass
    for descriptor in range(3):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
            fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError: pass
    for ring in (-3, -4, -5):
        libc.syscall(248, b"user", MARK.encode(), b"x", 1, ring)
    libc.shmget(0x41747431, 4096, 0o1666)
    global served
    served = []
    for kind in (socket.AF_UNIX, socket.AF_INET):
        server = socket.socket(kind)
        try:
            server.bind(f"\\0{MARK}" if kind == socket.AF_UNIX else ("127.0.0.1", 45871))
            server.listen(); served.append(server)
        except OSError: pass
    return left
"""
SEEK = """
def seek():
    found = [m.__name__ for m in (builtins, np, sys.modules["json"]) if hasattr(m, "MARK")]
    found += [MARK] if MARK in os.environ else []
    found += [place for place in PLACES if os.path.exists(f"{place}/{MARK}")]
    for path in ("/dev/null", "/dev/zero", "/dev/pts/ptmx", "/dev", "/proc/uptime"):
        if os.stat(path).st_mtime == 12345: found.append(path)
    for descriptor in range(3):
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK): found.append("flags")
        if fcntl.fcntl(descriptor, fcntl.F_GETOWN): found.append("owner")
    for ring in (-3, -4, -5):
        if libc.syscall(250, 10, ring, b"user", MARK.encode(), 0) > 0: found.append("key")
    if libc.shmget(0x41747431, 4096, 0) != -1: found.append("shared memory")
    for kind, where in ((socket.AF_UNIX, f"\\0{MARK}"), (socket.AF_INET, ("127.0.0.1", 45871))):
        try:
            socket.create_connection(where, 0.3) if kind == socket.AF_INET else socket.socket(kind).connect(where)
            found.append("server")
        except OSError: pass
    for process in os.listdir("/proc"):
        if process.isdigit() and MARK in open(f"/proc/{process}/comm").read(): found.append("name of a process")
    return found
"""


def session(grader: Grader, stack: ExitStack, source: str) -> Lab:
    return Lab(stack.enter_context(Session(grader.sandbox, [Cell(WAYS + source, "cell 1")], {})), seconds=20)


@needs_namespaces
def test_nothing_of_one_submission_is_there_for_the_next(grader: Grader) -> None:
    with ExitStack() as stack:
        assert session(grader, stack, LEAVE).leave() != [], "nothing could be left, so this proves nothing"
    with ExitStack() as stack:
        assert session(grader, stack, SEEK).seek() == []


@needs_namespaces
def test_nothing_of_one_submission_is_there_for_another_at_the_same_moment(grader: Grader) -> None:
    with ExitStack() as stack:
        assert session(grader, stack, LEAVE).leave() != []
        assert session(grader, stack, SEEK).seek() == []


@needs_namespaces
def test_a_submission_finds_what_it_left_itself(grader: Grader) -> None:
    with ExitStack() as stack:
        lab = session(grader, stack, LEAVE + SEEK)
        lab.leave()
        assert {"builtins", "/dev/shm", "flags", "server"} <= set(lab.seek())


NEIGHBOUR = """
import glob, os
open("solution.py", "w").write("x")
open("/tmp/attnlab-left-by-a-neighbour", "w").write("x")
def there(): return [os.getuid(), os.getpid(), os.getcwd(), os.path.exists("/tmp/attnlab-left-by-a-neighbour")]
"""
PRYING = """
import os, signal
def pry(process, home):
    found = [os.getuid()]
    for attempt in (lambda: os.listdir(home), lambda: open(f"{home}/solution.py").read(),
                    lambda: os.kill(process, signal.SIGKILL)):
        try: found.append(repr(attempt()))
        except OSError: pass
    return found
"""


@pytest.mark.skipif(launch.unavailable("user") is not None, reason="running as another user needs root")
def test_two_sandboxes_run_submissions_as_two_users() -> None:
    """Neither reads the other's files nor stops it, and the end of one takes nothing of the other's away."""
    limits: dict[str, int | float] = {"memory_mib": 300, "processes": 40}
    with Sandbox("user", limits) as one, Sandbox("user", limits) as two, ExitStack() as stack:
        lab = Lab(stack.enter_context(Session(one, [Cell(NEIGHBOUR, "cell 1")], {})), seconds=20)
        user, process, home, _ = lab.there()
        with Session(two, [Cell(PRYING, "cell 1")], {}) as prying:
            found = Lab(prying, seconds=20).pry(process, home)
        assert len(found) == 1 and found[0] != user
        assert lab.there() == [user, process, home, True]
