"""The panel wherever a notebook is shown: each front end says in its own way whether its page is light or dark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnlab.checking import check
from attnlab.overview import progress
from tests.browser import chromium

#: The body of a page, the colours of the system, and those that the panel then has.
FRONT_ENDS = {
    "plain HTML": ("", "light", "light"),
    "plain HTML in the dark": ("", "dark", "dark"),
    "VS Code, dark": ('class="vscode-dark" data-vscode-theme-kind="vscode-dark"', "light", "dark"),
    "VS Code, light": ('class="vscode-light" data-vscode-theme-kind="vscode-light"', "dark", "light"),
    "VS Code, high contrast": ('data-vscode-theme-kind="vscode-high-contrast"', "light", "dark"),
    "VS Code, high contrast light": ('data-vscode-theme-kind="vscode-high-contrast-light"', "dark", "light"),
    "classic Notebook": ('class="notebook_app"', "dark", "light"),
    "JupyterLab, dark": ('data-jp-theme-light="false"', "light", "dark"),
    "JupyterLab, light": ('data-jp-theme-light="true"', "dark", "light"),
}
#: What VS Code and the classic Notebook do to any output.
THEIRS = """
code { color: #d0d0d0; background: #3c3c3c; padding: 1px 3px; }
thead { background: #454545; border-bottom: 1px solid black; }
tbody tr:nth-child(odd) { background: #f5f5f5; }
td, th { text-align: right; white-space: pre; }
"""
LIGHTNESS = """panel => getComputedStyle(panel).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"""


def softmax(x: Any, axis: int = -1) -> Any:
    """Over the wrong axis."""
    e = np.exp(x)
    return e / e.sum(axis=0, keepdims=True)


@pytest.fixture(scope="module")
def shown() -> str:
    """A panel with a picture, and the lab at a glance."""
    panel, overview = check(step1=softmax), progress("attention_lab")
    assert panel is not None
    assert overview is not None
    return panel._repr_html_() + overview._repr_html_()


def test_a_panel_has_no_script_and_asks_for_nothing(browser: Any, shown: str) -> None:
    assert "<script" not in shown
    page = browser.new_page()
    said = chromium.heard(page)
    page.set_content(shown)
    assert page.locator("figure").count() == 1
    assert said == []
    page.close()


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_panel_is_as_light_or_dark_as_the_page_around_it_and_can_be_read(
    browser: Any, shown: str, front_end: str
) -> None:
    body, system, expected = FRONT_ENDS[front_end]
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=system)
    page = context.new_page()
    page.set_content(f"<!doctype html><html lang=en><title>x</title><style>{THEIRS}</style><body {body}>{shown}</body>")
    for panel in page.locator(".attnlab").all():
        red, green, blue = panel.evaluate(LIGHTNESS)
        assert (red + green + blue > 3 * 128) == (expected == "light")
        assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    assert page.evaluate(chromium.FAINT, "body") == []
    assert chromium.unfit(page, ".attnlab") == []
    context.close()


def test_without_its_style_a_panel_still_says_everything_in_words(browser: Any, shown: str) -> None:
    # The classic Notebook takes styles away from a notebook that it does not trust.
    page = browser.new_page()
    page.set_content(shown.replace("<style>", "<template>").replace("</style>", "</template>"))
    text = page.locator("body").inner_text()
    for said in (
        "✗ does not hold",
        "every row must sum to 1",
        "What it most looks like",
        "Read: chapter section",
        "✗ 1.",
    ):
        assert said in text
    page.close()
