"""Archives that come out the same, byte for byte, on every machine and every day."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.release.problem import Problem, Refused

#: The earliest time that a zip entry can carry.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def packed(entries: Mapping[str, bytes]) -> bytes:
    """A zip of ``entries`` (path → content): sorted, one time stamp, one mode.

    Stored, not compressed: what a compressor writes depends on its version.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, entries[name])
    return buffer.getvalue()


def wheel(project: Path, package: str) -> tuple[str, bytes]:
    """Name and content of the wheel of a package in ``project`` (a folder with a ``pyproject.toml``), without network.

    It is built from a copy of the package alone, so that nothing else can get in. Raises ``Refused`` with the build's
    own last words.
    """
    with TemporaryDirectory(prefix="wheel-") as scratch:
        copy = Path(scratch, "project")
        shutil.copytree(project / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            if (project / name).is_file():
                shutil.copy(project / name, copy / name)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(Path(scratch, "out"))]
        built = subprocess.run(command, cwd=copy, capture_output=True, text=True, encoding="utf-8", check=False)
        wheels = sorted(Path(scratch, "out").glob("*.whl"))
        if built.returncode or len(wheels) != 1:
            said = (built.stderr or built.stdout).strip().splitlines()[-1:] or ["no wheel came out"]
            raise Refused(
                [Problem(f"{project.name}/pyproject.toml", f"The wheel cannot be built: {said[0]}.", "Mend it.")]
            )
        with zipfile.ZipFile(wheels[0]) as archive:
            entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        return wheels[0].name, packed(entries)
