"""Fuzzing of the oracle's end of the wire with atheris, which follows the branches that an input takes.

``python -m tests.sandbox.follow_the_code -max_total_time=60``, where atheris is installed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["autograder"]):
    from autograder import failures, wire
    from autograder.lab import Lab, fault


class _Nobody:
    """A transport that is never used."""


def one(data: bytes) -> None:
    """Anything but the oracle's own errors ends the run."""
    lab = Lab(_Nobody())  # type: ignore[arg-type]
    try:
        reply = wire.unpack_reply(data)
        if isinstance(reply, wire.Return):
            lab._decode(reply.value)
        elif isinstance(reply, wire.Callback):
            lab._on_callback(reply)
        else:
            fault(reply)
    except (wire.WireError, failures.SubmissionFault):
        return


def seeds(folder: Path) -> None:
    """One message of each kind to start from: the decoder is no Python, so no branch leads to them."""
    array = wire.Array("<f8", [2, 1], bytes(16))
    values: list[wire.Value] = [None, -1, 0.5, "text", array, wire.Integer("ff"), wire.Handle(1, "C"), wire.Opaque("o")]
    nested = wire.Sequence([*values, wire.Mapping({"a": wire.Sequence(values, True)})])
    replies = [wire.Return(1, value) for value in (*values, nested)]
    for number, reply in enumerate(
        [*replies, wire.Failure(1, "raised", "E", "text", "cell 1"), wire.Callback(1, 1, "read", values, {"k": nested})]
    ):
        (folder / str(number)).write_bytes(wire.pack(reply)[wire.LENGTH.size :])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        atheris.Setup([*sys.argv, folder], one)
        atheris.Fuzz()
