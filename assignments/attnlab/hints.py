"""Hints for every step in three depths; the texts are in ``hints*.toml`` beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from attnlab.steps import BY_ID

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
        for step in BY_ID.values()
        for depth in DEPTHS
        if not texts.get(step.id, {}).get(str(depth), "").strip()
    ]


@cache
def _texts() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    for path in sorted(Path(__file__).parent.glob("hints*.toml")):
        texts |= tomllib.loads(path.read_text(encoding="utf-8"))
    return texts
