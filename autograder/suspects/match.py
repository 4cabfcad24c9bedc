"""Which named mistake a failing function looks most like.

The student's answers to the probes are laid beside the right ones and those of each suspect. Two wrong answers
count as the same where they are wrong in the same way: their *deviations* from the right one agree. Of all the
observations in which the student or the suspect departs from right, the share in which the two do not agree is
their distance; the nearest suspect within ``LIMIT`` is named.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab, local_lab
from autograder.suspects import right
from autograder.suspects.probes import PROBES, observe
from autograder.suspects.probes.record import Array, Observation, same
from autograder.suspects.registry import Suspect, suspects_of

#: Largest distance at which a suspect is named: about three of four departures from right are the same.
LIMIT = 0.28
#: Deviations agree within this share of the larger one; another order of the same arithmetic changes far less.
SAME_DEVIATION = 0.02
#: Cosine of deviations that point the same way: the same mistake with another constant.
PARALLEL = 0.99
#: Deviations below this, relative to the right values, are lost digits: which digits differs from run to run.
LOST_DIGITS = 2e-6

Answers = dict[str, Observation]
NOTHING = Observation("", "nothing")


@dataclass(frozen=True)
class Match:
    """The suspect that a function looks most like. ``distance`` is 0 for the same answers to every probe."""

    id: str
    hint: str
    read: str
    distance: float


def name_suspect(lab: Lab, function: str, rng: np.random.Generator) -> Match | None:
    """The nearest suspect of ``function``, or None where no known mistake explains what the submission answers.

    ``rng`` chooses the probes' inputs; the suspects' own answers to them are computed once and kept, so pass a
    generator that is the same for every submission of a course.
    """
    if function not in PROBES:
        return None  # what is only measured answers no questions
    seed = int(rng.integers(2**63))
    try:
        found = _by_name(observe(lab, function, np.random.default_rng(seed)))
    except (failures.TimedOut, failures.Died):
        return None
    truth = right_answers(function, seed)
    nearest: Match | None = None
    for suspect, answers in suspects_answers(function, seed):
        away = distance(found, answers, truth)
        if away <= LIMIT and (nearest is None or away < nearest.distance):
            nearest = Match(suspect.id, suspect.hint, suspect.read, away)
    return nearest


# ---- answers of trusted code, once per function and seed
@lru_cache(maxsize=64)
def right_answers(function: str, seed: int) -> Answers:
    """What right code answers."""
    return text_answers("", function, seed)


@lru_cache(maxsize=64)
def suspects_answers(function: str, seed: int) -> tuple[tuple[Suspect, Answers], ...]:
    """What each suspect of a function answers, once for each text of its mistake, in registry order."""
    return tuple(
        (suspect, text_answers(source, function, seed))
        for suspect in suspects_of(function)
        for source in suspect.sources
    )


def text_answers(source: str, function: str, seed: int) -> Answers:
    """What a right submission with ``source`` appended answers."""
    return _by_name(observe(local_lab(_namespace(source)), function, np.random.default_rng(seed)))


@cache
def _right_code() -> types.CodeType:
    return compile(Path(right.__file__).read_text(encoding="utf-8"), right.__file__, "exec")


@cache
def _suspect_code(source: str) -> types.CodeType:
    return compile(source, "<suspect>", "exec")


def _namespace(source: str) -> dict[str, Any]:
    """A right submission with ``source`` appended; the last binding counts."""
    namespace: dict[str, Any] = {"__name__": "submission"}
    exec(_right_code(), namespace)  # noqa: S102 (our own text)
    exec(_suspect_code(source), namespace)  # noqa: S102
    return namespace


def _by_name(observations: list[Observation]) -> Answers:
    answers: Answers = {}
    for observation in observations:
        answers.setdefault(observation.name, observation)
    return answers


# ---- comparison
def distance(student: Answers, suspect: Answers, truth: Answers) -> float:
    """From 0 (wrong in the same places and in the same way) to 1 (nothing in common)."""
    where = _departures(student, truth) | _departures(suspect, truth)
    agreed = sum(_agreement(_of(student, name), _of(suspect, name), _of(truth, name)) for name in where)
    return 1 - agreed / len(where) if where else 1.0


def _departures(answers: Answers, truth: Answers) -> set[str]:
    """Names of the observations that are not right."""
    departures = set()
    for name in answers.keys() | truth.keys():
        right = _of(truth, name)
        if not same(_of(answers, name).value, right.value, right.tolerance):
            departures.add(name)
    return departures


def _of(answers: Mapping[str, Observation], name: str) -> Observation:
    return answers.get(name, NOTHING)


def _agreement(student: Observation, suspect: Observation, truth: Observation) -> float:
    """1 where two answers are wrong in the same way, 0 where not, in between where only the kind is the same."""
    a, b, right = student.value, suspect.value, truth.value
    if isinstance(a, str) or isinstance(b, str):
        if isinstance(a, str) and isinstance(b, str):
            return _words(a, b)
        return 0.0
    if a.shape != b.shape:
        return 0.0
    if isinstance(right, str) or right.shape != a.shape:
        # Nothing to deviate from: the values themselves have to agree, or at least the shape does.
        scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
        return 1.0 if same(a, b, max(truth.tolerance, SAME_DEVIATION * scale)) else 0.5
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(right)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return 0.0
    off_a, off_b = a[finite] - right[finite], b[finite] - right[finite]
    size_a, size_b = (float(np.max(np.abs(off), initial=0.0)) for off in (off_a, off_b))
    # Of the smaller of deviation and value: two answers that are both next to nothing are not the same answer.
    share = SAME_DEVIATION * min(max(size_a, size_b), float(np.max(np.abs(b[finite]), initial=0.0)))
    if same(off_a, off_b, max(truth.tolerance, share)):
        return 1.0
    if min(size_a, size_b) <= truth.tolerance:
        return 0.0
    if off_a.size >= 4 and _cosine(off_a, off_b) > PARALLEL:
        return 0.8
    small = LOST_DIGITS * max(1.0, float(np.max(np.abs(right[finite]), initial=0.0)))
    return 0.75 if max(size_a, size_b) < small else 0.0


def _words(a: str, b: str) -> float:
    """Two mistakes may well raise the same type of exception, so that alone makes no match."""
    if a.startswith("raises ") and b.startswith("raises "):
        return 0.9 if a == b else 0.4
    return 1.0 if a == b else 0.0


def _cosine(a: Array, b: Array) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
