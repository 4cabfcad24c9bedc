"""grades.csv: columns by contract, and nothing in it that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

import pytest
from handmade import result
from hypothesis import given
from hypothesis import strategies as st

from autograder.course import Course
from autograder.table import grades, harmless

HEAD = ["submission", "score", "max_score", "pending_points", "manual_points", "provisional"]


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_the_columns_are_those_of_the_contract_and_one_per_task(course: Course) -> None:
    table = rows(grades([result(course), result(course, "bob", attention__mask="failed")]))
    assert table[0] == [*HEAD, "step1", "step2"]
    assert table[1] == ["ada", "22.5", "25", "0", "2.5", "false", "15", "7.5"]
    assert table[2] == ["bob", "19.1667", "25", "0", "2.5", "false", "11.6667", "7.5"]


def test_the_steps_of_a_row_add_up_to_its_score(course: Course) -> None:
    table = rows(grades([result(course, attention__mask="failed", softmax__rows="pending")]))
    score, *_, step1, step2 = map(float, [table[1][1], *table[1][6:]])
    assert round(step1 + step2, 4) == score


def test_no_results_give_a_table_with_its_head() -> None:
    assert rows(grades([])) == [HEAD]


@pytest.mark.parametrize(
    "name",
    ['=HYPERLINK("http://evil")', "+1", "-1+2", "@SUM(A1)", "\tx", "\rx", "  =1", "＝1", "\u00a0=1", "\u200b\ufeff=1"],
)
def test_a_name_cannot_become_a_formula(course: Course, name: str) -> None:
    cell = rows(grades([result(course, name)]))[1][0]
    assert cell == f"'{name}"


@pytest.mark.parametrize("name", ["Özgür, Ümit", 'a "quoted" name', "two\nlines", "名前 🐈", "O'Brien-Smith", "'x"])
def test_an_ordinary_name_comes_back_as_it_was(course: Course, name: str) -> None:
    assert rows(grades([result(course, name)]))[1][0] == name


@given(st.text())
def test_no_cell_at_all_starts_a_formula_or_holds_a_control_character(name: str) -> None:
    cell = harmless(name)
    assert cell.lstrip(" ")[:1] not in tuple("=+-@\t\r\n")
    assert not any((ord(c) < 32 and c not in "\t\r\n") or 127 <= ord(c) < 160 for c in cell)
    cell.encode("utf-8")
