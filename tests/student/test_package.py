"""What the student package is made of: nothing of the grader, and nothing but itself in its wheel."""

from __future__ import annotations

import ast
from pathlib import Path

import attnlab

HOME = Path(attnlab.__file__).parent
MODULES = sorted(HOME.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level names of every import in a module, however deep it stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_the_student_package_never_imports_the_grader() -> None:
    assert len(MODULES) > 20
    for path in MODULES:
        assert "autograder" not in imported(path), path
        assert "autograder" not in path.read_text(encoding="utf-8"), path


def test_it_needs_only_what_its_pyproject_names() -> None:
    import sys
    import tomllib

    text = (HOME.parent / "pyproject.toml").read_text(encoding="utf-8")
    named = {entry.partition(">")[0] for entry in tomllib.loads(text)["project"]["dependencies"]}
    used = set().union(*map(imported, MODULES)) - set(sys.stdlib_module_names) - {"attnlab"}
    assert used - {"IPython"} <= named


def test_only_the_package_goes_into_the_wheel() -> None:
    import tomllib

    settings = tomllib.loads((HOME.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["attnlab"]
    assert settings["project"]["version"] == attnlab.__version__


def test_no_module_is_longer_than_a_room() -> None:
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path
