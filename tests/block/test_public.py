"""The public checks of ``block_receipts``: right answers pass, typical mistakes are seen and said in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from attnlab import progress
from attnlab.steps import find, functions
from tests.filled_in import BLOCK


def test_parts_are_found_by_what_people_call_them() -> None:
    for name in ("multi_head", "multi-head", "Part 1", "part 1"):
        found = find(name)
        assert found is not None
        assert found.id == "multi_head"
    assert find("part 16") is None
    assert len(functions(BLOCK.name)) == len(BLOCK.task_of) == 50


def test_the_overview_shows_fifteen_parts(monkeypatch: pytest.MonkeyPatch, solved: dict[str, Any]) -> None:
    monkeypatch.delenv("ATTNLAB_GRADING")
    names = {**solved, "__name__": "__main__", "progress": progress}
    exec(compile("panel = progress('block_receipts')", "<cell 9>", "exec"), names)
    assert names["panel"].passed
    assert "15 of 15 parts pass their public checks" in str(names["panel"])
