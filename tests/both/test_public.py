"""Public checks: right answers pass, typical mistakes are seen and said in a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from attnlab import hints
from attnlab.checking import declared, run_step
from attnlab.record import Outcome
from autograder.release import mutants
from tests.filled_in import BLOCK, EXERCISES, FilledIn

BOTH = (EXERCISES, BLOCK)
OF_BOTH = pytest.mark.parametrize("notebook", BOTH, ids=lambda notebook: notebook.name)
OF_EACH_TASK = pytest.mark.parametrize(
    ("notebook", "task"),
    [pytest.param(n, step.id, id=step.id) for n in BOTH for step in n.tasks.values() if step.functions],
)
OF_EACH_WRONG_ANSWER = pytest.mark.parametrize(
    ("notebook", "wrong"),
    [pytest.param(n, w, id=f"{w['check']}: {w['words']}") for n in BOTH for w in n.cases("public_wrong.toml")],
)

# Two of the exercises' right answers keep to the chapter less closely than the text of the notebook asks: the hidden
# checks let that pass, and the public ones say so.
OF_EACH_RIGHT_ANSWER = pytest.mark.parametrize(
    ("notebook", "right"),
    [
        pytest.param(n, r, id=f"{r['task']}, {r['title']}")
        for n in BOTH
        for r in n.cases("right.toml")
        if not r["title"].startswith(("positions of size one", "the key before the query"))
    ],
)


def troubles(task: str, names: dict[str, Any]) -> list[Outcome]:
    """What a student would have to look at."""
    return [o for o in run_step(task, names).outcomes if o.verdict not in ("passed", "waits")]


def solved(notebook: FilledIn) -> dict[str, Any]:
    """What the solution binds."""
    return mutants.bound(notebook.solution())


def is_sentence(text: str) -> bool:
    """Begins like a sentence, ends like one, and has no trace of a traceback in it."""
    return bool(re.match(r"[A-Z0-9`\"√\[]|[^\W\d]+[ ('’]", text)) and text[-1] in ".!?" and "Traceback" not in text


@OF_EACH_TASK
def test_the_solution_passes_every_public_check(notebook: FilledIn, task: str) -> None:
    assert troubles(task, solved(notebook)) == []
    assert run_step(task, solved(notebook)).passed


@OF_EACH_RIGHT_ANSWER
def test_a_right_answer_in_other_words_passes_too(notebook: FilledIn, right: dict[str, str]) -> None:
    names = solved(notebook)
    exec(compile(right["source"], "<cell 7>", "exec"), names)
    assert troubles(right["task"], names) == []


@OF_EACH_TASK
def test_the_skeleton_is_not_written_yet(notebook: FilledIn, task: str) -> None:
    assert run_step(task, mutants.bound(notebook.handed_out())).untouched


@OF_EACH_TASK
def test_every_check_has_a_sentence_and_a_place_to_read(notebook: FilledIn, task: str) -> None:
    checks = declared(task)
    assert {check.function for check in checks} == set(notebook.tasks[task].functions)
    for check in checks:
        assert is_sentence(check.sentence.replace("(", "")), check.sentence
        assert re.match(r"chapter section 7\.|article, section \d", check.read), check.read
        assert set(check.needs) <= {other.id for other in checks}


@OF_EACH_WRONG_ANSWER
def test_a_typical_mistake_is_seen_and_named(notebook: FilledIn, wrong: dict[str, str]) -> None:
    names = solved(notebook)
    exec(compile(wrong["source"], "<cell 7>", "exec"), names)
    found = {outcome.id: outcome for outcome in troubles(notebook.task_of[wrong["check"].partition(".")[0]], names)}
    assert wrong["check"] in found
    outcome = found[wrong["check"]]
    assert wrong["words"] in f"{outcome.message} {outcome.looks_like}"
    for said in (outcome.message, outcome.looks_like):
        assert not said or is_sentence(said), said


@OF_BOTH
@pytest.mark.parametrize("answer", ["None", "'text'", "{}", "[]", "np.zeros(3)", "float('nan')", "10**400", "1 / 0"])
def test_no_answer_is_too_strange_for_a_sentence(notebook: FilledIn, answer: str) -> None:
    right = solved(notebook)
    for name, task in notebook.task_of.items():
        names = {**right, name: eval(f"lambda *args, **kwargs: {answer}", dict(right))}
        found = [o for o in troubles(task, names) if o.function == name]
        assert found, (name, answer)
        assert all(is_sentence(outcome.message) for outcome in found), [o.message for o in found]


@OF_BOTH
def test_every_task_has_three_hints_without_code(notebook: FilledIn) -> None:
    for task in notebook.tasks:
        texts = [hints.hint(task, depth) for depth in hints.DEPTHS]
        assert len(set(texts)) == 3
        for text in texts:
            assert 80 < len(text) < 900, (task, len(text))
            assert not re.search(r"def |np\.|return |lambda", text)


@OF_BOTH
def test_no_public_check_holds_a_line_of_the_solution(notebook: FilledIn) -> None:
    given = {line.strip() for line in notebook.handed_out().splitlines()}
    secret = {line.strip() for line in notebook.solution().splitlines()} - given
    for path in Path(hints.__file__).parent.rglob("*.py"):
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}
        assert not {line for line in lines & secret if len(line) > 25}, path
