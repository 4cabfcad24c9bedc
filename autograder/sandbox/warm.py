"""The warm parent: a process that has imported what submissions import, and forks one child for each.

It holds nothing secret: an empty environment, no descriptor but the control socket. For each request on the
control socket it forks a *keeper*, which moves into namespaces of its own (where that is possible), forks the
*runner* that will run the student's code, and then watches it (``keeper.py``): memory, processes, the order to
interrupt or kill. When the runner is gone the kernel takes everything it left in the namespaces with it.

Run as ``python -I warm.py FD OPTIONS`` inside the sandbox; not imported by the grader.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import re
import signal
import socket
import sys
from typing import Any

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


# ---- the runner
class _SocketChannel:
    """The wire of one submission."""

    def __init__(self, connection: socket.socket) -> None:
        from autograder import wire

        self._wire = wire
        self._receive, self._send = connection.recv, connection.sendall
        self._buffer = bytearray()

    def send(self, message: Any) -> None:
        self._send(self._wire.pack(message))

    def receive(self) -> Any:
        size = self._wire.LENGTH.size
        length = self._wire.LENGTH.unpack(self._exactly(size))[0]
        return self._wire.unpack_request(self._exactly(length))

    def _exactly(self, size: int) -> bytes:
        buffer = self._buffer
        while len(buffer) < size:
            # A small frame comes in one piece, with its length.
            got = self._receive(max(self._wire.SMALL_FRAME, min(size - len(buffer), 2**20)))
            if not got:
                os._exit(0)
            buffer += got
        found = bytes(buffer[:size])
        del buffer[:size]
        return found


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
    from autograder.sandbox import child, keeper
    from autograder.sandbox import shell as shells

    signal.signal(signal.SIGINT, signal.default_int_handler)
    close_all_but(connection.fileno())
    os.chdir(options["home"])
    for name in ("HOME", "TMPDIR"):
        os.environ[name] = options["home"]
    keeper.set_limits(options)
    drop_privileges(options)
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
    from autograder.sandbox import keeper

    if os.fork() != 0:
        os.close(wire_end)
        os.close(lifeline_end)
        return
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            os.sched_setaffinity(0, options["cores"])
        except OSError:
            pass  # it is slower on another core, and nothing else
        lifeline = socket.socket(fileno=lifeline_end)
        _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if options["isolation"] == "bubblewrap":
            enter_namespaces(options)
        runner = os.fork()
        if runner == 0:
            lifeline.close()
            run(socket.socket(fileno=wire_end), shell, namespace, options)
        os.close(wire_end)
        keeper.keep(runner, lifeline, options)
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
    from autograder.sandbox import child, forbidden, keeper, otter_client, reachable, syscalls  # noqa: F401
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
        message, descriptors, _flags, _address = socket.recv_fds(control, 2**16, 2)
        if not message:
            return
        wanted = json.loads(message)
        fork_submission(control, descriptors[0], descriptors[1], shell, namespace, {**options, **wanted})


if __name__ == "__main__":
    main()
