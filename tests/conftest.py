"""For all tests: who runs them, and that what one of them changes in its process does not reach the next, and no
sandbox outlives them.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# A busy machine is no reason for an example to fail.
settings.register_profile("attnlab", deadline=None)
settings.load_profile("attnlab")

MAIN = sys.modules["__main__"]
COURSE = "tests/nbgrader_course/"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file stays in one process, as by ``--dist loadfile``; and so do the files that share one course of nbgrader."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return COURSE if file.startswith(COURSE) else file

    return Together(config, log)


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
