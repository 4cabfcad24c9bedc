"""Where the results of a folder came from: the paths that were graded, and what each kit's checks were made of.

Beside the results, in ``DIR/graded_from.json`` and ``DIR/kits/``. Marks do not depend on it: without it `regrade` runs
everything again, and `explain` has to be told where a submission is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from autograder.check_digests import Kit, kit
from autograder.course import Course, signatures
from autograder.discover import Handed, discover
from autograder.grade import jobs
from autograder.results import prepare, write_file
from autograder.settings import Settings

#: Runs that are remembered; older ones are forgotten first.
MAX_RUNS = 50
_VERSION = re.compile(r"[\w.+-]{1,100}")


class _GradedFrom(msgspec.Struct):
    """The paths of each run, absolute: together they decide how submissions are called."""

    runs: list[list[str]] = []


def record(out: Path, paths: Sequence[str], settings: Settings) -> None:
    """Write down a run before it starts; `results.FolderError` where the folder cannot be written."""
    prepare(out)
    run = [str(Path(path).absolute()) for path in paths]
    runs = [one for one in _runs(out) if one != run]
    content = msgspec.json.format(msgspec.json.encode(_GradedFrom([*runs, run][-MAX_RUNS:])), indent=1)
    write_file(out / "graded_from.json", content + b"\n")


def record_kit(out: Path, settings: Settings) -> None:
    """Write down what the checks of this kit are made of, unless that is there."""
    if recall(out, settings.kit_version) is None:
        # Checks that cannot be collected are an error of the grader in every result, and no reason to make none.
        with suppress(RuntimeError, SyntaxError):
            keep(out, settings.kit_version, kit(settings.course))


def keep(out: Path, version: str, made_of: Kit) -> None:
    """Write down what a kit's checks are made of."""
    (out / "kits").mkdir(exist_ok=True)
    write_file(out / "kits" / f"{version}.json", msgspec.json.encode(made_of) + b"\n")


def recall(out: Path, version: str) -> Kit | None:
    """What a kit's checks were made of; None where that was not written down."""
    if not _VERSION.fullmatch(version):
        return None
    try:
        return msgspec.json.decode((out / "kits" / f"{version}.json").read_bytes(), type=Kit)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def handed_in(out: Path, course: Course, paths: Sequence[str] = ()) -> dict[str, Handed]:
    """By the name in its result, each submission under ``paths``, or under the paths that were graded."""
    found: dict[str, Handed] = {}
    for run in [list(paths)] if paths else _runs(out):
        there = [path for path in run if Path(path).exists()]
        for job in jobs(discover(there, course.assignment, signatures(course)).handed) if there else ():
            found[job.name] = job.handed
    return found


def _runs(out: Path) -> list[list[str]]:
    try:
        return msgspec.json.decode((out / "graded_from.json").read_bytes(), type=_GradedFrom).runs
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return []
