"""Hidden checks put to work on one submission: what they ask for, what they build on, and a verdict for each.

The checks hold the truth; what the submission runs in is at the other end of ``transport``.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from autograder import failures
from autograder.checks.collect import Check
from autograder.lab import Lab, Transport
from autograder.marks import Outcome
from autograder.measured.student import Measure
from autograder.result import Verdict

#: Calls of one function that may run out of time; its other checks are then skipped.
TIMEOUTS_PER_FUNCTION = 2

SKIPPED = "Not tried, because it builds on something that did not hold: {title}"
NOT_WRITTEN = "Not tried, because {function} is not there yet."
TOO_SLOW = "Not tried: {function} ran into its time limit before, more than once."
OUR_ERROR = (
    "The grader made an error in this check ({what}). It costs nothing, and is repaired before the mark is given out."
)
#: What a check that is wrong itself may raise; the rest (an interrupt) is for whoever runs the grader.
_ERRORS = (Exception, pytest.fail.Exception, pytest.skip.Exception)


class Marking:
    """Runs checks on one submission; ``outcomes`` has one for each that was run.

    ``missing`` has the functions (``notebook.task.function``) that are not written yet.
    ``given``: what each function is given before it is checked (carry-over: right functions in the place of the
    submission's earlier ones). ``alone``: a check is run whatever became of those that it builds on.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        seed: str,
        call_seconds: float,
        measure: Measure,
        given: Mapping[str, Sequence[Callable[[Lab], None]]] | None = None,
        alone: bool = False,
    ) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.missing: set[str] = set()
        self._transport, self._seed, self._call_seconds = transport, seed, call_seconds
        self._measure, self._given, self._alone = measure, given or {}, alone
        self._timeouts: dict[str, int] = {}

    def run(self, checks: Iterable[Check]) -> None:
        """Run checks in their order."""
        for check in checks:
            declared = check.declared
            verdict, message = self._skipped(check) or self._tried(check)
            self.outcomes[declared.id] = Outcome(
                id=declared.id,
                notebook=declared.notebook,
                task=declared.task,
                function=declared.function,
                title=check.title,
                weight=declared.weight,
                verdict=verdict,
                message=message,
            )

    def _skipped(self, check: Check) -> tuple[Verdict, str] | None:
        """Why a check is not tried; None where it is."""
        key, function = _key(check), check.declared.function
        for needed, title in check.needs.items():
            before = self.outcomes.get(needed)
            if not self._alone and (before is None or before.verdict != "passed"):
                return "skipped", SKIPPED.format(title=title)
        if key in self.missing:
            return "skipped", NOT_WRITTEN.format(function=function)
        if self._timeouts.get(key, 0) >= TIMEOUTS_PER_FUNCTION:
            return "skipped", TOO_SLOW.format(function=function)
        return None

    def _tried(self, check: Check) -> tuple[Verdict, str | None]:
        try:
            self._call(check)
        except failures.Finding as finding:
            if isinstance(finding, failures.Missing):
                self.missing.add(_key(check))
            if isinstance(finding, failures.TimedOut):
                self._timeouts[_key(check)] = self._timeouts.get(_key(check), 0) + 1
            return finding.verdict, finding.message
        except _ERRORS as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
            return "grader_error", OUR_ERROR.format(what=where)
        return "passed", self._measure.note if check.declared.measured else None

    def _call(self, check: Check) -> None:
        """Call the check with what it asks for: ``lab``, the submission; ``seed``, a number that depends on the
        course's seed and the check alone; ``rng``, from which it draws the same inputs for every submission; and
        ``measure``, timed calls of the submission's attention and of the reference."""
        seed = derive(self._seed, check.declared.id)
        lab = Lab(self._transport, seconds=min(check.declared.seconds, self._call_seconds))
        make: dict[str, Callable[[], object]] = {
            "lab": lambda: lab,
            "seed": lambda: seed,
            "rng": lambda: np.random.default_rng(seed),
            "measure": lambda: self._measure,
        }
        try:
            if "measure" in check.fixtures:
                self._measure.lab = lab
            for give in self._given.get(check.declared.function, ()):
                give(lab)
            check.function(**check.parameters, **{name: make[name]() for name in check.fixtures})
        finally:
            lab.close()


def _key(check: Check) -> str:
    return f"{check.declared.notebook}.{check.declared.task}.{check.declared.function}"


def derive(course_seed: str, what: str) -> int:
    """63 bits that nobody can tell without the course seed."""
    return int.from_bytes(hashlib.sha256(f"{course_seed}\0{what}".encode()).digest()[:8], "big") >> 1
