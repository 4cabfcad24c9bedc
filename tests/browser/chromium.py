"""The system's Chromium, driven by playwright; and what every page is asked."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Names under which a Chromium may be on the path; another one is named by the variable CHROMIUM.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A container has no user namespace for Chromium's own sandbox and no GPU; the rest keeps it from calling home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: Texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, AA), as "contrast: text".
FAINT = """(root) => {
  const channels = (color) => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = color.slice(0, 3).map((c) => {
      c /= 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  const texts = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.textContent.trim();
    if (!text || element.closest("style, title, desc") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(channels(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) faint.push(`${contrast.toFixed(1)}: ${text.slice(0, 40)}`);
  }
  return faint;
}"""


def missing() -> str:
    """Why no browser can be started here, or nothing."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (pip install playwright)"
    return "" if executable() else f"there is no Chromium on the path ({', '.join(NAMES)}), nor in CHROMIUM"


def executable() -> str | None:
    """Where Chromium is."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started() -> Iterator[Browser]:
    """A browser of its own, which ends with the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        yield browser
        browser.close()


def heard(page: Any) -> list[str]:
    """A list that collects what a page asks for from elsewhere, and whatever its console says."""
    said: list[str] = []
    page.on("console", lambda message: said.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda request: said.append(f"request: {request.url}") if _elsewhere(request.url) else None)
    return said


def _elsewhere(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:", "about:"))


def unfit(page: Any, within: str | None = None) -> list[str]:
    """What axe-core finds serious or critical in a page, or in a part of it; nothing where it is not installed."""
    if importlib.util.find_spec("axe_playwright_python") is None:
        return []
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=within).response["violations"]
    return [
        f"{one['id']}: {node['target']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
