"""A submission being run: its cells in a fork, and a fresh fork when one is lost.

A cell that cannot be interrupted is killed, and the rest goes on in a fresh fork without it; so does a check
whose call killed the fork. Each loss is bounded, so that no submission holds up the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from autograder import failures, wire
from autograder.lab import fault
from autograder.sandbox.fork import INTERRUPT, Fork, Sandbox

#: Fresh forks for one submission. Honest submissions need none. Each costs a replay of the cells, and so many that a
#: function which ends the process in each of its checks takes nothing from the others; time ends it before.
MAX_REVIVALS = 100
#: Seconds of running the cells up to which a fresh fork is taken without need.
QUICK_SETUP = 1.0
#: Calls that may run into their time limit before the rest of the submission is not waited for any more.
MAX_TIMEOUTS = 20
TOO_LONG = "Its calls, and running its cells again, took more than {seconds:g} s together; the rest was not run."


class CellSource(Protocol):
    """What a session needs to know of a cell."""

    @property
    def source(self) -> str: ...

    @property
    def label(self) -> str: ...


@dataclass
class CellProblem:
    """A cell that did not run to its end. ``kind``: error, timeout, died, memory, skipped."""

    label: str
    kind: str
    text: str


@dataclass
class Session:
    """Runs the cells on entry; afterwards it is the ``Transport`` of a ``Lab``."""

    sandbox: Sandbox
    cells: Sequence[CellSource]
    files: dict[str, bytes]
    cell_seconds: float = 20.0
    setup_seconds: float = 90.0
    calls_seconds: float = 300.0
    problems: list[CellProblem] = field(default_factory=list)
    cpu_seconds: float = 0.0
    _fork: Fork | None = None
    _left_out: set[int] = field(default_factory=set)
    _revivals: int = -1
    _timeouts: int = 0
    _number: int = 0
    _active: int = 0
    _setup_took: float = 0.0
    _calls_took: float = 0.0
    _ran: bool = False

    def __enter__(self) -> Session:
        self._revive()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._drop()

    # ---- as a transport
    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        if not self._active:
            self._in_time()
        before = time.monotonic()
        fork = self._ready()
        begun = time.monotonic()
        # The replay of the cells is not part of the call's time.
        deadline += begun - before
        self._active += 1
        try:
            reply = fork.exchange(request, deadline, on_callback)
        except failures.TimedOut:
            self._timeouts += 1
            self._drop()
            raise
        except failures.SubmissionFault:
            self._drop()
            raise
        finally:
            self._active -= 1
            if not self._active:
                self._calls_took += time.monotonic() - begun
        return reply

    def _in_time(self) -> None:
        """Each call has its limit, and each replay of the cells; what stays below them for ever has this one."""
        if self._calls_took > self.calls_seconds:
            raise failures.TimedOut(TOO_LONG.format(seconds=self.calls_seconds))

    def _ready(self) -> Fork:
        """The fork that is running, or a fresh one."""
        if self._fork is None or not self._fork.alive:
            if self._active:
                raise failures.Died("The process that ran it ended.")
            self._revive()
        assert self._fork is not None
        return self._fork

    def spent(self) -> float:
        """CPU seconds so far of the fork that is running. Raises ``failures.Died`` where none is, and
        ``failures.Inconclusive`` where they cannot be told."""
        if self._fork is None or not self._fork.alive:
            raise failures.Died("The process that ran it ended.")
        return self._fork.spent()

    def hold(self) -> None:
        self._ready().hold()

    def release(self) -> bool:
        """Of a fork that is gone there is nothing more to tell."""
        return self._fork is not None and self._fork.alive and self._fork.release()

    def renew(self) -> None:
        """A fresh fork where that is quick, so that what comes next meets no trace of earlier calls.

        It does not count as one that was lost. Raises ``failures.Died`` where no fork can be had any more.
        """
        if self._setup_took <= QUICK_SETUP:
            self._drop()
            self._revivals -= 1
            self._revive()

    # ---- cells
    def _revive(self) -> None:
        """A fresh fork with every cell run again except those that killed one."""
        self._drop()
        if self._revivals >= MAX_REVIVALS or self._timeouts >= MAX_TIMEOUTS:
            raise failures.Died("It was stopped and started again too often; the rest was not run.")
        while True:
            self._revivals += 1
            first, before = not self._ran, time.monotonic()
            whole = self._run_cells()
            if not first:
                self._calls_took += time.monotonic() - before
            if whole:
                return
            self._in_time()
            if self._revivals >= MAX_REVIVALS:
                raise failures.Died("Its cells end the process each time; the rest was not run.")

    def _run_cells(self) -> bool:
        """False where a cell took the fork down (and will be left out)."""
        fork = self._fork = self.sandbox.fork()
        first = not self._ran
        self._ran = True
        start = time.monotonic()
        self._send_files(fork)
        for index, cell in enumerate(self.cells):
            if index in self._left_out:
                continue
            if time.monotonic() - start > self.setup_seconds:
                self._left_out.update(range(index, len(self.cells)))
                self._note(
                    cell.label,
                    "skipped",
                    "this cell and those after it were not run: the time for the cells was used up",
                )
                break
            problem, survived = self._run_cell(fork, cell)
            if problem is not None and (first or not survived):
                self.problems.append(problem)
            if not survived:
                self._left_out.add(index)
                self._drop()
                return False
        self._setup_took = time.monotonic() - start
        return True

    def _send_files(self, fork: Fork) -> None:
        """One by one: together they may be more than a frame holds."""
        deadline = time.monotonic() + self.cell_seconds
        for name, data in self.files.items():
            self._number += 1
            try:
                reply = fork.exchange(wire.Files(self._number, {name: data}), deadline, _no_callback)
            except failures.SubmissionFault as error:
                self._note("the files beside the notebook", "error", error.message)
                return
            if isinstance(reply, wire.Failure):
                self._note(f"the file {name}", "error", fault(reply).message)

    def _run_cell(self, fork: Fork, cell: CellSource) -> tuple[CellProblem | None, bool]:
        self._number += 1
        request = wire.Run(self._number, cell.source, cell.label)
        limit = time.monotonic() + self.cell_seconds
        timed_out = False
        try:
            try:
                reply = fork.exchange(request, limit, _no_callback)
            except failures.TimedOut:
                timed_out = True
                fork.interrupt()
                reply = fork.wait_for(request.id, time.monotonic() + INTERRUPT, _no_callback)
        except failures.TimedOut:
            return CellProblem(
                cell.label,
                "timeout",
                f"it did not end within {self.cell_seconds:g} s and could not be interrupted",
            ), False
        except failures.SubmissionFault as error:
            fork.end()
            kind = "memory" if isinstance(error, failures.OutOfMemory) else "died"
            return CellProblem(cell.label, kind, error.message), False
        except wire.WireError:
            return CellProblem(cell.label, "error", "the cell is too large to run"), True
        if timed_out:
            return CellProblem(
                cell.label, "timeout", f"it did not end within {self.cell_seconds:g} s and was interrupted"
            ), True
        if isinstance(reply, wire.Failure):
            if reply.type_name == "NotImplementedError":
                return None, True
            return CellProblem(cell.label, "error", fault(reply).message), True
        return None, True

    def _note(self, label: str, kind: str, text: str) -> None:
        if all(p.label != label for p in self.problems):
            self.problems.append(CellProblem(label, kind, text))

    def _drop(self) -> None:
        if self._fork is not None:
            self._fork.end()
            self.cpu_seconds += self._fork.cpu_seconds
            self._fork = None


def _no_callback(callback: wire.Callback) -> wire.Answer:
    """While cells run, no function of the oracle has been handed out yet."""
    return wire.Answer(callback.id, error="RuntimeError", text="this function belongs to a call that is over")
