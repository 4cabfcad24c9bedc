"""What a submission can put into words reaches pages, tables and terminals as words only."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from autograder import results
from autograder.names import result_file_stem
from autograder.pages.publish import known_hints, publish
from autograder.result import Result
from autograder.terminal import table
from tests.attacks.conftest import LAB
from tests.corpus.corpora import grade
from tests.samples.build import notebook

#: A terminal's orders (clear, title, clipboard, a link), one-byte ones, turned direction, a page's, a template's and a
#: spreadsheet's; and what ends a string of JSON or a comment.
HOSTILE = (
    "\x1b[2J\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b]8;;http://192.0.2.1\x07x\x1b]8;;\x07\x9b31m\x00\x08\x7f\r\u202e0.001\u2066"
    "<script>alert(1)</script><img src=x onerror=alert(1)></title></bdi>{{ 7*7 }}{% raw %}\"';--><!--"
    '\n=HYPERLINK("http://192.0.2.1")\n+1\n@x'
)
NAME = "=cmd|' /C calc'!A0 \x1b[31m\u202e<b>\n,\"x\""
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
TURNED = re.compile("[\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    book = notebook("solution")
    hostile = (
        f"HOSTILE = {HOSTILE!r}\n"
        "print(HOSTILE)\n"
        "import sys, warnings; print(HOSTILE, file=sys.stderr); warnings.warn(HOSTILE)\n"
        "def score_bytes(*args, **kwargs):\n"
        "    raise type(HOSTILE.replace(chr(0), ''), (Exception,), {'__module__': HOSTILE})(HOSTILE * 50)\n"
        "def fit_exponent(*args, **kwargs):\n    return HOSTILE\n"
        "raise ValueError(HOSTILE)"
    )
    book.cells.append({"cell_type": "code", "metadata": {}, "id": "last", "source": hostile, "outputs": []})
    files = {f"{LAB}.ipynb": json.dumps(book).encode(), f"a{HOSTILE[:40]}.zip": b"PK\x05\x06" + bytes(18)}
    result = grade(NAME, files)
    out = tmp_path_factory.mktemp("out")
    results.prepare(out)
    results.write(out, result_file_stem(NAME), result)
    publish(out, "Title", known_hints())
    return out, result


def test_it_lost_only_the_two_functions_and_says_why(graded: tuple[Path, Result]) -> None:
    lost = {c.function for c in graded[1].checks if c.notebook == LAB and c.verdict in ("failed", "submission_error")}
    assert lost == {"score_bytes", "fit_exponent"}
    assert all(c.message for c in graded[1].checks if c.function in lost and c.verdict != "passed")


def test_no_file_holds_a_control_character(graded: tuple[Path, Result]) -> None:
    files = [path for path in graded[0].rglob("*") if path.is_file() and path.name != results.LOCK]
    assert len(files) >= 4
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert CONTROL.search(text) is None, path.name
        assert "aGk=\x07" not in text


def test_messages_cannot_turn_the_direction_of_writing(graded: tuple[Path, Result]) -> None:
    for check in graded[1].checks:
        assert TURNED.search(check.message or "") is None
    assert TURNED.search(graded[1].message or "") is None


def test_pages_show_it_as_text(graded: tuple[Path, Result]) -> None:
    pages = [*graded[0].rglob("*.html")]
    assert len(pages) == 2
    for path in pages:
        page = path.read_text(encoding="utf-8")
        assert "<script>alert" not in page and "<img src=x" not in page and "49{%" not in page
        assert "&lt;script&gt;" in page or path.name == "index.html"


def test_no_cell_of_the_table_is_a_formula(graded: tuple[Path, Result]) -> None:
    import csv

    with (graded[0] / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 2
    assert [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")] == []


def test_a_terminal_is_steered_by_nothing_of_it(graded: tuple[Path, Result]) -> None:
    shown = io.StringIO()
    Console(file=shown, width=132, color_system=None, force_terminal=False).print(table([graded[1]]))
    assert CONTROL.search(shown.getvalue()) is None and TURNED.search(shown.getvalue()) is None
