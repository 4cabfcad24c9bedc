"""Whatever a notebook went through, the cells that can be read are read, and a sentence says what cannot."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from autograder.notebook_file import MAX_CELLS, MAX_SOURCE_BYTES, read_file

Notebook = Callable[..., bytes]
NAME = "attention_lab.ipynb"


def sources(data: bytes) -> list[str]:
    return [cell.source for cell in read_file(data, "attention_lab", NAME).cells]


def said(data: bytes) -> str:
    return " ".join(read_file(data, "attention_lab", NAME).problems)


def loaded(data: bytes) -> Any:
    return json.loads(data)


def test_an_ordinary_notebook_has_nothing_to_say(notebook: Notebook) -> None:
    assert sources(notebook("a = 1", "b = 2")) == ["a = 1", "b = 2"]
    assert said(notebook("a = 1")) == ""


def test_cells_are_counted_among_all_cells_as_jupyter_shows_them(notebook: Notebook) -> None:
    content = loaded(notebook("a = 1", "b = 2"))
    content["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["# A\n", "text"]})
    read = read_file(json.dumps(content).encode(), "attention_lab", NAME)
    assert [(cell.index, cell.label) for cell in read.cells] == [(1, "cell 1"), (3, "cell 3")]
    assert read.markdown == ["# A\ntext"]


def test_written_answers_are_found_by_their_grade_id_also_in_code_cells(notebook: Notebook) -> None:
    content = loaded(notebook("note = 'memory ran out'"))
    content["cells"][0]["metadata"] = {"nbgrader": {"grade_id": "step6-note", "points": 4}}
    content["cells"].append(
        {
            "cell_type": "markdown",
            "metadata": {"nbgrader": {"grade_id": "why"}},
            "source": "Because içti is last.",
        }
    )
    read = read_file(json.dumps(content).encode(), "attention_lab", NAME)
    assert read.written == {"step6-note": "note = 'memory ran out'", "why": "Because içti is last."}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: b"\xef\xbb\xbf" + text, id="byte order mark"),
        pytest.param(lambda text: b"\r\n\r\n" + text.replace(b", ", b",\r\n"), id="CRLF"),
        pytest.param(lambda text: text[:-1] + b', "a": NaN, "b": -Infinity, "c": 1e999999}', id="NaN"),
        pytest.param(lambda text: text[:-1] + b', "a": ' + b"9" * 1_000_000 + b"}", id="a million digits"),
        pytest.param(
            lambda text: b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b", " + text[1:],
            id="nested 100,000 deep",
        ),
        pytest.param(lambda text: b'{"cells": [], ' + text[1:], id="a key twice"),
        pytest.param(lambda text: text.replace(b'"nbformat_minor": 5', b'"nbformat_minor": "x"'), id="odd version"),
    ],
)
def test_what_json_readers_differ_on_costs_nothing(notebook: Notebook, change: Callable[[bytes], bytes]) -> None:
    assert sources(change(notebook("a = 'içti'", "b = 2"))) == ["a = 'içti'", "b = 2"]


def test_ids_do_not_matter_whether_missing_doubled_or_of_another_type(notebook: Notebook) -> None:
    content = loaded(notebook("a = 1", "b = 2", "c = 3", "d = 4"))
    for cell, odd in zip(content["cells"], [7, "x" * 10_000, "same", "same"], strict=True):
        cell["id"] = odd
    assert len(sources(json.dumps(content).encode())) == 4


def test_format_3_kept_its_cells_in_worksheets() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Title"},
        {
            "cell_type": "code",
            "language": "python",
            "input": ["a = 1\n", "b = 2"],
            "outputs": [],
            "prompt_number": 1,
        },
    ]
    old = {
        "metadata": {"name": "lab"},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": cells}] * 2,
    }
    assert sources(json.dumps(old).encode()) == ["a = 1\nb = 2"] * 2


def test_a_hundred_megabytes_of_output_are_stepped_over(notebook: Notebook) -> None:
    content = loaded(notebook("a = 1", "b = 2"))
    content["cells"][0]["outputs"] = [{"output_type": "stream", "text": ["y" * 99 + "\n"] * 200_000}]
    data = json.dumps(content).encode()
    tracemalloc.start()
    try:
        assert sources(data) == ["a = 1", "b = 2"]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < len(data) / 20, "the outputs were built, not stepped over"


def test_a_cell_of_ten_megabytes_is_read_whole(notebook: Notebook) -> None:
    assert len(sources(notebook("data = '" + "x" * 10_000_000 + "'"))[0]) > 10_000_000


def test_more_text_than_the_limit_is_left_out_and_said(notebook: Notebook) -> None:
    data = notebook("a = 1", "b = '" + "x" * MAX_SOURCE_BYTES + "'", "c = 3")
    assert sources(data) == ["a = 1"]
    assert "cell 2 and what follows was left out" in said(data)


def test_millions_of_empty_cells_are_not_built() -> None:
    data = b'{"cells": [' + b"{}," * 100_000 + b'{"source": "late = 1"}]}'
    tracemalloc.start()
    try:
        read = read_file(data, "attention_lab", NAME)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read.cells == []
    assert f"more than {MAX_CELLS:,} cells" in read.problems[0]
    assert peak < 1 << 20


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_read_and_said(notebook: Notebook, encoding: str) -> None:
    data = notebook("# café sütü\na = 1").decode()
    data = json.dumps(json.loads(data), ensure_ascii=False)
    assert sources(data.encode(encoding)) == ["# café sütü\na = 1"]
    assert "is not UTF-8" in said(data.encode(encoding))


def test_half_an_upload_gives_the_cells_that_came_through(notebook: Notebook) -> None:
    data = notebook("a = 1", "b = 2", "c = 3")
    cut = data[: data.index(b"c = 3") + 3]
    assert sources(cut) == ["a = 1", "b = 2"]
    assert "breaks off before its end. 2 code cells were read" in said(cut)


def test_a_cell_that_was_cut_in_its_middle_is_not_run_by_half(notebook: Notebook) -> None:
    content = loaded(notebook("a = 1"))
    content["cells"].append({"cell_type": "code", "source": ["def softmax(x):\n", "    return x\n", "    # end"]})
    data = json.dumps(content).encode()
    for cut in (b"    return", b"    # end", b'# end"'):
        assert sources(data[: data.index(cut) + len(cut)]) == ["a = 1"]


def test_no_prefix_of_a_notebook_is_a_reason_to_fail(notebook: Notebook) -> None:
    data = notebook("a = '{[\\\\\"'", "b = 2")
    for end in range(len(data)):
        read = read_file(data[:end], "attention_lab", NAME)
        assert read.problems
        assert [cell.source for cell in read.cells] in ([], ["a = '{[\\\\\"'"], ["a = '{[\\\\\"'", "b = 2"])


def test_marks_that_a_merge_left_do_not_take_the_other_cells(notebook: Notebook) -> None:
    content = json.dumps(loaded(notebook("a = 1", "b = 2", "c = 3")), indent=1).encode()
    broken = content.replace(b'"b = 2"', b'[\n<<<<<<< HEAD\n"b = 2\\n",\n=======\n"b = 4\\n"\n>>>>>>> theirs\n]')
    assert [source for source in sources(broken) if "b" not in source] == ["a = 1", "c = 3"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty (0 bytes)"),
        (b"\n \x00 ", "is empty"),
        (b"[1, 2]", "does not begin as a JSON object"),
        (b'{"a": 1}', "JSON without cells"),
        (b'{"cells": []}', "holds no code cell"),
        (b'{"cells": "x", "worksheets": 7}', "holds no code cell"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"{\\rtf1\\ansi my answer}", "the text of a word processor"),
        (b"PK\x03\x04 and so on", "a zip archive under another name"),
        (b"import numpy as np\n", "give it the suffix .py"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence_that_says_what_it_is(data: bytes, words: str) -> None:
    assert sources(data) == []
    assert words in said(data)
    assert NAME in said(data)


def test_cells_of_another_kernel_stay_cells_and_the_message_says_so(notebook: Notebook) -> None:
    data = notebook(
        "x <- c(1, 2)", "def softmax(x): return x", metadata={"kernelspec": {"name": "ir", "language": "R"}}
    )
    assert len(sources(data)) == 2
    assert "kernel of another language (R)" in said(data)


def test_half_a_character_becomes_the_replacement_character() -> None:
    # The lone surrogate would make every later write of this text raise UnicodeEncodeError.
    assert sources(b'{"cells": [{"cell_type": "code", "source": "a = \'\\ud800\'"}]}') == ["a = '�'"]


def test_what_is_no_text_in_a_source_is_passed_over() -> None:
    cells = b'[{"source": 7}, {"source": ["a = 1\\n", null, 5, ["x"], "b = 2"]}, {"source": {"x": 1}}, 3, "s"]'
    assert sources(b'{"cells": ' + cells + b"}") == ["a = 1\nb = 2"]


def test_a_cell_whose_grade_id_was_dropped_is_still_known_by_its_own_id() -> None:
    marked = {"cell_type": "markdown", "id": "x1", "metadata": {"nbgrader": {"grade_id": "why"}}, "source": "Because."}
    bare = {"cell_type": "markdown", "id": "step6-note", "metadata": {}, "source": "The note."}
    empty = {"cell_type": "code", "id": "gone", "metadata": {}, "source": "  "}
    read = read_file(json.dumps({"cells": [marked, bare, empty]}).encode(), "lab", "lab.ipynb")
    assert [(one.kind, one.source, one.label) for one in read.shown] == [
        ("markdown", "Because.", "why"),
        ("markdown", "The note.", "step6-note"),
    ]
    assert read.written == {"why": "Because."}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[", b"]"),
        (b'{"name": "attention_lab.ipynb", "type": "notebook", "content": ', b"}"),
        (b"// saved by hand\n", b""),
        (b"From: somebody\nSubject: my notebook\n\n", b"\n-- \nsomebody"),
        (b")]}'\n", b""),
        (b"<html><body><pre>", b"</pre></body></html>"),
    ],
    ids=["list", "record of Jupyter's server", "comment", "mail", "guard of a web server", "web page"],
)
def test_a_notebook_within_something_else_is_read_and_that_is_said(
    notebook: Notebook, before: bytes, after: bytes
) -> None:
    whole = read_file(notebook(), "attention_lab", "attention_lab.ipynb")
    found = read_file(before + notebook() + after, "attention_lab", "attention_lab.ipynb")
    assert found.cells == whole.cells
    [said] = found.problems
    assert "is no notebook itself, but has one in it: 3 code cells were read" in said


def test_a_module_that_asks_where_it_lies_is_told() -> None:
    found = read_file(b"import os\nHERE = os.path.dirname(__file__)\n", "attention_lab", "week7/attention_lab.py")
    assert found.cells[0].source == "__file__ = 'attention_lab.py'"
    assert [cell.label for cell in found.cells][1:] == ["line 1", "line 2"]
    assert found.problems == []
