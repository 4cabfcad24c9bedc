"""What a measured check may time: one call of the submission's attention, or of the reference.

The two run in sibling forks of one warm parent, alternately, and both are timed by this side's clock: nothing
that a submission does to its own clocks is seen here, and the way over the wire (0.1 ms) is in both.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab, Remote
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session

#: Head size of the measurement (chapter 7.9, step 5).
D = 64

#: Plain attention in float32, as the chapter's equation reads; timed, never compared with.
REFERENCE = """
import numpy as np

def attention(queries, keys, values, mask=None):
    scores = queries @ keys.T / np.float32(np.sqrt(queries.shape[-1]))
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ values, scores
"""


class _ReferenceCell:
    source, label = REFERENCE, "the reference"


class Measure:
    """Seconds of single calls on fresh float32 inputs of shape (n, 64), which are made before the clock starts.

    ``lab`` is set by the fixture. Raises ``failures.Pending`` where the device that was asked for is not here.
    """

    def __init__(self, sandbox: Sandbox, device: str, seed: int) -> None:
        self.lab: Lab | None = None
        self._sandbox, self._device = sandbox, device
        self._rng = np.random.default_rng(seed)
        self._session: Session | None = None
        self._reference: Lab | None = None
        self._last: tuple[int, list[np.ndarray[Any, Any]], Remote] | None = None

    def student(self, n: int) -> float:
        """Seconds of one call of the submission's ``attention``."""
        if self._device == "cuda":
            raise failures.Pending("This is measured on a GPU, and there is none at hand: its points wait.")
        if self.lab is None:
            raise RuntimeError("measured outside of a check")
        inputs = self._inputs(n)
        seconds, output = self.lab.timed("attention", *[self.lab.kept(a) for a in inputs])
        self._last = (n, inputs, output)
        return seconds

    def reference(self, n: int) -> float:
        """Seconds of one call of the reference, in a process like the submission's."""
        if self._reference is None:
            self._session = Session(self._sandbox, [_ReferenceCell()], {}).__enter__()
            self._reference = Lab(self._session, seconds=60)
        lab = self._reference
        seconds, _ = lab.timed("attention", *[lab.kept(a) for a in self._inputs(n)])
        return seconds

    def spot_check(self, n: int) -> bool:
        """Whether eight rows of what the last ``student(n)`` gave are right: fast and wrong measures nothing."""
        if self._last is None or self._last[0] != n:
            return False
        _, (queries, keys, values), output = self._last
        found = output.get_whole()
        if not isinstance(found, np.ndarray) or found.shape != values.shape or found.dtype.kind != "f":
            return False
        rows = self._rng.choice(n, size=min(8, n), replace=False)
        scores = queries[rows].astype(float) @ keys.astype(float).T / np.sqrt(D)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        # Averages of n values of size 1, in single precision: errors stay far below this, wrong rows far above.
        return bool(np.abs(found[rows] - weights @ values.astype(float)).max() < 1e-3)

    def _inputs(self, n: int) -> list[np.ndarray[Any, Any]]:
        return [self._rng.standard_normal((n, D), dtype=np.float32) for _ in range(3)]

    def __enter__(self) -> Measure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.__exit__(kind, error, trace)

    @property
    def cpu_seconds(self) -> float:
        """What the reference cost, to be told apart from the submission's own computing."""
        return self._session.cpu_seconds if self._session is not None else 0.0
