"""A truth that is asked for the same numbers again: every submission of a course meets the same inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

Truth = TypeVar("Truth", bound=Callable[..., Any])

#: Answers of one function that are kept; then it begins anew.
ANSWERS = 1024
#: Bytes of the arguments, and of an answer, above which it is not kept: a submission may choose what a function of the
#: oracle is asked, and 128 MiB for each is the most that this can cost.
TOO_LARGE = 2**16


def remembered(truth: Truth) -> Truth:
    """The same function, which computes an answer once; of lists and of large arrays, and with named arguments, each
    time. An array that is kept is read-only, as it is given again."""
    kept: dict[tuple[Hashable, ...], Any] = {}

    @functools.wraps(truth)
    def either(*args: Any, **named: Any) -> Any:
        if named or not all(arg is None or isinstance(arg, (np.ndarray, int)) for arg in args):
            return truth(*args, **named)
        if _size(args) > TOO_LARGE:
            return truth(*args)
        asked = tuple(map(_content, args))
        if asked not in kept:
            answer = truth(*args)
            if _size(answer) > TOO_LARGE:
                return answer
            if len(kept) >= ANSWERS:
                kept.clear()
            kept[asked] = _read_only(answer)
        return kept[asked]

    return either  # type: ignore[return-value]


def _content(arg: Any) -> Hashable:
    return (arg.dtype.str, arg.shape, arg.tobytes()) if isinstance(arg, np.ndarray) else arg


def _arrays(values: Any) -> list[np.ndarray[Any, Any]]:
    return [value for value in (values if isinstance(values, tuple) else (values,)) if isinstance(value, np.ndarray)]


def _size(values: Any) -> int:
    return sum(array.nbytes for array in _arrays(values))


def _read_only(answer: Any) -> Any:
    for array in _arrays(answer):
        array.flags.writeable = False
    return answer
