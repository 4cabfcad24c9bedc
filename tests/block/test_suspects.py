"""Named mistakes of ``block_receipts``: each loses marks in its part and is named, whoever wrote it."""

from __future__ import annotations

import ast
import re
from collections import Counter

import numpy as np
import pytest

from autograder.lab import local_lab
from autograder.release import mutants
from autograder.suspects import NOTEBOOKS, all_suspects, name_suspect, suspects_of
from autograder.suspects.match import departures, right_answers, submission_with, text_answers
from autograder.suspects.probes import ASKED
from tests.block.conftest import LOST, NOTEBOOK, TASK_OF, cases, outcomes, solution

WRONG = cases("wrong.toml")
KNOWN = {suspect.id: suspect for suspect in all_suspects(NOTEBOOK)}
OF_EACH_FUNCTION = pytest.mark.parametrize("function", ASKED[NOTEBOOK])


@pytest.mark.soak
@OF_EACH_FUNCTION
def test_every_mistake_loses_marks_and_is_named(function: str) -> None:
    assert len(suspects_of(function, NOTEBOOK)) >= 4
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


@pytest.mark.parametrize("variant", cases("right.toml"), ids=lambda v: f"{v['task']}, {v['title']}")
def test_a_right_answer_in_other_words_is_called_nothing(variant: dict[str, str]) -> None:
    bound = mutants.bound(solution(), variant["source"])
    for node in ast.parse(variant["source"]).body:
        name = getattr(node, "name", "")
        if name in TASK_OF:
            assert name_suspect(local_lab(bound), name, np.random.default_rng(3), NOTEBOOK) is None, name


@pytest.mark.parametrize("wrong", WRONG, ids=[w["suspect"] for w in WRONG])
def test_a_mistake_in_other_handwriting_loses_marks_and_is_named(wrong: dict[str, str]) -> None:
    suspect = KNOWN[wrong["suspect"]]
    found = [o for o in outcomes(suspect.task, wrong["source"]).values() if o.function == suspect.function]
    assert {outcome.verdict for outcome in found} & set(LOST)
    lab = local_lab(mutants.bound(solution(), wrong["source"]))
    match = name_suspect(lab, suspect.function, np.random.default_rng(1), NOTEBOOK)
    assert match is not None
    assert match.id == suspect.id


def test_hints_are_one_kind_sentence_without_code_and_send_somewhere() -> None:
    code = re.compile(r"[`=@*\[\]_]|\bnp\b|\w\(|\d{2,}|None")
    unkind = re.compile(r"\b(failed|stupid|obviously|simply|just)\b", re.IGNORECASE)
    where = re.compile(r"(7\.[2-9]|7\.13|the article, section \d+), .+")
    for suspect in KNOWN.values():
        hint = suspect.hint
        assert hint[0].isupper() and hint.endswith(".") and ". " not in hint, hint
        assert 25 <= len(hint) <= 170, hint
        assert not code.search(hint) and not unkind.search(hint), hint
        assert where.fullmatch(suspect.read), suspect.read


def test_mistakes_are_filed_under_their_part_and_told_apart_by_their_hints() -> None:
    assert len(KNOWN) == len(all_suspects(NOTEBOOK)) > 300
    assert {suspect.function: suspect.task for suspect in KNOWN.values()} == TASK_OF
    hints = Counter((suspect.function, suspect.hint) for suspect in KNOWN.values())
    assert [hint for hint, times in hints.items() if times > 1] == []


def test_a_name_that_another_notebook_has_too_is_the_same_mistake() -> None:
    elsewhere = [s for notebook in NOTEBOOKS if notebook != NOTEBOOK for s in all_suspects(notebook)]
    shared = {(s.id, s.function, KNOWN[s.id].function) for s in elsewhere if s.id in KNOWN}
    others = {name for name, there, here in shared if there != here}
    assert others == {"linear_in_n"}  # in n: the bytes of scores there, their arithmetic here
