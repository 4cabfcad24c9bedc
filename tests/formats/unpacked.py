"""Archives as an instructor makes them, unpacked as a platform unpacks them, with the grader from their own wheels.

The wheels are not installed but put in front of what is: so what runs is what the archive carries, whatever happens
to the clone meanwhile.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from autograder.course import find_root, load
from autograder.release import carry

SEED = "a seed for these tests only"


@dataclass(frozen=True)
class Archives:
    """``folder`` has them all; ``site`` holds the packages of their wheels."""

    folder: Path
    site: Path

    @property
    def gradescope(self) -> Path:
        return self.folder / "lab07-gradescope.zip"

    def otter(self, notebook: str = "attention_lab") -> Path:
        return self.folder / f"{notebook}-autograder.zip"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.site)}

    def run_script(self, root: Path) -> subprocess.CompletedProcess[str]:
        """``run_autograder`` of the archive that is unpacked in ``root``, as Gradescope calls it."""
        python = self.folder / "python"
        text = f'#!/bin/sh\n[ "$1" = -I ] || exit 9\nshift\nexec "{sys.executable}" -P "$@"\n'
        python.write_text(text, encoding="utf-8")
        python.chmod(0o755)
        return subprocess.run(
            ["bash", str(root / "source" / "run_autograder")],
            env={**self.environment, "ATTNLAB_PYTHON": str(python), "ATTNLAB_AUTOGRADER": str(root)},
            cwd=root / "submission",
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )


@functools.cache
def archives() -> Archives:
    """Made once for all tests of this process."""
    folder = Path(tempfile.mkdtemp(prefix="archives-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = find_root()
    course = load("lab07", root)
    for platform in ("gradescope", "otter"):
        carry.write(platform, root, course, SEED, folder)
    made = Archives(folder, folder / "site")
    with zipfile.ZipFile(made.gradescope) as archive:
        for name in archive.namelist():
            if name.endswith(".whl"):
                with archive.open(name) as file, zipfile.ZipFile(file) as wheel:
                    wheel.extractall(made.site)
    return made


def platform_folder(root: Path, archive: Path, submission: dict[str, bytes]) -> Path:
    """The layout of ``/autograder`` in Gradescope's container, in ``root``."""
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(root / "source")
    for path, content in submission.items():
        file = root / "submission" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root
