"""A small picture of an answer: the student's own numbers, shaded, with what breaks a property marked.

A table and no drawing, so that a screen reader, a text terminal and a page without colours say the same. It shows
what came back and never what should have: the property is in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from attnlab.look import prose

#: Rows or columns of a picture at most; more would be no picture.
MOST = 8
#: A row of shares may miss 1 by this much.
SUM_TOLERANCE = 1e-5
SHADES = 6
WRONG = "✗"


@dataclass(frozen=True)
class Picture:
    """``cells`` are numbers as text; ``shades`` go from 0 to ``SHADES`` - 1; ``wrong`` are places (row, column).

    ``rows`` and ``columns`` say what a row and a column is. ``sums``: what each row sums to, and ``off``: the rows
    whose sum is not 1; both are empty where sums say nothing.
    """

    title: str
    rows: str
    columns: str
    cells: tuple[tuple[str, ...], ...]
    shades: tuple[tuple[int, ...], ...]
    wrong: tuple[tuple[int, int], ...] = ()
    sums: tuple[str, ...] = ()
    off: tuple[int, ...] = ()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Picture:
        nested = {key: tuple(tuple(row) for row in data[key]) for key in ("cells", "shades", "wrong")}
        flat = {key: tuple(data[key]) for key in ("sums", "off")}
        return cls(**{**data, **nested, **flat})


def shares(weights: npt.NDArray[Any], title: str, *, rows: str = "query", columns: str = "key") -> Picture | None:
    """Weights ``(n_q, n_k)`` beside the sums of their rows, each of which must be 1; negative ones are marked."""
    sums = [float(row.sum()) for row in weights] if weights.ndim == 2 else []
    off = tuple(i for i, total in enumerate(sums) if not abs(total - 1) <= SUM_TOLERANCE)
    return _picture(title, rows, columns, weights, weights < 0, tuple(map(_number, sums)), off)


def marked(values: npt.NDArray[Any], wrong: npt.NDArray[np.bool_], title: str, *names: str) -> Picture | None:
    """A matrix with the places marked at which ``wrong`` is True. ``names``: what a row and a column is."""
    rows, columns = names or ("row", "column")
    return _picture(title, rows, columns, values, wrong)


def _picture(
    title: str,
    rows: str,
    columns: str,
    values: npt.NDArray[Any],
    wrong: npt.NDArray[np.bool_],
    sums: tuple[str, ...] = (),
    off: tuple[int, ...] = (),
) -> Picture | None:
    """None where the values are no matrix, or a large one."""
    if values.ndim != 2 or not values.size or max(values.shape) > MOST:
        return None
    sizes = np.abs(np.where(np.isfinite(values), values, 0.0))
    top = float(sizes.max()) or 1.0
    shades = tuple(tuple(min(int(SHADES * size / top), SHADES - 1) for size in row) for row in sizes.tolist())
    cells = tuple(tuple(map(_number, row)) for row in values.tolist())
    places = tuple((int(i), int(j)) for i, j in np.argwhere(wrong))
    return Picture(title, rows, columns, cells, shades, places, sums, off)


def _number(value: float) -> str:
    """Two decimals; a small number that is not zero never looks like one."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if round(value, 2) == 1 and abs(value - 1) > SUM_TOLERANCE:
        text = f"{value:.6g}"  # only just not 1, which must not be rounded away
    else:
        text = f"{value:.2f}" if 0.005 <= abs(value) < 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def as_text(picture: Picture) -> list[str]:
    """The picture for a terminal, one line for each row."""
    heads = ["", *(f"{picture.columns} {j}" for j in range(len(picture.cells[0])))]
    table = [[*heads, *(["sum"] if picture.sums else [])]]
    for i, row in enumerate(picture.cells):
        cells = [f"{WRONG} {cell}" if (i, j) in picture.wrong else cell for j, cell in enumerate(row)]
        sums = [_sum(picture, i)] if picture.sums else []
        table.append([f"{picture.rows} {i}", *cells, *sums])
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    padded = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    return [picture.title, *padded]


def as_html(picture: Picture) -> str:
    """The picture as a part of a panel, with the style of ``attnlab.look``."""
    heads = "".join(f'<th scope="col">{head}</th>' for head in _heads(picture))
    body = []
    for i, row in enumerate(picture.cells):
        cells = "".join(_cell(picture, i, j, cell) for j, cell in enumerate(row))
        mark = ' class="bad"' if i in picture.off else ""
        sums = f"<td{mark}>{_sum(picture, i)}</td>" if picture.sums else ""
        body.append(f'<tr><th scope="row">{escape(picture.rows)} {i}</th>{cells}{sums}</tr>')
    table = f"<table><thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    # A narrow window scrolls the table alone, and by keyboard too.
    inside = f'<div class="wide" tabindex="0" role="group" aria-label="{escape(picture.title)}">{table}</div>'
    return f"<figure><figcaption>{prose(picture.title)}</figcaption>{inside}</figure>"


def _heads(picture: Picture) -> Iterable[str]:
    yield from (f"{escape(picture.columns)} {j}" for j in range(len(picture.cells[0])))
    if picture.sums:
        yield "sum"


def _cell(picture: Picture, i: int, j: int, cell: str) -> str:
    wrong = (i, j) in picture.wrong
    kind = f"s{picture.shades[i][j]}{' bad' if wrong else ''}"
    return f'<td class="{kind}">{f"{WRONG} " if wrong else ""}{escape(cell)}</td>'


def _sum(picture: Picture, i: int) -> str:
    return f"{WRONG} {picture.sums[i]}" if i in picture.off else picture.sums[i]
