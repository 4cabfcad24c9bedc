"""The mark is the sum of what is shown, and only what is won is in it."""

from __future__ import annotations

from fractions import Fraction

import handmade
import pytest
from handmade import facts, outcomes, result
from hypothesis import given
from hypothesis import strategies as st

from autograder import marks
from autograder.course import UNITS_PER_POINT, Course, CourseError
from autograder.result import Result


def units_of(values: list[float]) -> int:
    return sum(round(value * UNITS_PER_POINT) for value in values)


@given(
    points=st.integers(0, 10**7).map(lambda units: units / UNITS_PER_POINT),
    weights=st.lists(st.floats(0, 100, allow_subnormal=False), min_size=1, max_size=40),
)
def test_shares_add_up_to_the_points_and_differ_from_exact_ones_by_less_than_a_unit(
    points: float, weights: list[float]
) -> None:
    given_units = marks.shares(points, tuple(weights))
    assert sum(given_units) == round(points * UNITS_PER_POINT)
    total = sum(map(Fraction, weights))
    for units, weight in zip(given_units, weights, strict=True):
        part = Fraction(weight) / total if total else Fraction(1, len(weights))
        assert abs(units - part * round(points * UNITS_PER_POINT)) < 1


def test_ten_points_over_three_checks_lose_nothing_to_rounding() -> None:
    assert marks.shares(10, (1, 1, 1)) == (33334, 33333, 33333)


def test_full_marks_are_the_whole_number_that_the_course_says(course: Course) -> None:
    full = result(course)
    assert (full.score, full.manual_points, full.max_score) == (22.5, 2.5, 25.0)
    assert not full.provisional


@pytest.mark.parametrize("verdict", ["failed", "submission_error", "timeout", "skipped"])
def test_what_the_student_lost_is_in_no_column(course: Course, verdict: str) -> None:
    lost = result(course, attention__mask=verdict)
    assert lost.score == 22.5 - 3.3333
    assert (lost.pending_points, lost.provisional) == (0, False)


@pytest.mark.parametrize("verdict", ["pending", "inconclusive"])
def test_what_waits_for_a_machine_is_beside_the_score(course: Course, verdict: str) -> None:
    waiting = result(course, worked_example__weights=verdict)
    assert (waiting.score, waiting.pending_points, waiting.provisional) == (17.5, 5.0, True)


def test_a_grader_error_is_neither_won_nor_waiting_and_stops_the_mark(course: Course) -> None:
    spoilt = result(course, worked_example__weights="grader_error")
    assert (spoilt.score, spoilt.pending_points, spoilt.provisional) == (17.5, 0.0, True)
    assert spoilt.message is not None
    assert "must not be given out" in spoilt.message


@given(st.data())
def test_every_point_of_the_course_is_in_exactly_one_place(data: st.DataObject) -> None:
    course = COURSE
    kinds = st.sampled_from(["passed", "failed", "pending", "inconclusive", "timeout", "grader_error", "skipped"])
    made = outcomes()
    for outcome in made:
        outcome.verdict = data.draw(kinds)
    mark = marks.assemble(made, course, facts())
    by = {v: units_of([c.max_points for c in mark.checks if c.verdict == v]) for v in {c.verdict for c in mark.checks}}
    assert units_of([c.max_points for c in mark.checks]) == units_of([mark.max_score]) == units_of([25.0])
    assert units_of([c.points for c in mark.checks]) == units_of([mark.score]) == by.get("passed", 0)
    assert units_of([mark.pending_points]) == by.get("pending", 0) + by.get("inconclusive", 0)
    assert units_of([mark.manual_points]) == by["by_person"]


def test_a_function_that_no_check_looks_at_is_an_error_of_the_grader_not_a_zero(course: Course) -> None:
    without = [outcome for outcome in outcomes() if outcome.function != "softmax"]
    mark = marks.assemble(without, course, facts())
    assert mark.max_score == 25.0
    assert [c.id for c in mark.checks if c.verdict == "grader_error"] == ["attention_lab.step1.softmax.unchecked"]


def test_a_check_without_points_in_the_course_is_refused(course: Course) -> None:
    stray = outcomes()[0]
    stray.function, stray.id = "hardmax", "attention_lab.step1.hardmax.rows"
    with pytest.raises(CourseError, match=r"step1\.hardmax"):
        marks.assemble([*outcomes(), stray], course, facts())


def test_an_answer_of_a_notebook_that_was_not_handed_in_does_not_wait_for_a_person(course: Course) -> None:
    mark = marks.assemble(outcomes(), course, facts(handed_in=()))
    assert mark.manual_points == 0
    assert mark.checks[-1].verdict == "submission_error"


def test_a_submission_that_the_grader_could_not_grade_costs_nothing(course: Course) -> None:
    mark = marks.broken(course, facts(), "The worker ended.")
    assert {c.verdict for c in mark.checks} == {"grader_error", "by_person"}
    assert (mark.max_score, mark.provisional) == (25.0, True)


def test_checks_stand_in_the_order_of_the_course_with_a_person_s_part_in_its_step(course: Course) -> None:
    mark: Result = marks.assemble(list(reversed(outcomes())), course, facts())
    assert [c.task for c in mark.checks] == ["step1"] * 5 + ["step2"] * 3
    assert mark.checks[-1].function == "why"


def test_what_a_terminal_would_obey_is_spelled_out_and_letters_stay(course: Course) -> None:
    made = outcomes(softmax__rows="failed")
    made[0].message = "içti \x1b[2J \x00 \x9b √" + "x" * 10_000
    mark = marks.assemble(made, course, facts("Ümit\x1b[31m \udcff名前"))
    assert mark.submission == "Ümit\\x1b[31m \\udcff名前"
    message = mark.checks[0].message
    assert message is not None
    assert message.startswith("içti \\x1b[2J \\x00 \\x9b √xxx")
    assert message.endswith("more characters)")
    assert len(message) < marks.MAX_MESSAGE + 50


def course_of_the_examples() -> Course:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return handmade.course_in(Path(folder))


#: For the properties, which cannot take a fixture that is made anew for every example.
COURSE = course_of_the_examples()
