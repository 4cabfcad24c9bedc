"""What happens to a grader: killed, out of disk, under a clock that jumps, twice at once. The marks are those of a run
that nothing disturbed, and each is there once and whole.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_engine
import loopback
import psutil
import pytest
from fake_engine import handed, settings, starts

from autograder import engine, grade, results
from autograder.course import signatures
from autograder.discover import discover
from autograder.result import Result
from autograder.sandbox import launch
from autograder.sandbox.fork import STARTS, Sandbox
from tests.samples import build

COUNT = 10


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_ENGINE", str(tmp_path))
    return tmp_path / "out"


def grader(out: Path, seconds: float = 0.05, first: Path | None = None, prefix: tuple[str, ...] = ()) -> psutil.Popen:
    path = os.pathsep.join([*([str(first)] if first else []), *sys.path])
    environment = {**os.environ, "FAKE_ENGINE_SECONDS": str(seconds), "PYTHONPATH": path}
    command = [*prefix, sys.executable, fake_engine.__file__, str(out), str(COUNT)]
    return psutil.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def undisturbed(out: Path) -> None:
    """Every result is there, once, whole, and what an undisturbed run gives; nothing else is left in the folder."""
    files = sorted(path.name for path in (out / "results").iterdir())
    assert files == [f"student{i:02d}.json" for i in range(COUNT)]
    other = out.parent / "undisturbed"
    if not other.exists():
        names = [f"student{i:02d}" for i in range(COUNT)]
        here = settings(out.parent / "clone")
        grade.run(handed(names), here, other, workers=1, report=fake_engine.Silent(), work=fake_engine.work)
    for name in files:
        assert (out / "results" / name).read_bytes() == (other / "results" / name).read_bytes()


def kill_at_random(rng: random.Random, process: psutil.Popen, victims: tuple[str, ...], within: float) -> str:
    """Kill the grader, one of its workers or a warm parent, some time after it began."""
    victim = rng.choice(victims)
    time.sleep(rng.uniform(0.0, within))
    with contextlib.suppress(psutil.Error):
        if victim == "grader":
            process.kill()
        else:
            sandboxes = loopback.sandboxes(process)
            inside = {one.pid for sandbox in sandboxes for one in (sandbox, *sandbox.children(recursive=True))}
            workers = [one for one in process.children() if "spawn_main" in " ".join(one.cmdline())]
            among = [one for one in workers if one.pid not in inside] if victim == "worker" else sandboxes
            if among:
                rng.choice(among).kill()
    return victim


def test_a_kill_at_any_moment_costs_nothing(out: Path) -> None:
    rng = random.Random(2026)
    for _ in range(4):
        shutil.rmtree(out, ignore_errors=True)
        for _ in range(2):
            process = grader(out)
            kill_at_random(rng, process, ("grader", "worker"), 1.2)
            process.communicate(timeout=60)
        process = grader(out)
        process.communicate(timeout=60)
        assert process.returncode == 0
        undisturbed(out)


def test_of_two_graders_on_one_folder_the_second_is_turned_away_with_a_sentence(out: Path) -> None:
    first = grader(out, seconds=0.1)
    deadline = time.monotonic() + 60
    while not starts() and time.monotonic() < deadline:
        time.sleep(0.01)
    first.suspend()  # however slow the second is to start, the first is still at work
    second = grader(out)
    _, said = second.communicate(timeout=60)
    first.resume()
    assert (second.returncode, said.decode().count("\n")) == (2, 1)
    assert "Another grader is at work in" in said.decode()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert sorted(starts()) == [f"student{i:02d}" for i in range(COUNT)], "something was graded twice"
    undisturbed(out)


JUMPING = """
import random, time
for name, unit in (("time", 1), ("time_ns", 10**9)):
    def jumping(true=getattr(time, name), unit=unit):
        return true() + random.choice((0, -86400 * 365, 3600, 86400 * 3650)) * unit
    setattr(time, name, jumping)
"""


def test_a_clock_that_jumps_changes_nothing(out: Path, tmp_path: Path) -> None:
    (tmp_path / "jumping").mkdir()
    (tmp_path / "jumping" / "sitecustomize.py").write_text(JUMPING, encoding="utf-8")
    process = grader(out, first=tmp_path / "jumping")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said.decode()
    undisturbed(out)


@pytest.mark.skipif(launch.unavailable("bubblewrap") is not None, reason="a small disk is made with bubblewrap")
def test_a_full_disk_ends_the_run_with_a_sentence_and_the_next_run_goes_on(out: Path, tmp_path: Path) -> None:
    disk = tmp_path / "small disk"
    disk.mkdir()
    full = disk / "out"
    command = f'''
        head -c 60000 /dev/zero > "{disk}/in the way"
        "{sys.executable}" "{fake_engine.__file__}" "{full}" {COUNT}; echo $? > "{tmp_path}/first"
        ls -A "{full}/results" > "{tmp_path}/after the first"
        rm "{disk}/in the way"
        "{sys.executable}" "{fake_engine.__file__}" "{full}" {COUNT}; echo $? > "{tmp_path}/second"
        cp -r "{full}" "{out}"
    '''
    program = launch.bwrap()
    assert program is not None
    small = [program, "--dev-bind", "/", "/", "--size", str(24 * 4096), "--tmpfs", str(disk), "sh", "-c", command]
    done = subprocess.run(
        small,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    said = done.stderr.decode()
    assert "No space left on device" in said and "the same command goes on from there" in said, said
    assert "Traceback" not in said
    assert [(tmp_path / name).read_text(encoding="utf-8").strip() for name in ("first", "second")] == ["2", "0"]
    kept = (tmp_path / "after the first").read_text(encoding="utf-8").split()
    assert 1 <= len(kept) < COUNT and all(name.endswith(".json") for name in kept), "a draft was left behind"
    undisturbed(out)


def unprivileged() -> tuple[str, ...]:
    """What to put before a command that is not to write where the mode of a folder forbids it: root may."""
    if os.geteuid() != 0:
        return ()
    program = launch.bwrap()
    if program is None or launch.unavailable("bubblewrap") is not None:
        pytest.skip("root may write everywhere, and is only held back by bubblewrap")
    return (program, "--dev-bind", "/", "/", "--cap-drop", "ALL", "--die-with-parent")


def grader_in(process: psutil.Popen) -> psutil.Process:
    """The grader itself, which may have been started by another program."""
    family = [process, *process.children(recursive=True)]
    return next(one for one in family if one.cmdline()[1:2] == [fake_engine.__file__])


@contextlib.contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    for folder in folders:
        folder.chmod(0o555)
    try:
        yield
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_graded(out: Path) -> None:
    out.mkdir()
    with read_only(out):
        process = grader(out, prefix=unprivileged())
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.decode() == f"Results cannot be written to {out}: Permission denied.\n"
    assert starts() == [] and list(out.iterdir()) == []


def test_a_folder_that_cannot_be_written_any_more_ends_the_run_with_a_sentence_and_the_next_run_goes_on(
    out: Path,
) -> None:
    process = grader(out, seconds=0.1, prefix=unprivileged())
    deadline = time.monotonic() + 60
    while not list(out.glob("results/*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    held = grader_in(process)
    held.suspend()
    before = sorted((out / "results").iterdir())
    assert 1 <= len(before) < COUNT, "it was done before its folder could be closed"
    with read_only(out / "results"):
        held.resume()
        _, said = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "cannot be written: Permission denied" in said.decode()
        assert "Traceback" not in said.decode()
        assert sorted((out / "results").iterdir()) == before
    again = grader(out)
    again.communicate(timeout=60)
    assert again.returncode == 0
    undisturbed(out)


def test_a_folder_that_goes_away_meanwhile_ends_the_run_with_a_sentence(out: Path) -> None:
    process = grader(out, seconds=0.1)
    deadline = time.monotonic() + 60
    while not list(out.glob("results/*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.suspend()
    assert len(list(out.glob("results/*.json"))) < COUNT, "it was done before its folder could go away"
    out.rename(out.parent / "gone")
    process.resume()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "cannot be written: No such file or directory" in said.decode()
    again = grader(out)
    again.communicate(timeout=60)
    assert again.returncode == 0
    undisturbed(out)


# ---- with the real engine
@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    every, folder = tmp_path_factory.mktemp("all"), tmp_path_factory.mktemp("submitted")
    build.write(every)
    for name in ("partly-steps-1-and-2", "wrong-no-scale", "hostile-exit"):
        (folder / name).mkdir()
        shutil.move(every / name / "attention_lab.ipynb", folder / name)
    return folder


def test_a_warm_parent_that_is_killed_costs_the_submission_nothing(submitted: Path) -> None:
    real = loopback.real_settings()
    one = discover([str(submitted / "partly-steps-1-and-2")], "lab07", signatures(real.course)).handed[0]
    expected = grade.grade_one(one, real, None)
    with killer() as killed:
        disturbed = grade.grade_one(one, real, None)
    assert killed
    assert expected is not None and disturbed is not None
    assert verdicts(disturbed) == verdicts(expected)
    engine.close()


@pytest.mark.parametrize("times", [1, STARTS])
def test_a_warm_parent_that_is_killed_before_it_is_ready_is_started_again(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, popen = [], subprocess.Popen

    def kill_the_first(*args: Any, **kwargs: Any) -> Any:
        process = popen(*args, **kwargs)
        if "warm.py" in " ".join(args[0]):
            started.append(process.pid)
            if len(started) <= times:
                os.killpg(process.pid, signal.SIGKILL)
        return process

    isolation = launch.choose("auto")
    monkeypatch.setattr(launch.subprocess, "Popen", kill_the_first)
    with Sandbox(isolation) as sandbox:
        if times < STARTS:
            sandbox.fork().end()
        else:
            with pytest.raises(launch.NoIsolation, match="it was ended"):
                sandbox.fork()
    assert len(started) == min(times + 1, STARTS)
    assert not any(psutil.pid_exists(pid) for pid in started)


@contextlib.contextmanager
def killer() -> Iterator[list[int]]:
    """Kill the warm parent of this process once a submission runs below it."""
    code = """
import sys, time, psutil
deadline, kept = time.monotonic() + 60, None
while time.monotonic() < deadline:
    for one in psutil.Process(int(sys.argv[1])).children():
        if "warm.py" not in " ".join(one.cmdline()):
            continue
        below = {each.pid for each in one.children(recursive=True)}
        kept = below if kept is None else kept & below  # the sandbox's own; what comes beside it is a submission
        if below - kept:
            one.kill()
            print(one.pid)
            sys.exit()
    time.sleep(0.005)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(os.getpid())], stdout=subprocess.PIPE)
    killed: list[int] = []
    try:
        yield killed
    finally:
        killed.extend(int(line) for line in process.communicate(timeout=60)[0].split())


def verdicts(result: Result) -> list[tuple[str, str, str | None, str | None]]:
    return [(check.id, check.verdict, check.suspect, check.message) for check in result.checks]


@pytest.mark.soak
def test_fifty_kills_at_random_moments_cost_nothing(submitted: Path, tmp_path: Path) -> None:
    seed = tmp_path / "seed.txt"
    seed.write_text("a course seed of the tests, long enough\n", encoding="utf-8")

    def start(out: Path) -> psutil.Popen:
        options = ["--out", str(out), "--course-seed", str(seed), "--device", "cuda", "--workers", "2"]
        command = [sys.executable, "-c", "from autograder.cli import main; main()", "grade", str(submitted), *options]
        return psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def marks(out: Path) -> dict[str, list[tuple[str, str, str | None, str | None]]]:
        kept, unreadable = results.read_all(out)
        assert not unreadable and not list((out / "results").glob(".*.tmp"))
        return {one.result.submission: verdicts(one.result) for one in kept}

    began = time.monotonic()
    whole = start(tmp_path / "undisturbed")
    _, said = whole.communicate(timeout=300)
    assert whole.returncode == 0, said.decode()
    usual, rng = time.monotonic() - began, random.Random(50)
    expected, count = marks(tmp_path / "undisturbed"), {"grader": 0, "worker": 0, "parent": 0}
    for round_number in range(50):
        out = tmp_path / f"out-{round_number}"
        process = start(out)
        count[kill_at_random(rng, process, ("grader", "worker", "parent"), 0.9 * usual)] += 1
        _, said = process.communicate(timeout=300)
        if process.returncode == -signal.SIGKILL:
            process = start(out)
            _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said.decode()
        assert marks(out) == expected
        assert (out / "grades.csv").read_bytes() == (tmp_path / "undisturbed" / "grades.csv").read_bytes()
        shutil.rmtree(out)
    print(f"kills: {count}")
