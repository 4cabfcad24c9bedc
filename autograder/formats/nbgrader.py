"""Marks from a folder of results into the gradebook of an nbgrader course, beside what a person has entered there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder import course as courses
from autograder.course import Course
from autograder.formats import FormatError, nbgrader_gradebook, nbgrader_view
from autograder.formats.nbgrader_course import RELEASING, notebooks, read_released
from autograder.result import Result
from autograder.results import read_all

CONFIG = "nbgrader_config.py"
#: What nbgrader itself gives the notebooks that it graded.
_READ_ONLY = 0o444

NO_RESULTS = "{folder} has no results yet. Run `autograder grade` with --out {folder} first."
NOT_WRITABLE = (
    "nbgrader's gradebook {url} cannot be written ({why}). If it comes from an older nbgrader, make a copy of it and "
    "run `nbgrader db upgrade`."
)


def export(folder: Path, root: Path | None = None) -> Iterator[str]:
    """Enter the results of ``folder`` in the gradebook of the course at ``root``; yields what was done, in sentences.

    ``root``: where ``nbgrader_config.py`` lies; by default here, or else the grader's clone. Where a submission lies in
    the course's ``submitted/``, its notebooks are put into ``autograded/`` too, for formgrader to show. Raises
    `FormatError` and `course.CourseError`.
    """
    kept, _ = read_all(folder)
    if not kept:
        raise FormatError(NO_RESULTS.format(folder=folder))
    coursedir = course_directory(root or _course_here())
    nbgrader_gradebook.make_ready()
    try:
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            for assignment in dict.fromkeys(one.result.assignment for one in kept):
                of_it = (one.result for one in kept if one.result.assignment == assignment)
                yield from _enter(gradebook, coursedir, courses.load(assignment), of_it)
    except SQLAlchemyError as error:
        raise FormatError(NOT_WRITABLE.format(url=coursedir.db_url, why=type(error).__name__)) from None


def course_directory(root: Path) -> CourseDirectory:
    """The course at ``root`` as its ``nbgrader_config.py`` describes it, if it has one."""
    config = Config()
    if (root / CONFIG).is_file():
        config = PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    if not config.CourseDirectory.get("root"):
        config.CourseDirectory.root = str(root.resolve())
    return CourseDirectory(config=config)


def _course_here() -> Path:
    here = Path.cwd()
    return here if (here / CONFIG).is_file() or (here / "gradebook.db").is_file() else courses.find_root()


def _enter(gradebook: Gradebook, coursedir: CourseDirectory, course: Course, kept: Iterable[Result]) -> Iterator[str]:
    if missing := _register(gradebook, coursedir, course):
        yield f"{', '.join(missing)} of {course.assignment} had no place in nbgrader's gradebook yet, and has one now."
    released = {name: read_released(coursedir, course.assignment, name) for name in course.notebooks}
    count = shown = 0
    for result in kept:
        count += 1
        nbgrader_gradebook.add_submission(gradebook, result.submission, course.assignment, result.received)
        cells = {
            name: nbgrader_view.comment_cells(released[name], [c for c in result.checks if c.notebook == name])
            for name in course.notebooks
        }
        nbgrader_gradebook.write_marks(gradebook, result.submission, result, course, course.notebooks, cells)
        shown += _show(coursedir, course, released, result)
    gradebook_file = coursedir.db_url.removeprefix("sqlite:///")
    submissions = "submission" if count == 1 else "submissions"
    yield f"{gradebook_file} has the marks of {count} {submissions} of {course.assignment}."
    if shown < count:
        yield (
            f"{count - shown} of them do not lie in {coursedir.submitted_directory}/ of the course, so formgrader "
            "has their marks and cannot show their notebooks."
        )


def _register(gradebook: Gradebook, coursedir: CourseDirectory, course: Course) -> list[str]:
    """Make a place for the notebooks that nbgrader does not know yet, as `nbgrader generate_assignment` would.

    What that has released stays as it is; it is written only where there is nothing.
    """
    known = set()
    with contextlib.suppress(MissingEntry):
        known = {notebook.name for notebook in gradebook.find_assignment(course.assignment).notebooks}
    missing = [name for name in course.notebooks if name not in known]
    if not missing:
        return []
    gradebook.update_or_create_assignment(course.assignment)
    config = Config()
    config.Exporter.default_preprocessors = []
    exporter = NotebookExporter(config=config)
    for preprocessor in RELEASING:
        exporter.register_preprocessor(preprocessor)
    for name in missing:
        source = Path(coursedir.format_path(coursedir.source_directory, ".", course.assignment), f"{name}.ipynb")
        if not source.is_file():
            raise FormatError(f"{source} is not there; `autograder release {course.assignment}` makes it.")
        about = {"notebook": name, "assignment": course.assignment, "student": ".", "db_url": coursedir.db_url}
        text, _ = exporter.from_filename(str(source), resources={"nbgrader": about})
        target = Path(coursedir.format_path(coursedir.release_directory, ".", course.assignment), f"{name}.ipynb")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(str(text), encoding="utf-8")
    gradebook.db.expire_all()
    return missing


def _show(coursedir: CourseDirectory, course: Course, released: dict[str, Any], result: Result) -> bool:
    """Put a submission's notebooks where formgrader looks for them; False where it was not collected by nbgrader."""
    student = result.submission
    if student in (".", "..") or "/" in student or os.sep in student or "\0" in student:
        return False
    if not Path(coursedir.format_path(coursedir.submitted_directory, student, course.assignment)).is_dir():
        return False
    handed_in = notebooks(coursedir, student, course)
    target = Path(coursedir.format_path(coursedir.autograded_directory, student, course.assignment))
    target.mkdir(parents=True, exist_ok=True)
    for name in course.notebooks:
        notebook = nbgrader_view.view(released[name], handed_in.get(name))
        notebook = nbgrader_view.with_rubrics(notebook, course.parts[name].by_person)
        text = nbformat.writes(nbgrader_view.with_findings(notebook, result, name))
        path = target / f"{name}.ipynb"
        draft = target / f".{name}.{os.getpid()}"
        draft.write_text(str(text), encoding="utf-8")
        draft.chmod(_READ_ONLY)
        draft.replace(path)
    return True
