"""What stands in the way of a release, said so that the person at the keyboard can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One thing to mend: ``where`` it is, ``what`` is wrong, and the ``remedy``; two whole sentences."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.remedy}"


class Refused(Exception):
    """Nothing can be built before these ``problems`` are mended."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(map(str, self.problems)))
