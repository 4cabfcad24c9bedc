"""A bound on what the oracle itself allocates while it computes something for a submission."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

from autograder.sandbox.keeper import private_bytes


@contextlib.contextmanager
def at_most(more: int) -> Iterator[None]:
    """While the block runs, this process gets at most ``more`` bytes beyond what it has; ``MemoryError`` after that."""
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (before, hard, private_bytes() + more) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))
