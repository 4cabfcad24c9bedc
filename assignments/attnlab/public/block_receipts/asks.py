"""How the public checks of ``block_receipts`` ask for a number that is in print or can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnlab import chapter
from attnlab.public.answers import Array, array, number, size
from attnlab.public.declare import Lab, Mistake

#: Wrong numbers that are worth a sentence.
Known = Mapping[Any, str]


def exactly(lab: Lab, name: str, *args: Any, wanted: float, known: Known | None = None, **named: Any) -> None:
    """A Mistake unless ``name(*args)`` is this whole number; one of ``known`` comes with its sentence."""
    said = f"{name}({', '.join([*map(_short, args), *(f'{key}={value!r}' for key, value in named.items())])})"
    found = number(getattr(lab, name)(*args, **named), said)
    if found != wanted:
        guess = (known or {}).get(found, "")
        raise Mistake(f"{said} is {_plain(found)}; it should be {_plain(wanted)}.", guess)


def nearly(value: object, name: str, wanted: float, within: float, known: Known | None = None) -> None:
    """A Mistake unless a number is as near to what is in print as its last digit allows."""
    found = number(value, name)
    if not abs(found - wanted) <= within:
        near = [guess for wrong, guess in (known or {}).items() if math.isclose(found, wrong, rel_tol=1e-3)]
        raise Mistake(f"{name} is {found:.6g}; it should be {wanted:g}.", near[0] if near else "")


def printed(value: object, table: str, name: str, looks_like: str = "") -> None:
    """A Mistake unless an array agrees with a table of the chapter, to the four digits in print."""
    truth = chapter.PRINTED[table]
    found = array(value, name, truth.shape)
    gap = np.abs(found - truth)
    if not gap.max() <= chapter.PRINTED_TOLERANCE:
        row, column = (int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
        raise Mistake(
            f"{name} is {found[row, column]:.4f} in row {row}, column {column}; the chapter prints "
            f"{truth[row, column]:.4f}.",
            looks_like,
        )


def close(found: object, wanted: Any, name: str, within: float = 1e-9, looks_like: str = "") -> Array:
    """``found`` as an array; a Mistake where it is further than ``within`` from a few numbers worked out by hand."""
    truth = np.asarray(wanted, dtype=np.float64)
    values = array(found, name, truth.shape)
    gap = float(np.abs(values - truth).max(initial=0.0))
    if not gap <= within:
        raise Mistake(f"{name}: the largest difference is {size(gap)}.", looks_like)
    return values


def _short(value: object) -> str:
    return "config" if isinstance(value, Mapping) else repr(value)


def _plain(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e16 else f"{value:,.6g}"
