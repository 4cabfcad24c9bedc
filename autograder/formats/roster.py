"""A platform's list of students and the results, put together: nobody on either side is dropped or taken for another.

A number or address of the platform decides where there is one; a name only where it is one person's on both sides.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from autograder.formats.sheet import Sheet
from autograder.names import display_name
from autograder.policy import Attempts
from autograder.result import Result, mark_of
from autograder.table import harmless, number

STATUS_COLUMNS = (
    *("student", "id", "status", "submission", "score", "late_penalty", "mark", "max_score", "written"),
    *("received", "note"),
)


@dataclass(frozen=True)
class Person:
    """A row of the platform's list: ``ids`` are its own numbers of the student, ``others`` addresses and logins."""

    row: int
    name: str
    ids: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass
class Line:
    """What became of one student, or of one submission that is nobody's on the list."""

    student: str
    id: str
    status: str
    result: Result | None = None
    written: str = ""
    note: str = ""


@dataclass
class Export:
    """What is written for a platform, and what a person should know before it is uploaded."""

    content: bytes
    lines: list[Line] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def matched(
    people: Sequence[Person], results: Sequence[Result], platform: str
) -> tuple[dict[int, list[Result]], list[Result], list[str]]:
    """By row the results of that student; the results of nobody; and sentences on names that are not one person's."""
    by_id = _index((key, person) for person in people for key in person.ids)
    by_other = _index((_plain(key), person) for person in people for key in (*person.others, *person.ids))
    by_name = _index((key, person) for person in people for name in person.names for key in name_keys(name))
    claims = _claims(results)
    found: dict[int, list[Result]] = defaultdict(list)
    nobodys, doubts = [], []
    for result in results:
        mine, doubt = [], ""
        for student in result.students or ():
            theirs = by_id.get(student.id or "", []) if result.platform == platform else []
            theirs = theirs or by_other.get(_plain(student.email or ""), [])
            if result.platform != platform:
                theirs = theirs or by_other.get(_plain(student.id or ""), [])
            if not theirs and not (result.platform == platform and student.id and by_id):
                theirs, doubt = _by_name(student.name, by_name, claims, doubt)
            mine += theirs
        if not result.students:
            mine = by_other.get(_plain(result.submission), [])
            if not mine:
                mine, doubt = _by_name(result.submission, by_name, claims, doubt)
        for person in {person.row: person for person in mine}.values():
            found[person.row].append(result)
        if not mine:
            nobodys.append(result)
            doubts += [doubt] if doubt else []
    return dict(found), nobodys, doubts


def counted(results: Sequence[Result], attempts: Attempts) -> tuple[Result, str]:
    """Which of one student's submissions counts, and a word on the others.

    The last one is told by the time that it came in, or by the platform's number of the upload; where neither is
    known for all of them, the best one counts, and that is said.
    """
    if len(results) == 1:
        return results[0], ""
    best = max(results, key=lambda one: (mark_of(one), one.submission))
    chosen, how = best, "best"
    if attempts == "last":
        how = "last"
        if all(one.received for one in results):
            chosen = max(results, key=lambda one: (one.received or datetime.min.replace(tzinfo=UTC), one.submission))
        elif all(one.upload for one in results):
            chosen = max(results, key=lambda one: (one.upload, one.submission))
        else:
            how = "best, as it is not known which is the last,"
    others = ", ".join(display_name(one.submission) for one in results if one is not chosen)
    return chosen, f"Of {len(results)} submissions the {how} counts; not {others}."


def status(result: Result) -> str:
    """One word, or two, for how the work of a submission stands."""
    return "late" if result.late or result.late_penalty or result.late_note else "on time"


def undecided(result: Result) -> str:
    """What a mark does not hold yet; '' for nothing."""
    waiting = []
    if result.manual_points:
        waiting.append(f"{number(result.manual_points)} points wait for a person")
    if result.pending_points:
        waiting.append(f"{number(result.pending_points)} points wait for a machine")
    return "; ".join(waiting)


def listing(lines: Iterable[Line]) -> bytes:
    """Everybody with what became of them, as a CSV file of ours."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(STATUS_COLUMNS)
    for line in lines:
        result = line.result
        marks = ["", "", "", ""]
        if result is not None:
            marks = [number(m) for m in (result.score, result.late_penalty, mark_of(result), result.max_score)]
        cells = [line.student, line.id, line.status, result.submission if result else "", *marks, line.written]
        cells.append(result.received.isoformat() if result and result.received else "")
        table.writerow([harmless(cell) for cell in [*cells, line.note]])
    return text.getvalue().encode("utf-8")


def shield(sheet: Sheet, columns: Iterable[int | None]) -> None:
    """Make names harmless that a spreadsheet would take for formulas, where the platform does not look at them."""
    for column in columns:
        if column is None:
            continue
        for row in range(1, len(sheet.rows)):
            if cell := sheet.cell(row, column):
                sheet.put(row, column, harmless(cell))


def name_keys(name: str) -> set[str]:
    """A name without case, spaces and signs: as it is, and with what stands before a comma put behind."""
    last, comma, first = name.partition(",")
    return {key for key in (_letters(name), _letters(first + last) if comma else "") if key}


def _by_name(
    name: str, by_name: dict[str, list[Person]], claims: dict[str, int], doubt: str
) -> tuple[list[Person], str]:
    keys = name_keys(name)
    people = {person.row: person for key in keys for person in by_name.get(key, [])}
    if len(people) == 1 and all(claims[key] <= 1 for key in keys):
        return list(people.values()), doubt
    if people:
        return (
            [],
            f"{display_name(name)} may be {len(people)} people of the list, or there are several submissions of it.",
        )
    return [], doubt


def _claims(results: Sequence[Result]) -> dict[str, int]:
    """How many different people of the results have a name."""
    who: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for student in result.students:
            for key in name_keys(student.name):
                who[key].add(student.id or student.email or result.submission)
        if not result.students:
            for key in name_keys(result.submission):
                who[key].add(result.submission)
    return defaultdict(int, {key: len(people) for key, people in who.items()})


def _index(pairs: Iterable[tuple[str, Person]]) -> dict[str, list[Person]]:
    index: dict[str, list[Person]] = defaultdict(list)
    for key, person in pairs:
        if key and person not in index[key]:
            index[key].append(person)
    return dict(index)


def _plain(text: str) -> str:
    return text.strip().casefold()


def _letters(text: str) -> str:
    """What Canvas leaves of a name in the name of a file: letters and digits, in lower case."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
