"""Marks in the form of Gradescope's own table of grades (Download Grades), filled in.

Gradescope has no import of marks for programming assignments: there they come from the archive that runs on
Gradescope itself. This table is for what stands behind it, a gradebook or a spreadsheet that already takes
Gradescope's. ``SID`` and ``Email`` stay as they are, to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course import Course
from autograder.formats import FormatError
from autograder.formats.marking import Marking, fill, one_maximum
from autograder.formats.roster import Export, Person, matched, shield
from autograder.formats.sheet import Sheet
from autograder.result import Result
from autograder.table import number

PLATFORM = "gradescope"
HEADER = [
    *("First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status"),
    *("Submission ID", "Submission Time", "Lateness (H:M:S)", "View Count", "Submission Count"),
]
NAMES = ("First Name", "Last Name", "Name", "Preferred/First Name")


def export(results: Sequence[Result], course: Course, sheet: Sheet | None, marking: Marking) -> Export:
    """The table with the marks; from a roster, or without a list, one that has Gradescope's columns.

    `FormatError` where it is neither a table of grades nor a roster, or Gradescope counts other points.
    """
    sheet = sheet or _new(results)
    sid, email = sheet.column("SID", "Student ID", "ID"), sheet.column("Email", "Email Address")
    if sid is None and email is None:
        raise FormatError(
            f"{sheet.name} has neither a column SID nor Email, so it is no table of grades or roster of Gradescope."
        )
    maximum = one_maximum(results)
    for head in ("Total Score", "Max Points", "Status"):
        if sheet.column(head) is None:
            sheet.put(0, len(sheet.header), head)
    total = sheet.column(marking.column or "Total Score")
    most, state = sheet.column("Max Points"), sheet.column("Status")
    if total is None or most is None or state is None:
        raise FormatError(f"{sheet.name} has no column {marking.column}.")
    rows = [row for row in range(1, len(sheet.rows)) if any(cell.strip() for cell in sheet.rows[row])]
    people = [_person(sheet, row, sid, email) for row in rows]
    platforms = next((text for row in rows if (text := sheet.cell(row, most).strip())), "")

    def graded(row: int, result: Result) -> None:
        sheet.put(row, state, "Graded")

    found = matched(people, results, PLATFORM)
    made = fill(sheet, total, people, found, course, marking, (maximum, platforms), also=graded)
    for row in rows:
        if not sheet.cell(row, most).strip():
            sheet.put(row, most, platforms or number(maximum))
        if not sheet.cell(row, state).strip():
            # Handed in, and not marked: an error of the grader is in it.
            sheet.put(row, state, "" if row in found[0] else "Missing")
    if all(person.ids or person.others for person in people):
        shield(sheet, (sheet.column(name) for name in NAMES))
    made.content = sheet.content()
    return made


def _person(sheet: Sheet, row: int, sid: int | None, email: int | None) -> Person:
    first, last = sheet.column("First Name", "Preferred/First Name"), sheet.column("Last Name")
    whole = sheet.cell(row, sheet.column("Name")) or f"{sheet.cell(row, first)} {sheet.cell(row, last)}".strip()
    own, other = sheet.cell(row, sid).strip(), sheet.cell(row, email).strip()
    return Person(row, whole or own or other, (own,) if own else (), (other,) if other else (), (whole,))


def _new(results: Sequence[Result]) -> Sheet:
    """A table of everybody whom Gradescope's export has named."""
    rows, seen = [], set()
    for result in results:
        for student in result.students:
            if result.platform != PLATFORM or student in seen:
                continue
            seen.add(student)
            first, _, last = student.name.rpartition(" ")
            when = result.received.strftime("%Y-%m-%d %H:%M:%S %z") if result.received else ""
            row = [first or last, last if first else "", student.id or "", student.email or "", "", "", "", ""]
            rows.append([*row, "", when, "", "", ""])
    if not rows or any(result.platform != PLATFORM for result in results):
        raise FormatError(
            "These results do not all come from an export of Gradescope, so its students are not known. Download "
            "the grades or the roster there and give the CSV with --roster FILE."
        )
    return Sheet("the new table", [list(HEADER), *rows])
