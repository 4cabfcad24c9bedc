"""Names that a student or a learning platform chose, made fit for a terminal and for a file system.

A submission keeps its name as it was handed in (field ``submission``); these functions give its renderings.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container

#: Characters of a name that a message or a terminal line shows; the rest is replaced by an ellipsis.
SHOWN_CHARACTERS = 120
#: Bytes of UTF-8 in a file stem: ``.json``, ``.html.tmp`` and a shell's quoting still fit in 255.
STEM_BYTES = 100

# Names that Windows gives to devices, whatever the suffix: https://learn.microsoft.com/windows/win32/fileio
_RESERVED = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"
}
# Control, format (bidi overrides, zero width), surrogates, unassigned, private, line and paragraph ends.
_INVISIBLE = ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


def valid_unicode(name: str | bytes) -> str:
    """The name as a string that UTF-8 can carry; a byte or surrogate that it cannot becomes ``\\xff``.

    File names that are no valid UTF-8 (a zip made on an old Windows) reach Python as surrogates.
    """
    if isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace").decode("utf-8")


def display_name(name: str) -> str:
    """One harmless line for a terminal or a message: nothing invisible, nothing that moves the cursor."""
    shown = "".join(_visible(character) for character in valid_unicode(name))
    return shown if len(shown) <= SHOWN_CHARACTERS else shown[: SHOWN_CHARACTERS - 1] + "…"


def result_file_stem(name: str, taken: Container[str] = ()) -> str:
    """A file stem for the results of ``name``: safe everywhere, at most 100 bytes, with a ``same_file`` that is none of
    ``taken``.

    A name that is safe as it is stays as it is. One that had to be changed gets eight hex digits of its hash,
    so that two names never meet in one file and the same name finds its file again. Stems differ by more than
    case or accents' composition, because some file systems ignore both.
    """
    name = valid_unicode(name)
    plain = unicodedata.normalize("NFC", name)
    safe = re.sub(r"_{2,}", "_", "".join(c if c.isalnum() or c in "-_. ()+" else "_" for c in plain))
    safe = safe.strip(" .").lstrip("-") or "submission"
    fits = safe == name and len(safe.encode()) <= STEM_BYTES and safe.split(".")[0].lower() not in _RESERVED
    if fits and same_file(safe) not in taken:
        return safe
    digest = hashlib.sha256(name.encode()).hexdigest()
    for digits in (8, 16, 64):
        stem = f"{_cut(safe, STEM_BYTES - 1 - digits)}-{digest[:digits]}"
        if stem.split(".")[0].lower() in _RESERVED:
            stem = f"_{stem}"
        if same_file(stem) not in taken:
            return stem
    number = 2
    while same_file(f"{digest}-{number}") in taken:
        number += 1
    return f"{digest}-{number}"


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _INVISIBLE:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def same_file(stem: str) -> str:
    """What a file system that ignores case and composition compares."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", stem).casefold())


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode("utf-8", "ignore").rstrip(" .")
