"""The fixture ``lab``: a submission as the hidden checks see it.

``lab.attention(Q, K, V, mask=mask)`` sends the call to wherever the submission runs and gives back plain
values; whatever goes wrong there is one exception of ``autograder.failures``. Functions that the lab asks the
student to call stay on this side and are called back.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograder import failures, memory, wire

#: How the message of a function begins that is not there, or that still is the skeleton's.
NOT_WRITTEN = "This function is not written yet"
#: Calls into the submission from within calls out of it; a model that calls a cache that calls the model ends here.
MAX_NESTING = 12
#: Calls back from one call of the submission. The most that honest code makes is a few thousand.
MAX_CALLBACKS = 50_000
#: What a right function in the place of the submission's may allocate in one call: a mask for 60,000 tokens is 3.6 GB.
SUBSTITUTE_BYTES = 2**28
#: What stands among the library functions that ran where a process beside the submission's own did.
ANOTHER_PROCESS = "another process"


class Opaque:
    """Something that the submission gave and that cannot travel; ``type_name`` says what it was."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


class Transport(Protocol):
    """How one request gets its reply. ``on_callback`` answers what the submission asks meanwhile."""

    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        """Send and wait until ``deadline`` (``time.monotonic`` seconds). Raises ``failures.SubmissionFault``."""
        ...

    def spent(self) -> float:
        """CPU seconds of the submission's processes so far, as the kernel counts them."""
        ...

    def hold(self) -> None:
        """Stop what the submission started beside the process that answers."""
        ...

    def release(self) -> bool:
        """Let it go on; whether any of it worked meanwhile, woken by the submission or started anew."""
        ...


class StandIn:
    """An object of the oracle that the submission may use: plain attributes, and methods that run here."""

    def __init__(
        self,
        target: object,
        attributes: Mapping[str, Any],
        methods: Sequence[str],
        properties: Sequence[str] = (),
    ) -> None:
        self.target, self.attributes, self.methods, self.properties = target, attributes, methods, properties


class Remote:
    """An object of the submission, spoken of by handle."""

    def __init__(self, lab: Lab, handle: wire.Handle) -> None:
        self._lab, self._handle = lab, handle

    @property
    def type_name(self) -> str:
        return self._handle.type_name

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method there."""
        return self._lab._call(self._handle.id, method, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it: a function of the submission that was handed to a function of the oracle."""
        return self._lab._call(self._handle.id, None, args, kwargs)

    def get(self, attribute: str) -> Any:
        """Read an attribute or property there."""
        return self._lab._request(lambda n: wire.Get(n, self._handle.id, attribute))

    def get_whole(self) -> Any:
        """The object itself, as far as it can travel."""
        return self._lab._request(lambda n: wire.Get(n, self._handle.id))


class Kept(Remote):
    """An array that stays in the sandbox, to see what the submission does to it."""

    def read(self) -> np.ndarray[Any, Any]:
        """Its content now. Raises ``SubmissionFault`` where it is no array any more."""
        found = self.get_whole()
        if not isinstance(found, np.ndarray):
            raise failures.Unreadable("An input array could not be read back.")
        return found

    def fill(self, value: float) -> None:
        """Overwrite every element in place, as a caller that reuses its buffer does."""
        self._lab._request(lambda n: wire.Fill(n, self._handle.id, value))


class Timed(NamedTuple):
    """A timed call. ``began`` and ``ended`` are CPU seconds of the submission, as ``Lab.spent`` counts them."""

    seconds: float
    output: Remote
    began: float
    ended: float


class Lab:
    """One submission, for one check. Unknown attributes are the submission's functions.

    ``seconds`` is the limit of one call; ``close`` undoes substitutions and forgets the functions handed out.
    """

    def __init__(self, transport: Transport, *, seconds: float = 10.0) -> None:
        self._transport, self._seconds = transport, seconds
        self._functions: dict[int, StandIn] = {}
        # A function that was kept from an earlier check must never meet one of this check under its number.
        self._first = secrets.randbits(61)
        self._numbers = itertools.count(self._first)
        self._substituted: list[str] = []
        self._depth = 0
        self._callbacks = 0
        self._deadline = 0.0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def function(*args: Any, **kwargs: Any) -> Any:
            return self._call(name, None, args, kwargs)

        return function

    # ---- what checks may use beside the submission's own names
    def stand_in(
        self,
        target: object,
        *,
        attributes: Mapping[str, Any] | None = None,
        methods: Sequence[str] = (),
        properties: Sequence[str] = (),
    ) -> StandIn:
        """An object to hand over: it has these members there, and is callable if it is here.

        ``attributes`` are handed over once; ``methods`` and ``properties`` are asked here each time.
        """
        return StandIn(target, attributes or {}, methods, properties)

    def kept(self, value: np.ndarray[Any, Any] | list[int], layout: str = "c") -> Kept:
        """Put an array, or a list of numbers, into the sandbox once."""
        plain = self._encode(value) if isinstance(value, list) else wire.array_to_wire(value, layout)
        handle = self._request(lambda n: wire.Keep(n, plain), raw=True)
        if not isinstance(handle, wire.Handle):
            raise failures.Unreadable("An input array could not be handed over.")
        return Kept(self, handle)

    def layout(self, array: np.ndarray[Any, Any], layout: str) -> wire.Array:
        """An array argument in a memory layout: ``transposed``, ``strided`` or ``readonly``."""
        return wire.array_to_wire(array, layout)

    def forbidden(self, name: str, *args: Any, **kwargs: Any) -> list[str]:
        """Names of library softmax and attention functions that ran during the call."""
        return self.watched(name, *args, **kwargs)[1]

    def watched(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
        """What the call gave, and the names of library softmax and attention functions that ran during it.

        The names come while it runs, and a name that came counts whatever happens to the call afterwards.
        """
        seen: set[str] = set()
        number = next(self._numbers)
        self._functions[number] = StandIn(lambda label: seen.add(str(label)[:200]), {}, ())
        self._transport.hold()
        try:
            answer = self._call(name, None, args, kwargs, want="watched", watcher=number)
        except failures.SubmissionFault:
            if not seen:
                raise
            answer = None
        finally:
            del self._functions[number]
            if self._transport.release():
                seen.add(ANOTHER_PROCESS)
        return answer, sorted(seen)

    def timed(self, name: str, n: int, seed: int) -> Timed:
        """One call with the inputs ``measured.inputs.one_head(n, seed, 0)``, and what it gave (of a pair the first),
        which stays there until the next timed call.

        Its seconds are the kernel's count of its CPU time, or this side's clock where that shows less: time in which
        other processes had the core is not the submission's, and no clock of its own is asked.
        """
        self._request(lambda number: wire.Prepare(number, n, seed))
        began, start = self._transport.spent(), time.perf_counter()
        output = self._call(name, None, (), {}, want="timed")
        elapsed = time.perf_counter() - start
        ended = self._transport.spent()
        if not isinstance(output, Remote):
            raise failures.Unreadable("A timed call gave nothing back.")
        return Timed(min(ended - began, elapsed), output, began, ended)

    def spent(self) -> float:
        """CPU seconds of the submission so far."""
        return self._transport.spent()

    def on_device(self, name: str, device: str) -> Remote:
        """A bench there (``measured.on_device.Bench``) that runs the function on a device, as torch calls it."""
        bench = self._call(name, None, (device,), {}, want="device")
        if not isinstance(bench, Remote):
            raise failures.Unreadable("A function could not be put on the device.")
        return bench

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Until ``close``, the submission's global ``name`` is this function.

        It runs on this side for whatever the submission hands over, so it gets ``SUBSTITUTE_BYTES`` for each call.
        """

        def bounded(*args: Any, **kwargs: Any) -> Any:
            with memory.at_most(SUBSTITUTE_BYTES):
                return function(*args, **kwargs)

        self._request(lambda n: wire.Bind(n, name, self._encode(bounded)))
        self._substituted.append(name)

    def close(self) -> None:
        """Put substituted names back and forget every function that was handed over."""
        names, self._substituted = self._substituted, []
        for name in names:
            try:
                self._request(lambda n, name=name: wire.Bind(n, name))  # type: ignore[misc]
            except failures.SubmissionFault:
                continue
        self._functions.clear()

    # ---- requests
    def _call(
        self,
        target: str | int,
        attribute: str | None,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        want: str = "value",
        watcher: int = 0,
    ) -> Any:
        encoded = [self._encode(a) for a in args]
        named = {k: self._encode(v) for k, v in kwargs.items()}
        return self._request(lambda n: wire.Call(n, target, encoded, named, attribute, want, watcher, self._first))

    def _request(self, make: Callable[[int], wire.Request], *, raw: bool = False) -> Any:
        request = make(secrets.randbits(62))
        if self._depth >= MAX_NESTING:
            raise failures.Raised("RecursionError", "functions of the lab call each other without end")
        if self._depth == 0:
            self._deadline = time.monotonic() + self._seconds
            self._callbacks = 0
        self._depth += 1
        try:
            reply = self._transport.exchange(request, self._deadline, self._on_callback)
        finally:
            self._depth -= 1
        if isinstance(reply, wire.Failure):
            raise fault(reply)
        return reply.value if raw else self._decode(reply.value)

    def _on_callback(self, callback: wire.Callback) -> wire.Answer:
        """Run a function of the oracle for the submission. Whatever it raises goes back there."""
        self._callbacks += 1
        stand_in = self._functions.get(callback.target)
        try:
            if stand_in is None:
                raise RuntimeError("this function belongs to a call that is over")
            if self._callbacks > MAX_CALLBACKS:
                raise RuntimeError("this function was called far too often")
            function: Any = stand_in.target
            if callback.method is not None:
                if callback.method in stand_in.properties:
                    return wire.Answer(callback.id, self._encode(getattr(function, callback.method)))
                if callback.method not in stand_in.methods:
                    raise AttributeError(callback.method[:100])
                function = getattr(function, callback.method)
            args = [self._decode(a) for a in callback.args]
            kwargs = {k: self._decode(v) for k, v in callback.kwargs.items()}
            with np.errstate(all="ignore"):
                result = function(*args, **kwargs)
            return wire.Answer(callback.id, self._encode(result))
        except (failures.TimedOut, failures.Died, failures.Unreadable):
            raise
        except failures.SubmissionFault as error:
            return wire.Answer(callback.id, error="RuntimeError", text=error.message[:500])
        except Exception as error:
            return wire.Answer(callback.id, error=type(error).__name__, text=str(error)[:500])

    # ---- values
    def _encode(self, value: Any) -> wire.Value:
        if isinstance(value, np.generic):
            value = value.item()  # np.float64 is a float too, and no plain one
        if value is None or isinstance(value, (bool, str, float, wire.Array, wire.Integer, wire.Handle)):
            return value
        if isinstance(value, int):
            return value if -(2**63) <= value < 2**63 else wire.Integer(format(value, "x"))
        if isinstance(value, np.ndarray):
            return wire.array_to_wire(value)
        if isinstance(value, Remote):
            return value._handle
        if isinstance(value, (list, tuple)):
            return wire.Sequence([self._encode(v) for v in value], isinstance(value, tuple))
        if isinstance(value, Mapping):
            return wire.Mapping({k: self._encode(v) for k, v in value.items()})
        stand_in = value if isinstance(value, StandIn) else StandIn(value, {}, ())
        number = next(self._numbers)
        self._functions[number] = stand_in
        attributes = {k: self._encode(v) for k, v in stand_in.attributes.items()}
        return wire.StandIn(
            number, attributes, list(stand_in.methods), list(stand_in.properties), callable(stand_in.target)
        )

    def _decode(self, value: wire.Value) -> Any:
        if type(value) in wire.PLAIN:
            return value
        try:
            if isinstance(value, wire.Array):
                return wire.array_from_wire(value)
            if isinstance(value, wire.Integer):
                return int(value.text[: wire.MAX_INTEGER_BITS // 4 + 1], 16)
            if isinstance(value, wire.Sequence):
                return [self._decode(v) for v in value.items]
            if isinstance(value, wire.Mapping):
                return {k: self._decode(v) for k, v in value.items.items()}
        except (wire.WireError, ValueError, MemoryError, RecursionError) as error:
            raise failures.Unreadable(
                "The result could not be read: it is no array, number, list or mapping."
            ) from error
        if isinstance(value, wire.Handle):
            return Remote(self, value)
        if isinstance(value, wire.StandIn):
            return Opaque("a function")
        if isinstance(value, wire.Opaque):
            return Opaque(value.type_name[:200])
        return value


def fault(reply: wire.Failure) -> failures.SubmissionFault:
    """The reply of a call that went wrong, as the exception that says so."""
    if reply.kind == "missing":
        detail = f": {reply.text}" if reply.type_name == "NotImplementedError" and reply.text else ""
        return failures.Missing(f"{NOT_WRITTEN}{detail}.".replace("..", "."))
    if reply.kind == "memory":
        return failures.OutOfMemory("It needed more memory than a submission may use here.")
    if reply.kind == "oversize":
        return failures.Unreadable(f"The result is too large to hand over: {reply.text[:200]}.")
    return failures.Raised(reply.type_name[:200], reply.text[:1000], reply.where[:200])


class InProcess:
    """Both ends of the wire in one process, for trusted code: suspects, the reference, tests."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        from autograder.sandbox.child import Runner

        self._runner = Runner(namespace, self)
        self._inbox: list[wire.Request] = []
        self._replies: list[wire.Return | wire.Failure] = []
        self._on_callback: Callable[[wire.Callback], wire.Answer] | None = None

    def send(self, message: wire.Reply) -> None:
        body = wire.pack(message)[wire.LENGTH.size :]
        decoded = wire.unpack_reply(body)
        if isinstance(decoded, wire.Callback):
            assert self._on_callback is not None
            self._inbox.append(self._on_callback(decoded))
        else:
            self._replies.append(decoded)

    def receive(self) -> wire.Request:
        return wire.unpack_request(wire.pack(self._inbox.pop(0))[wire.LENGTH.size :])

    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        before, self._on_callback = self._on_callback, on_callback
        try:
            self._runner.answer(wire.unpack_request(wire.pack(request)[wire.LENGTH.size :]))
        finally:
            self._on_callback = before
        return self._replies.pop()

    def spent(self) -> float:
        return time.process_time()

    def hold(self) -> None:
        return

    def release(self) -> bool:
        return False


def local_lab(namespace: dict[str, Any]) -> Lab:
    """A ``Lab`` on code in this process, with the very encoding that a sandboxed submission has.

    For trusted code only: there is no isolation and no time limit.
    """
    return Lab(InProcess(namespace))
