"""An nbgrader course in a scratch folder, its commands without their start-up time, and what students hand in."""

from __future__ import annotations

import copy
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from traitlets.config.loader import PyFileConfigLoader

from autograder import course as courses
from autograder.formats.nbgrader import course_directory
from autograder.release import build, masters, skeleton

LAB = "lab07"
ROOT = Path(__file__).parents[2]
#: Where the commands of this environment are.
PROGRAMS = Path(sys.executable).parent
SEED = "a course seed for tests of nbgrader"

Change = Callable[[Any], None]


def new(folder: Path) -> Path:
    """A course with the masters' notebooks and nothing released yet."""
    (folder / "source" / LAB).mkdir(parents=True)
    for path in (ROOT / "source" / LAB).iterdir():
        shutil.copy(path, folder / "source" / LAB)
    (folder / "seed.txt").write_text(SEED, encoding="utf-8")
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    own = f"\nc = get_config()\nc.SubmissionExporter.course_seed = {str(folder / 'seed.txt')!r}\n"
    own += "c.SubmissionExporter.workers = 2\n"
    (folder / "nbgrader_config.py").write_text(config + own, encoding="utf-8")
    return folder


def generate_assignment(course: Path) -> None:
    _run(GenerateAssignment, course)


def autograde(course: Path, student: str = "*", notebook: str | None = None) -> None:
    """``nbgrader autograde lab07 --force``, and ``--student`` and ``--notebook``."""
    _run(Autograde, course, student, notebook)


def generate_feedback(course: Path, student: str = "*") -> None:
    _run(GenerateFeedback, course, student)


def run(*command: str, at: Path, timeout: float = 280, **variables: str) -> str:
    """What a command as people type it says; the environment itself is not activated, as in a Makefile."""
    own = {**os.environ, "PATH": os.defpath, "PYTHONPATH": os.pathsep.join([str(ROOT / "assignments"), str(ROOT)])}
    program, *arguments = command
    done = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=at,
        env={**own, "JUPYTER_CONFIG_DIR": str(at.parent / "jupyter"), **variables},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _run(command: type[Any], course: Path, student: str = "*", notebook: str | None = None) -> None:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    coursedir = course_directory(course)
    coursedir.assignment_id, coursedir.student_id = LAB, student
    if notebook:
        coursedir.notebook_id = notebook
    converter = command(coursedir=coursedir, config=config)
    converter.force = True
    converter.start()


@contextmanager
def gradebook(course: Path) -> Iterator[Gradebook]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as opened:
        yield opened


def right(name: str) -> Any:
    """A notebook as somebody hands it in who got everything right."""
    master = masters.read(ROOT / "source" / LAB / f"{name}.py", f"source/{LAB}/{name}.py")
    solved, released = build.shown(master, skeleton.solution), build.released(master)
    about = {cell.id: cell.metadata for cell in released.cells}
    for cell in solved.cells:
        cell.metadata = copy.deepcopy(about.get(cell.id, cell.metadata))
    return solved


def released(name: str) -> Any:
    return nbformat.read(ROOT / "release" / LAB / f"{name}.ipynb", as_version=4)


def changed(notebook: Any, *changes: Change) -> Any:
    made = copy.deepcopy(notebook)
    for change in changes:
        change(made)
    return made


def cell(notebook: Any, grade_id: str) -> Any:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def hand_in(course: Path, student: str, files: Mapping[str, Any]) -> Path:
    """Put files into ``submitted/``: notebooks under their names, bytes as they are."""
    folder = course / "submitted" / student / LAB
    folder.mkdir(parents=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode("utf-8")
        (folder / name).write_bytes(data)
    return folder


def zipped(files: Mapping[str, Any]) -> bytes:
    """An archive of notebooks, by path."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, json.dumps(content))
    return packed.getvalue()


def points(notebook: str) -> float:
    """What the machine can give in a notebook."""
    return sum(courses.load(LAB).parts[notebook].points.values())
