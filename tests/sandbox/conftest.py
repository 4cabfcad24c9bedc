"""A warm parent for all tests of the sandbox, and submissions as short texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from autograder.lab import Lab
from autograder.sandbox import launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session


@dataclass
class Cell:
    source: str
    label: str


Start = Callable[..., tuple[Lab, Session]]


def isolations() -> list[launch.Isolation]:
    """What this machine can do; ``none`` always."""
    wanted: tuple[launch.Isolation, ...] = ("bubblewrap", "user", "none")
    return [i for i in wanted if launch.unavailable(i) is None]


@pytest.fixture(scope="session", params=isolations())
def any_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, {"memory_mib": 600, "processes": 60}) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best isolation of this machine."""
    with Sandbox(launch.choose("auto"), {"memory_mib": 600, "processes": 60}) as sandbox:
        yield sandbox


def starter(sandbox: Sandbox, stack: ExitStack) -> Start:
    def start(
        *cells: str, seconds: float = 20.0, cell_seconds: float = 20.0, files: dict[str, bytes] | None = None
    ) -> tuple[Lab, Session]:
        numbered = [Cell(source, f"cell {i}") for i, source in enumerate(cells, 1)]
        session = stack.enter_context(Session(sandbox, numbered, files or {}, cell_seconds=cell_seconds))
        return Lab(session, seconds=seconds), session

    return start


@pytest.fixture
def start(sandbox: Sandbox) -> Iterator[Start]:
    with ExitStack() as stack:
        yield starter(sandbox, stack)


@pytest.fixture
def start_any(any_sandbox: Sandbox) -> Iterator[Start]:
    """As ``start``, once for each isolation that can be had."""
    with ExitStack() as stack:
        yield starter(any_sandbox, stack)
