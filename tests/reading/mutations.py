"""Notebooks that something went wrong with: one of the lab, changed at random and repeatably.

Bytes, encodings, JSON, structure, metadata and sizes, each kind as often as any other.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from typing import Any

from tests.samples import build

#: Values that do not belong where they are put.
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1e308, "", "\x00", "\ud800", "x" * 5000, [], [[]], [None], {}, {"": {}}, ["a", 1, None],
    "İçti \u202e", "%%bash\nrm -rf /", "raise SystemExit", "import os; os._exit(3)",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1254", "utf-7")


def mutated(number: int) -> bytes:
    """The notebook of this number: the same bytes every time."""
    rng = random.Random(f"notebook {number}")
    kinds: tuple[Callable[[Any, random.Random], bytes], ...] = (
        _bytes, _encoding, _json_text, _anywhere, _cells, _metadata, _sizes, _many,
    )  # fmt: skip
    book = copy.deepcopy(_book())
    for _ in range(rng.randrange(3)):
        # No two are alike, also where a kind has few ways to go wrong.
        book["cells"].pop(rng.randrange(len(book["cells"])))
    return kinds[number % len(kinds)](book, rng)


def _book(kept: list[Any] = []) -> Any:  # noqa: B006 (made once)
    if not kept:
        kept.append(json.loads(json.dumps(build.notebook("solution"))))
    return kept[0]


def _dump(book: Any) -> bytes:
    return json.dumps(book).encode("utf-8", "surrogatepass")


def _bytes(book: Any, rng: random.Random) -> bytes:
    data = bytearray(_dump(book))
    for _ in range(rng.choice((1, 1, 3, 30))):
        at = rng.randrange(len(data) or 1)
        what = rng.randrange(6)
        if what == 0:
            del data[at:]
        elif what == 1:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif what == 2:
            data[at:at] = rng.randbytes(rng.choice((1, 7, 300)))
        elif what == 3:
            del data[at : at + rng.choice((1, 50, 4000))]
        elif what == 4:
            data[at:at] = data[max(0, at - 500) : at]
        else:
            data[at:at] = b"\x00" * rng.choice((1, 64))
        data = data or bytearray(b"{")
    return bytes(data)


def _encoding(book: Any, rng: random.Random) -> bytes:
    text = json.dumps(book, ensure_ascii=rng.random() < 0.3)
    what = rng.randrange(10)
    if what < len(ENCODINGS):
        return text.encode(ENCODINGS[what], "replace")
    packed = gzip.compress(text.encode("utf-8"), mtime=0)
    return (packed, text.encode("utf-8").replace(b"\n", b"\r\n"), b"\xef\xbb\xbf\xef\xbb\xbf" + text.encode())[what - 7]


def _json_text(book: Any, rng: random.Random) -> bytes:
    text = json.dumps(book, indent=rng.choice((None, 1, 3)))
    what = rng.randrange(9)
    if what == 0:
        text = text.replace('"cells"', '"cells": [], "cells"', 1)
    elif what == 1:
        text = text.replace("]", "],", rng.randrange(1, 4))
    elif what == 2:
        text = text.replace('"', "'")
    elif what == 3:
        text = "[" * rng.choice((10, 5_000, 100_000)) + text
    elif what == 4:
        text = '{"a":' * rng.choice((10, 5_000, 100_000)) + text
    elif what == 5:
        text = text.replace("null", rng.choice(("NaN", "Infinity", "-0", "1e999", "undefined")))
    elif what == 6:
        text += rng.choice((text, "}", "<<<<<<< HEAD\n", "// end"))
    elif what == 7:
        text = "<<<<<<< HEAD\n" + text + "=======\n" + text + ">>>>>>> other\n"
    else:
        text = json.dumps(rng.choice(STRANGE))
    return text.encode("utf-8", "surrogatepass")


def _anywhere(book: Any, rng: random.Random) -> bytes:
    """Values replaced, removed or renamed at random places of the tree."""
    for _ in range(rng.choice((1, 2, 10))):
        place: Any = book
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            inner = place[key]
            if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
                what = rng.randrange(4)
                if what == 0:
                    del place[key]
                elif what == 1 and isinstance(place, dict):
                    place[str(rng.choice(STRANGE))[:50]] = place.pop(key)
                elif what == 2 and isinstance(place, list):
                    place.insert(rng.randrange(len(place) + 1), copy.deepcopy(inner))
                else:
                    place[key] = copy.deepcopy(rng.choice(STRANGE))
                break
            place = inner
    return _dump(book)


def _cells(book: Any, rng: random.Random) -> bytes:
    cells = book["cells"]
    for _ in range(rng.choice((1, 4, 20))):
        cell = rng.choice(cells) if cells else {}
        what = rng.randrange(10)
        if what == 0 and cells:
            cells.remove(cell)
        elif what == 1:
            cells.insert(rng.randrange(len(cells) + 1), copy.deepcopy(cell))
        elif what == 2:
            rng.shuffle(cells)
        elif what == 3:
            cell["id"] = rng.choice(("", "same", 7, None, "x" * 100, "ü/.."))
        elif what == 4:
            cell["cell_type"] = rng.choice(("markdown", "raw", "heading", "code", "CODE", None, 3))
        elif what == 5:
            cell["source"] = rng.choice((str(cell.get("source", "")).splitlines(True), *STRANGE))
        elif what == 6:
            cell["source"] = f"{cell.get('source', '')}\n" + rng.choice(
                ("def (", "!ls", "%timeit 1", "\t x", "\x0c", "é\u2028")
            )
        elif what == 7:
            cell["metadata"] = rng.choice(STRANGE)
        elif what == 8:
            cells.insert(0, rng.choice(STRANGE))
            cells[:] = [c for c in cells if isinstance(c, dict)] if rng.random() < 0.5 else cells
            if any(not isinstance(c, dict) for c in cells):
                break
        else:
            cell["outputs"] = rng.choice(STRANGE)
    return _dump(book)


def _metadata(book: Any, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 3))):
        what = rng.randrange(6)
        if what == 0:
            book["nbformat"] = rng.choice((1, 2, 3, 5, 99, "4", None, 4.5))
        elif what == 1:
            book["nbformat_minor"] = rng.choice((-1, 99, "x", None))
        elif what == 2:
            book["metadata"] = rng.choice((*STRANGE, {"kernelspec": {"name": "ir", "language": "R"}}))
        elif what == 3:
            book["metadata"] = {"kernelspec": rng.choice(STRANGE), "language_info": rng.choice(STRANGE)}
        elif what == 4:
            book[rng.choice(("worksheets", "cells", "signature"))] = rng.choice(
                (*STRANGE, [{"cells": book.get("cells")}])
            )
        else:
            for cell in book["cells"] if isinstance(book.get("cells"), list) else []:
                if isinstance(cell, dict):
                    cell["metadata"] = {"nbgrader": rng.choice(STRANGE), "tags": rng.choice(STRANGE)}
    return _dump(book)


def _sizes(book: Any, rng: random.Random) -> bytes:
    what = rng.randrange(5)
    text = rng.choice(("x", "é", "\u0000", "\\", '"'))
    if what == 0:
        output = {"output_type": "stream", "name": "stdout", "text": text * rng.choice((10_000, 1_000_000))}
        rng.choice(book["cells"])["outputs"] = [output]
    elif what == 1:
        book["cells"] += [{"cell_type": "code", "source": "1", "metadata": {}, "outputs": []}] * rng.choice((500, 3000))
    elif what == 2:
        book["cells"].append({"cell_type": "code", "source": "x = '" + "y" * 1_000_000 + "'", "metadata": {}})
    elif what == 3:
        book["cells"].append({"cell_type": "code", "source": "(" * rng.choice((50, 5000)), "metadata": {}})
    else:
        book["metadata"]["widgets"] = {str(i): {"state": "z" * 100} for i in range(3000)}
    return _dump(book)


def _many(book: Any, rng: random.Random) -> bytes:
    """Two kinds at once."""
    try:
        book = json.loads(rng.choice((_cells, _metadata, _anywhere))(book, rng).decode("utf-8", "surrogatepass"))
        return (_anywhere if isinstance(book, dict) and book else _json_text)(book, rng)
    except (ValueError, TypeError, KeyError, AttributeError):
        return _bytes(_book(), rng)
