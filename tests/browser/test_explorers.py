"""The explorers as pages and in JupyterLab: they load nothing, fit, and answer to the keyboard with NumPy's numbers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlab import chapter
from attnlab.explorers import EXPLORERS, write
from autograder.reference import attention, block_costs
from tests.browser import chromium
from tests.browser.jupyterlab import DARK, NotebookPage, served
from tests.samples.build import ROOT

WIDTHS = (1280, 640, 390, 320)
#: What must not change while somebody steps through the stages.
HEIGHT = "document.querySelector('.attnlab-explorer').getBoundingClientRect().height"

FOCUSED = "document.activeElement.outerHTML.slice(0, 200)"
#: Whether what has the focus, or what stands for it, is outlined.
MARKED = """() => {
  const at = document.activeElement;
  const marks = [at, at.nextElementSibling, at.querySelector(".hit")].filter(Boolean);
  return marks.map((one) => getComputedStyle(one)).some((style) =>
    (style.outlineStyle !== "none" && style.outlineWidth === "3px") || style.strokeWidth === "3px");
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The address of every explorer's page."""
    return {file.stem: file.as_uri() for file in write(tmp_path_factory.mktemp("explorers"))}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


def cells(page: Any, caption: str) -> np.ndarray:
    """The numbers of the matrix with this caption that is shown."""
    table = page.locator("table", has=page.locator("caption", has_text=caption)).locator("visible=true").first
    rows = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText))"
    )
    return np.array([[float(text.replace("−", "-")) for text in row] for row in rows])


def finding(page: Any) -> str:
    return str(page.get_by_role("status").inner_text())


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_page_asks_for_nothing_and_fits_at_both_widths(browser: Any, pages: dict[str, str], name: str) -> None:
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 800})
        said = chromium.heard(page)
        page.goto(pages[name])
        assert page.get_by_role("heading", level=1).inner_text() == EXPLORERS[name].title
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert finding(page)
        assert said == []
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", EXPLORERS)
def test_text_stands_out_in_light_and_in_dark(browser: Any, pages: dict[str, str], name: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(pages[name])
    assert page.evaluate(chromium.FAINT, "body") == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_page(browser: Any, pages: dict[str, str], scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    found = {}
    for name, address in pages.items():
        page.goto(address)
        found[name] = chromium.unfit(page)
    assert found == {name: [] for name in pages}
    context.close()


@pytest.mark.parametrize("name", ["attention-layer", "kv-cache"])
def test_on_a_narrow_screen_the_finding_stays_in_view_and_hides_no_control_that_has_the_focus(
    browser: Any, pages: dict[str, str], name: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 700})
    page.goto(pages[name])
    page.get_by_role("button", name="Back to the start").focus()
    status = page.get_by_role("status")
    for _ in range(25):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        over = "one => document.activeElement.getBoundingClientRect().bottom - one.getBoundingClientRect().top"
        under = "one => document.activeElement.getBoundingClientRect().top - one.getBoundingClientRect().bottom"
        assert status.evaluate(over) <= 1 or status.evaluate(under) >= -1, page.evaluate(FOCUSED)
        assert status.evaluate("one => one.getBoundingClientRect().bottom") <= 700
    page.close()


@pytest.mark.parametrize("name", EXPLORERS)
def test_everything_is_named_reached_by_tab_and_seen_to_have_the_focus(
    page: Any, pages: dict[str, str], name: str
) -> None:
    page.goto(pages[name])
    controls = page.locator("main :is(button, input, select, [tabindex='0'])").locator("visible=true")
    # Of the radio buttons of a group only the chosen one is a stop.
    stops = controls.evaluate_all("all => all.filter(one => one.type !== 'radio' || one.checked).length")
    seen = []
    for _ in range(stops):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.tagName"))
        assert page.evaluate(MARKED), page.evaluate("document.activeElement.outerHTML")
    assert "BODY" not in seen
    for line in page.locator("main").aria_snapshot().splitlines():
        assert line.strip(" -") not in ("button", "combobox", "radio", "slider", "spinbutton", "switch", "textbox")


def test_the_first_picture_is_the_chapters(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["attention-layer"])
    np.testing.assert_allclose(cells(page, "A: weights"), chapter.PRINTED["weights"], atol=1e-12)


def test_the_row_that_is_worked_out_on_paper_is_numpys(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["attention-layer"])
    weights, values = chapter.PRINTED["weights"][2], chapter.X @ chapter.W_V
    powers = np.exp(chapter.X[2] @ chapter.W_Q @ (chapter.X @ chapter.W_K).T / np.sqrt(2))
    worked = page.locator(".arithmetic")
    assert worked.inner_text().splitlines()[::2][:2] == [  # between two lines there is an empty one
        f"exp of the row: [{', '.join(f'{power:.4f}' for power in powers)}]",
        f"their sum: {powers.sum():.4f}",
    ]
    page.get_by_role("button", name="Next →").press("Enter")
    terms = [f"{w:.4f} × [{v[0]:.2f}, {v[1]:.2f}]" for w, v in zip(weights, values, strict=True)]
    assert all(term in worked.inner_text() for term in terms)


def test_the_keyboard_turns_the_mask_on_and_the_layer_into_a_causal_one(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["attention-layer"])
    before = page.evaluate(HEIGHT)
    page.get_by_role("switch", name="Causal mask").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="sütü").locator("visible=true").last.focus()
    page.keyboard.press("Enter")
    mask = attention.causal_mask(3)
    output, weights = attention.self_attention(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V, mask)
    np.testing.assert_allclose(cells(page, "A: weights"), weights, atol=5.1e-5)
    assert f"{weights[1, 0]:.4f} on kedi" in finding(page)
    assert "The mask hides içti" in finding(page)
    page.get_by_role("radio", name="4 Softmax").focus()
    page.keyboard.press("ArrowRight")
    np.testing.assert_allclose(cells(page, "AV: after"), output, atol=5.1e-5)
    assert page.evaluate(HEIGHT) == before


def test_arrow_keys_go_from_row_to_row_and_take_the_focus_along(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["attention-head"])
    page.get_by_role("table").get_by_role("button", name="it", exact=True).focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.innerText") == "because"
    assert "“because” puts its largest weight, 0.38" in finding(page)


def test_what_is_typed_into_the_sentence_stays_text(page: Any, pages: dict[str, str]) -> None:
    said = chromium.heard(page)
    page.goto(pages["attention-head"])
    page.get_by_label("Last word of the sentence").fill("<img src=x>")
    assert page.locator("img").count() == 0
    assert page.get_by_role("button", name="<img src=x>").count() == 2
    assert said == []


@pytest.mark.parametrize("way", ["keys", "mouse"])
def test_a_key_that_is_moved_scores_as_in_numpy(page: Any, pages: dict[str, str], way: str) -> None:
    page.goto(pages["query-key-plane"])
    tip = page.get_by_role("application", name="k(kedi)")
    if way == "keys":
        tip.focus()
        for pressed in ("ArrowUp", "ArrowUp", "Shift+ArrowLeft"):
            page.keyboard.press(pressed)
    else:
        start = tip.locator("rect").bounding_box()
        plane = page.locator(".plane").bounding_box()
        right, up = (1.1 + 1.5) / 4, (0.25 + 1.5) / 4  # of a plane from -1.5 to 2.5
        page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        page.mouse.down()
        page.mouse.move(plane["x"] + plane["width"] * right, plane["y"] + plane["height"] * (1 - up), steps=5)
        page.mouse.up()
    keys = chapter.PRINTED["keys"].copy()
    keys[0] = (1.1, 0.25)
    query = chapter.PRINTED["queries"][2:]
    _, weights = attention.attention(query, keys, keys)
    shown = cells(page, "Each key against")
    np.testing.assert_allclose(shown[:, 0], keys @ query[0], atol=5.1e-5)
    np.testing.assert_allclose(shown[:, 3], weights[0], atol=5.1e-5)
    assert f"a weight of {weights.max():.4f}" in finding(page)


def test_the_slider_of_the_width_repaints_the_picture(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["sinusoids"])
    page.get_by_role("slider", name="d_model").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    table = attention.sinusoidal_positions(128, 70)
    assert f"{table[20] @ table[36]:.4f}" in finding(page)
    assert page.evaluate("document.querySelector('canvas').height") == 70
    pixel = "document.querySelector('canvas').getContext('2d').getImageData(3, 10, 1, 1).data[0]"
    assert page.evaluate(pixel) == pytest.approx(244 - (244 - 13) * (table[3, 10] + 1) / 2, abs=1)


def test_a_point_of_the_curve_is_taken_with_the_mouse(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["sinusoids"])
    box = page.locator(".picture.low").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 32.5 / 128, box["y"] + 30, steps=3)
    page.mouse.up()
    table = attention.sinusoidal_positions(128, 64)
    assert f"positions 20 and 52 have the dot product {table[20] @ table[52]:.4f}" in finding(page)
    assert page.get_by_role("spinbutton", name="Offset k").input_value() == "32"


def test_a_cell_of_the_mask_is_closed_by_the_keyboard(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["masks"])
    page.get_by_role("button", name="kedi looks at kedi: 0.6961").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    mask = np.ones((3, 3), bool)
    mask[0, 1] = False
    _, weights = attention.self_attention(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V, mask)
    np.testing.assert_allclose(cells(page, "A row looks"), weights, atol=5.1e-5)
    assert "8 of 9 cells are open" in finding(page)
    assert page.get_by_role("button", name="kedi looks at sütü: not allowed").count() == 1


def test_a_part_of_the_block_is_left_out_by_the_keyboard(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["residual-stream"])
    page.get_by_role("radio", name="1 As it arrives").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    shown = page.get_by_role("group", name="içti").locator(".number:not(.change)").all_inner_texts()
    assert [float(text) for text in shown] == chapter.PRINTED["block"][2].tolist()
    page.get_by_role("switch", name="Feed-forward").focus()
    page.keyboard.press("Space")
    shown = page.get_by_role("group", name="içti").locator(".number:not(.change)").all_inner_texts()
    assert [float(text) for text in shown] == chapter.PRINTED["residual"][2].tolist()
    assert "nothing is added" in finding(page)


def test_a_ready_made_shape_and_two_layers_more(page: Any, pages: dict[str, str]) -> None:
    page.goto(pages["kv-cache"])
    assert "52.4288 GB = 48.8281 GiB" in finding(page)
    page.get_by_label("Model shape").select_option("Llama-3-8B")
    assert "131,072 bytes = 128.000 KiB" in page.locator(".facts").inner_text()
    page.get_by_role("slider", name="Layers").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    bytes_of_all = 8192 * block_costs.kv_bytes_per_token(34, 8, 128)
    assert f"{bytes_of_all / 1e9:,.4f} GB = {bytes_of_all / 2**30:,.4f} GiB" in finding(page)


def test_back_to_the_start(page: Any, pages: dict[str, str]) -> None:
    for address in pages.values():
        page.goto(address)
        first = page.locator("main").inner_text()
        page.get_by_role("slider").or_(page.get_by_role("switch")).or_(page.get_by_role("radio")).last.focus()
        page.keyboard.press("Space")
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="Back to the start").press("Enter")
        assert page.locator("main").inner_text() == first


def test_the_notebook_shows_them_and_arrow_keys_stay_in_them(browser: Any, tmp_path: Path) -> None:
    shutil.copy(ROOT / "release" / "lab07" / "explorers.ipynb", tmp_path)
    with served(tmp_path, DARK) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        notebook = NotebookPage(page, address, "explorers.ipynb")
        notebook.run_all()
        for name, start in (("attention-layer", 'layer = explore("'), ("query-key-plane", 'explore("query-key-plane"')):
            shown = notebook.show(notebook.find(start)).locator(".attnlab-explorer")
            shown.wait_for()
            assert EXPLORERS[name].title in shown.inner_text()
            assert shown.evaluate("one => one.scrollWidth <= one.clientWidth")
            # Every group of choices has one that is chosen, whatever the figures above and below it have.
            chosen = "groups => groups.map((group) => group.querySelectorAll(':checked').length)"
            assert shown.locator("fieldset").evaluate_all(chosen) == [1]
        tip = shown.get_by_role("application", name="k(kedi)")
        tip.focus()
        page.keyboard.press("ArrowUp")
        assert tip.get_attribute("aria-label") == "k(kedi) at [1.35, 0.20]"
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "k(kedi) at [1.35, 0.20]"
        assert page.evaluate(chromium.FAINT, ".attnlab-explorer") == []

        # What is shown reaches Python, and what Python sets is shown.
        layer = notebook.show(notebook.find('layer = explore("')).locator(".attnlab-explorer")
        layer.get_by_role("switch", name="Causal mask").check()
        compared = notebook.find("if experiment(__name__):")
        notebook.type(compared, "print(layer.shown['weights'][0], layer.state['causal']); layer.state = {'token': 0}")
        assert "[1, 0, 0] True" in notebook.show(compared).inner_text()
        layer = notebook.show(notebook.find('layer = explore("')).locator(".attnlab-explorer")
        layer.get_by_role("status").filter(has_text="kedi puts 1.0000 on kedi").wait_for()
        page.close()
