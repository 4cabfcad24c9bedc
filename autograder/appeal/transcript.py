"""What a check, or a set of probes, asked a submission, and what came back, turn by turn.

The same questions go to right code. The first turn in which the two answer otherwise shows the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from autograder import wire
from autograder.lab import Transport

#: Turns of one check that are written down; the longest has some hundred.
MAX_TURNS = 3000
#: Relative to the largest right value: what two right ways to compute in double and in single precision never
#: differ by, and a share of it for faults that are smaller still (an epsilon added to a sum).
DOUBLE, SINGLE, CLOSER = 1e-9, 1e-4, 1e-3


@dataclass
class Turn:
    """One question. ``calls``: what was asked back meanwhile; ``nested``: that needed the submission in turn."""

    request: wire.Request
    reply: wire.Return | wire.Failure | None = None
    calls: list[tuple[wire.Callback, wire.Answer]] = field(default_factory=list)
    nested: bool = False


class Recorder:
    """A transport that writes down what goes over another one."""

    def __init__(self, transport: Transport) -> None:
        self._transport, self._depth = transport, 0
        self.turns: list[Turn] = []

    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        if self._depth or len(self.turns) >= MAX_TURNS:
            if self._depth:
                self.turns[-1].nested = True
            return self._transport.exchange(request, deadline, on_callback)
        turn = Turn(request)
        self.turns.append(turn)

        def written_down(callback: wire.Callback) -> wire.Answer:
            answer = on_callback(callback)
            turn.calls.append((callback, answer))
            return answer

        self._depth += 1
        try:
            turn.reply = self._transport.exchange(request, deadline, written_down)
        finally:
            self._depth -= 1
        return turn.reply

    def spent(self) -> float:
        return self._transport.spent()

    def hold(self) -> None:
        self._transport.hold()

    def release(self) -> bool:
        return self._transport.release()


@dataclass(frozen=True)
class Departure:
    """Where a submission answers otherwise than right code; ``tolerance`` is the absolute difference that is none."""

    turn: int
    tolerance: float
    only_in_kind: bool = False


def departure(mine: Sequence[Turn], right: Sequence[Turn]) -> Departure | None:
    """The first turn with another answer to the same question: clearly so, else by a little, else in kind only."""
    together = list(zip(mine, right, strict=False))
    same = next((i for i, (a, b) in enumerate(together) if not same_question(a, b)), len(together))
    for share, in_kind in ((1.0, False), (CLOSER, False), (1.0, True)):
        for i, (a, b) in enumerate(together[:same]):
            tolerance = share * _tolerance(a, b)
            if not _same_answer(a, b, tolerance, in_kind=in_kind):
                return Departure(i, tolerance, in_kind)
    return None


def plain(value: wire.Value) -> Any:
    """A value as Python sees it; what stays in the sandbox is its name in brackets, and so is what is no value."""
    try:
        if isinstance(value, wire.Array):
            return wire.array_from_wire(value)
        if isinstance(value, wire.Integer):
            return int(value.text[: wire.MAX_INTEGER_BITS // 4 + 1], 16)
    except (wire.WireError, ValueError):
        return "<something that cannot be read>"
    if isinstance(value, wire.Sequence):
        return [plain(item) for item in value.items]
    if isinstance(value, wire.Mapping):
        return {key: plain(item) for key, item in value.items.items()}
    if isinstance(value, wire.Handle | wire.Opaque):
        return f"<{value.type_name}>"
    return "<a function>" if isinstance(value, wire.StandIn) else value


def same_question(one: Turn, other: Turn) -> bool:
    """Whether the same was asked with the very same numbers."""
    return _without_numbers(one.request) == _without_numbers(other.request)


def _without_numbers(request: wire.Request) -> object:
    """A request without the numbers that differ from run to run: its own and those of objects."""

    def clean(value: Any) -> Any:
        if isinstance(value, wire.Handle):
            return "object"
        if isinstance(value, wire.StandIn):
            return "function", {key: clean(item) for key, item in value.attributes.items()}
        if isinstance(value, wire.Sequence):
            return [clean(item) for item in value.items]
        if isinstance(value, wire.Mapping):
            return {key: clean(item) for key, item in value.items.items()}
        return msgspec.msgpack.encode(value)

    if isinstance(request, wire.Call):
        target = request.target if isinstance(request.target, str) else "object"
        named = {key: clean(value) for key, value in request.kwargs.items()}
        return "call", target, request.attribute, [clean(value) for value in request.args], named
    if isinstance(request, wire.Get):
        return "get", request.attribute
    if isinstance(request, wire.Keep):
        return "keep", clean(request.value)
    if isinstance(request, wire.Fill):
        return "fill", request.value
    return type(request).__name__, getattr(request, "name", "")


def _same_answer(one: Turn, other: Turn, tolerance: float, *, in_kind: bool) -> bool:
    a, b = one.reply, other.reply
    if isinstance(a, wire.Return) and isinstance(b, wire.Return):
        return same(plain(a.value), plain(b.value), tolerance, in_kind=in_kind)
    if isinstance(a, wire.Failure) and isinstance(b, wire.Failure):
        return a.kind == b.kind
    return False


def same(found: Any, right: Any, tolerance: float, *, in_kind: bool = False) -> bool:
    """Whether two values are the same but for rounding; ``in_kind``: bool, integer and float are told apart too."""
    if isinstance(right, dict) or isinstance(found, dict):
        both = isinstance(right, dict) and isinstance(found, dict) and found.keys() >= right.keys()
        return both and all(same(found[key], right[key], tolerance, in_kind=in_kind) for key in right)
    if isinstance(right, str) and isinstance(found, str):
        return found == right or right.startswith("<")  # what stays in the sandbox may be called anything
    if isinstance(right, str | None) or isinstance(found, str | None):
        return right is None and found is None
    if type(found) is int and type(right) is int:
        return abs(found - right) <= tolerance  # NumPy has no integers of this size
    try:
        a, b = np.asarray(found), np.asarray(right)
        if a.shape != b.shape or a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
            raise ValueError
    except ValueError:
        lists = isinstance(found, list) and isinstance(right, list) and len(found) == len(right)
        return lists and all(same(x, y, tolerance, in_kind=in_kind) for x, y in zip(found, right, strict=True))
    if in_kind and {"u": "i"}.get(a.dtype.kind, a.dtype.kind) != {"u": "i"}.get(b.dtype.kind, b.dtype.kind):
        return False
    with np.errstate(all="ignore"):
        return bool(np.allclose(a.astype(float), b.astype(float), rtol=0, atol=tolerance, equal_nan=True))


def _tolerance(mine: Turn, right: Turn) -> float:
    """What rounding may come to: measured by the largest right number, and by how precise the input is."""
    if not isinstance(right.reply, wire.Return):
        return 0.0
    largest = _largest(plain(right.reply.value))
    single = any(isinstance(a, wire.Array) and a.dtype == "<f4" for a in _leaves(mine.request))
    return (SINGLE if single else DOUBLE) * (1.0 if largest == 0 else largest)


def _largest(value: Any) -> float:
    if isinstance(value, dict):
        return max(map(_largest, value.values()), default=0.0)
    if isinstance(value, list):
        return max(map(_largest, value), default=0.0)
    if isinstance(value, bool | int | float | np.ndarray):
        numbers = np.abs(np.asarray(value, float))
        finite = numbers[np.isfinite(numbers)]
        return float(finite.max()) if finite.size else 0.0
    return 0.0


def _leaves(request: wire.Request) -> list[wire.Value]:
    waiting: list[wire.Value] = []
    if isinstance(request, wire.Call):
        waiting = [*request.args, *request.kwargs.values()]
    leaves: list[wire.Value] = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, wire.Sequence):
            waiting += value.items
        elif isinstance(value, wire.Mapping):
            waiting += value.items.values()
        else:
            leaves.append(value)
    return leaves
