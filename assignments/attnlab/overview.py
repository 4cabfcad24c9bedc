"""A whole notebook at a glance: ``progress()``."""

from __future__ import annotations

from attnlab.checking import caller_namespace, run_step
from attnlab.panel import Panel
from attnlab.step import LAB
from attnlab.steps import NOTEBOOKS


def progress(notebook: str = LAB) -> Panel | None:
    """Every step of a notebook on the caller's namespace: how many public checks hold, and which step comes next.

    Gives back the panel that a notebook shows; in a script it is printed. None while the lab is only loaded.
    ``notebook`` is ``"attention_lab"``, ``"exercises"`` or ``"block_receipts"``; ValueError for another one.
    """
    if notebook not in NOTEBOOKS:
        raise ValueError(f"there is no notebook {notebook!r}; they are {', '.join(NOTEBOOKS)}")
    names = caller_namespace()
    if names is None:
        return None
    return Panel(tuple(run_step(step.id, names) for step in NOTEBOOKS[notebook]), overview=True).shown()
