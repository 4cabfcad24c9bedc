"""JupyterLab with a folder of its own, and a notebook in it as a person handles it: by mouse and keyboard."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attnlab

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"

_IDLE = """() => /\\bIdle\\b/.test(document.querySelector("#jp-main-statusbar")?.innerText ?? "")"""
_FIND = """(start) => jupyterapp.shell.currentWidget.content.widgets.findIndex(
  (cell) => cell.model.type === "code" && cell.model.sharedModel.getSource().startsWith(start))"""
_LAST = """() => jupyterapp.shell.currentWidget.content.widgets.findLastIndex(
  (cell) => cell.model.type === "code" && cell.model.sharedModel.getSource().trim() !== "")"""
_FILL = """(sources) => {
  for (const { model } of jupyterapp.shell.currentWidget.content.widgets) {
    const source = sources[model.id];
    if (source !== undefined) model.sharedModel.setSource(source);
  }
}"""
_SHOW = """async (index) => {
  const notebook = jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, "start");
}"""
_COUNT = "(index) => jupyterapp.shell.currentWidget.content.widgets[index].model.executionCount"


@contextmanager
def served(folder: Path, theme: str = LIGHT) -> Iterator[str]:
    """The address of a JupyterLab on ``folder``; nothing of the person's own settings is read or written."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        home = Path(name)
        _set(home, "apputils-extension/themes", {"theme": theme})
        _set(home, "apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False})
        _set(home, "docmanager-extension/plugin", {"autosave": False})
        port = _free_port()
        with (home / "log").open("wb") as log:
            server = subprocess.Popen(
                _command(port, folder), cwd=folder, env=_environment(home), stdout=log, stderr=log
            )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api/status", server, home / "log")
            yield address
        finally:
            server.terminate()  # the server ends its kernels
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _command(port: int, folder: Path) -> list[str]:
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder,
        "ServerApp.password": "",
        "ServerApp.terminals_enabled": False,
        "IdentityProvider.token": "",  # only this machine can reach it
        "LabApp.news_url": None,
        "LabApp.expose_app_in_browser": True,
    }
    given = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *given]


def _environment(home: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "HOME": "home",
    }
    found = {**os.environ, **{key: str(home / value) for key, value in own.items()}}
    found["PYTHONPATH"] = str(Path(attnlab.__file__).parents[1])
    found.pop("ATTNLAB_GRADING", None)
    return found


def _set(home: Path, extension: str, settings: dict[str, Any]) -> None:
    file = home / "settings" / "@jupyterlab" / f"{extension}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


class NotebookPage:
    """A notebook that is open in JupyterLab. Cells are told by their first line, and kept by their number."""

    def __init__(self, page: Any, address: str, name: str) -> None:
        self.page = page
        page.goto(f"{address}/lab/tree/{name}")
        self.wait()  # a cell that is run before the kernel is idle is silently lost
        page.wait_for_function("() => jupyterapp.shell.currentWidget?.content?.widgets?.length > 0")
        page.evaluate("() => jupyterapp.shell.collapseLeft()")  # the list of files leaves no room on a narrow screen

    def wait(self, seconds: float = 120) -> None:
        """Wait until the kernel is idle."""
        self.page.wait_for_function(_IDLE, timeout=1000 * seconds)

    def run_all(self, seconds: float = 120) -> None:
        """*Run All Cells* from the menu, until the last cell of code is done."""
        last = int(self.page.evaluate(_LAST))
        before = self.page.evaluate(_COUNT, last)
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self._counted(last, before, seconds)
        self.wait()

    def find(self, start: str) -> int:
        """The number of the code cell that begins with ``start``."""
        found = int(self.page.evaluate(_FIND, start))
        if found < 0:
            raise LookupError(f"no code cell begins with {start!r}")
        return found

    def show(self, index: int) -> Any:
        """Scroll to a cell, and give back where it is on the page."""
        self.page.evaluate(_SHOW, index)
        cell = self.page.locator(f".jp-Notebook-cell[data-windowed-list-index='{index}']")
        cell.wait_for()
        return cell

    def fill(self, sources: dict[str, str]) -> None:
        """Replace the text of cells by their ids, and run none."""
        self.page.evaluate(_FILL, sources)

    def type(self, index: int, source: str) -> None:
        """Replace the text of a cell at the keyboard, and run it."""
        self.show(index).locator(".cm-content").first.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)
        self._run(index)

    def run(self, index: int) -> Any:
        """Run a cell; gives back the panel that it shows, if it shows one."""
        self.show(index).locator(".cm-content").first.click()
        self._run(index)
        return self.show(index).locator(".attnlab")

    def save(self) -> None:
        """Save the notebook to its file at the keyboard."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")

    def _run(self, index: int) -> None:
        before = self.page.evaluate(_COUNT, index)
        self.page.keyboard.press("Control+Enter")
        self._counted(index, before)
        self.wait()

    def _counted(self, index: int, before: int | None, seconds: float = 120) -> None:
        """Wait until a cell has run once more than it had."""
        done = f"(given) => ![null, given.before].includes(({_COUNT})(given.index))"
        self.page.wait_for_function(done, arg={"index": index, "before": before}, timeout=1000 * seconds)
