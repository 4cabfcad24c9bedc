"""Under ``nbgrader validate``, which runs a notebook and reports each graded cell that raises: say why, in words."""

from __future__ import annotations

import contextlib
import io
import os
import textwrap
from collections.abc import Iterator

#: nbgrader truncates longer lines of what it reports.
WIDTH = 80


def is_validating() -> bool:
    """Whether ``nbgrader validate`` runs this notebook."""
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


class PublicChecksError(Exception):
    """Public checks of a step that do not hold yet; a notebook shows their words and no traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of the lines that led here."""
        return [line for said in str(self).splitlines() for line in _wrapped(said)]


def _wrapped(line: str) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, WIDTH, subsequent_indent=f"{indent}  ") or [""]


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Under ``nbgrader validate`` drop what goes to stderr: it takes a warning for a failure."""
    if not is_validating():
        yield
        return
    with contextlib.redirect_stderr(io.StringIO()):
        yield
