"""Every command in docs/ is run, page by page, in a copy of the repository; what is not says why in its fence.

A block of commands begins with one of

    ```sh                           must end with exit code 0
    ```sh exit=1                    its last command ends with 1, those before it with 0
    ```sh not-run="the reason"      is only read
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import launch

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
#: What a clone of the repository has, and a page may use.
KEPT = ("assignments", "autograder", "docs", "release", "solutions", "source", "tests")
FILES = ("Makefile", "README.md", "LICENSE", "constraints.txt", "nbgrader_config.py", "pyproject.toml")
#: Fences of other languages hold no commands.
LANGUAGES = ("", "json", "markdown", "python", "text", "toml")
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_SH = re.compile(r'sh(?: exit=(?P<exit>\d+)| not-run="(?P<why>[^"]{10,})")?')


@dataclass(frozen=True)
class Block:
    """Commands of a page; ``why`` says why they are not run."""

    line: int
    commands: str
    exit: int
    why: str


def blocks(page: Path) -> list[Block]:
    """The blocks of commands on a page. Fails where a fence says something that nobody understands."""
    text, found = page.read_text(encoding="utf-8"), []
    for fence in _FENCE.finditer(text):
        info, line = fence["info"].strip(), text.count("\n", 0, fence.start()) + 1
        if info.partition(" ")[0] in LANGUAGES:
            continue
        match = _SH.fullmatch(info)
        assert match, f"{page.name}, line {line}: the fence {info!r} is of no known kind"
        found.append(Block(line, fence["body"], int(match["exit"] or 0), match["why"] or ""))
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The repository, without what was built or installed in it."""
    copied = tmp_path / "attnlab"
    copied.mkdir()
    for name in KEPT:
        shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in FILES:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, copied / name)
    return copied


def environment(copied: Path) -> dict[str, str]:
    """A person's own: the commands of this interpreter first, the copy's code before the installed one."""
    home = copied.parent / "home"
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ATTNLAB", "PYTEST", "COV"))}
    return {
        **environ,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(copied), str(copied / "assignments")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AUTOGRADER_ROOT": str(copied),
        "NO_COLOR": "1",
    }


def pages_with_commands() -> list[Path]:
    return [page for page in PAGES if any(not block.why for block in blocks(page))]


def parametrized() -> list[Any]:
    """The pages whose commands release or grade for half a minute are run by ``make soak``."""
    slow = ("instructor", "teaching-assistant")
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.soak] if page.stem in slow else [])
        for page in pages_with_commands()
    ]


@pytest.mark.parametrize("page", parametrized())
def test_the_commands_of_a_page_do_what_the_page_says(page: Path, copy: Path) -> None:
    if any(word in block.commands for block in blocks(page) if not block.why for word in ("grade ", "release ")):
        try:
            launch.choose("auto")
        except launch.NoIsolation as why:
            pytest.skip(str(why))
    environ = environment(copy)
    for block in blocks(page):
        if block.why:
            continue
        script = f"set -eu\n{block.commands}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=copy,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=240,
            check=False,
        )
        said = f"{page.name}, line {block.line}:\n{block.commands}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == block.exit, said
        assert "Traceback" not in done.stderr, said


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_link_and_picture_of_a_page_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:assignments|autograder|docs|source|solutions|release|tests)/[\w./-]*\w/?)`", text):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_wheel_that_students_install_is_in_what_they_get() -> None:
    (wheel,) = re.findall(r"\S+\.whl", (ROOT / "docs" / "student.md").read_text(encoding="utf-8"))
    with zipfile.ZipFile(ROOT / "release" / "lab07" / "lab07.zip") as handed_out:
        assert f"lab07/{wheel}" in handed_out.namelist()


def test_every_picture_is_made_by_a_script() -> None:
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.py"))
    for picture in (ROOT / "docs" / "images").iterdir():
        made = f'"{picture.name}"' in scripts or f'"{picture.stem}"' in scripts
        assert made, f"no script in docs/ makes {picture.name}"


def test_pictures_load_nothing_from_a_network() -> None:
    for picture in (ROOT / "docs" / "images").glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"(?:href|src)=\"(?!#)|url\(['\"]?https?:|@import", text), picture.name


def test_the_picture_of_the_architecture_is_what_its_script_draws() -> None:
    from docs import draw_architecture

    assert draw_architecture.PICTURE.read_text(encoding="utf-8") == draw_architecture.picture()
