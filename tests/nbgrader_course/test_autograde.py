"""``nbgrader autograde`` gives the sandboxed grader's marks, whatever became of the file, and runs nothing itself."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder import course as courses
from autograder import engine, results, submission
from autograder.course import signatures
from autograder.discover import discover
from autograder.formats.nbgrader import course_directory
from autograder.formats.nbgrader_course import SubmissionExporter
from autograder.result import Result
from autograder.settings import Settings
from tests.nbgrader_course.conftest import NAME, NOTEBOOKS
from tests.nbgrader_course.courses import LAB, SEED, autograde, cell, gradebook, points

TRAPS = [
    "warning",
    "points",
    "no-checks",
    "twice",
    "other-names",
    "edited-checks",
    "no-metadata",
    "renamed",
    "[module]",
    "zipped",
    "attacking",
]
#: They handed in no file that nbgrader would look for.
WITHOUT_A_NOTEBOOK = ["renamed", "[module]", "zipped"]


def auto_points(course: Path, student: str, notebook: str = NAME) -> float:
    with gradebook(course) as book:
        grades = book.find_submission_notebook(notebook, LAB, student).grades
        return round(sum(grade.auto_score or 0 for grade in grades), 4)


def result(course: Path, student: str) -> Result:
    kept, _ = results.read_all(course / "graded" / LAB)
    return next(one.result for one in kept if one.result.submission == student)


def unmeasured(course: Path, student: str, notebook: str = NAME) -> float:
    """Points of the one check with a clock, where this machine was too busy to tell; they wait."""
    checks = [check for check in result(course, student).checks if check.notebook == notebook]
    waiting = [check for check in checks if check.verdict == "inconclusive"]
    assert {check.function for check in waiting} <= {"measured_exponent"}
    return sum(check.max_points for check in waiting)


@pytest.mark.parametrize("student", TRAPS)
def test_what_became_of_the_file_does_not_change_the_mark(course: Path, student: str) -> None:
    assert auto_points(course, student) == points(NAME) - unmeasured(course, student)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_right_work_gets_all_points_of_the_machine_and_forged_outputs_none(course: Path, notebook: str) -> None:
    assert auto_points(course, "right", notebook) == points(notebook) - unmeasured(course, "right", notebook)
    assert auto_points(course, "untouched", notebook) == 0


def test_partial_credit_is_entered_to_the_last_digit_for_each_task(course: Path) -> None:
    found = result(course, "overflowing")
    with gradebook(course) as book:
        for grade in book.find_submission_notebook(NAME, LAB, "overflowing").grades:
            task, _, kind = grade.name.partition("-")
            own = [check for check in found.checks if (check.notebook, check.task) == (NAME, task)]
            if kind == "check":
                assert grade.auto_score == pytest.approx(sum(c.points for c in own), abs=1e-9)
    assert 0 < auto_points(course, "overflowing") < points(NAME)
    assert auto_points(course, "overflowing") == found.score


def test_everybody_has_the_score_of_their_result_and_the_batch_never_stops(course: Path) -> None:
    with gradebook(course) as book:
        scores = {
            one.student.id: round(sum(grade.auto_score or 0 for part in one.notebooks for grade in part.grades), 4)
            for one in book.assignment_submissions(LAB)
        }
    kept, _ = results.read_all(course / "graded" / LAB)
    assert scores == {one.result.submission: one.result.score for one in kept}
    assert set(scores) == {folder.name for folder in (course / "submitted").iterdir()}


def test_the_results_are_those_of_autograder_grade(course: Path) -> None:
    """A result is a pure function of what its digest is made from."""
    record = courses.load(LAB)
    settings = Settings(
        assignment=LAB,
        course=record,
        seed=SEED,
        seed_id=courses.seed_id(SEED),
        kit_version=result(course, "right").kit_version,
    )
    handed = discover([course / "submitted"], LAB, signatures(record)).handed
    digests = {one.name: engine.digest(submission.load(one, LAB, signatures(record)), settings) for one in handed}
    assert digests == {one: result(course, one).digest for one in digests}


def test_the_submission_ran_nowhere_but_in_the_sandbox(course: Path) -> None:
    assert not list(course.rglob("it-ran"))
    with gradebook(course) as book:
        assert not any(
            g.manual_score == 1000 for s in book.assignment_submissions(LAB) for n in s.notebooks for g in n.grades
        )


def test_a_link_in_a_submission_is_not_followed(course: Path) -> None:
    copied = {path.name for path in (course / "autograded" / "attacking" / LAB).iterdir()}
    assert copied == {f"{NAME}.ipynb"}


@pytest.mark.parametrize(
    "student", ["right", "twice", "no-checks", "other-names", "no-metadata", *WITHOUT_A_NOTEBOOK, "broken"]
)
def test_formgrader_finds_every_marked_cell_once(course: Path, student: str) -> None:
    shown = nbformat.read(course / "autograded" / student / LAB / f"{NAME}.ipynb", as_version=4)
    marked = [cell.metadata.nbgrader for cell in shown.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    with gradebook(course) as book:
        wanted = {cell.name: cell.max_score for cell in book.find_notebook(NAME, LAB).grade_cells}
    assert {about.grade_id: about.points for about in marked} == wanted
    assert len(marked) == len(wanted)


@pytest.mark.parametrize("student", WITHOUT_A_NOTEBOOK)
def test_formgrader_lists_and_shows_who_handed_in_another_file(course: Path, student: str) -> None:
    api = NbGraderAPI(course_directory(course))
    listed = api.get_submission(LAB, student)
    assert (listed["submitted"], listed["autograded"]) == (True, True)
    assert round(listed["score"], 4) == points(NAME) - unmeasured(course, student)
    assert student in {one["student"] for one in api.get_notebook_submissions(LAB, NAME)}
    shown = nbformat.read(course / "autograded" / student / LAB / f"{NAME}.ipynb", as_version=4)
    assert "return exponentials /" in cell(shown, "step1-softmax").source


@pytest.mark.parametrize("student", ["overflowing", "no-metadata"])
def test_a_written_answer_is_found_again_without_its_name(course: Path, student: str) -> None:
    shown = nbformat.read(course / "autograded" / student / LAB / f"{NAME}.ipynb", as_version=4)
    answers = [c for c in shown.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "step4-why-causal-breaks"]
    assert [cell.source.startswith("Because the mask belongs to places.") for cell in answers] == [True]


def test_written_parts_wait_for_a_person_and_what_was_left_blank_does_not(course: Path) -> None:
    def waiting(student: str) -> set[str]:
        with gradebook(course) as book:
            grades = book.find_submission_notebook(NAME, LAB, student).grades
            return {grade.name for grade in grades if grade.needs_manual_grade}

    by_person = {answer.grade_id for answer in courses.load(LAB).parts[NAME].by_person}
    assert waiting("right") == by_person
    assert waiting("untouched") == set()


def test_a_comment_says_what_came_back_and_what_it_looks_like(course: Path) -> None:
    with gradebook(course) as book:
        comment = book.find_comment("step1-softmax", NAME, LAB, "overflowing").auto_comment
        assert "not finite" in comment and "What it most looks like" in comment
        assert book.find_comment("step7-causal-mask", NAME, LAB, "overflowing").auto_comment is None


def test_what_a_person_entered_survives_the_next_run(course: Path) -> None:
    with gradebook(course) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        note.manual_score, note.extra_credit, note.needs_manual_grade = 3.5, 0.5, False
        book.find_comment("step6-note", NAME, LAB, "overflowing").manual_comment = "Well argued."
        book.find_submission_notebook(NAME, LAB, "overflowing").late_submission_penalty = 2
        book.db.commit()
    before = auto_points(course, "overflowing")
    autograde(course, "overflowing", NAME)
    assert auto_points(course, "overflowing") == before
    with gradebook(course) as book:
        note = book.find_grade("step6-note", NAME, LAB, "overflowing")
        # Nothing was handed in anew, so nobody has to look at it again.
        assert (note.manual_score, note.extra_credit, note.needs_manual_grade) == (3.5, 0.5, False)
        assert book.find_comment("step6-note", NAME, LAB, "overflowing").comment == "Well argued."
        assert book.find_submission_notebook(NAME, LAB, "overflowing").late_submission_penalty == 2


def test_the_exporter_grades_for_nothing_but_autograde() -> None:
    with pytest.raises(Exception, match="autograde"):
        SubmissionExporter()


@pytest.mark.soak
def test_a_persons_marks_are_flagged_where_something_was_handed_in_anew(course: Path) -> None:
    with gradebook(course) as book:
        note = book.find_grade("step6-note", NAME, LAB, "renamed")
        note.manual_score, note.needs_manual_grade = 3.0, False
        book.db.commit()
    autograde(course, "renamed")
    with gradebook(course) as book:
        assert not book.find_grade("step6-note", NAME, LAB, "renamed").needs_manual_grade
    file = next((course / "submitted" / "renamed" / LAB).iterdir())
    file.write_text(file.read_text(encoding="utf-8").replace("resource = ", "resource  = "), encoding="utf-8")
    autograde(course, "renamed")
    with gradebook(course) as book:
        note = book.find_grade("step6-note", NAME, LAB, "renamed")
        assert (note.manual_score, note.needs_manual_grade) == (3.0, True)
