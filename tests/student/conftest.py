"""A right answer to the lab, as text and as a namespace, that the tests bend in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RIGHT = Path(__file__).with_name("right_lab.py").read_text(encoding="utf-8")

#: The skeleton of every function, as it is handed out.
EMPTY = "raise NotImplementedError('This is yours to write.')"


@pytest.fixture
def right_source() -> str:
    return RIGHT


@pytest.fixture
def namespace() -> dict[str, Any]:
    """The functions of the right answer, as after running its cells while the file is only loaded."""
    names: dict[str, Any] = {"__name__": "attention_lab"}
    exec(compile(RIGHT, "right_lab.py", "exec"), names)
    return names


@pytest.fixture
def bent(namespace: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """``bent(source)``: the right answer with the definitions of ``source`` on top of it."""

    def bend(source: str) -> dict[str, Any]:
        exec(compile(source, "<cell 7>", "exec"), namespace)
        return namespace

    return bend


@pytest.fixture
def lab_file(tmp_path: Path) -> Callable[..., Path]:
    """``lab_file(more="", name=...)``: the right answer in a file, with ``more`` as its last cell."""

    def write(more: str = "", name: str = "attention_lab.py", text: str = RIGHT) -> Path:
        path = tmp_path / name
        path.write_text(f"{text}\n# %%\n{more}\n", encoding="utf-8")
        return path

    return write
