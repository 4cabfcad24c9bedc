"""Try one size in a child process under a memory limit: finding the limit must not take the machine down."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attnlab.childprocess import command, environment
from attnlab.words import clean

#: 1 GiB: enough to see the square, and little enough for any laptop.
LIMIT_BYTES = 2**30

Resource = Literal["memory", "time"]

#: How the child says what happened; any other code, or a signal, means that it was killed.
FITS, TOO_LARGE, RAISED, UNREADABLE = 0, 41, 42, 43


@dataclass(frozen=True)
class ChildRun:
    """What happened to one size: ``fits``, or the ``resource`` that ran out, with a sentence."""

    fits: bool
    resource: Resource | None
    detail: str


def fits_in_child(
    fn: Callable[[int], object], n: int, limit_bytes: int = LIMIT_BYTES, seconds: float = 120.0
) -> bool:
    """Whether ``fn(n)`` runs through in a child process within ``limit_bytes`` of memory and ``seconds``.

    ``limit_bytes`` is what ``fn`` may take beyond what Python and its libraries occupy. ``fn`` may be written
    in a notebook, a lambda included: it is sent to the child with what it uses. RuntimeError with the text of
    any other exception that ``fn`` raises, because that says nothing about the size.

        largest_n(lambda n: fits_in_child(one_run, n))
    """
    return run_in_child(fn, n, limit_bytes, seconds).fits


def run_in_child(
    fn: Callable[[int], object], n: int, limit_bytes: int = LIMIT_BYTES, seconds: float = 120.0
) -> ChildRun:
    """As ``fits_in_child``, and also which resource ran out."""
    import cloudpickle  # type: ignore[import-untyped,unused-ignore]

    with tempfile.TemporaryDirectory(prefix="attnlab-", ignore_cleanup_errors=True) as folder:
        job, said = Path(folder, "job"), Path(folder, "said")
        # The child gets this process's import path first, so that a module beside the notebook is found.
        where = cloudpickle.dumps((list(sys.path), str(Path.cwd()), limit_bytes))
        try:
            job.write_bytes(where + cloudpickle.dumps((fn, n)))
        except Exception as error:  # an open file, a lock, a running generator: pickle raises many kinds
            raise RuntimeError(f"fn cannot be sent to a child process: {clean(error)}") from error
        try:
            done = subprocess.run(
                command("attnlab.guard_child", str(job), str(said)),
                env=environment(ATTNLAB_GRADING="1"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ChildRun(False, "time", f"n = {n:,} was not done after {seconds:g} seconds.")
        text = said.read_text(encoding="utf-8") if said.exists() else ""
    if done.returncode == FITS:
        return ChildRun(True, None, f"n = {n:,} fits.")
    if done.returncode in (RAISED, UNREADABLE):
        raise RuntimeError(f"n = {n:,} could not be tried: {clean(text)}")
    return ChildRun(False, "memory", f"n = {n:,} needs more than {limit_bytes / 2**30:.3g} GiB.")
