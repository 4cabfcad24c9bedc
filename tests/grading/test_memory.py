"""Memory does not grow with the class: of a submission that is done only a few numbers stay.

Run as a program it grades COUNT submissions into OUT, publishes them, and prints the most memory that it had.
"""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import handmade
import pytest
from fake_engine import InThisProcess, Silent, handed, settings
from rich.console import Console

from autograder import grade, marks, results, terminal
from autograder.discover import Handed
from autograder.pages.publish import publish
from autograder.result import Result
from autograder.settings import Settings

#: What 2,000 submissions may need, as a part of what 100 do. Measured: 70 and 56 MB, most of the difference for the
#: table on the terminal; with all results in memory 64 MB more.
ALLOWED = 1.5


@pytest.mark.soak
def test_two_thousand_submissions_need_hardly_more_memory_than_a_hundred(tmp_path: Path) -> None:
    few, many = (most_memory(tmp_path / str(count), count) for count in (100, 2_000))
    assert many < ALLOWED * few, f"{many >> 20} MiB for 2,000 submissions, {few >> 20} MiB for 100"


def most_memory(folder: Path, count: int) -> int:
    """Bytes that a process of its own had at the most."""
    folder.mkdir()
    environment = {**os.environ, "FAKE_ENGINE": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, __file__, str(folder / "out"), str(count)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def wordy(one: Handed, setting: Settings, known: str | None) -> Result | None:
    """A result in which every check has a long message that no other submission has: 30 kB of words."""
    outcomes = handmade.outcomes(attention__mask="failed")
    for outcome in outcomes:
        outcome.message = f"{one.name}, {outcome.id}. " * 200
    return marks.assemble(outcomes, setting.course, handmade.facts(one.name, digest=one.name))


def grade_and_publish(out: Path, count: int) -> None:
    setting = settings(out.parent / "clone")
    names = [f"student{i:04d}" for i in range(count)]
    summary = grade.run(handed(names), setting, out, workers=InThisProcess(1, wordy), report=Silent())
    there, _ = publish(out, setting.course.title, {})
    Console(file=io.StringIO()).print(terminal.table(results.kept(out, stem).result for stem in summary.done))
    assert len(there) == len(summary.done) == count


if __name__ == "__main__":
    # What is measured is memory, and a flush for every file would take minutes on a slow disk.
    os.fsync = lambda descriptor: None
    grade_and_publish(Path(sys.argv[1]), int(sys.argv[2]))
    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
