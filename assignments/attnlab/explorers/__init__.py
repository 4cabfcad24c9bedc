"""The chapter's seven interactive figures, in a notebook and as pages that open without a kernel or a network.

``explore("kv-cache")`` at the end of a cell shows one; ``explore()`` lists them. Everything a figure shows is computed
in the browser by ``js/attention.js``, which the tests hold against NumPy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnlab.explorers import bundle
from attnlab.explorers.catalogue import EXPLORERS, About, find

__all__ = ["EXPLORERS", "Explorer", "explore", "listed", "write"]

WIDGET = "application/vnd.jupyter.widget-view+json"


class Explorer:
    """One figure. It becomes a widget when a notebook shows it; until then it costs nothing."""

    def __init__(self, about: About, state: dict[str, Any]) -> None:
        self.about = about
        self._start = state
        self._widget: Any = None

    @property
    def widget(self) -> Any:
        """The widget itself. Raises `ImportError` with a sentence where ``anywidget`` is missing."""
        if self._widget is None:
            try:
                from attnlab.explorers.widget import widget
            except ImportError as missing:
                raise ImportError(
                    f"The explorers in a notebook need the package anywidget ({missing}). Install it with "
                    f"`pip install anywidget`, or open the page: attnlab explore {self.about.name}"
                ) from None
            self._widget = widget(self.about, self._start)
        return self._widget

    @property
    def state(self) -> dict[str, Any]:
        """What is set in the figure; assign a dictionary to set some of it."""
        return dict(self.widget.state)

    @state.setter
    def state(self, changes: dict[str, Any]) -> None:
        self.widget.state = {**self.widget.state, **changes}

    @property
    def shown(self) -> dict[str, Any]:
        """The numbers that the figure shows now; empty until a notebook has shown it."""
        return dict(self.widget.shown)

    def page(self) -> str:
        """The figure as one HTML file, for a browser without a kernel."""
        return bundle.page(self.about)

    def __repr__(self) -> str:
        return (
            f"{self.about.title} ({self.about.section}). {self.about.about} "
            f"Outside a notebook: attnlab explore {self.about.name}"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        view = self.widget._repr_mimebundle_()  # with metadata, as a pair, or alone
        data = view[0] if isinstance(view, tuple) else view
        return {"text/plain": repr(self), **({WIDGET: data[WIDGET]} if data and WIDGET in data else {})}


class Listing(str):
    """Text that a notebook shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def explore(name: str = "", **state: Any) -> Explorer | Listing:
    """The explorer of that name, or without one a list of them all.

    Keywords set what it starts from: ``explore("kv-cache", tokens=8192, users=16)``. What an explorer does not know,
    or what is out of its range, it leaves as it was.
    """
    return Explorer(find(name), state) if name else Listing(listed())


def listed() -> str:
    """The names of the explorers, with their titles and sections, one a line."""
    width = max(map(len, EXPLORERS))
    return "\n".join(f"{name:<{width}}  {about.title} ({about.section})" for name, about in EXPLORERS.items())


def write(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Write the pages of these explorers, or of all, into ``folder``; gives back the files."""
    chosen = [find(name) for name in names] if names else list(EXPLORERS.values())
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for about in chosen:
        file = folder / f"{about.name}.html"
        file.write_text(bundle.page(about), encoding="utf-8", newline="\n")
        written.append(file)
    return written
