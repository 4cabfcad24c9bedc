"""Twelve questions to yourself (chapter sections 7.10 and 7.11), and what was answered to them in this process.

The texts are in ``questions.toml``. ``progress("exercises")`` counts the answers; no mark does.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np

from attnlab.exercises_table import QUESTIONS
from attnlab.record import Outcome, StepReport, Verdict
from attnlab.steps import BY_ID
from attnlab.words import clean, kind

CHOICES = ("accept", "reject", "qualify")

_HOW = {
    "claim": 'Put "accept", "reject" or "qualify" in place of the three dots, and run the cell.',
    "number": "Put a number in place of the three dots, and run the cell.",
}
_STATES: dict[Verdict, str] = {"passed": "✓ right", "failed": "✗ not that", "not_written": "○ not answered yet"}


@dataclass(frozen=True)
class Question:
    """A claim to accept, reject or qualify, or a number to compute.

    ``asks`` is the question and ``praise`` what is said to a right answer. ``wrong`` has a sentence for each other
    choice; of a number, ``near`` has one for known ways to go wrong, and ``otherwise`` is for all others. A number is
    right within the share ``tolerance`` of it.
    """

    id: str
    title: str
    asks: str
    kind: str
    right: Any
    read: str
    praise: str
    wrong: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    near: Sequence[Mapping[str, Any]] = ()
    otherwise: str = ""


@cache
def questions() -> dict[str, Question]:
    """Every question by its id, in order."""
    text = Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
    return {entry["id"]: Question(**entry) for entry in tomllib.loads(text)["question"]}


#: The answers given in this process.
_given: dict[str, object] = {}


def record(question: str, given: object) -> Question | None:
    """Keep an answer, in place of an earlier one to the same question; None where there is no such question."""
    about = questions().get(question) if isinstance(question, str) else None
    if about is not None:
        _given[about.id] = given
    return about


def report() -> StepReport:
    """All questions, with what was answered to each in this process."""
    return StepReport(QUESTIONS, 0, BY_ID[QUESTIONS].title, tuple(outcome(q, q.asks) for q in questions().values()))


def outcome(question: Question, sentence: str | None = None) -> Outcome:
    """What there is to say to the present answer; ``sentence`` stands for it (without one, the answer itself)."""
    given = _given.get(question.id, ...)
    verdict, said = judged(question, given)
    read = f"chapter {question.read}" if verdict == "failed" else ""
    return Outcome(question.id, question.id, sentence or shown(given), verdict, said, read=read, state=_STATES[verdict])


def judged(question: Question, given: object) -> tuple[Verdict, str]:
    """The verdict on an answer, and one sentence or two about it."""
    if isinstance(given, EllipsisType):
        return "not_written", _HOW[question.kind]
    if question.kind == "claim":
        choice = given.strip().lower() if isinstance(given, str) else ""
        if choice not in CHOICES:
            return "failed", f'{shown(given)} is no answer to a claim: "accept", "reject" or "qualify" is.'
        right = choice == question.right
        return ("passed", question.praise) if right else ("failed", question.wrong[choice])
    value = _number(given)
    if value is None:
        return "failed", f"{shown(given)} is not a number. Answer with a number alone, without its unit."
    if _is(value, question.right, question.tolerance):
        return "passed", question.praise
    for known in question.near:
        if any(_is(value, wrong, question.tolerance) for wrong in known["values"]):
            return "failed", str(known["says"])
    return "failed", question.otherwise


def _is(value: float, wanted: float, tolerance: float) -> bool:
    return abs(value - wanted) <= tolerance * abs(wanted)


def _number(given: object) -> float | None:
    """The answer as a float; None where it is no finite real number."""
    try:
        found = np.asarray(given)
        value = float(found.reshape(-1)[0]) if found.dtype.kind in "iuf" and found.size == 1 else math.nan
    except Exception:  # whatever an object does when it is made an array
        return None
    return value if math.isfinite(value) else None


def shown(given: object) -> str:
    """An answer as it was given, or what it is."""
    if isinstance(given, str):
        return f'"{clean(given, 40)}"'
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return clean(repr(given), 40)
    text = kind(given)
    return text[:1].upper() + text[1:]
