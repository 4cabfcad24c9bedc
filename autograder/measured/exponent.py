"""The measured check as a whole: on the GPU where the run asked for one, on the CPU otherwise.

A GPU can show that the time grows with n². It never costs points by itself: NumPy code that is right need not run
on a GPU as it stands, so whatever does not come out there is measured on the CPU, and the result says so.
"""

from __future__ import annotations

from typing import Protocol

from autograder import failures
from autograder.measured import cpu, cuda
from autograder.measured.verdict import Finding

MEASURED = (
    "Measured here up to n = {n:,}: your time grows with n to the power {yours:.2f}, plain attention's with {ours:.2f}."
)
ON_THE_CPU = "Right, and timed on the CPU: on the GPU your attention could not be measured as it stands. {why}"
NOT_RIGHT = "At n = {n} its output there was not right."
NOT_QUADRATIC = "Its time there did not come out as n²: {reason}."
DISAGREE = (
    "On the GPU the time of your attention did not look like n² ({reason}), on the CPU it did. Two measurements that "
    "disagree decide nothing: the points wait."
)


class Measure(cpu.Measure, Protocol):
    """A ``cpu.Measure`` that may know a GPU besides. ``note`` is for the student where the check passes."""

    note: str | None

    def on_gpu(self) -> cpu.Measure | None:
        """The same on the GPU; None where none was asked for. Raises ``failures.Pending`` where there is none, and
        ``failures.SubmissionFault`` where the submission cannot be run there."""
        ...


def expect_quadratic(measure: Measure) -> None:
    """Return where the submission's time grows with n². Raises as ``cpu.expect_quadratic``, and ``Pending``."""
    finding: Finding | None = None
    try:
        device = measure.on_gpu()
        if device is None:
            found = cpu.expect_quadratic(measure)
            measure.note = MEASURED.format(n=found.largest, yours=found.exponent, ours=found.reference_exponent)
            return
        with cuda.turn():
            finding = cpu.decide(device, cuda.SHORT, cuda.LONG)
            right = device.spot_check(finding.largest)
        if finding.outcome == "quadratic" and right:
            return
        why = NOT_QUADRATIC.format(reason=finding.reason) if right else NOT_RIGHT.format(n=finding.largest)
    except failures.SubmissionFault as fault:
        why = fault.message
    cpu.expect_quadratic(measure)
    if finding is not None and finding.outcome in ("steeper", "flatter"):
        raise failures.Inconclusive(DISAGREE.format(reason=finding.reason))
    measure.note = ON_THE_CPU.format(why=why)
