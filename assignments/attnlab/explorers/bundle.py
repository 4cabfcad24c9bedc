"""An explorer's JavaScript as one piece, and as a page that needs neither a kernel nor a network.

The modules in ``js/`` import each other by name. A widget is given one text, and a page opened from a folder may not
load others, so the modules are put one after another, each before those that import it.
"""

from __future__ import annotations

import html
import json
import re
import string
from functools import cache
from pathlib import Path

from attnlab.explorers.catalogue import About

HERE = Path(__file__).parent
#: Not a file: the numbers that an explorer is given, as constants.
GIVEN = "given.js"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function)", re.MULTILINE)


def module(about: About) -> str:
    """The explorer as an ECMAScript module: ``explorer`` with its ``numbers``, and ``render`` for a widget."""
    widget = "export default { render: (context) => mount(context, explorer) };"
    return f"{_joined(about)}export {{ explorer }};\n{widget}\n"


def page(about: About) -> str:
    """The explorer as one HTML file, the same bytes every time."""
    template = string.Template(_file("page.html"))
    return template.substitute(
        title=html.escape(about.title),
        about=html.escape(about.about),
        style=_file("style.css"),
        script=_joined(about) + _file("page.js"),
    )


def style() -> str:
    """The stylesheet that all explorers share."""
    return _file("style.css")


def _joined(about: About) -> str:
    parts: dict[str, str] = {}
    _collect(f"{about.module}.js", about, parts)
    return "\n".join(parts.values())


def _collect(name: str, about: About, parts: dict[str, str]) -> None:
    """Add a module and, before it, what it imports."""
    source = _given(about) if name == GIVEN else _file(f"js/{name}")
    for wanted in _IMPORT.findall(source):
        if wanted not in parts:
            _collect(wanted, about, parts)
    parts[name] = _EXPORT.sub("", _IMPORT.sub("", source))


def _given(about: About) -> str:
    said = {"title": about.title, "section": about.section, "about": about.about}
    constants = {"ABOUT": said, **about.given()}
    return "".join(f"const {name} = {json.dumps(value, ensure_ascii=False)};\n" for name, value in constants.items())


@cache
def _file(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
