"""Mutated notebooks: each gets a result, and none stops a run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from autograder import course, grade, results, submission
from autograder.discover import discover
from autograder.result import Result
from autograder.settings import Settings
from tests.reading.mutations import mutated

COUNT = 720
#: These go through the whole engine in `make test`, one of each kind; `make soak` takes all.
SAMPLE = range(16, 24)


@pytest.fixture(scope="module")
def real() -> Settings:
    """Without a GPU the measured check waits, so that nothing hangs on a clock."""
    record = course.load("lab07")
    return Settings(assignment="lab07", course=record, seed="0" * 20, seed_id="t", kit_version="t", device="cuda")


def test_no_mutated_notebook_stops_the_reading_and_each_is_cells_or_a_sentence(real: Settings) -> None:
    signatures = course.signatures(real.course)
    unlike, cells = set(), 0
    for number in range(COUNT):
        data = mutated(number)
        read = submission.read(f"student {number}", {"attention_lab.ipynb": data}, "lab07", signatures)
        assert read.name == f"student {number}" and read.digest
        book = read.notebooks.get("attention_lab")
        assert (book is not None and book.cells) or read.message, number
        for cell in book.cells if book is not None else []:
            assert isinstance(cell.source, str)
            cell.source.encode("utf-8")
        (read.message or "").encode("utf-8")
        assert "Traceback" not in (read.message or "")
        cells += bool(book is not None and book.cells)
        unlike.add(hashlib.sha256(data).digest())
    assert len(unlike) > 500, "too many of them are alike"
    assert COUNT // 3 < cells < COUNT, "they are all broken, or none is"


def graded(numbers: range, real: Settings, folder: Path) -> list[Result]:
    for number in numbers:
        (folder / "in" / f"student-{number}").mkdir(parents=True)
        (folder / "in" / f"student-{number}" / "attention_lab.ipynb").write_bytes(mutated(number))
    found = discover([str(folder / "in")], "lab07", course.signatures(real.course))
    summary = grade.run(found.handed, real, folder / "out", workers=2, report=_Silent())
    assert summary.grader_errors == 0
    kept, unreadable = results.read_all(folder / "out")
    assert not unreadable
    return [one.result for one in kept]


@pytest.mark.soak
def test_a_few_of_each_kind_get_a_result_from_the_whole_engine(real: Settings, tmp_path: Path) -> None:
    assert {r.submission for r in graded(SAMPLE, real, tmp_path)} == {f"student-{number}" for number in SAMPLE}


@pytest.mark.soak
def test_every_mutated_notebook_gets_a_result_from_the_whole_engine(real: Settings, tmp_path: Path) -> None:
    made = graded(range(COUNT), real, tmp_path)
    assert len(made) == COUNT
    assert all(r.score > 0 or r.message or any(c.message for c in r.checks) for r in made)


class _Silent:
    def finished(self, result: Result) -> None: ...

    def unchanged(self, result: Result) -> None: ...

    def note(self, text: str) -> None: ...
