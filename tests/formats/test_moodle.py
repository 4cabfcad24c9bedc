"""Moodle gets its grading worksheet back with grades and comments in it, whatever language its columns are in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import lists
import pytest

from autograder.course import Course
from autograder.formats import FormatError, moodle
from autograder.formats.marking import Marking
from autograder.formats.roster import Export
from autograder.formats.sheet import read
from autograder.result import Result, Student


def table(made: Export) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.content.decode("utf-8"), newline="")))


@pytest.fixture
def results(course: Course) -> list[Result]:
    return [
        lists.one(course, "Ömer Ç.", Student(name="Ömer Ç.", id="1001"), 20.5, "moodle"),
        lists.one(course, "Q Bo O'Brien", Student(name="Q Bo O'Brien", id="1002"), 12.25, "moodle"),
        lists.one(course, "م بن سالم", Student(name="م بن سالم", id="1003"), 25.0, "moodle"),
    ]


def export(
    tmp_path: Path, results: list[Result], course: Course, text: str = lists.MOODLE, marking: Marking | None = None
) -> Export:
    return moodle.export(results, course, read(lists.file(tmp_path, text)), marking or Marking())


def test_grades_and_comments_are_filled_in_and_nothing_else_changes(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    before = list(csv.reader(io.StringIO(lists.MOODLE, newline="")))
    after = table(export(tmp_path, results, course))
    assert [row[4] for row in after[1:]] == ["20.5", "12.25", "25", ""]
    assert after[1][10] == "Autograder: 20.5 of 25 points. Step 1 20.5/25."
    for old, new in zip(before, after, strict=True):
        kept = [i for i in range(11) if i not in (1, 4, 8, 10)]
        assert [new[i] for i in kept] == [old[i] for i in kept]
    assert after[4][1] == "'+Absent"
    assert after[1][8] == "'=1+1"


def test_a_persons_comment_stays_and_ours_is_replaced(tmp_path: Path, results: list[Result], course: Course) -> None:
    first = export(tmp_path, results, course)
    assert table(first)[2][10] == "See me on Monday"
    results[0].mark = 10.0
    (tmp_path / "list.csv").write_bytes(first.content)
    again = table(moodle.export(results, course, read(tmp_path / "list.csv"), Marking()))
    assert again[1][10].startswith("Autograder: 10 of 25")
    assert again[1][4] == "10"


def test_late_and_missing_are_told_apart_by_moodles_own_word(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    made = export(tmp_path, results, course)
    assert [line.status for line in made.lines] == ["on time", "late", "on time", "missing"]
    assert "2 days late" in made.lines[1].note and "No submission" in made.lines[3].note


def test_lateness_that_only_moodle_knows_is_said_with_what_to_do_and_costs_nothing(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    said = [one for one in export(tmp_path, results, course).sentences if "Moodle says late" in one]
    assert len(said) == 1 and "Q Bo O'Brien. Nothing was taken off" in said[0]
    assert "[[lab07.received]]" in said[0] and "Ömer" not in said[0]
    results[1].late_note = "Handed in 2 days after the deadline, which costs 20 %."
    assert not [one for one in export(tmp_path, results, course).sentences if "Moodle says late" in one]


def test_columns_in_another_language_are_told_by_what_is_in_them(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    turkish = (
        "Kimlik,Tam adı,Durum,Not,En yüksek not,Not değiştirilebilir,Son değiştirme (not),Geri bildirim\n"
        'Katılımcı 1001,Ömer Ç.,Gönderildi,,"25,00",Evet,-,\n'
        'Katılımcı 1002,Bo,Gönderildi,,"25,00",Evet,-,\n'
    )
    after = table(export(tmp_path, results[:2], course, turkish))
    assert [row[3] for row in after[1:]] == ["20,5", "12,25"]
    assert after[1][:2] == ["Katılımcı 1001", "Ömer Ç."]


def test_blind_marking_has_numbers_only(tmp_path: Path, results: list[Result], course: Course) -> None:
    blind = "Identifier,Status,Grade,Maximum Grade,Last modified (grade)\nParticipant 1002,x,,25.00,-\n"
    assert table(export(tmp_path, results, course, blind))[1][2] == "12.25"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Name,Grade\nx,1\n", "no identifier"),
        ("Identifier,Full name\nParticipant 1,x\n", "no column Grade"),
        (lists.MOODLE.replace("25.00", "100.00"), "--scale"),
        ("", "is empty"),
        ('"Identifier\n', "no column Grade"),
    ],
)
def test_what_is_no_worksheet_is_refused(
    tmp_path: Path, results: list[Result], course: Course, text: str, says: str
) -> None:
    with pytest.raises(FormatError, match=says):
        export(tmp_path, results, course, text)


def test_more_than_the_maximum_is_said_because_moodle_would_pass_over_it(tmp_path: Path, course: Course) -> None:
    rich = lists.one(course, "x", Student(name="x", id="1001"), 27.0, "moodle")
    assert "passes over grades above its maximum" in " ".join(export(tmp_path, [rich], course).sentences)


def test_without_a_worksheet_the_numbers_of_the_download_make_one(results: list[Result], course: Course) -> None:
    after = table(moodle.export(results, course, None, Marking()))
    assert after[0] == moodle.HEADER
    assert after[1][:2] == ["Participant 1001", "Ömer Ç."]
    assert after[1][4:6] == ["20.5", "25.00"]
