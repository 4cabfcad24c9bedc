"""Check one file in a process of its own and within a time limit: what ``attnlab check`` does for each file."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attnlab import GRADING
from attnlab.childprocess import command, environment
from attnlab.files import cells
from attnlab.record import StepReport
from attnlab.step import Step
from attnlab.words import clean


@dataclass
class Checked:
    """One file: what its cells ran into, and a report per step."""

    file: str
    problems: list[str] = field(default_factory=list)
    reports: list[StepReport] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        checked = [report for report in self.reports if report.number] or self.reports  # questions are for oneself
        return bool(checked) and all(report.passed for report in checked)


class Running:
    """A check that is under way: ``found`` grows while it runs, and is whole once ``done``.

    Raises ``Unreadable``, before anything runs, where the file cannot be read as a lab. The child ends when it is
    ``stop``\\ ped, when ``seconds`` are over, and when this process ends in whatever way.
    """

    def __init__(self, path: Path, steps: Sequence[Step], seconds: float) -> None:
        cells(path)  # says now, and in a sentence, what cannot be read at all
        self.path, self.steps, self.seconds = path, tuple(steps), seconds
        self.found = Checked(clean(path.name))
        self.done = self._ended = False
        self._doing, self._read = "starting", 0
        self._folder = tempfile.TemporaryDirectory(prefix="attnlab-", ignore_cleanup_errors=True)
        self._record = Path(self._folder.name, "record")
        self._started = time.monotonic()
        self._child = subprocess.Popen(
            command("attnlab.run_file", str(path), str(self._record), *(step.id for step in steps)),
            env=environment(**{GRADING: "1"}),
            stdin=subprocess.PIPE,  # held open: the child ends where it is closed
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",  # so that what the file starts can be ended with it
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def poll(self) -> bool:
        """Take in what is known by now; gives ``done``. What is left unchecked then says why."""
        if self.done:
            return True
        code, late = self._child.poll(), self.elapsed > self.seconds
        self._take_in()
        if code is None and not late:
            return False
        ended = ""
        if code is None:
            ended = f"it was not done after {self.seconds:g} seconds; a loop may have no end"
        elif code:
            ended = "the process that ran the file ended by itself"
        self.stop()
        for step in self.steps[len(self.found.reports) :]:
            why = f"While {self._doing}, {ended or 'the process that ran the file ended by itself'}."
            self.found.reports.append(StepReport(step.id, step.number, step.title, (), problem=why))
        return True

    def wait(self) -> Checked:
        """The whole finding, at most ``seconds`` from the start."""
        while not self.poll():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(min(0.2, max(0.0, self.seconds - self.elapsed) + 0.01))
        return self.found

    def stop(self) -> None:
        """End the child and all that it started; what was found so far stays."""
        if self._ended:
            return
        self._ended = self.done = True
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._child.kill()
        self._child.wait()
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()
        self._folder.cleanup()

    def _take_in(self) -> None:
        try:
            with self._record.open("rb") as stream:
                stream.seek(self._read)
                new = stream.read()
        except OSError:  # the child has not begun to write
            return
        whole = new[: new.rfind(b"\n") + 1]  # a line that is only half written is for the next time
        self._read += len(whole)
        for entry in map(json.loads, whole.splitlines()):
            self._doing = entry.get("doing", self._doing)
            if "problem" in entry:
                self.found.problems.append(entry["problem"])
            if "report" in entry:
                self.found.reports.append(StepReport.from_dict(entry["report"]))


def check_file(path: Path, steps: Sequence[Step], seconds: float) -> Checked:
    """Run a file in a child process of at most ``seconds`` and check ``steps`` on what it defines."""
    running = Running(path, steps, seconds)
    try:
        return running.wait()
    finally:
        running.stop()
