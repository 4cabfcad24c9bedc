"""What people script against stands in the README: every field of a result and of a check, and every verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from autograder.result import CheckResult, Result, Verdict

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def named_in_the_table(head: str) -> set[str]:
    """The names in the first column of the table that begins with ``head``."""
    table = README.partition(f"| {head} |")[2].partition("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("field of a result", Result.__struct_fields__),
        ("field of a check", CheckResult.__struct_fields__),
        ("verdict", get_args(Verdict)),
    ],
)
def test_every_name_is_in_the_readme_and_none_besides(head: str, fields: tuple[str, ...]) -> None:
    assert named_in_the_table(head) == set(fields)
