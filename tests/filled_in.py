"""A notebook beside the lab, filled in: its hidden checks run on it in this process, or in the sandbox."""

from __future__ import annotations

import functools
import sys
import tomllib
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pytest

from attnlab.step import Step
from attnlab.steps import NOTEBOOKS
from autograder import course, engine, submission
from autograder.course import Part, find_root
from autograder.lab import local_lab
from autograder.marks import Outcome
from autograder.release import build, masters, mutants, skeleton
from autograder.result import Result
from autograder.settings import Settings
from autograder.suspects import name_suspect

LOST = ("failed", "submission_error", "timeout", "skipped")


@dataclass(frozen=True)
class FilledIn:
    """One notebook; ``folder`` holds its right and wrong answers, in TOML files of ``[[case]]``."""

    name: str
    folder: Path

    @property
    def tasks(self) -> dict[str, Step]:
        """Its tasks in order, those that only a person reads among them."""
        return {step.id: step for step in NOTEBOOKS[self.name]}

    @property
    def task_of(self) -> dict[str, str]:
        """By function, the task that asks for it."""
        return {function: step.id for step in self.tasks.values() for function in step.functions}

    def cases(self, file: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = tomllib.loads((self.folder / file).read_text(encoding="utf-8"))["case"]
        return found

    @functools.cache  # noqa: B019 - there are two of these, for as long as the tests run
    def master(self) -> masters.Master:
        path = Path("source", "lab07", f"{self.name}.py")
        return masters.read(find_root() / path, path.as_posix())

    def solution(self) -> str:
        """The notebook as a module with every solution in it."""
        return self._module(skeleton.solution)

    def handed_out(self) -> str:
        """The same as a student gets it."""
        return self._module(skeleton.skeleton)

    @functools.cache  # noqa: B019
    def _module(self, view: Callable[[str], str]) -> str:
        return build.module(build.shown(self.master(), view)).decode("utf-8")

    def outcomes(self, task: str, *sources: str, notebook: str | None = None) -> dict[str, Outcome]:
        """How the hidden checks of a task end, by ``function.claim``, for the solution with ``sources`` behind it."""
        namespace = mutants.bound(notebook or self.solution(), *sources)
        found = mutants.checked("lab07", self.name, task, namespace)
        return {outcome.id.partition(f"{task}.")[2]: outcome for outcome in found}

    def named(self, function: str, source: str) -> str | None:
        """The known mistake that the solution with ``source`` behind it is named, if it is."""
        lab = local_lab(mutants.bound(self.solution(), source))
        match = name_suspect(lab, function, np.random.default_rng(1), self.name)
        return match.id if match else None

    @functools.cache  # noqa: B019
    def settings(self) -> Settings:
        """A course of this one notebook, two points for each function."""
        points = {f"{task}.{function}": 2.0 for function, task in self.task_of.items()}
        whole = course.load("lab07")
        alone = msgspec.structs.replace(whole, notebooks=(self.name,), parts={self.name: Part(points=points)})
        return Settings(
            assignment="lab07",
            course=alone,
            seed="a seed of the tests",
            seed_id="tests",
            kit_version="tests",
            device="cpu",
        )

    def graded(self, *cells: str) -> Result:
        """What the grader makes of these cells, handed in as a module."""
        files = {f"{self.name}.py": "\n# %%\n".join(cells).encode()}
        read = submission.read("somebody", files, "lab07", course.signatures(self.settings().course))
        return engine.grade(read, self.settings())


EXERCISES = FilledIn("exercises", Path(__file__).parent / "exercises")
BLOCK = FilledIn("block_receipts", Path(__file__).parent / "block")


def lost(found: dict[str, Outcome], functions: Sequence[str] = ()) -> dict[str, str | None]:
    """What is not passed, with its reason; of these functions alone where some are named."""
    return {
        name: outcome.message
        for name, outcome in found.items()
        if outcome.verdict != "passed" and (not functions or outcome.function in functions)
    }


def suspected(result: Result) -> dict[str, str | None]:
    """What is not passed, by function, with the mistake that it looks like."""
    return {c.function: c.suspect for c in result.checks if c.verdict not in ("passed", "skipped")}


@pytest.fixture(autouse=True)
def _as_when_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No panel and no plot; and a submission is a module, as in the sandbox."""
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    monkeypatch.setitem(sys.modules, "submission", types.ModuleType("submission"))
