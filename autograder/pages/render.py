"""The room of the templates: all text escaped, nothing loaded, one script at most; how points and prose are shown."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.pages import words
from autograder.spelling import clip, spell_all
from autograder.table import number, points

#: Characters of a message on a page; the result has all of it.
MAX_MESSAGE = 1500

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Hint(Protocol):
    """What a page says about a suspect: a sentence, the place in the chapter, and its code, for those who teach."""

    @property
    def hint(self) -> str: ...
    @property
    def read(self) -> str: ...
    @property
    def source(self) -> str: ...


@cache
def environment() -> Environment:
    # Every template is escaped, whatever its ending; a misspelt name is an error, not an empty place.
    env = Environment(
        loader=PackageLoader("autograder.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters["points"] = shown
    env.filters["in_points"] = lambda value: f"{shown(value)} {'point' if shown(value) == '1' else 'points'}"
    env.filters["reading"] = lambda read: read if "article" in read else f"section {read}"
    env.filters["label"] = words.task_label
    env.filters["total"] = lambda values: points(list(values))
    env.filters["task"] = words.task_name
    env.filters["short"] = lambda text, length=MAX_MESSAGE: clip(spell_all(text), length)
    env.filters["prose"] = prose
    env.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.0f}\N{NO-BREAK SPACE}%"
    env.filters["signed"] = lambda value: "–" if value is None else f"{value:+.2f}".replace("-", "−")
    env.filters["plural"] = lambda count, one, many=None: f"{count} {one if count == 1 else many or one + 's'}"
    # The one script: a page that has it allows just this text, by its hash, and nothing that anybody slipped in.
    script = Path(__file__).with_name("templates").joinpath("sort.js").read_text(encoding="utf-8")
    env.globals["script"] = Markup(script)  # noqa: S704 (our own file)
    env.globals["script_hash"] = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    env.globals["wording"] = words.WORDING
    env.globals["why"] = words.UNDECIDED
    return env


def shown(value: float) -> str:
    """Points as a page shows them: two decimals at most. The table and the results have four."""
    return number(round(value, 2))


def prose(text: str) -> Markup:
    """Escaped text with what stands between two backticks as code, and powers of ten as they are written by hand.

    A lone backtick stays as it is.
    """
    pieces = re.split(r"`([^`\n]{1,80})`", text)
    # Every second piece was between backticks.
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if i % 2 else _powers(piece) for i, piece in enumerate(pieces)
    )


def _powers(text: str) -> str:
    """``10^-14`` as 10⁻¹⁴, and ``10^0`` as 1."""

    def power(match: re.Match[str]) -> str:
        exponent = int(match[1])
        return "1" if exponent == 0 else "10" + str(exponent).translate(_RAISED)

    return re.sub(r"\b10\^(-?\d{1,3})\b", power, text)
