"""What an Otter archive names in its ``otter_config.json``: Otter's grading, without Otter running the submission.

Otter 7 would execute the notebook in a kernel beside itself, listen on a port for pickles from that kernel, and
unpickle the student's log and the kernel's results. None of that happens once this plugin is loaded: before Otter
begins, the submission is graded in the sandbox by a process of its own, the log is removed, and the function that
Otter calls to execute a notebook gives back those results instead.

``python -m autograder.formats.otter_plugin [FOLDER]`` runs Otter in Gradescope's folder, where Otter is not even
given the submission to read.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from otter.check.notebook import OTTER_LOG_FILENAME
from otter.plugins import AbstractOtterPlugin, PluginCollection
from otter.run.run_autograder import main as run_autograder
from otter.run.run_autograder.runners import python_runner
from otter.test_files import GradingResults
from otter.test_files.abstract_test import TestCase, TestCaseResult
from otter.test_files.exception_test import ExceptionTestFile

from autograder.formats import carried, gradescope, otter
from autograder.formats.carried import Graded, NoMark
from autograder.pages.words import UNDECIDED
from autograder.result import CheckResult, is_by_person

#: What Otter writes; the second is its own object, which ``otter run`` and ``otter grade`` read back.
RESULTS = ("results.json", "results.pkl")
#: What Otter calls to execute a notebook, before this plugin puts its own in the place of it.
_EXECUTE = python_runner.grade_notebook


class SandboxedGrader(AbstractOtterPlugin):  # type: ignore[misc]
    """Otter's view of the sandboxed grader. Configuration: ``source`` and ``submission``, where not Otter's own."""

    def before_grading(self, config: Any) -> None:
        """Grade now, and keep Otter from running or unpickling anything of the submission's."""
        root = Path(config.autograder_dir).absolute()
        settings = self.plugin_config or {}
        source = Path(settings.get("source", root / "source"))
        submission = Path(settings.get("submission", root / "submission"))
        # Otter's other ways to the student's files: their log, a PDF made from their notebook.
        config.grade_from_log, config.pdf, config.token = False, False, None
        (root / "submission" / OTTER_LOG_FILENAME).unlink(missing_ok=True)
        try:
            graded = in_a_process(source, submission)
        except NoMark as error:
            carried.refuse(error)
        found = grading_results(graded)

        def execute(*args: Any, plugin_collection: PluginCollection | None = None, **keywords: Any) -> GradingResults:
            if plugin_collection is None or self not in plugin_collection._plugins:
                # Another run, in a process in which ours did not come to its end.
                python_runner.grade_notebook = _EXECUTE
                return _EXECUTE(*args, plugin_collection=plugin_collection, **keywords)
            plugin_collection.run("after_grading", found)
            return found

        python_runner.grade_notebook = execute

    def generate_report(self) -> None:
        """Otter's last event: give back what was taken."""
        python_runner.grade_notebook = _EXECUTE


def in_a_process(source: Path, submission: Path) -> Graded:
    """Grade in a process of its own, which never stands in a folder of the student's. Raises ``NoMark``."""
    with tempfile.TemporaryDirectory(prefix="attnlab-") as private:
        target = Path(private, "graded.json")
        done = subprocess.run(
            # -P: no module is looked for in the current folder.
            [sys.executable, "-P", "-m", carried.__name__, str(source), str(submission), str(target)],
            cwd=private,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode or not target.is_file():
            said = done.stderr.strip().splitlines()[-1:] or ["the grader ended without an answer"]
            raise NoMark(said[0])
        return msgspec.json.decode(target.read_bytes(), type=Graded)


def grading_results(graded: Graded) -> GradingResults:
    """The result in Otter's own terms: a question for each step, a test case for each check.

    What waits is no question's test case, so that it counts neither as won nor as lost; it stands in questions of
    its own, without points.
    """
    visible = graded.show == "visible"
    files = []
    for task, group in groupby(graded.result.checks, lambda check: check.task):
        checks = list(group)
        waits = [c for c in checks if is_by_person(c) or c.verdict in UNDECIDED]
        decided = [c for c in checks if c not in waits]
        if decided:
            files.append(_question(task, decided, [c.max_points for c in decided], visible))
        if waits:
            files.append(_question(f"{task} (waits)", waits, [0] * len(waits), visible))
    results = GradingResults(files)
    results.set_output("\n".join(gradescope.overall(graded.result, graded.handed_in)))
    if graded.show == "hidden":
        results.hide_everything()
    return results


def _question(name: str, checks: list[CheckResult], points: list[float], visible: bool) -> ExceptionTestFile:
    cases = [
        TestCase(f"{check.function}: {check.title}", "", not visible, worth, None, None)
        for check, worth in zip(checks, points, strict=True)
    ]
    question = ExceptionTestFile(name, f"tests/{name}.py", cases, all_or_nothing=False)
    question.test_case_results = [
        TestCaseResult(case, gradescope.output(check), check.verdict == "passed")
        for case, check in zip(cases, checks, strict=True)
    ]
    return question


def main(root: Path = gradescope.ROOT) -> None:
    """Run Otter for the submission in Gradescope's folder, in a folder that holds nothing of the student's."""
    for file in RESULTS:
        (root / "results" / file).unlink(missing_ok=True)
    try:
        gradescope.close(root)
    except NoMark as error:
        carried.refuse(error)
    with tempfile.TemporaryDirectory(prefix="attnlab-") as private:
        own = Path(private)
        for name in ("source/tests", "submission", "results"):
            (own / name).mkdir(parents=True)
        config = json.loads((root / "source" / otter.CONFIG).read_text(encoding="utf-8"))
        where = {"source": str(root / "source"), "submission": str(root / "submission")}
        plugins = config.get("plugins", [])
        config["plugins"] = [{otter.PLUGIN: where} if plugin == otter.PLUGIN else plugin for plugin in plugins]
        (own / "source" / otter.CONFIG).write_text(json.dumps(config), encoding="utf-8")
        (own / "submission_metadata.json").write_text(json.dumps(gradescope.metadata(root)), encoding="utf-8")
        nbformat.write(nbformat.v4.new_notebook(), own / "submission" / "placeholder.ipynb")
        run_autograder(str(own))
        for file in RESULTS:
            shutil.copy(own / "results" / file, root / "results" / file)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
