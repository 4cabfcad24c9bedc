"""What a measured check may time: one call of the submission's attention, or of the reference.

The two run in sibling forks of one warm parent, alternately, and neither is asked for the time: nothing that a
submission does to its own clocks is seen here, and the way over the wire (0.1 ms) is in both.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple

import numpy as np

from autograder import failures
from autograder.lab import Lab, Timed
from autograder.measured.cuda import OnDevice
from autograder.measured.inputs import D, one_head
from autograder.sandbox import gpu
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session

#: Plain attention in float32, as the chapter's equation reads; timed, never compared with.
REFERENCE = """
import numpy as np

def attention(queries, keys, values, mask=None):
    scores = queries @ np.swapaxes(keys, -1, -2) / np.float32(np.sqrt(queries.shape[-1]))
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ values, scores
"""

#: The GPU as torch calls it, and the seconds for one call on it, the start of CUDA among them.
TORCH_DEVICE, GPU_SECONDS = "cuda", 60.0
NO_GPU = "This is measured on a GPU, and there is none at hand: its points wait."
GPU_REFUSED = "This is measured on a GPU, and the one at hand could not be used ({why}): its points wait."

#: A session of the submission's cells in a sandbox.
Start = Callable[[Sandbox], Session]


#: CPU seconds that a submission may have between two timed calls, and the part of a call's own. Reading inputs and
#: writing results takes a few milliseconds at the largest size.
BESIDE_SECONDS, BESIDE_PART = 0.02, 0.5
BESIDE = (
    "Your process went on computing before or after the calls that were timed, so their times say nothing. The points "
    "wait."
)


class _Call(NamedTuple):
    n: int
    seed: int
    timed: Timed


class _ReferenceCell:
    source, label = REFERENCE, "the reference"


class Measure:
    """Seconds of single calls on fresh float32 inputs of shape (n, 64), made from a seed before the clock starts.

    ``lab`` is set by the fixture. ``submission`` and ``gpu_sandbox`` are used under ``--device cuda`` only: there
    the cells run once more, in a sandbox that can reach the GPU and whose end costs nothing else.
    """

    def __init__(
        self, sandbox: Sandbox, device: str, seed: int, submission: Start, gpu_sandbox: Callable[[], Sandbox]
    ) -> None:
        self.lab: Lab | None = None
        self.note: str | None = None
        self._sandbox, self._device, self._seed = sandbox, device, seed
        self._submission, self._gpu_sandbox = submission, gpu_sandbox
        self._rng = np.random.default_rng(seed)
        self._open, self._sessions = ExitStack(), list[Session]()
        self._reference: Lab | None = None
        self._last: _Call | None = None

    def student(self, n: int) -> float:
        """Seconds of one call of the submission's ``attention``. Raises ``Inconclusive`` where it works in between."""
        if self.lab is None:
            raise RuntimeError("measured outside of a check")
        seed, before, self._last = self._fresh_seed(), self._last, None
        timed = self.lab.timed("attention", n, seed)
        if before is not None:
            _nothing_beside(timed.began - before.timed.ended, timed.seconds)
        self._last = _Call(n, seed, timed)
        return timed.seconds

    def reference(self, n: int) -> float:
        """Seconds of one call of the reference, in a process like the submission's."""
        if self._reference is None:
            self._reference = self._start(_reference_session(self._sandbox), 60)
        lab = self._reference
        return lab.timed("attention", n, self._fresh_seed()).seconds

    def spot_check(self, n: int) -> bool:
        """Whether eight rows of what the last ``student(n)`` gave are right: fast and wrong measures nothing."""
        if self.lab is None or self._last is None or self._last.n != n:
            return False
        (queries, keys, values), timed = one_head(n, self._last.seed, 0), self._last.timed
        found = timed.output.get_whole()
        _nothing_beside(self.lab.spent() - timed.ended, timed.seconds)
        if not isinstance(found, np.ndarray) or found.shape != values.shape or found.dtype.kind != "f":
            return False
        rows = self._rng.choice(n, size=min(8, n), replace=False)
        scores = queries[rows].astype(float) @ keys.astype(float).T / np.sqrt(D)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        # Averages of n values of size 1, in single precision: errors stay far below this, wrong rows far above.
        return bool(np.abs(found[rows] - weights @ values.astype(float)).max() < 1e-3)

    def on_gpu(self) -> OnDevice | None:
        """Submission and reference on the GPU; None where none was asked for.

        Raises ``failures.Pending`` where there is none that can be used, which the reference finds out first, and
        ``failures.SubmissionFault`` where the submission cannot be run there.
        """
        if self._device != "cuda":
            return None
        if not gpu.cards():
            raise failures.Pending(NO_GPU)
        sandbox = self._gpu_sandbox()
        try:
            reference = self._start(_reference_session(sandbox), GPU_SECONDS).on_device("attention", TORCH_DEVICE)
            # The first work on a device brings everything up that can fail for other reasons than the submission.
            reference.call("load", 2, 1, 0)
            reference.call("run")
        except failures.SubmissionFault as fault:
            raise failures.Pending(GPU_REFUSED.format(why=fault.message.rstrip("."))) from fault
        student = self._start(self._submission(sandbox), GPU_SECONDS).on_device("attention", TORCH_DEVICE)
        return OnDevice(student, reference, self._seed)

    def _start(self, session: Session, seconds: float) -> Lab:
        self._sessions.append(session)
        return Lab(self._open.enter_context(session), seconds=seconds)

    def _fresh_seed(self) -> int:
        return int(self._rng.integers(2**31))

    def __enter__(self) -> Measure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def cpu_seconds(self) -> float:
        """What measuring cost beside the submission's own session, once it is over."""
        return sum(session.cpu_seconds for session in self._sessions)


def _nothing_beside(beside: float, seconds: float) -> None:
    """Raises ``failures.Inconclusive`` where work of a timed call may have been done while nothing was timed."""
    if beside > BESIDE_SECONDS + BESIDE_PART * seconds:
        raise failures.Inconclusive(BESIDE)


def _reference_session(sandbox: Sandbox) -> Session:
    return Session(sandbox, [_ReferenceCell()], {})
