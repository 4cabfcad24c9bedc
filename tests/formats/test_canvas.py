"""Canvas gets its own gradebook back: every row, every id, and only the one column changed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import lists
import msgspec
import pytest

from autograder.course import Course
from autograder.formats import FormatError, canvas
from autograder.formats.marking import Marking
from autograder.formats.roster import Export, listing
from autograder.formats.sheet import read
from autograder.result import Result, Student


def table(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.fixture
def results(course: Course) -> list[Result]:
    return [
        lists.one(course, "çömer", Student(name="çömer", id="1001"), 20.5),
        lists.one(course, "obrienboq", Student(name="obrienboq", id="1002"), 12.25, late=True),
        lists.one(course, "بنسالمم", Student(name="بنسالمم", id="1003"), 25.0),
        lists.one(course, "hyperlink", Student(name="hyperlink", id="1004"), 5.0),
        lists.one(course, "stranger", Student(name="stranger", id="9999"), 7.0),
    ]


def export(
    tmp_path: Path, results: list[Result], course: Course, text: str = lists.CANVAS, marking: Marking | None = None
) -> Export:
    return canvas.export(results, course, read(lists.file(tmp_path, text)), marking or Marking())


def test_every_row_and_id_stays_and_only_the_column_of_the_lab_changes(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    before, after = table(lists.CANVAS.encode()), table(export(tmp_path, results, course).content)
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        assert [cell for i, cell in enumerate(new) if i not in (0, 6)] == [
            cell for i, cell in enumerate(old) if i not in (0, 6)
        ]
    assert [row[6] for row in after[3:]] == ["20.5", "12.25", "25", "EX", "3"]
    assert [row[0] for row in after[:6]] == [row[0] for row in before[:6]]


def test_a_name_that_is_a_formula_gets_an_apostrophe_and_its_id_does_not_change(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    after = table(export(tmp_path, results, course).content)
    assert after[6][:2] == ['\'=HYPERLINK("http://x")', "1004"]
    assert after[7][2:4] == ["'0005", "=weird@x"]


def test_late_missing_excused_and_strangers_are_told_apart(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    made = export(tmp_path, results, course)
    assert [line.status for line in made.lines] == [
        "on time",
        "late",
        "on time",
        "excused",
        "missing",
        "not on the list, on time",
    ]
    said = " ".join(made.sentences)
    assert "1 handed in nothing (what was in their cells is left): Absent, A." in said
    assert "nobody on the list" in said and "stranger" in said
    assert "Left as excused though there is a submission" in said
    rows = table(listing(made.lines))
    assert len(rows) == 1 + 6
    assert rows[4][0].startswith("'=HYPERLINK")


def test_who_handed_in_nothing_gets_0_only_when_that_is_asked(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    after = table(export(tmp_path, results, course, marking=Marking(missing_zero=True)).content)
    assert after[7][6] == "0"


def test_a_mark_that_0_replaces_is_counted_and_the_same_number_written_otherwise_is_not(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    there = "1 marks that were there before are replaced by others."
    made = export(tmp_path, results, course, marking=Marking(missing_zero=True))
    assert there in made.sentences
    text = lists.CANVAS.replace("omer,L1,9,,90", "omer,L1,9,20.50,90")
    assert table(lists.CANVAS.encode()) != table(text.encode())
    made = export(tmp_path, results, course, text)
    assert not [said for said in made.sentences if "replaced" in said]
    assert there in export(tmp_path, results, course, text.replace("20.50", "20.51")).sentences


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("Attention: the lab (502)", "Something (502)"), "has no column called Attention: the lab"),
        (("Lab 6 (501)", "Attention: the lab (501)"), "2 columns called"),
        (("10,25,(read", "10,100,(read"), "has 100 points, and the results are out of 25"),
        (("Student,ID", "Student,Number"), "no column ID"),
        (("Section,", "Group,"), "no column Section"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(
    tmp_path: Path, results: list[Result], course: Course, change: tuple[str, str], says: str
) -> None:
    with pytest.raises(FormatError, match=says):
        export(tmp_path, results, course, lists.CANVAS.replace(*change))


def test_marks_are_brought_to_canvas_points_when_that_is_asked(
    tmp_path: Path, results: list[Result], course: Course
) -> None:
    made = export(tmp_path, results, course, lists.CANVAS.replace("10,25,(read", "10,100,(read"), Marking(scale=True))
    assert [row[6] for row in table(made.content)[3:6]] == ["82", "49", "100"]


def test_another_column_can_be_named(tmp_path: Path, results: list[Result], course: Course) -> None:
    made = export(tmp_path, results, course, lists.CANVAS, Marking(column="lab 6", scale=True))
    assert [row[5:7] for row in table(made.content)[3:5]] == [["8.2", ""], ["4.9", ""]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encoding_delimiter_and_line_ends_are_those_of_the_file(
    tmp_path: Path, results: list[Result], course: Course, encoding: str
) -> None:
    text = lists.CANVAS.replace("\r\n", "\n")
    rows = list(csv.reader(io.StringIO(text)))
    semicolons = io.StringIO(newline="")
    csv.writer(semicolons, delimiter=";", lineterminator="\n").writerows(rows)
    path = lists.file(tmp_path, semicolons.getvalue(), encoding)
    untouched = path.read_bytes()
    assert read(path).content() == untouched
    made = canvas.export(results, course, read(path), Marking())
    assert made.content[:3] == untouched[:3]
    assert ";20.5;" in made.content.decode(encoding) and "\r" not in made.content.decode(encoding)


def test_bytes_that_are_not_unicode_come_back_as_they_were(tmp_path: Path, course: Course) -> None:
    text = lists.CANVAS.replace("Ç., Ömer", "Ç., Ömer").encode("cp1254", "ignore")
    path = tmp_path / "list.csv"
    path.write_bytes(text)
    results = [lists.one(course, "x", Student(name="x", id="1001"), 20.0)]
    made = canvas.export(results, course, read(path), Marking()).content
    assert "Ç., Ömer".encode("cp1254") in made and b",20,90,A" in made


def test_an_error_of_the_grader_is_not_written(tmp_path: Path, course: Course) -> None:
    spoilt = lists.one(course, "x", Student(name="x", id="1001"), 0.0)
    spoilt.checks[0].verdict = "grader_error"
    made = export(tmp_path, [spoilt], course)
    assert table(made.content)[3][6] == ""
    assert "error of the grader" in " ".join(made.sentences)


def test_of_several_submissions_the_last_counts_or_the_best(tmp_path: Path, course: Course) -> None:
    who = Student(name="x", id="1001")
    both = [lists.one(course, "first", who, 20.0, upload=7), lists.one(course, "second", who, 11.0, upload=9)]
    assert table(export(tmp_path, both, course).content)[3][6] == "11"
    assert "the last counts; not first" in export(tmp_path, both, course).lines[0].note
    best = msgspec.structs.replace(course, policy=msgspec.structs.replace(course.policy, attempts="best"))
    assert table(export(tmp_path, both, best).content)[3][6] == "20"
    for result in both:
        result.upload = 0
    made = export(tmp_path, both, course)
    assert table(made.content)[3][6] == "20"
    assert "not known which is the last" in made.lines[0].note


def test_results_from_elsewhere_are_matched_by_login_and_else_by_a_name_that_is_one_persons(
    tmp_path: Path, course: Course
) -> None:
    results = [
        lists.one(course, "BO", None, 11.0, platform=None),
        lists.one(course, "Ömer Ç.", None, 12.0, platform=None),
        lists.one(course, "1005", Student(name="A Absent", id="1005"), 13.0, platform="moodle"),
    ]
    made = export(tmp_path, results, course)
    assert [row[6] for row in table(made.content)[3:8]] == ["12", "11", "", "EX", "13"]
    twins = lists.CANVAS.replace('"بن سالم, م"', '"Ç., Ömer"')
    doubtful = export(tmp_path, results[1:2], course, twins)
    assert [row[6] for row in table(doubtful.content)[3:6]] == ["", "", ""]
    assert "may be 2 people" in " ".join(doubtful.sentences)


def test_without_a_gradebook_the_numbers_of_the_download_make_one(course: Course, results: list[Result]) -> None:
    rows = table(canvas.export(results, course, None, Marking()).content)
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention: the lab"]
    assert rows[1][0].strip() == "Points Possible"
    assert [(row[1], row[5]) for row in rows[2:4]] == [("1001", "20.5"), ("1002", "12.25")]
    with pytest.raises(FormatError, match="--roster"):
        canvas.export([lists.one(course, "ada", None, 3.0, platform=None)], course, None, Marking())
