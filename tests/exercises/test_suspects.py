"""Named mistakes of the exercises: each loses marks in its exercise and is named, whoever wrote it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from autograder.lab import local_lab
from autograder.release import mutants
from autograder.suspects import all_suspects, name_suspect, suspects_of
from autograder.suspects.match import departures, right_answers, submission_with, text_answers
from autograder.suspects.probes import EXERCISES
from tests.exercises.conftest import LOST, NOTEBOOK, outcomes, solution

WRONG = tomllib.loads(Path(__file__).with_name("wrong.toml").read_text(encoding="utf-8"))["wrong"]
KNOWN = {suspect.id: suspect for suspect in all_suspects(NOTEBOOK)}
OF_EACH_FUNCTION = pytest.mark.parametrize("function", EXERCISES)


@pytest.mark.soak
@OF_EACH_FUNCTION
def test_every_mistake_loses_marks_and_is_named(function: str) -> None:
    assert len(suspects_of(function, NOTEBOOK)) >= 10
    assert mutants.survivors_of(function, "lab07", NOTEBOOK, solution()) == []


@OF_EACH_FUNCTION
def test_every_mistake_is_named_with_other_numbers_too(function: str) -> None:
    taken_for = {}
    for suspect in suspects_of(function, NOTEBOOK):
        lab = local_lab(submission_with(suspect.source, NOTEBOOK))
        match = name_suspect(lab, function, np.random.default_rng(20_261), NOTEBOOK)
        if match is None or match.id != suspect.id:
            taken_for[suspect.id] = match
    assert taken_for == {}


@OF_EACH_FUNCTION
def test_the_solution_is_right_in_every_probe(function: str) -> None:
    number = int(np.random.default_rng(5).integers(2**63))
    truth = right_answers(function, number, NOTEBOOK)
    assert departures(text_answers(solution(), function, number, NOTEBOOK), truth) == frozenset()
    match = name_suspect(local_lab(mutants.bound(solution())), function, np.random.default_rng(5), NOTEBOOK)
    assert match is None


@pytest.mark.parametrize("wrong", WRONG, ids=[w["suspect"] for w in WRONG])
def test_a_mistake_in_other_handwriting_loses_marks_and_is_named(wrong: dict[str, str]) -> None:
    suspect = KNOWN[wrong["suspect"]]
    found = [o for o in outcomes(suspect.task, wrong["source"]).values() if o.function == suspect.function]
    assert {outcome.verdict for outcome in found} & set(LOST)
    lab = local_lab(mutants.bound(solution(), wrong["source"]))
    match = name_suspect(lab, suspect.function, np.random.default_rng(1), NOTEBOOK)
    assert match is not None
    assert match.id == suspect.id


def test_hints_are_one_kind_sentence_without_code_and_send_to_a_section() -> None:
    sections = {"7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.13"}
    code = re.compile(r"[`=@*\[\]_]|\bnp\b|\w\(|\d{2,}|None")
    unkind = re.compile(r"\b(failed|stupid|obviously|simply|just)\b", re.IGNORECASE)
    for suspect in KNOWN.values():
        hint, (section, _, part) = suspect.hint, suspect.read.partition(", ")
        assert hint[0].isupper() and hint.endswith(".") and ". " not in hint, hint
        assert 30 <= len(hint) <= 170, hint
        assert not code.search(hint) and not unkind.search(hint), hint
        assert section in sections and part, suspect.read


def test_mistakes_are_filed_under_exercises_and_have_names_of_their_own() -> None:
    assert len(KNOWN) == len(all_suspects(NOTEBOOK)) > 150
    assert {suspect.task for suspect in KNOWN.values()} == {f"exercise{number}" for number in range(2, 12)}
    elsewhere = {s.id: s.function for s in all_suspects()}
    assert {elsewhere[name] for name in elsewhere.keys() & KNOWN.keys()} <= {"kv_cache_bytes"}
