"""Marks for Canvas: its own gradebook export with one column filled in, which its import takes back.

Canvas finds a student by ``ID`` (or the SIS columns) and an assignment by the number in the head of its column, so
those stay as they are, to the byte. A name that a spreadsheet would take for a formula gets an apostrophe: where
there is an ID, Canvas does not look at names. Rows that are no student's (``Points Possible``, ``Manual Posting``)
stay as well. A cell that is not filled in keeps what Canvas had there.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from autograder.course import Course
from autograder.formats import FormatError
from autograder.formats.marking import Marking, fill, one_maximum
from autograder.formats.roster import Export, Person, matched, shield
from autograder.formats.sheet import Sheet, need
from autograder.names import display_name
from autograder.result import Result
from autograder.table import harmless, number

PLATFORM = "canvas"
NAMES = ("Student", "LastName", "FirstName")
# Sums and grades that Canvas works out itself, for a group of assignments or a period too.
_SUMS = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)\b")
_NUMBER = re.compile(r"\s*\(\d+\)\s*$")
#: What Canvas writes for a student who is excused, or whom the assignment is not for.
EXCUSED = ("EX", "N/A")


def export(results: Sequence[Result], course: Course, sheet: Sheet | None, marking: Marking) -> Export:
    """The gradebook with the marks; without one, a table of those whom Canvas's own download has named.

    `FormatError` where it is no gradebook, where it is not clear which column is meant, or where Canvas counts
    other points than the results.
    """
    sheet = sheet or _new(results, course, marking)
    who = need(sheet, "a gradebook export of Canvas", "Student", "LastName")
    by_id = need(sheet, "a gradebook export of Canvas", "ID")
    section = need(sheet, "a gradebook export of Canvas", "Section")
    possible = next((i for i, row in enumerate(sheet.rows) if row and "Points Possible" in row[0]), None)
    column = _column(sheet, section, possible, course, marking.column)
    maximum = one_maximum(results)
    if possible is not None and not sheet.cell(possible, column).strip():
        sheet.put(possible, column, number(maximum))
    platforms = sheet.cell(possible, column) if possible is not None else ""
    people = [_person(sheet, row, who, by_id) for row in range(1, len(sheet.rows)) if _is_student(sheet.rows[row])]
    found = matched(people, results, PLATFORM)
    made = fill(sheet, column, people, found, course, marking, (maximum, platforms), keep=EXCUSED)
    if all(person.ids for person in people):
        shield(sheet, (sheet.column(name) for name in NAMES))
    made.content = sheet.content()
    return made


def _column(sheet: Sheet, section: int, possible: int | None, course: Course, wanted: str | None) -> int:
    """The column of the assignment: the one that is named, or has the title of the lab, or is the only one."""
    columns = [
        i
        for i in range(section + 1, len(sheet.header))
        if not _SUMS.search(sheet.header[i])
        and (possible is None or "read only" not in sheet.cell(possible, i))
        and (_NUMBER.search(sheet.header[i]) or sheet.header[i].strip())
    ]
    titles = {i: _NUMBER.sub("", sheet.header[i]).strip() for i in columns}
    for title in [wanted] if wanted else [course.title, course.assignment]:
        same = [i for i in columns if title.casefold() in (titles[i].casefold(), sheet.header[i].strip().casefold())]
        if len(same) == 1:
            return same[0]
        if same:
            raise FormatError(
                f"{sheet.name} has {len(same)} columns called {display_name(title)}. Name one with its number: "
                f"--column {sheet.header[same[0]]!r}."
            )
    numbered = [i for i in columns if _NUMBER.search(sheet.header[i])]
    if wanted is None and len(numbered) == 1:
        return numbered[0]
    heads = [sheet.header[i].strip() for i in columns]
    near = difflib.get_close_matches(wanted, heads, n=5, cutoff=0.3) if wanted else []
    listed = ", ".join(display_name(head) for head in (near or heads)) or "none"
    what = f"called {display_name(wanted)}" if wanted else f"called {display_name(course.title)}"
    raise FormatError(f"{sheet.name} has no column {what}. Name one with --column. Columns of assignments: {listed}.")


def _is_student(cells: Sequence[str]) -> bool:
    """Not so: the maximum, who posts what by hand, an empty line."""
    if cells and "Points Possible" in cells[0]:
        return False
    return not all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.IGNORECASE) for cell in cells)


def _person(sheet: Sheet, row: int, who: int, by_id: int) -> Person:
    first = sheet.column("FirstName")
    name = sheet.cell(row, who) if first is None else f"{sheet.cell(row, who)}, {sheet.cell(row, first)}"
    others = [sheet.cell(row, sheet.column(head)) for head in ("SIS User ID", "SIS Login ID", "Integration ID")]
    own = sheet.cell(row, by_id).strip()
    return Person(row, name, (own,) if own else (), tuple(other for other in others if other), (name,))


def _new(results: Sequence[Result], course: Course, marking: Marking) -> Sheet:
    """A gradebook of those who are known by Canvas's number: whoever handed in nothing cannot be on it."""
    known = {
        student.id: student.name
        for result in results
        for student in result.students
        if result.platform == PLATFORM and student.id and student.id.isdigit()
    }
    if not known or any(result.platform != PLATFORM for result in results):
        raise FormatError(
            "These results do not all come from a bulk download of Canvas, so its numbers of the students are not "
            "known. Export the gradebook there (Grades, Export) and give it with --roster FILE."
        )
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", marking.column or course.title]
    rows = [head, ["    Points Possible", "", "", "", "", number(one_maximum(results))]]
    rows += [[harmless(name), number_, "", "", "", ""] for number_, name in known.items()]
    return Sheet("the new gradebook", rows)
