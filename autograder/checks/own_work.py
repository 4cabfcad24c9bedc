"""Calls a function of step 1 and makes sure that no library did its work."""

from __future__ import annotations

from typing import Any

from autograder.failures import CheckFailed
from autograder.lab import Lab


def own_work(lab: Lab, name: str, *args: Any, **kwargs: Any) -> Any:
    """The submission's answer; ``CheckFailed`` where a library softmax or attention ran during the same
    call.

    Every check of step 1 asks in this way, because a library call may hide behind one shape or dtype, or in every
    second call only. ``exp``, ``logsumexp`` and ``einsum`` are not of that kind.
    """
    answer, seen = lab.watched(name, *args, **kwargs)
    if seen:
        raise CheckFailed(
            f"While {name} ran, {' and '.join(seen)} {'was' if len(seen) == 1 else 'were'} called. "
            "Section 7.9, step 1 asks for your own work and no attention library; torch.exp, einsum and logsumexp are "
            "not meant by this and are fine."
        )
    return answer
