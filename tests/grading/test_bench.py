"""The bench measures what it says, on the smallest amounts of it."""

from __future__ import annotations

import io
import os

import psutil
import pytest
from rich.console import Console

from autograder import course
from autograder.bench import grading, measured, processes
from autograder.settings import Settings


@pytest.fixture
def real() -> Settings:
    return Settings(
        assignment="lab07", course=course.load("lab07"), seed="0" * 20, seed_id="t", kit_version="t", device="cpu"
    )


def test_the_measured_check_is_counted_by_verdict(real: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "CODE", {"right": measured.CODE["right"]})
    console = Console(file=io.StringIO(), width=120)
    table = measured.measured(real, 1, busy=False, console=console)
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells[0] == "right"
    # On a busy machine the one run may not be able to tell; it cannot fail.
    assert cells[2] == "0" and int(str(cells[1])) + int(str(cells[3])) == 1
    assert "measured, right: 1 of 1" in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_right_submission_of_the_bench_is_the_solution() -> None:
    sources = "\n".join(cell.source for cell in grading.right_notebook("lab07", "attention_lab").cells)
    assert "weights = softmax(scores)" in sources
    assert "BEGIN SOLUTION" not in sources


def test_what_cannot_be_graded_is_an_error_of_the_bench_and_names_it() -> None:
    with pytest.raises(processes.Failed, match="ended with 2"):
        processes.run(["sh", "-c", "echo no such thing >&2; exit 2"])


def test_memory_counts_the_tree_and_no_more_than_it_has() -> None:
    assert 2**20 < processes.memory(os.getpid()) < 2**40
    assert processes.memory(2**22 + 5) == 0


def test_busy_cores_are_left_alone_afterwards() -> None:
    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children()}

    before = children()
    with measured._busy_cores(True):
        assert len(children() - before) == len(os.sched_getaffinity(0))
    assert children() <= before
