"""Every named mistake, made in the solution: does it lose marks in its step, and is it named?

Mistakes are our own code, so they run in plain processes of ours, where the hidden checks get the same
encoding of answers as from a sandbox. There are hundreds of them; this takes minutes.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, cast

import numpy as np

from autograder.checks import collect
from autograder.checks.marking import Marking, derive
from autograder.course import Course
from autograder.lab import local_lab
from autograder.marks import Outcome
from autograder.measured.student import Measure
from autograder.release.problem import Problem
from autograder.suspects import Suspect, all_suspects, name_suspect, suspects_of

#: Any seed would do; the same one every time, so that a release that was refused is refused again.
SEED = "release"
_LOST = ("failed", "submission_error", "timeout")


def survivors(course: Course, solutions: Mapping[str, str]) -> Iterator[Problem]:
    """The mistakes that no check sees, or that are not named. ``solutions``: filled-in modules."""
    jobs: set[tuple[str, str]] = set()
    for name in course.notebooks:
        for suspect in all_suspects(name):
            if f"{suspect.task}.{suspect.function}" in course.parts[name].points:
                jobs.add((name, suspect.function))
            else:
                what = f"{suspect.task}.{suspect.function} has no points in {course.assignment}, {name}."
                yield Problem(_where(suspect), what, "Correct its task or its function.")
    spawn = multiprocessing.get_context("spawn")  # a fork of a process that has loaded torch can hang
    with ProcessPoolExecutor(os.cpu_count(), mp_context=spawn, initializer=_as_when_grading) as pool:
        running = [
            pool.submit(survivors_of, function, course.assignment, name, solutions[name])
            for name, function in sorted(jobs)
        ]
        for done in as_completed(running):
            yield from done.result()


def survivors_of(function: str, assignment: str, notebook: str, solution: str) -> list[Problem]:
    """The same for the mistakes of one function."""
    found: list[Problem] = []
    for suspect in suspects_of(function, notebook):
        for number, text in enumerate(suspect.sources, start=1):
            told = f"text {number} of {len(suspect.sources)}"
            namespace = bound(solution, text)
            if not any(outcome.verdict in _LOST for outcome in checked(assignment, notebook, suspect.task, namespace)):
                what = f"This mistake ({told}) loses no marks in {suspect.task}."
                found.append(Problem(_where(suspect), what, "Write a check that sees it, or take the mistake out."))
            rng = np.random.default_rng(derive(SEED, function))
            # As when grading: the probes meet a process in which no check has left anything.
            match = name_suspect(local_lab(bound(solution, text)), function, rng, notebook)
            if match is None or match.id != suspect.id:
                what = f"This mistake ({told}) is taken for {match.id if match else 'no known one'}."
                found.append(Problem(_where(suspect), what, "Let a probe tell them apart, or make them one mistake."))
    return found


def bound(*texts: str) -> dict[str, Any]:
    """What a submission with these texts, one after the other, binds."""
    namespace: dict[str, Any] = {"__name__": "submission"}
    for text in texts:
        exec(compile(text, "<submission>", "exec"), namespace)  # noqa: S102 our own masters and suspects
    return namespace


def checked(assignment: str, notebook: str, task: str, namespace: dict[str, Any]) -> list[Outcome]:
    """How the hidden checks of a step end, but for those that measure time."""
    marking = Marking(local_lab(namespace)._transport, seed=SEED, call_seconds=60.0, measure=cast(Measure, None))
    of_step = [c for c in collect.checks(assignment) if (c.declared.notebook, c.declared.task) == (notebook, task)]
    marking.run(check for check in of_step if not check.declared.measured)
    return list(marking.outcomes.values())


def _as_when_grading() -> None:
    os.environ["ATTNLAB_GRADING"] = "1"


def _where(suspect: Suspect) -> str:
    return f"autograder/suspects, {suspect.id}"
