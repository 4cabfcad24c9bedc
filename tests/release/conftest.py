"""The lab as it stands, read once; and a small lab of one function, for an instructor's mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course import Course, find_root, load
from autograder.release import build, command, masters

SMALL = '''\
# %% [markdown]
# ## Step 1. Twice
#
# - **Points:** 2 (twice 2).

# %% nbgrader={"schema_version": 3, "grade": false, "solution": true, "locked": false, "task": false, "grade_id": "step1-twice"}
def twice(x):
    """Two times `x`."""
    # BEGIN SOLUTION
    # SKELETON: raise NotImplementedError("twice: give back two times x.")
    doubled_by_adding = x + x
    return doubled_by_adding
    # END SOLUTION


# %% nbgrader={"schema_version": 3, "grade": true, "solution": false, "locked": true, "task": false, "points": 2, "grade_id": "step1-check"}
print("check")
### BEGIN HIDDEN TESTS
assert twice(21.0) == 42.0, "a hidden number"
### END HIDDEN TESTS
'''  # noqa: E501 (a cell's metadata stands on one line)


@pytest.fixture(scope="session")
def root() -> Path:
    return find_root()


@pytest.fixture(scope="session")
def course(root: Path) -> Course:
    return load("lab07", root)


@pytest.fixture(scope="session")
def lab_masters(root: Path, course: Course) -> list[masters.Master]:
    return command.read_masters(root, course)


@pytest.fixture(scope="session")
def tree(root: Path, course: Course, lab_masters: list[masters.Master]) -> build.Tree:
    return build.build(root, course, lab_masters)


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., masters.Master]:
    """``small((old, new), …)``: the small master with these replacements."""

    def write(*changes: tuple[str, str]) -> masters.Master:
        text = SMALL
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "small.py"
        path.write_text(text, encoding="utf-8")
        return masters.read(path, "source/lab00/small.py")

    return write
