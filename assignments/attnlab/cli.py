"""The command ``attnlab``: check a file from a terminal, ask for a hint, see the solution when done.

Exit codes: 0 all pass, 1 something does not, 2 usage or a file that cannot be read.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnlab import GRADING, __version__
from attnlab.files import Unreadable, cells, find, notebook_of
from attnlab.hints import DEPTHS, hint
from attnlab.record import HIDDEN_NOTE, StepReport
from attnlab.step import LAB, Step
from attnlab.steps import NOTEBOOKS, listed
from attnlab.steps import find as find_step
from attnlab.words import clean

GOOD, BAD, USAGE, STOPPED = 0, 1, 2, 130


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv`` (default: the command line) and give back its exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # a stream that was replaced, or is closed
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        options = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has said why
        return GOOD if stop.code in (0, None) else USAGE
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except Unreadable as problem:
        print(problem, file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        return STOPPED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "attnlab", description="The attention lab: check, hint, solution, explore."
    )
    parser.add_argument("--version", action="version", version=f"attnlab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="run the public checks on a notebook or a Python file")
    check.add_argument("path", nargs="?", default=".", type=Path, metavar="FILE_OR_DIR")
    check.add_argument(
        "--step", action="append", type=_step, metavar="N", help="only this step; may be repeated"
    )
    check.add_argument("--watch", action="store_true", help="check again whenever the file is saved")
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    check.add_argument(
        "--seconds", type=_positive, default=120.0, help="time limit for a file (default: 120)"
    )
    check.set_defaults(run=_check)

    ask = commands.add_parser("hint", help="a hint for a step")
    ask.add_argument("step", type=_step, metavar="STEP")
    ask.add_argument(
        "--depth", type=int, choices=DEPTHS, default=1, help="1 where to look, 2 how to find out, 3 idea"
    )
    ask.set_defaults(run=_hint)

    solution = commands.add_parser("solution", help="the solution of a step, once yours holds")
    solution.add_argument("step", type=_step, metavar="STEP")
    solution.add_argument("path", nargs="?", default=".", type=Path, metavar="FILE_OR_DIR")
    solution.add_argument("--reveal", action="store_true", help="show it although yours does not hold yet")
    solution.add_argument("--seconds", type=_positive, default=120.0, help=argparse.SUPPRESS)
    solution.set_defaults(run=_solution)

    explore = commands.add_parser("explore", help="list the explorers")
    explore.set_defaults(run=_explore)
    return parser


def _step(text: str) -> Step:
    step = find_step(text)
    if step is None:
        raise argparse.ArgumentTypeError(f"there is no step {text!r}; they are {listed()}")
    return step


def _positive(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError("the time limit must be positive")
    return seconds


# ------------------------------------------------------------------ check


def _check(options: argparse.Namespace) -> int:
    steps: list[Step] = options.step or []
    if not options.watch:
        return _check_once(options, steps)
    code = USAGE
    seen: object = None
    try:
        while True:
            now = _state(options.path)
            if now != seen:
                seen = now
                with contextlib.suppress(Unreadable):
                    code = _check_once(options, steps)
                if not options.json:
                    print("\nWatching; save the file to check again, Ctrl-C to stop.", flush=True)
            time.sleep(0.5)
    except KeyboardInterrupt:
        return code


def _state(path: Path) -> object:
    """What changes when a file is saved; one that is just being replaced is no reason to stop."""
    with contextlib.suppress(OSError, Unreadable):
        return [(file, file.stat().st_mtime_ns) for file in find(path)]
    return None


def _check_once(options: argparse.Namespace, steps: list[Step]) -> int:
    files, unreadable = [], []
    for path in find(options.path, {step.notebook for step in steps} or tuple(NOTEBOOKS)):
        try:
            asked = steps or NOTEBOOKS[notebook_of(path) or LAB]
            files.append(check_file(path, asked, options.seconds))
        except Unreadable as problem:
            unreadable.append(str(problem))
    if options.json:
        print(json.dumps(_as_json(files, unreadable), ensure_ascii=False, indent=1))
    else:
        for file in files:
            _print(file, full=options.step is not None)
    for sentence in unreadable:
        print(sentence, file=sys.stderr)
    if unreadable:
        return USAGE
    return GOOD if all(file.passed for file in files) else BAD


def _as_json(files: list[Checked], unreadable: list[str]) -> dict[str, Any]:
    return {
        "schema": "attnlab-check/1",
        "passed": not unreadable and all(file.passed for file in files),
        "note": HIDDEN_NOTE,
        "unreadable": unreadable,
        "files": [
            {
                "file": file.file,
                "passed": file.passed,
                "problems": file.problems,
                "steps": [report.as_dict() for report in file.reports],
            }
            for file in files
        ],
    }


def check_file(path: Path, steps: Sequence[Step], seconds: float) -> Checked:
    """Run a file in a child process of at most ``seconds`` and check ``steps`` on what it defines."""
    from attnlab.childprocess import command, environment

    cells(path)  # says now, and in a sentence, what cannot be read at all
    with tempfile.TemporaryDirectory(prefix="attnlab-", ignore_cleanup_errors=True) as folder:
        record = Path(folder, "record")
        ended = ""
        try:
            done = subprocess.run(
                command("attnlab.run_file", str(path), str(record), *(step.id for step in steps)),
                env=environment(**{GRADING: "1"}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
            if done.returncode:
                ended = "the process that ran the file ended by itself"
        except subprocess.TimeoutExpired:
            ended = f"it was not done after {seconds:g} seconds; a loop may have no end"
        lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    checked = Checked(clean(path.name))
    doing = "starting"
    for entry in map(json.loads, lines):
        doing = entry.get("doing", doing)
        if "problem" in entry:
            checked.problems.append(entry["problem"])
        if "report" in entry:
            checked.reports.append(StepReport.from_dict(entry["report"]))
    for step in steps[len(checked.reports) :]:
        why = f"While {doing}, {ended}."
        checked.reports.append(StepReport(step.id, step.number, step.title, (), problem=why))
    return checked


def _print(checked: Checked, *, full: bool) -> None:
    """The report of one file: every line where a step was asked for, otherwise only what needs attention."""
    from rich.console import Console
    from rich.text import Text

    from attnlab import panel

    console = Console(highlight=False)
    styles = {"✓": "green", "✗": "red", "!": "red", "○": "dim", "…": "dim", "■": "yellow"}
    lines = [checked.file, *(f"  {problem}" for problem in checked.problems), ""]
    reports = tuple(checked.reports)
    for report in reports:
        brief = not full and (report.passed or report.untouched)
        lines += [panel.headline(report)] if brief else panel.text((report,), with_notes=False).splitlines()
    if not full:
        lines += ["", panel.progress_line(reports), panel.following(reports)]
    lines += ["", *panel.notes(reports)]
    for line in lines:
        console.print(Text(line, style=styles.get(line.strip()[:1], "")), soft_wrap=True)


# -------------------------------------------- hint, solution, explorers


def _hint(options: argparse.Namespace) -> int:
    step: Step = options.step
    print(f"{step.label} ({step.read}), hint {options.depth} of {len(DEPTHS)}\n")
    print(hint(step.id, options.depth))
    if options.depth < max(DEPTHS):
        print(f"\nMore: attnlab hint {step.id} --depth {options.depth + 1}")
    return GOOD


def _solution(options: argparse.Namespace) -> int:
    from attnlab import solved

    step: Step = options.step
    where = solved.find(Path.cwd(), step)
    if where is None:
        print("There is no solutions/ folder near here, so there is nothing to show.", file=sys.stderr)
        return USAGE
    if not options.reveal:
        mine = [check_file(path, [step], options.seconds) for path in find(options.path, {step.notebook})]
        if not any(file.passed for file in mine):
            print(
                f"Your {step.name.lower()} does not hold yet: attnlab check --step {step.id} says where, "
                f"and attnlab hint {step.id} helps.\nTo see the solution all the same, add --reveal."
            )
            return BAD
    print(solved.source(where, step))
    return GOOD


def _explore(options: argparse.Namespace) -> int:
    print("No explorer is part of this version of attnlab.")
    return GOOD
