"""Graders on one machine in turn: what each costs by the submission, and how many times another one's that is.

In each round every grader has its turn, another one first each time, so that a machine that gets slower or busier does
so for all. A turn is two runs, of a few and of many submissions: their difference is what each further submission
costs, and the rest of the first run is the start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from statistics import median
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from autograder.bench.processes import Cost, Failed


class Grader(Protocol):
    """One of those that are compared; ``few`` and ``many`` are how many submissions it gets in a turn."""

    name: str
    few: int
    many: int

    def run(self, copies: int) -> Cost:
        """Grade so many submissions. Raises ``Failed``."""


@dataclass(frozen=True)
class Figures:
    """What one turn says. Seconds and CPU seconds are those of each further submission; ``per_minute`` counts all of
    the larger run, with its start."""

    start_seconds: float
    seconds: float
    cpu_seconds: float
    peak_bytes: float
    per_minute: float


def figures(few: int, small: Cost, many: int, large: Cost) -> Figures:
    """From the costs of two runs, with ``few`` and with ``many`` submissions."""
    seconds = (large.seconds - small.seconds) / (many - few)
    return Figures(
        start_seconds=small.seconds - few * seconds,
        seconds=seconds,
        cpu_seconds=(large.cpu_seconds - small.cpu_seconds) / (many - few),
        peak_bytes=large.peak_bytes,
        per_minute=60 * many / large.seconds,
    )


def medians(turns: Sequence[Figures]) -> Figures:
    """The median of each figure over the rounds."""
    return Figures(*(median(getattr(turn, figure.name) for turn in turns) for figure in fields(Figures)))


def ratios(theirs: Sequence[Figures], ours: Sequence[Figures], figure: str) -> tuple[float, float, float]:
    """How many times ours, each against the same round: median, least and most; NaN where that cannot be told."""
    found = []
    for a, b in zip(theirs, ours, strict=True):
        their, our = getattr(a, figure), getattr(b, figure)
        found.append(their / our if our > 0 else math.nan)
    return (math.nan,) * 3 if any(map(math.isnan, found)) else (median(found), min(found), max(found))


def compare(graders: Sequence[Grader], rounds: int, report: Report) -> dict[str, list[Figures]]:
    """The figures of every round by name. One that fails is left out, with what it did before.

    Raises ``Failed`` where that is the first one: there is nothing to compare with.
    """
    found: dict[str, list[Figures]] = {one.name: [] for one in graders}
    for number, grader in in_turn(graders, rounds):
        if grader.name not in found:
            continue
        report.turn(f"round {number + 1} of {rounds}: {grader.name}, {grader.few} and {grader.many} submissions")
        try:
            small, large = grader.run(grader.few), grader.run(grader.many)
        except Failed as failed:
            if grader is graders[0]:
                raise
            report.note(f"{grader.name} is left out. {failed}")
            del found[grader.name]
        else:
            found[grader.name].append(figures(grader.few, small, grader.many, large))
    return found


def in_turn(graders: Sequence[Grader], rounds: int) -> Iterator[tuple[int, Grader]]:
    """Each once in a round, and in each round another one first."""
    for number in range(rounds):
        first = number % len(graders)
        for grader in [*graders[first:], *graders[:first]]:
            yield number, grader


class Report:
    """Tells what is going on: beside a bar on a terminal, as a line each elsewhere."""

    def __init__(self, turns: int, console: Console) -> None:
        self.console = console
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=turns)
        self._begun = 0

    def __enter__(self) -> Report:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._bar.stop()

    def turn(self, what: str) -> None:
        """The next turn begins."""
        self._bar.update(self._task, completed=self._begun, description=what)
        self._begun += 1
        if not self.console.is_terminal:
            self.note(what)

    def note(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)
