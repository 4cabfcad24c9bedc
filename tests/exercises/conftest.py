"""The filled-in notebook of the exercises."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.release import mutants
from tests.filled_in import EXERCISES
from tests.filled_in import _as_when_grading as _as_when_grading


@pytest.fixture
def solved() -> dict[str, Any]:
    """What the solution binds."""
    return mutants.bound(EXERCISES.solution())
