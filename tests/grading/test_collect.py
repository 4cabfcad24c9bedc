"""How hidden checks are found: what one may be, and what is said of one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.checks import collect

DECLARED = """
from autograder.checks.declare import Task

check = Task("lab", "step1")


@check("softmax.one")
"""


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("asks", f"{DECLARED}def test_one(lab, tmp_path): ...\n", "asks for tmp_path: a check can ask for lab"),
        ("undeclared", "def test_one(lab): ...\n", "test_one is not declared"),
    ],
)
def test_a_test_that_can_be_no_check_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    (tmp_path / f"test_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(collect, "folder", lambda assignment: tmp_path)
    with pytest.raises(RuntimeError, match=said):
        collect.checks(str(tmp_path))
