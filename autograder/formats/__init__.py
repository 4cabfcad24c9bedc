"""Other programs' formats, one module each; none is imported before its format is asked for."""

from __future__ import annotations


class FormatError(Exception):
    """Marks cannot be written for another program; the message is a sentence that says what to do."""
