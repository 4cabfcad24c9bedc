"""The comparison with the peers as a table and as a picture."""

from __future__ import annotations

import math
from importlib import metadata
from pathlib import Path

from rich.table import Table

from autograder import engine
from autograder.bench import processes
from autograder.bench.peers import OURS, Comparison, Nbgrader, Otter
from autograder.bench.processes import MIB
from autograder.bench.turns import medians, ratios
from autograder.workers import cores

#: What the picture shows: a figure, its name with the unit, and what it is divided by.
PANELS = (
    ("seconds", "seconds for each further submission", 1),
    ("cpu_seconds", "CPU seconds for each", 1),
    ("peak_bytes", "peak memory of all processes, MiB", MIB),
)
UNKNOWN = "unknown"


def table(of: Comparison) -> Table:
    """One row for each grader: the medians of its rounds, and how many times this grader's they are."""
    shown = Table(title=title(of), caption=terms(of), caption_justify="left", caption_style="")
    shown.add_column("", no_wrap=True)
    heads = ("start\ns", "each further\ns", "\nCPU s", "memory\nMiB", "a minute,\nwith start")
    for head in (*heads, "times this\ngrader: s", "\nCPU s", "\nmemory"):
        shown.add_column(head, justify="right", no_wrap=True)
    for name, turns in of.found.items():
        one = medians(turns)
        row = [f"{one.start_seconds:.1f}", _number(one.seconds), _number(one.cpu_seconds)]
        row += [f"{one.peak_bytes / MIB:.0f}", f"{one.per_minute:.1f}"]
        times = [ratios(turns, of.found[OURS], figure) for figure, _, _ in PANELS]
        shown.add_row(name, *row, *("1" if name == OURS else _times(*three) for three in times))
    return shown


def title(of: Comparison) -> str:
    """What was compared, and how often."""
    runs = f"{of.few} and {of.many} right submissions, {of.rounds} rounds in turn, {cores()} cores"
    return f"Grading {of.stock.assignment}/{of.stock.name}.ipynb: {runs}"


def terms(of: Comparison) -> str:
    """What a reader needs to know to compare the figures."""
    hidden = sum(declared.notebook == of.stock.name for declared, _ in engine.declared(of.stock.assignment))
    versions = [
        f"{peer.package} {metadata.version(peer.package)}" for peer in (Nbgrader, Otter) if peer.name in of.found
    ]
    sentences = [
        f"{' and '.join(versions)} run one test for each of {len(of.stock.points)} tasks, in which {of.stock.tests} "
        f"public checks must hold together; this grader runs its {hidden} hidden checks in its sandbox, and makes the "
        "feedback and class pages. "
        + (
            "They run the lab's experiments, as they run every cell; this grader leaves those out."
            if of.stock.experiments
            else "None of them runs the lab's experiments."
        ),
        f"`{OURS}` uses every core, `{Nbgrader.name}` takes one submission after the other, and in `{Otter.name}`, a "
        "command for each, the start is part of every submission. CPU seconds and memory are those of all processes.",
        "Medians of the rounds; in brackets the least and the most, each against this grader in the same round.",
    ]
    return " ".join([*sentences[not versions :], *filter(None, [processes.uncounted()])])


def _number(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.2f}"


def _times(middle: float, least: float, most: float) -> str:
    if math.isnan(middle):
        return UNKNOWN
    digits = 1 if most < 10 else 0
    return f"{middle:.{digits}f} ({least:.{digits}f}–{most:.{digits}f})"


def picture(of: Comparison, path: Path) -> None:
    """Bars with the medians, and a line from the least to the most of the rounds, as SVG. Raises ``OSError``."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9.0, 2.2 + 0.3 * len(of.found)), layout="constrained", facecolor="white")
    drawn.suptitle(title(of), fontsize=11)
    rows = list(of.found)
    for axes, (figure, label, unit) in zip(drawn.subplots(1, len(PANELS), sharey=True), PANELS, strict=True):
        values = [[getattr(turn, figure) / unit for turn in of.found[name]] for name in rows]
        middle = [getattr(medians(of.found[name]), figure) / unit for name in rows]
        colours = ["#1b5e9b" if name == OURS else "#b8bec6" for name in rows]
        axes.barh(rows, middle, color=colours)
        axes.hlines(rows, [min(every) for every in values], [max(every) for every in values], color="black")
        for name, value, every in zip(rows, middle, values, strict=True):
            place = (max(value, *every), name)
            axes.annotate(_label(value), place, (6, 0), textcoords="offset points", verticalalignment="center")
        axes.set_xlabel(label, fontsize=9)
        axes.margins(x=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    axes.invert_yaxis()
    # Text stays text, and the same figures give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attnlab"}):
        drawn.savefig(path, format="svg", metadata={"Date": None})


def _label(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{value:.2f}" if value < 10 else f"{value:.0f}"
