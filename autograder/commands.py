"""What every command of ``autograder`` uses: the application, exit codes, sentences instead of tracebacks."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from autograder.settings import Settings

main = typer.Typer(
    name="autograder",
    help="Grade submissions of the attention lab, and everything around it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: Exit codes: every submission has a result; nothing was graded or the run could not go on; a grader error.
DONE, REFUSED, GRADER_ERROR = 0, 2, 3
#: Columns of the table where it does not go to a terminal.
LOG_WIDTH = 132
#: As shells have it for a run that was stopped from outside.
STOPPED = 130


class Device(StrEnum):
    AUTO, CPU, CUDA = "auto", "cpu", "cuda"


class Isolation(StrEnum):
    AUTO, BUBBLEWRAP, USER, NONE = "auto", "bubblewrap", "user", "none"


Assignment = Annotated[str, typer.Option(help="The assignment, as course.toml names it.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that was given to grade as --out.")]


@main.callback()
def start() -> None:
    # A name or message that this terminal's encoding lacks is written as \u…, and never ends a run.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def grading_settings(assignment: str, device: Device, isolation: Isolation, course_seed: Path | None) -> Settings:
    from autograder import course
    from autograder.kit import kit_version
    from autograder.settings import Settings

    record = course.load(assignment)
    seed = course.read_seed(course_seed) if course_seed else course.own_seed(record)
    if len(seed) < course.SHORT_SEED:
        say(f"The course seed has only {len(seed)} characters. Students could guess it; make it longer.")
    return Settings(
        assignment=assignment,
        course=record,
        seed=seed,
        seed_id=course.seed_id(seed),
        kit_version=kit_version(),
        device=device.value,
        isolation=isolation.value,
    )


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """What a person can put right is said in a sentence, never as a traceback."""
    from autograder.cluster import ClusterError
    from autograder.course import CourseError
    from autograder.explain import NotFoundError
    from autograder.formats import FormatError
    from autograder.release.problem import Refused
    from autograder.results import FolderError
    from autograder.sandbox.launch import NoIsolation

    try:
        yield
    except (ClusterError, CourseError, FolderError, FormatError, NoIsolation, NotFoundError, Refused) as error:
        refuse(str(error))


def results_folder(folder: Path) -> Path:
    if not (folder / "results").is_dir():
        refuse(f"{folder} is not a folder of results: there is no folder results in it.")
    return folder


def apply_policy(folder: Path) -> None:
    """Late penalties and overrides as course.toml has them now; nothing where the course is not at hand."""
    from autograder import course
    from autograder.adjust import bring_up_to_date
    from autograder.results import any_one

    result = any_one(folder)
    try:
        record = course.load(result.assignment) if result else None
    except course.NoCourse:
        return
    if record is not None:
        for sentence in bring_up_to_date(folder, record):
            say(sentence)


@contextlib.contextmanager
def kill_as_ctrl_c() -> Iterator[None]:
    """A polite kill ends a run as Ctrl-C does: what is finished stays, and the pages are made."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def say(text: str) -> None:
    typer.echo(text, err=True)


def refuse(text: str) -> NoReturn:
    say(text)
    raise typer.Exit(REFUSED)
