"""Text of a submission made safe to store and to show: nothing in it can steer a terminal or a page."""

from __future__ import annotations

import re

# C0 but for tab, line feed and return; DEL and C1 (terminals obey them); halves of a UTF-16 pair, which no
# UTF-8 file can hold and which come from file names that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# Embeddings, overrides and isolates. Arabic and Hebrew text needs none of them.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def spell(text: str) -> str:
    """The text with control characters written out, as in ``\\x1b``. Letters of all languages stay."""
    return _UNSAFE.sub(_written_out, text)


def spell_all(text: str) -> str:
    """As ``spell``, and the marks that turn the direction of writing round are written out too.

    For what is shown beside marks: such a mark makes a line read as another one. A name keeps them where it is stored.
    """
    return _TURNING.sub(_written_out, spell(text))


def clip(text: str, length: int) -> str:
    """The text, or its beginning with a word on how much more there was."""
    if len(text) <= length:
        return text
    return f"{text[:length]} … ({len(text) - length} more characters)"


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
