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
import re
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import time
from contextlib import nullcontext
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
_NO_SUID, _NO_DEV, _NO_EXEC, _READ_ONLY, _REMOUNT, _BIND = 2, 4, 8, 1, 0x20, 0x1000
#: What a mount was made without stays: the kernel refuses to give it back.
_KEPT = {"nosuid": _NO_SUID, "nodev": _NO_DEV, "noexec": _NO_EXEC}
_SET_NO_NEW_PRIVS, _SET_CHILD_SUBREAPER, _CAPBSET_DROP = 38, 36, 24
_libc = ctypes.CDLL(None, use_errno=True)
_MEMORY_OF_STATUS = re.compile(rb"^Vm(?:RSS|PTE):\s+(\d+) kB$", re.MULTILINE)
_THREADS_OF_STATUS = re.compile(rb"^Threads:\s+(\d+)$", re.MULTILINE)
#: Open files of one process, which the kernel counts; and of all of a submission's, which the keeper counts: a full
#: buffer of a socket is up to half a MiB that no process shows.
_OPEN_FILES, _OPEN_FILES_TOGETHER = 512, 2048


def _check(code: int, what: str) -> None:
    if code != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def enter_namespaces(options: dict[str, Any]) -> None:
    """Own user, process, mount, network and IPC namespaces, private empty temporary folders, nothing else writable."""
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(_NEW_USER | _NEW_PID | _NEW_NS | _NEW_NET | _NEW_IPC | _NEW_UTS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    make_read_only()
    size = f"size={options['disk_mib']}m,nr_inodes=20000,mode=1777".encode()
    for folder in options["private"]:
        _check(_libc.mount(b"tmpfs", folder.encode(), b"tmpfs", _NO_SUID | _NO_DEV, size), f"mount {folder}")


def make_read_only() -> None:
    """Every mount, ``/proc`` and single devices among them.

    To the kernel a submission under a grader that root started is still root: it could set ``/proc/sys``, or change
    the mode of the machine's ``/dev/null``.
    """
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        mounts = [line.split()[4:6] for line in file]
    for place, words in mounts:
        given = words.split(",")
        if "ro" not in given:
            flags = _REMOUNT | _BIND | _READ_ONLY | sum(flag for word, flag in _KEPT.items() if word in given)
            where = os.fsencode(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), place))
            # What lies under another mount cannot be named, and needs not be.
            if _libc.mount(None, where, None, flags, None) != 0 and os.path.ismount(where):
                raise OSError(ctypes.get_errno(), f"remount {place}")


def drop_privileges(options: dict[str, Any]) -> None:
    """No capability, no way to get one back through a set-uid program, and none of the system calls that lead
    around a limit. Without a network namespace no socket can be opened at all."""
    from autograder.sandbox import reachable, syscalls

    _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    if options["isolation"] == "user":
        reachable.open_up(options["closed"])
        os.setgroups([])
        os.setgid(options["uid"])
        os.setuid(options["uid"])
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)())
    syscalls.install(syscalls.FAMILIES_OF_A_NAMESPACE if options["isolation"] == "bubblewrap" else ())


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
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
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
    if options["isolation"] == "user":
        sweep(options["uid"])
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


def sweep(uid: int) -> None:
    """Remove what the submissions' user left in the folders that anybody may write to."""
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        try:
            left = [entry for entry in os.scandir(folder) if entry.stat(follow_symlinks=False).st_uid == uid]
        except OSError:
            continue
        for entry in left:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                try:
                    os.unlink(entry.path)
                except OSError:
                    continue


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
    """A descriptor that forks share, whatever opened it, would be a way from one submission to the next: even the
    flags and locks of a null device are remembered."""
    os.closerange(3, wire)
    os.closerange(wire + 1, 1024)
    own_null_device()


def own_null_device() -> None:
    """Standard input, output and error go nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)


def run(connection: socket.socket, shell: Any, namespace: dict[str, Any], options: dict[str, Any]) -> None:
    """Become the process that runs the student's code; never returns."""
    from autograder.sandbox import child, forbidden
    from autograder.sandbox import shell as shells

    signal.signal(signal.SIGINT, signal.default_int_handler)
    close_all_but(connection.fileno())
    os.chdir(options["home"])
    for name in ("HOME", "TMPDIR"):
        os.environ[name] = options["home"]
    set_limits(options)
    drop_privileges(options)
    sys.path.append(options["home"])
    # Only the first process of its own namespace may stop all others.
    alone = forbidden.others_stopped if options["isolation"] == "bubblewrap" and os.getpid() == 1 else nullcontext
    runner = child.Runner(
        namespace, _SocketChannel(connection), lambda source, label: shells.run_cell(shell, source, label), alone
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
    from autograder.sandbox import child, forbidden, otter_client, syscalls  # noqa: F401
    from autograder.sandbox import shell as shells

    otter_client.install()
    forbidden.preload()
    forbidden.install(programs=True)
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
    own_null_device()
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
