"""A platform's CSV file, read so that it can be written again as it was: encoding, delimiter, line ends, every cell."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path

from autograder.formats import FormatError
from autograder.names import display_name

#: A list of students larger than this is none.
MAX_SHEET_BYTES = 64 << 20
#: Characters of one cell; Moodle's worksheet has whole online texts in its cells.
MAX_CELL = 8 << 20
DELIMITERS = ",;\t"


@dataclass
class Sheet:
    """The cells of a CSV file; rows may differ in length. ``encoding`` is one that carries every byte of it."""

    name: str
    rows: list[list[str]]
    encoding: str = "utf-8"
    mark: bytes = b""
    delimiter: str = ","
    newline: str = "\r\n"
    ends_with_newline: bool = True

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def cell(self, row: int, column: int | None) -> str:
        """A cell; '' where the row ends before it, or for no column."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.rows[row][column]

    def put(self, row: int, column: int, text: str) -> None:
        """Write a cell, also beyond the end of its row."""
        cells = self.rows[row]
        cells += [""] * (column + 1 - len(cells))
        cells[column] = text

    def column(self, *names: str) -> int | None:
        """The first column that has one of these names, whatever their case; the names in order of preference."""
        heads = [head.strip().casefold() for head in self.header]
        return next((heads.index(name.casefold()) for name in names if name.casefold() in heads), None)

    def content(self) -> bytes:
        """The file. What its encoding lacks (in a comment of ours, say) is written as ``\\u…``."""
        whole = self.newline.join(self._line(row) for row in self.rows)
        whole += self.newline if self.ends_with_newline else ""
        return self.mark + whole.encode(self.encoding, "backslashreplace")

    def _line(self, row: list[str]) -> str:
        text = io.StringIO(newline="")
        # With this end of line either of its characters puts a cell in quotes; with a lone "\n" a "\r" would not.
        csv.writer(text, delimiter=self.delimiter, lineterminator="\r\n").writerow(row)
        return text.getvalue().removesuffix("\r\n")


def read(path: Path) -> Sheet:
    """A CSV file; `FormatError` where there is none that can be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SHEET_BYTES + 1)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > MAX_SHEET_BYTES:
        raise FormatError(f"{path} has more than {MAX_SHEET_BYTES >> 20} MiB; that is no list of students.")
    if data.startswith(b"PK\x03\x04"):
        raise FormatError(f"{path} is a spreadsheet file or an archive. Save the list as CSV (UTF-8), unchanged.")
    mark, encoding = _encoding(data)
    text = data[len(mark) :].decode(encoding)
    line = text.partition("\n")[0]
    before = csv.field_size_limit(MAX_CELL)
    try:
        delimiter = max(DELIMITERS, key=lambda one: len(next(csv.reader([line], delimiter=one), [])))
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise FormatError(f"{path} is no CSV file: {error}.") from None
    finally:
        csv.field_size_limit(before)
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise FormatError(f"{path} is empty: its first line should name the columns.")
    newline = "\r\n" if line.endswith("\r") else "\n"
    return Sheet(path.name, rows, encoding, mark, delimiter, newline, text.endswith("\n"))


def need(sheet: Sheet, what: str, *names: str) -> int:
    """A column that must be there; `FormatError` names those that are."""
    found = sheet.column(*names)
    if found is None:
        there = ", ".join(display_name(head) for head in sheet.header if head.strip())
        raise FormatError(f"{sheet.name} has no column {names[0]}, so it is not {what}. Its columns: {there}.")
    return found


def _encoding(data: bytes) -> tuple[bytes, str]:
    """The mark at the beginning, and an encoding that gives every byte back.

    Where it is not Unicode it is some code page of Windows: read as Latin-1, which keeps the bytes, though not
    always the letters that were meant.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            try:
                data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                break
            return mark, encoding
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"", "latin-1"
    return b"", "utf-8"
