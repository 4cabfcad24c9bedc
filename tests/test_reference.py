"""The truth that marks are measured against gives the numbers that the chapter prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.reference import attention as truth
from autograder.reference import chapter, remembered


def test_the_row_of_içti_is_the_chapter_s() -> None:
    weights = truth.worked_stages(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)["weights"]
    # Half a unit of the last printed digit, and no more.
    assert weights[2] == pytest.approx(chapter.ICTI_WEIGHTS_PRINTED, abs=5.1e-5)


def test_the_gaps_of_the_shuffle_are_the_chapter_s() -> None:
    gaps = truth.equivariance_gaps(
        chapter.X, chapter.SHUFFLED, chapter.W_Q, chapter.W_K, chapter.W_V, chapter.POSITION_SCALE
    )
    assert gaps["plain"] < 1e-15
    assert gaps["positions"] == pytest.approx(chapter.GAP_POSITIONS_PRINTED, abs=5.1e-5)
    assert gaps["causal"] == pytest.approx(chapter.GAP_CAUSAL, abs=5.1e-5)
    assert not np.array_equal(chapter.SHUFFLED[chapter.SHUFFLED], np.arange(3)), "its own inverse would hide a mistake"


# ---------------------------------------------------------------- what is remembered


def counted() -> tuple[list[tuple[Any, ...]], Any]:
    """A truth, and what it was really asked."""
    asked: list[tuple[Any, ...]] = []

    @remembered.remembered
    def truth(*args: Any, **named: Any) -> tuple[Any, Any]:
        asked.append(args)
        return np.asarray(args[0]) * 2.0, np.asarray(args[0]).dtype.str

    return asked, truth


def test_the_same_numbers_are_computed_once_and_others_anew() -> None:
    asked, truth = counted()
    x = np.arange(6.0)
    first, again = truth(x), truth(x.copy())
    assert again is first and len(asked) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0][0] = 7.0
    # The same bytes in another shape or type, a mask that is there, a number instead of an array.
    for other in ((x.reshape(2, 3),), (x.view(np.int64),), (x, None), (x, x > 2), (3,)):
        before = len(asked)
        assert truth(*other)[1] == np.asarray(other[0]).dtype.str
        assert len(asked) == before + 1
    x[0] = 5.0
    assert truth(x)[0][0] == 10.0


def test_what_a_submission_may_choose_costs_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "ANSWERS", 3)
    asked, truth = counted()
    large = np.zeros(remembered.TOO_LARGE // 8 + 1)
    for _ in range(2):
        truth(large)  # its arguments
        truth(np.zeros(remembered.TOO_LARGE // 4, np.int32))  # its answer
        truth([1.0, 2.0])
        truth(np.ones(2), axis=0)
    assert len(asked) == 8
    for i in range(4):
        truth(np.full(2, float(i)))
    before = len(asked)
    truth(np.full(2, 3.0))
    assert len(asked) == before
    truth(np.full(2, 0.0))  # gone when the fourth came
    assert len(asked) == before + 1
