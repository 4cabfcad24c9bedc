"""Do the masters, ``course.toml`` and the hidden checks speak of the same functions and points?"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any

from nbgrader.nbgraderformat import MetadataValidator, ValidationError

from autograder.course import Course, Part
from autograder.release import skeleton
from autograder.release.masters import Master
from autograder.release.problem import Problem

_TASK_HEADING = re.compile(r"^#+ +(Step|Exercise|Part) +(\d+)\b", re.MULTILINE)
_POINTS_LINE = re.compile(r"\*\*Points:\*\* +(\d+(?:\.\d+)?)\b(.*)")
_FEWEST_WORDS = 3


def disagreements(course: Course, master: Master, checked: Collection[str], measured: Collection[str]) -> list[Problem]:
    """What a master and its part of ``course.toml`` say differently.

    ``checked`` are the functions (``step1.softmax``) for which hidden checks are declared; of these,
    ``measured`` need no function of that name, because they measure another one.
    """
    part = course.parts[master.name]
    table = f"source/course.toml, [{course.assignment}.{master.name}"
    return [
        *_functions(part, master, f"{table}.points]", checked, measured),
        *_stubs(course, master, table),
        *_by_person(part, master, f"{table}.by_person]"),
        *_graded_cells(part, master, table),
        *_points_in_prose(part, master),
    ]


def not_graded(master: Master) -> Iterator[Problem]:
    """What looks like an exercise in a notebook that ``course.toml`` gives no points for."""
    asked = {index for index, _ in master.regions()}
    asked |= {i for i, cell in enumerate(master.notebook.cells) if cell.metadata.get("nbgrader", {}).get("grade")}
    for index in sorted(asked):
        yield Problem(
            master.where(index),
            "There is something to solve here, and this notebook is not graded.",
            "Take it out, or list the notebook among the graded ones in source/course.toml.",
        )


def _functions(
    part: Part, master: Master, table: str, checked: Collection[str], measured: Collection[str]
) -> Iterator[Problem]:
    bound = {name for cell in _code(master) for name in _bound(_parsed(skeleton.skeleton(cell.source)))}
    for key in part.points:
        function = key.partition(".")[2]
        if key not in checked:
            near = get_close_matches(key, checked, 1)
            yield Problem(
                table,
                f'"{key}" has points, and no hidden check is declared for it.',
                f'Did you mean "{near[0]}"?' if near else "Write one in autograder/checks, or take the line out.",
            )
        if function not in bound and key not in measured:
            near = get_close_matches(function, bound, 1)
            yield Problem(
                table,
                f'"{key}" has points, and no cell of {master.label} defines {function}.',
                f"Did you mean {near[0]}?" if near else "Define it there, or take the line out.",
            )
    for key in sorted(set(checked) - set(part.points)):
        yield Problem(
            table,
            f'There are hidden checks for "{key}", and it has no points.',
            f'Add a line "{key}" = …, or take the checks out.',
        )


def _stubs(course: Course, master: Master, table: str) -> Iterator[Problem]:
    """Every function that a student writes has points, and says one sentence until it is written.

    One that has its points in another notebook is brought along from there.
    """
    with_points = {key.partition(".")[2] for key in course.parts[master.name].points}
    brought = {key.partition(".")[2] for part in course.parts.values() for key in part.points} - with_points
    for index, cell in enumerate(master.notebook.cells):
        if cell.cell_type != "code" or not skeleton.regions(cell.source):
            continue
        source = skeleton.skeleton(cell.source)
        try:
            statements = ast.parse(source).body
        except SyntaxError as error:
            line = (error.text or "").strip()
            yield Problem(
                master.where(index),
                f"What a student gets of this cell is not Python: {error.msg} at {line!r}.",
                "Look at its SKELETON lines: each is one line of code, at the indentation of the line.",
            )
            continue
        for node in statements:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            stubs = [stub for stub in map(_stub, ast.walk(node)) if stub is not None]
            if stubs and node.name not in with_points | brought:
                yield Problem(
                    f"{table}.points]",
                    f"{node.name} is for students to write ({master.where(index)}), and it has no points.",
                    f'Add a line such as "{_step(cell) or "step1"}.{node.name}" = 4.',
                )
            if node.name in with_points and not stubs:
                yield Problem(
                    master.where(index),
                    f"The skeleton of {node.name} does not raise NotImplementedError, so it looks written.",
                    'Give it a line # SKELETON: raise NotImplementedError("…").',
                )
            for sentence in stubs:
                if len(sentence.split()) < _FEWEST_WORDS:
                    yield Problem(
                        master.where(index),
                        f"The skeleton of {node.name} does not say what is to be written ({sentence!r}).",
                        "Put one sentence into its NotImplementedError.",
                    )


def _by_person(part: Part, master: Master, table: str) -> Iterator[Problem]:
    cells = {cell.id: cell for cell in master.notebook.cells}
    for answer in part.by_person:
        about = cells[answer.grade_id].metadata.get("nbgrader", {}) if answer.grade_id in cells else None
        if about is None:
            yield Problem(
                table,
                f"No cell of {master.label} has the grade_id {answer.grade_id!r} of {answer.function}.",
                "Give that cell this grade_id, or correct the line.",
            )
        elif not (about.get("grade") and about.get("solution")):
            yield Problem(
                f"{master.label} (cell {answer.grade_id})",
                "A person marks this cell, and its nbgrader metadata does not say so.",
                'Set "grade": true and "solution": true.',
            )
        elif about.get("points") != answer.points:
            yield Problem(
                f"{master.label} (cell {answer.grade_id})",
                f"The cell says {about.get('points')} points, and course.toml says {answer.points:g}.",
                "Make them the same.",
            )


def _graded_cells(part: Part, master: Master, table: str) -> Iterator[Problem]:
    """nbgrader's own points: of each step the sum of what is checked in it."""
    try:
        MetadataValidator().validate_nb(master.notebook)
    except (ValidationError, KeyError) as error:
        yield Problem(
            master.label,
            f"nbgrader does not take the metadata of a cell: {error}.",
            "Mend the JSON in its '# %% nbgrader=…' line.",
        )
        return
    by_person = {answer.grade_id for answer in part.by_person}
    cells: dict[str, float] = {}
    for cell in master.notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and cell.id not in by_person:
            step = _step(cell)
            cells[step] = cells.get(step, 0) + about["points"]
    for step, points in sorted(_by_step(part).items()):
        if cells.get(step, 0) != points:
            yield Problem(
                f"{table}.points]",
                f"The functions of {step} have {points:g} points, and its graded cells in {master.label} "
                f"{cells.get(step, 0):g}.",
                f'Correct one. A graded cell has "grade": true and a grade_id such as "{step}-check".',
            )


def _points_in_prose(part: Part, master: Master) -> Iterator[Problem]:
    """A line ``**Points:** 21 (softmax 5, …)`` under a heading ``Step 1``, ``Exercise 2`` or ``Part 3`` repeats
    ``course.toml``. Parts are counted in the order in which they stand there.
    """
    by_step = _by_step(part)
    for answer in part.by_person:
        by_step[answer.task] = by_step.get(answer.task, 0) + answer.points
    for index, cell in enumerate(master.notebook.cells):
        heading, told = _TASK_HEADING.search(cell.source), _POINTS_LINE.search(cell.source)
        if cell.cell_type != "markdown" or not heading or not told:
            continue
        step = _task(heading[1], int(heading[2]), list(by_step))
        if float(told[1]) != by_step.get(step, 0):
            yield Problem(
                master.where(index),
                f"The text gives {step} {told[1]} points, and course.toml {by_step.get(step, 0):g}.",
                "Make them the same.",
            )
        for function, points in re.findall(r"\b(\w+) (\d+(?:\.\d+)?)\b", told[2]):
            listed = part.points.get(f"{step}.{function}")
            if listed is not None and listed != float(points):
                yield Problem(
                    master.where(index),
                    f"The text gives {function} {points} points, and course.toml {listed:g}.",
                    "Make them the same.",
                )


def _task(word: str, number: int, tasks: list[str]) -> str:
    """``step1`` of a heading ``Step 1``; of ``Part 2`` the second of ``tasks``."""
    if word != "Part":
        return f"{word.lower()}{number}"
    return tasks[number - 1] if 0 < number <= len(tasks) else f"part {number}"


def _by_step(part: Part) -> dict[str, float]:
    steps: dict[str, float] = {}
    for key, points in part.points.items():
        step = key.partition(".")[0]
        steps[step] = steps.get(step, 0) + points
    return steps


def _step(cell: Any) -> str:
    """``step1`` of a cell with the grade_id ``step1-softmax``."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", "")).partition("-")[0]


def _code(master: Master) -> list[Any]:
    return [cell for cell in master.notebook.cells if cell.cell_type == "code"]


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module([], [])


def _bound(tree: ast.Module) -> set[str]:
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def _stub(node: ast.AST) -> str | None:
    """The sentence of ``raise NotImplementedError("…")``; empty where it says nothing."""
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(sentence))])):
            return sentence
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError")) | ast.Name(id="NotImplementedError")):
            return ""
    return None
