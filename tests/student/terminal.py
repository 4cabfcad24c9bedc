"""A person at a terminal: starts a command in a pseudo-terminal, looks at its screen, presses keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType

#: Seconds that anything may take on a machine that is busy with other things.
PATIENCE = 90.0
_CLEARED = "\x1b[2J"


def _own_this_terminal() -> None:
    """In the child: without this, a Ctrl-C that is typed reaches nobody."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """``command`` with a screen of ``rows`` and ``columns``; ended at the end of the ``with`` block."""

    def __init__(self, command: list[str], folder: Path, *, rows: int = 50, columns: int = 120) -> None:
        self._outside, inside = pty.openpty()
        termios.tcsetwinsize(inside, (rows, columns))
        self.mode_before = termios.tcgetattr(inside)
        environment = {**os.environ, "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "ATTNLAB_GRADING"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            preexec_fn=_own_this_terminal,
        )
        self._inside = inside  # held open, so that what was written last can still be read
        self._said = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._inside)
        os.close(self._outside)

    @property
    def pid(self) -> int:
        return self._process.pid

    def screen(self) -> str:
        """What was written since the screen was cleared last, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.coloured())

    def coloured(self) -> str:
        """The same with the sequences that colour it."""
        while select.select([self._outside], [], [], 0)[0]:
            self._said += os.read(self._outside, 65536).decode("utf-8", "replace")
        return self._said.rpartition(_CLEARED)[2]

    def shows(self, *texts: str) -> str:
        """Wait until all ``texts`` are on the screen together; the screen."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            screen = self.screen()
            if all(text in screen for text in texts):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{texts} did not come; the screen is:\n{self.screen()}")

    def press(self, keys: str) -> None:
        os.write(self._outside, keys.encode())

    def ends(self) -> int:
        """Wait for the end of the command; its exit code."""
        self._process.wait(PATIENCE)
        return self._process.returncode

    def mode(self) -> list[object]:
        """How the terminal treats what is typed."""
        return termios.tcgetattr(self._inside)
