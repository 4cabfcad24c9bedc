"""The public checks as Otter runs them: what the files in the folder ``tests`` of an Otter assignment call."""

from __future__ import annotations

from collections.abc import Mapping

from attnlab.checking import run_step
from attnlab.record import WORDS, Outcome


class DoesNotHold(Exception):
    """What was checked is not so, or not yet; the text is for the student."""


class PublicChecks:
    """The checks of one step on one namespace. They are run together, at the first that is asked for."""

    def __init__(self, step: str) -> None:
        self.step = step
        self._found: dict[str, Outcome] = {}

    def hold(self, check: str, namespace: Mapping[str, object]) -> None:
        """Raise ``DoesNotHold`` unless this check of the step passes on the functions in ``namespace``."""
        if not self._found:
            self._found = {outcome.id: outcome for outcome in run_step(self.step, namespace).outcomes}
        outcome = self._found[check]
        if outcome.verdict != "passed":
            raise DoesNotHold("\n".join(_lines(outcome)))


def _lines(outcome: Outcome) -> list[str]:
    symbol, words = WORDS[outcome.verdict]
    said = [f"{symbol} {words}", outcome.message, outcome.looks_like]
    if outcome.verdict in ("failed", "error"):
        said.append(f"Read on: {outcome.read}.")
    return [line for line in said if line]
