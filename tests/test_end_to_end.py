"""The command line on real submissions, from the folder that was handed in to the marks."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.samples import build

SAMPLES = ("right-loops", "untouched-skeleton", "wrong-no-scale", "broken-syntax-error", "no-notebook", "hostile-exit")


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder per student, one of them called Ömer, in a folder with a space in its name."""
    every = tmp_path_factory.mktemp("all")
    build.write(every)
    folder = tmp_path_factory.mktemp("to grade") / "handed in"
    for name in SAMPLES:
        shutil.copytree(every / name, folder / name)
    shutil.copytree(every / "right-vectorised", folder / "Ömer, =HYPERLINK(1)")
    return folder


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seed") / "course_seed.txt"
    path.write_text("  a course seed of the tests\n", encoding="utf-8")
    return path


def command(handed_in: Path, seed: Path, out: Path, *more: str) -> list[str]:
    # Without a GPU the measured check waits, so that no mark here hangs on a clock.
    code = "from autograder.cli import main; main()"
    options = ["--assignment", "lab07", "--out", str(out), "--course-seed", str(seed), "--device", "cuda", *more]
    return [sys.executable, "-c", code, "grade", str(handed_in), *options]


def marks(out: Path) -> dict[str, Any]:
    """What must not depend on when or how often something was graded."""
    found = {}
    for path in sorted((out / "results").glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["submission"]] = {k: v for k, v in result.items() if k not in ("seconds", "cpu_seconds")}
    return found


@pytest.fixture(scope="module")
def graded(handed_in: Path, seed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    done = subprocess.run(command(handed_in, seed, out), capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stdout + done.stderr
    return out


def test_every_submission_has_a_result_a_row_and_a_page(handed_in: Path, graded: Path) -> None:
    names = {path.name for path in handed_in.iterdir()}
    assert set(marks(graded)) == names
    with (graded / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["submission"] for row in rows} == names
    assert len(list((graded / "feedback").glob("*.html"))) == len(names)
    assert (graded / "index.html").is_file()


def test_the_marks_are_those_of_the_samples(graded: Path) -> None:
    scores = {name: (r["score"], r["pending_points"], r["manual_points"]) for name, r in marks(graded).items()}
    # 240 points: 209 by machine, of which the 4 of the measured exponent wait, and 31 by a person.
    assert scores["right-loops"] == scores["Ömer, =HYPERLINK(1)"] == (205.0, 4.0, 31.0)
    assert scores["untouched-skeleton"][0] == scores["no-notebook"][0] == 0
    assert 176 < scores["wrong-no-scale"][0] < 205


def test_the_seed_is_nowhere_in_what_was_written(graded: Path) -> None:
    for path in graded.rglob("*"):
        assert not path.is_file() or b"a course seed of the tests" not in path.read_bytes()


def test_a_second_run_grades_nothing_again(handed_in: Path, seed: Path, graded: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (graded / "results").iterdir()}
    done = subprocess.run(command(handed_in, seed, graded), capture_output=True, timeout=200, check=False)
    assert done.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (graded / "results").iterdir()} == before


@pytest.mark.soak
def test_a_grader_that_is_killed_goes_on_where_it_was(
    handed_in: Path, seed: Path, graded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    grader = subprocess.Popen(
        command(handed_in, seed, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 120
        while len(list(out.glob("results/*.json"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        children = psutil.Process(grader.pid).children(recursive=True)
    finally:
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    kept = marks(out)
    assert 2 <= len(kept) < len(list(handed_in.iterdir())), "it was killed too late to show anything"
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    done = subprocess.run(command(handed_in, seed, out), capture_output=True, timeout=280, check=False)
    assert done.returncode == 0
    assert marks(out) == marks(graded)


@pytest.mark.soak
def test_the_mark_is_the_same_with_one_worker(handed_in: Path, seed: Path, graded: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        command(handed_in, seed, out, "--workers", "1"), capture_output=True, timeout=280, check=False
    )
    assert done.returncode == 0
    assert marks(out) == marks(graded)
