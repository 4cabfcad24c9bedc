"""Where submissions are graded: processes of this machine, or (`autograder.cluster`) workers of a Dask cluster.

Every process is alone in an executor of its own. So when one dies it is known whose submission it had, and nobody
else's is done again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait as wait_for
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from autograder.discover import Handed
from autograder.result import Result
from autograder.sandbox import gpu
from autograder.settings import Settings

Item = TypeVar("Item")
#: Reads and grades one submission; None where the digest shows that the known result still holds.
Work = Callable[[Handed, Settings, str | None], Result | None]


class Workers(Protocol):
    """Takes a submission at a time while it has a place free, and says when an answer is there."""

    def free(self) -> bool:
        """Whether one more submission may be given to it now."""
        ...

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        """Grade one, unless its digest is ``known``."""
        ...

    def answered(self) -> list[Future[Result | None]]:
        """Those that have an answer since the last time. Waits for one, and may give up after a while."""
        ...

    def take_back(self, future: Future[Result | None]) -> bool:
        """The place of an answered submission is free again. True where the worker died of it or with it."""
        ...

    def has_gpu(self) -> bool:
        """Whether what waits for a GPU can be completed."""
        ...

    def close(self, *, at_once: bool) -> None:
        """End it; ``at_once``: also what is in hand."""
        ...


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes:
    """Processes of this machine, each started when it gets its first submission."""

    def __init__(self, count: int, work: Work) -> None:
        self._work = work
        self._idle: list[Executor] = [one_process() for _ in range(max(count, 1))]
        self._busy: dict[Future[Result | None], Executor] = {}
        self._answered: SimpleQueue[Future[Result | None]] = SimpleQueue()

    def free(self) -> bool:
        return bool(self._idle)

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        worker = self._idle.pop()
        # This may start the process; a Ctrl-C that reached it before it has settled in would print a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            try:
                future = worker.submit(self._work, handed, settings, known)
            except BrokenProcessPool:
                # It died while it had nothing to do, so nobody's submission is to blame.
                worker = one_process()
                future = worker.submit(self._work, handed, settings, known)
            self._busy[future] = worker
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        future.add_done_callback(self._answered.put)
        return future

    def answered(self) -> list[Future[Result | None]]:
        return all_in(self._answered)

    def take_back(self, future: Future[Result | None]) -> bool:
        worker = self._busy.pop(future)
        died = isinstance(future.exception(), BrokenProcessPool)
        if died:
            worker.shutdown(wait=False)
            worker = one_process()
        self._idle.append(worker)
        return died

    def has_gpu(self) -> bool:
        return bool(gpu.cards())

    def close(self, *, at_once: bool) -> None:
        if at_once:
            for process in multiprocessing.active_children():
                process.terminate()
        for worker in (*self._idle, *self._busy.values()):
            worker.shutdown(cancel_futures=True)


def all_in(queue: SimpleQueue[Item], timeout: float | None = None) -> list[Item]:
    """What is in a queue, once there is something in it; nothing where it is still empty after ``timeout`` seconds."""
    items = []
    with suppress(Empty):
        items.append(queue.get(timeout=timeout))
        while True:
            items.append(queue.get_nowait())
    return items


def one_process() -> Executor:
    """One process, started when it gets its first call, that never outlives this one."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_settle_in)


def _settle_in() -> None:
    """In a new worker: leave Ctrl-C to the parent, and never outlive it."""
    # Not SIG_IGN, which the processes that the worker starts would inherit: code in a sandbox is interrupted
    # by this signal.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)
