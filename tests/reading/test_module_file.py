"""A module is cut so that one broken statement costs itself and what depends on it, nothing else."""

from __future__ import annotations

import ast
import inspect

import jupytext
import nbformat
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import module_file
from autograder.notebook_file import read_file

MODULE = '''"""Docstring
def not_a_function(): the text of it
"""
import math; import os
# a comment
@decorated
@twice
def softmax(x):
    """# %% is no mark inside a line"""

    return x

class KVCache:
    def append(self, k, v):
        pass
x = [
1,
]
if x:
    y = 1
elif y:
    y = 2
else:
    y = 3
try:
    pass
finally:
    z = 1
'''


def cut(text: str) -> list[str]:
    return [piece.source for piece in module_file.pieces(text)[0]]


def test_a_plain_module_is_cut_into_its_top_level_statements() -> None:
    first_lines = [source.split("\n")[0] for source in cut(MODULE)]
    assert first_lines == [
        '"""Docstring',
        "import math; import os",
        "@decorated",
        "class KVCache:",
        "x = [",
        "if x:",
        "try:",
    ]
    assert module_file.pieces(MODULE)[1] is None


def test_every_line_with_a_statement_is_in_exactly_one_piece() -> None:
    # Our own modules are as good as any; the cut must agree with Python's own parser.
    for module in (module_file, inspect, ast):
        text = inspect.getsource(module)
        expected = [ast.dump(ast.parse(ast.unparse(statement)).body[0]) for statement in ast.parse(text).body]
        found = [ast.dump(ast.parse(ast.unparse(s)).body[0]) for source in cut(text) for s in ast.parse(source).body]
        assert found == expected


def test_labels_are_the_lines_of_the_file() -> None:
    read = read_file(b"a = 1\n\n\ndef f():\n    return a\n", "attention_lab", "attention_lab.py")
    assert [(cell.index, cell.label) for cell in read.cells] == [(1, "line 1"), (2, "lines 4-5")]


def test_a_syntax_error_costs_its_own_statement_and_the_line_is_said() -> None:
    text = "def softmax(x):\n    return x\n\nx = = 3\n\ndef attention(Q):\n    return Q\n"
    pieces, trouble = module_file.pieces(text)
    assert [piece.label for piece in pieces] == ["lines 1-2", "line 4", "lines 6-7"]
    assert trouble is not None
    assert trouble.startswith("line 4 is not valid Python")


def test_a_bracket_that_is_never_closed_does_not_swallow_what_follows() -> None:
    text = "def softmax(x):\n    return x\n\ny = softmax((1)\n\n@twice\ndef attention(Q):\n    return Q\n\n"
    text += "class KVCache:\n    pass\n"
    pieces, trouble = module_file.pieces(text)
    assert [piece.source.split("\n")[0] for piece in pieces] == [
        "def softmax(x):",
        "y = softmax((1)",
        "@twice",
        "class KVCache:",
    ]
    assert trouble is not None
    assert "from line 4 on" in trouble


def test_a_quotation_that_is_never_closed_does_not_swallow_what_follows() -> None:
    text = 'def softmax(x):\n    """Never closed.\n    return x\n\ndef attention(Q):\n    return Q\n'
    assert [source.split("\n")[0] for source in cut(text)] == ["def softmax(x):", "def attention(Q):"]


def test_magics_in_a_module_stand_alone_and_are_no_syntax_error() -> None:
    pieces, trouble = module_file.pieces("%matplotlib inline\n!pip install x\nimport math\nmath?\n")
    assert [piece.source for piece in pieces] == [
        "%matplotlib inline",
        "!pip install x",
        "import math",
        "math?",
    ]
    assert trouble is None


def test_percent_format_is_cut_at_its_marks_whatever_stands_between() -> None:
    text = '''# ---
# jupyter: {}
# ---
import os
# %% [markdown]
# # Title
# içti
# %% a title
%%time
def softmax(x):
    # %%time
    return x
#%%
x = (
# %% [markdown] nbgrader={"grade": true, "grade_id": "why"}
"""
Because.
"""
# %%

# %% [raw]
# raw
'''
    read = read_file(text.encode(), "attention_lab", "attention_lab.py")
    assert [cell.source.split("\n")[0] for cell in read.cells] == ["# ---", "%%time", "x = ("]
    assert [cell.label for cell in read.cells] == ["lines 1-4", "lines 9-12", "line 14"]
    assert read.markdown == ["# Title\niçti", "Because."]
    assert read.written == {"why": "Because."}
    assert read.problems == []


def test_percent_format_is_cut_as_jupytext_cuts_it() -> None:
    notebook = nbformat.v4.new_notebook()
    metadata = {"nbgrader": {"grade_id": "why", "points": 3}}
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Title\n\n- içti"),
        nbformat.v4.new_code_cell("%matplotlib inline\nimport math"),
        nbformat.v4.new_code_cell("%%time\ndef softmax(x):\n    # %% no mark\n\n\n    return x"),
        nbformat.v4.new_markdown_cell("Because.", metadata=metadata),
    ]
    text = jupytext.writes(notebook, fmt="py:percent")
    module = read_file(text.encode(), "attention_lab", "attention_lab.py")
    original = read_file(nbformat.writes(notebook).encode(), "attention_lab", "attention_lab.ipynb")
    assert (module.markdown, module.written) == (original.markdown, original.written)
    # Jupytext comments magics out, and so they stay.
    read = [cell.source.replace("# %mat", "%mat").replace("# %%time", "%%time") for cell in module.cells]
    assert read[-2:] == [cell.source for cell in original.cells]


def test_line_ends_and_encodings_of_other_systems_are_read() -> None:
    windows = "a = 1\r\nb = 'ü€'\r\n".encode("cp1252")
    read = read_file(windows, "attention_lab", "attention_lab.py")
    assert [cell.source for cell in read.cells] == ["a = 1", "b = 'ü€'"]
    assert "Windows-1252" in read.problems[0]
    turkish = "# -*- coding: iso-8859-9 -*-\nb = 'ışık'\n".encode("iso-8859-9")
    read = read_file(turkish, "attention_lab", "attention_lab.py")
    assert read.cells[0].source == "b = 'ışık'"
    marked = read_file(b"\xef\xbb\xbfa = 1\n", "attention_lab", "attention_lab.py")
    assert ([cell.source for cell in marked.cells], marked.problems) == (["a = 1"], [])


def test_a_form_feed_or_an_odd_separator_ends_no_line() -> None:
    assert cut("a = 1\x0c\nb = '\u2028'\n") == ["a = 1\x0c", "b = '\u2028'"]


def test_statements_that_break_compilers_are_only_cut() -> None:
    hostile = [
        "deep = " + "-" * 200_000 + "1",
        "deep = " + "(" * 150 + "1" + ")" * 150,
        "deep = " + "1 + " * 100_000 + "1",
        "deep = " + "lambda: " * 50_000 + "1",
        "a\0b = 1",
    ]
    pieces, _ = module_file.pieces("\n".join([*hostile, "last = 1"]))
    assert pieces[-1].source.endswith("last = 1")


def test_a_module_of_megabytes_is_cut_at_the_left_margin() -> None:
    text = "x = [" + "1, " * 2_000_000 + "]\ndef softmax(x):\n    return x\n"
    assert cut(text)[-1] == "def softmax(x):\n    return x\n"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["def f():", "    return 1", "@a", "x = (", ")", '"""', "# %%", "else:", "  y", "\\", "'", ""])
    )
)
def test_no_order_of_lines_is_a_reason_to_fail(lines: list[str]) -> None:
    pieces, _ = module_file.pieces("\n".join(lines))
    for piece in pieces:
        assert piece.source.strip()
