"""Under the isolation ``user``: an interpreter in somebody's home, for a user who has no way into that home."""

from __future__ import annotations

import os
import sys
from typing import Any


def open_up(folders: list[str]) -> None:
    """Let another user import from these folders although one above them is closed to others, such as a home.

    A path through an open descriptor begins at the folder itself, and ``..`` leads on from there: whatever lies between
    the folder and the closed one can be read as well, as far as its own mode lets others.
    """
    if not folders:
        return
    opened = {folder: f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}" for folder in folders}

    def moved(path: Any) -> Any:
        folder = max((f for f in folders if f"{path}/".startswith(f"{f}/")), key=len, default=None)
        return path if folder is None else opened[folder] + path[len(folder) :]

    sys.path[:] = map(moved, sys.path)
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        found = getattr(module, "__dict__", {})
        if isinstance(found.get("__path__"), list):
            found["__path__"][:] = map(moved, found["__path__"])
        if isinstance(found.get("__file__"), str):
            found["__file__"] = moved(found["__file__"])
