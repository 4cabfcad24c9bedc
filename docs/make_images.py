"""Make the pictures of the README anew: ``python -m docs.make_images``. Needs Chromium and playwright.

Every picture is of the real thing: samples are graded, and the released notebook runs in JupyterLab.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browser import chromium
from tests.browser.jupyterlab import NotebookPage, served
from tests.samples import build

IMAGES = Path(__file__).parent / "images"
#: Whose feedback page is shown.
SAMPLE = "wrong-softmax-over-queries"
WIDTH = 1000


def main() -> None:
    """Write ``feedback.png``, ``class.png`` and ``panel.png``."""
    if chromium.missing():
        raise SystemExit(f"Pictures need a browser: {chromium.missing()}.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, chromium.started() as browser:
        folder = Path(name)
        marked = graded(folder)
        feedback = shown(browser, marked / "feedback" / f"{SAMPLE}.html")
        picture(feedback, "feedback", feedback.locator("#made").bounding_box()["y"])
        of_class = shown(browser, marked / "index.html")
        picture(of_class, "class", of_class.locator("#tasks").bounding_box()["y"])
        panel(browser, folder)


def graded(folder: Path) -> Path:
    """The samples, graded as on the command line."""
    build.write(folder / "submissions")
    (folder / "seed").write_text("the pictures of the README", encoding="utf-8")
    command = [sys.executable, "-c", "from autograder.cli import main; main()", "grade", str(folder / "submissions")]
    options = ["--assignment", "lab07", "--out", str(folder / "marked"), "--course-seed", str(folder / "seed")]
    subprocess.run([*command, *options], check=True)
    return folder / "marked"


def shown(browser: Any, file: Path) -> Any:
    """A page of the grader, in light colours."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 800}, color_scheme="light")
    page.goto(file.as_uri())
    return page


def picture(page: Any, name: str, height: float) -> None:
    """The top of a page, down to ``height`` pixels."""
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": round(height)}
    page.screenshot(path=IMAGES / f"{name}.png", full_page=True, clip=clip)


def panel(browser: Any, folder: Path) -> None:
    """Step 1 with a softmax over the wrong axis, as the notebook shows it."""
    notebook = "attention_lab.ipynb"
    (folder / "lab").mkdir()
    shutil.copy(build.ROOT / "release" / "lab07" / notebook, folder / "lab")
    cells = {cell.id: cell.source for cell in build.notebook("solution").cells}
    cells["step1-softmax"] = cells["step1-softmax"].replace("axis=axis", "axis=0")
    with served(folder / "lab") as address:
        page = browser.new_page(viewport={"width": WIDTH, "height": 1000})  # the whole panel is in sight
        lab = NotebookPage(page, address, notebook)
        lab.run(lab.find("from __future__"))
        for name in ("softmax", "attention", "self_attention"):
            lab.type(lab.find(f"def {name}("), cells[f"step1-{name.replace('_', '-')}"])
        check = lab.find('check("step1")')
        lab.run(check)
        lab.show(check).screenshot(path=IMAGES / "panel.png")


if __name__ == "__main__":
    main()
