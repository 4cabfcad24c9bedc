"""``autograder export DIR --format nbgrader``: results into the gradebook, beside what a person entered."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder import course as courses
from autograder import results
from autograder.conventions import timestamp
from autograder.formats import FormatError, nbgrader_gradebook
from autograder.formats.nbgrader import course_directory, export
from autograder.policy import Late
from autograder.result import Result
from tests.nbgrader_course.conftest import NAME
from tests.nbgrader_course.courses import LAB, gradebook, hand_in, new, released

#: As nbgrader writes it beside what it collects.
COLLECTED = "2026-11-13 20:59:00.123456 UTC"


@pytest.fixture
def graded(course: Path, tmp_path: Path) -> Path:
    """A folder of results as `autograder grade` leaves it: of one student."""
    folder = tmp_path / "marked"
    results.prepare(folder)
    shutil.copy(course / "graded" / LAB / "results" / "overflowing.json", folder / "results")
    return folder


@pytest.fixture(scope="module")
def first(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose gradebook knew nothing before one student's results were entered."""
    at = new(tmp_path_factory.mktemp("first") / "course")
    marked = tmp_path_factory.mktemp("marked")
    results.prepare(marked)
    shutil.copy(course / "graded" / LAB / "results" / "overflowing.json", marked / "results")
    said = list(export(marked, at))
    assert "had no place" in said[0]
    return at


@pytest.fixture
def fresh(first: Path, tmp_path: Path) -> Path:
    """The same for one test."""
    return Path(shutil.copytree(first, tmp_path / "fresh"))


def found(folder: Path) -> Result:
    return results.read_all(folder)[0][0].result


def scores(course: Path) -> dict[str, float | None]:
    with gradebook(course) as book:
        submission = book.find_submission(LAB, "overflowing")
        return {grade.name: grade.auto_score for one in submission.notebooks for grade in one.grades}


def rewrite(folder: Path, **changes: object) -> None:
    results.write(folder, "overflowing", msgspec.structs.replace(found(folder), **changes))


def all_right(folder: Path) -> None:
    """As if the student had mended step 1."""
    checks = [
        msgspec.structs.replace(c, points=c.max_points, verdict="passed") if c.task == "step1" else c
        for c in found(folder).checks
    ]
    rewrite(folder, checks=checks)


def test_a_new_gradebook_gets_every_point_and_leaves_written_parts_open(graded: Path, fresh: Path) -> None:
    with gradebook(fresh) as book:
        submission = book.find_submission(LAB, "overflowing")
        assert round(submission.score, 4) == found(graded).score
        assert submission.max_score == found(graded).max_score
        open_cells = {g.name for one in submission.notebooks for g in one.grades if g.needs_manual_grade}
        assert open_cells == {answer.grade_id for answer in courses.load(LAB).parts[NAME].by_person}


def test_it_enters_what_autograde_enters(course: Path, fresh: Path) -> None:
    entered, of_the_lab = scores(course), {cell for cell in scores(fresh) if cell.startswith("step")}
    assert {cell: scores(fresh)[cell] for cell in of_the_lab} == {cell: entered[cell] for cell in of_the_lab}
    with gradebook(fresh) as here, gradebook(course) as there:
        ours, theirs = (book.find_submission_notebook(NAME, LAB, "overflowing").comments for book in (here, there))
        assert {c.name: c.auto_comment for c in ours} == {c.name: c.auto_comment for c in theirs}


def test_what_a_person_entered_survives_exporting_again(graded: Path, fresh: Path) -> None:
    with gradebook(fresh) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        note.manual_score, note.extra_credit, note.needs_manual_grade = 3.0, 0.25, False
        book.find_comment("step6-note", NAME, LAB, "overflowing").manual_comment = "Clear."
        book.find_submission_notebook(NAME, LAB, "overflowing").late_submission_penalty = 1.5
        book.db.commit()
    list(export(graded, fresh))
    with gradebook(fresh) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        assert (note.manual_score, note.extra_credit, note.needs_manual_grade) == (3.0, 0.25, False)
        assert book.find_comment("step6-note", NAME, LAB, "overflowing").comment == "Clear."
        assert book.find_submission_notebook(NAME, LAB, "overflowing").late_submission_penalty == 1.5


def test_a_persons_marks_are_flagged_where_the_machines_moved(graded: Path, fresh: Path) -> None:
    with gradebook(fresh) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        note.manual_score, note.needs_manual_grade = 3.0, False
        book.db.commit()
    all_right(graded)
    list(export(graded, fresh))
    with gradebook(fresh) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        assert (note.manual_score, note.needs_manual_grade) == (3.0, True)
        assert book.find_grade("step1-check", NAME, LAB, "overflowing").auto_score == 21


def test_points_that_wait_are_no_zero(graded: Path, fresh: Path) -> None:
    checks = [
        msgspec.structs.replace(c, verdict="pending" if c.task == "step5" else "grader_error", points=0.0)
        if c.task == "step7" or c.function == "measured_exponent"
        else c
        for c in found(graded).checks
    ]
    rewrite(graded, checks=checks)
    list(export(graded, fresh))
    with gradebook(fresh) as book:
        step5, step7 = (book.find_grade(f"step{n}-check", NAME, LAB, "overflowing") for n in (5, 7))
        assert (step5.auto_score, step5.needs_manual_grade) == (11, True)
        assert (step7.auto_score, step7.needs_manual_grade) == (None, True)


def test_a_late_penalty_of_course_toml_is_entered_whole(graded: Path) -> None:
    record = courses.load(LAB)
    late = msgspec.structs.replace(record, policy=msgspec.structs.replace(record.policy, late=Late(per_day=10)))
    rewrite(graded, late_penalty=9.3)
    assert sum(nbgrader_gradebook.late_penalties(found(graded), late).values()) == 9.3


def test_another_version_of_the_course_is_said_and_enters_nothing(graded: Path, fresh: Path) -> None:
    before = scores(fresh)
    checks = [msgspec.structs.replace(c, max_points=2 * c.max_points) for c in found(graded).checks]
    rewrite(graded, checks=checks)
    with pytest.raises(FormatError, match="generate_assignment"):
        list(export(graded, fresh))
    assert scores(fresh) == before


def test_a_submission_that_nbgrader_did_not_collect_is_named(graded: Path, fresh: Path) -> None:
    said = list(export(graded, fresh))
    assert "cannot show their notebooks" in said[-1]


def test_formgrader_takes_a_submission_for_graded_until_something_newer_lies_there(graded: Path, fresh: Path) -> None:
    """nbgrader compares the time in its gradebook with the one that was written when the work was collected."""
    folder = hand_in(fresh, "overflowing", {f"{NAME}.ipynb": released(NAME), "timestamp.txt": COLLECTED.encode()})
    rewrite(graded, received=timestamp(COLLECTED))
    list(export(graded, fresh))
    api = NbGraderAPI(course_directory(fresh))
    found_there = api.get_submission(LAB, "overflowing")
    assert (found_there["autograded"], round(found_there["score"], 4)) == (True, found(graded).score)
    (folder / "timestamp.txt").write_text(COLLECTED.replace("13", "14", 1), encoding="utf-8")
    assert not api.get_submission(LAB, "overflowing")["autograded"]


def test_a_folder_without_results_is_said_in_a_sentence(tmp_path: Path, fresh: Path) -> None:
    results.prepare(tmp_path / "empty")
    with pytest.raises(FormatError, match="autograder grade"):
        list(export(tmp_path / "empty", fresh))
