"""``autograder release``: build, look for problems, and only then write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder import engine, submission
from autograder.course import Course, CourseError, find_root, load, signatures
from autograder.kit import kit_version
from autograder.release import build, gate, leaks
from autograder.release.agreement import disagreements, not_graded
from autograder.release.execute import execute
from autograder.release.masters import Master, read
from autograder.release.mutants import survivors
from autograder.release.problem import Problem, Refused
from autograder.result import Result
from autograder.settings import Settings


def release(assignment: str, *, check: bool) -> int:
    """Build an assignment from its masters and write it, or, with ``check``, compare it with what is there.

    ``check`` leaves out the named mistakes, which take minutes and do not depend on the files. Returns the exit
    code: 0 all well; 1 refused, or (``check``) something differs; 2 no such assignment.
    """
    try:
        root = find_root()
        course = load(assignment, root)
    except CourseError as error:
        print(error)
        return 2
    try:
        masters = read_masters(root, course)
        tree = build.build(root, course, masters)
        problems = list(_problems(root, course, masters, tree))
        if check:
            old = [master for master in masters if not _is_current(root, course, master)]
            return _report(root, tree, problems, [executed(course, master) for master in old])
        if problems:
            raise Refused(problems)
        print("Making every named mistake in the solution; this takes some minutes …", flush=True)
        texts = {master.name: tree[_filled_in(course, master)].decode("utf-8") for master in masters}
        if problems := list(survivors(course, texts)):
            raise Refused(problems)
        for master in masters:
            if not _is_current(root, course, master):
                print(f"Executing the solution of {master.name} …", flush=True)
                notebook = execute(build.solution_notebook(master), master.label, root / "assignments")
                tree[executed(course, master)] = build.notebook_bytes(notebook)
    except Refused as refused:
        return _refused(assignment, refused.problems)
    changed = differences(root, tree)
    for path in changed:
        _write(root / path, tree[path])
        print(f"wrote {path}")
    print(f"{assignment} is released: {len(changed)} of {len(tree)} files changed.")
    return 0


def _refused(assignment: str, problems: list[Problem]) -> int:
    print(f"{assignment} is not released. To mend first ({len(problems)}):")
    for problem in problems:
        print(f"- {problem}")
    return 1


def read_masters(root: Path, course: Course) -> list[Master]:
    """The masters of an assignment, in the order of ``course.toml``; last what is not graded. Raises ``Refused``."""
    masters: list[Master] = []
    problems: list[Problem] = []
    for name in course.all_notebooks:
        label = f"source/{course.assignment}/{name}.py"
        try:
            masters.append(read(root / label, label))
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(problems)
    return masters


def executed(course: Course, master: Master) -> str:
    """Where the executed solution notebook of a master lies."""
    return f"solutions/{course.assignment}/{master.name}.ipynb"


def handed_out(tree: build.Tree) -> build.Tree:
    """The part of a build that students get."""
    return {path: content for path, content in tree.items() if path.startswith(("release/", "assignments/"))}


def student_package(root: Path) -> build.Tree:
    """The sources of ``attnlab``, which lie open in ``assignments/``."""
    package = root / "assignments" / "attnlab"
    files = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def differences(root: Path, tree: build.Tree) -> list[str]:
    """The files of a build that are missing in the repository or not the same there."""
    return [path for path, content in sorted(tree.items()) if _content(root, path) != content]


def agreement(course: Course, master: Master) -> list[Problem]:
    """What a master, ``course.toml`` and the declared hidden checks say differently."""
    if master.name not in course.notebooks:
        return list(not_graded(master))
    own = [check for check, _ in engine.declared(course.assignment) if check.notebook == master.name]
    checked = {f"{check.task}.{check.function}" for check in own}
    called = {f"{check.task}.{check.function}" for check in own if not check.measured}
    return disagreements(course, master, checked, checked - called)


def _problems(root: Path, course: Course, masters: list[Master], tree: build.Tree) -> Iterator[Problem]:
    packages, lab = root / "assignments", course.assignment
    graded = [master for master in masters if master.name in course.notebooks]
    unknown = list(gate.known_to_students(course))
    yield from unknown
    for master in masters:
        yield from agreement(course, master)
        for folder in ("assignments", "solutions"):
            path = f"{folder}/{lab}/{master.name}.py"
            yield from gate.imports(path, tree[path], packages)
        path = _filled_in(course, master)
        if master in graded and not unknown:
            yield from gate.public_checks(path, tree[path], packages)
    yield from gate.hints(course)
    yield from gate.stray(root, course, tree)
    yield from leaks.leaks(handed_out(tree) | student_package(root), leaks.secrets(root, lab, masters))
    # One as a module and the other as a notebook: both are ways to hand in.
    solutions = {f"{master.name}.py": tree[_filled_in(course, master)] for master in graded}
    skeletons = {f"{master.name}.ipynb": tree[f"release/{lab}/{master.name}.ipynb"] for master in graded}
    grade = _grader(course)
    try:
        yield from gate.full_marks(grade("solution", solutions), f"solutions/{lab}")
        yield from gate.no_marks(grade("skeleton", skeletons), f"release/{lab}")
    finally:
        engine.close()


def _grader(course: Course) -> gate.Grade:
    """Grades as a course would, with inputs of its own."""
    settings = Settings(
        assignment=course.assignment,
        course=course,
        seed="release",
        seed_id="release",
        kit_version=kit_version(),
    )

    def grade(name: str, files: Mapping[str, bytes]) -> Result:
        return engine.grade(submission.read(name, files, course.assignment, signatures(course)), settings)

    return grade


def _report(root: Path, tree: build.Tree, problems: list[Problem], old: list[str]) -> int:
    """What ``--check`` says: problems, and files that are not what their master gives."""
    for problem in sorted(set(problems)):
        print(problem)
    differing = [*differences(root, tree), *old]
    for path in differing:
        print(f"{path} is not what its master gives." if (root / path).exists() else f"{path} is missing.")
    if differing:
        print("Run `autograder release` to build them anew, and commit the result.")
    if not problems and not differing:
        print(f"All {len(tree)} files are what the masters give, and nothing stands in the way of a release.")
    return 1 if problems or differing else 0


def _is_current(root: Path, course: Course, master: Master) -> bool:
    return build.is_current(_content(root, executed(course, master)), master)


def _filled_in(course: Course, master: Master) -> str:
    return f"solutions/{course.assignment}/{master.name}.py"


def _content(root: Path, path: str) -> bytes | None:
    file = root / path
    return file.read_bytes() if file.is_file() else None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)
