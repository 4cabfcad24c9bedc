"""What can come between a check and its answer, as exceptions with one verdict each.

A check never catches these: `checks.marking` turns each into the verdict it names.
"""

from __future__ import annotations

from typing import ClassVar

from autograder.result import Verdict


class Finding(Exception):
    """Base of everything that ends a check early with a verdict and a sentence for the student."""

    verdict: ClassVar[Verdict] = "failed"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CheckFailed(Finding):
    """The submission answered, and the answer does not have the property that was checked."""


class SubmissionFault(Finding):
    """The submission did not answer: it raised, died, or sent what cannot be read."""

    verdict: ClassVar[Verdict] = "submission_error"


class Missing(SubmissionFault):
    """The submission binds no such name, or the skeleton's ``NotImplementedError`` is still there."""


class Raised(SubmissionFault):
    """The student's code raised. ``type_name`` and ``text`` are the student's, bounded and printable."""

    def __init__(self, type_name: str, text: str, where: str = "") -> None:
        self.type_name, self.text, self.where = type_name, text, where
        super().__init__(f"It raised {type_name}{': ' + text if text else ''}{where and f' ({where})'}.")


class OutOfMemory(SubmissionFault):
    """The memory limit of the sandbox was reached."""


class Died(SubmissionFault):
    """The process that ran the submission ended (``os._exit``, a crash, a kill)."""


class Unreadable(SubmissionFault):
    """The reply was not a frame of the protocol, or was over its limits."""


class TimedOut(SubmissionFault):
    """The call did not come back within its limit."""

    verdict = "timeout"


class Inconclusive(Finding):
    """A measurement whose own noise is too large to tell."""

    verdict = "inconclusive"


class Pending(Finding):
    """The check needs a device that this machine does not have."""

    verdict = "pending"
