"""The lab as a student meets it: the released notebook in JupyterLab, from *Run All Cells* to the first step."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.browser.jupyterlab import DARK, LIGHT, NotebookPage, served
from tests.samples.build import ROOT, notebook

FUNCTIONS = ("softmax", "attention", "self_attention")


@pytest.fixture(scope="module")
def cells() -> dict[str, str]:
    """The solution's cells by their grade_id."""
    return {cell.id: cell.source for cell in notebook("solution").cells}


@pytest.fixture
def lab(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[NotebookPage]:
    shutil.copy(ROOT / "release" / "lab07" / "attention_lab.ipynb", tmp_path)
    with served(tmp_path, request.param) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield NotebookPage(page, address, "attention_lab.ipynb")
        page.close()


@pytest.mark.parametrize("lab", [LIGHT], indirect=True)
def test_from_run_all_to_a_solved_step(lab: NotebookPage, cells: dict[str, str], tmp_path: Path) -> None:
    check, progress = lab.find('check("step1")'), lab.find("progress()")

    # Unsolved, every cell runs to its end and says what is to be done.
    lab.run_all(progress)
    lab.saved()
    saved = json.loads((tmp_path / "attention_lab.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in saved["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not [o for cell in code for o in cell["outputs"] if o["output_type"] == "error"]
    panel = lab.show(check).locator(".attnlab").inner_text()
    assert "not written yet" in panel
    assert "Begin with softmax" in panel
    assert "0 of 8 steps" in lab.show(progress).locator(".attnlab").inner_text()

    # Solved at the keyboard, the panel turns.
    for name in FUNCTIONS:
        lab.type(lab.find(f"def {name}("), cells["step1-" + name.replace("_", "-")])
    panel = lab.run(check)
    assert "all 19 public checks hold" in panel.inner_text()
    assert "1 of 8 steps" in lab.run(progress).inner_text()

    # What holds is folded, and opens without a mouse.
    summary = lab.show(check).locator("summary").first
    summary.focus()
    lab.page.keyboard.press("Space")
    assert summary.evaluate("summary => summary.parentElement.open")

    # A known mistake is named.
    lab.type(lab.find("def softmax("), cells["step1-softmax"].replace("axis=axis", "axis=0"))
    assert "wrong axis" in lab.run(check).inner_text()
    assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []


@pytest.mark.parametrize("lab", [DARK], indirect=True)
def test_a_panel_is_readable_in_the_dark_and_on_a_narrow_screen(lab: NotebookPage) -> None:
    lab.run(lab.find("from __future__"))
    lab.page.set_viewport_size({"width": 390, "height": 900})
    panel = lab.run(lab.find('check("step1")'))
    assert "There is no softmax yet" in panel.inner_text()
    assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
