"""Whatever bytes come out of a sandbox, the oracle gives an answer or raises its own error, in time and in memory."""

from __future__ import annotations

import random
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import failures, wire
from autograder.lab import Lab, local_lab
from autograder.sandbox.fork import Fork

#: Honest messages and what becomes of them in ``make test``; the soak run has a hundred times as many.
EXAMPLES, SOAK_EXAMPLES = 250, 25_000
LIBFUZZER = ("-max_total_time=60", "-rss_limit_mb=2048", "-timeout=10")

numbers = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=20))
arrays = st.builds(
    wire.Array,
    st.sampled_from([*sorted(wire.DTYPES), "O", "V8", "<U4", "<f16", "f8,f8", "\0", "x" * 300]),
    st.lists(st.integers(-3, 2**41), max_size=40),
    st.binary(max_size=64),
    st.sampled_from(["c", "strided", "?"]),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        numbers,
        arrays,
        st.builds(wire.Integer, st.one_of(st.text("0123456789abcdef-_ +xé", max_size=30), st.just("f" * 20_000))),
        st.builds(wire.Handle, st.integers(-(2**63), 2**64 - 1), st.text(max_size=5)),
        st.builds(wire.Opaque, st.text(max_size=300)),
        st.builds(wire.StandIn, st.integers(0, 9), st.just({}), st.just(["a"]), st.just([]), st.booleans()),
    ),
    lambda inner: st.one_of(
        st.builds(wire.Sequence, st.lists(inner, max_size=6), st.booleans()),
        st.builds(wire.Mapping, st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    ),
    max_leaves=20,
)


def replies(number: int) -> st.SearchStrategy[wire.Reply]:
    """Well-formed messages of a sandbox to a question with this number."""
    ids = st.sampled_from([number, number, number, 0, -1, 2**62])
    targets = st.integers(-1, 3)
    return st.one_of(
        st.builds(wire.Return, ids, values),
        st.builds(
            wire.Failure,
            ids,
            st.sampled_from(["raised", "missing", "memory", "oversize", "passed", ""]),
            st.text(max_size=50),
            st.text(max_size=50),
            st.text(max_size=50),
        ),
        st.builds(
            wire.Callback,
            st.integers(0, 3),
            targets,
            st.sampled_from([None, "read", "__class__", "__init__", "_x", ""]),
            st.lists(values, max_size=3),
            st.dictionaries(st.text(max_size=5), values, max_size=2),
        ),
    )


def changed(body: bytes, chance: random.Random) -> bytes:
    """The bytes with a few of them changed, taken out, put in twice, or replaced by what MessagePack reads as huge."""
    data = bytearray(body)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 5])):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + chance.randrange(9)] = b""
            case 2:
                data[at:at] = data[max(0, at - 20) : at]
            case 3:
                data[at:at] = chance.choice([b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"])
            case 4:
                data[at:at] = b"\x91" * chance.choice([10, 3_000])
            case _:
                data[at:at] = chance.randbytes(chance.randrange(9))
    return bytes(data)


class Puppet:
    """A transport whose other end has said everything before it was asked."""

    def __init__(self, say: Callable[[int], bytes]) -> None:
        self.say = say

    def exchange(
        self, request: wire.Request, deadline: float, on_callback: Callable[[wire.Callback], wire.Answer]
    ) -> wire.Return | wire.Failure:
        ours, theirs = socket.socketpair()
        lifeline, keeper = socket.socketpair()
        with theirs, keeper:
            theirs.sendall(self.say(request.id)[:150_000])
            theirs.shutdown(socket.SHUT_WR)
            keeper.shutdown(socket.SHUT_WR)
            fork = Fork(ours, lifeline)
            try:
                return fork.exchange(request, deadline, on_callback)
            finally:
                fork.end()

    def spent(self) -> float:
        return 0.0

    def hold(self) -> None:
        return

    def release(self) -> bool:
        return False


def ask(say: Callable[[int], bytes]) -> object:
    """What a call gives whose answer is ``say(number)``; an error of the oracle's own is an answer too."""
    lab = Lab(Puppet(say), seconds=20)

    def oracle(*args: object, **kwargs: object) -> float:
        return float(np.sum([np.size(a) for a in args]))  # type: ignore[arg-type]

    lab._first, lab._numbers = 0, iter(range(100))
    try:
        return lab.anything(oracle, lab.stand_in(oracle, methods=("read",)))
    except failures.SubmissionFault:
        return None


def try_one(data: st.DataObject) -> None:
    chance = random.Random(data.draw(st.integers(0, 2**32)))

    def say(number: int) -> bytes:
        said = b""
        for _ in range(data.draw(st.integers(1, 4))):
            body = changed(wire.pack(data.draw(replies(number)))[wire.LENGTH.size :], chance)
            length = len(body) if chance.random() < 0.9 else chance.choice([0, 1, len(body) + 1, 2**32 - 1])
            said += struct.pack(">I", length) + body
        return said

    began = time.process_time()
    ask(say)
    assert time.process_time() - began < 10


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_changed_messages_are_answers_or_the_oracle_s_own_error(data: st.DataObject) -> None:
    try_one(data)


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=3_000))
def test_raw_bytes_are_answers_or_the_oracle_s_own_error(body: bytes) -> None:
    ask(lambda _: body)
    ask(lambda _: struct.pack(">I", len(body)) + body)


@pytest.mark.soak
@settings(max_examples=SOAK_EXAMPLES)
@given(st.data())
def test_many_changed_messages_are_answers_or_the_oracle_s_own_error(data: st.DataObject) -> None:
    try_one(data)


# ---- the largest that there can be
def text(words: str) -> bytes:
    return bytes([0xA0 + len(words)]) + words.encode()


SEQUENCE = b"\x82" + text("type") + text("l") + text("items")
#: Values of few bytes that become large objects.
SMALL = {
    "nothing": b"\xc0",
    "numbers of three bytes": b"\xcd\x01\x99",
    "texts of two letters": text("ab"),
    "empty lists": SEQUENCE + b"\x90",
    "empty arrays": b"\x84" + text("type") + text("a") + text("dtype") + text("<f8") + text("shape") + b"\x91\x00"
    + text("data") + b"\xc4\x00",
}  # fmt: skip
#: Bytes that one frame may make the oracle's process grow by: objects of Python are larger than their MessagePack.
GROWTH = 600 * 2**20


@pytest.mark.parametrize("kind", SMALL)
def test_the_largest_frame_is_refused_and_costs_a_bounded_amount_of_memory(kind: str) -> None:
    script = f"""
import resource, sys
from tests.sandbox.test_fuzz import largest
from autograder import wire
body = largest({kind!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    wire.unpack_reply(body)
except wire.WireError:
    print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < GROWTH


def largest(kind: str) -> bytes:
    """A reply of nearly ``MAX_FRAME`` bytes that is a list of one kind of value."""
    item = SMALL[kind]
    count = (wire.MAX_FRAME - 1000) // len(item)
    head = b"\x83" + text("type") + text("return") + text("id") + b"\x07" + text("value")
    return head + SEQUENCE + b"\xdd" + struct.pack(">I", count) + item * count


def test_a_list_that_is_too_long_ends_the_process_that_sent_it() -> None:
    long = wire.pack(wire.Return(7, wire.Sequence([None] * (wire.MAX_VALUES + 1))))[wire.LENGTH.size :]
    with pytest.raises(wire.WireError, match="values"):
        wire.unpack_reply(long)
    nested = wire.Sequence([wire.Sequence([None] * 1000) for _ in range(wire.MAX_VALUES // 1000 + 1)])
    with pytest.raises(wire.WireError, match="values"):
        wire.unpack_reply(wire.pack(wire.Callback(1, 1, None, [nested], {}))[wire.LENGTH.size :])


@pytest.mark.parametrize("fits", [True, False])
def test_the_student_s_side_refuses_first_what_the_oracle_would_refuse(fits: bool) -> None:
    # It counts a list and what is in it: half as many is the most that it sends.
    count = wire.MAX_VALUES // 2 - 10 if fits else wire.MAX_VALUES - 10
    lab = local_lab({"give": lambda: [0] * count})
    if fits:
        assert len(lab.give()) == count
    else:
        with pytest.raises(failures.Unreadable, match="too many parts"):
            lab.give()


@pytest.mark.soak
def test_a_minute_of_fuzzing_that_follows_the_code_finds_nothing() -> None:
    pytest.importorskip("atheris", reason="atheris is not installed; it has wheels for some systems only")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.sandbox.follow_the_code",
            "-max_total_time=60",
            "-rss_limit_mb=2048",
            "-timeout=10",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
