"""The lab as a student meets it: the folder that is handed out, in JupyterLab, from *Run All Cells* to the zip."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.browser.jupyterlab import DARK, LIGHT, NotebookPage, served
from tests.samples.build import ROOT, notebook

NOTEBOOK = "attention_lab.ipynb"
#: What each step asks for in code.
STEPS = {
    "step1": ("softmax", "attention", "self-attention"),
    "step2": ("worked-example",),
    "step3": ("compare-with-torch",),
    "step4": ("permutation-gap", "sinusoidal-positions", "equivariance-report"),
    "step5": ("time-calls", "local-slopes", "fit-exponent"),
    "step6": ("score-bytes", "peak-memory", "largest-n"),
    "step7": ("causal-mask", "prefix-gap"),
    "step8": ("kv-cache", "generate", "time-generation", "kv-cache-bytes"),
}
#: Sizes at which the measurements take seconds.
SMALL = {
    "SIZES = [128, 256, 512, 1024, 2048, 4096]": "SIZES = [64, 128, 256, 512]",
    "MEMORY_LIMIT = 2**29": "MEMORY_LIMIT = 2**26",
    "PROMPT_TOKENS, NEW_TOKENS = 16, 512": "PROMPT_TOKENS, NEW_TOKENS = 16, 32",
}
DELIVERABLES = {"scaling.png", "kv_latency.png", "measurements.json", "note.md"}


@pytest.fixture(scope="module")
def cells() -> dict[str, str]:
    """The solution's cells of code by their grade_id."""
    return {cell.id: cell.source for cell in notebook("solution").cells if cell.cell_type == "code"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that a student has unpacked."""
    with zipfile.ZipFile(ROOT / "release" / "lab07" / "lab07.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / "lab07"


@pytest.fixture
def lab(browser: Any, folder: Path, request: pytest.FixtureRequest) -> Iterator[NotebookPage]:
    with served(folder, request.param) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield NotebookPage(page, address, NOTEBOOK)
        page.close()


@pytest.mark.timeout(900)  # a minute on a machine that is idle
@pytest.mark.parametrize("lab", [LIGHT], indirect=True)
def test_from_run_all_to_the_zip(lab: NotebookPage, cells: dict[str, str], folder: Path) -> None:
    unsolved(lab, folder)
    solve(lab, cells, "step1")
    assert "1 of 8 steps" in lab.run(lab.find("progress()")).inner_text()
    folded_checks_open_without_a_mouse(lab, lab.find('check("step1")'))
    known_mistake(lab, cells)

    # The rest at sizes that take seconds, all but the last function.
    quick = {name: _with(source, SMALL) for name, source in cells.items()}
    last = quick["step8-kv-cache-bytes"]
    lab.fill({**quick, "step8-kv-cache-bytes": last.partition(":\n")[0] + ":\n    raise NotImplementedError\n"})
    lab.run_all()
    left = lab.show(lab.find("progress()")).locator(".attnlab").inner_text()
    assert "7 of 8 steps" in left
    assert "Not written yet: kv_cache_bytes." in left
    assert "if the hidden checks agree" in left
    lab.type(lab.find("def kv_cache_bytes("), last)
    lab.run_all()
    packed(lab, folder)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("lab", [LIGHT], indirect=True)
def test_every_step_at_the_keyboard_and_every_measurement_at_full_size(
    lab: NotebookPage, cells: dict[str, str], folder: Path
) -> None:
    unsolved(lab, folder)
    for step in STEPS:
        solve(lab, cells, step)
        if step == "step1":
            known_mistake(lab, cells)
    lab.fill({"step6-note": cells["step6-note"]})
    lab.run_all(seconds=900)
    packed(lab, folder)


def unsolved(lab: NotebookPage, folder: Path) -> None:
    """As handed out, every cell runs to its end and says what is to be done."""
    lab.run_all()
    lab.save()
    saved = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    code = [cell for cell in saved["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not [o for cell in code for o in cell["outputs"] if o["output_type"] == "error"]
    panel = lab.show(lab.find('check("step1")')).locator(".attnlab").inner_text()
    assert "not written yet" in panel
    assert "Begin with softmax" in panel
    progress = lab.show(lab.find("progress()")).locator(".attnlab")
    assert "0 of 8 steps" in progress.inner_text()
    assert "Hidden checks exist" in progress.inner_text()
    assert chromium.unfit(lab.page, ".attnlab") == []


def solve(lab: NotebookPage, cells: dict[str, str], step: str) -> None:
    """Write a step at the keyboard; then its panel turns."""
    for name in STEPS[step]:
        source = cells[f"{step}-{name}"]
        lab.type(lab.find(source.splitlines()[0]), source)
    panel = lab.run(lab.find(f'check("{step}")')).inner_text()
    assert "public checks hold" in panel
    assert "does not hold" not in panel


def known_mistake(lab: NotebookPage, cells: dict[str, str]) -> None:
    """A mistake is named, with a hint, where to read and a picture; mended, the panel turns back."""
    softmax, check = cells["step1-softmax"], lab.find('check("step1")')
    lab.type(lab.find("def softmax("), softmax.replace("axis=axis", "axis=0"))
    panel = lab.run(check)
    assert "wrong axis" in panel.inner_text()
    assert "chapter section 7.2" in panel.inner_text()
    # The picture shows the student's own rows beside their sums, in words and signs too.
    assert "every row must sum to 1" in panel.locator("figcaption").first.inner_text()
    assert panel.locator("figure td.bad").first.inner_text().startswith("✗")
    assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []
    assert chromium.unfit(lab.page, ".attnlab") == []
    lab.type(lab.find("def softmax("), softmax)
    assert "all 19 public checks hold" in lab.run(check).inner_text()


def folded_checks_open_without_a_mouse(lab: NotebookPage, check: int) -> None:
    summary = lab.show(check).locator("summary").first
    summary.focus()
    lab.page.keyboard.press("Space")
    assert summary.evaluate("summary => summary.parentElement.open")


def packed(lab: NotebookPage, folder: Path) -> None:
    """Finished, the plots and files are there, and one cell packs them with a receipt, once the notebook is saved."""
    assert "8 of 8 steps" in lab.show(lab.find("progress()")).locator(".attnlab").inner_text()
    assert {path.name for path in folder.glob("*.png")} == {"scaling.png", "kv_latency.png"}
    assert lab.show(lab.find("HEAD_DIM = 64")).locator("img").count() == 1

    last, archive = lab.find("# Is the notebook saved?"), folder / "lab07-submission.zip"
    lab.type(last, "from attnlab import pack; pack()")
    assert "Save the notebook" in lab.show(last).locator(".attnlab").inner_text()
    assert not archive.exists()
    lab.save()
    panel = lab.run(last)
    assert "Packed: lab07-submission.zip" in panel.inner_text()
    assert "8 of 8 steps pass" in panel.inner_text()
    assert chromium.unfit(lab.page, ".attnlab") == []

    with zipfile.ZipFile(archive) as there:
        assert DELIVERABLES | {NOTEBOOK, "receipt.json"} <= set(there.namelist())
        receipt = json.loads(there.read("receipt.json"))
        for file in receipt["files"]:
            assert hashlib.sha256(there.read(file["name"])).hexdigest() == file["sha256"]
    assert receipt["content_sha256"][:16] in panel.inner_text()
    checked = next(one for one in receipt["checks"] if one["file"] == NOTEBOOK)
    assert [step["held"] for step in checked["steps"]] == [step["of"] for step in checked["steps"]]


def _with(source: str, changes: dict[str, str]) -> str:
    for there, put in changes.items():
        source = source.replace(there, put)
    return source


@pytest.mark.parametrize("lab", [DARK], indirect=True)
def test_a_panel_is_readable_in_the_dark_and_on_a_narrow_screen(lab: NotebookPage) -> None:
    lab.run(lab.find("from __future__"))
    lab.page.set_viewport_size({"width": 390, "height": 900})
    for cell in ('check("step1")', "progress()"):
        panel = lab.run(lab.find(cell))
        assert "not written yet" in panel.inner_text() or "There is no softmax yet" in panel.inner_text()
        assert lab.page.evaluate(chromium.FAINT, ".attnlab") == []
        assert chromium.unfit(lab.page, ".attnlab") == []
        assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
