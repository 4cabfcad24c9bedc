"""The whole lab at a glance: ``progress()``."""

from __future__ import annotations

from attnlab.checking import caller_namespace, run_step
from attnlab.panel import Panel
from attnlab.steps import STEPS


def progress() -> Panel | None:
    """Every step on the caller's namespace: how many public checks hold, and which step comes next.

    Gives back the panel that a notebook shows; in a script it is printed. None while the lab is only loaded.
    """
    names = caller_namespace()
    if names is None:
        return None
    return Panel(tuple(run_step(step.id, names) for step in STEPS), overview=True).shown()
