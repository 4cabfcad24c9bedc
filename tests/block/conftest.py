"""The filled-in notebook ``block_receipts``, and its hidden checks run on it in this process."""

from __future__ import annotations

import functools
import sys
import tomllib
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attnlab.steps import NOTEBOOKS
from autograder.course import find_root
from autograder.marks import Outcome
from autograder.release import build, masters, mutants, skeleton

NOTEBOOK = "block_receipts"
PARTS = {part.id: part for part in NOTEBOOKS[NOTEBOOK]}
TASK_OF = {name: part.id for part in PARTS.values() for name in part.functions}
LOST = ("failed", "submission_error", "timeout", "skipped")


def cases(name: str) -> list[dict[str, str]]:
    """The entries of a TOML file beside this one."""
    found: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["case"]
    return found


@functools.cache
def _module(view: Any) -> str:
    path = Path("source", "lab07", f"{NOTEBOOK}.py")
    return build.module(build.shown(masters.read(find_root() / path, path.as_posix()), view)).decode("utf-8")


def solution() -> str:
    """The notebook as a module with every solution in it."""
    return _module(skeleton.solution)


def handed_out() -> str:
    """The same as a student gets it."""
    return _module(skeleton.skeleton)


def outcomes(task: str, *sources: str, notebook: str | None = None) -> dict[str, Outcome]:
    """How the hidden checks of a part end, by ``function.claim``, for the solution with ``sources`` behind it."""
    namespace = mutants.bound(notebook or solution(), *sources)
    found = mutants.checked("lab07", NOTEBOOK, task, namespace)
    return {outcome.id.partition(f"{task}.")[2]: outcome for outcome in found}


def lost(found: dict[str, Outcome], functions: Sequence[str] = ()) -> dict[str, str | None]:
    """What is not passed, with its reason; of these functions alone where some are named."""
    return {
        name: outcome.message
        for name, outcome in found.items()
        if outcome.verdict != "passed" and (not functions or outcome.function in functions)
    }


@pytest.fixture(autouse=True)
def _as_when_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No panel and no plot; and a submission is a module, as in the sandbox."""
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    monkeypatch.setitem(sys.modules, "submission", types.ModuleType("submission"))


@pytest.fixture
def solved() -> dict[str, Any]:
    """What the solution binds."""
    return mutants.bound(solution())
