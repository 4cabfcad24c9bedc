"""The command ``attnlab``: check a file from a terminal, ask for a hint, see the solution when done.

Exit codes: 0 all pass, 1 something does not, 2 usage or a file that cannot be read.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attnlab import __version__
from attnlab.file_check import Checked, check_file
from attnlab.files import Unreadable, find, notebook_of
from attnlab.hints import DEPTHS, hint
from attnlab.record import HIDDEN_NOTE
from attnlab.saved import without_twins
from attnlab.step import LAB, Step
from attnlab.steps import NOTEBOOKS, listed
from attnlab.steps import find as find_step
from attnlab.words import clean

GOOD, BAD, USAGE, STOPPED = 0, 1, 2, 130


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
    check.add_argument("--watch", action="store_true", help="one task at a time, checked again on every save")
    check.add_argument("--json", action="store_true", help="print the result as JSON; with --watch a line each time")
    check.add_argument("--seconds", type=_positive, default=120.0, help="time limit for a file (default: 120)")
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

    pack = commands.add_parser("pack", help="put everything that is to be handed in into one zip")
    pack.add_argument("folder", nargs="?", default=".", type=Path, metavar="DIR")
    pack.add_argument("--to", type=Path, default=None, metavar="FILE", help="the zip to write")
    pack.add_argument("--seconds", type=_positive, default=120.0, help=argparse.SUPPRESS)
    pack.set_defaults(run=_pack)

    explore = commands.add_parser("explore", help="list the explorers, or write them as pages for a browser")
    explore.add_argument("names", nargs="*", metavar="NAME", help="which to write; without a name they are listed")
    explore.add_argument("--write", type=Path, metavar="DIR", help="where to write them; all, if none is named")
    explore.add_argument("--open", action="store_true", help="show what was written in the browser")
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
    return _watch(options, steps)


def _watch(options: argparse.Namespace, steps: list[Step]) -> int:
    from attnlab.summary import Summary
    from attnlab.watch import Watch
    from attnlab.watch_screen import watch_until_the_end

    path: Path = options.path
    summary = None if options.json else Summary(path if path.is_dir() else path.parent)
    watch = Watch(path, steps, options.seconds, summary)

    def line(state: Watch) -> str:
        return json.dumps(_as_json(state.checked(), list(state.unreadable.values())), ensure_ascii=False)

    watch_until_the_end(watch, line if options.json else None)
    if summary is not None and summary.entries and not summary.problem:
        print(f"What you did is in {clean(summary.path)}: what passed and when, and what to read again.")
    if watch.unreadable:
        return USAGE
    return GOOD if watch.tasks and watch.unfinished() is None else BAD


def _check_once(options: argparse.Namespace, steps: list[Step]) -> int:
    files, unreadable = [], []
    worked_on, left_out = without_twins(find(options.path, {step.notebook for step in steps} or tuple(NOTEBOOKS)))
    for path in worked_on:
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
    for sentence in (*left_out, *unreadable):
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


def _print(checked: Checked, *, full: bool) -> None:
    """The report of one file: every line where a step was asked for, otherwise only what needs attention."""
    from rich.console import Console
    from rich.text import Text

    from attnlab import panel

    console = Console(highlight=False)
    lines = [checked.file, *(f"  {problem}" for problem in checked.problems), ""]
    reports = tuple(checked.reports)
    for report in reports:
        brief = not full and (report.passed or report.untouched)
        lines += [panel.headline(report)] if brief else panel.text((report,), with_notes=False).splitlines()
    if not full:
        lines += ["", panel.progress_line(reports), panel.following(reports)]
    lines += ["", *panel.notes(reports)]
    for line in lines:
        console.print(Text(line, style=panel.STYLES.get(line.strip()[:1], "")), soft_wrap=True)


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


def _pack(options: argparse.Namespace) -> int:
    from attnlab import packing

    if not options.folder.is_dir():
        raise Unreadable(f"There is no folder {clean(options.folder)}.")
    to = options.to.resolve() if options.to else None
    packed = packing.pack_folder(options.folder, to, seconds=options.seconds)
    print(packed, file=sys.stdout if packed.archive else sys.stderr)
    return GOOD if packed.archive else USAGE


def _explore(options: argparse.Namespace) -> int:
    from attnlab import explorers

    if not options.names and options.write is None:
        print(explorers.listed())
        print("\nIn a notebook: from attnlab.explorers import explore, then explore(NAME) at the end of a cell.")
        print("As a page that needs no kernel and no network: attnlab explore NAME --open")
        return GOOD
    folder: Path = options.write or Path("explorers")
    try:
        written = explorers.write(folder, options.names)
    except LookupError as unknown:
        print(unknown, file=sys.stderr)
        return USAGE
    except OSError as error:
        print(f"The pages cannot be written to {clean(folder)}: {error.strerror}.", file=sys.stderr)
        return USAGE
    for file in written:
        print(file)
        if options.open:
            webbrowser.open(file.resolve().as_uri())
    return GOOD
