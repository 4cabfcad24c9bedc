"""Part 15, a second device: ``same_on_both`` (article, section 15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab

check = Task("block_receipts", "second_device")

Answers = Mapping[str, Any]


def _same(lab: Lab, answers: Answers, expected: bool, what: str, **named: float) -> None:
    """The verdict on a function that answers as the mapping says, on our side; devices are names here."""
    asked: list[Any] = []

    def fn(device: Any) -> Any:
        asked.append(device if isinstance(device, str) else None)
        if asked[-1] not in answers:
            raise ValueError("fn was called with something that is none of the two devices")
        return answers[device]

    first, second = answers
    _verdict(lab.same_on_both(fn, first, second, **named), expected, what)
    if set(asked) != set(answers):
        raise CheckFailed("fn has to be run on both devices, each handed on as it is.")


def _verdict(found: Any, expected: bool, what: str) -> None:
    verdict = found.item() if isinstance(found, np.ndarray) and found.size == 1 else found
    if not isinstance(verdict, bool):
        raise CheckFailed(f"same_on_both should answer True or False, but {compare.described(found)} came back.")
    if verdict is not expected:
        raise CheckFailed(
            f"same_on_both says {verdict} where {what}. The same means: equal shapes, and no entry further apart than "
            "the tolerance."
        )


@check("same_on_both.agree_or_not")
def test_equal_and_different_answers(lab: Lab, rng: np.random.Generator) -> None:
    """Equal answers are the same; one entry that differs is enough to say no."""
    x = rng.normal(size=(4, 5))
    other = x.copy()
    other[2, 3] += 0.1
    # A mean of all differences would be small; fn run on one device twice sees nothing.
    _same(lab, {"cpu": x, "gpu": x.copy()}, True, "both devices give the same numbers")
    _same(lab, {"cpu": x, "gpu": other}, False, "one entry differs")
    _same(lab, {"cpu": other, "gpu": x}, False, "one entry differs, the other way round")


@check("same_on_both.rounding", needs=["same_on_both.agree_or_not"])
def test_rounding_is_forgiven(lab: Lab, rng: np.random.Generator) -> None:
    """Differences of rounding are none; `tolerance` says how large they may be."""
    # Equality to the last bit calls every second device wrong.
    x = rng.normal(size=(3, 4))
    _same(lab, {"a": x, "b": x + 1e-9}, True, "only rounding differs")
    # Nothing is said of the tolerance: one that is 1e-5 where it is left out takes these for rounding.
    _same(lab, {"a": x, "b": x + 5e-6}, False, "entries differ by five times the default tolerance")
    _same(lab, {"a": x, "b": x + 1e-4}, True, "the tolerance is wide enough", tolerance=1e-2)
    _same(lab, {"a": x, "b": x - 1e-9}, False, "the tolerance is narrower than the difference", tolerance=1e-12)


@check("same_on_both.cast_bug", needs=["same_on_both.agree_or_not"])
def test_the_cast_that_reads_bits_is_caught(lab: Lab, rng: np.random.Generator) -> None:
    """A device that reads the bits of integers as floating-point numbers is caught; the right order of casts is not."""
    positions = np.arange(int(rng.integers(90, 120)), dtype=np.int64)

    def cosines(device: Any, *, in_one_call: bool) -> Any:
        faulty = device == "stand-in" and in_one_call
        angles = positions.view(np.float64) if faulty else positions.astype(np.float64)
        return np.cos(np.outer(angles, [1.0, 0.1]))

    for in_one_call in (True, False):
        # Every position became next to 0 there: all cosines are 1, nothing is NaN, and no exception says so.
        found = lab.same_on_both(
            lambda name, in_one_call=in_one_call: cosines(name, in_one_call=in_one_call), "cpu", "stand-in"
        )
        what = "positions are moved and cast in one call" if in_one_call else "positions are moved first and then cast"
        _verdict(found, not in_one_call, what)


@check("same_on_both.nan", needs=["same_on_both.agree_or_not"])
def test_nan_is_never_the_same(lab: Lab, rng: np.random.Generator) -> None:
    """NaN in either answer is not the same, in both neither."""
    # Comparisons with NaN are False, and max() may lose it.
    x = rng.normal(size=(3, 4))
    broken = np.where(np.arange(12).reshape(3, 4) == 7, np.nan, x)
    _same(lab, {"a": x, "b": broken}, False, "the second answer holds NaN")
    _same(lab, {"a": broken, "b": x}, False, "the first answer holds NaN")
    _same(lab, {"a": broken, "b": broken.copy()}, False, "both answers hold NaN")
    _same(lab, {"a": x, "b": x.copy()}, True, "nothing is NaN")


@check("same_on_both.shapes", needs=["same_on_both.agree_or_not"])
def test_other_shapes_are_not_the_same(lab: Lab, rng: np.random.Generator) -> None:
    """Answers of other shapes are not the same, also where one would be spread over the other."""
    # Broadcasting makes (3, 4) - (1, 4), (4,) and a single number work, and zip() stops at the shorter one.
    row = rng.normal(size=(1, 4))
    _same(lab, {"a": np.repeat(row, 3, axis=0), "b": row}, False, "one answer has a single row")
    _same(lab, {"a": row, "b": row[0]}, False, "one answer has an axis more")
    _same(lab, {"a": row[0], "b": row[0, :3]}, False, "one answer is shorter")
    _same(lab, {"a": row, "b": row.copy()}, True, "shapes and numbers are equal")


@check("same_on_both.signs", needs=["same_on_both.agree_or_not"])
def test_differences_have_no_sign(lab: Lab, rng: np.random.Generator) -> None:
    """Differences that cancel, and differences downwards, count like others."""
    # A sum of signed differences is 0 here, and a signed maximum sees only one direction.
    x = rng.normal(size=(4, 6))
    pattern = np.where(np.arange(24) % 2, 0.01, -0.01).reshape(4, 6)
    _same(lab, {"a": x, "b": x + pattern}, False, "differences cancel in a sum")
    _same(lab, {"a": x, "b": x - np.abs(pattern)}, False, "all differences go downwards")
    _same(lab, {"a": x, "b": x + np.abs(pattern)}, False, "all differences go upwards")
    _same(lab, {"a": -x, "b": -x}, True, "both are equal")
