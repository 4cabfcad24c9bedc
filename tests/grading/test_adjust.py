"""Late penalties and overrides: applied to results that are there, as often as wanted, and told in words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import handmade
import pytest

from autograder import adjust, marks, results
from autograder.adjust import bring_up_to_date, settle
from autograder.course import Course, CourseError, load
from autograder.discover import Handed
from autograder.kit import kit_version
from autograder.marks import Outcome
from autograder.result import Result, mark_of
from autograder.table import grades

DUE = datetime(2026, 11, 13, 20, 59, tzinfo=UTC)
DEADLINE = "\n[lab07.deadlines]\nattention_lab = 2026-11-13T23:59:00+03:00\n"


def course_with(root: Path, more: str, replace: tuple[str, str] = ("", "")) -> Course:
    text = handmade.COURSE.replace(*replace) if replace[0] else handmade.COURSE
    (root / "source" / "course.toml").write_text(text + more, encoding="utf-8")
    return load("lab07", root)


def handed(after: timedelta | None, late: bool = False) -> Handed:
    return Handed(name="ada", received=DUE + after if after is not None else None, late=late)


def late_by(root: Path, after: timedelta | None, policy: str, *, late: bool = False) -> Result:
    course = course_with(root, f"{DEADLINE}[lab07.late]\n{policy}\n")
    return settle(handmade.result(course), course, handed(after, late))


@pytest.mark.parametrize(
    ("after", "policy", "penalty"),
    [
        (timedelta(0), "per_day = 10", 0),
        (timedelta(seconds=1), "per_day = 10", 2.25),
        (timedelta(hours=24), "per_day = 10", 2.25),
        (timedelta(hours=24, seconds=1), "per_day = 10", 4.5),
        (timedelta(minutes=15), "per_day = 10\ngrace_minutes = 15", 0),
        (timedelta(minutes=16), "per_day = 10\ngrace_minutes = 15", 2.25),
        (timedelta(days=30), "per_day = 10\ncap = 50", 11.25),
        (timedelta(days=30), "per_day = 10", 22.5),
        (timedelta(days=7, seconds=1), "per_day = 1\nnothing_after_days = 7", 22.5),
        (timedelta(days=7), "per_day = 1\nnothing_after_days = 7", 1.575),
        (timedelta(days=1), 'per_day = 10\nof = "maximum"', 2.5),
        (timedelta(days=1), "per_day = 0.3", 0.0675),
    ],
)
def test_every_day_begun_costs_its_share(root: Path, after: timedelta, policy: str, penalty: float) -> None:
    result = late_by(root, after, policy)
    assert result.score == 22.5
    assert result.late_penalty == penalty
    assert mark_of(result) == pytest.approx(22.5 - penalty, abs=1e-12)
    assert bool(result.late_note) == bool(penalty)


def test_the_sentence_says_how_late_what_it_costs_and_what_is_left(root: Path) -> None:
    result = late_by(root, timedelta(days=1, hours=3, minutes=5), "per_day = 10")
    assert result.message == ("Handed in 1 day 3 h after the deadline, which costs 4.5 of 22.5 points: the mark is 18.")


def test_late_by_an_unknown_time_costs_nothing_unless_the_course_says_what(root: Path) -> None:
    unknown = late_by(root, None, "per_day = 10", late=True)
    assert (unknown.late, unknown.late_penalty) == (True, 0)
    assert "a person decides" in (unknown.message or "")
    taken = late_by(root, None, "per_day = 10\nunknown_days = 2", late=True)
    assert taken.late_penalty == 4.5


def test_more_time_and_a_time_of_receipt_count_for_their_submission_alone(root: Path) -> None:
    more = '[[lab07.extensions]]\nsubmission = "ada"\nuntil = 2026-11-15T23:59:00+03:00\nreason = "ill"\n'
    course = course_with(root, f"{DEADLINE}[lab07.late]\nper_day = 10\n{more}")
    assert settle(handmade.result(course), course, handed(timedelta(days=2))).late_penalty == 0
    bob = settle(handmade.result(course, "bob"), course, handed(timedelta(days=2)))
    assert bob.late_penalty == 4.5
    told = course_with(
        root,
        f'{DEADLINE}[lab07.late]\nper_day = 10\n[[lab07.received]]\nsubmission = "ada"\nat = 2026-11-14T10:00:00Z\n',
    )
    assert settle(handmade.result(told), told, handed(None, late=True)).late_penalty == 2.25


def test_who_has_more_time_and_is_late_by_an_unknown_time_waits_for_a_person(root: Path) -> None:
    more = '[[lab07.extensions]]\nsubmission = "ada"\nuntil = 2026-11-15T23:59:00+03:00\n'
    course = course_with(root, f"{DEADLINE}[lab07.late]\nper_day = 10\nunknown_days = 2\n{more}")
    ada = settle(handmade.result(course), course, handed(None, late=True))
    assert (ada.late_penalty, "a person decides" in (ada.message or "")) == (0, True)
    assert settle(handmade.result(course, "bob"), course, handed(None, late=True)).late_penalty == 4.5


def test_without_a_late_policy_lateness_is_said_and_costs_nothing(root: Path) -> None:
    course = course_with(root, DEADLINE)
    result = settle(handmade.result(course), course, handed(timedelta(hours=5)))
    assert result.late_penalty == 0
    assert result.message == "Handed in 5 h after the deadline, which costs nothing."


def test_each_notebook_has_its_own_deadline_and_loses_of_its_own_points(root: Path) -> None:
    two = ('notebooks = ["attention_lab"]', 'notebooks = ["attention_lab", "exercises"]')
    more = '[lab07.exercises.points]\n"exercise1.order" = 10\n[lab07.deadlines]\n'
    more += (
        "attention_lab = 2026-11-20T23:59:00+03:00\nexercises = 2026-11-13T23:59:00+03:00\n[lab07.late]\nper_day = 10\n"
    )
    course = course_with(root, more, two)
    order = Outcome(
        id="exercises.exercise1.order.all",
        notebook="exercises",
        task="exercise1",
        function="order",
        title="The order.",
        verdict="passed",
    )
    result = marks.assemble([*handmade.outcomes(), order], course, handmade.facts())
    late = settle(result, course, handed(timedelta(days=1, hours=1)))
    assert late.late_penalty == 2
    assert "after the deadline of exercises, which costs 2 of 32.5 points" in (late.message or "")


def override(**values: object) -> str:
    usual = {"submission": "ada", "points": 2, "reason": "The cell ran out of memory here.", "by": "TA"}
    lines = [
        f"{key} = {value!r}" if not isinstance(value, str) else f'{key} = "{value}"'
        for key, value in (usual | values).items()
    ]
    return "\n[[lab07.overrides]]\n" + "\n".join(lines) + "\n"


def test_an_override_gives_the_points_the_reason_and_who_and_keeps_what_the_grader_said(root: Path) -> None:
    course = course_with(root, override(check="attention_lab.step1.attention.mask"))
    before = handmade.result(course, attention__mask="failed")
    after = settle(before, course)
    (check,) = [c for c in after.checks if c.id.endswith("attention.mask")]
    assert (check.points, check.verdict, after.score) == (2, "failed", before.score + 2)
    assert (check.message or "").startswith("A person gave 2 of 3.3333 points here (TA): The cell ran out of memory")
    assert "The grader had said: attention and mask" in (check.message or "")
    assert check.overruled is not None and check.overruled.verdict == "failed"


def test_an_override_can_be_taken_back_and_applying_it_twice_changes_nothing(root: Path) -> None:
    before = handmade.result(course_with(root, ""), attention__mask="failed")
    course = course_with(root, override(check="attention_lab.step1.attention.mask"))
    once = settle(before, course)
    assert settle(once, course) == once
    back = settle(once, course_with(root, ""))
    assert back.checks == before.checks
    assert (back.score, back.message) == (before.score, before.message)


def test_the_points_of_a_task_or_function_are_shared_to_the_last_digit(root: Path) -> None:
    course = course_with(root, override(task="step1", points=7.0001))
    result = settle(handmade.result(course), course)
    step1 = [c for c in result.checks if c.task == "step1"]
    assert sum(round(c.points * 10_000) for c in step1) == 70_001
    course = course_with(root, override(function="attention_lab.step1.softmax", points=0))
    assert settle(handmade.result(course), course).score == 17.5


def test_an_override_decides_what_waited_for_a_person_or_was_our_error(root: Path) -> None:
    course = course_with(root, override(task="step2", points=10))
    before = handmade.result(course, worked_example__weights="grader_error")
    assert (before.manual_points, before.provisional) == (2.5, True)
    after = settle(before, course)
    assert (after.manual_points, after.provisional, after.score) == (0, False, 25)


def test_extra_credit_counts_in_the_score_and_not_in_its_maximum(root: Path) -> None:
    course = course_with(
        root,
        "",
        (
            "[lab07.attention_lab.points]",
            '[lab07.attention_lab]\nextra_credit = ["step2.worked_example"]\n[lab07.attention_lab.points]',
        ),
    )
    result = settle(handmade.result(course), course)
    assert (result.score, result.max_score) == (22.5, 17.5)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[lab07.deadlines]\nattention_lab = 2026-11-13T23:59:00\n", "no time zone"),
        ("[lab07.deadlines]\nexercises = 2026-11-13T23:59:00Z\n", "none of the notebooks"),
        ("[lab07.late]\nper_day = 110\n", "percentage from 0 to 100"),
        ("[lab07.late]\nper_hour = 1\n", "per_hour"),
        ("[lab07.late]\ngrace_minutes = -1\n", "from 0 to 1,000,000"),
        ("[lab07.late]\ngrace_minutes = nan\n", "grace_minutes must be from 0"),
        ("[lab07.late]\nnothing_after_days = inf\n", "nothing_after_days must be from 0"),
        ("[lab07.late]\nunknown_days = 1000000000\n", "unknown_days must be from 0"),
        (override(), "name one of check, function and task"),
        (override(check="a", task="b"), "name one of check, function and task"),
        (override(task="step9"), "there is no 'step9'"),
        (override(task="step1", points=16), "more than the 15"),
        (override(task="step1", points=-1), "from 0 up"),
        (override(task="step1", points=3.33333), "at most four decimals, not 3.33333"),
        (override(task="step1", points=float("nan")), "at most four decimals, not nan"),
        (override(task="step1", points=float("inf")), "from 0 up"),
        (override(task="step1", reason=" "), "give the reason"),
        ('[[lab07.extensions]]\nsubmission = "a"\nuntil = 2026-11-13T23:59:00\n', "no time zone"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused_in_a_sentence(root: Path, more: str, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        course_with(root, more)


def test_a_check_that_is_not_there_is_answered_with_near_ones(root: Path) -> None:
    course = course_with(root, override(check="attention_lab.step1.attention.maks"))
    with pytest.raises(CourseError, match=r"Near ones: .*attention\.mask"):
        settle(handmade.result(course), course)


def test_an_override_waits_where_the_grader_broke_off_before_its_check(root: Path) -> None:
    course = course_with(root, override(check="attention_lab.step1.attention.mask"))
    broken = marks.broken(course, handmade.facts(), "The grader made an error.")
    assert settle(broken, course).checks == broken.checks


def test_a_policy_changes_no_digest_so_that_nothing_is_graded_again_for_it(root: Path) -> None:
    before = kit_version(root)
    course_with(root, DEADLINE + override(task="step1"))
    assert kit_version(root) == before


def test_a_changed_policy_is_applied_to_the_results_and_said(root: Path, tmp_path: Path) -> None:
    course = course_with(root, "")
    out = tmp_path / "out"
    results.prepare(out)
    for name in ("ada", "bob"):
        results.write(out, name, settle(handmade.result(course, name, attention__mask="failed"), course))
    untouched = (out / "results" / "bob.json").read_bytes()
    said = bring_up_to_date(
        out,
        course_with(
            root, override(check="attention_lab.step1.attention.mask") + override(submission="nobody", task="step1")
        ),
    )
    assert said == [
        "course.toml speaks of a submission 'nobody', and there is no result of that name.",
        "ada: 19.1667 becomes 21.1667 by what course.toml says now.",
    ]
    assert (out / "results" / "bob.json").read_bytes() == untouched


def test_a_changed_policy_is_not_written_over_the_results_of_a_grader_at_work(root: Path, tmp_path: Path) -> None:
    course = course_with(root, "")
    results.prepare(tmp_path)
    results.write(tmp_path, "ada", settle(handmade.result(course), course))
    before = (tmp_path / "results" / "ada.json").read_bytes()
    changed = course_with(root, override(check="attention_lab.step1.attention.mask"))
    with results.only_grader(tmp_path):
        assert bring_up_to_date(tmp_path, course) == []
        with pytest.raises(results.FolderError, match="at work"):
            bring_up_to_date(tmp_path, changed)
    assert (tmp_path / "results" / "ada.json").read_bytes() == before


def test_a_result_that_came_meanwhile_is_the_one_that_is_changed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = course_with(root, "")
    results.prepare(tmp_path)
    results.write(tmp_path, "ada", settle(handmade.result(course, softmax__large="failed"), course))

    @contextlib.contextmanager
    def after_another_grader(out: Path) -> Iterator[None]:
        results.write(out, "ada", settle(handmade.result(course), course))
        yield

    monkeypatch.setattr(adjust, "only_grader", after_another_grader)
    bring_up_to_date(tmp_path, course_with(root, override(check="attention_lab.step1.attention.mask")))
    ada = results.read(tmp_path / "results" / "ada.json")
    assert ada is not None and ada.score == pytest.approx(22.5 - 3.3333 + 2)


def test_the_table_has_penalty_and_mark_only_where_somebody_was_late(root: Path) -> None:
    late = late_by(root, timedelta(hours=1), "per_day = 10")
    assert grades([late]).splitlines()[0].endswith(",step1,step2,late_penalty,mark")
    assert grades([late]).splitlines()[1].endswith(",15,7.5,2.25,20.25")
    assert "late_penalty" not in grades([handmade.result(course_with(root, ""))])


def test_the_examples_in_the_real_course_file_can_be_switched_on(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "source" / "course.toml").read_text(encoding="utf-8")
    switched_on, count = re.subn(r"(?m)^# (?=\[+lab07|[a-z_]+ = )", "", text)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "course.toml").write_text(switched_on, encoding="utf-8")
    policy = load("lab07", tmp_path).policy
    assert count > 20
    assert policy.late is not None and policy.late.per_day == 10
    assert (policy.attempts, len(policy.overrides), len(policy.extensions), len(policy.received)) == ("best", 1, 1, 1)
    assert load("lab07", tmp_path).parts["attention_lab"].extra_credit == ["step3.compare_with_torch"]
