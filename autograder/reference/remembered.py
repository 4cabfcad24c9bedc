"""A truth that is asked for the same numbers again: every submission of a course meets the same inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

Truth = TypeVar("Truth", bound=Callable[..., Any])

#: Answers of one function that are kept, and the bytes of arrays from which on none is: 64 MiB at the very most.
ANSWERS, TOO_LARGE = 1024, 2**16


def remembered(truth: Truth) -> Truth:
    """The same function, which computes an answer once; of lists and of large arrays, and with named arguments, each
    time. Arrays that it gives are read-only, as they are given again."""

    @functools.lru_cache(maxsize=ANSWERS)
    def by_content(*frozen: Hashable) -> Any:
        return _read_only(truth(*map(_thawed, frozen)))

    @functools.wraps(truth)
    def either(*args: Any, **named: Any) -> Any:
        plain = not named and all(arg is None or isinstance(arg, (np.ndarray, int)) for arg in args)
        if plain and sum(arg.nbytes for arg in args if isinstance(arg, np.ndarray)) <= TOO_LARGE:
            return by_content(*map(_frozen, args))
        return _read_only(truth(*args, **named))

    return either  # type: ignore[return-value]


def _frozen(arg: Any) -> Hashable:
    return (arg.dtype.str, arg.shape, arg.tobytes()) if isinstance(arg, np.ndarray) else arg


def _thawed(frozen: Any) -> Any:
    return np.frombuffer(frozen[2], frozen[0]).reshape(frozen[1]) if isinstance(frozen, tuple) else frozen


def _read_only(answer: Any) -> Any:
    for part in answer if isinstance(answer, tuple) else (answer,):
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return answer
