"""The solution of a step, for self-learners, where a ``solutions/`` folder is near; none is in here."""

from __future__ import annotations

import ast
from pathlib import Path

from attnlab.files import Unreadable
from attnlab.step import Step
from attnlab.steps import functions
from attnlab.words import clean


def find(start: Path, step: Step) -> Path | None:
    """The step's notebook filled in, in a folder ``solutions/<assignment>/`` in ``start`` or in a folder above it."""
    for folder in (start, *start.parents):
        for candidate in sorted((folder / "solutions").glob(f"*/{step.notebook}.py")):
            if candidate.is_file():
                return candidate
    return None


def source(path: Path, step: Step) -> str:
    """The text of the step's functions, and of helpers that they use and no step asks for."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError) as error:
        raise Unreadable(f"{clean(path)} cannot be read: {clean(error)}.") from None
    defined = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    if not step.functions:
        raise Unreadable(f"{step.name} has no function; the answers are in {clean(path.with_suffix('.ipynb'))}.")
    wanted = [name for name in step.functions if name in defined]
    if not wanted:
        raise Unreadable(f"{clean(path)} does not define the functions of {step.name.lower()}.")
    for name in wanted:  # grows while it runs: a helper may use another one
        used = {node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)}
        wanted += [other for other in defined if other in used and other not in (*wanted, *functions(step.notebook))]
    lines = text.splitlines()
    parts = []
    for name in sorted(wanted, key=lambda found: defined[found].lineno):
        node = defined[name]
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        parts.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n\n".join(parts)
