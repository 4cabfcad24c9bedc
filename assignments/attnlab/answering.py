"""``answer("intuition1", ...)``: one of the twelve questions, with a sentence for whatever is answered."""

from __future__ import annotations

from attnlab.checking import caller_namespace
from attnlab.exercises_table import QUESTIONS
from attnlab.panel import Panel
from attnlab.questions import outcome, questions, record
from attnlab.record import StepReport
from attnlab.words import clean


def answer(question: str, given: object) -> Panel | None:
    """Answer a question: with ``"accept"``, ``"reject"`` or ``"qualify"`` if it is a claim, otherwise with a number.

    Gives back the panel that a notebook shows; in a script it is printed. A later answer to the same question takes the
    place of an earlier one, and ``...`` takes it back. Silent, with None, while the notebook is only loaded.
    """
    about = record(question, given)
    if caller_namespace() is None:
        return None
    if about is None:
        known = ", ".join(questions())
        said = f"There is no question {clean(repr(question), 40)}: they are {known}."
        return Panel((StepReport(QUESTIONS, 0, "Which question?", (), problem=said),)).shown()
    return Panel((StepReport(QUESTIONS, 0, about.title, (outcome(about),)),)).shown()
