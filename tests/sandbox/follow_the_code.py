"""Fuzzing of the oracle's end of the wire with atheris, which follows the branches that an input takes.

``python -m tests.sandbox.follow_the_code -max_total_time=60``, where atheris is installed (``pip install atheris``; it
has wheels for some systems only). An input is what a sandbox says to one call, either as it is or as messages that are
well formed; what the call gives goes through every reader that the checks have.
"""

from __future__ import annotations

import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["autograder"]):
    from autograder import failures, lab, wire
    from autograder.checks import compare
    from autograder.sandbox.fork import Fork

#: The number of every question here: no input would guess one of 62 random bits.
NUMBER = 7
READERS = (
    compare.described,
    lambda value: compare.array(value, (2, 2)),
    lambda value: compare.boolean(value, None),
    lambda value: compare.pair(value, "output", "weights"),
    lambda value: compare.integer(value, "count"),
    lambda value: compare.whole(value, "bytes"),
    lambda value: compare.close(value, 1.0, name="ratio"),
    lambda value: compare.mapping(value, ("a", "b"), "report"),
)


class Line:
    """A socket whose other end has said everything already, and hears nothing."""

    def __init__(self, said: bytes) -> None:
        self._said = said

    def recv(self, size: int) -> bytes:
        part, self._said = self._said[:size], self._said[size:]
        return part

    def send(self, data: bytes) -> int:
        return len(data)

    def settimeout(self, seconds: float) -> None:
        return

    def close(self) -> None:
        return


def one(data: bytes) -> None:
    """Anything but the oracle's own errors ends the run."""
    said = data[1:] if data[:1] < b"\x80" else b"".join(map(framed, messages(data[1:])))
    submission = lab.Lab(Fork(Line(said), Line(b"")))  # type: ignore[arg-type]
    try:
        answer = submission.attention(heard, submission.stand_in(heard, methods=("read",)))
    except failures.SubmissionFault:
        return
    for reads in READERS:
        try:
            reads(answer)
        except failures.CheckFailed:
            continue


def heard(*values: object, **named: object) -> object:
    """A function of the oracle that looks at what it is given."""
    for value in (*values, *named.values()):
        compare.array(value)
    return len(values)


def framed(message: wire.Reply) -> bytes:
    try:
        return wire.pack(message)
    except (UnicodeEncodeError, ValueError):
        return b""


# ---- messages from bytes
def messages(data: bytes) -> list[wire.Reply]:
    """Up to four well-formed messages."""
    given = atheris.FuzzedDataProvider(data)
    return [message(given) for _ in range(given.ConsumeIntInRange(1, 4))]


def message(given: Any) -> wire.Reply:
    number = NUMBER if given.ConsumeProbability() < 0.9 else given.ConsumeInt(8)
    match given.ConsumeIntInRange(0, 3):
        case 0:
            names = [text(given) for _ in range(4)]
            return wire.Failure(number, *names)
        case 1:
            method = given.PickValueInList([None, "read", "_x", "__class__"])
            values = [value(given) for _ in range(given.ConsumeIntInRange(0, 2))]
            return wire.Callback(
                1, NUMBER + given.ConsumeIntInRange(-1, 2), method, values, {text(given): value(given)}
            )
        case _:
            return wire.Return(number, value(given))


def value(given: Any, depth: int = 0) -> wire.Value:
    kinds = 10 if depth < 6 else 8
    match given.ConsumeIntInRange(0, kinds):
        case 0:
            return None
        case 1:
            return bool(given.ConsumeBool())
        case 2:
            return int(given.ConsumeInt(8))
        case 3:
            return float(given.ConsumeFloat())
        case 4:
            return text(given)
        case 5:
            dtype = given.PickValueInList([*sorted(wire.DTYPES), "O", "<U4", "<c16", text(given)])
            shape = [given.ConsumeInt(2) for _ in range(given.ConsumeIntInRange(0, 5))]
            return wire.Array(dtype, shape, given.ConsumeBytes(given.ConsumeIntInRange(0, 64)), text(given))
        case 6:
            return wire.Integer(text(given))
        case 7:
            return wire.Handle(given.ConsumeInt(8), text(given))
        case 8:
            return wire.Opaque(text(given))
        case 9:
            items = [value(given, depth + 1) for _ in range(given.ConsumeIntInRange(0, 4))]
            return wire.Sequence(items, bool(given.ConsumeBool()))
        case _:
            return wire.Mapping({text(given): value(given, depth + 1) for _ in range(given.ConsumeIntInRange(0, 3))})


def text(given: Any) -> str:
    return str(given.ConsumeUnicodeNoSurrogates(given.ConsumeIntInRange(0, 40)))


def seeds(folder: Path) -> None:
    """One message of each kind to start from: the decoder is no Python, so no branch leads to them."""
    array = wire.Array("<f8", [2, 1], bytes(16))
    values: list[wire.Value] = [None, -1, 0.5, "text", array, wire.Integer("ff"), wire.Handle(1, "C"), wire.Opaque("o")]
    nested = wire.Sequence([*values, wire.Mapping({"a": wire.Sequence(values, True)})])
    replies = [wire.Return(NUMBER, value) for value in (*values, nested)]
    back = [wire.Callback(1, NUMBER, None, values, {"k": nested}), wire.Callback(2, NUMBER + 1, "read", [], {})]
    for place, said in enumerate([*replies, wire.Failure(NUMBER, "raised", "E", "text", "cell 1"), *back]):
        (folder / str(place)).write_bytes(b"\0" + wire.pack(said) + wire.pack(replies[-1]))
    (folder / "messages").write_bytes(b"\xff" * 200)


if __name__ == "__main__":
    lab.secrets = types.SimpleNamespace(randbits=lambda _: NUMBER)  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        atheris.Setup([*sys.argv, folder], one)
        atheris.Fuzz()
