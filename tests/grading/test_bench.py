"""The bench measures what it says, on the smallest amounts of it."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

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


def test_the_start_is_told_from_each_further_submission_and_two_workers_from_one(
    real: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str]) -> processes.Cost:
        few, workers = command[-1] == "4", int(command[-2])
        return processes.Cost(seconds=9.0 + (4 if few else 24) * 0.5 / workers, cpu_seconds=1.0, peak_bytes=2**20)

    def command(submitted: Path, out: Path, seed: Path, settings: Settings, workers: int) -> list[str]:
        return ["grade", str(workers), str(len(list(submitted.iterdir())))]

    graded = [SimpleNamespace(result=SimpleNamespace(cpu_seconds=cpu)) for cpu in (0.5, 0.5, 9.0)] * 8
    monkeypatch.setattr(grading.processes, "run", run)
    monkeypatch.setattr(grading, "command", command)
    monkeypatch.setattr(grading, "_own_seconds", lambda *_: 0.25)
    monkeypatch.setattr(grading.results, "read_all", lambda out: (graded, []))
    table = grading.grading(real, 24, (1, 2), Console(file=io.StringIO()))
    rows = [[str(cell) for cell in column.cells] for column in table.columns]
    assert rows[:4] == [["1", "2"], ["9.0", "9.0"], ["0.50", "0.25"], ["1.00", "2.00"]]
    # The median: one submission that the machine held up is not the cost of one.
    assert rows[4:7] == [["0.50", "0.50"], ["0.25", "0.25"], ["0.25", "0.25"]]


def test_too_few_copies_are_refused_before_anything_is_graded(real: Settings) -> None:
    with pytest.raises(processes.Failed, match="cannot tell the start from the work"):
        grading.grading(real, 4, (1, 2), Console(file=io.StringIO()))


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
