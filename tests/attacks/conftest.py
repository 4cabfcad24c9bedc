"""Attacks as small scripts: where their code goes, what it starts from, and what must hold."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder import course, engine, failures, submission
from autograder.checks import collect
from autograder.checks.marking import Marking
from autograder.measured.student import Measure
from autograder.result import Verdict
from autograder.sandbox import launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from tests.corpus.corpora import settings
from tests.samples.build import notebook

FOLDER = Path(__file__).parent / "scripts"
LAB = "attention_lab"
SHIPPED = b"import builtins\nbuiltins.SHIPPED = True\n"

Marks = dict[str, Verdict]


@dataclass(frozen=True)
class Attack:
    """A script of the folder ``scripts``.

    ``base``: ``right`` or ``wrong`` answers; ``place``: ``first``, ``last`` or ``instead NAME``; ``must``: ``earn
    nothing more``, ``keep its marks``, or ``lose only in 6``; ``ships``: modules that lie beside the notebook.
    """

    name: str
    source: str
    kind: str
    base: str = "wrong"
    place: str = "last"
    must: str = "earn nothing more"
    seconds: str | None = None
    ships: str = ""


def attacks() -> dict[str, Attack]:
    """Every script by its name."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        source = path.read_text(encoding="utf-8")
        headers = dict(re.findall(r"^# (\w+): (.*)$", source, re.MULTILINE))
        known = {k: v for k, v in headers.items() if k in Attack.__dataclass_fields__}
        found[path.stem] = Attack(path.stem, source, **known)
    return found


def handed_in(attack: Attack | None, base: str = "right") -> dict[str, bytes]:
    """The files of a submission: the solution or wrong answers, with the code of the attack in its place."""
    base = attack.base if attack else base
    book = notebook("solution" if base == "right" else "skeleton")
    if base == "wrong":
        names = sorted({d.function for d, _ in engine.declared("lab07") if d.notebook == LAB})
        source = (FOLDER / "_base.py").read_text(encoding="utf-8")
        book.cells.append(_cell(f"FUNCTIONS = {names!r}\n{source}"))
    if attack is not None:
        _put(book, attack)
    files = {f"{LAB}.ipynb": json.dumps(book).encode()}
    return files | dict.fromkeys(attack.ships.split() if attack else (), SHIPPED)


def _cell(source: str) -> Any:
    return nbformat.v4.new_code_cell(source)


def _put(book: Any, attack: Attack) -> None:
    where, _, name = attack.place.partition(" ")
    if where == "first":
        book.cells.insert(0, _cell(attack.source))
        return
    if where == "instead":
        for cell in book.cells:
            if cell.cell_type == "code" and f"def {name}(" in cell.source:
                tree = ast.parse(cell.source)
                tree.body = [node for node in tree.body if getattr(node, "name", None) != name]
                cell.source = ast.unparse(tree)
    book.cells.append(_cell(attack.source))


class Grader:
    """Every hidden check of the lab on a submission, in one warm sandbox; suspects are not looked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def mark(self, files: dict[str, bytes], seconds: float | None = None) -> Marks:
        """The verdict of each check."""
        course_ = settings().course
        read = submission.read("attack", files, "lab07", course.signatures(course_))
        limits, book = course_.limits, read.notebooks[LAB]
        session = Session(
            self.sandbox, book.cells, read.files, cell_seconds=limits.cell_seconds, setup_seconds=limits.setup_seconds
        )
        with ExitStack() as stack:
            measure = stack.enter_context(Measure(self.sandbox, "cuda", 0, lambda _: session, lambda: self.sandbox))
            marking = Marking(
                session, seed="a seed of the tests", call_seconds=seconds or limits.call_seconds, measure=measure
            )
            try:
                with session:
                    # An attack whose code does not run shows nothing.
                    assert session.problems == [], session.problems
                    marking.run(c for c in collect.checks("lab07") if c.declared.notebook == LAB)
            except failures.SubmissionFault:
                return {d.id: "submission_error" for d, _ in engine.declared("lab07") if d.notebook == LAB}
        return {name: outcome.verdict for name, outcome in marking.outcomes.items()}


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    limits: dict[str, int | float] = {"memory_mib": 600, "processes": 60}
    with Sandbox(launch.choose("auto"), limits) as sandbox:
        yield Grader(sandbox)


@pytest.fixture(scope="session")
def bases(grader: Grader) -> dict[str, Marks]:
    """The verdicts of the right and of the wrong answers alone."""
    return {base: grader.mark(handed_in(None, base)) for base in ("right", "wrong")}
