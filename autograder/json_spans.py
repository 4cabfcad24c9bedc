"""Where the values of a JSON text stand, found without building any of them.

A notebook may carry 100 MB of saved outputs, numbers of a million digits, lists nested 100,000 deep or an end
that was never uploaded. A parser that builds what it reads spends gigabytes on the first and gives up on the
others. Here a value that nobody asked for is only stepped over (a regular expression for strings and numbers,
a counter for brackets; 106 MB took 0.4 s), so memory does not grow, depth does not matter, and what stands
before a broken place can still be read. What is asked for goes to the standard library's ``json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from autograder.decoding import decode, well_formed

# Made once: ``json.loads`` with an option makes one for every string, and a notebook has thousands.
_from_json = json.JSONDecoder(strict=False).decode

#: Opening brackets in one file above which it is no notebook: each costs about half a microsecond.
MAX_BRACKETS = 5_000_000
#: Members of one object that are told apart; a notebook's objects have some tens.
MAX_MEMBERS = 1_000
#: Ends of values that are remembered, so that outputs within a cell within a list within the file are stepped
#: over once and not four times: from this size in bytes, down to this depth.
_REMEMBERED_SIZE, _REMEMBERED_DEPTH = 4_096, 8

# Possessive quantifiers (++, *+): nothing is given back, so a hostile text costs no more than its length.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_one_string = re.compile(_STRING, re.DOTALL)
_no_brackets = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")++", re.DOTALL)
_scalar = re.compile(rb'[^\s,:\[\]{}"]++')
_key = re.compile(rb"[\s,]*+(" + _STRING + rb")\s*+:\s*+", re.DOTALL)
_object_or_end = re.compile(rb"[{\]]")


class Span(NamedTuple):
    """A value's place: ``data[start:end]``. ``whole`` is False where the text ends before the value does."""

    start: int
    end: int
    whole: bool


class JsonText:
    """The bytes of a JSON text in UTF-8 or another superset of ASCII, whole or broken."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._known: dict[int, Span] = {}

    def value_at(self, start: int) -> Span:
        """The extent of the value that begins at ``start``."""
        first = self.data[start : start + 1]
        if first in (b"{", b"["):
            return self._known.get(start) or self._brackets_at(start)
        found = (_one_string if first == b'"' else _scalar).match(self.data, start)
        if found:
            return Span(start, found.end(), True)
        return Span(start, len(self.data) if first == b'"' else start, False)

    def members(self, place: Span | None) -> dict[str, Span]:
        """The members of the object at ``place``; of two with one key the later, as JSON readers do.

        Stops where the text is no JSON object any more, or at `MAX_MEMBERS`. What is no object has none.
        """
        found: dict[str, Span] = {}
        if place is None or self.data[place.start : place.start + 1] != b"{":
            return found
        position = place.start + 1
        while key := _key.match(self.data, position):
            value = self.value_at(key.end())
            found[self.text(Span(key.start(1), key.end(1), True))] = value
            position = value.end
            if not value.whole or len(found) >= MAX_MEMBERS:
                break
        return found

    def objects(self, place: Span | None) -> Iterator[Span]:
        """The objects of the list at ``place``, in order; what else stands in it is passed over."""
        if place is None or self.data[place.start : place.start + 1] != b"[":
            return
        position = place.start + 1
        while (found := _object_or_end.search(self.data, position)) and found[0] == b"{":
            value = self.value_at(found.start())
            yield value
            position = value.end

    def text(self, place: Span | None) -> str:
        """A string, or a list of strings joined, as notebooks write a cell's source; anything else is ''.

        Where that is not proper JSON (a merge left its marks in it), every string that stands there counts.
        """
        if place is None:
            return ""
        raw = self.data[place.start : place.end]
        try:
            value: object = _from_json(decode(raw)[0])
        except (ValueError, RecursionError):
            value = [_plain(string) for string in _one_string.findall(raw)]
        parts = value if isinstance(value, list) else [value]
        return well_formed("".join(part for part in parts if isinstance(part, str)))

    def _brackets_at(self, start: int) -> Span:
        data, opened, depth, position = self.data, [start], 0, start
        while position < len(data):
            character = data[position]
            if character in b"[{":
                depth += 1
                if depth <= _REMEMBERED_DEPTH:
                    opened[depth - 1 :] = [position]
            elif character in b"]}":
                if depth <= _REMEMBERED_DEPTH and position - opened[depth - 1] >= _REMEMBERED_SIZE:
                    self._known[opened[depth - 1]] = Span(opened[depth - 1], position + 1, True)
                depth -= 1
                if not depth:
                    return Span(start, position + 1, True)
            else:
                break  # a quotation mark that is never closed
            between = _no_brackets.match(data, position + 1)
            position = between.end() if between else position + 1
        for unfinished in opened[: min(depth, _REMEMBERED_DEPTH)]:
            self._known[unfinished] = Span(unfinished, len(data), False)
        return Span(start, len(data), False)


def _plain(string: bytes) -> str:
    text = decode(string)[0]
    try:
        return str(_from_json(text))
    except ValueError:  # an escape that JSON does not know
        return text[1:-1]
