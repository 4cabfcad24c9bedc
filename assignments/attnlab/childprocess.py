"""How this package starts a Python of its own: same interpreter, UTF-8, nothing from the current folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HOME = str(Path(__file__).resolve().parent.parent)


def command(module: str, *arguments: str) -> list[str]:
    """The command line that runs ``module.main()`` of this package in a fresh process, on any system.

    ``-P`` keeps the current folder off the import path, so that a ``random.py`` there cannot get in the way;
    the folder of this package goes to the end of the path, for a checkout that is not installed.
    """
    start = f"import sys; sys.path.append({_HOME!r}); from {module} import main; sys.exit(main())"
    return [sys.executable, "-P", "-X", "utf8", "-c", start, *arguments]


def environment(**extra: str) -> dict[str, str]:
    """The present environment, with one thread for the number libraries, and ``extra``."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **one_thread, "MPLBACKEND": "Agg", **extra}
