"""The warm parent: a process that has imported what submissions import, and forks one child for each.

It holds nothing secret: an empty environment, no descriptor but the control socket. For each request on the
control socket it forks a *keeper*, which moves into namespaces of its own (where that is possible), forks the
*runner* that will run the student's code, and then watches it: memory, processes, the order to interrupt or
kill. When the runner is gone the kernel takes everything it left in the namespaces with it.

Run as ``python -I warm.py FD OPTIONS`` inside the sandbox; not imported by the grader.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from typing import Any

MEBIBYTE = 2**20
_NEW_NS, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    0x20000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_NO_SUID, _NO_DEV = 2, 4
_SET_NO_NEW_PRIVS, _SET_CHILD_SUBREAPER, _CAPBSET_DROP = 38, 36, 24
_libc = ctypes.CDLL(None, use_errno=True)


def _check(code: int, what: str) -> None:
    if code != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def enter_namespaces(options: dict[str, Any]) -> None:
    """Own user, process, mount, network and IPC namespaces, and private empty temporary folders."""
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(_NEW_USER | _NEW_PID | _NEW_NS | _NEW_NET | _NEW_IPC | _NEW_UTS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    size = f"size={options['disk_mib']}m,nr_inodes=20000,mode=1777".encode()
    for folder in options["private"]:
        _check(_libc.mount(b"tmpfs", folder.encode(), b"tmpfs", _NO_SUID | _NO_DEV, size), f"mount {folder}")


def drop_privileges() -> None:
    """No capability, and no way to get one back through a set-uid program."""
    _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)())


def set_limits(options: dict[str, Any]) -> None:
    """What the kernel can refuse by itself; the keeper watches the rest."""
    with open("/proc/self/statm", encoding="ascii") as file:
        data_pages = int(file.read().split()[5])
    memory = data_pages * resource.getpagesize() + options["memory_mib"] * MEBIBYTE
    files = options["file_mib"] * MEBIBYTE
    for what, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_CPU, int(options["cpu_seconds"])),
        (resource.RLIMIT_NPROC, options["processes"]),
    ):
        if what == resource.RLIMIT_NPROC and options["isolation"] == "none":
            continue  # it counts the grader's own processes too
        if what == resource.RLIMIT_DATA and options["device"] == "cuda":
            continue  # CUDA reserves far more than it uses; the keeper watches what is really there
        resource.setrlimit(what, (limit, limit))


# ---- the keeper
def _tree(root: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, todo = [], [root]
    while todo:
        process = todo.pop()
        found.append(process)
        todo += children.get(process, [])
    return found


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            fields = file.read().split()
        return int(fields[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


def spent(own: int) -> float:
    """CPU seconds of everything below the keeper, as the kernel counts them; nothing in there can stop this clock."""
    seconds = 0.0
    for process in _tree(own):
        if process == own:
            continue
        try:
            # The clock of another process (clock_getcpuclockid): all its threads, to the nanosecond.
            seconds += time.clock_gettime((~process << 3) | 2)
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            # Its children that have ended and were waited for, in ticks.
            seconds += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            continue
    return seconds


def over_limit(own: int, baseline: int, options: dict[str, Any]) -> str | None:
    """Which limit the processes below the keeper are over, if any."""
    processes = [p for p in _tree(own) if p != own]
    if len(processes) > options["processes"]:
        return "processes"
    # Pages that are still shared with the warm parent are not the submission's.
    used = sum(max(0, _resident(p) - baseline) for p in processes)
    return "memory" if used > options["memory_mib"] * MEBIBYTE else None


def keep(runner: int, lifeline: socket.socket, options: dict[str, Any]) -> None:
    """Watch the runner until it is gone, then report its end on the lifeline and leave."""
    own, baseline, reason = os.getpid(), _resident(os.getpid()), "ended"
    watched = select.poll()
    watched.register(lifeline, select.POLLIN)
    ended = os.pidfd_open(runner)
    watched.register(ended, select.POLLIN)
    gone = False
    while not gone:
        for descriptor, _events in watched.poll(50):
            if descriptor == ended:
                gone = True
                break
            order = lifeline.recv(1)
            if order == b"i":
                os.kill(runner, signal.SIGINT)
            elif order == b"t":
                lifeline.sendall(struct.pack(">d", spent(own)))
            else:
                reason = "killed" if reason == "ended" else reason
                kill(runner, own)
                if not order:
                    watched.unregister(lifeline)
        if not gone and reason == "ended" and (over := over_limit(own, baseline, options)):
            reason = over
            kill(runner, own)
    kill(runner, own)
    _, status = os.waitpid(runner, 0)
    try:
        while os.waitpid(-1, 0):
            pass
    except ChildProcessError:
        pass
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


def kill(runner: int, own: int) -> None:
    """End the runner; the kernel ends its namespace. Without one, each descendant is ended by hand."""
    for _ in range(20):
        victims = [p for p in _tree(own) if p != own] or [runner]
        for process in victims:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        if len(victims) <= 1:
            return


# ---- the runner
class _SocketChannel:
    """The wire of one submission."""

    def __init__(self, connection: socket.socket) -> None:
        from autograder import wire

        self._wire = wire
        self._receive, self._send = connection.recv_into, connection.sendall

    def send(self, message: Any) -> None:
        self._send(self._wire.pack(message))

    def receive(self) -> Any:
        length = self._wire.LENGTH.unpack(self._exactly(self._wire.LENGTH.size))[0]
        return self._wire.unpack_request(self._exactly(length))

    def _exactly(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            got = self._receive(view)
            if not got:
                os._exit(0)
            view = view[got:]
        return data


def close_all_but(wire: int) -> None:
    """A descriptor that forks share, whatever opened it, would be a way from one submission to the next."""
    os.closerange(3, wire)
    os.closerange(wire + 1, 1024)


def run(connection: socket.socket, shell: Any, namespace: dict[str, Any], options: dict[str, Any]) -> None:
    """Become the process that runs the student's code; never returns."""
    from autograder.sandbox import child
    from autograder.sandbox import shell as shells

    signal.signal(signal.SIGINT, signal.default_int_handler)
    close_all_but(connection.fileno())
    os.chdir(options["home"])
    for name in ("HOME", "TMPDIR"):
        os.environ[name] = options["home"]
    set_limits(options)
    if options["isolation"] == "user":
        os.setgroups([])
        os.setgid(options["uid"])
        os.setuid(options["uid"])
    drop_privileges()
    sys.path.append(options["home"])
    runner = child.Runner(
        namespace, _SocketChannel(connection), lambda source, label: shells.run_cell(shell, source, label)
    )
    while True:
        try:
            runner.serve()
        except KeyboardInterrupt:
            continue
        except BaseException:
            os._exit(1)


def fork_submission(
    control: socket.socket,
    wire_end: int,
    lifeline_end: int,
    shell: Any,
    namespace: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """One fork for one submission; returns in the warm parent only."""
    if os.fork() != 0:
        os.close(wire_end)
        os.close(lifeline_end)
        return
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        lifeline = socket.socket(fileno=lifeline_end)
        _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if options["isolation"] == "bubblewrap":
            enter_namespaces(options)
        runner = os.fork()
        if runner == 0:
            lifeline.close()
            run(socket.socket(fileno=wire_end), shell, namespace, options)
        os.close(wire_end)
        keep(runner, lifeline, options)
    except BaseException as error:
        print(f"keeper: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(0)


def prepare(options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Import what submissions import, once; set one BLAS thread."""
    sys.path.insert(0, options["kit"])
    import numpy  # noqa: F401

    for name in options["preload"]:
        try:
            __import__(name)
        except ImportError:
            continue
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    from autograder.sandbox import child  # noqa: F401
    from autograder.sandbox import shell as shells

    shell, namespace = shells.make_shell()
    # The first cell of each kind is slow (IPython imports what it needs); the forks inherit it done.
    # None of them may await: the event loop's descriptors would be shared by all forks.
    for source in ("%%time\npass", "import asyncio", "print(end='')", "raise ValueError"):
        shells.run_cell(shell, source, "warm-up")
    namespace.pop("asyncio", None)
    # Otherwise the first collection in each fork walks all of torch, and copies its pages: 0.1 s.
    gc.collect()
    gc.freeze()
    return shell, namespace


def main() -> None:
    descriptor, options = int(sys.argv[1]), json.loads(sys.argv[2])
    control = socket.socket(fileno=descriptor)
    os.environ.update(options["environment"])
    shell, namespace = prepare(options)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.sendall(b"ready")
    while True:
        message, descriptors, _flags, _address = socket.recv_fds(control, 4096, 2)
        if not message:
            return
        home = json.loads(message)
        fork_submission(control, descriptors[0], descriptors[1], shell, namespace, {**options, **home})


if __name__ == "__main__":
    main()
