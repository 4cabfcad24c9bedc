"""The command ``attnlab`` on ``block_receipts``: files are known for what they are, and parts by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnlab import cli
from tests.filled_in import BLOCK


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solution under its own name in one folder, and under another one in a second."""
    where = tmp_path_factory.mktemp("block")
    for name in ("mine/block_receipts.py", "renamed/my work.py", "solutions/lab07/block_receipts.py"):
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BLOCK.solution(), encoding="utf-8")
    return where


@pytest.mark.parametrize("name", ["mine", "renamed"])
def test_a_right_file_is_known_and_passes(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", folder / name) == 0
    out = capsys.readouterr().out
    assert "15 of 15 parts pass" in out
    assert "✓ Part 1. Two heads" in out


def test_one_part_is_checked_by_its_name(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "block_receipts.py"
    wrong = "\n# %%\ndef expand_kv(k, n_rep):\n    return np.concatenate([k] * n_rep, axis=-3)\n"
    path.write_text(BLOCK.solution() + wrong, encoding="utf-8")
    assert run("check", path, "--step", "gqa_mqa_moe") == 1
    assert "They are tiled" in capsys.readouterr().out
    assert run("check", path, "--step", "multi_head") == 0


def test_a_lab_step_is_not_looked_for_in_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", folder / "mine", "--step", "1") == 2
    assert "attention_lab" in capsys.readouterr().err


@pytest.mark.parametrize("part", BLOCK.tasks)
def test_every_part_has_a_hint(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("hint", part, "--depth", "3") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Part {BLOCK.tasks[part].number}. {BLOCK.tasks[part].title} (")


def test_the_solution_is_shown_once_it_holds_or_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert run("solution", "serving", folder / "mine") == 0
    out = capsys.readouterr().out
    assert out.startswith("def kv_bytes_per_token(")
    assert "def max_context(" in out
    assert "def multi_head(" not in out
    (folder / "empty").mkdir()
    (folder / "empty" / "block_receipts.py").write_text("x = 1\n", encoding="utf-8")
    assert run("solution", "serving", folder / "empty") == 1
    assert "Your part 7 does not hold yet: attnlab check --step serving" in capsys.readouterr().out
    assert run("solution", "serving", folder / "empty", "--reveal") == 0
