"""Claims that hold for both notebooks beside the lab."""

from __future__ import annotations

from tests.filled_in import _as_when_grading as _as_when_grading
