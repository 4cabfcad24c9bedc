"""Formgrader in a real JupyterLab: the marks that a person sees there, and what they can add to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import course as courses
from tests.browser import chromium
from tests.browser.jupyterlab import NotebookPage, served
from tests.nbgrader_course.conftest import NAME, NOTEBOOKS
from tests.nbgrader_course.courses import LAB, gradebook, released, right

FILLED_IN = "(id) => !['', undefined].includes(document.getElementById(id)?.placeholder)"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing()),
]


@pytest.fixture(scope="module")
def address(course: Path) -> Iterator[str]:
    with served(course) as found:
        yield found


def test_formgrader_shows_the_marks_and_takes_a_persons(course: Path, address: str, tmp_path: Path) -> None:
    student = "overflowing"
    with gradebook(course) as book:
        number = book.find_submission_notebook(NAME, LAB, student).id
        score = book.find_submission(LAB, student).score
    with chromium.started() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/formgrader/manage_submissions/{LAB}")
        row = page.locator("tr", has_text=student)
        row.wait_for()
        assert f"{score:.2f}".rstrip("0") in row.inner_text()
        assert row.locator(".status").inner_text() == "needs manual grading"
        page.screenshot(path=tmp_path / "submissions.png")

        page.goto(f"{address}/formgrader/submissions/{number}/")
        step1 = page.locator("input#step1-check")
        page.wait_for_function(FILLED_IN, arg="step1-check")
        shown = float(step1.get_attribute("placeholder") or "nan")
        assert 0 < shown < 21
        # The page asks for marks and comments apart from each other, so that the one says nothing of the other.
        page.wait_for_function(FILLED_IN, arg="step1-softmax-comment")
        comment = page.locator("textarea#step1-softmax-comment")
        assert "not finite" in (comment.get_attribute("placeholder") or "")
        assert "What it most looks like" in page.locator("body").inner_text()
        assert page.title() != "run"  # the answer holds a script

        note = page.locator("input#step6-note")
        note.fill("3")
        with page.expect_response(lambda told: "/api/grade/" in told.url and told.request.method == "PUT"):
            note.press("Tab")
        page.screenshot(path=tmp_path / "submission.png", full_page=True)
    with gradebook(course) as book:
        assert book.find_grade("step6-note", NAME, LAB, student).manual_score == 3


def test_every_notebook_can_be_marked_in_formgrader(course: Path, address: str) -> None:
    with gradebook(course) as book:
        numbers = {name: book.find_submission_notebook(name, LAB, "right").id for name in NOTEBOOKS}
    with chromium.started() as browser:
        page = browser.new_page()
        for name, number in numbers.items():
            page.goto(f"{address}/formgrader/submissions/{number}/")
            points = courses.load(LAB).parts[name].points
            task = next(iter(points)).partition(".")[0]
            page.wait_for_function(FILLED_IN, arg=f"{task}-check")
            most = sum(value for key, value in points.items() if key.startswith(f"{task}."))
            assert float(page.locator(f"input#{task}-check").get_attribute("placeholder") or "nan") == most, name
            for answer in courses.load(LAB).parts[name].by_person:
                assert page.locator(f"input#{answer.grade_id}").is_visible(), name


@pytest.mark.soak
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_button_validate_says_that_all_is_well_and_what_is_not(tmp_path: Path, name: str) -> None:
    """nbgrader's own button in the bar above a notebook, as a student finds it in JupyterLab."""
    task = next(iter(courses.load(LAB).parts[name].points)).partition(".")[0]
    for file, notebook in (("right", right(name)), ("empty", released(name))):
        (tmp_path / f"{file}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with served(tmp_path) as address, chromium.started() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        assert "Success!" in validated(NotebookPage(page, address, "right.ipynb?reset"))
        assert f'check("{task}")' in validated(NotebookPage(page, address, "empty.ipynb?reset"))


def validated(notebook: NotebookPage) -> str:
    """What the dialogue says that opens when *Validate* is done: it runs the whole notebook."""
    notebook.page.locator(".validate-button:visible").click()
    dialogue = notebook.page.locator(".jp-Dialog-content")
    dialogue.wait_for(timeout=280_000)
    said = dialogue.inner_text()
    dialogue.get_by_role("button").last.click()
    return str(said)
