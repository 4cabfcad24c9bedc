"""The twelve questions: every wrong choice has a sentence of its own, and progress counts what is right."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import attnlab
from attnlab import questions as room
from attnlab.panel import Panel
from attnlab.questions import CHOICES, Question, judged, questions
from autograder.release import mutants
from tests.filled_in import EXERCISES

EVERY = questions()
CLAIMS = [q for q in EVERY.values() if q.kind == "claim"]
NUMBERS = [q for q in EVERY.values() if q.kind == "number"]
each = pytest.mark.parametrize("question", EVERY.values(), ids=lambda q: q.id)
each_claim = pytest.mark.parametrize("question", CLAIMS, ids=lambda q: q.id)
each_number = pytest.mark.parametrize("question", NUMBERS, ids=lambda q: q.id)


@pytest.fixture(autouse=True)
def _nothing_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_given", {})


def shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook: panels are shown."""
    monkeypatch.delenv("ATTNLAB_GRADING")


def test_there_are_six_of_each_kind_of_section() -> None:
    assert list(EVERY) == [f"{kind}{number}" for kind in ("intuition", "interview") for number in range(1, 7)]


@each
def test_a_question_is_complete(question: Question) -> None:
    assert question.kind in ("claim", "number")
    assert question.asks[-1] in ".?"
    assert question.title[-1] != "."
    assert re.match(r"sections? 7\.", question.read)
    assert question.praise.endswith(".")


@each_claim
def test_each_wrong_choice_has_a_sentence_of_its_own(question: Question) -> None:
    assert set(question.wrong) == set(CHOICES) - {question.right}
    said = [judged(question, choice) for choice in CHOICES]
    assert sorted(verdict for verdict, _ in said) == ["failed", "failed", "passed"]
    assert len({sentence for _, sentence in said}) == 3
    assert all(sentence[-1] in ".?" for _, sentence in said)


@each_claim
def test_spelling_is_no_matter_and_other_words_are_no_answer(question: Question) -> None:
    assert judged(question, f" {question.right.upper()} ")[0] == "passed"
    for other in ("yes", "", 1, None, True, ["accept"], np.array(["reject"])):
        verdict, said = judged(question, other)
        assert verdict == "failed"
        assert '"accept", "reject" or "qualify"' in said


@each_number
def test_a_number_is_right_within_its_rounding(question: Question) -> None:
    for given in (question.right, np.float64(question.right), np.array([question.right])):
        assert judged(question, given)[0] == "passed"
    assert judged(question, question.right * (1 + 0.9 * question.tolerance))[0] == "passed"
    assert judged(question, question.right * (1 + 3 * question.tolerance) + 1e-9)[0] == "failed"


@each_number
def test_each_known_wrong_number_has_a_sentence_of_its_own(question: Question) -> None:
    told = [judged(question, value) for known in question.near for value in known["values"][:1]]
    assert all(verdict == "failed" for verdict, _ in told)
    assert len({said for _, said in told}) == len(question.near) >= 3
    for other in (-1, 0, 10**30, float("nan"), "26703", True, None, 1 + 2j):
        verdict, said = judged(question, other)
        assert verdict == "failed"
        assert said.endswith(".")


@each
def test_three_dots_are_no_answer_yet(question: Question) -> None:
    verdict, said = judged(question, ...)
    assert verdict == "not_written"
    assert "three dots" in said


@each
def test_the_notebook_asks_it_in_the_same_words(question: Question) -> None:
    cells = EXERCISES.master().notebook.cells
    texts = [re.sub(r"\s+", " ", cell.source) for cell in cells if cell.cell_type == "markdown"]
    assert any(question.asks in text for text in texts)


def test_the_solution_answers_all_of_them_and_the_skeleton_none() -> None:
    mutants.bound(EXERCISES.solution())
    assert room.report().held == 12
    assert room.report().passed
    mutants.bound(EXERCISES.handed_out())
    assert room.report().untouched


def test_an_answer_is_shown_with_its_sentence_and_can_be_changed(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    shown(monkeypatch)
    question = EVERY["intuition2"]
    panel = attnlab.answer("intuition2", "accept")
    assert isinstance(panel, Panel)
    assert not panel.passed
    text = capsys.readouterr().out
    assert question.wrong["accept"] in text
    assert "✗ not that" in text
    assert "no mark does" in text
    assert "Hidden checks" not in text
    panel = attnlab.answer("intuition2", "reject")
    assert panel is not None
    assert panel.passed
    assert "✓ right" in str(panel)
    assert question.praise in str(panel)
    assert room.report().held == 1
    attnlab.answer("intuition2", ...)
    assert room.report().untouched


def test_a_question_that_does_not_exist_is_said_to(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    shown(monkeypatch)
    for name in ("intuition7", "", None, 3):
        assert not attnlab.answer(name, "accept").passed  # type: ignore[arg-type, union-attr]
        assert "There is no question" in capsys.readouterr().out


def test_while_a_notebook_is_only_loaded_answers_are_silent_and_counted(capsys: Any) -> None:
    assert attnlab.answer("intuition1", "qualify") is None
    assert capsys.readouterr().out == ""
    assert room.report().held == 1


def test_progress_counts_questions_apart_from_exercises(
    monkeypatch: pytest.MonkeyPatch, solved: dict[str, Any]
) -> None:
    shown(monkeypatch)
    attnlab.answer("intuition1", "reject")
    names = {**solved, "__name__": "__main__"}
    exec("from attnlab import progress\npanel = progress('exercises')", names)
    text = str(names["panel"])
    assert "10 of 10 exercises pass their public checks; twelve questions: 11 of 12 answered right" in text
    assert "read by a person" in text
    html = names["panel"]._repr_html_()
    assert '<progress max="10" value="10"' in html
    assert "Exercise 11. " in html


def test_a_notebook_whose_exercises_hold_passes_whatever_was_answered(tmp_path: Any) -> None:
    from attnlab import cli

    path = tmp_path / "exercises.py"
    path.write_text(
        EXERCISES.solution().replace('answer("intuition1", "qualify")', 'answer("intuition1", ...)'), encoding="utf-8"
    )
    assert cli.main(["check", str(path)]) == 0
    assert cli.main(["check", str(path), "--step", "questions"]) == 1
    path.write_text(EXERCISES.handed_out(), encoding="utf-8")
    assert cli.main(["check", str(path)]) == 1
