"""Formgrader in a real JupyterLab: the marks that a person sees there, and what they can add to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import chromium
from tests.browser.jupyterlab import served
from tests.nbgrader_course.conftest import NAME
from tests.nbgrader_course.courses import LAB, gradebook

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing()),
]


def test_formgrader_shows_the_marks_and_takes_a_persons(course: Path, tmp_path: Path) -> None:
    student = "overflowing"
    with gradebook(course) as book:
        number = book.find_submission_notebook(NAME, LAB, student).id
        score = book.find_submission(LAB, student).score
    with served(course) as address, chromium.started() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/formgrader/manage_submissions/{LAB}")
        row = page.locator("tr", has_text=student)
        row.wait_for()
        assert f"{score:.2f}".rstrip("0") in row.inner_text()
        assert row.locator(".status").inner_text() == "needs manual grading"
        page.screenshot(path=tmp_path / "submissions.png")

        page.goto(f"{address}/formgrader/submissions/{number}/")
        step1 = page.locator("input#step1-check")
        page.wait_for_function("() => document.querySelector('#step1-check').placeholder !== ''")
        shown = float(step1.get_attribute("placeholder") or "nan")
        assert 0 < shown < 21
        comment = page.locator("textarea#step1-softmax-comment")
        assert "not finite" in (comment.get_attribute("placeholder") or comment.input_value())
        assert "What it most looks like" in page.locator("body").inner_text()
        assert page.title() != "run"  # the answer holds a script

        note = page.locator("input#step6-note")
        note.fill("3")
        with page.expect_response(lambda told: "/api/grade/" in told.url and told.request.method == "PUT"):
            note.press("Tab")
        page.screenshot(path=tmp_path / "submission.png", full_page=True)
    with gradebook(course) as book:
        assert book.find_grade("step6-note", NAME, LAB, student).manual_score == 3
