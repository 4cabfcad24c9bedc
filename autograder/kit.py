"""Which grader made a result: a version that changes whenever something does that could change a mark."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course import course_file
from autograder.policy import TABLES

VERSION = "0.1.0"


def kit_version(root: Path | None = None) -> str:
    """``0.1.0+`` and 12 hex digits over the Python sources of the grader, of attnlab, and course.toml.

    attnlab counts because the toy model and the meters that checks hand to a submission are in it. Deadlines,
    overrides and the like do not: they are applied to results that are there, and nothing is run again for them.
    """
    return _digest([*_sources("autograder"), *_sources("attnlab")], _course(course_file(root)))


def code_version() -> str:
    """The same over the Python sources alone: what a machine of a cluster has of the grader, without the course."""
    return _digest([*_sources("autograder"), *_sources("attnlab")])


def _digest(files: Iterable[tuple[str, Path]], course: bytes = b"") -> str:
    digest = hashlib.sha256(course)
    for name, path in files:
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return f"{VERSION}+{digest.hexdigest()[:12]}"


def _course(path: Path) -> bytes:
    """course.toml without comments and without what makes the policy of an assignment."""
    content = path.read_bytes()
    try:
        tables = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return content  # whoever loads it says what is wrong with it
    for table in tables.values():
        for name in TABLES if isinstance(table, dict) else ():
            table.pop(name, None)
    return json.dumps(tables, sort_keys=True, default=str).encode("utf-8")


def _sources(package: str) -> Iterator[tuple[str, Path]]:
    """Name and path of every module of an installed package, in an order that no file system decides."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        base = Path(folder)
        for path in sorted(base.rglob("*.py"), key=lambda p: p.relative_to(base).as_posix()):
            yield f"{package}/{path.relative_to(base).as_posix()}", path
