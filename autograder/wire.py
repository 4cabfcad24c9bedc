"""What travels between the oracle and the process that runs a submission: frames, values, limits.

This is the only module of the grader that both sides import. Values are plain data in tagged records:
nothing here can name a class or run code, so what a hostile process sends is at worst a wrong number.
A frame is four bytes of length (big-endian) and that many bytes of MessagePack.
"""

from __future__ import annotations

import math
from struct import Struct as _Packing
from typing import Any

import msgspec
import numpy as np

#: Largest frame in bytes, either way. The largest honest reply, the output of a measured call, is 1 MB.
MAX_FRAME = 16 * 2**20
#: Bytes that are read together, by either side, where no more is known to come: most frames, with their length.
SMALL_FRAME = 2**14
#: More axes than any answer has; NumPy itself allows 64.
MAX_AXES = 32
#: Integers travel as 64 bits or as text, up to this size.
MAX_INTEGER_BITS = 4096
#: Characters of a name or message of the submission that are carried on.
MAX_TEXT = 4000

#: Values of one message. What the oracle does with each takes a microsecond; the contract asks for thousands.
MAX_VALUES = 300_000
#: More functions than a check hands over.
FUNCTIONS = 2**32

LENGTH = _Packing(">I")
DTYPES = frozenset(np.dtype(c).str for c in "?bBhHiIqQefd")


class WireError(Exception):
    """Bytes that are no frame of this protocol, or break one of its limits."""


class Array(msgspec.Struct, tag="a"):
    """An array: NumPy dtype string, shape, the elements in C order, and how to lay it out in memory there."""

    dtype: str
    shape: list[int]
    data: bytes
    layout: str = "c"


class Integer(msgspec.Struct, tag="i"):
    """An integer of more than 64 bits, in hexadecimal."""

    text: str


class Sequence(msgspec.Struct, tag="l"):
    """A list or tuple; which of the two matters only on the way to the submission."""

    items: list[Value]
    is_tuple: bool = False


class Mapping(msgspec.Struct, tag="m"):
    """A mapping with text keys."""

    items: dict[str, Value]


class Handle(msgspec.Struct, tag="h"):
    """An object that stays in the sandbox and is spoken of by number."""

    id: int
    type_name: str = ""


class StandIn(msgspec.Struct, tag="s"):
    """A function or object of the oracle: calls of it, its methods and its properties come back as ``Callback``."""

    id: int
    attributes: dict[str, Value]
    methods: list[str]
    properties: list[str]
    callable: bool


class Opaque(msgspec.Struct, tag="o"):
    """What cannot travel, with a word for what it is."""

    type_name: str


#: What travels as it is.
PLAIN = frozenset({type(None), bool, int, float, str})

Value = None | bool | int | float | str | Array | Integer | Sequence | Mapping | Handle | StandIn | Opaque


# ---- requests of the oracle
class Files(msgspec.Struct, tag="files"):
    """Write the files that were handed in beside the notebook."""

    id: int
    files: dict[str, bytes]


class Run(msgspec.Struct, tag="run"):
    """Run one cell. ``label`` is what a message calls it."""

    id: int
    source: str
    label: str


class Call(msgspec.Struct, tag="call"):
    """Call a global name, or (with ``attribute``) a method of the object behind a handle.

    ``want``: ``value``; ``watched``, the value too, while ``watcher`` (a function of the oracle, by number) hears the
    names of the library functions that run; ``timed``, a handle of (the first part of) the result, with the arguments
    of the ``Prepare`` before it; ``device``, a handle of a bench for it on the device that is named. ``owner``:
    functions of the oracle with this number and up to ``FUNCTIONS`` more belong to the check that calls; all others
    belong to one that is over.
    """

    id: int
    target: str | int
    args: list[Value]
    kwargs: dict[str, Value]
    attribute: str | None = None
    want: str = "value"
    watcher: int = 0
    owner: int = 0


class Get(msgspec.Struct, tag="get"):
    """Read an attribute of an object, or (without) the whole of a kept array."""

    id: int
    handle: int
    attribute: str | None = None


class Keep(msgspec.Struct, tag="keep"):
    """Put a value into the sandbox; the reply is its handle."""

    id: int
    value: Value


class Prepare(msgspec.Struct, tag="prepare"):
    """Make the inputs of the next timed call (``measured.inputs.one_head``), which is no part of its time; what the
    last one had and gave is forgotten."""

    id: int
    n: int
    seed: int


class Fill(msgspec.Struct, tag="fill"):
    """Overwrite a kept array in place."""

    id: int
    handle: int
    value: float


class Bind(msgspec.Struct, tag="bind"):
    """Bind a global name of the submission to a value; without one, put back what was there before."""

    id: int
    name: str
    value: Value = None


class Answer(msgspec.Struct, tag="answer"):
    """The reply to a ``Callback``: a value, or an exception to raise there."""

    id: int
    value: Value = None
    error: str | None = None
    text: str = ""


# ---- replies of the sandbox
class Return(msgspec.Struct, tag="return"):
    id: int
    value: Value


class Failure(msgspec.Struct, tag="failure"):
    """``kind``: raised, missing, memory, oversize."""

    id: int
    kind: str
    type_name: str
    text: str
    where: str = ""


class Callback(msgspec.Struct, tag="callback"):
    """The submission calls a function of the oracle (or, with ``method``, a method or property of a stand-in)."""

    id: int
    target: int
    method: str | None
    args: list[Value]
    kwargs: dict[str, Value]


Request = Files | Run | Call | Get | Keep | Prepare | Fill | Bind | Answer
Reply = Return | Failure | Callback

_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(Request)
_replies = msgspec.msgpack.Decoder(Reply)


def pack(message: Request | Reply) -> bytes:
    """One frame. Raises ``WireError`` where it would be over the limit."""
    body = _encoder.encode(message)
    if len(body) > MAX_FRAME:
        raise WireError(f"{len(body)} bytes, more than the {MAX_FRAME} that fit in one frame")
    return LENGTH.pack(len(body)) + body


def unpack_request(body: bytes | bytearray) -> Request:
    """Decode what the oracle sent (in the sandbox)."""
    return _requests.decode(body)


def unpack_reply(body: bytes) -> Reply:
    """Decode what came out of the sandbox. Raises only ``WireError``."""
    try:
        reply = _replies.decode(body)
    except (msgspec.DecodeError, RecursionError, MemoryError, ValueError) as error:
        raise WireError("not a message of this protocol") from error
    if isinstance(reply, Return):
        _count([reply.value])
    elif isinstance(reply, Callback):
        _count([*reply.args, *reply.kwargs.values()])
    return reply


def _count(values: list[Value]) -> None:
    """Raises ``WireError`` where there are more than ``MAX_VALUES`` in all."""
    found = len(values)
    while values and found <= MAX_VALUES:
        value = values.pop()
        if isinstance(value, (Sequence, Mapping)):
            found += len(value.items)
            if found <= MAX_VALUES:
                values.extend(value.items if isinstance(value, Sequence) else value.items.values())
    if found > MAX_VALUES:
        raise WireError(f"more than {MAX_VALUES:,} values")


def array_to_wire(array: np.ndarray[Any, Any], layout: str = "c") -> Array:
    """An array as bytes; extended precision becomes float64. Complex numbers, text, objects: ``WireError``."""
    plain = np.asarray(array)
    if plain.dtype.kind == "f" and plain.dtype.itemsize > 8:
        plain = plain.astype(np.float64)
    plain = plain.astype(plain.dtype.newbyteorder("="), copy=False)
    if plain.dtype.str not in DTYPES:
        raise WireError(f"an array of {plain.dtype} is not a real numeric array")
    if plain.nbytes > MAX_FRAME:
        raise WireError(f"an array of {plain.nbytes} bytes, more than the {MAX_FRAME} that fit in one reply")
    return Array(plain.dtype.str, list(plain.shape), plain.tobytes(), layout)


def array_from_wire(wire: Array) -> np.ndarray[Any, Any]:
    """The array back, writable and its own. Raises ``WireError`` unless dtype, shape and size agree."""
    if wire.dtype not in DTYPES:
        raise WireError("an array of a dtype that is not numeric")
    if len(wire.shape) > MAX_AXES or any(n < 0 or n > 2**40 for n in wire.shape):
        raise WireError("an array of an impossible shape")
    dtype = np.dtype(wire.dtype)
    if math.prod(wire.shape) * dtype.itemsize != len(wire.data):
        raise WireError("an array whose shape and size do not agree")
    if not wire.data:
        # A huge axis beside an empty one (0, 2**40) overflows NumPy's strides: nothing is in it anyway.
        return np.empty([min(n, 2**15) for n in wire.shape], dtype)
    return np.frombuffer(wire.data, dtype).reshape(wire.shape).copy()
