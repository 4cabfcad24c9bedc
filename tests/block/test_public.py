"""The public checks of ``block_receipts``: right answers pass, typical mistakes are seen and said in a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from attnlab import hints, progress
from attnlab.checking import declared, run_step
from attnlab.record import Outcome
from attnlab.steps import find, functions
from autograder.release import mutants
from tests.block.conftest import NOTEBOOK, PARTS, TASK_OF, cases, handed_out, solution

OF_EACH_PART = pytest.mark.parametrize("task", PARTS)
WRONG = cases("public_wrong.toml")
RIGHT = cases("right.toml")


def troubles(task: str, names: dict[str, Any]) -> list[Outcome]:
    """What a student would have to look at."""
    return [o for o in run_step(task, names).outcomes if o.verdict not in ("passed", "waits")]


def is_sentence(text: str) -> bool:
    """Begins like a sentence, ends like one, and has no trace of a traceback in it."""
    return bool(re.match(r"[A-Z0-9`\"√]|[a-z_]+[ (]", text)) and text[-1] in ".!?" and "Traceback" not in text


@OF_EACH_PART
def test_the_solution_passes_every_public_check(task: str, solved: dict[str, Any]) -> None:
    assert troubles(task, solved) == []
    assert run_step(task, solved).passed


@pytest.mark.parametrize("variant", RIGHT, ids=[f"{v['task']}, {v['title']}" for v in RIGHT])
def test_a_right_answer_in_other_words_passes_too(variant: dict[str, str], solved: dict[str, Any]) -> None:
    exec(compile(variant["source"], "<cell 7>", "exec"), solved)
    assert troubles(variant["task"], solved) == []


@OF_EACH_PART
def test_the_skeleton_is_not_written_yet(task: str) -> None:
    assert run_step(task, mutants.bound(handed_out())).untouched


@OF_EACH_PART
def test_every_check_has_a_sentence_and_a_place_to_read(task: str) -> None:
    checks = declared(task)
    assert {check.function for check in checks} == set(PARTS[task].functions)
    for check in checks:
        assert is_sentence(check.sentence.replace("(", "")), check.sentence
        assert re.match(r"chapter section 7\.|article, section \d", check.read), check.read
        assert set(check.needs) <= {other.id for other in checks}


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{w['check']}: {w['words']}" for w in WRONG])
def test_a_typical_mistake_is_seen_and_named(wrong: dict[str, str], solved: dict[str, Any]) -> None:
    exec(compile(wrong["source"], "<cell 7>", "exec"), solved)
    found = {outcome.id: outcome for outcome in troubles(TASK_OF[wrong["check"].partition(".")[0]], solved)}
    assert wrong["check"] in found
    outcome = found[wrong["check"]]
    assert wrong["words"] in f"{outcome.message} {outcome.looks_like}"
    for said in (outcome.message, outcome.looks_like):
        assert not said or is_sentence(said), said


@pytest.mark.parametrize("answer", ["None", "'text'", "{}", "[]", "np.zeros(3)", "float('nan')", "10**400", "1 / 0"])
def test_no_answer_is_too_strange_for_a_sentence(answer: str, solved: dict[str, Any]) -> None:
    for name, task in TASK_OF.items():
        names = {**solved, name: eval(f"lambda *args, **kwargs: {answer}", dict(solved))}
        found = [o for o in troubles(task, names) if o.function == name]
        assert found, (name, answer)
        assert all(is_sentence(outcome.message) for outcome in found), [o.message for o in found]


def test_parts_are_found_by_what_people_call_them() -> None:
    for name in ("multi_head", "multi-head", "Part 1", "part 1"):
        found = find(name)
        assert found is not None
        assert found.id == "multi_head"
    assert find("part 16") is None
    assert len(functions(NOTEBOOK)) == len(TASK_OF) == 50


def test_the_overview_shows_fifteen_parts(monkeypatch: pytest.MonkeyPatch, solved: dict[str, Any]) -> None:
    monkeypatch.delenv("ATTNLAB_GRADING")
    names = {**solved, "__name__": "__main__", "progress": progress}
    exec(compile("panel = progress('block_receipts')", "<cell 9>", "exec"), names)
    assert names["panel"].passed
    assert "15 of 15 parts pass their public checks" in str(names["panel"])


def test_every_part_has_three_hints_without_code() -> None:
    for part in PARTS:
        texts = [hints.hint(part, depth) for depth in hints.DEPTHS]
        assert len(set(texts)) == 3
        for text in texts:
            assert 80 < len(text) < 900, (part, len(text))
            assert not re.search(r"def |np\.|return |lambda", text)


def test_no_public_check_holds_a_line_of_the_solution() -> None:
    given = {line.strip() for line in handed_out().splitlines()}
    secret = {line.strip() for line in solution().splitlines()} - given
    for path in Path(hints.__file__).parent.rglob("*.py"):
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
        assert not {line for line in lines & secret if len(line) > 25}, path
