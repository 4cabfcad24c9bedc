"""Written answers: which of them were left as they were handed out, so that nobody has to open them."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.course import Course
from autograder.submission import Submission

#: A cell whose answer may come as a file beside the notebook instead.
FILES = {"step6-note": "note.md"}


def unanswered(submission: Submission, course: Course) -> frozenset[str]:
    """The ``grade_id`` of every answer of a notebook that was handed in which is empty or not changed.

    A cell that is not there is left to the person who marks: who re-saved a notebook in another program may have
    lost the name of the cell, not the answer.
    """
    return frozenset(_unanswered(submission, course))


def _unanswered(submission: Submission, course: Course) -> Iterator[str]:
    for name, notebook in submission.notebooks.items():
        for answer in course.parts[name].by_person:
            text = notebook.written.get(answer.grade_id)
            if text is None or FILES.get(answer.grade_id) in submission.files:
                continue
            if _plain(text) in ("", _plain(course.handed_out.get(answer.grade_id, ""))):
                yield answer.grade_id


def _plain(text: str) -> str:
    """Without what an editor changes by itself: white space, and the marks of emphasis around a line."""
    return " ".join(word for line in text.split("\n") for word in line.strip(" \t\r*_").split())
