"""The commands for what comes after grading: lists of marks, appeals, grading again what a change affects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands import (
    DONE,
    GRADER_ERROR,
    STOPPED,
    Device,
    Folder,
    Isolation,
    apply_policy,
    grading_settings,
    kill_as_ctrl_c,
    main,
    plain_errors,
    results_folder,
    say,
)

if TYPE_CHECKING:
    from autograder.result import CheckResult


class Format(StrEnum):
    CSV, CANVAS, MOODLE, GRADESCOPE, NBGRADER = "csv", "canvas", "moodle", "gradescope", "nbgrader"


@main.command()
def export(
    folder: Folder,
    form: Annotated[Format, typer.Option("--format", help="For whom.")] = Format.CSV,
    roster: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The platform's own CSV: gradebook, worksheet or roster.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="HEAD", help="The column to fill in, where that is not clear.")
    ] = None,
    scale: Annotated[bool, typer.Option("--scale", help="Bring marks to the platform's maximum.")] = False,
    missing_zero: Annotated[
        bool, typer.Option("--missing-zero", help="0 for who handed in nothing; default: leave the cell.")
    ] = False,
    course_folder: Annotated[
        Path | None,
        typer.Option("--course", metavar="DIR", help="nbgrader's course folder; default: this one, or the clone."),
    ] = None,
) -> None:
    """Write the marks for another program."""
    if form is Format.CSV:
        _csv(folder)
        return
    if form is Format.NBGRADER:
        _nbgrader(folder, course_folder)
        return
    with plain_errors():
        from autograder.course import load
        from autograder.formats.marking import Marking
        from autograder.formats.platforms import export as write
        from autograder.results import assignment_of

        course = load(assignment_of(results_folder(folder)))
        apply_policy(folder)
        marking = Marking(column=column, scale=scale, missing_zero=missing_zero)
        for sentence in write(folder, form.value, course, roster, marking):
            say(sentence)
        typer.echo(folder / f"{form.value}.csv")


def _csv(folder: Path) -> None:
    from autograder.results import read_all, write_file
    from autograder.table import grades

    with plain_errors():
        apply_policy(results_folder(folder))
        kept, _ = read_all(folder)
        path = folder / "grades.csv"
        write_file(path, grades(one.result for one in kept).encode("utf-8"))
        typer.echo(path)


def _nbgrader(folder: Path, course_folder: Path | None) -> None:
    with plain_errors():
        from autograder.formats.nbgrader import export as enter

        apply_policy(results_folder(folder))
        for sentence in enter(folder, course_folder):
            typer.echo(sentence)


@main.command()
def explain(
    folder: Folder,
    submission: Annotated[str, typer.Argument(help="Its name, or the name of its file in results.")],
    check: Annotated[
        str | None, typer.Argument(help="A check's identifier, or a function; default: all that cost points.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--submission", metavar="PATH", help="Where it is now; default: as graded.")
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Run nothing: only what the result says.")] = False,
    isolation: Annotated[Isolation, typer.Option(help="What keeps the submission in.")] = Isolation.AUTO,
) -> None:
    """Say why points were lost, for an appeal, and show it on an input that its author may see."""
    from autograder.explain import explanation, find
    from autograder.pages.publish import known_hints

    with plain_errors():
        kept = find(results_folder(folder), submission)
        fault: Callable[[CheckResult], Sequence[str]] = lambda _: ()  # noqa: E731
        before: Sequence[str] = ()
        if not words:
            from autograder.appeal.answer import asker

            fault, before = asker(folder, kept, path, isolation.value, each_function_once=check is None)
        for line in [*before, *explanation(kept.result, check, known_hints(), fault)]:
            typer.echo(line)


@main.command()
def regrade(
    folder: Folder,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Where the submissions are now; default: as graded.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write it without asking.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per core.")] = None,
    device: Annotated[Device, typer.Option(help="Where measured checks run.")] = Device.AUTO,
    isolation: Annotated[Isolation, typer.Option(help="What keeps submissions in.")] = Isolation.AUTO,
    course_seed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A UTF-8 text file with the course seed.")
    ] = None,
) -> None:
    """Run again only what a changed check can affect, and say who moves and why before anything is written."""
    from rich.console import Console

    from autograder import regrade as room
    from autograder.pages.publish import known_hints, publish
    from autograder.pages.reveals import reveals
    from autograder.progress import RunReport
    from autograder.results import assignment_of, read_all
    from autograder.workers import cores

    with plain_errors():
        settings = grading_settings(assignment_of(results_folder(folder)), device, isolation, course_seed)
        count = len(read_all(folder)[0])
        with kill_as_ctrl_c(), RunReport(count, Console(stderr=True)) as report:
            found = room.regrade(folder, paths or [], settings, workers or cores(), report)
        for sentence in found.sentences:
            typer.echo(sentence)
        if found.stopped:
            say("Stopped, and nothing was written.")
            raise typer.Exit(STOPPED)
        if not yes and not (sys.stdin.isatty() and typer.confirm("Write these results?")):
            say("Nothing was written. With --yes, the same command writes it.")
            raise typer.Exit(DONE)
        room.write(folder, found, settings)
        publish(folder, settings.course.title, known_hints(), reveals(settings.course))
        say(f"Written. {folder / 'index.html'} is the class page.")
        raise typer.Exit(GRADER_ERROR if found.errors else DONE)
