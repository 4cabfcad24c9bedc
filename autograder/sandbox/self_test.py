"""Tries the sandbox from inside, layer by layer: each must be seen to hold, not only to be asked for.

``autograder doctor`` runs it. A layer that does not hold is a sentence; that there is none is an empty list.
"""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import failures
from autograder.lab import Lab
from autograder.sandbox import launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session

#: The student's side: functions that try things.
PROBE = Path(__file__).with_name("self_test_probe.py")
#: Small limits, so that reaching one is quick.
LIMITS: dict[str, int | float] = {"memory_mib": 300, "processes": 40, "file_mib": 8, "disk_mib": 16}
#: Seconds that one attempt has; and for the one that never ends.
SECONDS, SHORT_SECONDS = 30.0, 1.0
ENVIRONMENT_NAME = "AUTOGRADER_SELF_TEST"
#: What the probe calls those things it finds that are no file.
IN_MEMORY = ("a value in memory", "a semaphore", "a message queue")

#: What each isolation promises. A separate user still sees the machine's files and processes.
EVERYWHERE = (
    "time", "memory", "file size", "files left", "memory left", "descriptors", "privileges", "system calls", "network",
    "library functions",
)  # fmt: skip
PROMISED: dict[launch.Isolation, tuple[str, ...]] = {
    "bubblewrap": (
        *EVERYWHERE, "processes", "disk", "environment", "other processes", "home", "files of this machine",
        "read-only system",
    ),
    "user": (*EVERYWHERE, "processes", "environment", "home"),
    "none": tuple(layer for layer in EVERYWHERE if layer not in ("privileges", "files left")),
}  # fmt: skip


class _Cell:
    label = "the self-test"
    source = PROBE.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Broken:
    """A layer that does not hold, and what shows it: the end of a sentence."""

    layer: str
    what: str

    def __str__(self) -> str:
        return f"{self.layer}: {self.what}"


def run(isolation: launch.Isolation) -> list[Broken]:
    """The promised layers that do not hold, a few seconds of work. Raises ``launch.NoIsolation``."""
    promised = PROMISED[isolation]
    found: dict[str, str | None] = {}
    with _canaries(isolation) as canaries, Sandbox(isolation, LIMITS) as sandbox:
        with _session(sandbox) as lab:
            for layer, attempt in _ATTEMPTS.items():
                if layer in promised:
                    found[layer] = _try(attempt, lab, canaries)
        if not {"files left", "memory left"}.isdisjoint(promised):
            # Without isolation the folders are the machine's own, and nothing is to stay there.
            left = _left_over(sandbox, files="files left" in promised)
            found |= {layer: what for layer, what in left.items() if layer in promised}
    return [Broken(layer, what) for layer, what in found.items() if what]


def _left_over(sandbox: Sandbox, *, files: bool) -> dict[str, str | None]:
    """What one submission leaves for the next, by layer."""
    mark = f"left-{secrets.token_hex(6)}"
    try:
        with _session(sandbox) as lab:
            lab.leave(mark, files)
        with _session(sandbox) as lab:
            left = _attempt(lambda: lab.left(mark))
    except failures.SubmissionFault as fault:
        why = f"could not be tried ({fault.message.rstrip('.')})"
        return {"memory left": why, "files left": why}
    memory = [t for t in left if t in IN_MEMORY]
    found = [t for t in left if t not in IN_MEMORY]
    return {
        "memory left": f"the next submission finds what one before it had: {', '.join(memory)}" if memory else None,
        "files left": f"the next submission finds {', '.join(found)}" if found else None,
    }


@dataclass(frozen=True)
class _Canaries:
    """What no submission may find: a value in the grader's environment, a file, a server, and a socket for datagrams.

    ``descriptors``: how many it has: its own, and under ``user`` one for each closed folder that it imports from.
    """

    value: str
    files: list[str]
    port: int
    datagrams: str
    descriptors: int


@contextmanager
def _canaries(isolation: launch.Isolation) -> Iterator[_Canaries]:
    value = secrets.token_hex(12)
    descriptors = 1 + (len(launch.closed_to_others()) if isolation == "user" else 0)
    os.environ[ENVIRONMENT_NAME] = value
    try:
        with (
            tempfile.NamedTemporaryFile("w", suffix=".self-test", encoding="utf-8") as planted,
            socket.create_server(("127.0.0.1", 0)) as server,
            # The name of a socket has room for 107 bytes, which another temporary folder might use up.
            tempfile.TemporaryDirectory(dir="/tmp") as folder,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        ):
            address = str(Path(folder) / "datagrams")
            datagrams.bind(address)
            os.chmod(folder, 0o755)
            os.chmod(address, 0o777)
            planted.write(value)
            planted.flush()
            files = [planted.name, str(launch.PACKAGE / "checks"), str(launch.PACKAGE / "reference"), "/etc/passwd"]
            yield _Canaries(value, files, server.getsockname()[1], address, descriptors)
    finally:
        del os.environ[ENVIRONMENT_NAME]


@contextmanager
def _session(sandbox: Sandbox) -> Iterator[Lab]:
    with Session(sandbox, [_Cell()], {}) as session:
        yield Lab(session, seconds=SECONDS)


def _attempt(call: Callable[[], Any]) -> list[Any]:
    """What an attempt says, as a list; what is no list is a sentence that it could not be tried."""
    answer = call()
    return answer if isinstance(answer, list) else [f"nothing that can be read ({answer!r:.50})"]


def _try(attempt: Callable[[Lab, _Canaries], str | None], lab: Lab, canaries: _Canaries) -> str | None:
    try:
        return attempt(lab, canaries)
    except failures.SubmissionFault as fault:
        return f"could not be tried ({fault.message.rstrip('.')})"


# ---- the layers
def _network(lab: Lab, canaries: _Canaries) -> str | None:
    reached = _attempt(lambda: lab.dial(canaries.port, canaries.datagrams))
    return f"a submission can reach {' and '.join(reached)}" if reached else None


def _environment(lab: Lab, canaries: _Canaries) -> str | None:
    seen = "".join(map(str, _attempt(lab.environments)))
    if "warm.py" not in seen:
        return "could not be tried (no process can be seen at all)"
    return "a submission can read the grader's environment" if canaries.value in seen else None


def _processes_seen(lab: Lab, _: _Canaries) -> str | None:
    own = ("bwrap", "warm.py")
    strangers = [c for c in _attempt(lab.processes) if c and not any(name in c for name in own)]
    opened = _attempt(lab.memory_of_others)
    if opened:
        return "a submission can open the memory of other processes"
    return f"a submission sees other processes of this machine ({len(strangers)})" if strangers else None


def _home(lab: Lab, _: _Canaries) -> str | None:
    files = [f for f in _attempt(lab.home) if f not in (".config", ".ipython", ".cache")]
    return f"it is not empty ({len(files)} entries)" if files else None


def _files(lab: Lab, canaries: _Canaries) -> str | None:
    opened = _attempt(lambda: lab.readable(canaries.files))
    return f"a submission can open {', '.join(opened)}" if opened else None


def _read_only(lab: Lab, _: _Canaries) -> str | None:
    folders = _attempt(lab.writable)
    return f"a submission can write to {', '.join(folders)}" if folders else None


def _descriptors(lab: Lab, canaries: _Canaries) -> str | None:
    count, own = lab.descriptors(), canaries.descriptors
    return None if count == own else f"a submission has {count} open descriptors and should have its own only ({own})"


def _privileges(lab: Lab, _: _Canaries) -> str | None:
    status = lab.status()
    if not isinstance(status, dict) or "CapEff" not in status:
        return "could not be tried (the kernel does not say)"
    held = [name for name in ("CapEff", "CapPrm", "CapBnd") if int(str(status[name]), 16)]
    if held or str(status.get("Uid")) == "0":
        return "a submission holds privileges of the system"
    return None if str(status.get("NoNewPrivs")) == "1" else "a submission may gain privileges by a program"


def _system_calls(lab: Lab, _: _Canaries) -> str | None:
    had = _attempt(lab.namespaces)
    if had:
        return f"a submission can have {', '.join(had)}"
    status = lab.status()
    filtered = isinstance(status, dict) and str(status.get("Seccomp")) == "2"
    return None if filtered else "there is no filter of system calls"


def _memory(lab: Lab, _: _Canaries) -> str | None:
    try:
        lab.eat_memory(2 * int(LIMITS["memory_mib"]))
    except failures.OutOfMemory:
        return None
    return f"a submission got twice the {LIMITS['memory_mib']} MiB that it may have"


def _processes(lab: Lab, _: _Canaries) -> str | None:
    most = int(LIMITS["processes"])
    try:
        started = lab.eat_processes(2 * most)
    except failures.Died:
        return None
    return None if started <= most else f"a submission started {started} processes and may have {most}"


def _file_size(lab: Lab, _: _Canaries) -> str | None:
    one, _all = _attempt(lambda: lab.eat_files(2 * int(LIMITS["file_mib"])))
    return None if one <= LIMITS["file_mib"] else f"a submission wrote a file of {one} MiB"


def _disk(lab: Lab, _: _Canaries) -> str | None:
    _one, together = _attempt(lambda: lab.eat_files(2 * int(LIMITS["disk_mib"])))
    return None if together <= LIMITS["disk_mib"] else f"a submission wrote {together} MiB in all"


def _time(lab: Lab, _: _Canaries) -> str | None:
    short, began = Lab(lab._transport, seconds=SHORT_SECONDS), time.monotonic()
    try:
        short.never()
    except failures.TimedOut:
        took = time.monotonic() - began
        return None if took < SECONDS else f"a call that never ends was ended after {took:.0f} s only"
    return "a call that never ends came back"


def _library(lab: Lab, _: _Canaries) -> str | None:
    try:
        _answer, seen = lab.watched("soft")
    except failures.Raised as error:
        return None if error.type_name in ("ImportError", "ModuleNotFoundError") else f"could not be tried ({error})"
    return None if seen else "a library softmax inside a function was not noticed"


#: In this order; the ones that end the process come last.
_ATTEMPTS: dict[str, Callable[[Lab, _Canaries], str | None]] = {
    "home": _home,
    "network": _network,
    "environment": _environment,
    "other processes": _processes_seen,
    "files of this machine": _files,
    "read-only system": _read_only,
    "descriptors": _descriptors,
    "privileges": _privileges,
    "system calls": _system_calls,
    "library functions": _library,
    "file size": _file_size,
    "disk": _disk,
    "processes": _processes,
    "memory": _memory,
    "time": _time,
}
