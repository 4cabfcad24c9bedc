"""Keys as Windows gives them; a real terminal is in test_watch."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from attnlab import keys


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was typed and not yet read, in a module like Windows' own."""
    typed: list[str] = []
    module = SimpleNamespace(kbhit=lambda: bool(typed), getwch=lambda: typed.pop(0))
    monkeypatch.setitem(sys.modules, "msvcrt", module)
    return typed


def test_letters_arrows_and_the_end_are_told_apart(console: list[str]) -> None:
    with keys._from_console() as read:
        assert read(0.0) == ""
        console += ["h", "\xe0", "M", "\xe0", "K", "\xe0", "H", "\x1a"]
        assert [read(1.0) for _ in range(5)] == ["h", "n", "p", "", keys.END]


def test_ctrl_c_ends_the_session(console: list[str]) -> None:
    console.append("\x03")
    with keys._from_console() as read, pytest.raises(KeyboardInterrupt):
        read(1.0)


def test_where_nobody_sits_reading_only_waits() -> None:
    with keys.reading() as read:  # the tests' own input is no terminal
        assert read(0.0) == ""
