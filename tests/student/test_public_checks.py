"""The public checks accept what is right, and say in a sentence what is wrong with what is not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab.checking import declared, run_step
from attnlab.record import Outcome
from attnlab.steps import STEPS

Bent = Callable[[str], dict[str, Any]]

IDS = [step.id for step in STEPS]


def troubles(step: str, names: dict[str, Any]) -> list[Outcome]:
    """What a student would have to look at."""
    return [o for o in run_step(step, names).outcomes if o.verdict not in ("passed", "waits")]


@pytest.mark.parametrize("step", IDS)
def test_a_right_answer_passes_every_public_check(step: str, namespace: dict[str, Any]) -> None:
    assert troubles(step, namespace) == []
    assert run_step(step, namespace).passed


WRONG = tomllib.loads(Path(__file__).with_name("wrong_answers.toml").read_text(encoding="utf-8"))["wrong"]
STEP_OF = {name: step.id for step in STEPS for name in step.functions}

each_wrong_answer = pytest.mark.parametrize(
    "wrong", WRONG, ids=[f"{w['check']}: {w['words']}" for w in WRONG]
)


def seen(wrong: dict[str, str], bent: Bent) -> list[Outcome]:
    """What the public checks of its step say about a wrong answer."""
    return troubles(STEP_OF[wrong["check"].partition(".")[0]], bent(wrong["source"]))


@each_wrong_answer
def test_a_typical_mistake_is_seen_and_named(wrong: dict[str, str], bent: Bent) -> None:
    found = {outcome.id: outcome for outcome in seen(wrong, bent)}
    assert wrong["check"] in found
    outcome = found[wrong["check"]]
    assert wrong["words"] in f"{outcome.message} {outcome.looks_like}"


def is_sentence(text: str) -> bool:
    """Begins like a sentence, ends like one, and has no trace of a traceback in it."""
    return bool(re.match(r"[A-Z0-9`\"√]|[a-z_]+[ (]", text)) and text[-1] in ".!?" and "Traceback" not in text


@pytest.mark.parametrize("step", IDS)
def test_every_declared_check_has_a_sentence_and_a_place_to_read(step: str) -> None:
    about = {step.id: step for step in STEPS}[step]
    checks = declared(step)
    assert {check.function for check in checks} == set(about.functions)
    known = {check.id for check in checks}
    for check in checks:
        assert is_sentence(check.sentence), check.sentence
        assert check.read.startswith("chapter section 7.")
        assert set(check.needs) <= known


@each_wrong_answer
def test_every_message_is_made_of_sentences(wrong: dict[str, str], bent: Bent) -> None:
    for outcome in seen(wrong, bent):
        assert is_sentence(outcome.message), outcome.message
        assert not outcome.looks_like or is_sentence(outcome.looks_like), outcome.looks_like


@pytest.mark.parametrize("step", IDS)
def test_an_untouched_skeleton_is_called_not_written(step: str) -> None:
    about = {step.id: step for step in STEPS}[step]
    names: dict[str, Any] = {}
    for function in about.functions:
        body = "raise NotImplementedError('This is yours to write.')"
        if function == "KVCache":
            exec(f"class KVCache:\n    def append(self, k, v):\n        {body}", names)
        else:
            exec(f"def {function}(*args, **keywords):\n    {body}", names)
    report = run_step(step, names)
    assert {o.verdict for o in report.outcomes} <= {"not_written", "waits"}
    assert report.untouched
    assert not report.passed


def test_a_function_that_is_not_there_is_said_once_and_kindly(namespace: dict[str, Any]) -> None:
    del namespace["attention"]
    found = run_step("step1", namespace)
    assert (
        "Run the cell that defines it" in next(o for o in found.outcomes if o.function == "attention").message
    )


def test_what_it_calls_and_is_not_written_is_named(bent: Bent) -> None:
    names = bent("def softmax(x, axis=-1):\n    raise NotImplementedError")
    first = next(o for o in run_step("step1", names).outcomes if o.function == "attention")
    assert (first.verdict, first.message) == (
        "not_written",
        "`attention` calls `softmax`, which is not written yet.",
    )


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('<b>no</b>')",
        "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()",
        "return object()",
        "return (x for x in [1])",
        "return {1, 2}",
        "return [[1, 2], [3]]",
        "return 'text'",
        "return np.array([None])",
        "return np.array(1j)",
        "raise SystemExit(3)",
        "raise GeneratorExit",
        "raise RecursionError",
        "return [float('nan')] * 2",
        "return type('Liar', (), {'shape': (1, 1), '__array__': lambda self, *a, **k: 1 / 0})()",
    ],
)
@pytest.mark.parametrize("step", IDS)
def test_whatever_a_function_does_becomes_a_sentence(step: str, body: str, bent: Bent) -> None:
    about = {step.id: step for step in STEPS}[step]
    source = "\n".join(f"def {name}(*a, **k):\n    {body}" for name in about.functions)
    found = troubles(step, bent(source))
    assert found
    for outcome in found:
        assert outcome.verdict in ("failed", "error")
        assert is_sentence(outcome.message), outcome.message


def test_an_exception_is_told_with_its_line() -> None:
    import linecache

    source = "def softmax(x, axis=-1):\n    y = x + 1\n    return y / undefined_name\n"
    linecache.cache["<cell 5>"] = (len(source), None, source.splitlines(True), "<cell 5>")
    names: dict[str, Any] = {}
    exec(compile(source, "<cell 5>", "exec"), names)
    first = troubles("step1", names)[0]
    assert "NameError" in first.message
    assert "line 3 of cell 5: `return y / undefined_name`" in first.message


def test_an_interrupt_ends_the_check_and_not_the_notebook(bent: Bent) -> None:
    names = bent("def softmax(x, axis=-1):\n    raise KeyboardInterrupt")
    found = run_step("step1", names).outcomes
    assert found[0].verdict == "stopped"
    assert {o.verdict for o in found[1:]} == {"waits"}


def test_numpy_errors_that_a_student_switched_on_do_not_matter(namespace: dict[str, Any]) -> None:
    import numpy as np

    with np.errstate(all="raise"):
        assert run_step("step1", namespace).passed
