"""Which grader made a result: a version that changes whenever something does that could change a mark."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from autograder.course import course_file

VERSION = "0.1.0"


def kit_version(root: Path | None = None) -> str:
    """``0.1.0+`` and 12 hex digits over the Python sources of the grader, of attnlab, and course.toml.

    attnlab counts because the toy model and the meters that checks hand to a submission are in it.
    """
    digest = hashlib.sha256()
    for name, path in [*_sources("autograder"), *_sources("attnlab"), ("course.toml", course_file(root))]:
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return f"{VERSION}+{digest.hexdigest()[:12]}"


def _sources(package: str) -> Iterator[tuple[str, Path]]:
    """Name and path of every module of an installed package, in an order that no file system decides."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        base = Path(folder)
        for path in sorted(base.rglob("*.py"), key=lambda p: p.relative_to(base).as_posix()):
            yield f"{package}/{path.relative_to(base).as_posix()}", path
