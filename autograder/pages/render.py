"""The room of the templates: all text escaped, nothing loaded, one script at most; how points and prose are shown."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from attnlab.words import names as in_a_sentence
from autograder.pages import words
from autograder.result import CheckResult, is_by_person
from autograder.spelling import clip, spell_all
from autograder.table import number, points

#: Characters of a message on a page; the result has all of it.
MAX_MESSAGE = 1500

#: Texts and numbers that are remembered as they are shown. A class has the same ones on every page.
REMEMBERED = 1024

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
    env.filters["in_points"] = in_points
    env.filters["verdict"] = lambda check: sign_and_word(words.worded(check))
    env.filters["worth"] = worth
    env.filters["waits"] = lambda value: "waits" if shown(value) == "1" else "wait"
    env.filters["listed"] = listed
    env.tests["by_person"] = is_by_person
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
    env.globals["worded"] = words.worded
    env.globals["why"] = words.UNDECIDED
    return env


@lru_cache(REMEMBERED)
def shown(value: float) -> str:
    """Points as a page shows them: two decimals at most. The table and the results have four."""
    return number(round(value, 2))


@lru_cache(REMEMBERED)
def prose(text: str) -> Markup:
    """Escaped text with what stands between two backticks as code, and powers of ten as they are written by hand.

    A lone backtick stays as it is.
    """
    pieces = re.split(r"`([^`\n]{1,80})`", text)
    # Every second piece was between backticks.
    return Markup().join(
        Markup("<code>{}</code>").format(piece) if i % 2 else _powers(piece) for i, piece in enumerate(pieces)
    )


@cache
def sign_and_word(said: words.Wording) -> Markup:
    """A verdict as pages show it: the sign never without its word."""
    sign = Markup('<span class="sign" aria-hidden="true">{}</span>').format(said.sign)
    return Markup('<span class="verdict {}">{} {}</span>').format(said.kind, sign, said.word)


def worth(check: CheckResult) -> str:
    """The points of a check in words: what it is worth where that is not decided, else what it earned."""
    if check.verdict in words.UNDECIDED:
        return in_points(check.max_points)
    return f"{shown(check.points)} of {shown(check.max_points)} points"


def in_points(value: float) -> str:
    return f"{shown(value)} {'point' if shown(value) == '1' else 'points'}"


def listed(names: Sequence[str]) -> Markup:
    """Names as code: ``a``, ``a and b``, ``a, b and c``."""
    codes: list[str] = [Markup("<code>{}</code>").format(name) for name in names]
    return Markup(in_a_sentence(codes))  # noqa: S704 (each of them is escaped)


def _powers(text: str) -> str:
    """``10^-14`` as 10⁻¹⁴, and ``10^0`` as 1."""

    def power(match: re.Match[str]) -> str:
        exponent = int(match[1])
        return "1" if exponent == 0 else "10" + str(exponent).translate(_RAISED)

    return re.sub(r"\b10\^(-?\d{1,3})\b", power, text)
