"""A changed check runs again only where it can matter, and nothing is written before somebody has seen who moves."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import fake_engine
import msgspec
import pytest

from autograder import check_digests, course, engine, grade, provenance, regrade, results
from autograder.adjust import settle
from autograder.checks.declare import Declaration
from autograder.checks.follow_on import builds_on
from autograder.kit import kit_version
from autograder.result import Result
from autograder.sandbox import launch
from autograder.settings import Settings
from autograder.table import number

RIGHT = (
    "import numpy as np\n\ndef softmax(x, axis=-1):\n    e = np.exp(x - np.max(x, axis=axis, keepdims=True))\n"
    "    return e / e.sum(axis=axis, keepdims=True)\n"
)
WRONG = RIGHT.replace("axis=axis", "axis=-1")
CHECK = "attention_lab.step1.softmax.axis"


def kit_of(ground: dict[str, str], **checks: str) -> check_digests.Kit:
    return check_digests.Kit(ground, {f"lab.step1.{name.replace('__', '.')}": value for name, value in checks.items()})


def declared(name: str, *needs: str) -> Declaration:
    function, claim = name.split(".")
    return Declaration("lab", "step1", function, claim, tuple(f"lab.step1.{need}" for need in needs))


FIVE = [
    declared("softmax.rows"),
    declared("softmax.axis", "softmax.rows"),
    declared("attention.one", "softmax.axis"),
    declared("report.all"),
    declared("bytes.all"),
]
SAME = {"softmax__rows": "a", "softmax__axis": "b", "attention__one": "c", "report__all": "d", "bytes__all": "e"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, set()),
        ({"bytes__all": "x"}, {"bytes.all"}),
        ({"softmax__axis": "x"}, {"softmax.axis", "attention.one", "report.all"}),
        ({"softmax__rows": "x"}, {"softmax.rows", "softmax.axis", "attention.one", "report.all"}),
    ],
)
def test_a_change_reaches_what_needs_the_check_and_what_may_call_its_function(
    changed: dict[str, str], expected: set[str]
) -> None:
    before, now = kit_of({"engine": "1"}, **SAME), kit_of({"engine": "1"}, **(SAME | changed))
    found = check_digests.affected(before, now, FIVE, {"report": ("softmax",)})
    assert set(found) == {f"lab.step1.{name}" for name in expected}


def test_a_change_of_the_common_ground_reaches_everything_and_names_the_module() -> None:
    found = check_digests.affected(kit_of({"engine": "1"}, **SAME), kit_of({"engine": "2"}, **SAME), FIVE, {})
    assert len(found) == 5
    assert set(found.values()) == {"the grader itself changed (engine)"}
    assert len(check_digests.affected(None, kit_of({}, **SAME), FIVE, {})) == 5


def test_what_is_run_holds_all_that_a_check_builds_on_and_nothing_else() -> None:
    ran = check_digests.to_run(["lab.step1.attention.one"], FIVE, {"report": ("softmax",)})
    assert ran == {"lab": {"step1.attention", "step1.softmax"}}
    assert check_digests.to_run([], FIVE, {}) == {}


def test_every_check_of_the_lab_has_a_digest_that_comments_do_not_change(tmp_path: Path) -> None:
    record = course.load("lab07")
    made_of = check_digests.kit(record)
    assert set(made_of.checks) == {d.id for d, _ in engine.declared("lab07")}
    assert "autograder.sandbox.child" in made_of.ground
    assert not [name for name in made_of.ground if name.startswith("autograder.pages")]
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text('"""A."""\nimport os\n\ndef f(x):\n    """B."""\n    return x\n', encoding="utf-8")
    two.write_text("import os\n# C\ndef f( x ):\n    return x\n", encoding="utf-8")
    assert ast.dump(check_digests._tree(one)) == ast.dump(check_digests._tree(two))


# ---------------------------------------------------------------- with real submissions


@pytest.fixture
def settings() -> Iterator[Settings]:
    if not any(launch.unavailable(one) is None for one in ("bubblewrap", "user")):
        pytest.skip("there is no isolation on this machine")
    yield Settings(
        assignment="lab07",
        course=course.load("lab07"),
        seed="a seed for this test alone",
        seed_id="0a1b2c3d4e5f",
        kit_version=kit_version(),
    )
    engine.close()


@pytest.fixture
def graded(tmp_path: Path, settings: Settings) -> Path:
    """Three submissions, graded by an earlier kit in which one check was another one and passed what it should not."""
    files = {"moves/attention_lab.py": WRONG, "stays/attention_lab.py": RIGHT, "empty/exercises.py": "x = 1\n"}
    for name, text in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    earlier = dataclasses.replace(settings, kit_version="0.1.0+earlier")
    provenance.record(out, [str(tmp_path / "in")], earlier)
    provenance.record_kit(out, earlier)
    handed = list(provenance.handed_in(out, settings.course).values())
    for one in handed:
        result = grade.grade_one(one, earlier, None)
        assert result is not None
        for check in result.checks:
            if check.id == CHECK and one.name == "moves":
                check.verdict, check.points, check.message = "passed", check.max_points, None
        results.write(out, one.name, settle(result, settings.course, one))
    made_of = provenance.recall(out, earlier.kit_version)
    assert made_of is not None and CHECK in made_of.checks
    provenance.keep(
        out, earlier.kit_version, msgspec.structs.replace(made_of, checks={**made_of.checks, CHECK: "another one"})
    )
    return out


def read(out: Path) -> dict[str, Result]:
    return {one.result.submission: one.result for one in results.read_all(out)[0]}


def test_who_moves_is_said_before_anything_is_written_and_who_does_not_is_left_alone(
    graded: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[object] = []
    run = engine.grade_notebook

    def seen(notebook: object, files: object, setting: object, only: object = None) -> object:
        ran.append((getattr(notebook, "name", ""), only))
        return run(notebook, files, setting, only)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "grade_notebook", seen)
    monkeypatch.setattr(grade, "Processes", fake_engine.InThisProcess)
    before = {path.name: path.read_bytes() for path in (graded / "results").iterdir()}
    found = regrade.regrade(graded, [], settings, 1, fake_engine.Silent())
    assert {path.name: path.read_bytes() for path in (graded / "results").iterdir()} == before
    assert [only for name, only in ran if name == "exercises"] == []
    assert {name for name, _ in ran} == {"attention_lab"} and len(ran) == 2
    assert all("step8.KVCache" not in only and "step1.softmax" in only for _, only in ran)  # type: ignore[operator]
    said = "\n".join(found.sentences)
    assert found.moved == 1
    assert said.startswith(f"moves: {number(read(graded)['moves'].score)} of ")
    assert f"  {CHECK}: holds (" in said and "becomes does not hold (0 of" in said and "this check changed" in said
    assert "stays:" not in said and "empty:" not in said
    assert "1 of 3 submissions move. 0 were run again as a whole, 2 in part, and 1 not at all" in said

    regrade.write(graded, found, settings)
    after = read(graded)
    axis = next(check for check in after["moves"].checks if check.id == CHECK)
    assert (axis.verdict, axis.points) == ("failed", 0)
    assert all(result.kit_version == settings.kit_version for result in after.values())
    assert after["moves"].regrades[0].from_kit == "0.1.0+earlier" and CHECK in after["moves"].regrades[0].checks
    assert after["empty"].regrades == []
    whole = grade.grade_one(provenance.handed_in(graded, settings.course)["moves"], settings, None)
    assert whole is not None
    assert [(c.id, c.verdict, c.points) for c in whole.checks] == [
        (c.id, c.verdict, c.points) for c in after["moves"].checks
    ]
    # A grader that comes now finds everything as it would make it itself.
    for one in provenance.handed_in(graded, settings.course).values():
        assert grade.grade_one(one, settings, after[one.name].digest) is None


def test_other_files_are_run_again_as_a_whole_and_lost_ones_stay(
    graded: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade, "Processes", fake_engine.InThisProcess)
    folder = graded.parent / "in"
    (folder / "stays" / "attention_lab.py").write_text(WRONG, encoding="utf-8")
    (folder / "empty" / "exercises.py").unlink()
    (folder / "empty").rmdir()
    found = regrade.regrade(graded, [], settings, 1, fake_engine.Silent())
    said = "\n".join(found.sentences)
    assert "its files, or the way it is graded, are not what they were" in said
    assert "1 were run again as a whole, 1 in part" in said
    assert "1 submissions are no longer where they were graded, and stay as they are: empty" in said
    assert "empty" not in found.new


def test_other_points_move_marks_without_running_anything(
    graded: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade, "Processes", fake_engine.InThisProcess)
    made_of = provenance.recall(graded, "0.1.0+earlier")
    assert made_of is not None
    now = check_digests.kit(settings.course)
    provenance.keep(graded, "0.1.0+earlier", now)

    def ran(*_: object) -> None:
        raise AssertionError("nothing had to be run")

    monkeypatch.setattr(engine, "grade_notebook", ran)
    part = settings.course.parts["attention_lab"]
    parts = {
        **settings.course.parts,
        "attention_lab": msgspec.structs.replace(part, points={**part.points, "step1.softmax": 10}),
    }
    richer = dataclasses.replace(settings, course=msgspec.structs.replace(settings.course, parts=parts))
    found = regrade.regrade(graded, [], richer, 1, fake_engine.Silent())
    said = "\n".join(found.sentences)
    assert found.moved == 3 and "points, weights or titles changed" in said
    assert "0 were run again as a whole, 0 in part, and 3 not at all" in said
    stays = next(result for result in found.new.values() if result.submission == "stays")
    assert (stays.score, stays.max_score) == (10, read(graded)["stays"].max_score + 5)


def test_what_broke_a_regrade_is_in_the_log_of_the_folder(
    graded: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade, "Processes", fake_engine.InThisProcess)

    def breaks(*_: object) -> None:
        raise RuntimeError("a mistake of the grader")

    monkeypatch.setattr(engine, "grade_notebook", breaks)
    found = regrade.regrade(graded, [], settings, 1, fake_engine.Silent())
    assert found.errors == 2
    log = (graded / "grader_errors.log").read_text(encoding="utf-8")
    assert "a mistake of the grader" in log and "stays" in log


def test_results_of_another_seed_are_not_mixed(graded: Path, settings: Settings) -> None:
    with pytest.raises(results.FolderError, match="another course seed"):
        regrade.regrade(graded, [], dataclasses.replace(settings, seed_id="another"), 1, fake_engine.Silent())


def test_the_rule_of_what_builds_on_what_is_that_of_the_assignment() -> None:
    assert "softmax" in builds_on("lab07")["attention"]
    assert builds_on("no_such_assignment") == {}
