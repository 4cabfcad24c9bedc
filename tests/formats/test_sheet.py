"""A platform's CSV file comes back as it was, whatever is in its cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.formats import FormatError
from autograder.formats.roster import name_keys
from autograder.formats.sheet import MAX_CELL, read

#: Everything that UTF-8 can carry, quotes, delimiters, line ends and formulas among it.
CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["=1+1", '"', ",", ";", "\r\n", "\r", "\n", "\u202eabc", "a\tb", "'x", 'Ömer, "Ç"', "بن سالم", "-", "00123"]
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    newline=st.sampled_from(["\r\n", "\n"]),
    ends=st.booleans(),
)
def test_every_cell_and_byte_comes_back(
    tmp_path: Path, rows: list[list[str]], delimiter: str, encoding: str, newline: str, ends: bool
) -> None:
    lines = []
    for row in [["ID", "Name", "Grade"], *rows]:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerow(row)
        lines.append(text.getvalue().removesuffix("\r\n"))
    whole = newline.join(lines) + (newline if ends or not rows else "")
    path = tmp_path / "list.csv"
    path.write_bytes(whole.encode(encoding))
    sheet = read(path)
    assert sheet.rows == [["ID", "Name", "Grade"], *rows]
    assert sheet.content() == path.read_bytes()


@pytest.mark.parametrize("data", [b"", b"\n\n", b"PK\x03\x04rest", b",,\n1,2,3\n", b"a,b\rc,d\r"])
def test_what_is_no_list_is_refused_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="list"):
        read(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read(tmp_path)


def test_a_first_line_as_long_as_a_cell_may_be_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(f"ID;{'x' * 200_000};Grade\n1;2;3\n", encoding="utf-8")
    assert read(path).rows[1] == ["1", "2", "3"]
    path.write_text("x" * (MAX_CELL + 1), encoding="utf-8")
    with pytest.raises(FormatError, match="no CSV file"):
        read(path)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("Smith, John", {"smithjohn", "johnsmith"}),
        ("smithjohn", {"smithjohn"}),
        ("O'Brien-Ç., Ö.", {"obriençö", "öobrienç"}),
        ("n\u0303", {"ñ"}),
        ("...", set()),
    ],
)
def test_a_name_is_known_without_its_spaces_and_signs(name: str, keys: set[str]) -> None:
    assert name_keys(name) == keys
