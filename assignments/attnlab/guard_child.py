"""The other side of ``attnlab.guard``: runs one job in this fresh process under a memory limit."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from attnlab import process_memory
from attnlab.guard import FITS, RAISED, TOO_LARGE, UNREADABLE


def main() -> int:
    """Read the job named on the command line, run it, and say by the exit code what happened."""
    job, said = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        with job.open("rb") as stream:
            paths, folder, limit_bytes = pickle.load(stream)  # noqa: S301  written by our own parent
            sys.path[:] = [*paths, *(path for path in sys.path if path not in paths)]
            os.chdir(folder)
            fn, n = pickle.load(stream)  # noqa: S301
    except Exception as error:
        said.write_text(
            f"it could not be sent to a child process ({type(error).__name__}: {error})", encoding="utf-8"
        )
        return UNREADABLE
    limit_memory(limit_bytes)
    try:
        fn(n)
    except MemoryError:
        return TOO_LARGE
    except Exception as error:
        if _means_memory(error):
            return TOO_LARGE
        said.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        return RAISED
    return FITS


def _means_memory(error: Exception) -> bool:
    """PyTorch says it with other exceptions: torch.OutOfMemoryError, or a RuntimeError of its allocator."""
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def limit_memory(limit_bytes: int) -> None:
    """From now on, this process may take ``limit_bytes`` more than it has.

    On Linux the kernel refuses what goes beyond (RLIMIT_AS) and Python raises MemoryError. macOS does not
    keep that limit and Windows has none, so there a thread looks at the memory in use and ends the process.
    """
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        allowed = pages * os.sysconf("SC_PAGE_SIZE") + limit_bytes
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard != resource.RLIM_INFINITY:
            allowed = min(allowed, hard)
        resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
        return
    # A fresh process on macOS is at its peak, and the peak is cheap to ask for; Windows knows both.
    in_use = process_memory.current if sys.platform == "win32" else process_memory.peak
    threading.Thread(target=_watch, args=(in_use() + limit_bytes, in_use), daemon=True).start()


def _watch(allowed: int, in_use: Callable[[], int]) -> None:
    """End the process as soon as it holds more than ``allowed`` bytes."""
    while True:
        if in_use() > allowed:
            os._exit(TOO_LARGE)
        time.sleep(0.002)
