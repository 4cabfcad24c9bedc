"""What a person sees while a run goes on."""

from __future__ import annotations

import io
import time

import pytest
from handmade import result
from rich.console import Console

from autograder.course import Course
from autograder.progress import RunReport


def test_a_log_gets_a_plain_line_for_each_with_an_estimate(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    text = io.StringIO()
    with RunReport(5, Console(file=text, width=200)) as report:
        report.unchanged(result(course, "ada"))
        now = 130.0
        report.finished(result(course, "a\x1b[2Jb"))
        now = 400.0
        report.finished(result(course, "cem"))
        report.note("a word on the side")
    assert text.getvalue().splitlines() == [
        "1 of 5: ada: 22.5 of 25, as before",
        "2 of 5: a\\x1b[2Jb: 22.5 of 25; about 90 s left",
        "3 of 5: cem: 22.5 of 25; about 5 min left",
        "a word on the side",
    ]


def test_a_terminal_gets_a_bar_with_the_count(course: Course) -> None:
    text = io.StringIO()
    with RunReport(2, Console(file=text, width=80, force_terminal=True)) as report:
        report.finished(result(course, "ada"))
    assert "1/2" in text.getvalue()
    assert "ada" not in text.getvalue()
