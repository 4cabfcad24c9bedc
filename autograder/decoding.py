"""Bytes of a text file to a string, whatever editor wrote them; never an exception."""

from __future__ import annotations

import codecs
import re

# The longer mark first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIE = re.compile(rb"\A(?:[ \t\f]*#[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]{1,40})")
# Encodings that a cookie may name: those of text, not Python's bytes-to-bytes codecs.
_SPOKEN = {"cp1252": "Windows-1252", "iso8859-1": "Latin-1", "utf-16": "UTF-16", "utf-32": "UTF-32"}


def decode(data: bytes) -> tuple[str, str | None]:
    """The text, and the name of its encoding where that is not UTF-8 (to be said to the student).

    Tried in this order: a byte order mark; UTF-16 without one (every other byte of ASCII text is 0); UTF-8;
    what a Python file's coding line names; Windows-1252; Latin-1, which takes any byte.
    """
    wide = wide_encoding(data)
    if wide:
        text = data.decode(wide, "replace").removeprefix("\ufeff")
        return well_formed(text), spoken(wide)
    data = data.removeprefix(codecs.BOM_UTF8)
    for encoding in ("utf-8", _named(data), "cp1252"):
        try:
            return data.decode(encoding), None if encoding == "utf-8" else spoken(encoding)
        except (UnicodeError, LookupError):
            continue
    return data.decode("latin-1"), spoken("iso8859-1")


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32, where ``data`` is written in one of them."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return None if encoding == "utf-8" else encoding
    if len(data) >= 4 and data[0] and not data[1] and data[2] and not data[3]:
        return "utf-16-le"
    if len(data) >= 4 and not data[0] and data[1] and not data[2] and data[3]:
        return "utf-16-be"
    return None


def spoken(encoding: str) -> str:
    """The encoding's name as people write it."""
    return _SPOKEN.get(encoding.removesuffix("-le").removesuffix("-be"), encoding)


def well_formed(text: str) -> str:
    """The text with halves of UTF-16 pairs replaced by U+FFFD: no UTF-8 file and no compiler takes them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_newline(text: str) -> str:
    """Windows' and old Macs' line ends as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _named(data: bytes) -> str:
    cookie = _COOKIE.match(data[:1000])
    if not cookie:
        return "cp1252"
    try:
        known = codecs.lookup(cookie[1].decode("ascii"))
    except (LookupError, ValueError):
        return "cp1252"
    # Not rot13, hex or zip, which are codecs too; UTF-16 would have been seen above.
    return known.name if getattr(known, "_is_text_encoding", False) else "cp1252"
