"""The simulation of a large class as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.table import Table

from autograder.bench import real_scheduler, recorded
from autograder.bench.many import BETWEEN, WORKERS, Check, Outcome, Recording, simulate
from autograder.bench.processes import Failed
from autograder.settings import Settings

#: Real runs that the model is held against: workers, submissions, and the mean of their seconds. Scheduler, workers and
#: grader together must not need more than two cores: what they would wait for then is in no model.
CHECKED = ((8, 160, 0.5), (64, 640, 2.0))


def many(
    settings: Settings, folder: Path | None, file: Path | None, submissions: int, svg: Path | None, console: Console
) -> list[Table]:
    """The simulation as tables, and as a picture in ``svg``.

    ``folder``: results to take the costs from, which are kept in ``file``; without it, those that were kept there, or
    that came with this program. Raises `Failed`.
    """
    if folder is None:
        recording = recorded.load(file or recorded.SHIPPED)
    else:
        console.print(f"many: costs of the results in {folder}")
        recording = recorded.record(folder, settings)
        checked = []
        for workers, count, mean in CHECKED if find_spec("distributed") else ():
            console.print(f"many: {count} submissions on {workers} workers of a real scheduler")
            checked.append(real_scheduler.check(recording, workers, count, mean, folder, settings))
        if checked:
            recording = structs.replace(recording, checked=checked, scheduled=checked[-1].scheduled)
        if file is not None:
            recorded.save(recording, file)
    console.print(f"many: {submissions:,} submissions, simulated")
    outcomes = simulate(recording, submissions, sorted((*WORKERS, *BETWEEN)), settings)
    if svg is not None:
        try:
            picture(recording, submissions, outcomes, svg)
        except OSError as error:
            raise Failed(f"{svg} could not be written: {error.strerror}.") from None
    return [table(recording, submissions, outcomes), *([checks(recording.checked)] if recording.checked else [])]


def table(recording: Recording, submissions: int, outcomes: Sequence[Outcome]) -> Table:
    """A row for each of the numbers of workers that the table is about."""
    shown = Table(
        title=f"{submissions:,} submissions, simulated from recorded costs",
        caption=terms(recording),
        caption_justify="left",
        caption_style="",
    )
    heads = ("workers", "time", "submissions\na second", "workers\nbusy", "writer\nbusy", "pages\nafter it")
    for head in heads:
        shown.add_column(head, justify="right", no_wrap=True)
    for one in outcomes:
        if one.workers in WORKERS:
            shown.add_row(
                str(one.workers),
                span(one.seconds),
                f"{submissions / one.seconds:.1f}",
                f"{100 * one.workers_busy:.0f} %",
                f"{100 * one.writer_busy:.0f} %",
                span(one.page_seconds),
            )
    return shown


def terms(recording: Recording) -> str:
    """What the figures rest on, and where the limits are."""
    alone = next((seconds for count, seconds in sorted(recording.answered) if count == 1), recording.each)
    reading = recording.readers / recording.read if recording.read else float("inf")
    return (
        f"Recorded on: {recording.machine}. A submission takes {recording.mean:.2f} s of a worker, "
        f"{1000 * recording.read:.1f} ms of one of {recording.readers} readers, {1000 * recording.scheduled:.2f} ms of "
        f"the scheduler, {1000 * alone:.1f} ms of the writer alone and {1000 * recording.each:.1f} ms among many, and "
        f"{1000 * recording.page:.0f} ms for its page. So the writer keeps up with {recording.enough:.0f} workers "
        f"({1 / recording.each:.0f} a second), the readers with {reading * recording.mean:.0f} "
        f"({reading:.0f} a second)."
    )


def checks(found: Sequence[Check]) -> Table:
    """The model beside real runs, from the first answer to the last."""
    shown = Table(title="The model against Dask's scheduler, real workers that sleep, and the real grader")
    for head in ("workers", "submissions", "seconds each", "real, s", "model, s", "model/real", "scheduler, ms each"):
        shown.add_column(head, justify="right")
    for one in found:
        shown.add_row(
            str(one.workers),
            str(one.submissions),
            f"{one.mean:.2f}",
            f"{one.real:.1f}",
            f"{one.model:.1f}",
            f"{one.model / one.real:.2f}" if one.real else "-",
            f"{1000 * one.scheduled:.2f}",
        )
    return shown


def span(seconds: float) -> str:
    """A time in the unit that a person would use."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def picture(recording: Recording, submissions: int, outcomes: Sequence[Outcome], path: Path) -> None:
    """Time against workers, both in powers, and the limits as lines; the kind by the name of the file.

    Raises ``OSError`` or ``ValueError`` where it cannot be written or is of a kind that Matplotlib does not know.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    counts = [one.workers for one in outcomes]
    minutes = [one.seconds / 60 for one in outcomes]
    writer = submissions * recording.each / 60
    readers = submissions * recording.read / recording.readers / 60
    drawn = Figure(figsize=(7.0, 4.2), layout="constrained", facecolor="white")
    axes = drawn.subplots()
    ideal = [submissions * recording.mean / count / 60 for count in counts]
    axes.plot(counts, ideal, color="#b8bec6", linewidth=1, label="if only workers took time")
    axes.plot(counts, minutes, color="#1b5e9b", marker="o", label=f"{submissions:,} submissions")
    axes.axhline(writer, color="#a33b20", linestyle="--", label=f"the one writer's limit: {span(60 * writer)}")
    axes.axhline(
        readers, color="#6b6b6b", linestyle=":", label=f"the {recording.readers} readers' limit: {span(60 * readers)}"
    )
    for count, value in zip(counts, minutes, strict=True):
        if count in WORKERS:
            axes.annotate(span(60 * value), (count, value), (6, 6), textcoords="offset points")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.set_xlabel("workers")
    axes.set_ylabel("minutes")
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    # Text stays text, and the same figures give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attnlab"}):
        drawn.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
