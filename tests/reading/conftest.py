"""Notebooks, archives and folders, made where a test needs them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from autograder.conventions import NOT_GRADED

#: A small assignment of two notebooks: what the reader is told about a course.
SIGNATURES = {
    "attention_lab": {"softmax", "attention", "causal_mask", "KVCache"},
    "exercises": {"exercise1", "exercise2", "exercise3"},
}
LAB = (
    "import numpy as np",
    "def softmax(x, axis=-1):\n    return x",
    "def attention(Q, K, V, mask=None):\n    return Q, K",
)
EXERCISES = ("def exercise1():\n    return 1", "def exercise2():\n    return 2")

Notebook = Callable[..., bytes]
Archive = Callable[[Mapping[str, bytes]], bytes]
Folder = Callable[[Mapping[str, bytes]], Path]


@pytest.fixture
def signatures() -> dict[str, set[str]]:
    return SIGNATURES


@pytest.fixture
def with_extra() -> dict[str, Collection[str]]:
    """The same course with a notebook that is handed out and not graded."""
    return {**SIGNATURES, "explorers": NOT_GRADED}


@pytest.fixture
def notebook() -> Notebook:
    """``notebook(*sources, **top-level keys)``: the bytes of an .ipynb; without sources, an ordinary one."""

    def build(*sources: str, **top: object) -> bytes:
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
            for source in sources or LAB
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **top}).encode()

    return build


@pytest.fixture
def exercises(notebook: Notebook) -> bytes:
    return notebook(*EXERCISES)


@pytest.fixture
def archive() -> Archive:
    """``archive({path: bytes})``: the bytes of a zip."""

    def build(files: Mapping[str, bytes]) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        return buffer.getvalue()

    return build


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """``folder({path: bytes})``: those files on disk, in a folder called ``handed in``; a path that ends in
    ``/`` is an empty folder.
    """

    def build(files: Mapping[str, bytes]) -> Path:
        root = tmp_path / "handed in"
        root.mkdir(exist_ok=True)
        for name, data in files.items():
            if name.endswith("/"):
                (root / name).mkdir(parents=True)
                continue
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return root

    return build
