"""The explorers as widgets. This module needs ``anywidget``; nothing else in the package does."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from attnlab.explorers import bundle
from attnlab.explorers.catalogue import About


class ExplorerWidget(anywidget.AnyWidget):
    """An explorer in a notebook. ``state`` is what is set in it, ``shown`` the numbers that follow from that."""

    state = traitlets.Dict().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)


def widget(about: About, state: dict[str, Any]) -> ExplorerWidget:
    """The widget of an explorer that starts from ``state``."""
    # anywidget takes its JavaScript from the class: each explorer is one.
    kind = type(about.title, (ExplorerWidget,), {"_esm": bundle.module(about), "_css": bundle.style()})
    made: ExplorerWidget = kind(state=state)
    return made
