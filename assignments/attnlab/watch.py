"""``attnlab check --watch``: one task at a time, checked again whenever the file is saved.

A file is looked at four times a second. Its code runs in a child (``file_check``), so a loop without an end costs
nothing but that check, and keys are answered meanwhile.
"""

from __future__ import annotations

import contextlib
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnlab import keys, solved
from attnlab.file_check import Checked, Running
from attnlab.files import Unreadable, find, notebook_of
from attnlab.hints import DEPTHS
from attnlab.record import StepReport
from attnlab.step import LAB, Step
from attnlab.steps import NOTEBOOKS
from attnlab.summary import Summary
from attnlab.words import clean

#: Seconds between two looks at the files, and how long a file must rest: an editor may write in two goes.
LOOK, REST = 0.25, 0.2
#: Seconds that a file may be gone: an editor that replaces it, or a disk that is slow.
GONE = 1.0
#: Seconds between two looks for other files in the folder.
SEARCH = 2.0
#: A larger file is known by its time and size alone, without reading it.
LARGEST_READ = 2**20

#: What is known of a file: time, size, place and content; None where it is not there.
Print = tuple[int, int, int, int] | None


@dataclass
class Watched:
    """A file of a notebook: what it looked like when it was checked last, and what it looks like since when.

    ``due``: it is to be checked without being saved first.
    """

    path: Path
    notebook: str
    checked: Print = None
    now: Print = None
    since: float = 0.0
    due: bool = True


@dataclass
class Watch:
    """The state of a session; ``watch_screen`` shows it. What is known of a step stands under its id."""

    path: Path
    only: Sequence[Step]
    seconds: float
    summary: Summary | None = None
    files: dict[str, Path] = field(default_factory=dict)  # by notebook
    reports: dict[str, StepReport] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)  # by notebook: cells that did not run to the end
    unreadable: dict[str, str] = field(default_factory=dict)  # by notebook: why its file cannot be checked now
    current: Step | None = None
    hint: int = 0
    solution: str = ""
    asks: bool = False  # whether the solution is wanted although the step does not hold
    said: str = ""
    over: bool = False
    running: Running | None = None
    finished: int = 0  # checks so far, the last one at
    checked_at: str = ""
    _watched: dict[Path, Watched] = field(default_factory=dict)
    _waiting: list[tuple[str, bool]] = field(default_factory=list)
    _saved: bool = False
    _taken: int = 0  # reports of the running check that were taken in
    _begun: bool = False
    _searched: float = -SEARCH

    # ---- files
    def look(self) -> None:
        """See which files were saved, and begin their checks. Raises ``Unreadable`` if there never was a file."""
        now = time.monotonic()
        if now - self._searched >= SEARCH:
            self._searched = now
            self._search()
        for one in self._watched.values():
            found = fingerprint(one.path)
            if found != one.now:
                one.now, one.since = found, now
            rested = now - one.since >= (GONE if found is None else REST)
            if one.due or (one.now != one.checked and rested):
                saved, one.due, one.checked = not one.due, False, one.now
                self._line_up(one, saved=saved)
        self._start()

    def _search(self) -> None:
        try:
            found = find(self.path, {step.notebook for step in self.only} or tuple(NOTEBOOKS))
        except Unreadable:
            if not self._watched:
                raise
            return
        # Of two files of one notebook the one that was saved last counts; the .ipynb, where that says nothing.
        for path in sorted(found, key=lambda path: (_saved_at(path), path.suffix == ".ipynb"), reverse=True):
            if path not in self._watched:
                self._watched[path] = Watched(path, notebook_of(path) or LAB)
                self.files.setdefault(self._watched[path].notebook, path)
        if not self.tasks:
            raise Unreadable(f"In {clean(self.path)} there is nothing of {self.only[0].label}.")
        self.current = self.current or self.tasks[0]

    def _line_up(self, one: Watched, *, saved: bool) -> None:
        if saved and one.now is not None:
            self.files[one.notebook] = one.path
        elif self.files[one.notebook] != one.path:
            return  # its twin is worked on
        if self.running is not None and self.running.steps[0].notebook == one.notebook:
            self.close()
        others = [entry for entry in self._waiting if entry[0] != one.notebook]
        self._waiting = [*others, (one.notebook, saved)]

    # ---- checks
    @property
    def tasks(self) -> list[Step]:
        """What there is to do, in the order of the notebooks; questions for oneself come last in theirs."""
        ordered = [sorted(steps, key=lambda s: not s.number) for name, steps in NOTEBOOKS.items() if name in self.files]
        return [step for steps in ordered for step in steps if not self.only or step in self.only]

    @property
    def report(self) -> StepReport | None:
        """What is known of the present task."""
        return self.reports.get(self.current.id) if self.current else None

    @property
    def busy(self) -> bool:
        """Whether something is being checked, or waits for it."""
        return self.running is not None or bool(self._waiting)

    def unfinished(self) -> Step | None:
        """The first task that does not hold, as far as is known."""
        return next((s for s in self.tasks if s.id not in self.reports or not self.reports[s.id].passed), None)

    def checked(self) -> list[Checked]:
        """What is known, file by file."""
        return [
            Checked(clean(path.name), self.problems.get(name, []), known)
            for name, path in self.files.items()
            if name not in self.unreadable
            and (known := [self.reports[s.id] for s in self.tasks if s.notebook == name and s.id in self.reports])
        ]

    def _start(self) -> None:
        """Begin the next check, the present task first."""
        while self.running is None and self._waiting:
            notebook, self._saved = self._waiting.pop(0)
            mine = [step for step in self.tasks if step.notebook == notebook]
            mine.sort(key=lambda step: step != self.current)
            try:
                self.running, self._taken = Running(self.files[notebook], mine, self.seconds), 0
                self.unreadable.pop(notebook, None)
            except Unreadable as problem:
                self.unreadable[notebook] = f"{problem} It is looked at again when it is saved."
                self.finished += 1

    def advance(self) -> None:
        """Take in what the running check has found by now."""
        running = self.running
        if running is None:
            return
        done = running.poll()
        for step, report in zip(running.steps[self._taken :], running.found.reports[self._taken :], strict=False):
            self._taken += 1
            self.reports[step.id] = report
            if self.summary is not None:  # at once: the next key may be q
                self.summary.report(step, report, saved=self._saved and step == self.current)
        if not done:
            return
        self.running = None
        self.finished, self.checked_at = self.finished + 1, time.strftime("%H:%M:%S")
        self.problems[running.steps[0].notebook] = running.found.problems
        if not self._begun and not self._waiting:  # everything was looked at once: begin where there is work
            self._begun = True
            self.go(self.unfinished() or self.current)
        self._start()

    def close(self) -> None:
        """End a check that is under way."""
        if self.running is not None:
            self.running.stop()
            self.running = None

    # ---- keys
    def go(self, step: Step | None) -> None:
        """Make a step the present task."""
        if step is not None and step != self.current:
            self.current, self.hint, self.solution, self.asks = step, 0, "", False

    def press(self, key: str) -> None:
        """Do what a key asks for."""
        self.said = ""
        if self.asks and key != "s":
            self.asks = False
        if key in ("q", keys.END):
            self.over = True
        elif self.current is None:
            return
        elif self.solution and key in (" ", "\n", "\r", "\x1b"):
            self.solution = ""
        elif key in ("n", "p"):
            steps = self.tasks
            at = steps.index(self.current) + (1 if key == "n" else -1)
            if 0 <= at < len(steps):
                self.go(steps[at])
            else:
                self.said = "This is the last task." if key == "n" else "This is the first task."
        elif key == "h":
            self.solution, self.hint = "", self.hint % max(DEPTHS) + 1
            if self.summary is not None:
                self.summary.hint(self.current, self.hint)
        elif key == "s":
            self._show_solution(self.current)
        elif key == "r":
            self._watched[self.files[self.current.notebook]].due = True

    def solved(self) -> Path | None:
        """Where the solution of the present task is, if there is one."""
        if self.current is None:
            return None
        start = self.path.resolve()
        return solved.find(start, self.current) or solved.find(Path.cwd(), self.current)

    def _show_solution(self, step: Step) -> None:
        where = self.solved()
        passed = self.report is not None and self.report.passed
        if self.solution:
            self.solution = ""
        elif where is None:
            self.said = "There is no solutions/ folder near here, so there is nothing to show."
        elif not passed and not self.asks:
            self.asks = True
        else:
            self.asks = False
            try:
                self.solution = solved.source(where, step)
            except Unreadable as problem:
                self.said = str(problem)
                return
            if self.summary is not None:
                self.summary.solution(step, passed=passed)


def fingerprint(path: Path) -> Print:
    """What changes when a file is saved, whichever way an editor saves it; None where there is no file."""
    try:
        about = path.stat()
        content = zlib.crc32(path.read_bytes()) if about.st_size <= LARGEST_READ else 0
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino, content


def _saved_at(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
