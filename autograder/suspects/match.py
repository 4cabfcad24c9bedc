"""Which named mistake a failing function looks most like.

The student's answers to the probes are laid beside the right ones and those of each suspect. Two wrong answers
count as the same where they are wrong in the same way: their *deviations* from the right one agree. Of all the
observations in which the student or the suspect departs from right, the share in which the two do not agree is
their distance; the nearest suspect within ``LIMIT`` is named.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab, local_lab
from autograder.suspects.probes import ASKED, observe
from autograder.suspects.probes.record import Array, Observation, same
from autograder.suspects.registry import LAB, Suspect, suspects_of

#: Largest distance at which a suspect is named: about three of four departures from right are the same.
LIMIT = 0.28
#: Deviations agree within this share of the larger one; another order of the same arithmetic changes far less.
SAME_DEVIATION = 0.02
#: Cosine of deviations that point the same way: the same mistake with another constant.
PARALLEL = 0.99
#: Such deviations differ in size by at most a factor of ten to the power of this: what does a hundredth of the harm is
#: another mistake.
ORDERS_APART = 1.0
#: Deviations below this, relative to the right values, are lost digits: which digits differs from run to run.
LOST_DIGITS = 2e-6

Answers = dict[str, Observation]
NOTHING = Observation("", "nothing")


@dataclass(frozen=True)
class Profile:
    """The answers of one submission, and the names of those that are not right."""

    answers: Answers
    departures: frozenset[str]


@dataclass(frozen=True)
class Match:
    """The suspect that a function looks most like. ``distance`` is 0 for the same answers to every probe."""

    id: str
    hint: str
    read: str
    distance: float


def name_suspect(lab: Lab, function: str, rng: np.random.Generator, notebook: str = LAB) -> Match | None:
    """The nearest suspect of a notebook's ``function``, or None where no known mistake explains what comes back.

    ``rng`` chooses the probes' inputs; the suspects' own answers to them are computed once and kept, so pass a
    generator that is the same for every submission of a course.
    """
    if function not in ASKED.get(notebook, {}):
        return None  # what is only measured answers no questions, and nobody has to write any
    seed = int(rng.integers(2**63))
    with np.errstate(all="ignore"):
        try:
            found = _by_name(observe(lab, function, np.random.default_rng(seed), notebook))
        except failures.SubmissionFault:
            return None  # it hung or died, and there is nobody left to ask
        truth = right_answers(function, seed, notebook)
        student = Profile(found, departures(found, truth))
        nearest: Match | None = None
        for suspect, profile in profiles(function, seed, notebook):
            away = distance(student, profile, truth)
            if away <= LIMIT and (nearest is None or away < nearest.distance):
                nearest = Match(suspect.id, suspect.hint, suspect.read, away)
    return nearest


# ---- answers of trusted code, once per function and seed
@lru_cache(maxsize=64)
def right_answers(function: str, seed: int, notebook: str = LAB) -> Answers:
    """What right code answers."""
    return text_answers("", function, seed, notebook)


@lru_cache(maxsize=64)
def profiles(function: str, seed: int, notebook: str = LAB) -> tuple[tuple[Suspect, Profile], ...]:
    """Each suspect of a function with what it answers, once for each text of its mistake, in registry order."""
    truth, every = right_answers(function, seed, notebook), []
    for suspect in suspects_of(function, notebook):
        for source in suspect.sources:
            answers = text_answers(source, function, seed, notebook)
            every.append((suspect, Profile(answers, departures(answers, truth))))
    return tuple(every)


def text_answers(source: str, function: str, seed: int, notebook: str = LAB) -> Answers:
    """What a right submission with ``source`` appended answers."""
    lab = local_lab(submission_with(source, notebook))
    return _by_name(observe(lab, function, np.random.default_rng(seed), notebook))


#: What a right submission of each notebook consists of; the lab's own functions may be used in all of them.
RIGHT: dict[str, tuple[str, ...]] = {
    LAB: ("right",),
    "exercises": ("right", "right_exercises"),
    "block_receipts": ("right", "right_block"),
    "linear_layers": ("right_linear",),
}


@cache
def _right_code(notebook: str) -> tuple[types.CodeType, ...]:
    files = [Path(__file__).with_name(f"{name}.py") for name in RIGHT[notebook]]
    return tuple(compile(file.read_text(encoding="utf-8"), file, "exec") for file in files)


@cache
def _suspect_code(source: str) -> types.CodeType:
    return compile(source, "<suspect>", "exec")


def submission_with(source: str, notebook: str = LAB) -> dict[str, Any]:
    """What a right submission of a notebook binds with ``source`` appended; the last binding counts."""
    namespace: dict[str, Any] = {"__name__": "submission"}
    for code in (*_right_code(notebook), _suspect_code(source)):
        exec(code, namespace)  # noqa: S102 (our own text)
    return namespace


def _by_name(observations: list[Observation]) -> Answers:
    answers: Answers = {}
    for observation in observations:
        answers.setdefault(observation.name, observation)
    return answers


# ---- comparison
def distance(student: Profile, suspect: Profile, truth: Answers) -> float:
    """From 0 (wrong in the same places and in the same way) to 1 (too far to be named, or nothing is wrong)."""
    either, both = student.departures | suspect.departures, student.departures & suspect.departures
    # Where only one of the two is wrong there is nothing to agree on.
    apart = float(len(either) - len(both))
    for name in sorted(both):
        if apart > LIMIT * len(either):
            return 1.0
        apart += 1 - _agreement(_of(student.answers, name), _of(suspect.answers, name), _of(truth, name))
    return apart / len(either) if either else 1.0


def departures(answers: Answers, truth: Answers) -> frozenset[str]:
    """Names of the observations that are not right."""
    found = set()
    for name in answers.keys() | truth.keys():
        right = _of(truth, name)
        if not same(_of(answers, name).value, right.value, right.tolerance):
            found.add(name)
    return frozenset(found)


def _of(answers: Mapping[str, Observation], name: str) -> Observation:
    return answers.get(name, NOTHING)


def _agreement(student: Observation, suspect: Observation, truth: Observation) -> float:
    """Of two wrong answers: 1 where they are wrong in the same way, 0 where not, in between where only the kind
    is the same."""
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
    orders = _orders_apart(off_a, off_b)
    if off_a.size >= 3 and orders <= ORDERS_APART:
        # Of two mistakes that differ in nothing but their size, the one of the nearer size is named.
        return 0.85 - 0.1 * orders
    small = LOST_DIGITS * max(1.0, float(np.max(np.abs(right[finite]), initial=0.0)))
    return 0.75 if max(size_a, size_b) < small else 0.0


def _orders_apart(a: Array, b: Array) -> float:
    """By how many orders of magnitude two parallel deviations differ in size; infinity where they are not parallel."""
    length_a, length_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    # Squares of tiny numbers are nothing, and nothing points nowhere.
    if min(length_a, length_b) == 0 or not float(a @ b) > PARALLEL * length_a * length_b:
        return math.inf
    return abs(math.log10(length_a / length_b))


def _words(a: str, b: str) -> float:
    """Two mistakes may well raise the same type of exception, so that alone makes no match."""
    if a.startswith("raises ") and b.startswith("raises "):
        return 0.9 if a == b else 0.5
    return 1.0 if a == b else 0.0
