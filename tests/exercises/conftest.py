"""The filled-in notebook of the exercises, and its hidden checks run on it in this process."""

from __future__ import annotations

import functools
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from autograder.course import find_root
from autograder.marks import Outcome
from autograder.release import build, masters, mutants, skeleton

NOTEBOOK = "exercises"
LOST = ("failed", "submission_error", "timeout", "skipped")


@functools.cache
def master() -> masters.Master:
    path = Path("source", "lab07", f"{NOTEBOOK}.py")
    return masters.read(find_root() / path, path.as_posix())


@functools.cache
def solution() -> str:
    """The notebook as a module with every solution in it."""
    return build.module(build.shown(master(), skeleton.solution)).decode("utf-8")


@functools.cache
def handed_out() -> str:
    """The same as a student gets it."""
    return build.module(build.shown(master(), skeleton.skeleton)).decode("utf-8")


def outcomes(task: str, source: str = "", notebook: str | None = None) -> dict[str, Outcome]:
    """How the hidden checks of an exercise end, by ``function.claim``, for the solution with ``source`` behind it."""
    namespace = mutants.bound(notebook or solution(), source)
    found = mutants.checked("lab07", NOTEBOOK, task, namespace)
    return {outcome.id.partition(f"{task}.")[2]: outcome for outcome in found}


def lost(found: dict[str, Outcome]) -> dict[str, str | None]:
    """What is not passed, with its reason."""
    return {name: outcome.message for name, outcome in found.items() if outcome.verdict != "passed"}


@pytest.fixture(autouse=True)
def _as_when_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No panel and no plot; and a submission is a module, as in the sandbox."""
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    monkeypatch.setitem(sys.modules, "submission", types.ModuleType("submission"))


@pytest.fixture
def solved() -> dict[str, Any]:
    """What the solution binds."""
    return mutants.bound(solution())
