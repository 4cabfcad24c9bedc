"""What must hold before anything is handed out. Each function gives the problems that it found.

All of it looks at what was built and not yet written, so a release that is refused has not changed anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from autograder.course import Course
from autograder.release.problem import Problem
from autograder.result import Result

#: Grades one submission, given as its files' names and contents.
Grade = Callable[[str, Mapping[str, bytes]], Result]

#: Seconds for an import or for the public checks of a whole notebook; both are quick unless something hangs.
PATIENCE = 300

_IMPORT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(sys.argv[1], sys.argv[2])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
"""


def imports(path: str, content: bytes, packages: Path) -> list[Problem]:
    """A module can be imported, and importing it runs no experiment: it prints nothing and writes nothing."""
    with TemporaryDirectory(prefix="import-") as scratch:
        file, folder = Path(scratch, PurePosixPath(path).name), Path(scratch, "elsewhere")
        file.write_bytes(content)
        folder.mkdir()
        done = _python(["-c", _IMPORT, file.stem, str(file)], folder, packages)
        written = sorted(entry.name for entry in folder.iterdir())
    if done is None:
        return [_unguarded(path, f"Importing it took more than {PATIENCE} seconds.")]
    if done.returncode:
        return [Problem(path, f"Importing it stops with {_last_line(done.stderr)}", "Mend the master.")]
    if written:
        return [_unguarded(path, f"Importing it writes {', '.join(written)}.")]
    if done.stdout.strip():
        return [_unguarded(path, f"Importing it prints {done.stdout.strip().splitlines()[0][:60]!r}.")]
    return []


def _unguarded(path: str, what: str) -> Problem:
    return Problem(path, what, "Put what measures, prints or writes under `if experiment(__name__):`.")


def public_checks(path: str, content: bytes, packages: Path) -> list[Problem]:
    """The public checks pass on the solution, as a student would run them."""
    with TemporaryDirectory(prefix="public-") as scratch:
        file = Path(scratch, PurePosixPath(path).name)
        file.write_bytes(content)
        done = _python(["-m", "attnlab", "check", str(file), "--json"], Path(scratch), packages)
    if done is None:
        return [Problem(path, f"The public checks took more than {PATIENCE} seconds.", "Run `attnlab check` on it.")]
    if done.returncode == 0:
        return []
    told = _failing(done.stdout) or [_last_line(done.stderr)]
    return [
        Problem(path, f"A public check does not pass on the solution: {line}", "Mend one of the two.") for line in told
    ]


def _failing(printed: str) -> list[str]:
    """The checks of ``attnlab check --json`` that did not pass, as ``id: message``."""
    try:
        report = json.loads(printed)
    except ValueError:
        return []
    found: list[str] = []
    todo: list[object] = [report]
    while todo:
        match todo.pop():
            case {"id": str(identifier), "verdict": str(verdict), **rest}:
                if verdict != "passed":
                    found.append(f"{identifier}: {rest.get('message') or verdict}")
            case dict() as table:
                todo += table.values()
            case list() as items:
                todo += items
    return sorted(found)


def known_to_students(course: Course) -> Iterator[Problem]:
    """The student package has every notebook, and every task of it, that the course gives points for."""
    from attnlab.steps import NOTEBOOKS

    table = "assignments/attnlab/steps.py, NOTEBOOKS"
    for notebook, part in course.parts.items():
        if notebook not in NOTEBOOKS:
            yield Problem(table, f"There is no notebook {notebook}, so students cannot check it.", "Add a line for it.")
            continue
        known = [step.id for step in NOTEBOOKS[notebook]]
        for task in dict.fromkeys(key.partition(".")[0] for key in part.points):
            if task not in known:
                yield Problem(table, f"{notebook} has no task {task}.", f"Add it, or correct {', '.join(known)}.")


def hints(course: Course) -> Iterator[Problem]:
    """Every step has a hint of every depth, and no two are the same."""
    from attnlab.hints import DEPTHS, hint

    steps = sorted({key.partition(".")[0] for part in course.parts.values() for key in part.points})
    for step in steps:
        told: dict[str, int] = {}
        for depth in DEPTHS:
            try:
                text = hint(step, depth).strip()
            except (LookupError, ValueError):
                text = ""
            if not text:
                what = f"{step} has no hint of depth {depth}."
                yield Problem("assignments/attnlab/hints.toml", what, f"Write it; there are {len(DEPTHS)} for a step.")
            elif text in told:
                what = f"The hints of depth {told[text]} and {depth} of {step} are the same."
                yield Problem("assignments/attnlab/hints.toml", what, "Let the deeper one say more.")
            told[text] = depth


def full_marks(result: Result, where: str) -> Iterator[Problem]:
    """The solution gets every point that this machine can give now; a busy one cannot measure."""
    for check in result.checks:
        if check.verdict not in ("passed", "by_person", "pending", "inconclusive"):
            what = f"The solution does not pass {check.id} ({check.verdict}): {check.message or check.title}"
            yield Problem(where, what, "Mend the solution or the check.")
    reachable = result.max_score - result.pending_points - result.manual_points
    if result.score != reachable:
        yield Problem(where, f"The solution scores {result.score:g} of {reachable:g}.", "Mend what is named here.")


def no_marks(result: Result, where: str) -> Iterator[Problem]:
    """An untouched skeleton gets nothing, and is an error of nobody but the student."""
    for check in result.checks:
        if check.points or check.verdict in ("passed", "grader_error", "pending", "inconclusive"):
            what = f"The untouched skeleton gets {check.points:g} points ({check.verdict}) in {check.id}."
            yield Problem(where, what, "Make the check compare a real answer with the truth.")
    if result.score:
        yield Problem(where, f"The untouched skeleton scores {result.score:g}.", "It must score 0.")


def stray(root: Path, course: Course, tree: Iterable[str]) -> Iterator[Problem]:
    """Nothing lies in what is handed out but what was built."""
    lab, built = course.assignment, set(tree)
    folders = [Path(root, "release", lab), Path(root, "assignments", lab)]
    others = [path for path in sorted(Path(root, "release").glob("*")) if not path.is_dir()]
    for path in [*others, *(path for folder in folders for path in sorted(folder.rglob("*")))]:
        name = path.relative_to(root).as_posix()
        if name not in built and "__pycache__" not in path.parts and (path.is_symlink() or not path.is_dir()):
            yield Problem(name, "This file was not built from a master.", "Move it away, or it is handed out.")


def _python(arguments: list[str], folder: Path, packages: Path) -> subprocess.CompletedProcess[str] | None:
    """Run Python in ``folder`` with ``packages`` importable; None where it did not end in time."""
    environment = {**os.environ, "PYTHONPATH": str(packages.resolve()), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("ATTNLAB_GRADING", None)
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
