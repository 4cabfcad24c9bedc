"""What a public check found, as data. The panel, the terminal and the JSON are renderings of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from attnlab.picture import Picture

Verdict = Literal["passed", "failed", "error", "not_written", "waits", "stopped"]

#: What each verdict is called in front of a person: a symbol and words, so that colour is never alone.
WORDS: dict[Verdict, tuple[str, str]] = {
    "passed": ("✓", "holds"),
    "failed": ("✗", "does not hold"),
    "error": ("!", "stopped with an error"),
    "not_written": ("○", "not written yet"),
    "waits": ("…", "waits"),
    "stopped": ("■", "you stopped it"),
}

HIDDEN_NOTE = (
    "These are the public checks. Hidden checks exist too, with other inputs: "
    "passing here is not the final mark."
)

QUESTIONS_NOTE = 'These questions are for you alone: progress("exercises") counts them, and no mark does.'


@dataclass(frozen=True)
class Outcome:
    """One check: ``sentence`` says what was checked, ``message`` what came back, ``looks_like`` the guess.

    ``state`` says the verdict in other words than ``WORDS``, where those would not fit. ``picture`` shows the answer.
    """

    id: str
    function: str
    sentence: str
    verdict: Verdict
    message: str = ""
    looks_like: str = ""
    read: str = ""
    state: str = ""
    picture: Picture | None = None


@dataclass(frozen=True)
class StepReport:
    """The public checks of one step. ``problem`` is a sentence where the step could not be checked at all."""

    step: str
    number: int
    title: str
    outcomes: tuple[Outcome, ...]
    written: str = ""
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and self.held == len(self.outcomes) and bool(self.outcomes or self.written)

    @property
    def by_person_only(self) -> bool:
        """Nothing here can be checked: a person reads it."""
        return not self.outcomes and bool(self.written) and not self.problem

    @property
    def held(self) -> int:
        return sum(outcome.verdict == "passed" for outcome in self.outcomes)

    @property
    def untouched(self) -> bool:
        """Nothing of this step is written yet."""
        return bool(self.outcomes) and all(o.verdict in ("not_written", "waits") for o in self.outcomes)

    def summary(self) -> str:
        """The state of the step in a few words."""
        if self.problem:
            return "could not be checked"
        if self.by_person_only:
            return "read by a person"
        if not self.number:
            return f"{self.held} of {len(self.outcomes)} answered right"
        if self.passed:
            return f"all {len(self.outcomes)} public checks hold"
        if self.untouched:
            return "not written yet"
        return f"{self.held} of {len(self.outcomes)} public checks hold"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StepReport:
        fields = {key: value for key, value in data.items() if key not in ("passed", "outcomes")}
        return cls(**fields, outcomes=tuple(map(_outcome, data["outcomes"])))


def _outcome(data: dict[str, Any]) -> Outcome:
    picture = Picture.from_dict(data["picture"]) if data.get("picture") else None
    return Outcome(**{**data, "picture": picture})
