"""Named mistakes: each loses marks in its task and is named, whoever wrote it."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.lab import local_lab
from autograder.release import mutants
from autograder.suspects import all_suspects, name_suspect, suspects_of
from autograder.suspects.match import departures, right_answers, submission_with, text_answers
from autograder.suspects.probes import ASKED
from tests.filled_in import BLOCK, EXERCISES, LOST, FilledIn

FEWEST = {EXERCISES: 10, BLOCK: 4}
OF_EACH_FUNCTION = pytest.mark.parametrize(
    ("notebook", "function"),
    [pytest.param(notebook, function, id=function) for notebook in FEWEST for function in ASKED[notebook.name]],
)
OF_EACH_WRONG_ANSWER = pytest.mark.parametrize(
    ("notebook", "wrong"),
    [pytest.param(notebook, w, id=w["suspect"]) for notebook in FEWEST for w in notebook.cases("wrong.toml")],
)


@pytest.mark.soak
@OF_EACH_FUNCTION
def test_every_mistake_loses_marks_and_is_named(notebook: FilledIn, function: str) -> None:
    assert mutants.survivors_of(function, "lab07", notebook.name, notebook.solution()) == []


@OF_EACH_FUNCTION
def test_every_mistake_is_named_with_other_numbers_too(notebook: FilledIn, function: str) -> None:
    assert len(suspects_of(function, notebook.name)) >= FEWEST[notebook]
    taken_for = {}
    for suspect in suspects_of(function, notebook.name):
        lab = local_lab(submission_with(suspect.source, notebook.name))
        match = name_suspect(lab, function, np.random.default_rng(20_261), notebook.name)
        if match is None or match.id != suspect.id:
            taken_for[suspect.id] = match
    assert taken_for == {}


@OF_EACH_FUNCTION
def test_the_solution_is_right_in_every_probe_and_is_called_nothing(notebook: FilledIn, function: str) -> None:
    number = int(np.random.default_rng(5).integers(2**63))
    truth = right_answers(function, number, notebook.name)
    assert departures(text_answers(notebook.solution(), function, number, notebook.name), truth) == frozenset()
    lab = local_lab(mutants.bound(notebook.solution()))
    assert name_suspect(lab, function, np.random.default_rng(5), notebook.name) is None


@OF_EACH_WRONG_ANSWER
def test_a_mistake_in_other_handwriting_loses_marks_and_is_named(notebook: FilledIn, wrong: dict[str, str]) -> None:
    suspect = {known.id: known for known in all_suspects(notebook.name)}[wrong["suspect"]]
    found = [o for o in notebook.outcomes(suspect.task, wrong["source"]).values() if o.function == suspect.function]
    assert {outcome.verdict for outcome in found} & set(LOST)
    lab = local_lab(mutants.bound(notebook.solution(), wrong["source"]))
    match = name_suspect(lab, suspect.function, np.random.default_rng(1), notebook.name)
    assert match is not None
    assert match.id == suspect.id
