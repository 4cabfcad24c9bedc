"""Three ways in, one mark: `autograder grade`, `nbgrader autograde` and `otter run` give the same points per step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autograder.course import find_root, load
from tests.nbgrader_course.courses import LAB
from tests.one_mark.submissions import (
    CHANGES,
    LAB_NOTEBOOK,
    MEASURED,
    Submission,
    functions,
    submissions,
    worth,
    worth_of_steps,
)
from tests.one_mark.ways import WAYS, Compared, Comparison, compare, table

#: Where `make soak` leaves the table of all of them.
TABLE = Path("build", "one_mark.md")


@pytest.fixture(scope="module", params=[pytest.param("all", marks=pytest.mark.soak)])
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """All of them in each of the three ways, which takes minutes."""
    found = compare(submissions(), tmp_path_factory.mktemp("all"))
    path = find_root() / TABLE
    path.parent.mkdir(exist_ok=True)
    path.write_text(table(found), encoding="utf-8")
    return found


def steps_of(one: Submission) -> set[str]:
    """The steps of its notebook in which a submission must lose points."""
    return {step for step, function in worth(one.notebook) if function in one.losing}


def lost_by_function(one: Compared) -> dict[str, float]:
    """What its notebook lacks of all points, without what a clock decides."""
    lost = {function: points for (_, function), points in worth(one.submission.notebook).items()}
    for check in one.found.checks:
        if check.notebook == one.submission.notebook and check.function in lost:
            lost[check.function] -= check.points
    lost.pop(MEASURED, None)
    return lost


def test_there_are_forty_of_them_right_wrong_in_every_step_partial_and_broken() -> None:
    every = submissions()
    assert len(every) >= 40
    assert len({one.name for one in every}) == len({(one.file, one.content) for one in every}) == len(every)
    kinds = Counter(one.kind for one in every)
    assert min(kinds["right"], kinds["wrong"], kinds["broken"]) >= 10 and kinds["partial"] >= 5
    wrong = {step for one in every if one.kind == "wrong" for step in steps_of(one)}
    assert wrong >= {step for step, _ in worth(LAB_NOTEBOOK)}
    assert {one.notebook for one in every} == set(load(LAB).notebooks)


def test_the_three_ways_give_the_same_points_in_every_step(comparison: Comparison) -> None:
    assert [words for one in comparison.every for words in one.differences()] == []


def test_every_way_has_every_step(comparison: Comparison) -> None:
    for one in comparison.every:
        steps = {(one.submission.notebook, step) for step, _ in worth(one.submission.notebook)}
        for way in WAYS:
            own = {step for step in one.marked[way].points if step[0] == one.submission.notebook}
            assert steps <= own, (one.submission.name, way)


def test_points_are_lost_where_the_mistake_is_and_nowhere_else(comparison: Comparison) -> None:
    """What agrees could be wrong in all three ways alike."""
    for one in comparison.every:
        losing = {function for function, lost in lost_by_function(one).items() if lost > 1e-9}
        must = one.submission.losing - {MEASURED}
        beside = functions(one.submission.notebook, *steps_of(one.submission)) if one.submission.mistake else must
        assert must <= losing <= beside, one.submission.name


def test_what_is_not_there_earns_nothing(comparison: Comparison) -> None:
    for one in comparison.every:
        lost = lost_by_function(one)
        if one.submission.nothing:
            for (_, function), points in worth(one.submission.notebook).items():
                if function in lost and function in one.submission.losing:
                    assert lost[function] == pytest.approx(points), one.submission.name
        for way in WAYS:
            others = [p for step, p in one.marked[way].points.items() if step[0] != one.submission.notebook]
            assert not any(others), (one.submission.name, way)


def test_a_known_mistake_is_taken_for_no_other(comparison: Comparison) -> None:
    """On a machine that is too busy it may stay without a name."""
    for one in comparison.every:
        named = {check.suspect for check in one.found.checks} - {None}
        assert one.submission.mistake is None or named <= {one.submission.mistake}, one.submission.name


def test_nothing_is_an_error_of_the_grader(comparison: Comparison) -> None:
    assert [c.id for one in comparison.every for c in one.found.checks if c.verdict == "grader_error"] == []


def test_marks_differ_as_the_submissions_do(comparison: Comparison) -> None:
    """A grader that gave everybody the same would agree with itself."""
    for way in WAYS:
        vectors = {tuple(sorted(one.marked[way].points.items())) for one in comparison.every}
        totals = {round(sum(one.marked[way].points.values()), 2) for one in comparison.every}
        assert len(vectors) >= len(comparison.every) // 3
        assert 0 in totals and len(totals) >= 3


@pytest.mark.parametrize("change", [*CHANGES, "renamed", "byte-order-mark", "module"])
def test_what_became_of_the_file_costs_nothing_in_any_way(comparison: Comparison, change: str) -> None:
    one = next(one for one in comparison.every if one.submission.name == f"broken-{change}")
    for way in WAYS:
        for step, points in worth_of_steps(LAB_NOTEBOOK).items():
            waiting = worth(LAB_NOTEBOOK)[step[1], MEASURED] if step in one.marked[way].waits else 0
            assert one.marked[way].points[step] == pytest.approx(points - waiting, abs=1e-3), (way, step)
