"""The exercises of chapter section 7.13 that have functions to write."""

from __future__ import annotations

from attnlab.step import Step


def _exercise(number: int, title: str, functions: str, written: str = "") -> Step:
    read = f"chapter section 7.13, exercise {number}"
    return Step(f"exercise{number}", number, title, tuple(functions.split()), read, written, notebook="exercises")


#: In the order of the section; those without a function to write are not in it.
EXERCISES: tuple[Step, ...] = ()
