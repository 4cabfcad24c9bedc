"""Cells as Jupyter runs them: what only a screen, an extension or a network has costs nothing that stands beside it;
and what a message says of a cell that did not run.
"""

from __future__ import annotations

import json
import sys

import pytest

from autograder.sandbox.session import Session
from tests.sandbox.conftest import Cell, Start

FINE = "def fine():\n    return 1"


@pytest.mark.parametrize(
    "line",
    [
        "!pip install -q numpy",
        "!no-such-program 2>&1 | head -1 && false",
        "%pip install numpy",
        "%matplotlib widget",
        "%matplotlib qt",
        "%matplotlib no_such_backend",
        "%load_ext no_such_extension",
        "%autosave 60",
        "%no_such_magic at all",
        "get_ipython().system('true')",
        "exit()",
        "quit()",
    ],
)
def test_a_line_that_can_do_nothing_here_does_not_cost_the_rest_of_its_cell(start: Start, line: str) -> None:
    lab, session = start(f"{line}\n{FINE}")
    assert lab.fine() == 1
    assert session.problems == []


def test_a_notebook_that_lies_beside_it_is_run(start: Start) -> None:
    other = {"cells": [{"cell_type": "code", "source": FINE, "metadata": {}, "outputs": [], "execution_count": None}]}
    whole = json.dumps({**other, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()
    lab, session = start("%run helpers.ipynb", files={"helpers.ipynb": whole}, cell_seconds=200)
    assert lab.fine() == 1
    assert session.problems == []


def test_a_magic_that_is_there_and_fails_still_ends_its_cell(start: Start) -> None:
    _, session = start("%run no_such_file.py\nafter = 1", "%precision no number")
    assert [p.label for p in session.problems] == ["cell 1", "cell 2"]


def test_a_syntax_error_names_its_line_and_the_version_that_does_not_know_it(start: Start) -> None:
    _, session = start("a = 1\nb = (2 3)\n")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    [problem] = session.problems
    assert problem.text.startswith("It raised SyntaxError: ")
    assert problem.text.endswith(f"(in Python {version}) (cell 1, line 2).")


def test_a_line_of_a_module_is_counted_in_the_whole_file(start: Start) -> None:
    _, session = start(FINE)
    cells = [Cell("def f():\n    return 1 / 0", "lines 40-41"), Cell("f()", "line 43"), Cell("x = )", "lines 50-51")]
    with Session(session.sandbox, cells, {}) as module:
        said = [problem.text for problem in module.problems]
    assert said[0] == "It raised ZeroDivisionError: division by zero (line 41)."
    assert said[1].endswith("(line 50).")


@pytest.mark.parametrize(
    ("files", "cell", "own"),
    [
        ({"code.py": b"def softmax(): ..."}, "from code import softmax", "code.py"),
        ({"statistics.py": b"def softmax(): ..."}, "import statistics\nstatistics.softmax", "statistics.py"),
        ({"numpy/helpers.py": b"x = 1"}, "from numpy.helpers import x", "numpy"),
    ],
)
def test_a_file_whose_name_is_taken_is_named(start: Start, files: dict[str, bytes], cell: str, own: str) -> None:
    _, session = start(cell, files=files)
    assert f"({own} was passed over: an installed module has this name" in session.problems[0].text


def test_a_name_that_the_student_s_own_module_lacks_is_only_that(start: Start) -> None:
    _, session = start("from helpers import no_such_name", files={"helpers.py": b"x = 1"})
    assert "passed over" not in session.problems[0].text


@pytest.mark.parametrize(
    "hostile",
    [
        "import os\nos.path.exists = os.getcwd = None\nfrom os import no_such_name",
        "e = SyntaxError('x')\ne.msg = e.filename = e.lineno = [0]\nraise e",
        "class Name(str):\n    def partition(self, _): 1 / 0\nraise ImportError('x', name=Name('os'))",
        "import sys\nsys.modules['os'] = 3\nraise ImportError('x', name='os')",
        "raise AttributeError('x', obj=type('T', (), {'__getattr__': lambda s, n: 1 / 0})())",
    ],
)
def test_an_error_that_is_taken_apart_by_its_student_is_told_all_the_same(start: Start, hostile: str) -> None:
    lab, session = start(hostile, FINE, files={"os.py": b""})
    assert [problem.label for problem in session.problems] == ["cell 1"]
    assert lab.fine() == 1


def test_what_a_shell_line_says_is_read_by_nobody(start: Start) -> None:
    lab, session = start("!yes | head -c 100000000\n" + FINE)
    assert lab.fine() == 1
    assert session.problems == []
