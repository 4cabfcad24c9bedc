"""Wrong answers that no suspect is named for: each loses the check that was written for it, in all notebooks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.filled_in import BLOCK, EXERCISES, FilledIn
from tests.filled_in import _as_when_grading as _as_when_grading

LAB = FilledIn("attention_lab", Path(__file__).parent)


def unnamed(notebook: FilledIn) -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads((notebook.folder / "wrong.toml").read_text(encoding="utf-8"))["unnamed"]
    return found


@pytest.mark.parametrize(
    ("notebook", "wrong"),
    [
        pytest.param(notebook, wrong, id=f"{wrong['check']}, {wrong['title']}")
        for notebook in (LAB, EXERCISES, BLOCK)
        for wrong in unnamed(notebook)
    ],
)
def test_an_unnamed_mistake_loses_its_check(notebook: FilledIn, wrong: dict[str, str]) -> None:
    found = notebook.outcomes(notebook.task_of[wrong["check"].partition(".")[0]], wrong["source"])
    outcome = found[wrong["check"]]
    assert outcome.verdict in ("failed", "submission_error"), outcome.message
    assert outcome.message
