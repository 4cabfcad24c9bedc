"""The simulation of a large class: the loop of a real run, in a time of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fake_engine import settings
from handmade import result

from autograder import provenance, results
from autograder.bench import many, many_shown, real_scheduler, recorded
from autograder.bench.processes import Failed
from autograder.settings import Settings

#: A second at a worker; 10 ms of the writer for one answer, and 5 ms for each of many.
USUAL = many.Recording(
    machine="made by hand",
    graded=[0.5, 1.5],
    read=0.001,
    scheduled=0.001,
    answered=[(1, 0.01), (100, 0.5)],
    page=0.02,
    readers=4,
)


@pytest.fixture
def usual(tmp_path: Path) -> Settings:
    return settings(tmp_path / "clone")


def seconds(recording: many.Recording, submissions: int, workers: int, setting: Settings) -> float:
    (outcome,) = many.simulate(recording, submissions, [workers], setting)
    return outcome.seconds


def test_twice_the_workers_take_half_the_time_while_the_writer_keeps_up(usual: Settings) -> None:
    eight, sixteen = (seconds(USUAL, 2_000, count, usual) for count in (8, 16))
    assert eight == pytest.approx(2_000 / 8, rel=0.02)
    assert sixteen == pytest.approx(eight / 2, rel=0.02)


def test_beyond_what_the_writer_can_take_more_workers_are_of_no_use(usual: Settings) -> None:
    assert USUAL.enough == 200
    at_the_limit = 4_000 * USUAL.each
    for count in (800, 1_600):
        assert at_the_limit <= seconds(USUAL, 4_000, count, usual) <= 1.2 * at_the_limit


@pytest.mark.parametrize(("place", "cost"), [("read", 0.04), ("scheduled", 0.01)])
def test_whatever_is_slowest_is_the_limit(usual: Settings, place: str, cost: float) -> None:
    slow = msgspec.structs.replace(USUAL, **{place: cost})
    assert seconds(slow, 3_000, 1_000, usual) == pytest.approx(3_000 * 0.01, rel=0.1)


def test_answers_together_cost_what_was_measured_and_between_that_in_proportion() -> None:
    assert [USUAL.writing(count) for count in (0, 1, 100)] == [0.0, 0.01, 0.5]
    assert USUAL.writing(200) == pytest.approx(1.0)
    costs = [USUAL.writing(count) for count in range(300)]
    assert costs == sorted(costs)


def test_costs_are_recorded_from_a_folder_of_results_and_leave_nothing_there(usual: Settings, tmp_path: Path) -> None:
    out, submitted = tmp_path / "out", tmp_path / "submitted"
    for name in ("ada", "bob"):
        (submitted / name).mkdir(parents=True)
        (submitted / name / "attention_lab.py").write_text("def softmax(x): ...\n", encoding="utf-8")
    provenance.record(out, [str(submitted)], usual)
    for name in ("ada", "bob"):
        results.write(out, name, result(usual.course, name))
    before = sorted(out.rglob("*"))
    made = recorded.record(out, usual)
    assert made.graded == [1.25, 1.25]
    assert min(made.read, made.page, made.each, *(cost for _, cost in made.answered)) > 0
    assert sorted(out.rglob("*")) == before
    recorded.save(made, tmp_path / "kept.json")
    assert recorded.load(tmp_path / "kept.json") == made


def test_a_folder_without_results_and_a_file_that_is_no_recording_are_said(usual: Settings, tmp_path: Path) -> None:
    with pytest.raises(Failed, match="no results"):
        recorded.record(tmp_path, usual)
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(Failed, match="is no recording"):
        recorded.load(tmp_path / "x.json")
    with pytest.raises(Failed, match="cannot be read"):
        recorded.load(tmp_path / "y.json")


def test_the_recording_that_comes_along_says_where_it_was_made_and_is_drawn(usual: Settings, tmp_path: Path) -> None:
    shipped = recorded.load(recorded.SHIPPED)
    assert shipped.machine
    outcomes = many.simulate(shipped, 500, many.WORKERS, usual)
    assert [one.workers for one in outcomes] == [8, 64, 512]
    many_shown.picture(shipped, 500, outcomes, tmp_path / "many.svg")
    drawn = (tmp_path / "many.svg").read_text(encoding="utf-8")
    assert "the one writer" in drawn and "workers" in drawn


@pytest.mark.soak
def test_the_model_agrees_with_a_real_scheduler(usual: Settings, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    results.prepare(tmp_path)
    results.write(tmp_path, "ada", result(usual.course))
    found = real_scheduler.check(USUAL, 8, 120, 0.5, tmp_path, usual)
    # Real answers cost more than the model says on a busy machine, and hardly less.
    assert 0.5 * found.real <= found.model <= 1.1 * found.real
    assert 0 < found.scheduled < 0.1
