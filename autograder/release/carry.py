"""``autograder archive``: what an instructor uploads to Gradescope, or gives to ``otter run``.

Such an archive holds the grader with its hidden checks, and the course seed: it is never among what is handed out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

import autograder
from autograder.course import Course, CourseError
from autograder.formats import carried, gradescope, otter
from autograder.kit import kit_version
from autograder.release import archive
from autograder.results import FolderError, write_file

Platform = Literal["otter", "gradescope"]

#: Folders of a clone that students, or people who learn alone, are pointed to.
HANDED_OUT = ("release", "assignments", "solutions")


def write(platform: Platform, root: Path, course: Course, seed: str, out: Path) -> list[Path]:
    """Make the archives of an assignment in ``out``, and give back what was written.

    Raises ``CourseError`` for a folder that is handed out, ``FolderError`` where nothing can be written, ``Refused``
    where a wheel cannot be built.
    """
    place = out.resolve()
    for folder in HANDED_OUT:
        if place.is_relative_to((root / folder).resolve()):
            raise CourseError(
                f"{out} is in {folder}/, which students get, and the archive holds the hidden checks and the course "
                "seed. Choose another folder with --out."
            )
    version = kit_version(root)
    shared = grader(root) | course_files(root, course, seed)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"Nothing can be written to {out}: {error.strerror}.") from None
    if platform == "gradescope":
        rubric = out / f"{course.assignment}-gradescope-by-hand.md"
        write_file(rubric, gradescope.rubric(course).encode("utf-8"))
        path = out / f"{course.assignment}-gradescope.zip"
        return [_write(path, course, course.notebooks, version, shared | gradescope.entries()), rubric]
    return [
        _write(out / f"{name}-autograder.zip", course, (name,), version, shared | otter.entries(course))
        for name in course.notebooks
    ]


def grader(root: Path) -> dict[str, bytes]:
    """The grader and the student package as wheels, and the versions that they were tested with."""
    if Path(autograder.__path__[0]).resolve() != (root / "autograder").resolve():
        raise CourseError(
            f"Archives are made by the grader of the clone that they carry, and the one that runs is not {root}'s. "
            "Install that one: pip install -e ."
        )
    wheels = [archive.wheel(root, "autograder"), archive.wheel(root / "assignments", "attnlab")]
    files = {f"wheels/{name}": content for name, content in wheels}
    return files | {"constraints.txt": (root / "constraints.txt").read_bytes()}


def course_files(root: Path, course: Course, seed: str) -> dict[str, bytes]:
    """``course.toml``, the notebooks as they were handed out, and the seed."""
    handed_out = sorted((root / "release" / course.assignment).glob("*.ipynb"))
    paths = [root / "source" / "course.toml", *handed_out]
    files = {f"{carried.COURSE}/{path.relative_to(root).as_posix()}": path.read_bytes() for path in paths}
    return files | {carried.SEED: f"{seed}\n".encode()}


def _write(path: Path, course: Course, notebooks: Sequence[str], version: str, files: dict[str, bytes]) -> Path:
    about = carried.About(assignment=course.assignment, notebooks=tuple(notebooks), kit_version=version)
    entries = files | {carried.ABOUT: msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n"}
    before = os.umask(0o077)  # the seed is in it
    try:
        write_file(path, archive.packed(entries))
    finally:
        os.umask(before)
    return path
