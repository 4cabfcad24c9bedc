"""Marks for a learning platform: which module does it, and the two files that come of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from autograder.course import Course
from autograder.formats.marking import Marking
from autograder.formats.roster import listing
from autograder.formats.sheet import read
from autograder.result import CheckResult, Result
from autograder.results import read_all, write_file

#: The platform, and the module that knows its list.
MODULES = {"canvas": "canvas", "moodle": "moodle", "gradescope": "gradescope_marks"}


def export(folder: Path, platform: str, course: Course, roster: Path | None, marking: Marking) -> list[str]:
    """Write ``DIR/<platform>.csv`` for the platform and ``DIR/<platform>_everybody.csv`` for the person who uploads
    it. Gives the sentences that this person should read. `FormatError` where nothing was written.
    """
    kept, unreadable = read_all(folder)
    room = importlib.import_module(f"autograder.formats.{MODULES[platform]}")
    made = room.export(_without_words(one.result for one in kept), course, read(roster) if roster else None, marking)
    upload, everybody = folder / f"{platform}.csv", folder / f"{platform}_everybody.csv"
    write_file(upload, made.content)
    write_file(everybody, listing(made.lines))
    sentences = [f"{path} is no result, and was left out. Grading again makes it anew." for path in unreadable]
    if roster is None:
        sentences.append("Without --roster nobody who handed in nothing can be on the list.")
    sentences += made.sentences
    return [*sentences, f"{upload} is for {platform.capitalize()}; {everybody} says what became of everybody."]


def _without_words(results: Iterable[Result]) -> list[Result]:
    """All results at once, which matching names needs: without what no list of marks says, and with one object for
    all checks that came out alike, so that thousands fit.
    """
    alike: dict[tuple[str, str, float, float], CheckResult] = {}

    def one(check: CheckResult) -> CheckResult:
        key = check.id, check.verdict, check.points, check.max_points
        return alike.setdefault(
            key, msgspec.structs.replace(check, title="", message=None, example=None, overruled=None)
        )

    return [msgspec.structs.replace(result, checks=[one(check) for check in result.checks]) for result in results]
