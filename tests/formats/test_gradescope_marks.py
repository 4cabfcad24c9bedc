"""Gradescope's own table of grades comes back with the marks in it, and its rosters can stand in for it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import lists
import pytest

from autograder.course import Course
from autograder.formats import FormatError, gradescope_marks
from autograder.formats.marking import Marking
from autograder.formats.sheet import read
from autograder.result import Result, Student


def table(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


@pytest.fixture
def results(course: Course) -> list[Result]:
    pair = [Student(name="Ömer Ç.", id="S1", email="omer@x.org"), Student(name="Q O'Brien", id="S2")]
    result = lists.one(course, "Ömer Ç., Q O'Brien", None, 20.5, "gradescope", received=lists.NOON)
    result.students = pair
    return [result]


def test_a_group_gets_its_mark_in_every_row_of_it(tmp_path: Path, results: list[Result], course: Course) -> None:
    made = gradescope_marks.export(results, course, read(lists.file(tmp_path, lists.GRADESCOPE)), Marking())
    rows = table(made.content)
    assert [row[5:8] for row in rows[1:]] == [
        ["20.5", "25.0", "Graded"],
        ["20.5", "25.0", "Graded"],
        ["", "25.0", "Missing"],
    ]
    assert [row[2:4] for row in rows[1:]] == [["S1", "omer@x.org"], ["S2", "bo@x.org"], ["S5", "a@x.org"]]
    assert b"\r" not in made.content
    assert made.lines[2].status == "missing"


def test_a_roster_gets_the_columns_that_it_lacks(tmp_path: Path, results: list[Result], course: Course) -> None:
    roster = "Name,Email,SID,Role\nÖmer Ç.,omer@x.org,S1,Student\n=Q,bo@x.org,S2,Student\n"
    rows = table(gradescope_marks.export(results, course, read(lists.file(tmp_path, roster)), Marking()).content)
    assert rows[0] == ["Name", "Email", "SID", "Role", "Total Score", "Max Points", "Status"]
    assert rows[2] == ["'=Q", "bo@x.org", "S2", "Student", "20.5", "25", "Graded"]


def test_what_has_an_error_of_the_grader_in_it_is_not_called_missing(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    results[0].checks[0].verdict = "grader_error"
    roster = "Name,Email,SID\nÖmer Ç.,omer@x.org,S1\nAbsent,a@x.org,S5\n"
    made = gradescope_marks.export(results, course, read(lists.file(tmp_path, roster)), Marking())
    assert [row[3:] for row in table(made.content)[1:]] == [["", "25", ""], ["", "25", "Missing"]]


def test_without_a_list_the_names_of_the_export_make_one(results: list[Result], course: Course) -> None:
    rows = table(gradescope_marks.export(results, course, None, Marking()).content)
    assert rows[1][:4] == ["Ömer", "Ç.", "S1", "omer@x.org"]
    assert rows[1][9] == "2026-11-13 12:00:00 +0300"


def test_what_has_neither_number_nor_address_is_refused(tmp_path: Path, results: list[Result], course: Course) -> None:
    with pytest.raises(FormatError, match="neither a column SID nor Email"):
        gradescope_marks.export(results, course, read(lists.file(tmp_path, "Name\nx\n")), Marking())
