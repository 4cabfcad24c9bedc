"""Otter: the folder that a student gets, and what is Otter's own in the archive that grades it.

In the student's notebook ``grader.check("step1")`` runs the same public checks as ``check("step1")`` elsewhere, from
files in ``tests``. The marks come from `autograder.formats.otter_plugin`, which the archive names.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import nbformat

from attnlab.checking import declared
from attnlab.steps import NOTEBOOKS
from autograder.conventions import DELIVERABLES
from autograder.course import Course
from autograder.formats import gradescope

CONFIG = "otter_config.json"
PLUGIN = "autograder.formats.otter_plugin.SandboxedGrader"

_CHECK = re.compile(r'^check\("(\w+)"\)$', re.MULTILINE)

_TEST_FILE = '''\
"""{label}: the public checks, for Otter. The mark comes from other checks, on inputs that are not published."""

from attnlab.otter_tests import PublicChecks
from otter.test_files import test_case

OK_FORMAT = False

name = "{step}"
points = 0

checks = PublicChecks("{step}")
'''

_TEST_CASE = """

@test_case(name={name})
def test_{number}(env):
    checks.hold("{check}", env)
"""

_BEGIN = """\
# Initialize Otter
import otter

grader = otter.Notebook("{file}")"""

_SUBMIT = """\
## Submission

Run the notebook from top to bottom, **save it**, then run the cell below. It makes a zip file with the notebook and the
files that it wrote; hand that in. As long as points wait or a check does not hold you can still hand in: the mark comes
from other checks, and a person reads what you wrote in words."""

_EXPORT = """\
from pathlib import Path

written = [name for name in {files} if Path(name).is_file()]
grader.export("{file}", pdf=False, ignore_log=True, files=written)"""


def student_folder(name: str, notebook: Any) -> dict[str, bytes]:
    """What a student gets of one notebook, by path; ``notebook`` is the skeleton as it is released."""
    book = student_notebook(name, notebook)
    nbformat.validate(book)
    text = str(nbformat.writes(book, version=nbformat.NO_CONVERT))
    files = {f"{name}.ipynb": text.rstrip("\n").encode("utf-8") + b"\n"}
    for step in checked_steps(book):
        files[f"tests/{step}.py"] = test_file(name, step).encode("utf-8")
    return files


def student_notebook(name: str, notebook: Any) -> Any:
    """The notebook with Otter's first cell, ``grader.check`` in place of ``check``, and a cell that makes the zip."""
    book = copy.deepcopy(notebook)
    with_checks = {step.id for step in NOTEBOOKS.get(name, ()) if step.functions}
    for cell in book.cells:
        if cell.cell_type == "code" and _CHECK.search(cell.source):
            source = _CHECK.sub(lambda found: _checked_by_otter(found, with_checks), cell.source)
            if source != cell.source:
                # nbgrader's checksum is of the text before.
                cell.source, cell.metadata = source, _locked()
    first = next((i for i, cell in enumerate(book.cells) if cell.cell_type == "code"), len(book.cells))
    file = f"{name}.ipynb"
    book.cells.insert(first, _cell("code", "otter-begin", _BEGIN.format(file=file)))
    book.cells.append(_cell("markdown", "otter-submission", _SUBMIT))
    book.cells.append(_cell("code", "otter-export", _EXPORT.format(file=file, files=DELIVERABLES)))
    return book


def _checked_by_otter(found: re.Match[str], steps: set[str]) -> str:
    return f"grader.{found[0]}" if found[1] in steps else found[0]


def _cell(kind: str, name: str, source: str) -> Any:
    about: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": _locked(), "source": source}
    if kind == "code":
        about |= {"execution_count": None, "outputs": []}
    return nbformat.from_dict(about)


def _locked() -> Any:
    return nbformat.from_dict({"deletable": False, "editable": False})


def checked_steps(book: Any) -> list[str]:
    """The steps that a notebook asks Otter to check, in order."""
    return re.findall(r'^grader\.check\("(\w+)"\)$', "\n".join(c.source for c in book.cells), re.MULTILINE)


def test_file(notebook: str, step: str) -> str:
    """A file of the folder ``tests``: a test case for each public check of the step, without points."""
    label = next(one.label for one in NOTEBOOKS[notebook] if one.id == step)
    text = _TEST_FILE.format(label=label, step=step)
    for number, check in enumerate(declared(step), 1):
        shown = json.dumps(f"{check.function}: {check.sentence}", ensure_ascii=False)
        text += _TEST_CASE.format(name=shown, number=number, check=check.id)
    return text


def entries(course: Course) -> dict[str, bytes]:
    """What is Otter's own in the archive of a notebook, by path."""
    return {
        **gradescope.scripts("autograder.formats.otter_plugin"),
        CONFIG: (json.dumps(config(course), indent=2) + "\n").encode("utf-8"),
        # Otter wants the folder. It is empty: it is copied beside the submission, and holds no check of anybody's.
        "tests/README.md": b"The marks come from the plugin in otter_config.json; there is no test file here.\n",
    }


def config(course: Course) -> dict[str, Any]:
    """``otter_config.json``. Students see the questions when ``show_checks`` says so.

    Otter knows no due date: ``after_due_date`` is ``after_published`` here.
    """
    return {
        "plugins": [PLUGIN],
        "show_hidden": True,
        "show_all_public": course.show_checks == "visible",
        # Otter's summary of public tests would say "All test cases passed!" of none.
        "force_public_test_summary": False,
    }
