"""What a sandbox needs besides, so that a submission in it can reach a CUDA device.

Only the sandbox of the measured check gets this, and only under ``--device cuda``; everything else is graded without
a device. The driver is a large piece of the kernel that its device nodes open to whoever may use them, so a GPU
runner should be a machine that holds nothing else of value.

**Not yet run on a GPU**: which nodes and folders are needed is what NVIDIA's and Flatpak's documentation say.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator

#: The cards themselves: NVIDIA's own nodes, and the one that stands for them in WSL 2.
_CARDS = ("/dev/nvidia[0-9]*", "/dev/dxg")
#: What the driver's library opens beside them.
_BESIDE = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/nvidia-caps")
#: Where that library looks for the cards' place in the machine, read-only; and where NixOS keeps it.
_FOLDERS = ("/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module", "/run/opengl-driver")
#: Which card a scheduler gave to this job, and where a container put the driver's library.
PASSED_ON = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH")
#: What the CUDA libraries themselves occupy in a process, and the inputs before they are moved: MiB on top of the
#: memory limit of a submission. Their reservations of address space are larger by far and are not limited.
HOST_MIB = 8192
#: Imported in the warm parent. Nothing in it may touch the device: CUDA does not survive a fork.
PRELOAD = ("autograder.measured.on_device",)


#: Whether this process may use the machine's cards; a worker of a cluster that was not given any may not.
_allowed = True


@contextlib.contextmanager
def allowed(may_use: bool) -> Iterator[None]:
    """While this lasts, the cards of the machine are as good as absent unless this process may use them."""
    global _allowed
    before, _allowed = _allowed, may_use
    try:
        yield
    finally:
        _allowed = before


def cards() -> list[str]:
    """Device nodes of the cards that this machine shows; whether PyTorch can use them is another question."""
    if not _allowed:
        return []
    return sorted(path for pattern in _CARDS for path in glob.glob(pattern))


def binds() -> list[str]:
    """Arguments of bubblewrap, to stand behind its ``--dev``."""
    args: list[str] = []
    for path in [*cards(), *_BESIDE]:
        args += ["--dev-bind-try", path, path]
    for path in _FOLDERS:
        args += ["--ro-bind-try", path, path]
    return args


def environment() -> dict[str, str]:
    """Variables that go into the sandbox beside the usual ones."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}
