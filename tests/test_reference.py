"""The truth that marks are measured against gives the numbers that the chapter prints."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.reference import attention as truth
from autograder.reference import chapter


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
