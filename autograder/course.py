"""``source/course.toml`` as a record: points, parts marked by a person, limits; and the course seed.

Laid out like this:

[course]
title = "…"
seed_file = "course_seed.txt"          # in the user's configuration folder, unless it is a full path

[lab07]
title = "…"
chapter = "7"
notebooks = ["attention_lab"]
extra_notebooks = ["explorers"]         # handed out with them, and not graded

[lab07.limits]                          # of one submission in the sandbox
cell_seconds = 20
…

[lab07.attention_lab.points]
"step1.softmax" = 5

[[lab07.attention_lab.by_person]]
task = "step4"
…

Deadlines, late work, overrides and the like are `autograder.policy`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import re
import secrets
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from autograder.conventions import NOT_GRADED
from autograder.policy import TABLES, Policy, faults

Record = TypeVar("Record")

ShowChecks = Literal["visible", "after_due_date", "after_published", "hidden"]

#: The smallest part of a point; see ``marks``.
UNITS_PER_POINT = 10_000
#: A seed file larger than this is not a seed file.
MAX_SEED_BYTES = 65_536
#: A seed of fewer characters than this draws a warning.
SHORT_SEED = 16
#: Rounds of the slow hash that names a seed: about a tenth of a second for one guess.
SEED_ROUNDS = 200_000


class CourseError(Exception):
    """The course cannot be read as it is written; the message is one sentence that says where and what."""


class NoCourse(CourseError):
    """There is no course here, or not this assignment in it."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one submission may use: seconds, MiB (2**20 bytes) and processes."""

    cell_seconds: float = 20
    setup_seconds: float = 90
    call_seconds: float = 10
    calls_seconds: float = 300
    memory_mib: int = 2048
    processes: int = 128
    file_mib: int = 64


class RubricLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an answer must say, and the points that it earns."""

    points: float
    text: str


class ByPerson(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer that a person marks; ``grade_id`` names its cell in the notebook."""

    task: str
    function: str
    title: str
    points: float
    grade_id: str
    rubric: list[RubricLine] = []
    full_answer: str = ""
    half_answer: str = ""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The points of one notebook: of what is checked by ``task.function``, others by a person.

    ``extra_credit`` names those that count in the score and not in its maximum.
    """

    points: dict[str, float] = {}
    by_person: list[ByPerson] = []
    extra_credit: list[str] = []


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One assignment of the course, with what it takes from the course as a whole.

    ``handed_out`` is the text of the cells that a person marks as students got them, by ``grade_id``; empty where
    nothing was released yet. ``show_rubrics``: whether students see the rubrics on their feedback page.
    ``show_checks``: from when on they see the checks on Gradescope, in its own words. ``extra_notebooks`` are handed
    out with the others, and nothing in them is graded.
    """

    course_title: str
    seed_file: str
    assignment: str
    title: str
    chapter: str
    notebooks: tuple[str, ...]
    limits: Limits
    parts: dict[str, Part]
    policy: Policy = Policy()
    show_rubrics: bool = False
    show_checks: ShowChecks = "after_published"
    extra_notebooks: tuple[str, ...] = ()
    handed_out: dict[str, str] = {}

    @property
    def all_notebooks(self) -> tuple[str, ...]:
        """Everything that is handed out, in order: what is graded first."""
        return self.notebooks + self.extra_notebooks


class _Header(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    title: str
    seed_file: str = "course_seed.txt"


class _Assignment(msgspec.Struct, kw_only=True):
    """The fixed keys of an assignment; every other table in it must be one of its notebooks."""

    title: str
    chapter: str = ""
    notebooks: list[str]
    extra_notebooks: list[str] = []
    limits: Limits = Limits()
    show_rubrics: bool = False
    show_checks: ShowChecks = "after_published"


def find_root() -> Path:
    """The folder that holds ``source/course.toml``: ``AUTOGRADER_ROOT``, the grader's clone, or above here.

    The clone that the grader was installed from comes before the current folder, so that the points are
    those which its checks were written for.
    """
    named = os.environ.get("AUTOGRADER_ROOT")
    if named:
        if (Path(named) / "source" / "course.toml").is_file():
            return Path(named)
        raise NoCourse(f"AUTOGRADER_ROOT is {named}, and there is no source/course.toml in it.")
    here = Path.cwd()
    for folder in [*Path(__file__).resolve().parents, here, *here.parents]:
        if (folder / "source" / "course.toml").is_file():
            return folder
    raise NoCourse(
        "There is no source/course.toml beside the grader, in this folder or above it. "
        "Run this in a clone of the course, or set AUTOGRADER_ROOT to one."
    )


def course_file(root: Path | None = None) -> Path:
    return (root or find_root()) / "source" / "course.toml"


def load(assignment: str, root: Path | None = None) -> Course:
    """The record of an assignment. Anything missing, misspelt or contradictory raises `CourseError`."""
    path = course_file(root)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}") from None
    if assignment == "course" or not isinstance(tables.get(assignment), dict):
        known = ", ".join(sorted(name for name in tables if name != "course")) or "none"
        raise NoCourse(f"{path} has no assignment {assignment!r}. Assignments there: {known}.")
    header = _convert(tables.get("course", {}), _Header, path, "course")
    table = tables[assignment]
    fixed = _convert(table, _Assignment, path, assignment)
    policy = _convert({key: table[key] for key in TABLES if key in table}, Policy, path, assignment)
    others = [name for name in table if name not in (*_Assignment.__struct_fields__, *TABLES)]
    if sorted(others) != sorted(fixed.notebooks):
        raise CourseError(
            f"{path}: [{assignment}] names the notebooks {', '.join(fixed.notebooks) or '(none)'}, and has "
            f"tables for {', '.join(others) or '(none)'}. They must be the same."
        )
    if twice := sorted({*fixed.notebooks} & {*fixed.extra_notebooks}):
        raise CourseError(f"{path}: [{assignment}] {', '.join(twice)} is graded, or an extra notebook, but not both.")
    parts = {name: _convert(table[name], Part, path, f"{assignment}.{name}") for name in fixed.notebooks}
    for name, part in parts.items():
        _validate(part, f"{path}: [{assignment}.{name}]")
    for fault in faults(policy, {name: points_of(part) for name, part in parts.items()}):
        raise CourseError(f"{path}: [{assignment}] {fault}.")
    return Course(
        course_title=header.title,
        seed_file=header.seed_file,
        assignment=assignment,
        title=fixed.title,
        chapter=fixed.chapter,
        notebooks=tuple(fixed.notebooks),
        limits=fixed.limits,
        parts=parts,
        policy=policy,
        show_rubrics=fixed.show_rubrics,
        show_checks=fixed.show_checks,
        extra_notebooks=tuple(fixed.extra_notebooks),
        handed_out=_handed_out(path.parents[1] / "release" / assignment, parts),
    )


def _handed_out(folder: Path, parts: dict[str, Part]) -> dict[str, str]:
    """What students got in the cells that a person marks; nothing of a notebook that was not released yet."""
    texts: dict[str, str] = {}
    for name, part in parts.items():
        wanted = {answer.grade_id for answer in part.by_person}
        path = folder / f"{name}.ipynb"
        if not wanted or not path.is_file():
            continue
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            found = ((cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"]) for cell in cells)
            texts |= {grade_id: "".join(source) for grade_id, source in found if grade_id in wanted}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise CourseError(f"{path} cannot be read as a notebook. Build it again: autograder release.") from None
    return texts


def points_of(part: Part) -> dict[str, float]:
    """The points of everything in a notebook, by ``task.function``: what is checked, then what a person marks."""
    return part.points | {f"{answer.task}.{answer.function}": answer.points for answer in part.by_person}


def signatures(course: Course) -> dict[str, frozenset[str]]:
    """By notebook, the names that it asks a student to define: how a renamed notebook is known."""
    graded = {name: frozenset(key.partition(".")[2] for key in part.points) for name, part in course.parts.items()}
    return graded | dict.fromkeys(course.extra_notebooks, NOT_GRADED)


@functools.lru_cache(maxsize=4096)
def units(points: float) -> int:
    """Points in ten-thousandths; `ValueError` for what is not a whole number of them, or is below zero."""
    if math.isfinite(points) and points >= 0:
        exact = Fraction(repr(points)) * UNITS_PER_POINT
        if exact.denominator == 1:
            return exact.numerator
    raise ValueError(f"{points} is not a number of points with at most four decimals")


def _convert(table: Any, kind: type[Record], path: Path, where: str) -> Record:
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise CourseError(f"{path}: [{where}]: {error}.") from None


def _validate(part: Part, where: str) -> None:
    """Points that can be shared exactly, and names that can be told apart."""
    by_person = [f"{answer.task}.{answer.function}" for answer in part.by_person]
    listed = [*part.points.items(), *zip(by_person, (a.points for a in part.by_person), strict=True)]
    for name, points in listed:
        if not re.fullmatch(r"\w+\.\w+", name):
            raise CourseError(f'{where}: {name!r} should be "task.function", as in "step1.softmax".')
        try:
            units(points)
        except ValueError as error:
            raise CourseError(f"{where}: {name}: {error}.") from None
    unknown = [name for name in part.extra_credit if name not in points_of(part)]
    if unknown:
        raise CourseError(f"{where}: extra_credit names {', '.join(unknown)}, which has no points there.")
    twice = {name for name in by_person if by_person.count(name) > 1 or name in part.points}
    if twice:
        raise CourseError(f"{where}: {', '.join(sorted(twice))} stands there more than once.")


def read_seed(path: Path) -> str:
    """The seed in a UTF-8 text file, surrounding white space ignored."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SEED_BYTES + 1)
        seed = content.decode("utf-8-sig").strip()
    except OSError as error:
        raise CourseError(f"The course seed {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CourseError(f"The course seed {path} is not UTF-8 text.") from None
    if not seed or len(content) > MAX_SEED_BYTES:
        what = "empty" if not seed else f"larger than {MAX_SEED_BYTES} bytes"
        raise CourseError(f"The course seed {path} is {what}.")
    return seed


def own_seed_file(course: Course, root: Path | None = None) -> Path:
    """Where the course keeps its seed; never inside the repository, where it could be handed out."""
    from typer import get_app_dir

    path = (Path(get_app_dir("attnlab")) / Path(course.seed_file).expanduser()).resolve()
    repository = (root or find_root()).resolve()
    if path.is_relative_to(repository):
        raise CourseError(f"seed_file in course.toml is {path}, inside {repository}. Put it outside.")
    return path


def own_seed(course: Course, root: Path | None = None) -> str:
    """The course's own seed: made once, readable by its owner only, and the same from then on."""
    path = own_seed_file(course, root)
    if path.exists():
        return read_seed(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32) + "\n")
        try:
            # A link never replaces: of two graders that start at once, both end up with the same seed.
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    except OSError as error:
        raise CourseError(
            f"A course seed could not be made at {path} ({error.strerror}). Name one with --course-seed FILE."
        ) from None
    return read_seed(path)


def seed_id(seed: str) -> str:
    """12 hex digits that name a seed in results. The hash is slow, so that short seeds are hard to guess."""
    key = hashlib.pbkdf2_hmac("sha256", seed.encode("utf-8"), b"attnlab course seed", SEED_ROUNDS)
    return key.hex()[:12]
