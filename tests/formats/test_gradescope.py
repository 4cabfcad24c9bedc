"""Gradescope's archive, run in a folder laid out as Gradescope lays it out."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from typer.testing import CliRunner

from autograder import adjust, cli, engine, marks
from autograder.course import Course, find_root, load
from autograder.discover import Handed
from autograder.formats import carried, gradescope
from autograder.kit import kit_version
from autograder.result import Result
from autograder.sandbox import launch
from tests.formats.unpacked import SEED, Archives, archives, platform_folder
from tests.grading import handmade
from tests.samples import build as samples

#: A cell that says so where one of these can be looked into.
CURIOUS = """\
import os
for path in {paths}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).close()
    except OSError:
        continue
    raise RuntimeError(f"{{path}} is open")
"""
NOT_ROOT = not hasattr(os, "geteuid") or os.geteuid() != 0


@pytest.fixture(scope="module", name="made")
def _made() -> Archives:
    return archives()


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return handmade.course_in(tmp_path / "clone")


@pytest.fixture(scope="module")
def notebook() -> bytes:
    """Steps 1 and 2 are right, the rest is as it was handed out."""
    return notebook_bytes(samples.notebook("solution", kept={"setup", "step1-softmax", "step1-attention"}))


def notebook_bytes(book: Any) -> bytes:
    return str(nbformat.writes(book)).encode("utf-8")


def points(rendered: dict[str, Any], task: str) -> float:
    tests = by_id(rendered)
    return sum(test.get("score", 0) for name, test in tests.items() if f".{task}" in name)


def by_id(rendered: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["extra_data"]["id"]: test for test in rendered["tests"]}


# ---------------------------------------------------------------- results.json


def test_every_check_is_a_test_with_name_points_and_visibility(course: Course) -> None:
    result = handmade.result(course, attention__mask="failed")
    rendered = gradescope.results(result, "after_published", ["attention_lab"])
    assert len(rendered["tests"]) == len(result.checks)
    assert rendered["score"] == result.score
    assert sum(test.get("score", 0) for test in rendered["tests"]) == pytest.approx(result.score)
    failed = by_id(rendered)["attention_lab.step1.attention.mask"]
    assert failed["name"] == "Step 1, attention: The mask of attention come out right."
    assert (failed["score"], failed["status"], failed["visibility"]) == (0, "failed", "after_published")
    assert failed["max_score"] == pytest.approx(10 / 3, abs=1e-4)
    assert "this came back, and that is why" in failed["output"]
    assert by_id(rendered)["attention_lab.step1.softmax.rows"]["status"] == "passed"
    assert "leaderboard" not in rendered


def test_what_waits_for_a_person_or_a_machine_is_shown_and_not_shown_as_lost(course: Course) -> None:
    result = handmade.result(course, worked_example__output="pending", worked_example__weights="inconclusive")
    rendered = gradescope.results(result, "visible", ["attention_lab"])
    tests = by_id(rendered)
    for name in ("step2.worked_example.output", "step2.worked_example.weights", "step2.why.by_person"):
        waiting = tests[f"attention_lab.{name}"]
        assert not {"score", "max_score", "status"} & waiting.keys()
        assert "points" in waiting["output"]
    decided = sum(test["max_score"] for test in tests.values() if "max_score" in test)
    assert decided + result.pending_points + result.manual_points == pytest.approx(result.max_score)
    assert "2.5 points wait for a person" in rendered["output"]
    assert "7.5 points wait for a machine" in rendered["output"]


def test_an_answer_that_nobody_wrote_keeps_its_place_in_the_rubric(course: Course) -> None:
    facts = msgspec.structs.replace(handmade.facts(), unanswered=frozenset({"step2-why"}))
    rendered = gradescope.results(marks.assemble(handmade.outcomes(), course, facts), "visible", ["attention_lab"])
    answer = by_id(rendered)["attention_lab.step2.why.by_person"]
    assert "score" not in answer
    assert "nothing to read" in answer["output"]


@pytest.mark.parametrize("show", ["visible", "after_due_date", "after_published", "hidden"])
def test_when_students_see_the_checks_is_said_in_course_toml(tmp_path: Path, show: str) -> None:
    (tmp_path / "source").mkdir()
    text = handmade.COURSE.replace('chapter = "7"', f'chapter = "7"\nshow_checks = "{show}"')
    (tmp_path / "source" / "course.toml").write_text(text, encoding="utf-8")
    course = load("lab07", tmp_path)
    rendered = gradescope.results(handmade.result(course), course.show_checks)
    assert {test["visibility"] for test in rendered["tests"]} == {show}


def test_hostile_text_stays_text(course: Course) -> None:
    hostile = "<script>alert(1)</script> \ud800 [x](javascript:y) " + 100_000 * "a"
    result = handmade.result(course, attention__mask="failed")
    result.message = result.checks[4].message = hostile.encode(errors="replace").decode()
    rendered = gradescope.results(result, "visible")
    assert {rendered[f"{what}_format"] for what in ("output", "test_output", "test_name")} == {"text"}
    assert max(len(text) for text in [rendered["output"], *(t["output"] for t in rendered["tests"])]) < 5000
    json.dumps(rendered, ensure_ascii=False).encode("utf-8")


def test_the_questions_to_mark_by_hand_have_their_points_and_rubric(course: Course) -> None:
    text = gradescope.rubric(course)
    assert "Why the mask alone is enough. (attention_lab, Step 2): 2.5 points" in text
    assert "- 2.5: Names the mask." in text
    assert "Autograder points: 22.5." in text


@pytest.mark.parametrize("text", ["", "[1]", "no JSON", '{"id": "../../x"}', '{"id": 7, "users": 3}', 100_000 * "["])
def test_metadata_that_cannot_be_read_changes_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / gradescope.METADATA).write_text(text, encoding="utf-8")
    name = gradescope.name_in(gradescope.metadata(tmp_path))
    assert name == ("submission_7" if "7" in text else "submission")


@pytest.mark.parametrize("at", ["2026-11-13T23:59:00.365935-08:00", "2026-11-13T23:59:00", "soon", 7, None])
def test_the_time_of_handing_in_counts_where_it_has_a_time_zone(at: object) -> None:
    found = gradescope.received_in({"created_at": at})
    assert (found is not None) == (isinstance(at, str) and at.endswith("-08:00"))


def test_a_late_penalty_is_in_the_score_and_in_words(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    dates = "[lab07.deadlines]\nattention_lab = 2026-11-13T12:00:00+03:00\n[lab07.late]\nper_day = 10\n[lab07.limits]"
    text = handmade.COURSE.replace("[lab07.limits]", dates)
    (tmp_path / "source" / "course.toml").write_text(text, encoding="utf-8")
    course = load("lab07", tmp_path)
    received = gradescope.received_in({"created_at": "2026-11-13T18:00:00+03:00"})
    late = adjust.settle(handmade.result(course), course, Handed(name="submission_7", received=received))
    rendered = gradescope.results(late, "visible")
    assert rendered["score"] == pytest.approx(0.9 * 22.5)
    assert "6 h after the deadline" in rendered["output"]
    assert points(rendered, "") == pytest.approx(22.5)  # what each check earned stays as it is


# ---------------------------------------------------------------- the container


def test_the_archive_grades_in_gradescopes_folder(made: Archives, tmp_path: Path, notebook: bytes) -> None:
    planted = b"from pathlib import Path\nPath(__file__).with_name('was-run').touch()\n"
    handed_in = {"attention_lab.ipynb": notebook, "pickle.py": planted, "msgspec.py": planted, "autograder.py": planted}
    root = platform_folder(tmp_path / "autograder", made.gradescope, handed_in)
    about = {"id": 4711, "users": [{"name": "a name", "email": "a@example.org"}], "previous_submissions": []}
    (root / gradescope.METADATA).write_text(json.dumps(about), encoding="utf-8")
    (root / "source" / "archive.json").chmod(0o644)

    done = made.run_script(root)
    assert done.returncode == 0, done.stderr
    assert "submission_4711" in done.stdout
    found = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert points(found, "step1") == pytest.approx(17)
    assert found["score"] == pytest.approx(points(found, ""))
    assert "Read: attention_lab." in found["output"]
    assert gradescope.ISOLATIONS[found["extra_data"]["isolation"]] in found["output"]
    # Nothing of the submission was run out here, and nobody else can look for the seed.
    assert not (root / "submission" / "was-run").exists()
    for name in ("source", "results", "submission", gradescope.METADATA):
        assert stat.S_IMODE((root / name).stat().st_mode) & 0o077 == 0
    everything = done.stdout + done.stderr + json.dumps(found)
    assert SEED not in everything and "example.org" not in everything


@pytest.mark.skipif(NOT_ROOT, reason="running as another user needs root")
def test_without_user_namespaces_the_next_best_isolation_is_used_and_named(
    made: Archives, tmp_path: Path, notebook: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_namespaces(monkeypatch, "bubblewrap")
    root = platform_folder(tmp_path / "autograder", made.otter(), {})
    (root / gradescope.METADATA).write_text('{"id": 1}', encoding="utf-8")
    book = nbformat.reads(notebook.decode("utf-8"), as_version=4)
    curious = [root / "source" / carried.SEED, root / gradescope.METADATA, root / "results"]
    book.cells.append(nbformat.v4.new_code_cell(CURIOUS.format(paths=list(map(str, curious)))))
    (root / "submission" / "attention_lab.ipynb").write_bytes(notebook_bytes(book))
    for folder in (*tmp_path.parents, tmp_path):  # as in a container: no folder above is closed to others
        if folder.stat().st_mode & 0o011 != 0o011 and folder.is_relative_to("/tmp"):
            folder.chmod(0o755)
    same_kit(root)
    gradescope.main(root)
    found = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert found["extra_data"]["isolation"] == "user"
    assert "a separate unprivileged user" in found["output"]
    assert "is open" not in found["output"]
    assert points(found, "step1") == pytest.approx(17)


def test_without_any_isolation_there_is_no_mark(
    made: Archives, tmp_path: Path, notebook: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_namespaces(monkeypatch, "bubblewrap", "user")
    root = platform_folder(tmp_path / "autograder", made.otter(), {"attention_lab.ipynb": notebook})
    (root / "results" / "results.json").write_text('{"score": 100}', encoding="utf-8")
    same_kit(root)
    with pytest.raises(SystemExit):
        gradescope.main(root)
    assert not (root / "results" / "results.json").exists()
    assert "No isolation" in capsys.readouterr().err


def test_an_error_of_the_grader_gives_no_mark_instead_of_a_zero(
    made: Archives, tmp_path: Path, notebook: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = handmade.course_in(tmp_path / "clone")
    broken: Result = handmade.result(course, attention__mask="grader_error")
    monkeypatch.setattr(engine, "grade", lambda *_: broken)
    root = platform_folder(tmp_path / "autograder", made.otter(), {"attention_lab.ipynb": notebook})
    same_kit(root)
    with pytest.raises(SystemExit):
        gradescope.main(root)
    assert not (root / "results" / "results.json").exists()
    assert "attention_lab.step1.attention.mask" in capsys.readouterr().err


def test_another_grader_than_the_archives_gives_no_mark(
    made: Archives, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = platform_folder(tmp_path / "autograder", made.otter(), {})
    about = root / "source" / carried.ABOUT
    about.write_text(about.read_text(encoding="utf-8").replace('"0.1.0+', '"0.0.9+'), encoding="utf-8")
    with pytest.raises(SystemExit):
        gradescope.main(root)
    assert "was made for the grader 0.0.9+" in capsys.readouterr().err


@pytest.mark.parametrize(
    "handed_in",
    [{}, {"attention_lab.ipynb": b"\xff\xfenothing"}, {"essay.pdf": b"%PDF"}],
    ids=["nothing", "broken", "a PDF"],
)
def test_what_cannot_be_read_scores_zero_and_says_why(
    made: Archives, tmp_path: Path, handed_in: dict[str, bytes]
) -> None:
    root = platform_folder(tmp_path / "autograder", made.otter(), handed_in)
    same_kit(root)
    gradescope.main(root)
    found = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert found["score"] == 0
    assert "not" in found["output"]
    assert len(found["tests"]) > 100


def no_namespaces(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """As on a machine that has none of these isolations."""
    possible = launch.unavailable
    monkeypatch.setattr(launch, "unavailable", lambda name: "not here" if name in missing else possible(name))
    engine._chosen.cache_clear()
    monkeypatch.setattr(engine, "_sandboxes", {})
    monkeypatch.setattr(engine, "isolation", lambda settings: launch.choose(settings.isolation))


def same_kit(root: Path) -> None:
    """Let the grader of this process take the archive for its own, also where the clone has changed meanwhile."""
    path = root / "source" / carried.ABOUT
    about = msgspec.json.decode(path.read_bytes(), type=carried.About)
    own = msgspec.structs.replace(about, kit_version=kit_version(root / "source" / carried.COURSE))
    path.write_bytes(msgspec.json.encode(own))


# ---------------------------------------------------------------- the scripts


def test_setup_installs_the_wheels_with_the_tested_versions(made: Archives, tmp_path: Path) -> None:
    root = platform_folder(tmp_path / "autograder", made.gradescope, {})
    log, bin_folder, venv = tmp_path / "log", tmp_path / "bin", tmp_path / "venv"
    bin_folder.mkdir()
    fake = bin_folder / "python3.14"
    fake.write_text(
        f'#!/bin/sh\necho "$0 $*" >> {log}\n'
        f'if [ "$2" = venv ]; then mkdir -p {venv}/bin; cp "$0" {venv}/bin/python; fi\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    done = subprocess.run(
        ["bash", str(root / "source" / "setup.sh")],
        env={"PATH": f"{bin_folder}:/usr/bin:/bin", "ATTNLAB_AUTOGRADER": str(root), "ATTNLAB_VENV": str(venv)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = log.read_text(encoding="utf-8").splitlines()
    torch, wheels = said[-2:]
    assert "torch==" in torch and "whl/cpu" in torch
    assert "constraints.txt" in wheels and wheels.count(".whl") == 2


@pytest.mark.parametrize("folder", ["release/lab07", "assignments", "solutions/x"])
def test_an_archive_is_never_written_where_students_look(tmp_path: Path, folder: str) -> None:
    (tmp_path / "seed").write_text("a seed that is long enough", encoding="utf-8")
    place = find_root() / folder
    arguments = ["archive", "gradescope", "--out", str(place), "--course-seed", str(tmp_path / "seed")]
    done = CliRunner().invoke(cli.main, arguments)
    assert done.exit_code == 2
    assert "the archive holds the hidden checks and the course seed" in done.stderr
    assert not list(place.glob("*-gradescope*"))


def test_a_folder_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a seed that is long enough", encoding="utf-8")
    arguments = ["archive", "otter", "--out", str(tmp_path / "file" / "x"), "--course-seed", str(tmp_path / "file")]
    done = CliRunner().invoke(cli.main, arguments)
    assert done.exit_code == 2
    assert "Not a directory" in done.stderr and isinstance(done.exception, SystemExit)


def test_only_the_owner_can_read_an_archive(made: Archives) -> None:
    for path in (made.gradescope, made.otter()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
