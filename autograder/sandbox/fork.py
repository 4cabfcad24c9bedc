"""The oracle's end of a sandbox: one warm parent, forks of it, and the wire to each.

Everything that is read here is hostile: sizes are checked before memory is given, every wait has a deadline,
and a fork that breaks the protocol is ended.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from typing import Any

from autograder import failures, wire
from autograder.sandbox import keeper, launch

#: Seconds for a fork to come up or report its end; it takes some 20 ms, or more on a machine that is busy.
GRACE = 10.0
#: Seconds after a deadline at which a wait may end.
LATE = 0.2
#: Seconds that an interrupted cell has to come back before it is killed.
INTERRUPT = 1.5

#: Times that a warm parent is started for one fork.
STARTS = 3

#: What a submission may use; ``course.toml`` may say otherwise.
LIMITS: dict[str, int | float] = {
    "memory_mib": 2048,
    "processes": 256,
    "file_mib": 64,
    "disk_mib": 64,
    "cpu_seconds": 600,
}

UNCOUNTED = (
    "Your code ignores the end of processes that it starts (SIGCHLD), so that their work is counted nowhere, and times "
    "say nothing. The points wait."
)

_ENDED = {
    "memory": failures.OutOfMemory("It used more memory than a submission may, and was stopped."),
    "processes": failures.Died("It started more processes or threads than a submission may, and was stopped."),
    "files": failures.Died("It opened more files than a submission may, and was stopped."),
}


class Fork:
    """One process that runs one submission. ``exchange`` sends a request and waits for its reply."""

    def __init__(self, connection: socket.socket, lifeline: socket.socket, home: str | None = None) -> None:
        self._wire, self._lifeline, self._home = connection, lifeline, home
        self._buffer = bytearray()
        self._timeout = 0.0
        self.alive = True
        self.cpu_seconds = 0.0
        self.peak_bytes = 0

    # ---- the wire
    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        """One request and its reply; calls back meanwhile. Raises a ``SubmissionFault`` and is then dead."""
        try:
            self._send(wire.pack(request), deadline)
            return self.wait_for(request.id, deadline, on_callback)
        except failures.TimedOut:
            raise
        except (failures.Unreadable, failures.Died):
            self.end()
            raise

    def wait_for(
        self, number: int, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        """The reply to a request that was sent. A timeout leaves the fork alive; the caller decides."""
        while True:
            try:
                reply = wire.unpack_reply(self._receive(deadline))
            except wire.WireError as error:
                raise failures.Unreadable("What came back was not an answer that can be read.") from error
            if isinstance(reply, wire.Callback):
                self._send(wire.pack(on_callback(reply)), deadline)
            elif reply.id == number:
                return reply
            else:
                raise failures.Unreadable("An answer came back to a question that nobody asked.")

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._set_timeout(deadline)
            try:
                view = view[self._wire.send(view) :]
            except TimeoutError:
                raise failures.TimedOut("It did not come back in time.") from None
            except OSError:
                raise self._why_ended() from None

    def _receive(self, deadline: float) -> bytes:
        size = wire.LENGTH.size
        self._fill(size, deadline)
        end = size + wire.LENGTH.unpack_from(self._buffer)[0]
        if end > size + wire.MAX_FRAME:
            raise failures.Unreadable("It sent far more than an answer can hold.")
        self._fill(end, deadline)
        body = bytes(self._buffer[size:end])
        del self._buffer[:end]
        return body

    def _fill(self, size: int, deadline: float) -> None:
        """Read until the buffer holds ``size`` bytes; what arrived before a timeout is kept."""
        while len(self._buffer) < size:
            self._set_timeout(deadline)
            try:
                # A small frame comes in one piece, with its length.
                data = self._wire.recv(max(wire.SMALL_FRAME, min(size - len(self._buffer), 2**20)))
            except TimeoutError:
                raise failures.TimedOut("It did not come back in time.") from None
            except OSError:
                data = b""
            if not data:
                raise self._why_ended()
            self._buffer += data

    def _set_timeout(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise failures.TimedOut("It did not come back in time.")
        # Setting it is a call of the system for each of thousands of messages, and most have the deadline of the last.
        if not left <= self._timeout <= left + LATE:
            self._timeout = left
            self._wire.settimeout(left)

    # ---- life and death
    def interrupt(self) -> None:
        """Ask the runner to stop what it does (``KeyboardInterrupt`` there)."""
        with contextlib.suppress(OSError):
            self._lifeline.send(b"i")

    def spent(self) -> float:
        """CPU seconds so far of the runner and all that it started, counted by the kernel and read by the keeper.

        Unlike wall time it does not grow while other processes have the core. Raises ``failures.Died``, and
        ``failures.Inconclusive`` where the submission keeps the kernel from counting.
        """
        seconds = self._ask(b"t")
        if math.isnan(seconds):
            raise failures.Inconclusive(UNCOUNTED)
        return seconds

    def hold(self) -> None:
        """Stop all that the runner started. Raises ``failures.Died``."""
        self._ask(b"h")

    def release(self) -> bool:
        """Let it go on; whether any of it worked meanwhile. Raises ``failures.Died``."""
        return bool(self._ask(b"c"))

    def _ask(self, order: bytes) -> float:
        data = b""
        try:
            self._lifeline.send(order)
            self._lifeline.settimeout(GRACE)
            while len(data) < 8 and (chunk := self._lifeline.recv(8 - len(data))):
                data += chunk
            return float(struct.unpack(">d", data)[0])
        except (OSError, struct.error):
            raise self._why_ended() from None

    def end(self) -> dict[str, Any]:
        """Kill the fork and all that it started; its report (reason, cpu, peak memory)."""
        if not self.alive:
            return {}
        self.alive = False
        report: dict[str, Any] = {}
        data = b""
        try:
            with contextlib.suppress(OSError):
                self._lifeline.send(b"k")
            # Where the keeper is gone before it reads the order, its report is followed by a reset, not an end.
            with contextlib.suppress(OSError):
                self._lifeline.settimeout(GRACE)
                while chunk := self._lifeline.recv(4096):
                    data += chunk
            with contextlib.suppress(ValueError):
                report = json.loads(data or b"{}")
        finally:
            self._wire.close()
            self._lifeline.close()
            if self._home is not None:
                keeper.remove(self._home)
        self.cpu_seconds = float(report.get("cpu", 0.0))
        self.peak_bytes = int(report.get("peak_kib", 0)) * 1024
        return report

    def _why_ended(self) -> failures.SubmissionFault:
        reason = self.end().get("reason", "ended")
        return _ENDED.get(reason) or failures.Died("The process that ran it ended: it was closed, killed or crashed.")


class Sandbox:
    """A warm parent. ``fork`` gives a fresh process for a submission; ``close`` ends everything."""

    def __init__(
        self,
        isolation: launch.Isolation,
        limits: dict[str, int | float] | None = None,
        device: launch.Device = "cpu",
    ) -> None:
        self.isolation, self._device = isolation, device
        self._limits = {**LIMITS, **(limits or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folder: str | None = None
        self._user: launch.User | None = None
        self._lost = 0

    def lost(self) -> int:
        """How many warm parents ended by themselves so far: whatever ran in them then is nobody's fault."""
        gone = False
        if self._process is not None and self._control is not None:
            # It never writes after it is ready: what can be read is the end, before the process is waited for.
            gone = bool(select.select([self._control], [], [], 0)[0]) or self._process.poll() is not None
        return self._lost + gone

    def fork(self) -> Fork:
        """A fresh process. Raises ``launch.NoIsolation`` where the sandbox cannot be started at all."""
        for attempt in range(1, STARTS + 1):
            if self._process is None:
                if self.isolation == "user" and self._user is None:
                    self._user = launch.claim_user()
                try:
                    self._process, self._control, self._folder = launch.start(
                        self.isolation, self._limits, self._device, self._user
                    )
                except launch.NoIsolation:
                    # It may have been killed before it was ready; one that cannot start says why each time.
                    if attempt == STARTS:
                        raise
                    continue
            assert self._control is not None
            ours, theirs = socket.socketpair()
            lifeline, keeper_end = socket.socketpair()
            home = launch.fresh_home(self._folder, self._user)
            # The fork keeps to the cores of whoever asks for it, wherever the warm parent was started.
            wanted = {"cores": sorted(os.sched_getaffinity(0)), **({"home": home} if home else {})}
            request = json.dumps(wanted).encode()
            try:
                socket.send_fds(self._control, [request], [theirs.fileno(), keeper_end.fileno()])
            except OSError:
                # Something killed the warm parent; a new one knows nothing of what came before.
                self._lost += 1
                self.close()
                continue
            finally:
                theirs.close()
                keeper_end.close()
            return Fork(ours, lifeline, home)
        raise launch.NoIsolation("The sandbox ends whenever it is started; `autograder doctor` shows what it lacks.")

    def close(self) -> None:
        """End the warm parent and every fork of it."""
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is not None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
        if self._folder is not None:
            keeper.remove(self._folder)
            self._folder = None
        if self._user is not None:
            # The keepers of forks that were still running went with the warm parent.
            keeper.sweep(self._user.uid, launch.writable_by_all())
            self._user.claim.close()
            self._user = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
