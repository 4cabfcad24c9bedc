"""Grading on a Dask cluster: a university's Slurm or Kubernetes among them. See docs/cluster.md.

Submissions are read here, in a process of this machine, and travel as bytes: the workers need nothing of this
machine's disk. They are trusted, as this machine is: the course seed travels to them. A worker takes part once it has
shown that it has the same grader and can keep submissions in; it is then given one submission at a time, by a
resource of the scheduler that only such workers have. Whatever happens to a worker, the scheduler gives its
submission to another one.
"""

from __future__ import annotations

import logging
import pickle
import secrets
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

import msgspec

from autograder import kit
from autograder.course import signatures
from autograder.discover import Handed
from autograder.result import Result
from autograder.sandbox import gpu, launch
from autograder.settings import Settings
from autograder.submission import Submission, load
from autograder.workers import all_in, cores, one_process

#: What `dask worker --resources` calls a GPU.
GPU = "GPU"
#: Seconds to find the scheduler in, and for the first worker to be there; seconds between two looks for new workers.
CONNECT_SECONDS, FIRST_WORKER_SECONDS, LOOK_SECONDS = 10.0, 60.0, 2.0
#: Seconds to wait for an answer before looking again whether workers came or went.
PATIENCE_SECONDS = 0.5
#: Submissions that wait at each worker beside the one in hand, so that it never has to wait for this machine.
AHEAD = 1
#: The fewest processes that read what was handed in; one keeps up with about 40 submissions a second.
FEWEST_READERS = 2

NOT_INSTALLED = "Grading on a cluster needs Dask; `python -m pip install distributed` brings it."
NOBODY = "No Dask scheduler answers at {address} ({why}). Check the address, and that the scheduler runs."
NO_WORKERS = "The scheduler at {address} has no worker that can grade. {reasons}Nothing was graded."
GONE = "The connection to the scheduler at {address} was lost. What was finished is kept; the same command goes on."
REFUSED = "The worker at {worker} gets no submissions: {why}."
OTHER_KIT = (
    "it has another version of the grader ({theirs}; here it is {ours}), so its marks could differ. Install the same "
    "version there"
)
NO_KIT = "the grader cannot be used there ({why}). Install it there as it is here"
LOST = "A worker of the cluster was lost; others go on with what it had."
WAITING = "No worker is left. Waiting for one to come back; Ctrl-C ends the run and keeps what is finished."


class ClusterError(Exception):
    """The cluster cannot be used (any more); the message is a sentence for a person."""


def read(handed: Handed, settings: Settings) -> bytes:
    """What was handed in, read, as bytes: runs in a process of this machine."""
    return packed(load(handed, settings.assignment, signatures(settings.course)))


def packed(submission: Submission) -> bytes:
    """A submission as it travels: through the scheduler, so as few bytes as take hardly any time to make."""
    return zlib.compress(msgspec.msgpack.encode(submission), level=1)


def unpacked(data: bytes) -> Submission:
    """What ``packed`` made; never of anything that comes from elsewhere."""
    return msgspec.msgpack.decode(zlib.decompress(data), type=Submission)


def grade_bytes(data: bytes, settings: Settings, known: str | None, may_use_gpu: bool) -> Result | None:
    """What a worker of the cluster does. None where the digest shows that the known result still holds."""
    from autograder import engine

    submission = unpacked(data)
    with gpu.allowed(may_use_gpu):
        if known is not None and known == engine.digest(submission, settings):
            return None
        return engine.grade(submission, settings)


class _Call:
    """A call of ``grade_bytes`` or its like, in a form that is made when it is unpickled.

    The scheduler unpickles every task. Of this one it sees only `pickle.loads` and bytes, so it needs no grader, and
    neither it nor its dashboard learns the seed.
    """

    def __init__(self, function: Callable[..., Result | None], *arguments: Any) -> None:
        self._function, self._arguments = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Result | None], tuple[Any, ...]]:
        return self._function, self._arguments


async def admit(code: str, isolation: str, resource: str, dask_worker: Any) -> str | None:
    """Runs on a worker: make it one that is given submissions, or say why not."""
    theirs = kit.code_version()
    if theirs != code:
        return OTHER_KIT.format(theirs=theirs, ours=code)
    try:
        launch.choose(isolation)
    except launch.NoIsolation as error:
        return str(error).rstrip(".")
    # As many as it has threads are graded at once otherwise, and pytest is not made for that.
    await dask_worker.set_resources(**{resource: 1})
    return None


@dataclass(frozen=True)
class _Sent:
    """A submission at a worker: the task, what it needs, the call itself, and what follows."""

    task: Future[Result | None]
    resources: dict[str, int]
    call: bytes
    then: Callable[[Result | None], None]


class Cluster:
    """The workers of a scheduler that can grade, as `autograder.workers.Workers` has it."""

    def __init__(
        self,
        address: str,
        settings: Settings,
        say: Callable[[str], None],
        *,
        grade: Callable[[bytes, Settings, str | None, bool], Result | None] = grade_bytes,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        """Raises `ClusterError` where there is no scheduler, or no worker of it can grade."""
        try:
            import distributed
        except ImportError:
            raise ClusterError(NOT_INSTALLED) from None
        # What it logs when a worker is lost are pages of traceback, and said here in a sentence.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._address, self._settings, self._say, self._grade = address, settings, say, grade
        self._code = kit.code_version()
        self._resource = f"attnlab-{self._code}"
        self._known: dict[str, bool] = {}
        self._has_gpu = self._lost = False
        self._reasons: list[str] = []
        self._running: set[Future[Result | None]] = set()
        self._answers: SimpleQueue[Future[Result | None]] = SimpleQueue()
        self._sent: dict[Future[Result | None], _Sent] = {}
        self._lock = threading.Lock()
        self._readers = [one_process() for _ in range(max(FEWEST_READERS, cores()))]
        self._turn = 0
        self._next_look = 0.0
        try:
            self._client = distributed.Client(address, timeout=connect_seconds, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise ClusterError(NOBODY.format(address=address, why=why.rstrip("."))) from None
        self._killed: type[Exception] = distributed.KilledWorker
        try:
            self._wait_for_a_worker()
        except ClusterError:
            self.close(at_once=True)
            raise

    # ---- as Workers
    def free(self) -> bool:
        self._look()
        return len(self._running) < (1 + AHEAD) * sum(self._known.values())

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        answer: Future[Result | None] = Future()
        self._turn = (self._turn + 1) % len(self._readers)
        self._running.add(answer)
        answer.add_done_callback(self._answers.put)
        try:
            reading = self._readers[self._turn].submit(read, handed, settings)
        except BrokenProcessPool:
            self._readers[self._turn] = one_process()
            reading = self._readers[self._turn].submit(read, handed, settings)
        reading.add_done_callback(partial(self._then, answer, partial(self._give, answer, settings, known)))
        return answer

    def answered(self) -> list[Future[Result | None]]:
        return all_in(self._answers, PATIENCE_SECONDS)

    def take_back(self, future: Future[Result | None]) -> bool:
        self._running.discard(future)
        error = future.exception()
        if isinstance(error, CancelledError):
            raise ClusterError(GONE.format(address=self._address))
        return isinstance(error, (self._killed, BrokenProcessPool))

    def has_gpu(self) -> bool:
        return self._has_gpu

    def close(self, *, at_once: bool) -> None:
        for reader in self._readers:
            reader.shutdown(wait=not at_once, cancel_futures=True)
        # Tasks that nobody waits for any more are dropped by the scheduler.
        self._client.close()

    # ---- a submission on its way
    def _give(self, answer: Future[Result | None], settings: Settings, known: str | None, data: bytes) -> None:
        """To a worker without a GPU first: what waits for one there, and only that, is graded once more with one."""
        call = _Call(self._grade, data, settings, known, False)
        self._send(answer, {self._resource: 1}, pickle.dumps(call), partial(self._graded, answer, settings, data))

    def _graded(self, answer: Future[Result | None], settings: Settings, data: bytes, result: Result | None) -> None:
        waits = result is not None and any(check.verdict == "pending" for check in result.checks)
        if waits and self.has_gpu():
            call = _Call(self._grade, data, settings, None, True)
            self._send(answer, {self._resource: 1, GPU: 1}, pickle.dumps(call), answer.set_result)
        else:
            answer.set_result(result)

    def _send(
        self,
        answer: Future[Result | None],
        resources: dict[str, int],
        call: bytes,
        then: Callable[[Result | None], None],
    ) -> None:
        executor: Any = self._client.get_executor(pure=False, resources=resources)
        task = executor.submit(pickle.loads, call, key=f"grade-{secrets.token_hex(8)}")
        with self._lock:
            self._sent[answer] = _Sent(task, resources, call, then)
        task.add_done_callback(partial(self._answered, answer))

    def _answered(self, answer: Future[Result | None], task: Future[Result | None]) -> None:
        sent = self._claim(answer, task)
        if sent is not None:
            self._then(answer, sent.then, task)

    def _send_again(self) -> None:
        """What found no worker stays without one also when a worker gets the resource that it waits for."""
        with self._lock:
            waiting = list(self._sent.items())
        for answer, sent in waiting:
            # Some may be answered meanwhile, in Dask's thread.
            if self._claim(answer, sent.task) is not None:
                self._send(answer, sent.resources, sent.call, sent.then)
                sent.task.cancel()

    def _claim(self, answer: Future[Result | None], task: Future[Result | None]) -> _Sent | None:
        """What was sent, for the one who goes on with it; None where it is not waited for, or not from this task."""
        with self._lock:
            sent = self._sent.get(answer)
            return self._sent.pop(answer) if sent is not None and sent.task is task else None

    @staticmethod
    def _then(answer: Future[Result | None], go_on: Callable[[Any], None], before: Future[Any]) -> None:
        """Go on with what came out, or hand on what went wrong."""
        try:
            go_on(before.result())
        except BaseException as error:
            # Nothing may be lost in a thread of somebody else: whoever waits for the answer gets it.
            answer.set_exception(error)

    # ---- workers come and go
    def _workers(self) -> dict[str, Any]:
        if self._client.status != "running":
            raise ClusterError(GONE.format(address=self._address))
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _wait_for_a_worker(self) -> None:
        deadline = time.monotonic() + FIRST_WORKER_SECONDS
        while not any(self._known.values()):
            self._next_look = 0.0
            self._look()
            if any(self._known.values()):
                return
            if self._reasons or time.monotonic() > deadline:
                reasons = "".join(f"{reason} " for reason in self._reasons)
                raise ClusterError(NO_WORKERS.format(address=self._address, reasons=reasons))
            time.sleep(0.2)

    def _look(self) -> None:
        """Notice workers that came or went since the last look."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        there = self._workers()
        self._has_gpu = any(GPU in worker.get("resources", {}) for worker in there.values())
        lost = [address for address in self._known if address not in there]
        for address in lost:
            if self._known.pop(address):
                self._lost = True
                self._say(LOST if any(self._known.values()) else WAITING)
        new = [address for address in there if address not in self._known]
        if not new:
            return
        said = self._client.run(
            admit, self._code, self._settings.isolation, self._resource, workers=new, on_error="return"
        )
        for address in new:
            why = said.get(address, "it did not answer")
            if isinstance(why, OSError):
                continue  # it is gone again; the next look will tell
            self._known[address] = why is None
            if why is not None:
                why = NO_KIT.format(why=why) if isinstance(why, BaseException) else why
                self._reasons.append(REFUSED.format(worker=address, why=why.rstrip(".")))
                self._say(self._reasons[-1])
        if self._lost and any(self._known[address] for address in new if address in self._known):
            self._lost = False
            self._send_again()
