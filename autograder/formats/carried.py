"""What an archive for a platform carries besides the grader, and grading one submission with it.

In the folder ``source`` that the platform unpacks the archive into::

    archive.json              which notebooks, and which version of the grader it was made for
    course/source/course.toml
    course/release/…          the notebooks as they were handed out
    course-seed.txt
    wheels/…, constraints.txt the grader and the student package; setup.sh installs them

``python -m autograder.formats.carried SOURCE FOLDER RESULT`` grades what lies in a folder and writes the result.
"""

from __future__ import annotations

import os
import stat
import sys
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import msgspec

from autograder import adjust, engine, submission
from autograder import course as courses
from autograder.course import Course, CourseError, ShowChecks
from autograder.discover import Handed
from autograder.disk import CannotRead
from autograder.kit import kit_version
from autograder.result import Result
from autograder.sandbox.launch import NoIsolation
from autograder.settings import Settings
from autograder.trees import folder_on_disk

ABOUT, SEED, COURSE = "archive.json", "course-seed.txt", "course"
SCHEMA = "attnlab-archive/1"

#: Said where a mark cannot be given; nothing is written then, so that no mark is what a platform shows.
GRADER_ERROR = (
    "The grader made an error in {n} of {total} checks ({which}), so there is no mark. That costs nothing: mend it, "
    "or make the archive anew, and grade again."
)


class NoMark(Exception):
    """The submission has no mark, for a reason that is not the student's; the text says which."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """``archive.json``: what the archive grades, and with which version of the grader."""

    assignment: str
    notebooks: tuple[str, ...]
    kit_version: str
    schema: str = SCHEMA


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A result, the notebooks that were found in the submission, and from when on students see the checks."""

    result: Result
    handed_in: tuple[str, ...]
    show: ShowChecks


def read(source: Path) -> tuple[About, Settings]:
    """What an unpacked archive says. Raises ``CourseError``, or ``NoMark`` where another grader is installed here."""
    try:
        about = msgspec.json.decode((source / ABOUT).read_bytes(), type=About)
    except (OSError, msgspec.MsgspecError):
        raise NoMark(f"{source / ABOUT} is missing or cannot be read. Make the archive anew.") from None
    root = source / COURSE
    installed = kit_version(root)
    if (about.schema, about.kit_version) != (SCHEMA, installed):
        raise NoMark(
            f"The archive was made for the grader {about.kit_version}, and {installed} is installed here. Install the "
            "wheels that are in the archive, or make the archive anew: autograder archive."
        )
    seed = courses.read_seed(source / SEED)
    settings = Settings(
        assignment=about.assignment,
        course=only(courses.load(about.assignment, root), about.notebooks),
        seed=seed,
        seed_id=courses.seed_id(seed),
        kit_version=installed,
    )
    return about, settings


def only(course: Course, notebooks: tuple[str, ...]) -> Course:
    """The course as if it had no other notebooks than these."""
    parts = {name: course.parts[name] for name in notebooks}
    return msgspec.structs.replace(course, notebooks=notebooks, parts=parts)


def grade(source: Path, handed_in: Path, name: str = "submission", received: datetime | None = None) -> Graded:
    """The result of what one student handed in, which lies in a folder; ``received`` is when, where that is known.

    Raises ``CourseError``, ``NoIsolation``, or ``NoMark``; never for what a submission holds.
    """
    about, settings = read(source)
    if engine.isolation(settings) != "bubblewrap":
        close_to_others(source)
    try:
        handed = Handed(name=name, pieces=folder_on_disk(str(handed_in), name).pieces(), received=received)
    except CannotRead as error:
        raise NoMark(f"The folder {handed_in} {error}.") from None
    # Which file is which notebook is told as everywhere else, with all notebooks of the course in view.
    every = courses.signatures(courses.load(about.assignment, source / COURSE))
    found = submission.load(handed, about.assignment, every, about.notebooks)
    found.notebooks = {key: notebook for key, notebook in found.notebooks.items() if key in about.notebooks}
    result = adjust.settle(engine.grade(found, settings), settings.course, handed)
    errors = [check.id for check in result.checks if check.verdict == "grader_error"]
    if errors:
        which = ", ".join(errors[:3]) + (" …" if len(errors) > 3 else "")
        raise NoMark(GRADER_ERROR.format(n=len(errors), total=len(result.checks), which=which))
    return Graded(result=result, handed_in=tuple(found.notebooks), show=settings.course.show_checks)


def close_to_others(folder: Path) -> None:
    """Let nobody but the owner look into a folder: under the isolation ``user`` a submission is another user here.

    Raises ``NoMark`` where others could still read it.
    """
    try:
        folder.chmod(0o700)
        others = stat.S_IMODE(folder.stat().st_mode) & 0o077
    except OSError:
        others = 0o077
    if others and os.name == "posix":
        raise NoMark(f"{folder} holds the course seed and can be read by others, so nothing was graded.")


def main(source: str, handed_in: str, result: str) -> None:
    """Grade, and write the result as JSON; what stands in the way ends the process with a sentence and exit code 1."""
    try:
        found = grade(Path(source), Path(handed_in))
    except (CourseError, NoIsolation, NoMark) as error:
        refuse(error)
    finally:
        engine.close()
    Path(result).write_bytes(msgspec.json.encode(found))


def refuse(error: Exception) -> NoReturn:
    """End the process without a mark."""
    print(error, file=sys.stderr)
    raise SystemExit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
