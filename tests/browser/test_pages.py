"""The feedback page and the class page, in a browser: they load nothing, and can be used by everybody."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autograder import results
from autograder.pages.publish import publish
from autograder.result import Result
from tests.browser import chromium
from tests.grading import handmade

WHICH = ("index.html", "feedback/ada.html", "feedback/right.html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of ten, made by hand: one with every verdict in it, the others right."""
    out = tmp_path_factory.mktemp("marked")
    course = handmade.course_in(out / "clone")
    mixed = handmade.result(
        course,
        softmax__large="timeout",
        attention__one_token="failed",
        attention__rectangular="skipped",
        attention__mask="skipped",
        worked_example__weights="pending",
        worked_example__output="grader_error",
    )
    mixed.checks[2].suspect = "no_scale"
    mixed.message = "One cell did not run to the end."
    results.prepare(out)
    for name, result in _named(mixed, [handmade.result(course, f"right {i}") for i in range(9)]):
        results.write(out, name, result)
    publish(out, course.title, {})
    return out


def _named(mixed: Result, right: list[Result]) -> Iterator[tuple[str, Result]]:
    yield "ada", mixed
    for i, result in enumerate(right):
        yield f"right{i or ''}", result


@pytest.fixture(params=WHICH)
def address(folder: Path, request: pytest.FixtureRequest) -> str:
    return (folder / str(request.param)).as_uri()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


def test_a_page_asks_for_nothing_and_has_nothing_to_complain_about(page: Any, address: str) -> None:
    said = chromium.heard(page)
    page.goto(address)
    page.locator("summary").first.click()
    assert said == []


def test_headings_landmarks_and_table_heads_are_there(page: Any, address: str) -> None:
    page.goto(address)
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    levels = page.eval_on_selector_all("h1, h2, h3, h4, h5, h6", "all => all.map(one => Number(one.tagName[1]))")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("table").count() > 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("section:not([aria-labelledby])").count() == 0


def test_everything_is_reached_and_opened_from_the_keyboard(page: Any, address: str) -> None:
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    assert page.locator(":focus").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"

    page.goto(address)
    stops = page.locator("a[href]:visible, summary:visible, [tabindex='0']:visible").count()
    seen = []
    for _ in range(stops):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outline]"))
    assert "BODY" not in {name for name, _ in seen}
    assert not [name for name, outline in seen if "solid" not in outline]  # where one is can be seen
    before = page.locator("details").first.evaluate("details => details.open")  # a step with something lost is open
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.evaluate("details => details.open") != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_on_every_screen(browser: Any, address: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate(chromium.FAINT, "body") == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


def test_what_is_folded_is_printed_and_what_scrolls_is_whole(page: Any, address: str) -> None:
    page.goto(address)
    hidden = page.locator("details:not([open]) :is(li, tr)")
    assert not hidden.first.is_visible()
    page.emulate_media(media="print")
    seen = "all => all.map(one => one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }))"
    assert all(hidden.evaluate_all(seen))
    cut = "all => all.filter(one => one.scrollHeight > one.clientHeight + 1).map(one => one.ariaLabel)"
    assert page.locator(".scroll").evaluate_all(cut) == []


def test_at_twice_the_size_nothing_runs_off_the_screen(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 640, "height": 450}, device_scale_factor=2)
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 640
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, address: str, scheme: str) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    context = browser.new_context(viewport={"width": 640, "height": 450}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert chromium.unfit(page) == []
    context.close()


def test_a_table_is_sorted_from_the_keyboard_and_says_so(page: Any, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    head = page.locator("#submissions th").nth(1)
    scores = page.locator("#submissions tbody tr td:nth-child(2)")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    rising = [float(text) for text in scores.all_inner_texts()]
    assert rising == sorted(rising)
    assert rising[0] < rising[-1]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(text) for text in scores.all_inner_texts()] == rising[::-1]


def test_the_list_of_submissions_can_be_narrowed(page: Any, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    page.get_by_label("Only names with").fill("RIGHT 3")
    assert page.locator("#submissions tbody tr:visible").count() == 1


def test_the_class_page_is_whole_without_its_script(browser: Any, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    assert page.locator("#submissions tbody tr").count() == 10
    assert not page.get_by_label("Only names with").is_visible()
    context.close()
