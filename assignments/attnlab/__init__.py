"""The student package of the attention lab: public checks, meters, a memory guard and a toy model.

``from attnlab import answer, attempt, check, experiment, pack, progress`` is all that a notebook needs. Importing this
package is cheap: nothing heavier than the standard library is loaded until a name is used.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attnlab.validating import is_validating

if TYPE_CHECKING:
    from attnlab.answering import answer
    from attnlab.checking import check
    from attnlab.overview import progress
    from attnlab.packing import pack

__version__ = "0.1.0"
__all__ = ["answer", "attempt", "check", "experiment", "pack", "progress"]

#: Set to "1" by a grader and by ``attnlab check``: code runs, experiments and panels do not.
GRADING = "ATTNLAB_GRADING"

_HOME = {
    "answer": "attnlab.answering",
    "check": "attnlab.checking",
    "pack": "attnlab.packing",
    "progress": "attnlab.overview",
}


def is_grading() -> bool:
    """Whether this process only loads the lab's functions, for a grader or for ``attnlab check``."""
    return os.environ.get(GRADING) == "1"


def experiment(name: str) -> bool:
    """Whether a cell that measures, plots or writes files should run: ``if experiment(__name__):``.

    ``name`` is the module's ``__name__``. True in a notebook and in a script that is run directly, where it
    is ``"__main__"``; False where the file is imported or graded, so that a module loads in no time, and under
    ``nbgrader validate``, which gives a cell half a minute.
    """
    return name == "__main__" and not is_grading() and not is_validating()


@contextlib.contextmanager
def attempt(label: str) -> Iterator[None]:
    """Say in one line that something is not written yet, instead of stopping the notebook there.

    For cells that show what a step does: ``with attempt("step 5"):``. Only NotImplementedError is taken that
    way; every other exception passes through.
    """
    try:
        yield
    except NotImplementedError as missing:
        print(f"{label}: not written yet, so this cell stops here. {missing}".rstrip())


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'attnlab' has no attribute {name!r}")
    import importlib

    found: object = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
