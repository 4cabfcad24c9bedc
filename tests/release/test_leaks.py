"""No solution and no hidden check is in anything that is handed out, and a doctored archive is noticed."""

from __future__ import annotations

import copy
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from autograder.release import command, leaks
from autograder.release.masters import Master

SOLUTION_LINE = "scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])"


@pytest.fixture(scope="module")
def secret(root: Path, lab_masters: list[Master]) -> dict[str, leaks.Secret]:
    return leaks.secrets(root, "lab07", lab_masters)


@pytest.fixture(scope="module")
def solution(lab_masters: list[Master]) -> str:
    """The first function of the lab, as its author wrote it."""
    return next("\n".join(region.solution) for master in lab_masters for _, region in master.regions())


@pytest.fixture(scope="module")
def hidden_check(root: Path) -> str:
    path = min(Path(root, "autograder/checks/lab07").glob("test_*.py"))
    return path.read_text(encoding="utf-8")


def zipped(**files: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def tarred(name: str, content: str) -> bytes:
    buffer, data = io.BytesIO(), content.encode()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def notebook(source: str, output: str = "") -> bytes:
    outputs = [{"output_type": "stream", "name": "stdout", "text": output.splitlines(keepends=True)}]
    cell = {
        "cell_type": "code",
        "source": source.splitlines(keepends=True),
        "outputs": outputs,
        "metadata": {},
    }
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def test_what_is_committed_for_students_gives_nothing_away(root: Path, secret: dict[str, leaks.Secret]) -> None:
    paths = [path for folder in ("release", "assignments") for path in Path(root, folder).rglob("*")]
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and not {"__pycache__", "dist", "build"} & set(path.parts)
    }
    assert any(name.endswith(".zip") for name in files)
    assert leaks.leaks(files, secret) == []


def test_solutions_and_checks_are_known_as_secrets(secret: dict[str, leaks.Secret]) -> None:
    sources = {given.source for given in secret.values()}
    assert any("step1-attention" in source for source in sources)
    assert any(source.startswith("autograder/checks/lab07/") for source in sources)
    assert any(source.startswith("autograder/reference/") for source in sources)


def test_one_solution_line_in_a_zip_in_a_zip_is_found(secret: dict[str, leaks.Secret]) -> None:
    inner = zipped(helper__py=f"def f(Q, K):\n    {SOLUTION_LINE}\n")
    found = leaks.leaks({"release/lab07/lab07.zip": zipped(inner__zip=inner, ok__txt="hello")}, secret)
    assert [problem.where for problem in found] == ["release/lab07/lab07.zip/inner.zip/helper.py"]
    assert "step1-attention" in found[0].what


@pytest.mark.parametrize(
    "text",
    [
        f"# {SOLUTION_LINE}",  # commented out
        f"Write `{SOLUTION_LINE}` there.",  # in a sentence
        "def f(Q,K):\n  scores=( Q@np.swapaxes( K,-1,\n  -2 )/math.sqrt(Q.shape[-1]) )",  # laid out anew
        f'TEXT = """\n{SOLUTION_LINE}\n"""',  # in a string
    ],
)
def test_a_solution_in_other_clothes_is_found(secret: dict[str, leaks.Secret], text: str) -> None:
    assert leaks.leaks({"release/lab07/notes.py": text.encode()}, secret)


def test_a_whole_solution_in_a_notebook_is_found(secret: dict[str, leaks.Secret], solution: str) -> None:
    assert leaks.leaks({"release/a.ipynb": notebook(f"def softmax(x, axis=-1):\n{solution}")}, secret)
    assert leaks.leaks({"release/a.ipynb": notebook("pass", output=solution)}, secret)


def test_a_solution_in_a_master_with_nothing_to_solve_is_found(
    root: Path, lab_masters: list[Master], secret: dict[str, leaks.Secret]
) -> None:
    explorers = lab_masters[-1]
    assert explorers.regions() == []
    doctored = copy.deepcopy(explorers)
    doctored.notebook.cells[1].source += f"\n{SOLUTION_LINE}"
    assert leaks.secrets(root, "lab07", [*lab_masters[:-1], doctored]) == secret


def test_a_hidden_check_is_found(secret: dict[str, leaks.Secret], hidden_check: str) -> None:
    found = leaks.leaks({"release/tests.tar.gz": tarred("tests/step1.py", hidden_check)}, secret)
    assert [problem.where for problem in found] == ["release/tests.tar.gz/tests/step1.py"] * len(found)
    assert any("autograder/checks/lab07/" in problem.what for problem in found)


def test_the_reference_is_found(root: Path, secret: dict[str, leaks.Secret]) -> None:
    text = Path(root, "autograder/reference/attention.py").read_bytes()
    assert leaks.leaks({"assignments/attnlab/truth.py": text}, secret)


@pytest.mark.parametrize("name", ["cache.pyc", "answers.pickle", "broken.zip", "latin.txt", "broken.ipynb"])
def test_what_cannot_be_searched_is_refused(secret: dict[str, leaks.Secret], name: str) -> None:
    found = leaks.leaks({f"release/lab07/{name}": b"\xff\xfe\x00 not what its name says"}, secret)
    assert [problem.where for problem in found] == [f"release/lab07/{name}"]
    assert "cannot be searched" in found[0].what


def test_what_the_skeleton_shows_is_no_secret(tree: dict[str, bytes], secret: dict[str, leaks.Secret]) -> None:
    assert leaks.leaks(command.handed_out(tree), secret) == []
