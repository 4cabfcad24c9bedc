"""Solution regions: what a master shows to whom.

In code (in markdown the same without ``#``, or as an HTML comment)::

    # SKELETON: raise NotImplementedError("Step 1: write softmax.")
    # BEGIN SOLUTION
    ...
    # END SOLUTION

The SKELETON lines stand directly above BEGIN SOLUTION or inside the region; each is one line of what a
student gets in place of the region, at the indentation of the line. One without text leaves nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_MARK = re.compile(
    r"^(?P<indent>\s*)(?:#+ ?|<!-- *)?"
    r"(?P<mark>BEGIN SOLUTION|END SOLUTION|SKELETON:)(?P<rest>.*?)(?: *-->)?\s*$"
)
_HIDDEN_TESTS = re.compile(
    r"^[ \t]*#+ *BEGIN HIDDEN TESTS.*?^[ \t]*#+ *END HIDDEN TESTS[^\n]*\n?", re.DOTALL | re.MULTILINE
)


class Malformed(Exception):
    """A region that cannot be read; ``line`` counts from 0 within the cell."""

    def __init__(self, line: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.line, self.what, self.remedy = line, what, remedy


@dataclass(frozen=True)
class Region:
    """Lines ``start`` to ``stop`` (exclusive, from 0) of a cell: what stands there for whom."""

    start: int
    stop: int
    skeleton: tuple[str, ...]
    solution: tuple[str, ...]


def regions(source: str) -> list[Region]:
    """The solution regions of a cell, in order. Raises ``Malformed``."""
    lines = source.split("\n")
    marks = [_MARK.match(line) for line in lines]
    kinds = [mark["mark"] if mark else "" for mark in marks]
    found: list[Region] = []
    for begin, end in _pairs(kinds):
        start = begin
        while start > 0 and kinds[start - 1] == "SKELETON:":
            start -= 1
        shown = [mark for mark in marks[start:end] if mark and mark["mark"] == "SKELETON:"]
        if not shown:
            raise Malformed(
                begin,
                "This solution region has no SKELETON line, so a student would find nothing in its place.",
                'Write one above BEGIN SOLUTION: # SKELETON: raise NotImplementedError("softmax: …")',
            )
        texts = [mark["indent"] + mark["rest"].removeprefix(" ") for mark in shown if mark["rest"].strip()]
        written = [line for line, kind in zip(lines[begin + 1 : end], kinds[begin + 1 : end], strict=True) if not kind]
        found.append(Region(start, end + 1, tuple(texts), tuple(written)))
    for number, kind in enumerate(kinds):
        if kind == "SKELETON:" and not any(region.start <= number < region.stop for region in found):
            raise Malformed(
                number,
                "This SKELETON line belongs to no solution region.",
                "Put it directly above BEGIN SOLUTION, or between BEGIN SOLUTION and END SOLUTION.",
            )
    return found


def _pairs(kinds: list[str]) -> Iterator[tuple[int, int]]:
    begin: int | None = None
    for number, kind in enumerate(kinds):
        if kind == "BEGIN SOLUTION":
            if begin is not None:
                raise Malformed(number, "A solution region begins inside another one.", "End the first one before it.")
            begin = number
        elif kind == "END SOLUTION":
            if begin is None:
                raise Malformed(number, "END SOLUTION has no BEGIN SOLUTION above it.", "Add it, or remove this line.")
            yield begin, number
            begin = None
    if begin is not None:
        raise Malformed(begin, "BEGIN SOLUTION has no END SOLUTION.", "Add '# END SOLUTION' below the solution.")


def skeleton(source: str) -> str:
    """What a student gets of a cell."""
    return _replace(_without_hidden_tests(source), lambda region, _: region.skeleton)


def solution(source: str) -> str:
    """What a teaching assistant or a self-learner gets of a cell."""
    return _replace(_without_hidden_tests(source), lambda region, _: region.solution)


def for_nbgrader(source: str) -> str:
    """The cell as it is, but with the SKELETON lines inside the region, where nbgrader removes them too."""

    def inside(region: Region, lines: list[str]) -> tuple[str, ...]:
        marked = lines[region.start : region.stop]
        first = next(i for i, line in enumerate(marked) if "BEGIN SOLUTION" in line)
        return (marked[first], *marked[:first], *marked[first + 1 :])

    return _replace(source, inside)


def _without_hidden_tests(source: str) -> str:
    return _HIDDEN_TESTS.sub("", source) if "HIDDEN TESTS" in source else source


def _replace(source: str, shown: Callable[[Region, list[str]], tuple[str, ...]]) -> str:
    lines = source.split("\n")
    for region in reversed(regions(source)):
        lines[region.start : region.stop] = shown(region, lines)
    return "\n".join(lines).rstrip()
