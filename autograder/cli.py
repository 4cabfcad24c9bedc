"""The command ``autograder``. Nothing heavy is imported until a command needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder import cli_marks as cli_marks
from autograder.commands import (
    DONE,
    GRADER_ERROR,
    LOG_WIDTH,
    REFUSED,
    STOPPED,
    Assignment,
    Device,
    Folder,
    Isolation,
    apply_policy,
    grading_settings,
    kill_as_ctrl_c,
    main,
    plain_errors,
    refuse,
    results_folder,
    say,
)

if TYPE_CHECKING:
    from autograder.pages.reveals import Reveals
    from autograder.result import Result
    from autograder.settings import Settings
    from autograder.workers import Workers


class Platform(StrEnum):
    OTTER, GRADESCOPE = "otter", "gradescope"


class Figures(StrEnum):
    ALL, MEASURED, GRADE, PEERS, MANY = "all", "measured", "grade", "peers", "many"


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
    from autograder.workers import cores

    with plain_errors():
        settings = grading_settings(assignment, device, isolation, course_seed)
        raise typer.Exit(_grade(paths, out, settings, dask if dask is not None else workers or cores(), json))


def _grade(paths: list[str], out: Path, settings: Settings, workers: int | str, json: bool) -> int:
    """``workers``: how many processes here, or the address of a cluster."""
    from concurrent.futures import ThreadPoolExecutor

    from rich.console import Console

    from autograder import grade as many
    from autograder import provenance
    from autograder.adjust import unused
    from autograder.course import signatures
    from autograder.discover import discover
    from autograder.pages.publish import known_hints, publish
    from autograder.pages.reveals import reveals
    from autograder.progress import RunReport
    from autograder.results import kept
    from autograder.sandbox import launch
    from autograder.workers import cores

    if isinstance(workers, int):
        launch.choose(settings.isolation)
    found = discover(paths, settings.assignment, signatures(settings.course))
    for sentence in found.left_out:
        say(sentence)
    if all(one.problem for one in found.handed):
        for one in found.handed:
            say(str(one.problem))
        refuse("There is nothing to grade there.")
    provenance.record(out, paths, settings)
    with (
        ThreadPoolExecutor(1) as beside,
        kill_as_ctrl_c(),
        RunReport(len(found.handed), Console(stderr=True)) as report,
    ):
        # Some seconds, in which the workers start.
        kit = beside.submit(provenance.record_kit, out, settings)
        said = beside.submit(known_hints)
        where = workers if isinstance(workers, int) else _cluster(workers, settings, report.note)
        summary = many.run(found.handed, settings, out, workers=where, report=report, work=many.grade_one)
    kit.result()
    processes = workers if isinstance(workers, int) else cores()
    there, _ = publish(out, settings.course.title, said.result(), reveals(settings.course), workers=processes)
    for sentence in unused(settings.course.policy, there.names):
        say(sentence)
    _show((kept(out, stem).result for stem in summary.done), json)
    say(f"{out / 'index.html'} is the class page; one page for each student is in {out / 'feedback'}.")
    if summary.stopped:
        say(
            f"Stopped. {len(summary.done)} of {summary.total} submissions have their result; "
            "the same command goes on from there."
        )
        return STOPPED
    if summary.grader_errors:
        say(
            f"The grader made an error in {summary.grader_errors} of {summary.total} submissions, which "
            "index.html names. Their marks must not be given out."
        )
        return GRADER_ERROR
    return DONE


def _cluster(address: str, settings: Settings, say: Callable[[str], None]) -> Workers:
    from autograder.cluster import Cluster

    return Cluster(address, settings, say)


@main.command()
def release(
    assignment: Annotated[str, typer.Argument()] = "lab07",
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail on any difference.")] = False,
) -> None:
    """Build everything that is handed out, unless something in it is broken or leaks."""
    from autograder import release as room

    with plain_errors():
        raise typer.Exit(room.run(assignment, check=check))


@main.command()
def archive(
    platform: Annotated[Platform, typer.Argument(help="For whom.")],
    assignment: Assignment = "lab07",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: build/ and the platform.")] = None,
    course_seed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A UTF-8 text file with the course seed.")
    ] = None,
) -> None:
    """Make the archive that grades on Gradescope or under `otter run`. It is yours: the course seed is in it."""
    from autograder.course import find_root
    from autograder.release import carry

    with plain_errors():
        root = find_root()
        settings = grading_settings(assignment, Device.AUTO, Isolation.AUTO, course_seed)
        folder = out or root / "build" / platform.value
        for path in carry.write(platform.value, root, settings.course, settings.seed, folder):
            typer.echo(path)
        say("The hidden checks and the course seed are in there: upload it, and hand it out to nobody.")


@main.command()
def report(folder: Folder) -> None:
    """Make the table and the pages again from the results that are there, and print the table."""
    from autograder.pages.publish import known_hints, publish
    from autograder.workers import cores

    with plain_errors():
        apply_policy(results_folder(folder))
        title, shown = _course(folder)
        kept, unreadable = publish(folder, title, known_hints(), shown, workers=cores())
        _show((one.result for one in kept), False)
        for path in unreadable:
            say(f"{path} is no result, and was left out. Grading again makes it anew.")


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
    figures: Annotated[Figures, typer.Argument(help="Which figures; all: measured and grade.")] = Figures.ALL,
    runs: Annotated[int, typer.Option(min=1, help="measured: how often for each kind of code.")] = 200,
    busy: Annotated[bool, typer.Option("--busy", help="measured: keep every core busy meanwhile.")] = False,
    copies: Annotated[int, typer.Option(min=1, help="grade, peers: how many submissions.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, help="peers: how often each has its turn.")] = 3,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="peers: nbgrader and Otter run every cell, as they do.")
    ] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="peers, many: a picture of the figures.")] = None,
    costs_from: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="many: results to take the costs from.")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="many: where these costs are kept.")
    ] = None,
    submissions: Annotated[int, typer.Option(min=1, help="many: how many submissions.")] = 50_000,
    assignment: Assignment = "lab07",
    isolation: Annotated[Isolation, typer.Option(help="What keeps submissions in.")] = Isolation.AUTO,
) -> None:
    """Measure the figures of the README again: minutes of work for every core.

    `peers` grades the same submissions with `nbgrader autograde` and `otter run` too, in turn. `many` says how long a
    large class would take on a cluster, from what submissions cost before.
    """
    import secrets

    from rich.console import Console

    from autograder import course
    from autograder.bench import grading, many_shown, measured, peers, shown
    from autograder.bench.processes import Failed
    from autograder.kit import kit_version
    from autograder.settings import Settings

    if svg is not None and (svg.suffix != ".svg" or not svg.parent.is_dir()):
        refuse(f"{svg} cannot be the picture: its name must end in .svg, and its folder must be there.")
    console = Console(stderr=True)
    with plain_errors():
        seed = secrets.token_hex(32)
        settings = Settings(
            assignment=assignment,
            course=course.load(assignment),
            seed=seed,
            seed_id=course.seed_id(seed),
            kit_version=kit_version(),
            device="cpu",
            isolation=isolation.value,
        )
        tables = []
        try:
            if figures in (Figures.ALL, Figures.MEASURED):
                tables.append(measured.measured(settings, runs, busy=busy, console=console))
            if figures in (Figures.ALL, Figures.GRADE):
                tables.append(grading.grading(settings, copies, (1, 2), console))
            if figures is Figures.PEERS:
                comparison = peers.peers(settings, copies, rounds, console, experiments=experiments)
                tables.append(shown.table(comparison))
            if figures is Figures.MANY:
                tables += many_shown.many(settings, costs_from, costs, submissions, svg, console)
        except Failed as failed:
            refuse(str(failed))
        for table in tables:
            Console(width=None if sys.stdout.isatty() else LOG_WIDTH).print(table)
        if figures is Figures.PEERS and svg is not None:
            try:
                shown.picture(comparison, svg)
            except OSError as error:
                refuse(f"{svg} could not be written: {error.strerror}.")


def _show(results: Iterable[Result], json: bool) -> None:
    import msgspec
    from rich.console import Console

    from autograder.terminal import table

    if json:
        start = "["
        for result in results:
            typer.echo(start + msgspec.json.encode(result).decode("utf-8"), nl=False)
            start = ","
        typer.echo("[]" if start == "[" else "]")
    else:
        # A log has no width of its own; the usual 80 columns would fold most names.
        Console(width=None if sys.stdout.isatty() else LOG_WIDTH).print(table(results))


def _course(folder: Path) -> tuple[str, Reveals]:
    """The title of the assignment and what its pages may show.

    Where the course is not at hand nobody knows what it hides: then a name, and sentences and points only.
    """
    from autograder.course import CourseError, load
    from autograder.pages.reveals import NOTHING, reveals
    from autograder.results import any_one

    result = any_one(folder)
    assignment = result.assignment if result else "no results"
    try:
        course = load(assignment)
    except CourseError:
        return assignment, NOTHING
    return course.title, reveals(course)


if __name__ == "__main__":
    main()
