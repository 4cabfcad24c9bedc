"""The lab as a student meets it: the released notebook in JupyterLab, from *Run All Cells* to the first step."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
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
    lab.run_all()
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
    panel = lab.run(check)
    assert "wrong axis" in panel.inner_text()
    assert "chapter section 7.2" in panel.inner_text()
    # The picture shows the student's own rows beside their sums, in words and signs too.
    assert "every row must sum to 1" in panel.locator("figcaption").first.inner_text()
    assert panel.locator("figure td.bad").first.inner_text().startswith("✗")
    assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []
    assert chromium.unfit(lab.page, ".attnlab") == []


@pytest.fixture
def nearly_done(browser: Any, tmp_path: Path) -> Iterator[NotebookPage]:
    """The lab with its last function not written yet, and sizes at which its measurements take seconds."""
    book = notebook("solution")
    for cell in book.cells:
        for sizes, small in SMALL.items():
            cell.source = cell.source.replace(sizes, small)
        if cell.source.startswith("def kv_cache_bytes("):
            cell.source = cell.source.partition(":\n")[0] + ":\n    raise NotImplementedError\n"
    nbformat.write(book, tmp_path / "attention_lab.ipynb")
    with served(tmp_path, LIGHT) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield NotebookPage(page, address, "attention_lab.ipynb")
        page.close()


SMALL = {
    "SIZES = [128, 256, 512, 1024, 2048, 4096]": "SIZES = [64, 128, 256, 512]",
    "MEMORY_LIMIT = 2**29": "MEMORY_LIMIT = 2**26",
    "PROMPT_TOKENS, NEW_TOKENS = 16, 512": "PROMPT_TOKENS, NEW_TOKENS = 16, 32",
}


def test_from_the_last_function_to_the_zip(nearly_done: NotebookPage, cells: dict[str, str], tmp_path: Path) -> None:
    lab = nearly_done
    progress, function = lab.find("progress()"), lab.find("def kv_cache_bytes(")
    lab.run_all()
    left = lab.show(progress).locator(".attnlab").inner_text()
    assert "7 of 8 steps" in left
    assert "Not written yet: kv_cache_bytes." in left
    assert "if the hidden checks agree" in left

    # Finished, the rest of the lab runs, and its plots and files are there.
    solution = next(source for source in cells.values() if source.startswith("def kv_cache_bytes("))
    lab.type(function, solution)
    lab.run_all()
    assert "8 of 8 steps" in lab.show(progress).locator(".attnlab").inner_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {"scaling.png", "kv_latency.png"}

    # What is not saved is not packed, and the panel says what to do.
    lab.type(progress, "from attnlab import pack\npack()")
    assert "Save the notebook" in lab.show(progress).locator(".attnlab").inner_text()
    assert not (tmp_path / "lab07-submission.zip").exists()
    lab.page.keyboard.press("Control+s")
    saved = "() => !jupyterapp.shell.currentWidget.context.model.dirty"
    lab.page.wait_for_function(saved)
    panel = lab.run(progress)
    assert "Packed: lab07-submission.zip" in panel.inner_text()
    assert "8 of 8 steps pass" in panel.inner_text()
    with zipfile.ZipFile(tmp_path / "lab07-submission.zip") as archive:
        assert {"attention_lab.ipynb", "scaling.png", "note.md", "receipt.json"} <= set(archive.namelist())
    assert chromium.unfit(lab.page, ".attnlab") == []


@pytest.mark.parametrize("lab", [DARK], indirect=True)
def test_a_panel_is_readable_in_the_dark_and_on_a_narrow_screen(lab: NotebookPage) -> None:
    lab.run(lab.find("from __future__"))
    lab.page.set_viewport_size({"width": 390, "height": 900})
    panel = lab.run(lab.find('check("step1")'))
    assert "There is no softmax yet" in panel.inner_text()
    assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
