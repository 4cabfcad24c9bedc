"""For all tests: the sandboxes that grading in this process kept warm are ended when the tests are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _no_sandbox_is_left() -> Iterator[None]:
    yield
    from autograder import engine

    engine.close()
