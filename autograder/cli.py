"""The command ``autograder``. Nothing heavy is imported until a command needs it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from autograder.result import Result
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

NOT_YET = "{what} is not in this version."


class Device(StrEnum):
    AUTO, CPU, CUDA = "auto", "cpu", "cuda"


class Isolation(StrEnum):
    AUTO, BUBBLEWRAP, USER, NONE = "auto", "bubblewrap", "user", "none"


class Format(StrEnum):
    CSV, CANVAS, MOODLE, GRADESCOPE, NBGRADER = "csv", "canvas", "moodle", "gradescope", "nbgrader"


class Figures(StrEnum):
    ALL, MEASURED, GRADE = "all", "measured", "grade"


Assignment = Annotated[str, typer.Option(help="The assignment, as course.toml names it.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that was given to grade as --out.")]


@main.callback()
def start() -> None:
    # A name or message that this terminal's encoding lacks is written as \u…, and never ends a run.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


@main.command()
def grade(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders or archives.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where results go; what is there is kept.")],
    assignment: Assignment = "lab07",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per core.")] = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask cluster.")] = None,
    device: Annotated[Device, typer.Option(help="Where measured checks run.")] = Device.AUTO,
    isolation: Annotated[Isolation, typer.Option(help="What keeps submissions in.")] = Isolation.AUTO,
    course_seed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A UTF-8 text file with the course seed.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Grade submissions. The same command again does only what is missing or changed."""
    if dask is not None:
        _refuse(NOT_YET.format(what="Grading on a Dask cluster"))
    with _plain_errors():
        settings = _settings(assignment, device, isolation, course_seed)
        raise typer.Exit(_grade(paths, out, settings, workers, json))


def _settings(assignment: str, device: Device, isolation: Isolation, course_seed: Path | None) -> Settings:
    from autograder import course
    from autograder.kit import kit_version
    from autograder.settings import Settings

    record = course.load(assignment)
    seed = course.read_seed(course_seed) if course_seed else course.own_seed(record)
    if len(seed) < course.SHORT_SEED:
        _say(f"The course seed has only {len(seed)} characters. Students could guess it; make it longer.")
    return Settings(
        assignment=assignment,
        course=record,
        seed=seed,
        seed_id=course.seed_id(seed),
        kit_version=kit_version(),
        device=device.value,
        isolation=isolation.value,
    )


def _grade(paths: list[str], out: Path, settings: Settings, workers: int | None, json: bool) -> int:
    from rich.console import Console

    from autograder import grade as many
    from autograder.course import signatures
    from autograder.discover import discover
    from autograder.pages.publish import known_hints, publish
    from autograder.progress import RunReport
    from autograder.sandbox import launch

    hints = known_hints()
    launch.choose(settings.isolation)
    found = discover(paths, settings.assignment, signatures(settings.course))
    for sentence in found.left_out:
        _say(sentence)
    if all(one.problem for one in found.handed):
        for one in found.handed:
            _say(str(one.problem))
        _refuse("There is nothing to grade there.")
    with _kill_as_ctrl_c(), RunReport(len(found.handed), Console(stderr=True)) as report:
        summary = many.run(found.handed, settings, out, workers=workers or _cores(), report=report, work=many.grade_one)
    publish(out, settings.course.title, hints)
    _show(summary.results, json)
    _say(f"{out / 'index.html'} is the class page; one page for each student is in {out / 'feedback'}.")
    if summary.stopped:
        _say(
            f"Stopped. {len(summary.results)} of {summary.total} submissions have their result; "
            "the same command goes on from there."
        )
        return STOPPED
    if summary.grader_errors:
        _say(
            f"The grader made an error in {summary.grader_errors} of {summary.total} submissions, which "
            "index.html names. Their marks must not be given out."
        )
        return GRADER_ERROR
    return DONE


@main.command()
def release(
    assignment: Annotated[str, typer.Argument()] = "lab07",
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail on any difference.")] = False,
) -> None:
    """Build everything that is handed out, unless something in it is broken or leaks."""
    from autograder import release as room

    with _plain_errors():
        raise typer.Exit(room.run(assignment, check=check))


@main.command()
def report(folder: Folder) -> None:
    """Make the table and the pages again from the results that are there, and print the table."""
    from autograder.pages.publish import known_hints, publish

    with _plain_errors():
        kept, unreadable = publish(_results(folder), _title(folder), known_hints())
        _show([one.result for one in kept], False)
        for path in unreadable:
            _say(f"{path} is no result, and was left out. Grading again makes it anew.")


@main.command()
def export(
    folder: Folder,
    form: Annotated[Format, typer.Option("--format", help="For whom.")] = Format.CSV,
) -> None:
    """Write the marks for another program."""
    from autograder.results import read_all, write_file
    from autograder.table import grades

    if form is not Format.CSV:
        _refuse(NOT_YET.format(what=f"Export for {form.value}"))
    with _plain_errors():
        kept, _ = read_all(_results(folder))
        path = folder / "grades.csv"
        write_file(path, grades([one.result for one in kept]).encode("utf-8"))
        typer.echo(path)


@main.command()
def explain(
    folder: Folder,
    submission: Annotated[str, typer.Argument(help="Its name, or the name of its file in results.")],
    check: Annotated[
        str | None, typer.Argument(help="A check's identifier, or a function; default: all that cost points.")
    ] = None,
) -> None:
    """Say why points were lost, for an appeal."""
    from autograder.explain import explanation
    from autograder.pages.publish import known_hints

    with _plain_errors():
        for line in explanation(_results(folder), submission, check, known_hints()):
            typer.echo(line)


@main.command()
def doctor() -> None:
    """Say what this machine can do, and what to install."""
    from autograder.doctor import examine

    able, lines = examine()
    for line in lines:
        typer.echo(line)
    raise typer.Exit(DONE if able else REFUSED)


@main.command()
def bench(
    figures: Annotated[Figures, typer.Argument(help="Which figures.")] = Figures.ALL,
    runs: Annotated[int, typer.Option(min=1, help="measured: how often for each kind of code.")] = 200,
    busy: Annotated[bool, typer.Option("--busy", help="measured: keep every core busy meanwhile.")] = False,
    copies: Annotated[int, typer.Option(min=1, help="grade: how many submissions.")] = 20,
    isolation: Annotated[Isolation, typer.Option(help="What keeps submissions in.")] = Isolation.AUTO,
) -> None:
    """Measure the figures of the README again: minutes of work for every core."""
    import secrets

    from rich.console import Console

    from autograder import bench as room
    from autograder import course
    from autograder.kit import kit_version
    from autograder.settings import Settings

    console = Console(stderr=True)
    with _plain_errors():
        seed = secrets.token_hex(32)
        settings = Settings(
            assignment="lab07",
            course=course.load("lab07"),
            seed=seed,
            seed_id=course.seed_id(seed),
            kit_version=kit_version(),
            device="cpu",
            isolation=isolation.value,
        )
        tables = []
        if figures in (Figures.ALL, Figures.MEASURED):
            tables.append(room.measured(settings, runs, busy=busy, console=console))
        if figures in (Figures.ALL, Figures.GRADE):
            tables.append(room.grading(settings, copies, (1, 2), console))
        for table in tables:
            Console(width=None if sys.stdout.isatty() else LOG_WIDTH).print(table)


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """What a person can put right is said in a sentence, never as a traceback."""
    from autograder.course import CourseError
    from autograder.explain import NotFoundError
    from autograder.results import FolderError
    from autograder.sandbox.launch import NoIsolation

    try:
        yield
    except (CourseError, FolderError, NoIsolation, NotFoundError) as error:
        _refuse(str(error))


def _show(results: list[Result], json: bool) -> None:
    import msgspec
    from rich.console import Console

    from autograder.terminal import table

    if json:
        typer.echo(msgspec.json.encode(results).decode("utf-8"))
    else:
        # A log has no width of its own; the usual 80 columns would fold most names.
        Console(width=None if sys.stdout.isatty() else LOG_WIDTH).print(table(results))


def _results(folder: Path) -> Path:
    if not (folder / "results").is_dir():
        _refuse(f"{folder} is not a folder of results: there is no folder results in it.")
    return folder


def _title(folder: Path) -> str:
    """The title of the assignment, or its bare name where the course is not at hand."""
    from autograder.course import CourseError, load
    from autograder.results import read_all

    kept, _ = read_all(folder)
    assignment = kept[0].result.assignment if kept else "no results"
    try:
        return load(assignment).title
    except CourseError:
        return assignment


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _kill_as_ctrl_c() -> Iterator[None]:
    """A polite kill ends a run as Ctrl-C does: what is finished stays, and the pages are made."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _refuse(text: str) -> NoReturn:
    _say(text)
    raise typer.Exit(REFUSED)


if __name__ == "__main__":
    main()
