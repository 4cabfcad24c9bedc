"""Hints for every step in three depths; the text is in ``hints.toml`` beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from attnlab.steps import STEPS

DEPTHS = (1, 2, 3)


def hint(step: str, depth: int = 1) -> str:
    """The hint for a step's id at a depth: 1 where to look, 2 how to find out, 3 the idea in words.

    KeyError where there is none.
    """
    return " ".join(_texts()[step][str(depth)].split())


def missing() -> list[str]:
    """Steps and depths without a hint, as ``step3 depth 2``; a release refuses if there are any."""
    texts = _texts()
    return [
        f"{step.id} depth {depth}"
        for step in STEPS
        for depth in DEPTHS
        if not texts.get(step.id, {}).get(str(depth), "").strip()
    ]


@cache
def _texts() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = tomllib.loads(
        Path(__file__).with_name("hints.toml").read_text(encoding="utf-8")
    )
    return texts
