"""The command: exit codes, what goes to which stream, and sentences instead of tracebacks."""

from __future__ import annotations

import json
from pathlib import Path

import click
import fake_engine
import pytest
from typer.testing import CliRunner

from autograder import cli, doctor, grade, results
from autograder.pages import publish
from autograder.sandbox import launch

SOURCE = "def softmax(x, axis=-1):\n    return x\n"


@pytest.fixture(autouse=True)
def without_a_sandbox(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE", str(tmp_path))
    monkeypatch.setattr(grade, "grade_one", fake_engine.work)
    monkeypatch.setattr(launch, "choose", lambda wanted: "bubblewrap")
    monkeypatch.setattr(publish, "known_hints", dict)


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "submissions"
    for name in ("ada", "bob wrong", "=1+1", "<b>Ümit"):
        (folder / name).mkdir(parents=True)
        (folder / name / "attention_lab.py").write_text(SOURCE, encoding="utf-8")
    return folder


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    path = tmp_path / "seed.txt"
    path.write_text("a seed that nobody knows, and long\n", encoding="utf-8")
    return path


def call(*arguments: object) -> click.testing.Result:
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def grade_all(handed_in: Path, seed: Path, out: Path, *more: str) -> click.testing.Result:
    return call("grade", handed_in, "--out", out, "--course-seed", seed, "--workers", 2, *more)


def test_grading_gives_every_file_of_the_contract_and_exit_0(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = grade_all(handed_in, seed, out)
    assert done.exit_code == 0, done.output
    kept, unreadable = results.read_all(out)
    assert sorted(one.result.submission for one in kept) == sorted(["ada", "bob wrong", "=1+1", "<b>Ümit"])
    assert not unreadable
    assert {p.stem for p in (out / "feedback").iterdir()} == {one.stem for one in kept}
    assert (out / "index.html").is_file()
    assert "\r\n'=1+1,22.5,25," in (out / "grades.csv").read_bytes().decode("utf-8")
    assert "4 of 4: " in done.stderr
    assert "bob wrong" in done.stdout
    everything = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"nobody knows" not in everything + done.output.encode()


def test_json_is_all_that_goes_to_standard_output(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    done = grade_all(handed_in, seed, tmp_path / "out", "--json")
    listed = json.loads(done.stdout)
    assert {one["submission"] for one in listed} == {"ada", "bob wrong", "=1+1", "<b>Ümit"}
    assert {"schema", "score", "checks", "digest"} <= set(listed[0])


def test_a_grader_error_is_exit_3_and_said(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    (handed_in / "ada").rename(handed_in / "raises")
    done = grade_all(handed_in, seed, tmp_path / "out")
    assert done.exit_code == 3
    assert "must not be given out" in done.stderr
    assert len(results.read_all(tmp_path / "out")[0]) == 4


def test_a_path_that_is_not_there_is_exit_2_alone_and_a_result_among_others(
    handed_in: Path, seed: Path, tmp_path: Path
) -> None:
    alone = call("grade", tmp_path / "nowhere", "--out", tmp_path / "out", "--course-seed", seed)
    assert alone.exit_code == 2
    assert "nowhere" in alone.stderr
    assert not (tmp_path / "out").exists()
    among = grade_all(handed_in, seed, tmp_path / "out", str(tmp_path / "nowhere"))
    assert among.exit_code == 0
    assert len(results.read_all(tmp_path / "out")[0]) == 5


def test_a_folder_that_cannot_be_written_is_exit_2(handed_in: Path, seed: Path) -> None:
    done = grade_all(handed_in, seed, seed / "out")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("grade",),
        ("grade", "x", "--out", "y", "--assignment", "lab99"),
        ("grade", "x", "--out", "y", "--device", "tpu"),
        ("grade", "x", "--out", "y", "--workers", "0"),
        ("grade", "x", "--out", "y", "--course-seed", "/nowhere/seed"),
        ("grade", "x", "--out", "y", "--dask", "tcp://there"),
        ("report", "/nowhere"),
        ("export", "/nowhere"),
        ("export", "/nowhere", "--format", "moodle"),
        ("explain", "/nowhere", "ada"),
        ("bench", "everything"),
        ("bench", "measured", "--runs", "0"),
        ("bench", "peers", "--copies", "1"),
        ("bench", "peers", "--assignment", "lab99"),
        ("bench", "peers", "--svg", "/nowhere/figures.svg"),
        ("unheard-of",),
    ],
)
def test_what_cannot_be_done_is_exit_2_and_a_sentence(arguments: tuple[str, ...]) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.output


def test_without_isolation_nothing_is_graded(
    handed_in: Path, seed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(wanted: str) -> str:
        raise launch.NoIsolation("No isolation for student code on this machine.")

    monkeypatch.setattr(launch, "choose", none)
    done = grade_all(handed_in, seed, tmp_path / "out")
    assert done.exit_code == 2
    assert "No isolation" in done.stderr


def test_a_short_seed_draws_a_warning(handed_in: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("2026", encoding="utf-8")
    done = grade_all(handed_in, tmp_path / "short", tmp_path / "out")
    assert done.exit_code == 0
    assert "could guess it" in done.stderr


def test_a_stopped_run_says_how_to_go_on(
    handed_in: Path, seed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> grade.Summary:
        results.prepare(tmp_path / "out")
        return grade.Summary(total=4, stopped=True)

    monkeypatch.setattr(grade, "run", stopped)
    done = grade_all(handed_in, seed, tmp_path / "out")
    assert done.exit_code == 130
    assert "0 of 4 submissions have their result; the same command goes on" in done.stderr


def test_report_makes_the_same_files_again(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade_all(handed_in, seed, out)
    made = [out / "grades.csv", out / "index.html", out / "feedback" / "ada.html"]
    before = [path.read_bytes() for path in made]
    for path in made:
        path.unlink()
    (out / "results" / "junk.json").write_text("{", encoding="utf-8")
    done = call("report", out)
    assert done.exit_code == 0
    assert "junk.json is no result" in done.stderr
    assert [made[0].read_bytes(), made[2].read_bytes()] == [before[0], before[2]]
    assert made[1].is_file()


def test_export_as_csv_writes_the_table(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade_all(handed_in, seed, out)
    (out / "grades.csv").unlink()
    assert call("export", out, "--format", "csv").exit_code == 0
    assert (out / "grades.csv").read_text(encoding="utf-8").startswith("submission,score,")


def test_explain_names_the_check_the_reason_and_the_points(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade_all(handed_in, seed, out)
    done = call("explain", out, "bob wrong", "--words")
    assert done.exit_code == 0
    assert "does not hold: attention_lab.step1.attention.mask (0 of 3.3333 points)" in done.stdout
    assert "this came back, and that is why" in done.stdout
    assert "attention_lab.step1.attention.one_token" not in done.stdout
    for one in ("attention_lab.step1.attention.one_token", "attention.one_token"):
        named = call("explain", out, "bob wrong", one, "--words")
        assert "holds: attention_lab.step1.attention.one_token" in named.stdout
    assert call("explain", out, "bob wrong", "softmax", "--words").stdout.count("holds: ") == 2


@pytest.mark.parametrize(("reason", "code"), [(None, 0), ("bubblewrap is not installed", 2)])
def test_doctor_says_whether_this_machine_can_grade(
    monkeypatch: pytest.MonkeyPatch, reason: str | None, code: int
) -> None:
    monkeypatch.setattr(launch, "unavailable", lambda isolation: reason)
    monkeypatch.setattr(doctor, "_gpu", list)
    done = call("doctor")
    assert done.exit_code == code
    assert f"isolation bubblewrap: {reason or 'works'}" in done.stdout
    assert "numpy" in done.stdout


def test_explain_offers_near_names(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grade_all(handed_in, seed, out)
    submission = call("explain", out, "adda")
    assert submission.exit_code == 2
    assert "Near ones: ada" in submission.stderr
    check = call("explain", out, "ada", "attention.one_tokn", "--words")
    assert check.exit_code == 2
    assert "one_token" in check.stderr


def test_what_a_submission_says_cannot_steer_the_terminal(handed_in: Path, seed: Path, tmp_path: Path) -> None:
    (handed_in / "ada").rename(handed_in / "\x1b[2J[bold]evil\u202e")
    out = tmp_path / "out"
    done = grade_all(handed_in, seed, out)
    again = call("report", out)
    for text in (done.output, again.output):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[bold]evil" in text
    assert b"\x1b" not in (out / "grades.csv").read_bytes()
