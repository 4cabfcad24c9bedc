"""course.toml says what is worth what; whatever is wrong in it is said in one sentence."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import handmade
import pytest

from autograder import course as courses
from autograder.conventions import NOT_GRADED
from autograder.course import CourseError, load
from autograder.kit import kit_version


def test_the_points_limits_and_written_answers_are_read(root: Path) -> None:
    course = load("lab07", root)
    assert course.parts["attention_lab"].points["step2.worked_example"] == 7.5
    assert (course.limits.cell_seconds, course.limits.memory_mib) == (5, 2048)
    assert course.parts["attention_lab"].by_person[0].rubric[0].text == "Names the mask."
    assert courses.signatures(course) == {"attention_lab": {"softmax", "attention", "worked_example"}}


def test_what_is_handed_out_and_not_graded_is_known_by_its_name(root: Path) -> None:
    path = root / "source" / "course.toml"
    listed = 'notebooks = ["attention_lab"]'
    path.write_text(handmade.COURSE.replace(listed, f'{listed}\nextra_notebooks = ["explorers"]'), encoding="utf-8")
    course = load("lab07", root)
    assert course.all_notebooks == ("attention_lab", "explorers")
    assert courses.signatures(course)["explorers"] == NOT_GRADED
    assert set(course.parts) == {"attention_lab"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'notebooks = ["attention_lab"]',
            'notebooks = ["attention_lab"]\nextra_notebooks = ["attention_lab"]',
            "attention_lab is graded, or an extra notebook, but not both",
        ),
        ('"step1.softmax" = 5', '"step1.softmax" = "five"', "points"),
        ('"step1.softmax" = 5', '"step1.softmax" = -5', "number of points"),
        ('"step1.softmax" = 5', '"step1.softmax" = nan', "number of points"),
        ('"step1.softmax" = 5', '"step1.softmax" = 0.00001', "four decimals"),
        ('"step1.softmax" = 5', "softmax = 5", "task.function"),
        ('"step1.softmax" = 5', '"step2.why" = 5', "more than once"),
        ('notebooks = ["attention_lab"]', 'notebooks = ["exercises"]', "tables for attention_lab"),
        ("cell_seconds = 5", "cell_second = 5", "cell_second"),
        ('grade_id = "step2-why"', "", "grade_id"),
        ("[course]", "[course", "cannot be read"),
        ("[lab07]", "[lab08]", "title"),
    ],
)
def test_a_mistake_in_the_file_is_named(root: Path, old: str, new: str, says: str) -> None:
    path = root / "source" / "course.toml"
    assert old in handmade.COURSE
    path.write_text(handmade.COURSE.replace(old, new), encoding="utf-8")
    with pytest.raises(CourseError, match=says) as caught:
        load("lab07", root)
    assert "course.toml" in str(caught.value)


def test_an_assignment_that_is_not_there_is_answered_with_those_that_are(root: Path) -> None:
    for name in ("lab08", "course"):
        with pytest.raises(CourseError, match="Assignments there: lab07"):
            load(name, root)


def test_a_seed_is_the_text_without_white_space_around_it(tmp_path: Path) -> None:
    file = tmp_path / "seed"
    file.write_bytes("\ufeff  gizli içerik \r\n".encode())
    assert courses.read_seed(file) == "gizli içerik"


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xff\xfe", b"x" * 70_000])
def test_what_is_no_seed_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "seed"
    file.write_bytes(content)
    with pytest.raises(CourseError, match="course seed"):
        courses.read_seed(file)
    with pytest.raises(CourseError, match="cannot be read"):
        courses.read_seed(tmp_path)


def test_the_own_seed_is_made_once_outside_the_repository_and_for_its_owner_only(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    course = load("lab07", root)
    first = courses.own_seed(course, root)
    path = courses.own_seed_file(course, root)
    assert not path.is_relative_to(root)
    assert len(first) == 64
    assert courses.own_seed(course, root) == first
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_seed_file_inside_the_repository_is_refused(root: Path) -> None:
    file = root / "source" / "course.toml"
    file.write_text(handmade.COURSE.replace('"seed.txt"', f'"{root}/seed.txt"'), encoding="utf-8")
    with pytest.raises(CourseError, match="outside"):
        courses.own_seed(load("lab07", root), root)


def test_the_name_of_a_seed_is_stable_and_does_not_hold_it() -> None:
    name = courses.seed_id("a seed of a course")
    assert name == courses.seed_id("a seed of a course") != courses.seed_id("a seed of a course.")
    assert len(name) == 12
    int(name, 16)


def test_the_kit_version_changes_with_the_points(root: Path) -> None:
    before = kit_version(root)
    file = root / "source" / "course.toml"
    file.write_text(handmade.COURSE.replace('"step1.softmax" = 5', '"step1.softmax" = 6'), encoding="utf-8")
    assert before.startswith("0.1.0+")
    assert len(before) == 6 + 12
    assert kit_version(root) != before


def test_without_a_course_the_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRADER_ROOT", str(tmp_path))
    with pytest.raises(CourseError, match="AUTOGRADER_ROOT"):
        courses.find_root()
