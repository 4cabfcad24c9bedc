"""The page on security says what the self-test tries, no layer more and no layer less."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.sandbox import self_test

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "security.md").read_text(encoding="utf-8")


def test_the_table_has_every_layer_that_is_tried_and_no_other() -> None:
    rows = re.findall(r"^\| ([a-z, -]+) \| (?!a submission)", PAGE, re.MULTILINE)
    named = [layer for row in rows for layer in row.split(", ")]
    assert sorted(named) == sorted(self_test.PROMISED["bubblewrap"])


def test_what_another_user_stops_is_what_is_tried_there() -> None:
    listed = re.search(r"these hold: (.*?)\. \*\*Files", PAGE, re.DOTALL)
    assert listed is not None
    assert sorted(" ".join(listed[1].split()).split(", ")) == sorted(self_test.PROMISED["user"])
