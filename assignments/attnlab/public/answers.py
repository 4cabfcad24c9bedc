"""Reading what a student's function gave back: as an array, a pair, a number, or a sentence why not."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from attnlab.picture import WRONG, marked
from attnlab.public.declare import Mistake
from attnlab.words import clean, kind, names

Array = npt.NDArray[np.float64]

NO_RETURN = "The function ends without `return`."


def array(value: object, name: str, shape: tuple[int, ...] | None = None, *, finite: bool = True) -> Array:
    """``value`` as float64 of ``shape``; a Mistake where it is no array, another shape, or not finite."""
    if value is None:
        raise Mistake(f"{name} is None.", NO_RETURN)
    try:
        found = _as_numpy(value)
        if found.dtype.kind not in "biuf":
            raise TypeError
        numbers = found.astype(np.float64)
    except Exception:
        raise Mistake(f"{name} is {kind(value)}, and not an array of real numbers.") from None
    if shape is not None and numbers.shape != shape:
        raise Mistake(f"The shape of {name} is {numbers.shape}; it should be {shape}.")
    if finite and not np.isfinite(numbers).all():
        raise Mistake(f"There are NaN or infinite entries in {name}.")
    return numbers


def _as_numpy(value: object) -> npt.NDArray[Any]:
    """``value`` as NumPy reads it; numbers that it has no dtype for, such as fractions, become floats."""
    found = np.asarray(value)
    if found.dtype != object or hasattr(type(value), "__array__"):
        return found
    if any(isinstance(part, str) for part in found.flat):
        raise TypeError
    return np.array([float(part) for part in found.flat]).reshape(found.shape)


def booleans(value: object, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """``value`` as a boolean array of ``shape``."""
    if value is None:
        raise Mistake(f"{name} is None.", NO_RETURN)
    try:
        found = np.asarray(value)
    except Exception:
        raise Mistake(f"{name} is {kind(value)}, and not an array.") from None
    if found.dtype != np.bool_:
        raise Mistake(
            f"{name} has the dtype {found.dtype}, not bool.",
            "1 and 0 look alike, but `~mask` and indexing do something else with them.",
        )
    if found.shape != shape:
        raise Mistake(f"The shape of {name} is {found.shape}; it should be {shape}.")
    return found


def verdict(value: object, name: str) -> bool:
    """``value`` as True or False; an array or a tensor of one is one, a list is not."""
    try:
        found = np.asarray(value)
        single = isinstance(value, bool) or hasattr(type(value), "__array__")
        if found.dtype != np.bool_ or found.size != 1 or not single:
            raise TypeError
        return bool(found.reshape(-1)[0])
    except Exception:
        raise Mistake(f"{name} gave back {kind(value)}, and not True or False.") from None


def pair(value: object, name: str, first: str, second: str) -> tuple[Any, Any]:
    """The two results of a function that gives back ``(first, second)``."""
    if value is None:
        raise Mistake(f"{name} gave back None.", NO_RETURN)
    try:
        items = list(value)  # type: ignore[call-overload]
    except Exception:
        items = []
    if len(items) != 2 or isinstance(value, (str, Mapping)):
        raise Mistake(f"{name} gave back {kind(value)}; it should be the pair ({first}, {second}).")
    return items[0], items[1]


def number(value: object, name: str) -> float:
    """``value`` as a float; NaN and infinity are numbers here."""
    if value is None:
        raise Mistake(f"{name} is None.", NO_RETURN)
    try:
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)  # as an array, an int of more than 64 bits would be no number
        found = _as_numpy(value)
        if found.dtype.kind not in "iuf" or found.size != 1:
            raise TypeError
        return float(found.reshape(-1)[0])
    except Exception:
        raise Mistake(f"{name} is {kind(value)}, and not a number.") from None


def whole(value: object, name: str) -> int:
    """``value`` as an int: anything that can be an index."""
    if value is None:
        raise Mistake(f"{name} is None.", NO_RETURN)
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:
        raise Mistake(
            f"{name} is {kind(value)}, and not a whole number.",
            "`/` makes a float even where it divides evenly; `//` and `**` keep whole numbers whole.",
        ) from None


def mapping(value: object, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """The entries ``keys`` of a dict-like result."""
    if value is None:
        raise Mistake(f"{name} gave back None.", NO_RETURN)
    found, missing = {}, []
    for key in keys:
        try:
            found[key] = value[key]  # type: ignore[index]
        except (KeyError, LookupError):
            missing.append(f"`{key}`")
        except Exception:
            raise Mistake(
                f"{name} gave back {kind(value)}; it should be a dict with {names(keys)}."
            ) from None
    if missing:
        raise Mistake(
            f"The result of {name} has no {names(missing)}.", "A key is missing or spelled differently."
        )
    return found


def agree(actual: Array, expected: Array, tolerance: float, name: str, looks_like: str = "") -> None:
    """A Mistake where ``actual`` is further than ``tolerance`` from ``expected`` (equal shapes)."""
    gap = np.abs(actual - expected)
    if gap.size and not gap.max() <= tolerance:
        worst = np.unravel_index(int(np.argmax(np.where(np.isnan(gap), np.inf, gap))), gap.shape)
        place = f", at index {tuple(int(i) for i in worst)}" if gap.ndim else ""
        theirs = f"{name[:1].upper()}{name[1:]}, as it came back; {WRONG} is off"
        picture = marked(actual, ~(gap <= tolerance), theirs) if gap.ndim == 2 else None
        raise Mistake(f"{name}: the largest difference is {size(float(gap[worst]))}{place}.", looks_like, picture)


def size(gap: float) -> str:
    """A difference in two digits: enough to see whether it is rounding or a mistake."""
    if not math.isfinite(gap):
        return "a NaN or an infinity"
    return f"{gap:.2g}"


def same(left: object, right: object) -> bool:
    """Whether two results have the same values (a guess for a hint, so 1e-6 is close enough)."""
    try:
        one, other = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    except Exception:
        return False
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-9))


@contextmanager
def untouched(function: str, **given: npt.NDArray[Any]) -> Iterator[None]:
    """A Mistake where the arrays, by their names in the task, have other values after the block."""
    before = {name: value.copy() for name, value in given.items()}
    yield
    changed = [f"`{clean(name)}`" for name, value in given.items() if not np.array_equal(before[name], value)]
    if changed:
        raise Mistake(
            f"After the call of `{function}`, {names(changed)} had other values than before.",
            "Something works in place (`-=`, `/=`, `*=`, `out=`, `sort()`); make a new array instead.",
        )
