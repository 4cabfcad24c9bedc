"""From a platform's bulk download to its import file, by the commands: nobody is lost, and no name does any harm."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import click
import fake_engine
import handmade
import lists
import pytest
from typer.testing import CliRunner

from autograder import cli, grade
from autograder.pages import publish
from autograder.sandbox import launch

LATE = """[lab07.deadlines]
attention_lab = 2026-11-13T23:59:00+03:00
[lab07.late]
per_day = 10
unknown_days = 1

[lab07.limits]"""

GRADESCOPES = """
submission_11:
  :submitters:
  - :name: Ömer Ç.
    :sid: S1
    :email: omer@x.org
  :created_at: 2026-11-13 17:00:00 Z
submission_12:
  :submitters:
  - :name: '=Q "Bo", O''Brien'
    :sid: S2
    :email: bo@x.org
  :created_at: 2026-11-14 17:00:00 Z
submission_13:
  :submitters:
  - :name: stranger
    :sid: S9
    :email: s@x.org
  :created_at: 2026-11-13 17:00:00 Z
"""


@dataclass(frozen=True)
class Platform:
    """A download (the file names of an archive), the platform's own list, and what must come of them.

    ``marks``: by the number of each student on the list, what stands in ``column`` afterwards. ``changed``: the other
    columns in which something is written, or a name made harmless. ``statuses``: what became of everybody, in order.
    """

    download: tuple[str, ...]
    roster: str
    ids: str
    column: str
    marks: dict[str, str]
    changed: tuple[str, ...]
    statuses: tuple[str, ...]


PLATFORMS = {
    "canvas": Platform(
        download=(
            "çömer_1001_2001_attention_lab.py",
            "obrienboq_LATE_1002_2002_attention_lab.py",
            "بنسالمم_1003_2003_attention_lab.py",
            "hyperlinkhttpx_1004_2004_attention_lab.py",
            "stranger_9999_2005_attention_lab.py",
        ),
        roster=lists.CANVAS,
        ids="ID",
        column="Attention: the lab (502)",
        marks={"1001": "22.5", "1002": "20.25", "1003": "22.5", "1004": "EX", "1005": "3"},
        changed=("Student",),
        statuses=("on time", "late", "on time", "excused", "missing", "not on the list, on time"),
    ),
    "moodle": Platform(
        download=(
            "Ömer Ç._1001_assignsubmission_file/attention_lab.py",
            "Q Bo O'Brien_1002_assignsubmission_file/attention_lab.py",
            "م بن سالم_1003_assignsubmission_file/attention_lab.py",
            "=stranger, \u202ex_9999_assignsubmission_file/attention_lab.py",
        ),
        roster=lists.MOODLE,
        ids="Identifier",
        column="Grade",
        marks={
            "Participant 1001": "22.5",
            "Participant 1002": "22.5",
            "Participant 1003": "22.5",
            "Participant 1005": "",
        },
        changed=("Full name", "Online text", "Feedback comments"),
        statuses=("on time", "late", "on time", "missing", "not on the list, on time"),
    ),
    "gradescope": Platform(
        download=tuple(f"assignment_9_export/submission_{n}/attention_lab.py" for n in (11, 12, 13)),
        roster=lists.GRADESCOPE,
        ids="SID",
        column="Total Score",
        marks={"S1": "22.5", "S2": "20.25", "S5": ""},
        changed=("First Name", "Last Name", "Status"),
        statuses=("on time", "late", "missing", "not on the list, on time"),
    ),
}


@pytest.fixture(autouse=True)
def without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A course with a late penalty, and a grader that runs nothing: 22.5 of 25 points for everybody."""
    (tmp_path / "clone" / "source").mkdir(parents=True)
    text = handmade.COURSE.replace("[lab07.limits]", LATE)
    (tmp_path / "clone" / "source" / "course.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("AUTOGRADER_ROOT", str(tmp_path / "clone"))
    monkeypatch.setenv("FAKE_ENGINE", str(tmp_path))
    monkeypatch.setattr(grade, "grade_one", fake_engine.work)
    monkeypatch.setattr(launch, "choose", lambda wanted: "bubblewrap")
    monkeypatch.setattr(publish, "known_hints", dict)


def call(*arguments: object) -> click.testing.Result:
    done = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(params=PLATFORMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def said(name: str, tmp_path: Path) -> str:
    """What the two commands said; their files are in ``out``."""
    with zipfile.ZipFile(tmp_path / "download.zip", "w") as archive:
        for path in PLATFORMS[name].download:
            archive.writestr(path, "def softmax(x, axis=-1):\n    return x\n")
        if name == "gradescope":
            archive.writestr("assignment_9_export/submission_metadata.yml", GRADESCOPES)
    (tmp_path / "seed.txt").write_text("a seed that nobody knows, and long\n", encoding="utf-8")
    seed = ("--course-seed", tmp_path / "seed.txt", "--workers", 1)
    call("grade", tmp_path / "download.zip", "--out", tmp_path / "out", *seed)
    roster = lists.file(tmp_path, PLATFORMS[name].roster)
    return call("export", tmp_path / "out", "--format", name, "--roster", roster).stderr


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_everybody_keeps_their_row_and_number_and_gets_their_mark(name: str, said: str, tmp_path: Path) -> None:
    platform = PLATFORMS[name]
    before = table(platform.roster)
    after = table((tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8"))
    assert {row[platform.ids]: row[platform.column] for row in after if row[platform.ids]} == platform.marks
    written = {platform.column, *platform.changed}
    kept = [
        [{key: cell for key, cell in row.items() if key not in written} for row in rows] for rows in (before, after)
    ]
    assert kept[0] == kept[1]


def test_late_missing_excused_and_unknown_are_told_apart_and_nobody_is_dropped(
    name: str, said: str, tmp_path: Path
) -> None:
    everybody = table((tmp_path / "out" / f"{name}_everybody.csv").read_text(encoding="utf-8"))
    assert tuple(row["status"] for row in everybody) == PLATFORMS[name].statuses
    assert "stranger" in said and "handed in nothing" in said
    graded = {row["submission"].lstrip("'") for row in everybody if row["submission"]}
    results = [json.loads(path.read_bytes())["submission"] for path in (tmp_path / "out" / "results").iterdir()]
    assert len(results) == len(PLATFORMS[name].download)
    assert graded == set(results)


def test_no_cell_of_a_name_is_a_formula(name: str, said: str, tmp_path: Path) -> None:
    for file, columns in (
        (f"{name}.csv", PLATFORMS[name].changed),
        (f"{name}_everybody.csv", ("student", "submission", "note")),
        ("grades.csv", ("submission",)),
    ):
        rows = table((tmp_path / "out" / file).read_text(encoding="utf-8"))
        assert rows
        assert [row[head] for row in rows for head in columns if row[head][:1] in tuple("=+-@\t\r") and row[head]] == []
