"""The comparison with nbgrader and Otter: what is counted, in which order, and what is made of it."""

from __future__ import annotations

import io
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from rich.console import Console

from attnlab import GRADING
from autograder import course
from autograder.bench import peers, processes, shown
from autograder.bench.processes import MIB, Cost, Failed
from autograder.bench.stock import Stock
from autograder.bench.turns import Figures, Report, compare, figures, in_turn, ratios
from autograder.settings import Settings

counted = pytest.mark.skipif(processes.uncounted() is not None, reason=str(processes.uncounted()))

BURN = """
import os, signal, time
def burn(seconds):
    while time.process_time() < seconds:
        pass
"""
#: Nobody waits for the child or for its child, and the command ends after both.
UNSEEN = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ended, alive = os.pipe()
if os.fork() == 0:
    os.close(ended)
    if os.fork() == 0:
        burn(0.4)
        os._exit(0)
    burn(0.3)
    os._exit(0)
os.close(alive)
os.read(ended, 1)
time.sleep(0.1)
"""


def python(code: str, *words: object) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *map(str, words)]


class StandIn:
    """A grader with a start, a cost for each submission, and a machine that may change under it."""

    def __init__(self, name: str, start: float, each: float, few: int = 2, many: int = 6) -> None:
        self.name, self.few, self.many, self.start, self.each = name, few, many, start, each
        self.pace: Callable[[], float] = lambda: 1.0
        self.asked: list[int] = []

    def run(self, copies: int) -> Cost:
        self.asked.append(copies)
        seconds = (self.start + copies * self.each) * self.pace()
        return Cost(seconds, seconds / 2, 100 * MIB)


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def report(said: io.StringIO) -> Iterator[Report]:
    with Report(9, Console(file=said, width=200)) as one:
        yield one


def lab02() -> Settings:
    return Settings(
        assignment="lab02", course=course.load("lab02"), seed="0" * 20, seed_id="t", kit_version="t", device="cpu"
    )


# ---------------------------------------------------------------- what a command costs


@counted
def test_cpu_seconds_are_also_those_of_processes_that_nobody_waits_for() -> None:
    cost = processes.run(python(BURN + UNSEEN))
    assert 0.7 <= cost.cpu_seconds < 1.4


@counted
def test_cpu_seconds_are_not_those_of_the_bench_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy_look(root: int) -> int:
        until = time.thread_time() + 0.5
        while time.thread_time() < until:
            pass
        return 1

    monkeypatch.setattr(processes, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(processes, "memory", busy_look)
    assert processes.run(["sleep", "0.3"]).cpu_seconds < 0.2


def test_memory_is_that_of_the_whole_tree_at_its_peak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen, look = tmp_path / "seen", processes.memory

    def noting(root: int) -> int:
        found = look(root)
        if found > 64 * MIB:
            seen.touch()
        return found

    monkeypatch.setattr(processes, "memory", noting)
    held = "import os, sys, time\nif os.fork() == 0:\n    held = b'x' * 2**26\n"
    held += "    while not os.path.exists(sys.argv[1]):\n        time.sleep(0.05)\n    os._exit(0)\nos.wait()"
    assert 64 * MIB < processes.run(python(held, seen)).peak_bytes < 160 * MIB


def test_where_the_kernel_refuses_to_count_everything_else_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(processes, "_open_counter", refused)
    cost = processes.run(["sleep", "0.05"])
    assert math.isnan(cost.cpu_seconds) and cost.seconds >= 0.05
    assert "Permission denied" in str(processes.uncounted())


def test_a_command_that_is_given_up_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def interrupted(root: int) -> int:
        if pid.exists() and pid.read_text():
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(processes, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(processes, "memory", interrupted)
    command = ["sh", "-c", f"sleep 1000 & echo $! > {pid}; wait"]
    with pytest.raises(KeyboardInterrupt):
        processes.run(command)
    assert ends(int(pid.read_text()))


def ends(pid: int) -> bool:
    """Whether it is gone, or dead and not yet taken off the list by whoever inherits it, within a minute."""
    for _ in range(600):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


# ---------------------------------------------------------------- in turn


def test_start_and_further_submissions_are_told_apart() -> None:
    small, large = Cost(10.0, 8.0, 5), Cost(22.0, 16.0, 7)
    assert figures(2, small, 6, large) == Figures(4.0, 3.0, 2.0, 7, 60 * 6 / 22)


def test_where_one_command_grades_one_submission_its_start_is_part_of_it() -> None:
    assert figures(0, Cost(), 2, Cost(24.0, 20.0, 5)) == Figures(0.0, 12.0, 10.0, 5, 5.0)


def test_everybody_has_a_turn_in_each_round_and_each_is_first_once() -> None:
    graders = [StandIn(name, 0, 1) for name in ("a", "b", "c")]
    rounds = [[one.name for number, one in in_turn(graders, 3) if number == this] for this in range(3)]
    assert rounds == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]


def test_each_turn_is_a_few_and_many_submissions(report: Report, said: io.StringIO) -> None:
    ours, theirs = StandIn("ours", 2, 1), StandIn("theirs", 5, 4, few=1, many=3)
    compare([ours, theirs], 2, report)
    assert ours.asked == [2, 6, 2, 6] and theirs.asked == [1, 3, 1, 3]
    assert "round 2 of 2: theirs, 1 and 3 submissions" in said.getvalue()


def test_a_machine_that_gets_slower_changes_no_ratio(report: Report) -> None:
    ours, theirs = StandIn("ours", 2, 0.5), StandIn("theirs", 5, 4)
    ours.pace = theirs.pace = lambda: 1.0 + (len(ours.asked) + 1) // 2  # slower from round to round
    found = compare([ours, theirs], 3, report)
    assert [one.seconds for one in found["ours"]] == [1.0, 1.5, 2.0]
    assert ratios(found["theirs"], found["ours"], "seconds")[0] == pytest.approx(8.0, rel=0.5)


def test_a_ratio_is_between_figures_of_the_same_round() -> None:
    ours = [Figures(0, 1.0, 1.0, 1, 1), Figures(0, 3.0, 1.0, 1, 1), Figures(0, 2.0, 1.0, 1, 1)]
    theirs = [Figures(0, 8.0, 1.0, 1, 1), Figures(0, 18.0, 1.0, 1, 1), Figures(0, 20.0, 1.0, 1, 1)]
    assert ratios(theirs, ours, "seconds") == (8.0, 6.0, 10.0)


def test_one_that_fails_is_left_out_and_the_others_go_on(report: Report, said: io.StringIO) -> None:
    ours, theirs, third = StandIn("ours", 2, 1), StandIn("theirs", 5, 4), StandIn("third", 1, 9)

    def breaks() -> float:
        if len(theirs.asked) > 2:
            raise Failed("It ended with 1.")
        return 1.0

    theirs.pace = breaks
    found = compare([ours, theirs, third], 3, report)
    assert {name: len(turns) for name, turns in found.items()} == {"ours": 3, "third": 3}
    assert said.getvalue().count("theirs is left out. It ended with 1.") == 1


def test_without_this_grader_there_is_nothing_to_compare(report: Report) -> None:
    def breaks() -> float:
        raise Failed("It ended with 3.")

    ours = StandIn("ours", 2, 1)
    ours.pace = breaks
    with pytest.raises(Failed, match="ended with 3"):
        compare([ours, StandIn("theirs", 5, 4)], 2, report)


# ---------------------------------------------------------------- the peers


class Nobody(StandIn):
    """In the place of this grader."""

    def __init__(self, settings: Settings, stock: Stock, few: int, many: int, folder: Path) -> None:
        super().__init__(peers.OURS, 2, 1, few, many)


def test_a_peer_that_is_not_installed_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch, said: io.StringIO) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(peers, "Ours", Nobody)
    monkeypatch.setattr(metadata, "version", absent)
    found = peers.peers(lab02(), 20, 1, Console(file=said, width=200))
    assert list(found.found) == [peers.OURS]
    assert "nbgrader autograde is left out: nbgrader is not installed here." in said.getvalue()
    assert "otter run is left out: otter-grader is not installed here." in said.getvalue()
    Console(file=said, width=132).print(shown.table(found))
    assert "hidden checks" not in said.getvalue()


def test_too_few_submissions_are_refused_before_anything_runs(said: io.StringIO) -> None:
    with pytest.raises(Failed, match="Ask for more copies"):
        peers.peers(lab02(), 1, 1, Console(file=said))


@pytest.mark.parametrize("marks", [[10.0], [10.0, 4.0], [10.0, 0.0]])
def test_a_grader_that_did_not_give_all_points_was_not_grading(marks: list[float]) -> None:
    peers._expect("theirs", [10.0, 10.0], 2, 10)
    with pytest.raises(Failed, match="of 2 right submissions a mark"):
        peers._expect("theirs", marks, 2, 10)


# ---------------------------------------------------------------- what they grade


@pytest.mark.parametrize(("assignment", "notebook"), [("lab07", "attention_lab"), ("lab02", "linear_layers")])
def test_the_tests_of_the_peers_are_worth_what_a_machine_marks(assignment: str, notebook: str) -> None:
    stock = Stock(assignment, notebook)
    assert sum(stock.points.values()) == sum(course.load(assignment).parts[notebook].points.values())
    assert stock.tests >= 2 * len(stock.points)


def test_what_is_handed_in_is_the_solution_and_shows_no_test() -> None:
    text = Stock("lab02", "linear_layers").right()
    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    assert "X @ W + b" in text and 'check(\\"layer\\")' in text
    assert "SOLUTION" not in text and "HIDDEN" not in text and "run_step" not in text


def test_the_labs_experiments_run_under_the_peers_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GRADING, "1")
    assert Stock("lab02", "linear_layers").environment(tmp_path)[GRADING] == "1"
    assert GRADING not in Stock("lab02", "linear_layers", experiments=True).environment(tmp_path)


def test_a_wrong_function_fails_the_tests_of_both_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stock = Stock("lab02", "linear_layers")
    monkeypatch.setattr(processes, "run", lambda *_, **__: Cost())  # their commands, which the soak tests have
    stock.otter_archive(tmp_path / "otter")
    stock.nbgrader_course(tmp_path / "nbgrader")
    source = nbformat.read(tmp_path / "nbgrader" / "source" / "lab02" / "linear_layers.ipynb", as_version=4)
    in_nbgrader = next(cell.source for cell in source.cells if "HIDDEN TESTS" in cell.source and "layer" in cell.source)
    otters: dict[str, Any] = {}
    exec((tmp_path / "otter" / "tests" / "layer.py").read_text(), otters)
    right = {"linear": lambda X, W, b: X @ W + b, "check": lambda step: None}
    for names, holds in ((right, True), ({**right, "linear": lambda X, W, b: X @ W}, False)):
        for test in (partial(exec, in_nbgrader, {**names}), partial(otters["test_layer"].test_func, names)):
            with nullcontext() if holds else pytest.raises(AssertionError):
                test()


# ---------------------------------------------------------------- how it is shown


def comparison(cpu: float = 1.0) -> peers.Comparison:
    ours = [Figures(3.0, 0.5, cpu, 900 * MIB, 60.0), Figures(3.0, 0.6, cpu, 900 * MIB, 50.0)]
    theirs = [Figures(5.0, 10.0, 40 * cpu, 450 * MIB, 5.0), Figures(5.5, 12.6, 40 * cpu, 450 * MIB, 4.9)]
    found = {peers.OURS: ours, peers.Nbgrader.name: theirs}
    return peers.Comparison(Stock("lab02", "linear_layers"), 2, 6, 2, found)


def test_the_table_has_medians_and_ratios_with_their_spread(said: io.StringIO) -> None:
    Console(file=said, width=132).print(shown.table(comparison()))
    text = said.getvalue()
    assert "0.55" in text and "11.30" in text
    assert "20 (20–21)" in text and "40 (40–40)" in text and "0.5 (0.5–0.5)" in text
    assert "nbgrader 0." in text and "otter-grader" not in text


def test_cpu_seconds_that_could_not_be_counted_are_unknown_and_the_rest_is_there(said: io.StringIO) -> None:
    Console(file=said, width=132).print(shown.table(comparison(cpu=math.nan)))
    assert "unknown" in said.getvalue() and "20 (20–21)" in said.getvalue()


def test_the_picture_says_its_numbers_in_text_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        shown.picture(comparison(), tmp_path / name)
    drawn = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert peers.OURS in drawn and "nbgrader autograde" in drawn and ">11<" in drawn and ">0.55<" in drawn
    assert drawn == (tmp_path / "two.svg").read_text(encoding="utf-8")


@pytest.mark.soak
def test_all_three_give_full_marks_to_the_same_file(said: io.StringIO) -> None:
    copies = len(os.sched_getaffinity(0)) + 2
    found = peers.peers(lab02(), copies, 1, Console(file=said, width=200)).found
    assert list(found) == [peers.OURS, peers.Nbgrader.name, peers.Otter.name], said.getvalue()
    for turns in found.values():
        assert turns[0].seconds > 0 and turns[0].peak_bytes > 20 * MIB
        assert math.isnan(turns[0].cpu_seconds) or turns[0].cpu_seconds > 0
