"""Right solutions, however they are written, get full marks: nobody has to appeal."""

from __future__ import annotations

import pytest

from tests.corpus.corpora import as_module, as_notebook, grade, lost, right_submissions, with_cell

VARIANTS = right_submissions()


def test_there_are_sixty_of_them_in_every_step() -> None:
    assert len(VARIANTS) >= 60


@pytest.mark.parametrize("title", VARIANTS)
def test_a_right_notebook_gets_full_marks(title: str) -> None:
    assert lost(grade("right", as_notebook(with_cell(VARIANTS[title])))) == []


#: A module is read in another way than a notebook, whatever is in it: some of them are enough, but for `make soak`.
MODULES = [pytest.param(title, marks=[pytest.mark.soak] if number % 5 else []) for number, title in enumerate(VARIANTS)]


@pytest.mark.parametrize("title", MODULES)
def test_a_right_module_gets_full_marks(title: str) -> None:
    assert lost(grade("right", as_module(with_cell(VARIANTS[title])))) == []
