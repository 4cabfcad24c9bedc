"""An appeal is answered by a fault on a public input: really run, and as a script that its author can run."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import autograder.suspects
from autograder import course, engine
from autograder.appeal import find
from autograder.appeal.transcript import same
from autograder.engine import declared, grade_notebook
from autograder.kit import kit_version
from autograder.marks import Outcome
from autograder.notebook_file import Cell, Notebook
from autograder.sandbox import launch
from autograder.settings import Settings
from autograder.submission import Submission
from autograder.suspects.match import RIGHT
from autograder.suspects.registry import all_suspects

SEED = "the course seed of these tests, which no script may hold"
#: A mistake in the numbers; in an object that remembers; of a function that is handed others; of one that raises.
SHOWN = (
    ("attention_lab", "softmax_over_queries"),
    ("attention_lab", "mask_parameter_renamed"),
    ("attention_lab", "concatenates_axis_1"),
    ("attention_lab", "nothing_appended"),
    ("exercises", "training_in_large_units"),
    ("block_receipts", "id_beyond_the_vocabulary"),
)


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    if not any(launch.unavailable(one) is None for one in ("bubblewrap", "user")):
        pytest.skip("there is no isolation on this machine")
    yield Settings(
        assignment="lab07",
        course=course.load("lab07"),
        seed=SEED,
        seed_id="0a1b2c3d4e5f",
        kit_version=kit_version(),
    )
    engine.close()


def right_text(notebook: str) -> str:
    folder = Path(autograder.suspects.__file__).parent
    texts = ((folder / f"{name}.py").read_text(encoding="utf-8") for name in RIGHT[notebook])
    return "\n".join(text.replace("from __future__ import annotations", "") for text in texts)


def submission(notebook: str, source: str) -> Submission:
    cells = [Cell(right_text(notebook), 1, "cell 1"), Cell(source, 2, "cell 2")]
    return Submission(name="ada", notebooks={notebook: Notebook(notebook, f"{notebook}.ipynb", cells=cells)})


def failed(given: Submission, notebook: str, function: str, settings: Settings) -> Outcome:
    tasks = {f"{d.task}.{d.function}" for d, _ in declared("lab07") if (d.notebook, d.function) == (notebook, function)}
    outcomes, _, _ = grade_notebook(given.notebooks[notebook], {}, settings, tasks)
    return next(o for o in outcomes if o.verdict in ("failed", "submission_error"))


def shown(given: Submission, check: str, settings: Settings) -> find.Shown | str:
    declaration, title = next((d, title) for d, title in declared("lab07") if d.id == check)
    return find.show(declaration, title, given, settings)


def run(script: Path, file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", script, file], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("notebook", "suspect"), SHOWN)
def test_the_script_shows_the_fault_of_a_wrong_submission_and_none_of_a_right_one(
    notebook: str, suspect: str, settings: Settings, tmp_path: Path
) -> None:
    mistake = next(one for one in all_suspects(notebook) if one.id == suspect)
    given = submission(notebook, mistake.source)
    outcome = failed(given, notebook, mistake.function, settings)
    found = shown(given, outcome.id, settings)
    assert isinstance(found, find.Shown), found
    assert not found.note
    script, wrong, right = (tmp_path / name for name in ("script.py", "wrong.ipynb", "right.py"))
    script.write_text(found.script, encoding="utf-8")
    cells = [{"cell_type": "code", "source": cell.source} for cell in given.notebooks[notebook].cells]
    wrong.write_text(json.dumps({"cells": [*cells, {"cell_type": "markdown", "source": "x"}]}), encoding="utf-8")
    right.write_text(right_text(notebook), encoding="utf-8")
    for file, code, says in ((wrong, 1, "They are not the same."), (right, 0, "They are the same.")):
        done = run(script, file)
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.rstrip().endswith(says)
    assert "autograder" not in found.script and SEED not in found.script


def test_a_script_has_none_of_the_numbers_that_decided_the_mark(settings: Settings) -> None:
    mistake = next(one for one in all_suspects() if one.id == "softmax_over_queries")
    given = submission("attention_lab", mistake.source)
    hidden = failed(given, "attention_lab", "attention", settings).id
    first = shown(given, hidden, settings)
    other = shown(given, hidden, Settings(**{**vars(settings), "seed": "another seed, of another course"}))
    assert isinstance(first, find.Shown) and isinstance(other, find.Shown)
    # Whatever the course seed, the public input is the same: it cannot come from it.
    assert first.script == other.script


def test_a_check_whose_input_is_the_same_for_every_seed_is_not_shown_itself(settings: Settings) -> None:
    declaration = next(d for d, _ in declared("lab07") if d.id == "exercises.exercise11.training_flops.chapter")
    questions = find._questions(declaration, settings)
    assert len(questions) == 1
    drawn = next(d for d, _ in declared("lab07") if d.id == "attention_lab.step1.attention.two_tokens")
    assert len(find._questions(drawn, settings)) == len(find.PUBLIC_SEEDS) + 1


@pytest.mark.parametrize(
    ("source", "check", "says"),
    [
        ("", "attention_lab.step1.softmax.rows", "the numbers that come back are right"),
        ("", "attention_lab.step5.measured_exponent.quadratic", "differs from run to run"),
        ("", "exercises.exercise3.kv_cache_bytes.formula", "no code of this notebook"),
    ],
)
def test_where_nothing_can_be_shown_a_sentence_says_why(source: str, check: str, says: str, settings: Settings) -> None:
    found = shown(submission("attention_lab", source), check, settings)
    assert isinstance(found, str) and says in found


#: Sends a message of its own as the answer: one of the right form that holds no value.
FORGED = """
import sys
from autograder import wire
def softmax(x, axis=-1):
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "channel"): frame = frame.f_back
    frame.f_locals["self"].channel.send(wire.Return(frame.f_locals["request"].id, wire.VALUE))
    return x
"""


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x, axis=-1):\n    while True: pass\n",
        "def softmax(x, axis=-1):\n    import os; os._exit(0)\n",
        "def softmax(x, axis=-1):\n    return {'x': [object(), b'1', float('nan')], 1: '\\x1b[2J\\u202e'}\n",
        "class E(Exception): __name__ = '\\x1b'\ndef softmax(x, axis=-1):\n    raise E('\\x1b[2J\"\"\"')\n",
        "def softmax(x, axis=-1):\n    raise SystemExit(0)\n",
        *(
            FORGED.replace("VALUE", value)
            for value in ("Array('<f8', [9], b'')", "Integer('zz')", "Integer('9' * 9999)")
        ),
    ],
)
def test_hostile_code_gets_an_answer_that_steers_no_terminal(source: str, settings: Settings) -> None:
    quick = msgspec.structs.replace(settings.course.limits, call_seconds=1, setup_seconds=5)
    limited = dataclasses.replace(settings, course=msgspec.structs.replace(settings.course, limits=quick))
    found = shown(submission("attention_lab", source), "attention_lab.step1.softmax.rows", limited)
    text = found if isinstance(found, str) else "\n".join([found.call, found.mine, found.right, found.note])
    assert text and "\x1b" not in text and "\u202e" not in text
    if isinstance(found, find.Shown) and found.script:
        compile(found.script, "script", "exec")
        assert "\x1b" not in found.script


@pytest.mark.parametrize(
    ("found", "right", "alike"),
    [
        (1.0 + 1e-12, 1.0, True),
        (1.1, 1.0, False),
        (10**24, 10**24, True),
        (10**24 + 1, 10**24, False),
        ([1, [2.0]], [1, [2.0]], True),
        ([1.0, 2.0], 1.0, False),
        ("<object>", 1.0, False),
        (None, None, True),
        (None, 1.0, False),
        ({"a": 1, "more": 2}, {"a": 1}, True),
        ({}, {"a": 1}, False),
        (float("nan"), float("nan"), True),
    ],
)
def test_answers_are_compared_whatever_they_are(found: object, right: object, alike: bool) -> None:
    assert same(found, right, 1e-9) is alike
