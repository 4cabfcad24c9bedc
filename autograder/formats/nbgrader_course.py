"""A folder as an nbgrader course that grades with this grader: what ``nbgrader_config.py`` turns on.

nbgrader takes its steps as lists of preprocessors and an exporter, all by configuration. Here the steps of
``autograde`` that would run a student's notebook, or trust what stands in its metadata, are replaced: the submission is
graded in the sandbox as a whole, and the notebook that formgrader shows is made in the released notebook's frame.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import re
import stat
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor
from traitlets import Enum, Integer, Unicode

from autograder import course as courses
from autograder import submission
from autograder.conventions import MAX_TIMESTAMP_BYTES, TIMESTAMP, timestamp
from autograder.course import Course, CourseError
from autograder.discover import Handed
from autograder.formats import FormatError, nbgrader_gradebook, nbgrader_view
from autograder.kit import kit_version
from autograder.names import display_name
from autograder.notebook_file import Notebook
from autograder.release.skeleton import Malformed, skeleton
from autograder.result import Result
from autograder.results import FolderError, kept
from autograder.sandbox import launch
from autograder.sandbox.launch import NoIsolation
from autograder.settings import Device, Isolation, Settings
from autograder.trees import OnDisk

_HERE = __name__
_NBGRADER = "nbgrader.preprocessors"

#: What makes a released notebook of a source notebook, and a place for it in the gradebook.
RELEASING = [
    f"{_HERE}.Skeletons",
    *(f"{_NBGRADER}.{name}" for name in ("LockCells", "ClearOutput", "CheckCellMetadata", "ComputeChecksums")),
    *(f"{_NBGRADER}.{name}" for name in ("SaveCells", "CheckCellMetadata")),
]


def configure(c: Any) -> None:
    """Set everything that ``nbgrader_config.py`` of a course needs; ``c`` is nbgrader's configuration.

    Names of classes are given as text, so that nothing is loaded for commands that do not use them.
    """
    nbgrader_gradebook.make_ready()
    root = courses.find_root()
    masters = sorted({path.name for path in (root / "source").glob("*/*.py")})
    # nbgrader copies what lies beside a notebook, also to students. The masters hold the solutions.
    c.CourseDirectory.ignore = [*CourseDirectory.ignore.default_args[0], *masters]
    # Every name, as "*" is; but for "*" itself nbgrader empties release/<assignment> first, where archives lie too.
    c.CourseDirectory.notebook_id = "[!.]*"
    # release/ is there in a clone, and without this nbgrader would leave it alone and not fill its gradebook either.
    c.GenerateAssignment.force = True
    c.GenerateAssignment.preprocessors = RELEASING
    c.Autograde.exporter_class = f"{_HERE}.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = []  # nothing of a submission but text gets past the exporter
    c.Autograde.autograde_preprocessors = [
        f"{_HERE}.GradeInSandbox",
        f"{_HERE}.LatePenalties",
        f"{_NBGRADER}.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors = [
        f"{_HERE}.Rubrics",
        *(f"{_NBGRADER}.GetGrades", "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"),
    ]
    # A student's HTML would otherwise run in the browser of the person who marks, who may change the gradebook.
    c.HTMLExporter.filters = {"markdown2html": f"{_HERE}.harmless_markdown"}


def harmless_markdown(source: str) -> str:
    """Markdown as HTML, in which HTML of its own is shown as text and no link runs anything."""
    renderer = _Renderer(escape=True, allow_harmful_protocols=False)
    return MarkdownWithMath(renderer=renderer).render(source)


class _Renderer(IPythonRenderer):
    """Says where a picture is that was pasted into a cell; the view has the text of cells only."""

    def image(self, text: str, url: str, title: str | None = None) -> str:
        kind, _, name = url.partition(":")
        if kind == "attachment":
            return f"<em>(A picture, {escape(unquote(name))}: it is in the notebook that was handed in.)</em>"
        return super().image(text, url, title)


class Skeletons(NbGraderPreprocessor):  # type: ignore[misc]
    """What a student gets of a notebook, as `autograder release` makes it: the SKELETON lines for each solution."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        for cell in nb.cells:
            try:
                cell.source = skeleton(cell.source)
            except Malformed as wrong:
                where = f"{resources['nbgrader']['notebook']}, cell {cell.get('id')}, line {wrong.line + 1}"
                raise NbGraderException(f"{where}: {wrong.what} {wrong.remedy}") from None
        nb.cells = [cell for cell in nb.cells if cell.source.strip() or "nbgrader" in cell.metadata]
        return nb, resources


class SubmissionExporter(NotebookExporter):
    """Reads submissions for ``nbgrader autograde``, whatever became of their files, and has them graded once."""

    course_seed = Unicode("", help="A file with the course seed; default: the course's own.").tag(config=True)
    device = Enum(("auto", "cpu", "cuda"), "auto", help="Where measured checks run.").tag(config=True)
    isolation = Enum(("auto", "bubblewrap", "user", "none"), "auto", help="What keeps submissions in.").tag(config=True)
    workers = Integer(0, help="Processes that grade; 0: one per core.").tag(config=True)
    results_directory = Unicode(
        "graded", help="Where the results go, with a folder for each assignment; as --out of `autograder grade`."
    ).tag(config=True)

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)  # type: ignore[no-untyped-call]
        #: Where each student's result is, and the one that was asked for last.
        self._graded: dict[str, tuple[Path, str]] = {}
        self._result: tuple[str | None, Result | None] = (None, None)
        self._unchanged: set[str] = set()
        #: The student whose turn it is, and what was handed in.
        self._read: tuple[str | None, dict[str, Notebook]] = (None, {})
        if not isinstance(self.parent, Autograde):
            raise NbGraderException("SubmissionExporter is for `nbgrader autograde` only.")
        self._converter: Any = self.parent
        self.coursedir: CourseDirectory = self.parent.coursedir
        with said_plainly(self.log):
            self._assignment: str = self.coursedir.assignment_id
            self.course: Course = courses.load(self._assignment)
            self._take_stock()

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        """The file as handed in becomes a notebook in the released one's frame; a file of ours is read as it is."""
        student, name = resources["nbgrader"]["student"], resources["nbgrader"]["notebook"]
        if Path(filename).parent != Path(self._submitted(student)):
            ours: tuple[Any, Any] = super().from_filename(filename, resources=resources, **kw)
            return ours
        with said_plainly(self.log):
            released = read_released(self.coursedir, self._assignment, name)
        resources["metadata"] = {"name": name, "path": str(Path(filename).parent)}
        if self._read[0] != student:
            self._read = student, notebooks(self.coursedir, student, self.course)
        shown = nbgrader_view.view(released, self._read[1].get(name))
        made: tuple[Any, Any] = self.from_notebook_node(shown, resources)  # type: ignore[no-untyped-call]
        return made

    def result(self, student: str) -> Result:
        """The result of a student's whole submission; with the first one asked for, all that follow are graded."""
        known, result = self._result
        if result is None or known != student:
            with said_plainly(self.log):
                if student not in self._graded:
                    self._grade(student)
                result = kept(*self._graded[student]).result
            self._result = student, result
        return result

    def is_new(self, student: str) -> bool:
        """Whether the submission, or the grader, changed since the run before."""
        return self.result(student).submission not in self._unchanged

    def finished(self, result: Result) -> None:
        self.log.info(f"{display_name(result.submission)}: {result.score:g} of {result.max_score:g} points")

    def unchanged(self, result: Result) -> None:
        self._unchanged.add(result.submission)
        self.log.info(f"{display_name(result.submission)}: unchanged, {result.score:g} of {result.max_score:g} points")

    def note(self, text: str) -> None:
        self.log.warning(text)

    def _take_stock(self) -> None:
        """Every folder that was handed in with every notebook that it should hold, by their own names.

        nbgrader looks for files with these names; a renamed one, a module or an archive would be passed over.
        """
        launch.choose(self.isolation)
        wanted = [name for name in self.course.notebooks if fnmatch.fnmatchcase(name, self.coursedir.notebook_id)]
        # Paths stay text here: nbgrader compares them letter by letter.
        folders = [f for f in glob.glob(self._submitted(self.coursedir.student_id)) if Path(f).is_dir()]  # noqa: PTH207
        self._converter.assignments = {f: [f"{f}{os.sep}{name}.ipynb" for name in wanted] for f in folders}
        # Files beside the notebooks are copied for the person who marks: what is no plain file, never.
        unsafe = [glob.escape(path) for folder in folders for path in not_plain(folder)]
        self.coursedir.ignore = [*self.coursedir.ignore, *unsafe]

    def _submitted(self, student: str) -> str:
        path: str = self.coursedir.format_path(self.coursedir.submitted_directory, student, self._assignment)
        return path

    def _grade(self, first: str) -> None:
        """Grade ``first`` and everybody after it, in the order that nbgrader goes through them."""
        from autograder import grade
        from autograder.workers import cores

        folders = sorted(self._converter.assignments)
        rest = folders[folders.index(self._submitted(first)) :]
        handed = [handed_in(self.coursedir, self._student(folder), self._assignment) for folder in rest]
        out = Path(self.coursedir.root, self.results_directory, self._assignment)
        summary = grade.run(
            handed, self._settings(), out, workers=self.workers or cores(), report=self, work=grade.grade_one
        )
        done = set(summary.done)
        self._graded |= {job.handed.name: (out, job.stem) for job in grade.jobs(handed) if job.stem in done}
        if summary.stopped:
            raise KeyboardInterrupt
        if summary.grader_errors:
            self.log.error(
                f"The grader made an error in {summary.grader_errors} of {summary.total} submissions. Their marks must "
                f"not be given out; `autograder report {out}` names them."
            )

    def _student(self, folder: str) -> str:
        pattern = self.coursedir.format_path(
            self.coursedir.submitted_directory, "(?P<student>.*)", re.escape(self._assignment), escape=True
        )
        found = re.fullmatch(pattern, folder)
        return found["student"] if found else Path(folder).name

    def _settings(self) -> Settings:
        seed = courses.read_seed(Path(self.course_seed)) if self.course_seed else courses.own_seed(self.course)
        return Settings(
            assignment=self._assignment,
            course=self.course,
            seed=seed,
            seed_id=courses.seed_id(seed),
            kit_version=kit_version(),
            device=cast(Device, self.device),
            isolation=cast(Isolation, self.isolation),
        )


class GradeInSandbox(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of running the notebook: enters what the sandboxed grader found, and shows it in the notebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        exporter: SubmissionExporter = self.parent
        about, coursedir = resources["nbgrader"], exporter.coursedir
        student, name, course = about["student"], about["notebook"], exporter.course
        result = exporter.result(student)
        with said_plainly(self.log), Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            released = read_released(coursedir, course.assignment, name)
            cells = {name: nbgrader_view.comment_cells(released, result.checks)}
            again = exporter.is_new(student)
            nbgrader_gradebook.write_marks(gradebook, student, result, course, [name], cells, again=again)
        nb = nbgrader_view.with_rubrics(nb, course.parts[name].by_person)
        return nbgrader_view.with_findings(nb, result, name), resources


class Rubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes the rubrics out of feedback pages, unless course.toml shows them to students."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        with said_plainly(self.log):
            course = courses.load(resources["nbgrader"]["assignment"])
        return (nb if course.show_rubrics else nbgrader_view.without_rubrics(nb)), resources


class LatePenalties(AssignLatePenalties):  # type: ignore[misc]
    """nbgrader's own rule for late work, if it has one and course.toml has none; else a penalty that is there stays."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        self.init_plugin()
        exporter: SubmissionExporter = self.parent
        none_here = getattr(self.plugin_inst, "penalty_method", None) == "none"
        if exporter.course.policy.late is not None or none_here:
            return nb, resources
        done: tuple[Any, Any] = super().preprocess(nb, resources)
        return done


def read_released(coursedir: CourseDirectory, assignment: str, name: str) -> Any:
    """A notebook as students got it. `FormatError` where ``nbgrader generate_assignment`` has not made it yet."""
    path = Path(coursedir.format_path(coursedir.release_directory, ".", assignment), f"{name}.ipynb")
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        why = f"cannot be read ({type(error).__name__})" if path.exists() else "is not there"
        raise FormatError(f"{path} {why}. Run `nbgrader generate_assignment {assignment}` first.") from None


def handed_in(coursedir: CourseDirectory, student: str, assignment: str) -> Handed:
    """What nbgrader collected from a student, as something to grade; a link on the way to it is not followed."""
    path = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment))
    inner = tuple(map(os.fsencode, path.relative_to(coursedir.root).parts))
    folder = OnDisk(student, "folder", os.fsencode(coursedir.root), inner)
    stamps = [file for file in folder.children() if file.name == TIMESTAMP and not file.is_folder]
    received = timestamp(stamps[0].start(MAX_TIMESTAMP_BYTES).decode("utf-8", "replace")) if stamps else None
    return Handed(name=student, pieces=folder.pieces(), received=received)


def notebooks(coursedir: CourseDirectory, student: str, course: Course) -> dict[str, Notebook]:
    """The notebooks that nbgrader collected from a student, by their proper names."""
    handed = handed_in(coursedir, student, course.assignment)
    return submission.load(handed, course.assignment, courses.signatures(course)).notebooks


def not_plain(folder: str) -> Iterator[str]:
    """Links and special files below a folder: copying them would read what they lead to, perhaps without an end."""
    for place, _, files in os.walk(folder):
        for file in files:
            path = f"{place}{os.sep}{file}"
            if not stat.S_ISREG(os.lstat(path).st_mode):
                yield path


@contextlib.contextmanager
def said_plainly(log: Any) -> Iterator[None]:
    """What a person can put right, as nbgrader reports errors: one sentence in its log."""
    try:
        yield
    except (CourseError, FolderError, FormatError, NoIsolation) as error:
        log.error(str(error))
        raise NbGraderException(str(error)) from None
