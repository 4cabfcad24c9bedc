"""A turn of a transcript as a Python script that needs nothing of the grader: NumPy, and the student's own file."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograder import wire
from autograder.appeal.transcript import Departure, Turn, plain
from autograder.names import display_name

#: Numbers of an input that a person may still read; a larger one makes no script.
MAX_NUMBERS = 12_000
MAX_ANSWERS = 1000
#: What stands around the turns: reading the student's file, and comparing.
FRAME = Path(__file__).with_name("frame.py.txt").read_text(encoding="utf-8")


#: Of each function that is handed over: its number, what it was asked as an expression, and what it gave.
Answers = list[tuple[int, str, str]]


class NoScript(Exception):
    """This turn cannot be said as a script; the message says why."""


class Writer:
    """Turns the requests that lead to a departure into statements."""

    def __init__(self, right: Mapping[str, Any], right_turn: Turn | None = None) -> None:
        self._right, self._right_turn = right, right_turn
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        self._made_by: dict[int, str] = {}
        self._taken: set[str] = {"result", "lab", "np"}
        self._numbers = 0

    def turn(self, turn: Turn, *, last: bool) -> None:
        """One question. The last one is bound to ``result``."""
        request = turn.request
        if turn.nested:
            raise NoScript("it calls functions that call it in turn")
        if isinstance(request, wire.Call):
            self._call(request, turn, last)
        elif isinstance(request, wire.Keep):
            self._bind(turn, self._name("kept"), self._value(request.value, []))
        elif isinstance(request, wire.Get):
            whole = self._object(request.handle)
            text = whole if request.attribute is None else f"{whole}.{request.attribute}"
            self.lines.append(f"    result = {text}" if last else f"    {text}")
        elif isinstance(request, wire.Fill):
            self.lines.append(f"    {self._object(request.handle)}[...] = {request.value!r}")
        elif isinstance(request, wire.Bind):
            self.lines.append(f"    lab.{request.name} = {self._value(request.value, self._answers(turn))}")
        else:
            raise NoScript("it is no call")

    def _call(self, request: wire.Call, turn: Turn, last: bool) -> None:
        if request.want not in ("value", "watched"):
            raise NoScript("it is measured")
        answers = self._answers(turn)
        function = f"lab.{request.target}" if isinstance(request.target, str) else self._object(request.target)
        if request.attribute is not None:
            function += f".{request.attribute}"
        names = self._parameters(request)
        given = [self._argument(name, value, answers) for name, value in zip(names, request.args, strict=False)]
        given += [f"{name}={self._argument(name, value, answers)}" for name, value in request.kwargs.items()]
        call = f"{function}({', '.join(given)})"
        if last:
            self.lines.append(f"    result = {call}")
        else:
            made = request.target if isinstance(request.target, str) and request.attribute is None else "answer"
            self._bind(turn, self._name(made.lower()), call)
            if isinstance(turn.reply, wire.Return) and isinstance(turn.reply.value, wire.Handle):
                self._made_by[turn.reply.value.id] = made

    def _bind(self, turn: Turn, name: str, text: str) -> None:
        reply = turn.reply
        if isinstance(reply, wire.Return) and isinstance(reply.value, wire.Handle):
            self._names[reply.value.id] = name
            self.lines.append(f"    {name} = {text}")
        else:
            self.lines.append(f"    {text}")

    def _parameters(self, request: wire.Call) -> list[str]:
        """How right code calls its arguments, for names that mean something."""
        made_by = request.target if isinstance(request.target, str) else self._made_by.get(request.target, "")
        right = self._right.get(made_by)
        if request.attribute is not None:
            right = getattr(right, request.attribute, None)
        try:
            names = [name for name in inspect.signature(right).parameters if name != "self"] if callable(right) else []
        except ValueError:
            names = []
        return names + [f"argument_{i + 1}" for i in range(len(names), len(request.args))]

    def _argument(self, name: str, value: wire.Value, answers: Answers) -> str:
        if isinstance(value, wire.Array | wire.StandIn | wire.Mapping) or _is_long(value):
            variable = self._name(name)
            self.lines.append(f"    {variable} = {self._value(value, answers)}")
            return variable
        return self._value(value, answers)

    def _name(self, wanted: str) -> str:
        name, number = wanted if wanted.isidentifier() and not keyword.iskeyword(wanted) else "given", 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _object(self, handle: int) -> str:
        if handle not in self._names:
            raise NoScript("it needs an object that an earlier question made")
        return self._names[handle]

    def _answers(self, turn: Turn) -> Answers:
        """What the functions that are handed over were asked, by this code and by right code, and gave back."""
        right = self._right_turn.calls if self._right_turn else []
        if len(turn.calls) + len(right) > MAX_ANSWERS:
            raise NoScript("it asks the functions that it is handed too often")
        # The two runs number the functions that they hand over each in its own way, in the same order.
        handed_over = stand_ins(turn.request)
        theirs = stand_ins(self._right_turn.request) if self._right_turn else []
        same_as = dict(zip(theirs, handed_over, strict=False))
        found: Answers = []
        for callback, answer in turn.calls:
            found.append((callback.target, _asked(callback), self._given(answer)))
        for callback, answer in right:
            entry = (same_as.get(callback.target, -1), _asked(callback), self._given(answer))
            # What is asked without arguments, a clock, ticks as it did for this code.
            if (callback.args or callback.kwargs) and entry not in found:
                found.append(entry)
        return list(dict.fromkeys(found)) if all(c.args or c.kwargs for c, _ in turn.calls) else found

    def _given(self, answer: wire.Answer) -> str:
        if answer.error is not None:
            return f"{answer.error if answer.error in _ERRORS else 'RuntimeError'}('')"
        return self._value(answer.value, [])

    def _value(self, value: wire.Value, answers: Answers) -> str:
        if isinstance(value, wire.Array):
            return self._array(value)
        if isinstance(value, wire.Integer):
            return str(int(value.text, 16))
        if isinstance(value, wire.Sequence):
            items = [self._value(item, answers) for item in value.items]
            if value.is_tuple:
                return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
            return f"[{', '.join(items)}]"
        if isinstance(value, wire.Mapping):
            return "{" + ", ".join(f"{k!r}: {self._value(v, answers)}" for k, v in value.items.items()) + "}"
        if isinstance(value, wire.Handle):
            return self._object(value.id)
        if isinstance(value, wire.StandIn):
            mine = [f"({asked}, {given})" for target, asked, given in answers if target == value.id]
            attributes = {name: self._value(v, answers) for name, v in value.attributes.items()}
            given = "".join(f", {name}={text}" for name, text in attributes.items())
            kinds = f"{tuple(value.methods)!r}, {tuple(value.properties)!r}"
            rows = ",\n        ".join(mine)
            return f"handed_over([{rows}], {kinds}{given})"
        if isinstance(value, wire.Opaque):
            raise NoScript("it is handed something that cannot be written down")
        if isinstance(value, float):
            return _float(value)
        return repr(value)

    def _array(self, value: wire.Array) -> str:
        found = wire.array_from_wire(value)
        self._numbers += found.size
        if self._numbers > MAX_NUMBERS:
            raise NoScript("its input is too large to be read")
        text = array_text(found)
        return text if value.layout == "c" else f"laid_out({text}, {value.layout!r})"


def stand_ins(request: wire.Request) -> list[int]:
    """The numbers of the functions that a request hands over, in its order."""
    waiting: list[wire.Value] = []
    if isinstance(request, wire.Call):
        waiting = [*request.args, *request.kwargs.values()]
    found = []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, wire.StandIn):
            found.append(value.id)
            waiting = [*value.attributes.values(), *waiting]
        elif isinstance(value, wire.Sequence):
            waiting = [*value.items, *waiting]
        elif isinstance(value, wire.Mapping):
            waiting = [*value.items.values(), *waiting]
    return found


def _asked(callback: wire.Callback) -> str:
    arguments = [plain(argument) for argument in (*callback.args, *callback.kwargs.values())]
    return f"{callback.method!r}, {literal(arguments)}"


def write(
    turns: Sequence[Turn], right: Turn, departs: Departure, *, title: str, function: str, namespace: Mapping[str, Any]
) -> str:
    """The script that asks the last of ``turns``, and what it needs before. Raises `NoScript`."""
    writer = Writer(namespace, right)
    for turn in turns[:-1]:
        writer.turn(turn, last=False)
    writer.turn(turns[-1], last=True)
    return (
        FRAME.replace("__TITLE__", _one_line(title))
        .replace("__FUNCTION__", function)
        .replace("__TOLERANCE__", repr(departs.tolerance))
        .replace("__IN_KIND__", repr(departs.only_in_kind))
        .replace("__RIGHT__", right_text(right))
        .replace("    ...  # the call", "\n".join(writer.lines))
    )


def right_text(turn: Turn) -> str:
    """What right code answers, as an expression; an exception as a text that names it."""
    if isinstance(turn.reply, wire.Failure):
        return f"Raises({turn.reply.type_name!r})"
    if turn.reply is None:
        raise NoScript("right code does not answer")
    return literal(plain(turn.reply.value))


def literal(value: Any) -> str:
    """A plain value as an expression."""
    if isinstance(value, np.ndarray):
        return array_text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    return _float(value) if isinstance(value, float) else repr(value)


def array_text(found: np.ndarray[Any, Any]) -> str:
    """An array as an expression that gives it back to the last digit."""
    if found.size == 0:
        return f"np.empty({found.shape!r}, dtype={found.dtype.name!r})"
    with np.printoptions(threshold=MAX_NUMBERS + 1, linewidth=100, floatmode="unique"):
        text = np.array2string(found, separator=", ").replace("nan", "np.nan").replace("inf", "np.inf")
    dtype = "" if found.dtype.name in ("float64", "int64", "bool") else f", dtype=np.{found.dtype.name}"
    if found.dtype.kind == "f" and not dtype:
        dtype = ", dtype=float" if "." not in text and "np." not in text else ""
    return "np.array(" + text.replace("\n", "\n        ") + f"{dtype})"


def _float(value: float) -> str:
    return f"float({str(value)!r})" if value != value or value in (float("inf"), float("-inf")) else repr(value)


def _is_long(value: wire.Value) -> bool:
    return isinstance(value, wire.Sequence) and (
        len(value.items) > 8 or any(isinstance(item, wire.Array | wire.Sequence) for item in value.items)
    )


def _one_line(text: str) -> str:
    return display_name(" ".join(text.split())).replace("\\", "/").replace('"', "'")


_ERRORS = ("ValueError", "TypeError", "MemoryError", "RuntimeError", "IndexError", "KeyError", "AttributeError")
