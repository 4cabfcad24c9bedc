"""What runs beside the student's code: a namespace, and a loop that answers the oracle.

Nothing in here is secret, and nothing that it says is trusted. What the student's code may replace
(``struct.pack``, ``np.asarray``, ``builtins``) is bound when this module is imported, before any of it runs,
so that honest code which does odd things still gets its answers through.
"""

from __future__ import annotations

import collections.abc
import operator
import os
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograder import wire
from autograder.measured import inputs
from autograder.sandbox import errors, forbidden

_asarray, _errstate = np.asarray, np.errstate
_sleep = time.sleep
_catch_warnings, _ignore_warnings = warnings.catch_warnings, warnings.simplefilter
_PLAIN = wire.PLAIN
_MAX_DEPTH, _MAX_HANDLES = 8, 20_000
_ERRORS: dict[str, type[Exception]] = {
    e.__name__: e
    for e in (ValueError, TypeError, MemoryError, RuntimeError, IndexError, KeyError, ZeroDivisionError, OverflowError,
              ArithmeticError, AttributeError, LookupError, OSError)
}  # fmt: skip


class Channel(Protocol):
    """The two directions of the wire, a frame at a time."""

    def send(self, message: wire.Reply) -> None: ...

    def receive(self) -> wire.Request: ...


class _Items:
    """How many values one reply may still hold; a list that contains itself ends here."""

    def __init__(self) -> None:
        self.left = wire.MAX_VALUES

    def take(self, n: int = 1) -> None:
        self.left -= n
        if self.left < 0:
            raise wire.WireError("a result of far too many parts")


class Runner:
    """Answers the requests of one submission; ``namespace`` is where its cells run."""

    def __init__(
        self,
        namespace: dict[str, Any],
        channel: Channel,
        run_cell: Callable[[str, str], BaseException | None] | None = None,
    ) -> None:
        self.namespace, self.channel, self.run_cell = namespace, channel, run_cell
        self.objects: dict[int, Any] = {}
        self.handles = 0
        # The inputs of a timed call, and the handle of what it gave.
        self.prepared: list[np.ndarray[Any, Any]] = []
        self.timed = 0
        self.replaced: dict[str, Any] = {}
        # One exchange at a time: functions of the oracle may be called from any thread of the student's.
        self.lock = threading.RLock()
        self.calls = 0
        # Which functions of the oracle belong to the check that asks now.
        self.owner = 0

    # ---- the loop
    def serve(self) -> None:
        """Answer until the other end closes."""
        while True:
            with self.lock, forbidden.between_calls():
                request = self.channel.receive()
            self.answer(request)

    def answer(self, request: wire.Request) -> None:
        if isinstance(request, wire.Call) and request.want == "watched":
            self.owner = request.owner
            # With what reads the arguments and what makes data of the result: neither a lazy object nor a profiler can
            # put the work off, or do it beforehand.
            with forbidden.watch(lambda name: self.call_back(request.watcher, None, (name,), {})):
                self.reply_to(request)
        else:
            self.reply_to(request)

    def reply_to(self, request: wire.Request) -> None:
        reply: wire.Reply
        try:
            reply = wire.Return(request.id, self.perform(request))
        except wire.WireError as error:
            reply = wire.Failure(request.id, "oversize", "", str(error))
        except BaseException as error:
            reply = errors.failure(request.id, error)
        with self.lock:
            try:
                self.channel.send(reply)
            except wire.WireError as error:
                self.channel.send(wire.Failure(request.id, "oversize", "", str(error)))
            except ValueError as error:
                # Text that no encoding carries, in a place where nobody looked for it. Nothing of it was sent.
                self.channel.send(errors.failure(request.id, error))

    def perform(self, request: wire.Request) -> wire.Value:
        if isinstance(request, wire.Run):
            assert self.run_cell is not None
            error = self.run_cell(request.source, request.label)
            if error is not None:
                raise error
            return None
        if isinstance(request, wire.Call):
            return self.call(request)
        if isinstance(request, wire.Get):
            found = self.objects[request.handle]
            return self.encode(found if request.attribute is None else getattr(found, request.attribute))
        if isinstance(request, wire.Keep):
            return self.handle(self.decode(request.value))
        if isinstance(request, wire.Prepare):
            self.objects.pop(self.timed, None)
            self.prepared = [*inputs.one_head(request.n, request.seed, 0)]
            return None
        if isinstance(request, wire.Fill):
            self.objects[request.handle][...] = request.value
            return None
        if isinstance(request, wire.Bind):
            self.bind(request)
            return None
        if isinstance(request, wire.Files):
            for name, data in request.files.items():
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
                with open(name, "wb") as file:
                    file.write(data)
            return None
        raise wire.WireError("an answer that nothing waits for")

    def call(self, request: wire.Call) -> wire.Value:
        self.owner = request.owner
        if isinstance(request.target, int):
            function = self.objects[request.target]
        elif request.target in self.namespace:
            function = self.namespace[request.target]
            if not callable(function):
                kind = type(function).__name__[:100]
                raise TypeError(f"{request.target} is no function in the end but a {kind}: a later line made it this")
        else:
            raise errors.Missing(request.target)
        if request.attribute is not None:
            function = getattr(function, request.attribute)
        args = [self.decode(a) for a in request.args]
        kwargs = {k: self.decode(v) for k, v in request.kwargs.items()}
        if request.want == "device":
            # Only a run on a GPU asks for this, and its warm parent has it imported.
            from autograder.measured import on_device

            return self.handle(on_device.Bench(function, *args))
        with _errstate(divide="warn", over="warn", under="ignore", invalid="warn"), _catch_warnings():
            _ignore_warnings("ignore")
            if request.want == "timed":
                result = function(*self.prepared)
                # What is timed includes making arrays of the result: a lazy object cannot put the work off.
                parts = [_asarray(part) for part in (result if _is_sequence(result) and len(result) < 5 else [result])]
                handle = self.handle(parts[0])
                self.timed = handle.id
                return handle
            return self.encode(function(*args, **kwargs))

    def bind(self, request: wire.Bind) -> None:
        if request.value is not None:
            self.replaced.setdefault(request.name, self.namespace.get(request.name, _NOTHING))
            self.namespace[request.name] = self.decode(request.value)
        elif request.name in self.replaced:
            before = self.replaced.pop(request.name)
            if before is _NOTHING:
                self.namespace.pop(request.name, None)
            else:
                self.namespace[request.name] = before

    # ---- functions of the oracle
    def call_back(self, target: int, method: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the oracle, and meanwhile answer what it asks (its model calls the student's cache)."""
        if not 0 <= target - self.owner < wire.FUNCTIONS:
            # A thread that goes on after its check must not hold up the next one.
            _sleep(0.005)
            raise RuntimeError("this function belongs to a call that is over")
        items = _Items()
        encoded = [self.encode(a, items) for a in args]
        named = {str(k): self.encode(v, items) for k, v in kwargs.items()}
        with self.lock:
            self.calls += 1
            number = self.calls
            self.channel.send(wire.Callback(number, target, method, encoded, named))
            while True:
                message = self.channel.receive()
                if isinstance(message, wire.Answer) and message.id == number:
                    break
                self.answer(message)
        if message.error is not None:
            raise _ERRORS.get(message.error, RuntimeError)(message.text)
        return self.decode(message.value)

    # ---- values
    def handle(self, found: Any) -> wire.Handle:
        if len(self.objects) >= _MAX_HANDLES:
            raise wire.WireError("far too many objects")
        self.handles += 1
        self.objects[self.handles] = found
        return wire.Handle(self.handles, type(found).__name__[:100])

    def decode(self, value: wire.Value) -> Any:
        """A value of the oracle as the student's code sees it."""
        if type(value) in _PLAIN:
            return value
        if isinstance(value, wire.Array):
            return lay_out(wire.array_from_wire(value), value.layout)
        if isinstance(value, wire.Integer):
            return int(value.text, 16)
        if isinstance(value, wire.Sequence):
            items = [self.decode(v) for v in value.items]
            return tuple(items) if value.is_tuple else items
        if isinstance(value, wire.Mapping):
            return {k: self.decode(v) for k, v in value.items.items()}
        if isinstance(value, wire.Handle):
            return self.objects[value.id]
        if isinstance(value, wire.StandIn):
            return self.stand_in(value)
        return value

    def stand_in(self, value: wire.StandIn) -> Any:
        """A function, or an object with the attributes and methods that the contract promises."""
        number = value.id

        def function(*args: Any, **kwargs: Any) -> Any:
            return self.call_back(number, None, args, kwargs)

        if not value.methods and not value.attributes and not value.properties:
            return function
        members: dict[str, Any] = {k: self.decode(v) for k, v in value.attributes.items()}
        for name in value.methods:
            members[name] = self._method(number, name)
        for name in value.properties:
            members[name] = property(self._method(number, name))
        if value.callable:
            members["__call__"] = lambda _self, *args, **kwargs: function(*args, **kwargs)
        return type("StandIn", (), members)()

    def _method(self, number: int, name: str) -> Callable[..., Any]:
        return lambda _self, *args, **kwargs: self.call_back(number, name, args, kwargs)

    def encode(self, found: Any, items: _Items | None = None, depth: int = 0) -> wire.Value:
        """A value of the student's as data: as much as the contract can ask for, and a word for the rest."""
        items = items or _Items()
        items.take()
        if found is None or isinstance(found, (bool, np.bool_)):
            return None if found is None else bool(found)
        if isinstance(found, str):
            items.take(len(found) // 64)
            return errors.carried(found, wire.MAX_TEXT)
        if isinstance(found, (int, np.integer)):
            return _integer(operator.index(found))
        if isinstance(found, (float, np.floating)):
            return float(found)
        if depth > _MAX_DEPTH:
            return wire.Opaque("something nested too deep")
        if isinstance(found, np.ndarray) or hasattr(type(found), "__array__"):
            array = _asarray(found)
            if array.dtype.kind not in "biuf":
                return wire.Opaque(f"an array of dtype {str(array.dtype)[:50]}")
            return wire.array_to_wire(array)
        if _is_cache(found):
            return self.handle(found)
        if isinstance(found, collections.abc.Mapping):
            keys = list(found)
            return wire.Mapping({errors.carried(str(k), 100): self.encode(found[k], items, depth + 1) for k in keys})
        if _is_sequence(found):
            length = len(found)
            items.take(length)
            return wire.Sequence([self.encode(found[i], items, depth + 1) for i in range(length)])
        return self._scalar_or_handle(found)

    def _scalar_or_handle(self, found: Any) -> wire.Value:
        kind = type(found)
        if hasattr(kind, "__index__"):
            return _integer(operator.index(found))
        if hasattr(kind, "__float__"):
            return float(found)
        if hasattr(kind, "__next__") or isinstance(
            found, (set, frozenset, collections.abc.ValuesView, bytes, bytearray)
        ):
            return wire.Opaque(f"a {kind.__name__[:100]}")
        return self.handle(found)


_NOTHING = object()


def _is_cache(found: Any) -> bool:
    """Whether it has a cache's ``append``, ``keys`` and ``values``: such an object stays here, also where its class
    is a list or can be indexed. No property of it is read: an empty cache may have nothing to show."""
    kind, own = type(found), getattr(found, "__dict__", {})
    return all(hasattr(kind, name) or name in own for name in ("append", "keys", "values"))


def _is_sequence(found: Any) -> bool:
    if isinstance(found, (bytes, bytearray, type, types.ModuleType)):
        return False
    kind = type(found)
    return isinstance(found, collections.abc.Sequence) or (hasattr(kind, "__len__") and hasattr(kind, "__getitem__"))


def _integer(number: int) -> wire.Value:
    if -(2**63) <= number < 2**63:
        return number
    if number.bit_length() > wire.MAX_INTEGER_BITS:
        return wire.Opaque("an integer of thousands of digits")
    return wire.Integer(format(number, "x"))


def lay_out(array: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    """The same values in another memory layout: ``transposed``, ``strided`` (every second row and column of a
    larger array), ``readonly``, or C order."""
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "strided":
        wide = np.full([2 * n for n in array.shape], 77, array.dtype)
        view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
        view[...] = array
        return view
    if layout == "readonly":
        array.flags.writeable = False
    return array
