"""Marks for Moodle: the grading worksheet of an assignment with its column of grades filled in.

Moodle's import looks at the identifier, the grade, the time of the last change of the grade and the feedback, so the
first and the third stay as they are, to the byte. The names of columns are in the language of whoever downloaded the
worksheet: where they are not English, the columns are told by what is in them. Names and online texts, which the
import does not look at, get an apostrophe where a spreadsheet would take them for formulas.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from autograder.course import Course
from autograder.formats import FormatError
from autograder.formats.marking import Marking, fill, one_maximum
from autograder.formats.roster import Export, Person, matched, shield
from autograder.formats.sheet import Sheet
from autograder.names import display_name
from autograder.pages.words import task_name
from autograder.result import Result, mark_of
from autograder.table import harmless, number, points

PLATFORM = "moodle"
#: The worksheet as Moodle writes it in English, with the kinds of feedback and submission that a lab has.
HEADER = [
    *("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"),
    *("Last modified (submission)", "Last modified (grade)", "Feedback comments"),
]
#: How a comment of ours begins: it may be replaced by another one, a person's never.
OURS = "Autograder: "
#: The download does not say who was late, so that the results do not know it, and the worksheet only in words.
LATE_THERE = (
    "Moodle says late, and the results do not know it: {names}. Nothing was taken off for that. Where something should "
    "be, give the time that Moodle shows in course.toml ([[{assignment}.received]]) and export again."
)
# "Participant 12345" in any language: a word of letters, and the number.
_ANY_WORD = re.compile(r"\s*[^\W\d][^\d]*\d+\s*")
_NUMBER_AT_THE_END = re.compile(r".*?(\d+)", re.DOTALL)


def export(results: Sequence[Result], course: Course, sheet: Sheet | None, marking: Marking) -> Export:
    """The worksheet with the marks; without one, a table of those whom Moodle's own download has named.

    `FormatError` where it is no worksheet, or Moodle counts other points than the results.
    """
    sheet = sheet or _new(results)
    identifier, grade, maximum = _columns(sheet, marking)
    name, email = sheet.column("Full name"), sheet.column("Email address")
    name = identifier + 1 if name is None and len(sheet.header) > identifier + 1 else name
    said = sheet.column("Status")
    others = [i for i in range(identifier + 1, said if said is not None else grade) if i != name]
    rows = [row for row in range(1, len(sheet.rows)) if _number(sheet.cell(row, identifier))]
    people = [_person(sheet, row, identifier, name, {*others, *([email] if email is not None else [])}) for row in rows]
    comments = sheet.column("Feedback comments")

    def comment(row: int, result: Result) -> None:
        if comments is not None and (not (text := sheet.cell(row, comments).strip()) or text.startswith(OURS)):
            sheet.put(row, comments, harmless(OURS + html.escape(summary(result), quote=False)))

    maxima = one_maximum(results), sheet.cell(rows[0], maximum) if rows else ""
    made = fill(sheet, grade, people, matched(people, results, PLATFORM), course, marking, maxima, also=comment)
    locked = sheet.column("Grade can be changed")
    unknown: list[Result] = []
    for person, line in zip(people, made.lines, strict=False):
        status = sheet.cell(person.row, said)
        if "late" in status.casefold() and line.result is not None:
            if line.status != "late":
                unknown.append(line.result)
            line.status = "late"
        notes = [line.note, f"Moodle says: {status.strip()}" if status.strip() else ""]
        if line.written and sheet.cell(person.row, locked).strip().casefold() == "no":
            notes.append("the grade is locked there, so that Moodle leaves it as it is")
        line.note = "; ".join(note for note in notes if note)
    if unknown:
        names = ", ".join(display_name(one.submission) for one in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        made.sentences.append(LATE_THERE.format(names=names + more, assignment=course.assignment))
    over = [display_name(one.submission) for one in results if mark_of(one) > one.max_score]
    if over:
        made.sentences.append(
            f"Moodle passes over grades above its maximum; with extra credit that is {', '.join(over[:5])}. "
            "Raise the maximum there, or enter these by hand."
        )
    shield(sheet, (name, sheet.column("Online text")))
    made.content = sheet.content()
    return made


def summary(result: Result) -> str:
    """The mark and where it comes from, in one line."""
    parts = [f"{number(mark_of(result))} of {number(result.max_score)} points."]
    if result.late_note:
        parts.append(result.late_note)
    tasks = list(dict.fromkeys((check.notebook, check.task) for check in result.checks))
    listed = []
    for book, task in tasks:
        checks = [check for check in result.checks if (check.notebook, check.task) == (book, task)]
        won, most = points([check.points for check in checks]), points([check.max_points for check in checks])
        listed.append(f"{task_name(task)} {number(won)}/{number(most)}")
    return " ".join([*parts, f"{'; '.join(listed)}." if listed else ""]).strip()


def _columns(sheet: Sheet, marking: Marking) -> tuple[int, int, int]:
    """Identifier, grade and maximum, by their English names or by what is in them."""
    rows = [row for row in range(1, len(sheet.rows)) if any(cell.strip() for cell in sheet.rows[row])]
    width = range(len(sheet.header))
    identifier = sheet.column("Identifier")
    if identifier is None:
        identifier = next(
            (i for i in width if rows and all(_ANY_WORD.fullmatch(sheet.cell(row, i)) for row in rows)), None
        )
    maximum = sheet.column("Maximum Grade")
    if maximum is None and sheet.column("Grade") is None:
        maximum = next((i for i in width if i != identifier and _one_maximum(sheet, rows, i)), None)
    grade = sheet.column(marking.column or "Grade")
    if grade is None and marking.column is None and maximum:
        grade = maximum - 1
    if identifier is None or grade is None:
        there = ", ".join(display_name(head) for head in sheet.header if head.strip())
        what = "identifier" if identifier is None else f"column {marking.column or 'Grade'}"
        raise FormatError(
            f"{sheet.name} has no {what}, so it is not a grading worksheet of Moodle (in the assignment: Download "
            f"grading worksheet). Its columns: {there}."
        )
    return identifier, grade, maximum if maximum is not None else grade + 1


def _one_maximum(sheet: Sheet, rows: Sequence[int], column: int) -> bool:
    values = {sheet.cell(row, column).strip() for row in rows}
    return len(values) == 1 and re.fullmatch(r"[1-9]\d*[.,]\d+", values.pop()) is not None


def _person(sheet: Sheet, row: int, identifier: int, name: int | None, others: set[int]) -> Person:
    own = sheet.cell(row, name)
    also = tuple(text for i in sorted(others) if (text := sheet.cell(row, i).strip()))
    return Person(row, own or sheet.cell(row, identifier), (_number(sheet.cell(row, identifier)),), also, (own,))


def _number(identifier: str) -> str:
    """``12345`` of ``Participant 12345``: the number that is in the names of the download too."""
    found = _NUMBER_AT_THE_END.fullmatch(identifier.strip())
    return found[1] if found else ""


def _new(results: Sequence[Result]) -> Sheet:
    """A worksheet of those who are known by Moodle's number: whoever handed in nothing cannot be on it."""
    known = {
        student.id: student.name
        for result in results
        for student in result.students
        if result.platform == PLATFORM and student.id
    }
    if not known or any(result.platform != PLATFORM for result in results):
        raise FormatError(
            "These results do not all come from a download of Moodle, so its numbers of the students are not known. "
            "Download the grading worksheet of the assignment there and give it with --roster FILE."
        )
    maximum = f"{one_maximum(results):.2f}"
    rows = [[f"Participant {own}", name, "", "", "", maximum, "Yes", "-", "-", ""] for own, name in known.items()]
    return Sheet("the new worksheet", [list(HEADER), *rows])
