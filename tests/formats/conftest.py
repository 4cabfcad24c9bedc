"""Makes `lists` importable, and a small course."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "grading"))

import handmade

from autograder.course import Course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return handmade.course_in(tmp_path / "clone")
