"""The commands for what comes after grading: lists of marks, appeals, grading again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import click
import fake_engine
import handmade
import pytest
from typer.testing import CliRunner

from autograder import cli, grade, results
from autograder.pages import publish
from autograder.sandbox import launch

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Attention: the lab (502)\n"
    '"    Points Possible",,,,,25\n'
    '"Smith, John",1001,,js,L1,\n"Doe, Jane",1002,,jd,L1,\n"Gone, G",1003,,gg,L1,\n'
)


@pytest.fixture(autouse=True)
def without_a_sandbox(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", str(tmp_path))
    monkeypatch.setattr(grade, "grade_one", fake_engine.work)
    monkeypatch.setattr(launch, "choose", lambda wanted: "bubblewrap")
    monkeypatch.setattr(publish, "known_hints", dict)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two students of a bulk download of Canvas, one of them late, graded."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("smithjohn_1001_2001_attention_lab.py", "doejane_LATE_1002_2002_attention_lab.py"):
        (folder / name).write_text("def softmax(x, axis=-1):\n    return x\n", encoding="utf-8")
    seed = tmp_path / "seed.txt"
    seed.write_text("a seed that nobody knows, and long\n", encoding="utf-8")
    done = call("grade", folder, "--out", tmp_path / "out", "--course-seed", seed, "--workers", 1)
    assert done.exit_code == 0, done.output
    return tmp_path / "out"


def call(*arguments: object) -> click.testing.Result:
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def test_a_gradebook_comes_back_with_the_marks_and_says_what_became_of_everybody(out: Path, tmp_path: Path) -> None:
    roster = tmp_path / "gradebook.csv"
    roster.write_text(CANVAS, encoding="utf-8")
    done = call("export", out, "--format", "canvas", "--roster", roster)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(out / "canvas.csv")
    rows = list(csv.reader(io.StringIO((out / "canvas.csv").read_text(encoding="utf-8"))))
    assert [row[5] for row in rows[2:]] == ["22.5", "22.5", ""]
    everybody = list(csv.DictReader((out / "canvas_everybody.csv").open(encoding="utf-8", newline="")))
    assert [(row["student"], row["status"]) for row in everybody] == [
        ("Smith, John", "on time"),
        ("Doe, Jane", "late"),
        ("Gone, G", "missing"),
    ]
    assert "1 handed in nothing" in done.stderr
    assert "points of them wait for a person" in done.stderr


def test_what_cannot_be_exported_is_exit_2_and_nothing_is_written(out: Path, tmp_path: Path) -> None:
    roster = tmp_path / "gradebook.csv"
    roster.write_text(CANVAS.replace(",25\n", ",100\n"), encoding="utf-8")
    for form, more, says in (
        ("canvas", ["--roster", roster], "--scale"),
        ("canvas", ["--roster", tmp_path / "nowhere.csv"], "cannot be read"),
        ("moodle", ["--roster", roster], "no identifier"),
        ("moodle", [], "--roster"),
        ("gradescope", [], "--roster"),
    ):
        done = call("export", out, "--format", form, *more)
        assert (done.exit_code, "Traceback" in done.output) == (2, False)
        assert says in done.stderr
    assert list(out.glob("*.csv")) == [out / "grades.csv"]


def test_a_changed_policy_reaches_the_marks_without_grading_again(out: Path, root: Path) -> None:
    before = fake_engine.starts()
    override = '\n[[lab07.overrides]]\nsubmission = "doejane"\ntask = "step1"\npoints = 3\nreason = "An appeal."\n'
    (root / "source" / "course.toml").write_text(handmade.COURSE + override, encoding="utf-8")
    done = call("report", out)
    assert done.exit_code == 0
    assert "doejane: 22.5 becomes 10.5 by what course.toml says now." in done.stderr
    assert "doejane,10.5," in (out / "grades.csv").read_text(encoding="utf-8")
    assert "An appeal." in next((out / "feedback").glob("doejane*")).read_text(encoding="utf-8")
    assert fake_engine.starts() == before
    again = call("grade", out.parent / "submissions", "--out", out, "--course-seed", out.parent / "seed.txt")
    assert again.exit_code == 0
    assert fake_engine.starts() == before


def test_what_course_toml_says_of_somebody_graded_before_is_not_called_unused(out: Path, root: Path) -> None:
    override = '\n[[lab07.overrides]]\nsubmission = "{}"\ntask = "step1"\npoints = 3\nreason = "An appeal."\n'
    text = handmade.COURSE + override.format("doejane") + override.format("nobody")
    (root / "source" / "course.toml").write_text(text, encoding="utf-8")
    (out.parent / "submissions" / "doejane_LATE_1002_2002_attention_lab.py").unlink()
    done = call("grade", out.parent / "submissions", "--out", out, "--course-seed", out.parent / "seed.txt")
    assert done.exit_code == 0
    assert "'nobody'" in done.stderr and "'doejane'" not in done.stderr


def test_late_is_in_the_result_with_who_it_was(out: Path) -> None:
    raw = json.loads((out / "results" / "doejane.json").read_bytes())
    assert raw["late"] is True and raw["platform"] == "canvas"
    assert raw["students"] == [{"name": "doejane", "id": "1002", "email": None}]
    assert (raw["score"], raw["late_penalty"], raw["mark"]) == (22.5, 0.0, 22.5)
    assert "does not say by how much" in raw["message"]


def test_a_result_from_before_all_this_is_still_read(out: Path) -> None:
    path = out / "results" / "doejane.json"
    raw = json.loads(path.read_bytes())
    for name in ("late_penalty", "mark", "late_note", "late", "received", "upload", "platform", "students", "regrades"):
        del raw[name]
    path.write_text(json.dumps(raw), encoding="utf-8")
    kept, unreadable = results.read_all(out)
    assert len(kept) == 2 and not unreadable


def test_regrade_refuses_another_seed_and_an_empty_folder(out: Path, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("another seed, as long as the first\n", encoding="utf-8")
    done = call("regrade", out, "--course-seed", tmp_path / "other.txt")
    assert done.exit_code == 2
    assert "another course seed" in done.stderr
    (tmp_path / "empty" / "results").mkdir(parents=True)
    assert call("regrade", tmp_path / "empty").exit_code == 2


def test_explain_says_when_the_submission_is_gone(out: Path) -> None:
    for path in (out.parent / "submissions").iterdir():
        path.unlink()
    done = call("explain", out, "smithjohn")
    assert done.exit_code == 0
    assert "not where it was graded any more" in done.stdout
