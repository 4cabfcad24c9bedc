"""How the hidden checks read an answer and hold it against the truth: every tolerance is written here,
once.

What comes in is whatever a submission returned. Everything in this module takes any value at all and raises
nothing but ``CheckFailed``, with a sentence that says what came back and never what was expected in
numbers.

Notation: ``u`` is the unit roundoff of the inputs' dtype (2^-53 for float64, 2^-24 for float32), ``S`` the
largest absolute scaled score, ``Vmax`` the largest absolute value. Two right implementations of attention
differ by at most ``c·u·(1 + S)·Vmax``: a scaled score carries an error of about ``u·S``, softmax moves
every weight by a relative twice that, the weights of a row sum to 1, and the output is rounded once more.
Measured over a few hundred shapes, scales and masks, ``c`` stays below 2.3; the checks allow 8.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.failures import CheckFailed
from autograder.lab import Kept

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

#: ``c`` of the error law above: between three and four times what right code was seen to need.
SAFETY = 8.0
#: What a quotient of answer and truth is compared in; for the messages of ``agree``.
RELATIVE = " of the right value"
_MAX_WORDS = 60
_READING_FAILS = (ValueError, TypeError, OverflowError, RecursionError, MemoryError)


# ---- reading an answer
def array(value: Any, shape: Sequence[int] | None = None, *, name: str = "output", finite: bool = True) -> Floats:
    """The answer as a float64 array of ``shape`` (any shape where None).

    Takes real arrays of any dtype and nested lists of numbers. Raises ``CheckFailed`` where it is not
    numeric, has another shape or, unless ``finite`` is False, holds NaN or infinity.
    """
    found = _as_numpy(value)
    if found is None or found.dtype.kind not in "biuf":
        raise CheckFailed(f"{name} should be an array of numbers, but {described(value)} came back.")
    if shape is not None and found.shape != tuple(shape):
        raise CheckFailed(f"{name} has the shape {_shape(found.shape)}; here it should have {_shape(shape)}.")
    with np.errstate(all="ignore"):
        numbers = found.astype(np.float64)
    if finite:
        bad = int(np.count_nonzero(~np.isfinite(numbers)))
        if bad:
            kind = "NaN or infinite" if np.isnan(numbers).any() else "infinite"
            raise CheckFailed(f"{name} is not finite everywhere: {bad} of {numbers.size} entries are {kind}.")
    return numbers


def boolean(value: Any, shape: Sequence[int] | None, name: str = "mask") -> Booleans:
    """The answer as a boolean array of ``shape``; ``CheckFailed`` where its dtype is another one."""
    found = _as_numpy(value)
    if found is None or found.dtype != np.bool_:
        what = described(value) if found is None else f"an array of {found.dtype}"
        raise CheckFailed(f"{name} should be a boolean array (True and False), but {what[:_MAX_WORDS]} came back.")
    if shape is not None and found.shape != tuple(shape):
        raise CheckFailed(f"{name} has the shape {_shape(found.shape)}; here it should have {_shape(shape)}.")
    return found


def pair(value: Any, first: str, second: str) -> tuple[Any, Any]:
    """The two parts of an answer such as ``(output, weights)``; any sequence of length 2 is one."""
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return value[0], value[1]
    if isinstance(value, np.ndarray) and value.ndim > 0 and value.shape[0] == 2:
        return value[0], value[1]
    raise CheckFailed(
        f"A pair ({first}, {second}) should come back, as a tuple or list; {described(value)} came instead."
    )


def number(value: Any, name: str) -> float:
    """The answer as a float, NaN and infinity included; an array of one element is one, a boolean is not."""
    plain = value.item() if isinstance(value, (np.ndarray, np.generic)) and value.size == 1 else value
    if isinstance(plain, (bool, np.bool_)) or not isinstance(plain, (int, float)):
        raise CheckFailed(f"{name} should be one number, but {described(value)} came back.")
    try:
        return float(plain)
    except OverflowError:
        raise CheckFailed(f"{name} is an integer far too large to be a measured number.") from None


def integer(value: Any, name: str) -> int:
    """The answer as an int: whatever Python accepts as an index. A float, 4096.0 included, is not one."""
    try:
        return operator.index(value)
    except TypeError:
        raise CheckFailed(f"{name} should be an integer, but {described(value)} came back.") from None


def whole(value: Any, name: str) -> int:
    """The answer as a whole number: an int, or a float that has nothing behind its point, as ``//`` may give."""
    found = number(value, name)
    if not found.is_integer():
        what = "NaN or infinite" if not math.isfinite(found) else "not a whole number"
        raise CheckFailed(f"{name} is {what}; a whole number is asked.")
    return int(value) if isinstance(value, int) else int(found)


def close(actual: Any, expected: float, *, name: str, hint: str = "", relative: float = 1e-9) -> None:
    """Raise ``CheckFailed`` unless one number is ``expected`` but for rounding: for products and quotients.

    Any order of a few multiplications and divisions stays within some 1e-15; a number rounded for print does not stay
    within 1e-9.
    """
    agree(number(actual, name) / expected, 1.0, relative, name=name, of=RELATIVE, hint=hint)


def mapping(value: Any, keys: Iterable[str], name: str) -> dict[str, Any]:
    """The answer as a dict that has at least these keys."""
    if not isinstance(value, dict):
        raise CheckFailed(f"{name} should be a mapping (a dict), but {described(value)} came back.")
    missing = [key for key in keys if key not in value]
    if missing:
        raise CheckFailed(f"{name} has no entry {', '.join(missing)}.")
    return value


def described(value: Any) -> str:
    """A few words for any value that a submission can send, short and printable."""
    if value is None:
        return "nothing (None)"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"an array of {value.dtype} with the shape {_shape(value.shape)}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping with {len(value)} entries"
    if isinstance(value, bool):
        return f"the truth value {value}"
    if isinstance(value, (int, float)):
        return "a single number"
    if isinstance(value, str):
        return "a text"
    kind = str(getattr(value, "type_name", type(value).__name__))
    return "".join(c if c.isprintable() else "?" for c in kind[:_MAX_WORDS]) or "something unnamed"


# ---- tolerances
def roundoff(*arrays: npt.NDArray[Any]) -> float:
    """Unit roundoff of the coarsest dtype among the inputs; integers are computed with as float64."""
    kinds = [a.dtype for a in arrays if a.dtype.kind == "f"] or [np.dtype(np.float64)]
    return max(float(np.finfo(kind).eps) for kind in kinds) / 2


def attention_tolerance(Q: npt.NDArray[Any], K: npt.NDArray[Any], V: npt.NDArray[Any]) -> float:
    """``8·u·(1 + S)·Vmax`` for outputs of attention on ``Q (..., n_q, d_k)``, ``K (..., n_k, d_k)``, ``V``.

    The error law of this module's docstring. ``S`` counts every score, also those that a mask hides: a fill
    of -1e9 that is added to a score is as right as one that replaces it.
    """
    q, k = Q.astype(np.float64), K.astype(np.float64)
    largest = float(np.abs(np.einsum("...id,...jd->...ij", q, k)).max()) / math.sqrt(Q.shape[-1])
    return SAFETY * roundoff(Q, K, V) * (1 + largest) * float(np.abs(V).max())


def weights_tolerance(Q: npt.NDArray[Any], K: npt.NDArray[Any]) -> float:
    """The same law for the weights, which are outputs for values of size 1."""
    return attention_tolerance(Q, K, np.ones(1, Q.dtype))


def softmax_tolerance(x: npt.NDArray[Any]) -> float:
    """``8·u·(1 + max|x|) + 16·eps·max|x|`` for softmax of ``x`` along any axis.

    The law with ``Vmax`` 1, and as much again as rounding the exponent twice can cost: ``exp2(x·log2 e)``
    and ``exp(x - logsumexp(x))`` are right, and both carry an error of a few eps of ``max|x|`` into the
    exponent.
    """
    u, largest = roundoff(x), float(np.abs(x.astype(np.float64)).max())
    return SAFETY * u * (1 + largest) + 16 * (2 * u) * largest


def product_tolerance(*factors: npt.NDArray[Any]) -> float:
    """For a product of matrices ``A @ B @ …``: 8·u per product of the largest entry of ``|A| @ |B| @ …``.

    The textbook bound is ``d·u`` per product of inner width ``d``; the checks keep ``d`` at 8 or less, so
    this covers any order of summation.
    """
    bound = np.abs(factors[0]).astype(np.float64)
    for factor in factors[1:]:
        bound = bound @ np.abs(factor)
    return SAFETY * max(1, len(factors) - 1) * roundoff(*factors) * float(bound.max())


def norm_tolerance(x: npt.NDArray[Any], scale: float) -> float:
    """For rows of ``x (..., d)`` divided by a root of at least ``scale``: ``16·u·R·(1 + (M/scale)²)``, with ``M`` the
    largest ``|x|`` and ``R = M/scale`` the largest a result can be.

    The variance of a row may be computed as the mean of squares less the square of the mean, which is right and loses
    ``(M/scale)²`` roundings.
    """
    largest = float(np.abs(x.astype(np.float64)).max()) / scale
    return 2 * SAFETY * roundoff(x) * largest * (1 + largest**2)


def positions_tolerance(n: int, answer: Any) -> float:
    """``8·u·(1 + n)`` for sines of angles up to ``n``: an angle of size ``n`` is itself rounded by ``u·n``,
    and a table made by rotating row after row loses ``u`` in each of ``n`` rows.

    No input has a dtype here, so ``u`` is that of the answer: a float32 table is as right as a float64 one.
    """
    single = isinstance(answer, np.ndarray) and answer.dtype == np.float32
    return SAFETY * (2.0**-24 if single else 2.0**-53) * (1 + n)


# ---- the verdict
def agree(
    actual: Any, expected: npt.ArrayLike, tolerance: float, *, name: str = "output", of: str = "", hint: str = ""
) -> None:
    """Raise ``CheckFailed`` unless ``actual`` is, entry for entry, within ``tolerance`` of ``expected``.

    ``actual`` may be any value: it is read by ``array`` with the shape of ``expected``. The message names
    the worst position and orders of magnitude only; ``of`` says what they are a part of, and ``hint`` is a sentence
    put behind it.
    """
    truth = np.asarray(expected, dtype=np.float64)
    found = array(actual, truth.shape, name=name)
    with np.errstate(all="ignore"):
        error = np.abs(found - truth)
    wrong = int(np.count_nonzero(~(error <= tolerance)))
    if not wrong:
        return
    worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape))
    place = f" at {name}[{', '.join(map(str, worst))}]" if worst else ""
    count = f"{wrong} of {error.size} entries are off, the most" if error.size > 1 else "it is off"
    raise CheckFailed(
        f"{name} is not right: {count}{place}, by {_magnitude(float(error[worst]))}{of} "
        f"where rounding explains no more than {_magnitude(tolerance)}.{' ' if hint else ''}{hint}"
    )


def unchanged(function: str, names: Sequence[str], kept: Sequence[Kept], before: Sequence[npt.NDArray[Any]]) -> None:
    """Raise ``CheckFailed`` unless the arrays that were handed over are still what they were."""
    arrays = zip(names, kept, before, strict=True)
    changed = [name for name, there, here in arrays if not np.array_equal(there.read(), here)]
    if changed:
        raise CheckFailed(f"{function} changed {' and '.join(changed)} of its caller. Work on new arrays.")


def _as_numpy(value: Any) -> npt.NDArray[Any] | None:
    """The value as NumPy sees it, or None where NumPy sees nothing in it. Text stays text."""
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, bool, int, float)):
        return None
    try:
        return np.asarray(value)
    except _READING_FAILS:
        return None


def _shape(shape: Sequence[int]) -> str:
    if len(shape) > 8:
        return f"of {len(shape)} axes"
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _magnitude(size: float) -> str:
    """``about 10^-3``: enough to tell a bug from rounding, too little to read a hidden value from."""
    if not size > 0:
        return "0"
    return f"about 10^{round(math.log10(size))}" if math.isfinite(size) else "more than a float can hold"
