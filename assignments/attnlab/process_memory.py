"""What this process occupies, in bytes, as the system counts it: now, and at most so far."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def current() -> int:
    """Bytes occupied now (Windows: promised to the process, whether touched or not)."""
    if sys.platform == "linux":
        return _status("VmRSS")
    if sys.platform == "win32":
        return _windows("PagefileUsage")
    said = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return int(said.stdout.strip() or 0) * 1024


def peak() -> int:
    """Bytes occupied at most, since the process began or since ``reset_peak``."""
    if sys.platform == "linux":
        return _status("VmHWM")
    if sys.platform == "win32":
        return _windows("PeakPagefileUsage")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS counts bytes, others KiB


def reset_peak() -> None:
    """Put the mark of ``peak`` back to what is occupied now; only Linux can, elsewhere nothing happens.

    ``ru_maxrss``, which is used more often, cannot be put back, and is even inherited from the parent.
    """
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(field: str) -> int:
    """A ``VmXXX`` field of /proc/self/status; the kernel says kB and means 1,024 bytes."""
    text = _STATUS.read_text(encoding="ascii", errors="replace")
    match = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    if match is None:
        raise OSError(f"{_STATUS} has no {field}.")
    return int(match[1]) * 1024


def _windows(field: str) -> int:
    """A field of PROCESS_MEMORY_COUNTERS for this process."""
    import ctypes

    pools = ("QuotaPeakPagedPoolUsage", "QuotaPagedPoolUsage", "QuotaPeakNonPagedPoolUsage")
    sets = ("PeakWorkingSetSize", "WorkingSetSize")
    sizes = (*sets, *pools, "QuotaNonPagedPoolUsage", "PagefileUsage", "PeakPagefileUsage")

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", ctypes.c_ulong),
            ("PageFaultCount", ctypes.c_ulong),
            *((name, ctypes.c_size_t) for name in sizes),
        )

    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.K32GetProcessMemoryInfo.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong)
    kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
    return int(getattr(counters, field))
