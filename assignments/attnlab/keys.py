"""Single keys from a terminal, on any system, without waiting for Enter."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

#: ``read(seconds)`` waits at most so long: a character, "" where no key was pressed, ``END`` where none will be.
Read = Callable[[float], str]

#: The terminal is gone, or its end of file was typed.
END = "\x04"
#: One key of a terminal, and the letters that arrow keys stand for here.
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_ARROWS = {"\x1b[C": "n", "\x1b[D": "p", "\x1bOC": "n", "\x1bOD": "p", "\xe0M": "n", "\xe0K": "p"}


def available() -> bool:
    """Whether a person sits at a terminal, with a keyboard that can be read."""
    try:
        return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and _reader() is not None
    except (AttributeError, ValueError):  # a stream that was closed or replaced
        return False


@contextlib.contextmanager
def reading() -> Iterator[Read]:
    """Keys as they are pressed until the block ends; without a terminal there are none, and reading only waits."""
    if not available():
        yield _nothing
        return
    reader = _reader()
    assert reader is not None  # so says available()
    with reader() as read:
        yield read


def _reader() -> Callable[[], contextlib.AbstractContextManager[Read]] | None:
    """How keys are read on this system; None where there is no way to."""
    for module, reader in (("termios", _from_terminal), ("msvcrt", _from_console)):
        if importlib.util.find_spec(module) is not None:
            return reader
    return None


def _nothing(seconds: float) -> str:
    time.sleep(seconds)
    return ""


@contextlib.contextmanager
def _from_console() -> Iterator[Read]:
    """Windows."""
    msvcrt: Any = importlib.import_module("msvcrt")

    def read(seconds: float) -> str:
        until = time.monotonic() + seconds
        while not msvcrt.kbhit():
            if time.monotonic() > until:
                return ""
            time.sleep(0.02)
        key: str = msvcrt.getwch()
        if key in ("\x00", "\xe0"):  # a key without a character is two of these
            return _ARROWS.get("\xe0" + msvcrt.getwch(), "")
        if key == "\x03":
            raise KeyboardInterrupt
        return END if key == "\x1a" else key

    yield read


@contextlib.contextmanager
def _from_terminal() -> Iterator[Read]:
    """Everything else."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    typed: list[str] = []

    def one_by_one(*_: object) -> None:
        tty.setcbreak(terminal)  # Ctrl-C and Ctrl-Z still do what they always do

    def read(seconds: float) -> str:
        if not typed and select.select([terminal], [], [], seconds)[0]:
            try:
                text = os.read(terminal, 64).decode("utf-8", "ignore")
            except OSError:  # the window was closed
                text = ""
            typed.extend(_ARROWS.get(key, key) for key in _KEY.findall(text) or [END])
        return typed.pop(0) if typed else ""

    one_by_one()
    # After Ctrl-Z a shell has set its own mode; a polite kill, or a closed window, must give the mode back.
    handlers = {signal.SIGCONT: signal.signal(signal.SIGCONT, one_by_one)}
    for ending in (signal.SIGTERM, signal.SIGHUP):
        handlers[ending] = signal.signal(ending, signal.default_int_handler)
    try:
        yield read
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
