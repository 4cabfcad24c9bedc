"""Stepping over JSON finds what a parser finds that builds it, and survives what no parser takes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.json_spans import JsonText
from autograder.notebook_file import read_file

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)
cells = st.lists(
    st.fixed_dictionaries(
        {
            "cell_type": st.sampled_from(["code", "markdown", "raw"]),
            "source": st.text() | st.lists(st.text()),
        },
        optional={"metadata": values, "outputs": st.lists(values), "id": values},
    ),
    max_size=6,
)
notebooks = st.fixed_dictionaries({"cells": cells}, optional={"metadata": values, "nbformat": values, "x": values})


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), values), st.booleans(), st.sampled_from([None, 0, 1]))
def test_members_are_those_that_json_finds(content: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    data = json.dumps(content, ensure_ascii=ascii_only, indent=indent).encode()
    text = JsonText(data)
    found = text.members(text.value_at(0))
    assert {key: json.loads(data[at.start : at.end]) for key, at in found.items()} == content


@settings(max_examples=40, deadline=None)
@given(notebooks, st.sampled_from([None, 0, 1]))
def test_the_code_of_any_well_formed_notebook_is_read(content: dict[str, Any], indent: int | None) -> None:
    read = read_file(json.dumps(content, indent=indent).encode(), "lab", "lab.ipynb")
    written = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    expected = [text.replace("\r\n", "\n").replace("\r", "\n") for text in written]
    assert [cell.source for cell in read.cells] == [text for text in expected if text.strip()]


@settings(max_examples=80, deadline=None)
@given(notebooks, st.data())
def test_a_notebook_that_was_damaged_anywhere_still_gives_a_notebook(
    content: dict[str, Any], data: st.DataObject
) -> None:
    whole = bytearray(json.dumps(content).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole)))
        whole[at : at + data.draw(st.integers(0, 20))] = data.draw(
            st.binary(max_size=5) | st.sampled_from([b'"', b"{", b"]"])
        )
    read = read_file(bytes(whole), "lab", "lab.ipynb")
    for text in [
        *read.problems,
        *read.markdown,
        *read.written.values(),
        *(cell.source for cell in read.cells),
    ]:
        text.encode()  # valid Unicode, whatever came in


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["lab.ipynb", "lab.py"]))
def test_no_bytes_at_all_are_a_reason_to_fail(data: bytes, origin: str) -> None:
    read = read_file(data, "lab", origin)
    assert read.cells or read.problems
