"""What the three ways are held against each other on: right, wrong in every step, partial, broken.

Each is one notebook, made from the solution by a named change, with the functions in which it must lose points.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import nbformat

from autograder import course
from autograder.formats import otter
from autograder.release import build
from autograder.suspects import all_suspects, suspects_of
from tests.corpus import corpora
from tests.filled_in import BLOCK, EXERCISES
from tests.nbgrader_course import changes
from tests.nbgrader_course.courses import LAB, Change, cell, changed, released, right
from tests.samples import build as samples

LAB_NOTEBOOK = "attention_lab"
#: Nobody writes it: the grader measures what was written in step 1.
MEASURED = "measured_exponent"
#: Samples of one notebook, and the functions in which they lose points.
SAMPLES: dict[str, set[str]] = {
    "right-loops": set(),
    "right-einsum": set(),
    "wrong-library-call": {"softmax", "attention", "self_attention"},
    "hostile-endless-loop": {"prefix_gap"},
    "hostile-exit": {"score_bytes"},
    "hostile-lying-shape": {"sinusoidal_positions", "equivariance_report"},
    "broken-syntax-error": {"compare_with_torch"},
}
#: Functions of the two notebooks beside the lab that are each made wrong once.
ELSEWHERE = {"exercises": ("rope",), "block_receipts": ("multi_head", "top_k_router")}


@dataclass(frozen=True)
class Submission:
    """``losing``: its functions that must earn less than the solution; all others earn everything.

    ``nothing``: whether those earn nothing at all. ``mistake``: the suspect that it is; what builds on its
    function within the same step may lose points too. ``unreadable``: whether Otter itself cannot open the file, so
    that its archive grades it as on Gradescope.
    """

    name: str
    kind: str
    file: str
    content: bytes
    notebook: str = LAB_NOTEBOOK
    losing: frozenset[str] = frozenset()
    nothing: bool = False
    mistake: str | None = None
    unreadable: bool = False


def submissions() -> list[Submission]:
    """All of them, in the order of the table."""
    return [*_right(), *_wrong(), *_partial(), *_broken()]


@cache
def worth(notebook: str) -> dict[tuple[str, str], float]:
    """The machine's points of a notebook by step and function, as in ``course.toml``."""
    points = course.load(LAB).parts[notebook].points
    return {(key.partition(".")[0], key.partition(".")[2]): value for key, value in points.items()}


def worth_of_steps(notebook: str) -> dict[tuple[str, str], float]:
    """The same by notebook and step."""
    whole: dict[tuple[str, str], float] = {}
    for (step, _), points in worth(notebook).items():
        whole[notebook, step] = whole.get((notebook, step), 0) + points
    return whole


def functions(notebook: str, *steps: str) -> frozenset[str]:
    """The functions of a notebook, or of some of its steps."""
    return frozenset(function for step, function in worth(notebook) if not steps or step in steps)


# ---------------------------------------------------------------- right


def _right() -> Iterator[Submission]:
    yield _made("right-solution", "right", _solution())
    yield _made("right-in-otters-folder", "right", otter.student_notebook(LAB_NOTEBOOK, _solution()))
    for name in ("right-loops", "right-einsum"):
        yield _sample(name, "right")
    by_file = {title.partition(":")[0]: source for title, source in corpora.right_submissions().items()}
    for file, source in by_file.items():
        yield _made(f"right-other-{file.replace('_', '-')}", "right", changed(_solution(), _more(source)))
    for notebook in (EXERCISES, BLOCK):
        sources = {case["task"]: case["source"] for case in notebook.cases("right.toml")}
        written = changed(_solution(notebook.name), *(_more(source) for source in sources.values()))
        yield _made(f"right-{notebook.name}-in-other-words", "right", written, notebook.name)


# ---------------------------------------------------------------- wrong


def _wrong() -> Iterator[Submission]:
    for step in dict.fromkeys(step for step, _ in worth(LAB_NOTEBOOK)):
        known = [one for at, one in worth(LAB_NOTEBOOK) if at == step and suspects_of(one, LAB_NOTEBOOK)]
        for function in dict.fromkeys((known[0], known[-1])):
            yield _mistaken(function, LAB_NOTEBOOK)
    for notebook, chosen in ELSEWHERE.items():
        for function in chosen:
            yield _mistaken(function, notebook)
    yield _sample("wrong-library-call", "wrong")


def _mistaken(function: str, notebook: str) -> Submission:
    """The solution with the first known mistake of a function."""
    suspect = suspects_of(function, notebook)[0]
    book = changed(_solution(notebook), _more(suspect.source))
    name = f"wrong-{suspect.task}-{function}".replace("_", "-")
    return _made(name, "wrong", book, notebook, losing=frozenset({function}), mistake=suspect.id)


# ---------------------------------------------------------------- partial


def _partial() -> Iterator[Submission]:
    every = functions(LAB_NOTEBOOK)
    untouched = changed(released(LAB_NOTEBOOK), changes.forged)
    yield _made("partial-nothing-written", "partial", untouched, losing=every, nothing=True)
    two = samples.books("partly-steps-1-and-2")[LAB_NOTEBOOK]
    left = every - functions(LAB_NOTEBOOK, "step1", "step2")
    yield _made("partial-two-steps", "partial", two, losing=left - {MEASURED}, nothing=True)
    begun = samples.notebook("solution", kept={"setup", "step1-softmax", "step7-causal-mask"})
    written = {"softmax", "causal_mask"}
    yield _made("partial-two-functions", "partial", begun, losing=every - written, nothing=True)
    no_answers = changed(_solution(), _without_answers)
    yield _made("partial-no-written-answers", "partial", no_answers)
    mistakes = {one.function: one for one in reversed(all_suspects(LAB_NOTEBOOK))}
    three = ("worked_example", "causal_mask", "generate")
    wrong = changed(_solution(), *(_more(mistakes[function].source) for function in three))
    yield _made("partial-three-mistakes", "partial", wrong, losing=frozenset(three))


def _without_answers(notebook: Any) -> None:
    for answer in course.load(LAB).parts[LAB_NOTEBOOK].by_person:
        cell(notebook, answer.grade_id).source = cell(released(LAB_NOTEBOOK), answer.grade_id).source


# ---------------------------------------------------------------- broken


def _broken() -> Iterator[Submission]:
    for name in ("broken-syntax-error", "hostile-endless-loop", "hostile-exit", "hostile-lying-shape"):
        yield _sample(name, "broken")
    for name, change in CHANGES.items():
        yield _made(f"broken-{name}", "broken", changed(_solution(), *change))
    gone = changed(_solution(), _without_cell("step7-prefix-gap"))
    yield _made("broken-cell-gone", "broken", gone, losing=frozenset({"prefix_gap"}), nothing=True)

    lab = json.dumps(_solution()).encode("utf-8")
    every = functions(LAB_NOTEBOOK)
    file = f"{LAB_NOTEBOOK}.ipynb"
    yield Submission("broken-renamed", "broken", "My lab (final) [2].ipynb", lab)
    yield Submission("broken-byte-order-mark", "broken", file, b"\xef\xbb\xbf" + lab, unreadable=True)
    module = build.module(_solution())
    yield Submission("broken-module", "broken", f"{LAB_NOTEBOOK}.py", module)
    for name, content in {"no-notebook": samples.NO_NOTEBOOK.encode(), "cut-off": b'{"cells": [', "empty": b""}.items():
        yield Submission(f"broken-{name}", "broken", file, content, losing=every, nothing=True, unreadable=True)


def _more(source: str, at: int | None = None) -> Change:
    """One more code cell, at the end or in front of the cell of this number."""

    def change(notebook: Any) -> None:
        new = nbformat.v4.new_code_cell(source.strip(), id=f"more-{len(notebook.cells)}")
        notebook.cells.insert(len(notebook.cells) if at is None else at, new)

    return change


def _without_cell(grade_id: str) -> Change:
    def change(notebook: Any) -> None:
        notebook.cells.remove(cell(notebook, grade_id))

    return change


def _edited_setup(notebook: Any) -> None:
    """A read-only cell, in which somebody turned the check off and imported something of theirs."""
    setup = cell(notebook, "setup")
    setup.source += "\nimport numpy as np, statistics\n\ndef check(*steps, **more):\n    print('all passed')"


def _loud(notebook: Any) -> None:
    """Outputs of some megabytes."""
    for one in changes.check_cells(notebook):
        one.outputs = [nbformat.v4.new_output("stream", name="stdout", text="still running …\n" * 30_000)]


def _foreign(notebook: Any) -> None:
    notebook.metadata["kernelspec"] = {"name": "no-such-kernel", "display_name": "Another", "language": "julia"}


#: What became of a solution on its way: none of it costs a point.
CHANGES: dict[str, tuple[Change, ...]] = {
    "warning": (changes.warning,),
    "points-changed": (changes.points,),
    "checks-deleted": (changes.without_checks,),
    "cells-duplicated": (changes.twice,),
    "cells-renamed": (changes.other_names,),
    "checks-edited": (changes.edited_checks,),
    "read-only-edited": (_edited_setup,),
    "re-saved": (changes.without_metadata,),
    "outputs-large": (_loud,),
    "foreign-kernel": (_foreign,),
    "endless-cell": (_more("while True:\n    pass"),),
    "exit-in-a-cell": (_more("import os\n\nos._exit(0)", at=6),),
    "magics": (_more("%matplotlib inline\n!ls\n%timeit -n 1 -r 1 sum(range(9))", at=6),),
}


# ---------------------------------------------------------------- both


@cache
def _solution(notebook: str = LAB_NOTEBOOK) -> Any:
    return right(notebook)


def _sample(name: str, kind: str) -> Submission:
    book = samples.books(name)[LAB_NOTEBOOK]
    nothing = kind == "broken" and name != "hostile-lying-shape"
    return _made(name, kind, book, losing=frozenset(SAMPLES[name]), nothing=nothing)


def _made(name: str, kind: str, notebook: Any, of: str = LAB_NOTEBOOK, **more: Any) -> Submission:
    return Submission(name, kind, f"{of}.ipynb", json.dumps(notebook).encode("utf-8"), of, **more)
