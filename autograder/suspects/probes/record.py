"""What a probe writes down: named values that can be laid beside those of another submission.

Everything that a submission gives is hostile until it is one of two plain things here: a float64 array, or a
word (an exception's type, what came instead of a number). Nothing in this module raises on strange values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Opaque, Remote

Array = np.ndarray[Any, Any]

#: Absolute. Right code in float64 on numbers of size one differs by less; the smallest mistake that is looked
#: for (1e-8 added to a sum) by more.
EXACT = 1e-10
#: The same for float32 inputs.
SINGLE = 2e-5
#: More numbers than any answer to a probe has; a longer answer is only described.
MAX_SIZE = 20_000
#: Seconds for all probes of a function; honest code needs a small part of one. A slow submission gets no name.
PATIENCE = 20.0
#: In place of a value that would be another one next time.
VARIES = "varies"


@dataclass(frozen=True)
class Observation:
    """One named finding; ``tolerance`` is the absolute difference that rounding alone may make."""

    name: str
    value: Array | str
    tolerance: float = EXACT


class Notes:
    """Collects the observations of one submission on one function."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.varies = False
        self._until = time.monotonic() + PATIENCE

    def write(self, name: str, found: Any, tolerance: float = EXACT) -> None:
        """Note a value that came from the submission, or one that was counted about it.

        Raises ``failures.TimedOut`` where the submission takes far longer over the probes than honest code.
        """
        if time.monotonic() > self._until:
            raise failures.TimedOut("The probes took too long.")
        self.observations.append(Observation(name, plain(found), tolerance))

    def twice(self, name: str, ask: Callable[[str], None]) -> None:
        """Ask the same question two times. Where the answers differ, by chance or by another clock than the one
        that was handed over, the values of all later answers mean nothing and only that they vary is noted.
        """
        before = len(self.observations)
        ask(name)
        middle = len(self.observations)
        ask(f"{name}, again")
        pairs = zip(self.observations[before:middle], self.observations[middle:], strict=False)
        self.varies = not all(same(once.value, again.value, once.tolerance) for once, again in pairs)
        del self.observations[middle:]
        self.write(f"{name}: asked again", "another answer" if self.varies else "the same")

    def answer(
        self,
        name: str,
        call: Callable[[], Any],
        *,
        parts: Sequence[str] = (),
        tolerance: float = EXACT,
        kinds: bool = False,
    ) -> Any:
        """Note what a call gives, or in what way it fails, and hand the raw value on.

        ``parts`` names the members of a pair, each noted by itself. ``kinds``: also whether it is a bool, an
        integer or a float, where the contract makes a difference.
        """
        try:
            found = call()
        except (failures.TimedOut, failures.Died):
            raise
        except failures.SubmissionFault as error:
            found = fault(error)
        members = _pair(found, parts) if parts else [(name, found)]
        for part, value in members:
            label = f"{name}: {part}" if parts else name
            self.write(label, VARIES if self.varies and not isinstance(value, str) else value, tolerance)
            if kinds:
                self.write(f"{label}, kind", kind(value))
        return None if isinstance(found, str) else found

    def mapping(self, name: str, call: Callable[[], Any], keys: Sequence[str], tolerance: float = EXACT) -> None:
        """Note each entry of a mapping by itself, or what came instead for each of them."""
        found: Any
        try:
            found = call()
        except (failures.TimedOut, failures.Died):
            raise
        except failures.SubmissionFault as error:
            found = fault(error)
        for key in keys:
            value = found.get(key, "missing") if isinstance(found, dict) else f"no mapping but {kind(found)}"
            self.write(f"{name}: {key}", value, tolerance)


def same(a: Array | str, b: Array | str, tolerance: float) -> bool:
    """Whether two answers are the same but for rounding."""
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    if a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    return bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance))


def fault(error: failures.SubmissionFault) -> str:
    """What went wrong in the submission, in a few words.

    A ``TypeError`` from no line of the submission is one about the call: other arguments are taken there, and nothing
    ran. It is no sign of a mistake that raises the same further in.
    """
    if isinstance(error, failures.Raised):
        nothing_ran = error.type_name == "TypeError" and not error.where
        return "cannot be called like this" if nothing_ran else f"raises {error.type_name}"
    return "raises MemoryError" if isinstance(error, failures.OutOfMemory) else f"raises {type(error).__name__}"


def _pair(found: Any, parts: Sequence[str]) -> list[tuple[str, Any]]:
    """The members of a sequence of the right length; otherwise what came instead, for each of them."""
    sequence = isinstance(found, list) or (isinstance(found, np.ndarray) and found.ndim > 0)
    if sequence and len(found) == len(parts):
        return list(zip(parts, found, strict=True))
    instead = found if isinstance(found, str) else f"no pair but {kind(found)}"
    return [(part, instead) for part in parts]


def plain(found: Any) -> Array | str:
    """A float64 array where the value is one number or a regular array of numbers, else a word for it."""
    if isinstance(found, str):
        return found[:200]
    if isinstance(found, (bool, int, float, np.ndarray, np.generic, list)):
        if _larger(found, MAX_SIZE):
            return f"{kind(found)}, very many numbers"
        try:
            return np.asarray(found, dtype=np.float64)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return kind(found)
    return kind(found)


def _larger(found: Any, most: int) -> bool:
    """Whether there are more than so many numbers in an array or in nested lists of arrays and numbers."""
    count, left = 0, [found]
    while left and count <= most:
        value = left.pop()
        count += value.size if isinstance(value, np.ndarray) else 1
        if isinstance(value, list):
            left.extend(value[: most + 1])
    return count > most


def kind(found: Any) -> str:
    """What sort of thing a decoded value is, in a word or two."""
    if isinstance(found, str):
        return found[:200]
    if isinstance(found, np.ndarray):
        element = {"b": "bool", "i": "int", "u": "int"}.get(found.dtype.kind, "float")
        return f"array of {element}" if found.ndim else element
    if isinstance(found, list):
        return f"list of {len(found)}"
    if isinstance(found, dict):
        return "mapping"
    if isinstance(found, (Opaque, Remote)):
        return "object"
    return type(found).__name__
