"""What goes out to students by nbgrader: the released notebooks and the feedback pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder import course as courses
from autograder.release import leaks
from autograder.release.command import read_masters
from tests.nbgrader_course.conftest import NAME
from tests.nbgrader_course.courses import LAB, ROOT, generate_assignment, generate_feedback, gradebook, new


@pytest.mark.parametrize("name", courses.load(LAB).all_notebooks)
def test_generate_assignment_makes_what_autograder_release_made(course: Path, name: str) -> None:
    made = (course / "release" / LAB / f"{name}.ipynb").read_bytes()
    assert made == (ROOT / "release" / LAB / f"{name}.ipynb").read_bytes()


def test_nothing_else_of_source_is_released(course: Path) -> None:
    """The masters lie beside the notebooks there, and hold the solutions."""
    released = {path.relative_to(course / "release" / LAB).as_posix() for path in (course / "release").rglob("*.*")}
    assert released == {f"{name}.ipynb" for name in courses.load(LAB).all_notebooks}


def test_a_notebook_that_is_not_graded_is_asked_of_nobody(course: Path) -> None:
    with gradebook(course) as book:
        assert book.find_notebook("explorers", LAB).max_score == 0
    assert (course / "submitted" / "right" / LAB / "explorers.ipynb").is_file()
    for student in ("right", "untouched"):
        shown = {path.stem for path in (course / "autograded" / student / LAB).glob("*.ipynb")}
        assert shown == set(courses.load(LAB).notebooks)


def test_what_else_is_released_stays_when_the_notebooks_are_made_anew(tmp_path: Path) -> None:
    course = new(tmp_path)
    shutil.copytree(ROOT / "release", course / "release")
    (course / "release" / LAB / f"{NAME}.ipynb").write_text("{}", encoding="utf-8")
    generate_assignment(course)
    for path in (path for path in (ROOT / "release").rglob("*") if path.is_file()):
        assert (course / path.relative_to(ROOT)).read_bytes() == path.read_bytes(), path.name


@pytest.fixture(scope="module")
def pages(course: Path) -> dict[str, str]:
    """By student, the feedback page of the lab."""
    students = ("overflowing", "untouched", "attacking")
    for student in students:
        generate_feedback(course, student)
    where = course / "feedback"
    return {one: (where / one / LAB / f"{NAME}.html").read_text(encoding="utf-8") for one in students}


def test_a_picture_that_was_pasted_into_an_answer_does_not_keep_the_page_back(pages: dict[str, str]) -> None:
    text = BeautifulSoup(pages["overflowing"], "html.parser").get_text()
    assert "(A picture, my drawing<b>.png: it is in the notebook that was handed in.)" in text


def test_a_feedback_page_says_what_the_grader_says(pages: dict[str, str]) -> None:
    text = BeautifulSoup(pages["overflowing"], "html.parser").get_text()
    assert "What it most looks like" in text
    assert "Numbers such as 1000, 1001, 1002 come out finite and right." in text


def test_every_notebook_has_a_page_that_gives_away_no_hidden_check_and_no_solution(
    course: Path, pages: dict[str, str]
) -> None:
    secret = leaks.secrets(ROOT, LAB, read_masters(ROOT, courses.load(LAB)))
    for name, part in courses.load(LAB).parts.items():
        page = (course / "feedback" / "untouched" / LAB / f"{name}.html").read_text(encoding="utf-8")
        text = BeautifulSoup(page, "html.parser").get_text()
        for function in (key.partition(".")[2] for key in part.points if not key.endswith(".measured_exponent")):
            assert function in text, (name, function)
        assert leaks.leaks({"feedback.txt": text.encode("utf-8")}, secret) == [], name


@pytest.mark.parametrize("student", ["overflowing", "attacking"])
def test_a_student_cannot_put_a_script_on_the_page(pages: dict[str, str], student: str) -> None:
    page = BeautifulSoup(pages[student], "html.parser")
    assert "document.title = 'run'" in page.get_text()  # it is shown as text
    assert not [script for script in page.find_all("script") if "document.title" in script.get_text()]


def test_the_rubric_is_there_for_who_marks_and_not_for_the_student(course: Path, pages: dict[str, str]) -> None:
    answer = courses.load(LAB).parts[NAME].by_person[0]
    marked = course / "autograded" / "untouched" / LAB / f"{NAME}.ipynb"
    cells = nbformat.read(marked, as_version=4).cells
    below = next(i for i, c in enumerate(cells) if c.metadata.get("nbgrader", {}).get("grade_id") == answer.grade_id)
    assert answer.rubric[0].text in cells[below + 1].source
    assert "For whoever marks" not in BeautifulSoup(pages["untouched"], "html.parser").get_text()
