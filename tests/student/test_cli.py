"""The command ``attnlab``: exit codes, files of every kind, and no traceback whatever happens."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab import cli
from attnlab.files import Unreadable, cells
from attnlab.run_file import without_magics

LabFile = Callable[..., Path]


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


def notebook(*sources: str, **more: Any) -> dict[str, Any]:
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"language": "python", "name": "python3", "display_name": "Python 3"}},
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{at}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for at, source in enumerate(sources)
        ],
        **more,
    }


def test_a_right_file_exits_with_0(lab_file: LabFile, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", lab_file()) == 0
    out = capsys.readouterr().out
    assert "8 of 8 steps pass" in out
    assert "not the final mark" in out
    assert "\x1b" not in out  # nothing but text when it is not a terminal


def test_a_wrong_file_exits_with_1_and_says_where(
    lab_file: LabFile, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lab_file("def softmax(x, axis=-1):\n    return x / oops\n")
    assert run("check", path, "--step", "1") == 1
    out = capsys.readouterr().out
    assert "NameError" in out
    assert "of attention_lab.py: `return x / oops`" in out
    assert "Traceback" not in out


def test_a_folder_is_searched_by_name_and_then_by_content(lab_file: LabFile, tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text("print('not a lab')\n", encoding="utf-8")
    renamed = lab_file(name="my work.py")
    assert run("check", tmp_path, "--step", "7") == 0
    renamed.unlink()
    assert run("check", tmp_path, "--step", "7") == 2


def test_a_notebook_with_magics_and_a_failing_cell_is_checked_as_far_as_it_goes(
    tmp_path: Path, right_source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "attention_lab.ipynb"
    sources = [
        "%matplotlib inline\n!pip list\nlines = !ls\n?print",
        "%%time\nx = 1",
        "%%bash\nexit 1",
        "1 / 0",
        "def broken(:",
        "import asyncio\nawait asyncio.sleep(0)",
        "exit()",
        right_source,
    ]
    path.write_text(json.dumps(notebook(*sources)), encoding="utf-8")
    assert run("check", path) == 0
    out = capsys.readouterr().out
    assert "In cell 4: It raised ZeroDivisionError" in out
    assert "In cell 5, line 1 is not valid Python" in out


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.ipynb", b'{"cells": [', "cut off"),
        ("a.ipynb", b"[1, 2]", "not a notebook"),
        ("a.ipynb", b'{"cells": []}', "no cells"),
        ("a.ipynb", '{"cells": "ü"}'.encode("latin-1"), "not UTF-8"),
        (
            "a.ipynb",
            json.dumps(notebook("1", metadata={"kernelspec": {"language": "julia"}})).encode(),
            "not in Python",
        ),
        ("a.py", b"\xff\xfe\x00", "not UTF-8"),
        ("a.txt", b"text", "neither a notebook"),
    ],
)
def test_an_unreadable_file_exits_with_2_and_a_sentence(
    name: str, content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert run("check", path) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("check", "no/such/file"),
        ("check", ".", "--step", "9"),
        ("check", ".", "--seconds", "0"),
        ("hint", "step0"),
        ("hint", "step1", "--depth", "4"),
    ],
)
def test_a_wrong_command_exits_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_loop_without_an_end_is_stopped(lab_file: LabFile, capsys: pytest.CaptureFixture[str]) -> None:
    path = lab_file("def softmax(x, axis=-1):\n    while True:\n        pass\n")
    assert run("check", path, "--step", "5", "--step", "1", "--seconds", "5") == 1
    out = capsys.readouterr().out
    assert "Step 5. The exponent: all 7 public checks hold" in out
    assert "While checking step1, it was not done after 5 seconds" in out


def test_a_process_that_ends_is_reported_and_not_followed(
    lab_file: LabFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", lab_file("import os\nos._exit(0)\n"), "--step", "1") == 1
    assert "While running lines" in capsys.readouterr().out


def test_json_has_one_entry_per_check(lab_file: LabFile, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", lab_file(), "--step", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "attnlab-check/1"
    assert found["passed"] is True
    (step,) = found["files"][0]["steps"]
    assert step["step"] == "step2"
    assert {o["verdict"] for o in step["outcomes"]} == {"passed"}


def test_an_old_notebook_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    old = {
        "nbformat": 3,
        "metadata": {},
        "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}],
    }
    path = tmp_path / "old.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(old).encode())
    assert [cell.source for cell in cells(path)] == ["a = 1\nb = 2"]


def test_markdown_cells_of_a_script_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("# %% [markdown]\n# words\n# %%\na = 1\n\n# %% title\nb = 2\n", encoding="utf-8")
    assert [cell.label for cell in cells(path)] == ["lines 3 to 5", "lines 6 to 7"]


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.ipynb"
    with path.open("wb") as stream:
        stream.truncate(2**30)
    with pytest.raises(Unreadable, match="larger than"):
        cells(path)


def test_only_ipython_lines_are_taken_out() -> None:
    source = "a = 1\n  %time b = f(2)\nc = '''\nx'''\n!ls\nhelp?\nd = %env HOME"
    assert without_magics(source).splitlines() == [
        "a = 1",
        "  b = f(2)",
        "c = '''",
        "x'''",
        "pass",
        "pass",
        "d = None",
    ]


def test_hints_go_from_little_to_more(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for depth in (1, 2, 3):
        assert run("hint", "step3", "--depth", depth) == 0
        texts.append(capsys.readouterr().out)
    assert "--depth 2" in texts[0]
    assert "--depth" not in texts[2]


def test_a_solution_is_shown_after_a_pass_or_when_asked_for(
    lab_file: LabFile,
    tmp_path: Path,
    right_source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = lab_file("def causal_mask(n_q, n_k=None):\n    raise NotImplementedError\n")
    assert run("solution", "step7", path) == 2  # no solutions/ near
    solved = tmp_path / "solutions" / "lab07" / "attention_lab.py"
    solved.parent.mkdir(parents=True)
    solved.write_text(right_source, encoding="utf-8")
    capsys.readouterr()
    assert run("solution", "step7", path) == 1
    assert "np.tri" not in capsys.readouterr().out
    assert run("solution", "step7", path, "--reveal") == 0
    assert "np.tri" in capsys.readouterr().out
    assert run("solution", "step7", lab_file()) == 0
    shown = capsys.readouterr().out
    assert "def causal_mask" in shown
    assert "def prefix_gap" in shown
    assert "def softmax" not in shown


def test_the_explorers_are_listed_and_written_as_pages(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("explore") == 0
    assert "kv-cache" in capsys.readouterr().out
    assert run("explore", "kv_cache", "masks", "--write", tmp_path / "pages") == 0
    assert sorted(file.name for file in (tmp_path / "pages").iterdir()) == ["kv-cache.html", "masks.html"]
    assert run("explore", "--write", tmp_path / "all") == 0
    assert len(list((tmp_path / "all").iterdir())) == 7


def test_an_explorer_that_is_not_there_is_a_usage_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("explore", "kv", "--write", tmp_path) == 2
    assert "attention-head, attention-layer" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_output_is_utf8_whatever_the_terminal_says(lab_file: LabFile) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attnlab", "check", str(lab_file()), "--step", "2"],
        env={**__import__("os").environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "√" in done.stdout.decode("utf-8")


def test_of_a_notebook_and_a_module_the_one_that_is_worked_on_is_checked(
    lab_file: LabFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab_file()
    empty = "def softmax(x, axis=-1):\n    raise NotImplementedError('This is yours to write.')\n"
    (tmp_path / "attention_lab.ipynb").write_text(json.dumps(notebook(empty)), encoding="utf-8")
    assert run("check", tmp_path, "--step", "2") == 0
    said = capsys.readouterr()
    assert "attention_lab.ipynb was not checked" in said.err
    assert "Step 2." in said.out
