"""How a grading run is told to a person: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from autograder.names import display_name
from autograder.result import Result
from autograder.table import number


class RunReport:
    """Counts the submissions of a run. The estimate counts only those that had to be graded."""

    def __init__(self, total: int, console: Console) -> None:
        self.total, self.console = total, console
        self.done = self.graded = 0
        self.start = time.monotonic()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self.bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self.task = self.bar.add_task("starting", total=total)

    def __enter__(self) -> RunReport:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.bar.stop()

    def finished(self, result: Result) -> None:
        self.graded += 1
        self._one(result, "")

    def unchanged(self, result: Result) -> None:
        self._one(result, ", as before")

    def note(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)

    def left(self) -> str:
        """The time left in words; nothing before the first one is done."""
        waiting = self.total - self.done
        if not waiting or not self.graded:
            return ""
        seconds = waiting * (time.monotonic() - self.start) / self.graded
        amount = f"{seconds / 60:.0f} min" if seconds > 90 else f"{max(seconds, 1):.0f} s"
        return f"; about {amount} left"

    def _one(self, result: Result, how: str) -> None:
        self.done += 1
        self.bar.update(self.task, completed=self.done, description=self.left().removeprefix("; "))
        if not self.console.is_terminal:
            score = f"{number(result.score)} of {number(result.max_score)}"
            name = display_name(result.submission)
            self.note(f"{self.done} of {self.total}: {name}: {score}{how}{self.left()}")
