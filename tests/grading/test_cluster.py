"""Grading on a Dask cluster: a real scheduler and real workers, on this machine."""

from __future__ import annotations

import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import loopback
import msgspec
import psutil
import pytest
from fake_engine import Silent, handed, settings
from loopback import ROOT, Loopback, real_settings

from autograder import grade, results
from autograder.cluster import Cluster, ClusterError, _Sent, packed
from autograder.course import signatures
from autograder.discover import Handed, discover
from autograder.result import Result
from autograder.settings import Settings
from autograder.submission import Submission
from tests.samples import build

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the workers note what they had."""
    folder = tmp_path_factory.mktemp("notes")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FAKE_ENGINE", str(folder))
        patched.setenv("FAKE_ENGINE_SECONDS", "0.05")
        yield folder


@pytest.fixture(scope="module")
def two_workers(notes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    """Two workers, one of which declares a GPU."""
    with loopback.loopback(tmp_path_factory.mktemp("dask")) as started:
        started.worker()
        started.worker("--resources", "GPU=1")
        yield started


@pytest.fixture(autouse=True)
def _fresh(notes: Path) -> None:
    (notes / "starts").write_text("", encoding="utf-8")


@pytest.fixture
def usual(tmp_path: Path) -> Settings:
    return settings(tmp_path / "clone")


def run(
    names: list[str], setting: Settings, out: Path, started: Loopback, said: list[str] | None = None
) -> grade.Summary:
    say = (said if said is not None else []).append
    cluster = Cluster(started.address, setting, say, grade=loopback.quick)
    return grade.run(handed(names), setting, out, workers=cluster, report=Silent())


def starts(notes: Path) -> list[tuple[str, str, str]]:
    """Name, nanny of the worker, and whether it might use a GPU."""
    lines = (notes / "starts").read_text(encoding="utf-8").splitlines()
    return [(name, nanny, gpu) for name, nanny, gpu in (line.rsplit(" ", 2) for line in lines)]


def while_grading(notes: Path, count: int, then: Callable[[], object]) -> threading.Thread:
    """Do something once ``count`` submissions were begun."""

    def wait() -> None:
        deadline = time.monotonic() + 60
        while len(starts(notes)) < count and time.monotonic() < deadline:
            time.sleep(0.005)
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def kept(out: Path) -> dict[str, Result]:
    found, unreadable = results.read_all(out)
    assert not unreadable
    return {one.result.submission: one.result for one in found}


def test_every_submission_has_a_result_and_a_second_run_does_nothing(
    two_workers: Loopback, notes: Path, usual: Settings, tmp_path: Path
) -> None:
    names = [f"Öğrenci {i}" for i in range(12)]
    summary = run(names, usual, tmp_path / "out", two_workers)
    assert (summary.graded, summary.grader_errors, sorted(kept(tmp_path / "out"))) == (12, 0, sorted(names))
    assert len({nanny for _, nanny, _ in starts(notes)}) == 2, "one worker had all of it"
    again = run(names, usual, tmp_path / "out", two_workers)
    assert (again.graded, len(again.done), len(starts(notes))) == (0, 12, 12)


def test_a_submission_travels_as_its_bytes_and_names_no_file_of_this_machine(
    two_workers: Loopback, notes: Path, usual: Settings, tmp_path: Path
) -> None:
    submitted = notes / "submitted"
    (submitted / "ada").mkdir(parents=True)
    (submitted / "ada" / "attention_lab.py").write_text("softmax = 'of ada'", encoding="utf-8")
    found = discover([str(submitted)], "lab07", signatures(usual.course)).handed
    cluster = Cluster(two_workers.address, usual, [].append, grade=loopback.looked_into)
    summary = grade.run(found, usual, tmp_path / "out", workers=cluster, report=Silent())
    assert (summary.graded, summary.grader_errors) == (1, 0)
    assert (notes / "starts").read_text(encoding="utf-8") == "ada [\"softmax = 'of ada'\"] False\n"


def test_what_is_answered_while_it_is_sent_again_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = object.__new__(Cluster)
    cluster._lock, cluster._sent = threading.Lock(), {}
    answers, tasks = [Future() for _ in range(2)], [Future() for _ in range(2)]
    for answer, task in zip(answers, tasks, strict=True):
        cluster._sent[answer] = _Sent(task, {}, b"", answer.set_result)
    again = []

    def send(answer: Future[None], *_: object) -> None:
        again.append(answer)
        tasks[1].set_result(None)
        cluster._answered(answers[1], tasks[1])

    monkeypatch.setattr(cluster, "_send", send)
    cluster._send_again()
    assert again == [answers[0]]
    assert answers[1].done() and not answers[0].done()


def test_what_waits_for_a_gpu_goes_to_the_worker_that_declares_one(
    two_workers: Loopback, notes: Path, usual: Settings, tmp_path: Path
) -> None:
    gpu_worker = str(two_workers.processes[2].pid)
    run(["measured 1", "plain", "measured 2"], usual, tmp_path / "out", two_workers)
    assert all(result.pending_points == 0 for result in kept(tmp_path / "out").values())
    with_gpu = [(name, nanny) for name, nanny, gpu in starts(notes) if gpu == "True"]
    assert sorted(with_gpu) == [("measured 1", gpu_worker), ("measured 2", gpu_worker)]


def test_a_worker_killed_in_the_middle_costs_nothing(notes: Path, usual: Settings, tmp_path: Path) -> None:
    names = [f"student{i:02d}" for i in range(20)]
    with loopback.loopback(tmp_path) as started:
        doomed, _ = started.worker(), started.worker()

        def kill_and_replace() -> None:
            loopback.kill_tree(doomed)
            started.worker()

        said: list[str] = []
        killer = while_grading(notes, 6, kill_and_replace)
        summary = run(names, usual, tmp_path / "out", started, said)
        killer.join()
    assert (summary.graded, summary.grader_errors) == (20, 0)
    assert sorted(kept(tmp_path / "out")) == names
    assert {result.score for result in kept(tmp_path / "out").values()} == {22.5}
    # At most what it had in hand and what waited at it were begun twice.
    assert len(starts(notes)) <= len(names) + 2


def test_the_results_are_those_of_this_machine_and_nothing_outlives_a_killed_worker(tmp_path: Path) -> None:
    build.write(tmp_path / "all")
    for name in ("no-notebook", "partly-steps-1-and-2"):
        shutil.move(tmp_path / "all" / name, tmp_path / "submitted" / name)
    real = real_settings()
    found = discover([str(tmp_path / "submitted")], "lab07", signatures(real.course)).handed
    sandboxed: list[psutil.Process] = []
    with loopback.loopback(tmp_path) as started:
        doomed = started.worker()

        def kill_and_replace() -> None:
            deadline = time.monotonic() + 60
            while not sandboxed and time.monotonic() < deadline:
                time.sleep(0.02)
                sandboxed.extend(loopback.sandboxes(doomed))
            loopback.kill_tree(doomed)
            started.worker()

        killer = threading.Thread(target=kill_and_replace)
        killer.start()
        summary = grade.run(
            found, real, tmp_path / "out", workers=Cluster(started.address, real, print), report=Silent()
        )
        killer.join()
        assert sandboxed
        _, alive = psutil.wait_procs(sandboxed, timeout=20)
        assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
    assert summary.grader_errors == 0
    grade.run(found, real, tmp_path / "here", workers=1, report=Silent())
    assert [unclocked(r) for r in kept(tmp_path / "out").values()] == [
        unclocked(r) for r in kept(tmp_path / "here").values()
    ]


def unclocked(result: Result) -> Result:
    return msgspec.structs.replace(result, seconds=0.0, cpu_seconds=0.0)


def test_a_worker_with_another_grader_or_none_is_refused_with_a_sentence_and_the_others_go_on(
    notes: Path, usual: Settings, tmp_path: Path
) -> None:
    other, none = tmp_path / "other", tmp_path / "none" / "autograder"
    shutil.copytree(ROOT / "autograder", other / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "autograder" / "marks.py").open("a", encoding="utf-8") as file:
        file.write("# A change that could change marks.\n")
    none.mkdir(parents=True)
    (none / "__init__.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    with loopback.loopback(tmp_path) as started:
        refused = [started.worker("--no-nanny", first=first) for first in (other, none.parent)]
        with pytest.raises(ClusterError) as nobody:
            Cluster(started.address, usual, [].append)
        assert "another version of the grader (0.1.0+" in str(nobody.value)
        assert "the grader cannot be used there (" in str(nobody.value) and "not here" in str(nobody.value)
        assert "Nothing was graded" in str(nobody.value)
        right = started.worker("--no-nanny")
        said: list[str] = []
        summary = run(["ada", "bob", "cem"], usual, tmp_path / "out", started, said)
        assert (summary.graded, summary.grader_errors, len(said)) == (3, 0, len(refused))
        assert {nanny for _, nanny, _ in starts(notes)} == {str(right.ppid())}


def test_a_scheduler_that_is_lost_ends_the_run_with_a_sentence_and_keeps_what_was_finished(
    notes: Path, usual: Settings, tmp_path: Path
) -> None:
    names = [f"student{i:02d}" for i in range(40)]
    with loopback.loopback(tmp_path) as started:
        started.worker("--no-nanny")
        killer = while_grading(notes, 5, started.scheduler.kill)
        with pytest.raises(ClusterError, match=r"was lost.*the same command goes on"):
            run(names, usual, tmp_path / "out", started)
        killer.join()
    done = kept(tmp_path / "out")
    assert 1 <= len(done) < 40
    assert grade.run(handed(names), usual, tmp_path / "out", workers=1, report=Silent(), work=here).total == 40
    assert len(kept(tmp_path / "out")) == 40


def here(one: Handed, setting: Settings, known: str | None) -> Result | None:
    return loopback.quick(packed(Submission(name=one.name)), setting, known, False)


def test_where_no_scheduler_answers_that_is_said(usual: Settings) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ClusterError, match="No Dask scheduler answers at tcp://127"):
        Cluster(address, usual, [].append, connect_seconds=0.5)


@pytest.mark.parametrize("address", ["nonsense://1", "", "tcp://127.0.0.1:notaport"])
def test_what_is_no_address_is_said(usual: Settings, address: str) -> None:
    with pytest.raises(ClusterError, match="No Dask scheduler answers at"):
        Cluster(address, usual, [].append, connect_seconds=0.5)


def test_without_dask_the_command_that_brings_it_is_named(usual: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="pip install distributed"):
        Cluster("tcp://127.0.0.1:8786", usual, [].append)
