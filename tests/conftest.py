"""For all tests: what one of them changes in its process does not reach the next, and no sandbox outlives them."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is no reason for an example to fail.
settings.register_profile("attnlab", deadline=None)
settings.load_profile("attnlab")

MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def _the_process_stays_as_it_was() -> Iterator[None]:
    """A shell of IPython puts its own module in the place of ``__main__``, and no process can be spawned from that."""
    yield
    sys.modules["__main__"] = MAIN
    if tracemalloc.is_tracing():
        tracemalloc.stop()


@pytest.fixture(scope="session", autouse=True)
def _no_sandbox_is_left() -> Iterator[None]:
    yield
    from autograder import engine

    engine.close()
