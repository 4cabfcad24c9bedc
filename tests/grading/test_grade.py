"""Many submissions: each has its result at the end, whatever happens to the grader on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import fake_engine
import psutil
import pytest
from fake_engine import InThisProcess, Silent, handed, settings, starts

from autograder import grade, names, results
from autograder.result import Result
from autograder.sandbox import gpu
from autograder.settings import Settings


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_ENGINE", str(tmp_path))
    return tmp_path / "out"


@pytest.fixture
def usual(tmp_path: Path) -> Settings:
    return settings(tmp_path / "clone")


def run(names: list[str], setting: Settings, out: Path, workers: int = 1) -> tuple[grade.Summary, Silent]:
    report = Silent()
    summary = grade.run(handed(names), setting, out, workers=workers, report=report, work=fake_engine.work)
    return summary, report


def names_in(out: Path) -> list[str]:
    kept, unreadable = results.read_all(out)
    assert not unreadable
    return [one.result.submission for one in kept]


def test_every_submission_has_a_result_and_a_second_run_does_nothing(out: Path, usual: Settings) -> None:
    names = ["ada", "bob wrong", "Çiğdem"]
    summary, _ = run(names, usual, out, workers=2)
    assert (summary.total, summary.graded, summary.stopped, summary.grader_errors) == (3, 3, False, 0)
    assert sorted(names_in(out)) == sorted(names)
    again, report = run(names, usual, out)
    assert (again.graded, len(again.done)) == (0, 3)
    assert sorted(report.lines) == sorted(f"unchanged {name}" for name in names)


def test_a_second_run_does_only_what_is_missing_changed_or_spoilt(out: Path, usual: Settings) -> None:
    names = ["ada", "bob", "cem", "dilek", "eve"]
    run(names, usual, out)
    (out / "results" / "bob.json").unlink()
    (out / "results" / "cem.json").write_bytes(b'{"schema": "attnlab-res')
    kept = results.read(out / "results" / "dilek.json")
    assert kept is not None
    kept.checks[0].verdict = "grader_error"
    results.write(out, "dilek", kept)
    (Path(os.environ["FAKE_ENGINE"]) / "starts").unlink()
    run([*names, "new"], usual, out)
    assert starts() == ["bob", "cem", "dilek", "new"]


def test_what_waits_for_a_gpu_is_completed_by_the_first_run_that_has_one(
    out: Path, usual: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["ada", "bob"], usual, out)
    kept = results.read(out / "results" / "ada.json")
    assert kept is not None
    kept.checks[0].verdict = "pending"
    results.write(out, "ada", kept)
    # Without a GPU another try would end as the first did.
    assert run(["ada", "bob"], usual, out)[0].graded == 0
    monkeypatch.setattr(gpu, "cards", lambda: ["/dev/nvidia0"])
    assert run(["ada", "bob"], usual, out)[0].graded == 1
    completed = results.read(out / "results" / "ada.json")
    assert completed is not None and completed.checks[0].verdict != "pending"


def test_another_seed_makes_every_result_anew(out: Path, usual: Settings, tmp_path: Path) -> None:
    run(["ada"], usual, out)
    summary, _ = run(["ada"], settings(tmp_path / "clone", "another seed"), out)
    assert summary.graded == 1


def test_a_result_of_somebody_else_under_one_s_file_name_is_not_taken_over(out: Path, usual: Settings) -> None:
    run(["ada"], usual, out)
    theirs = results.read(out / "results" / "ada.json")
    assert theirs is not None
    theirs.submission = "mallory"
    results.write(out, "ada", theirs)
    summary, _ = run(["ada"], usual, out)
    assert summary.graded == 1
    assert names_in(out) == ["ada"]


def test_the_names_of_a_large_class_are_not_compared_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(names, "same_file", lambda stem: calls.append(stem) or stem.casefold())
    assert len({job.stem for job in grade.jobs(handed([f"student {i}" for i in range(2000)]))}) == 2000
    assert len(calls) == 2000


def test_two_submissions_of_one_name_keep_a_result_each(out: Path, usual: Settings) -> None:
    run(["ada", "ada", "Ada"], usual, out)
    assert sorted(names_in(out)) == ["Ada", "ada", "ada (2)"]


def test_a_worker_has_its_next_submission_before_the_disk_has_the_result_of_the_last(
    out: Path, usual: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[list[str], int]] = []
    write = grade.write_together

    def look(folder: Path, new: Sequence[tuple[grade.Job, Result]]) -> None:
        found.append(([job.name for job, _ in new], len(starts())))
        write(folder, new)

    monkeypatch.setattr(grade, "write_together", look)
    report = Silent()
    grade.run(handed(["ada", "bob"]), usual, out, workers=InThisProcess(1, fake_engine.work), report=report)
    assert (["ada"], 2) in found
    assert names_in(out) == ["ada", "bob"]


def test_a_worker_that_dies_is_replaced_and_the_submission_tried_once_more(out: Path, usual: Settings) -> None:
    summary, report = run(["ada", "dies-once", "bob"], usual, out)
    assert summary.grader_errors == 0
    assert starts() == ["ada", "dies-once", "dies-once", "bob"]
    assert any(line.startswith("note") and "dies-once" in line for line in report.lines)


def test_a_submission_that_kills_every_worker_is_an_error_of_the_grader_and_the_rest_goes_on(
    out: Path, usual: Settings
) -> None:
    summary, _ = run(["ada", "dies", "bob", "cem"], usual, out, workers=2)
    assert (summary.grader_errors, len(summary.done)) == (1, 4)
    assert sorted(starts()) == ["ada", "bob", "cem", "dies", "dies"]
    spoilt = results.read(out / "results" / "dies.json")
    assert spoilt is not None
    assert (spoilt.score, spoilt.max_score, spoilt.provisional) == (0, 25, True)
    assert spoilt.message is not None
    again, _ = run(["ada", "dies"], usual, out)
    assert again.graded == 1


def test_a_mistake_of_the_grader_is_logged_and_does_not_stop_the_run(out: Path, usual: Settings) -> None:
    summary, _ = run(["raises", "ada"], usual, out)
    assert summary.grader_errors == 1
    assert starts() == ["raises", "ada"]
    assert "a mistake of the grader" in (out / "grader_errors.log").read_text(encoding="utf-8")
    spoilt = results.read(out / "results" / "raises.json")
    assert spoilt is not None
    assert "Traceback" not in str(spoilt)


def test_a_full_disk_stops_the_run_with_a_sentence_and_keeps_what_was_finished(
    out: Path, usual: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = results.write

    def full(folder: Path, name: str, result: object) -> None:
        if name == "bob":
            raise results.FolderError("bob.json cannot be written: No space left on device.")
        whole(folder, name, result)

    with monkeypatch.context() as patched:
        patched.setattr(results, "write", full)
        with pytest.raises(results.FolderError):
            run(["ada", "bob", "cem"], usual, out)
    assert names_in(out) == ["ada"]


def start_grader(out: Path, count: int, seconds: float, **options: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "FAKE_ENGINE_SECONDS": str(seconds), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, fake_engine.__file__, str(out), str(count)], env=environment, **options)


def wait_until_started(count: int) -> None:
    deadline = time.monotonic() + 60
    while len(starts()) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(starts()) >= count


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_grader_stopped_at_any_moment_loses_only_what_it_had_in_hand(
    out: Path, usual: Settings, how: signal.Signals
) -> None:
    grader = start_grader(out, count=8, seconds=0.2)
    wait_until_started(5)
    workers = psutil.Process(grader.pid).children(recursive=True)
    grader.send_signal(how)
    assert grader.wait(30) == (130 if how == signal.SIGINT else -how)
    assert gone(workers), "a worker outlived its grader"
    done = names_in(out)
    # Two workers: at most two in hand, and perhaps two that were finished and not written yet.
    assert len(starts()) - len(done) <= 4
    assert len(done) >= 1
    before = len(starts())
    summary, _ = run([f"student{i:02d}" for i in range(8)], usual, out)
    assert len(summary.done) == len(names_in(out)) == 8
    assert summary.graded == 8 - len(done) == len(starts()) - before


def test_ctrl_c_on_a_terminal_at_the_very_start_makes_no_worker_complain(out: Path) -> None:
    grader = start_grader(out, count=4, seconds=0.1, stderr=subprocess.PIPE, start_new_session=True)
    process = psutil.Process(grader.pid)
    deadline = time.monotonic() + 60
    while not process.children() and time.monotonic() < deadline:
        time.sleep(0.005)
    # A terminal sends it to the whole group: the grader and everything that it has started.
    os.killpg(grader.pid, signal.SIGINT)
    _, errors = grader.communicate(timeout=60)
    assert grader.returncode == 130
    assert errors == b""
