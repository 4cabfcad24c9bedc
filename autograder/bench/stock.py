"""A notebook of the lab as an instructor would have it graded without this kit, by nbgrader or by Otter as they come.

Their tests run where the submission runs. A hidden check of this kit, which sits at the other end of a wire, cannot; so
each step gets one test: `assert` that its public checks hold. These are quicker than the hidden checks and draw no
inputs, and nothing is measured in them, which favours nbgrader and Otter. The submission is the same file for all of
them: nbgrader puts its hidden tests back into it, Otter brings them along, and this grader has its own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat

from attnlab import GRADING
from attnlab.checking import declared
from autograder import course
from autograder.bench import processes
from autograder.release import build, masters, skeleton
from autograder.sandbox import launch

COURSE_CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "bench"
# Where the experiments run, one cell takes longer than the usual half a minute.
c.ExecutePreprocessor.timeout = 600
"""

_CHECK = re.compile(r'^check\("(\w+)"\)$', re.MULTILINE)
_NBGRADER_TEST = """\
{check}
### BEGIN HIDDEN TESTS
from attnlab.checking import run_step

report = run_step("{step}", globals())
assert report.passed, report.summary()
### END HIDDEN TESTS"""
_OTTER_TEST = """\
from attnlab.checking import run_step
from otter.test_files import test_case

OK_FORMAT = False

name = "{step}"
points = {points}


@test_case(points={points}, hidden=True)
def test_{step}(env):
    report = run_step("{step}", env)
    assert report.passed, report.summary()
"""


class Stock:
    """One notebook with a test for each of its steps, and the right submission to it.

    ``experiments``: the peers run the lab's experiments too, as they run whatever is in a notebook.
    """

    def __init__(self, assignment: str, name: str, *, experiments: bool = False) -> None:
        self.assignment, self.name, self.experiments = assignment, name, experiments
        root = course.find_root()
        self._master = masters.read(root / "source" / assignment / f"{name}.py", f"{name}.py")
        self._source = build.shown(self._master, skeleton.for_nbgrader)
        #: The points of each step that has a test.
        self.points: dict[str, float] = {}
        for cell in self._source.cells:
            about, steps = cell.metadata.get("nbgrader", {}), _CHECK.findall(cell.source)
            if about.get("grade") and not about.get("solution") and steps:
                (step,) = steps
                self.points[step] = about["points"]
                cell.source = _NBGRADER_TEST.format(check=cell.source, step=step)

    @property
    def tests(self) -> int:
        """How many public checks stand behind the tests."""
        return sum(len(declared(step)) for step in self.points)

    def right(self) -> str:
        """What somebody hands in who got everything right, as text."""
        about = {cell.id: cell.metadata for cell in build.released(self._master).cells}
        book = build.shown(self._master, skeleton.solution)
        for cell in book.cells:
            cell.metadata = about.get(cell.id, cell.metadata)
        return str(nbformat.writes(book))

    def nbgrader_course(self, folder: Path) -> None:
        """A course of nbgrader's own kind, in which the assignment is released. Raises ``processes.Failed``."""
        source = folder / "source" / self.assignment
        source.mkdir(parents=True)
        (folder / "nbgrader_config.py").write_text(COURSE_CONFIG, encoding="utf-8")
        (source / f"{self.name}.ipynb").write_text(nbformat.writes(self._source), encoding="utf-8")
        command = [*module("nbgrader"), "generate_assignment", self.assignment]
        processes.run(command, folder=folder, environment=self.environment(folder))

    def otter_archive(self, folder: Path) -> Path:
        """What ``otter run --autograder`` takes. Raises ``processes.Failed``."""
        tests = folder / "tests"
        tests.mkdir(parents=True)
        for step, points in self.points.items():
            (tests / f"{step}.py").write_text(_OTTER_TEST.format(step=step, points=points), encoding="utf-8")
        archive = folder / "autograder.zip"
        words = ["generate", "--tests-dir", str(tests), "--output-path", str(archive)]
        processes.run([*module("otter"), *words], folder=folder, environment=self.environment(folder))
        return archive

    def environment(self, folder: Path) -> Mapping[str, str]:
        """That of this process, but with nobody's own configuration.

        Both peers start a kernel in which ``__name__`` is ``__main__``, so that the experiments run, half a minute and
        more. Without ``experiments`` they are left out, by the variable by which this grader leaves them out.
        """
        own = {name: str(folder / ".own" / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "IPYTHONDIR")}
        attnlab = launch.attnlab_folder()
        own["PYTHONPATH"] = str(attnlab.parent) if attnlab is not None else ""
        # nbgrader starts programs of the environment that it lies in.
        own["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        plain = {name: value for name, value in os.environ.items() if name != GRADING}
        return {**plain, **own, **({} if self.experiments else {GRADING: "1"})}


def module(name: str) -> list[str]:
    """How a peer is started: with this interpreter, whatever lies on the path of programs."""
    return [sys.executable, "-m", name]
