"""The filled-in notebook ``block_receipts``."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.release import mutants
from tests.filled_in import BLOCK
from tests.filled_in import _as_when_grading as _as_when_grading


@pytest.fixture
def solved() -> dict[str, Any]:
    """What the solution binds."""
    return mutants.bound(BLOCK.solution())
