"""Makes `handmade` and `fake_engine` importable, here and in the worker processes that tests start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import handmade

from autograder.course import Course, load


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in a folder of its own, which the grader takes for the course."""
    folder = tmp_path / "clone"
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "course.toml").write_text(handmade.COURSE, encoding="utf-8")
    monkeypatch.setenv("AUTOGRADER_ROOT", str(folder))
    return folder


@pytest.fixture
def course(root: Path) -> Course:
    return load("lab07", root)
