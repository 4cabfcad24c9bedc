"""Pytest, put to work on one submission: fixtures, dependencies, and a verdict for every check.

The checks are ordinary pytest tests; this plugin hands them the submission and writes down what they found.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from autograder import failures
from autograder.checks.declare import Declaration
from autograder.lab import Lab, Transport
from autograder.marks import Outcome
from autograder.measured.student import Measure
from autograder.result import Verdict

#: Calls of one function that may run out of time; its other checks are then skipped.
TIMEOUTS_PER_FUNCTION = 2

#: Every plugin of pytest that the checks do not need costs time for each submission, or writes somewhere.
_WITHOUT = [
    *("terminal", "cacheprovider", "logging", "capture", "warnings", "doctest", "unraisableexception"),
    *("threadexception", "faulthandler", "junitxml", "pastebin", "stepwise", "debugging", "setuponly"),
    *("tmpdir", "monkeypatch", "recwarn"),
]
_OPTIONS = ["--disable-plugin-autoload", "--noconftest", "--assert=plain", "-c", "/dev/null"]
_OPTIONS += [option for name in _WITHOUT for option in ("-p", f"no:{name}")]

SKIPPED = "Not tried, because it builds on something that did not hold: {title}"
NOT_WRITTEN = "Not tried, because {function} is not there yet."
TOO_SLOW = "Not tried: {function} ran into its time limit before, more than once."
OUR_ERROR = (
    "The grader made an error in this check ({what}). It costs nothing, and is repaired before the mark is given out."
)


def folder(assignment: str) -> Path:
    """Where the hidden checks of an assignment lie."""
    return Path(__file__).parent / assignment


def run(assignment: str, plugin: Collected) -> None:
    """Run pytest on the checks of an assignment, quietly and without touching the disk."""
    where = folder(assignment)
    if plugin.notebook is not None:
        plugin.wanted = declared(assignment).files.get(plugin.notebook, frozenset())
    code = pytest.main([str(where), "--rootdir", str(where), *_OPTIONS], plugins=[plugin])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest could not run the checks of {assignment}: {code!r}")


@functools.cache
def declared(assignment: str) -> Declared:
    """Every hidden check of an assignment, collected once in a process."""
    collected = Collected()
    run(assignment, collected)
    # Collecting makes thousands of objects, for each submission again. Whatever is there by now stays, and need not
    # be walked each time that garbage is looked for: 50 ms of each submission.
    gc.collect()
    gc.freeze()
    return Declared(tuple(collected.declared), {name: frozenset(paths) for name, paths in collected.files.items()})


@dataclass(frozen=True)
class Declared:
    """Checks with their sentences in the order of display, and the files that the checks of a notebook are in:
    collecting only these costs a third."""

    checks: tuple[tuple[Declaration, str], ...]
    files: Mapping[str, frozenset[Path]]


@dataclass(frozen=True)
class Found:
    """How one check ended."""

    verdict: Verdict
    message: str | None


class Collected:
    """Collects what is declared, without running it. ``declared`` is in the order of display."""

    def __init__(self, notebook: str | None = None) -> None:
        self.notebook = notebook
        self.declared: list[tuple[Declaration, str]] = []
        self.files: dict[str, set[Path]] = {}
        #: Files to look into; None: all.
        self.wanted: frozenset[Path] | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "declared(declaration): a hidden check")

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if self.wanted is None:
            return None
        return collection_path.suffix == ".py" and collection_path not in self.wanted

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [i for i in items if self.notebook is None or declaration(i).notebook == self.notebook]
        self.declared = [(declaration(i), sentence(i)) for i in items]
        for item in items:
            self.files.setdefault(declaration(item).notebook, set()).add(item.path)

    def pytest_runtestloop(self) -> bool | None:
        return True


class Marking(Collected):
    """Runs the checks of one notebook on one submission; ``outcomes`` has one for each that was run.

    ``missing`` has the functions (``notebook.task.function``) that are not written yet.
    ``given``: only these functions are checked, each after what it is given (carry-over: right functions in
    the place of the submission's earlier ones). ``only``: nothing but the checks of these (``task.function``).
    """

    def __init__(
        self,
        notebook: str,
        transport: Transport,
        *,
        seed: str,
        call_seconds: float,
        measure: Measure,
        given: Mapping[str, Sequence[Callable[[Lab], None]]] | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(notebook)
        self._only = only
        self.transport, self.course_seed, self.call_seconds = transport, seed, call_seconds
        self._measure, self._given = measure, given
        self.outcomes: dict[str, Outcome] = {}
        self._titles: dict[str, str] = {}
        self.missing: set[str] = set()
        self._timeouts: dict[str, int] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        super().pytest_collection_modifyitems(items)
        self._titles = {d.id: title for d, title in self.declared}
        if self._only is not None:
            items[:] = [i for i in items if f"{declaration(i).task}.{declaration(i).function}" in self._only]
        if self._given is not None:
            items[:] = [i for i in items if declaration(i).function in self._given]

    def pytest_runtestloop(self) -> bool | None:
        return None

    # ---- fixtures
    @pytest.fixture
    def lab(self, request: pytest.FixtureRequest) -> Iterator[Lab]:
        """The submission."""
        limit = min(declaration(request.node).seconds, self.call_seconds)
        lab = Lab(self.transport, seconds=limit)
        for give in (self._given or {}).get(declaration(request.node).function, ()):
            give(lab)
        yield lab
        lab.close()

    @pytest.fixture
    def seed(self, request: pytest.FixtureRequest) -> int:
        """A number that depends on the course seed and the check, and on nothing else."""
        return derive(self.course_seed, declaration(request.node).id)

    @pytest.fixture
    def rng(self, seed: int) -> np.random.Generator:
        """Where a check draws its inputs from: the same for every submission of a course."""
        return np.random.default_rng(seed)

    @pytest.fixture
    def measure(self, lab: Lab) -> Measure:
        """Timed calls of the submission's attention and of the reference."""
        self._measure.lab = lab
        return self._measure

    # ---- verdicts
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        declared = declaration(item)
        key = f"{declared.notebook}.{declared.task}.{declared.function}"
        for needed in declared.needs:
            before = self.outcomes.get(needed)
            if before is None or before.verdict != "passed":
                pytest.skip(SKIPPED.format(title=self._titles.get(needed, needed)))
        if key in self.missing:
            pytest.skip(NOT_WRITTEN.format(function=declared.function))
        if self._timeouts.get(key, 0) >= TIMEOUTS_PER_FUNCTION:
            pytest.skip(TOO_SLOW.format(function=declared.function))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Write down the verdict. Pytest's own report would format a traceback, 80 ms for each check that fails."""
        declared = declaration(item)
        error = call.excinfo.value if call.excinfo is not None else None
        if error is None and call.when == "call":
            self._note(declared, sentence(item), Found("passed", self._measure.note if declared.measured else None))
        elif error is not None and not (call.when == "teardown" and declared.id in self.outcomes):
            self._note(declared, sentence(item), self._verdict(declared, error))
        assert call.when != "collect"
        outcome: Literal["passed", "failed"] = "passed" if error is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def _note(self, declared: Declaration, title: str, found: Found) -> None:
        self.outcomes[declared.id] = Outcome(
            id=declared.id,
            notebook=declared.notebook,
            task=declared.task,
            function=declared.function,
            title=title,
            weight=declared.weight,
            verdict=found.verdict,
            message=found.message,
        )

    def _verdict(self, declared: Declaration, error: BaseException) -> Found:
        key = f"{declared.notebook}.{declared.task}.{declared.function}"
        if isinstance(error, failures.Finding):
            if isinstance(error, failures.Missing):
                self.missing.add(key)
            if isinstance(error, failures.TimedOut):
                self._timeouts[key] = self._timeouts.get(key, 0) + 1
            return Found(error.verdict, error.message)
        if isinstance(error, pytest.skip.Exception):
            return Found("skipped", str(error.msg))
        if not isinstance(error, Exception):
            raise error
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
        return Found("grader_error", OUR_ERROR.format(what=where))


def declaration(item: pytest.Item) -> Declaration:
    """What a check says of itself. Raises ``RuntimeError`` for a test that declares nothing."""
    marker = item.get_closest_marker("declared")
    if marker is None:
        raise RuntimeError(f"{item.nodeid} is not declared: give it a @check(...)")
    found: Declaration = marker.args[0]
    return found


def sentence(item: pytest.Item) -> str:
    """The docstring of a check: what the student reads."""
    function: Any = getattr(item, "function", None)
    return " ".join((inspect.getdoc(function) or "").split())


def derive(course_seed: str, what: str) -> int:
    """63 bits that nobody can tell without the course seed."""
    return int.from_bytes(hashlib.sha256(f"{course_seed}\0{what}".encode()).digest()[:8], "big") >> 1
