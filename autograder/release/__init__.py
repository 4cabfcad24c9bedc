"""From masters to what is handed out, and the gate in between; see ``command.py``."""

from __future__ import annotations


def run(assignment: str = "lab07", check: bool = False) -> int:
    """``autograder release [ASSIGNMENT] [--check]``; gives the exit code."""
    from autograder.release.command import release  # heavy: it brings nbgrader, jupytext and torch

    return release(assignment, check=check)
