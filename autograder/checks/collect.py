"""The hidden checks of an assignment, as pytest finds them: once in a process, for every submission.

They are ordinary pytest tests, with pytest's names, parameters and markers. Only the running is ours: pytest's own
takes a third of the time that grading a submission takes, most of it to collect the same tests once more.
"""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from autograder.checks.declare import Declaration

#: What a check may ask for by the names of its arguments, beside its own parameters; `marking.Marking` makes them.
FIXTURES = frozenset({"lab", "seed", "rng", "measure"})

#: Plugins of pytest that are not needed to find tests, or write somewhere.
_WITHOUT = [
    *("terminal", "cacheprovider", "logging", "capture", "warnings", "doctest", "unraisableexception"),
    *("threadexception", "faulthandler", "junitxml", "pastebin", "stepwise", "debugging", "setuponly"),
    *("tmpdir", "monkeypatch", "recwarn"),
]
_OPTIONS = ["--disable-plugin-autoload", "--noconftest", "--assert=plain", "-c", "/dev/null"]
_OPTIONS += [option for name in _WITHOUT for option in ("-p", f"no:{name}")]


@dataclass(frozen=True)
class Check:
    """One hidden check: what it declares, the sentence that the student reads, and the function.

    ``parameters`` are its values of ``pytest.mark.parametrize``, ``fixtures`` what else it asks for. ``needs`` has
    the sentences of the checks that it builds on, by their identifiers.
    """

    declared: Declaration
    title: str
    function: Callable[..., None]
    parameters: Mapping[str, Any]
    fixtures: frozenset[str]
    needs: Mapping[str, str]


def folder(assignment: str) -> Path:
    """Where the hidden checks of an assignment lie."""
    return Path(__file__).parent / assignment


@functools.cache
def checks(assignment: str) -> tuple[Check, ...]:
    """Every hidden check of an assignment, in the order of display.

    Raises ``RuntimeError`` where pytest cannot collect them, or one of them is not what a check may be.
    """
    where, found = folder(assignment), _Found()
    code = pytest.main([str(where), "--rootdir", str(where), *_OPTIONS], plugins=[found])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"pytest could not collect the checks of {assignment}: {code!r}")
    # What is there by now stays, and need not be walked each time that garbage is looked for: 50 ms of a submission.
    gc.collect()
    gc.freeze()
    every = [_check(item) for item in found.items]
    titles = {check.declared.id: check.title for check in every}
    return tuple(
        replace(check, needs={name: titles.get(name, name) for name in check.declared.needs}) for check in every
    )


class _Found:
    """The plugin of pytest that writes down what was collected, and runs nothing."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "declared(declaration): a hidden check")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # What is wrong with one is said later: pytest would keep the sentence to itself.
        self.items = list(items)

    def pytest_runtestloop(self) -> bool:
        return True


def _check(item: pytest.Item) -> Check:
    marker = item.get_closest_marker("declared")
    if marker is None or not isinstance(item, pytest.Function):
        raise RuntimeError(f"{item.nodeid} is not declared: give it a @check(...)")
    parameters = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    fixtures = frozenset(item.fixturenames) - parameters.keys()
    if unknown := sorted(fixtures - FIXTURES):
        can = ", ".join(sorted(FIXTURES))
        raise RuntimeError(f"{item.nodeid} asks for {', '.join(unknown)}: a check can ask for {can}.")
    title = " ".join((inspect.getdoc(item.function) or "").split())
    return Check(marker.args[0], title, item.function, parameters, fixtures, {})
