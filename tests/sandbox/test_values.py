"""What travels over the wire, in both directions, and what the oracle makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import failures, wire
from autograder.lab import Kept, Lab, Opaque, Remote, local_lab
from tests.sandbox.conftest import Start


def lab_of(source: str) -> Lab:
    namespace: dict[str, Any] = {}
    exec("import numpy as np\n" + source, namespace)
    return local_lab(namespace)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 4)),
        np.array(3, np.float32),
        np.array([True, False]),
        np.arange(4, dtype=np.int32),
    ],
)
def test_arrays_come_back_as_they_went(array: np.ndarray[Any, Any]) -> None:
    back = lab_of("def same(x):\n    return x").same(array)
    assert back.dtype == array.dtype and back.shape == array.shape and np.array_equal(back, array)


@pytest.mark.parametrize(
    ("layout", "flags"),
    [
        ("c", (True, True)),
        ("transposed", (False, True)),
        ("strided", (False, True)),
        ("readonly", (True, False)),
    ],
)
def test_a_layout_changes_memory_and_no_value(layout: str, flags: tuple[bool, bool]) -> None:
    lab = lab_of("def look(x):\n    return [x.copy(), x.flags.c_contiguous, x.flags.writeable]")
    array = np.arange(12.0).reshape(3, 4)
    values, contiguous, writeable = lab.look(lab.layout(array, layout))
    assert np.array_equal(values, array) and (contiguous, writeable) == flags


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(1, 2.5)", [1, 2.5]),
        ("{'a': 1, 'b': {'c': True}}", {"a": 1, "b": {"c": True}}),
        ("2**100", 2**100),
        ("-2**100", -(2**100)),
        ("np.int16(3)", 3),
        ("np.float64(0.5)", 0.5),
        ("range(3)", [0, 1, 2]),
        ("None", None),
    ],
)
def test_plain_values_come_back_plain(source: str, expected: object) -> None:
    assert lab_of(f"def give():\n    return {source}").give() == expected


@pytest.mark.parametrize(
    "source",
    [
        "(x for x in (1, 2))",
        "{1, 2}",
        "np.array([object()])",
        "np.array([1j])",
        "10**5000",
        "iter([1])",
        "{'a': 1}.values()",
        "b'bytes'",
    ],
)
def test_what_cannot_travel_is_opaque(source: str) -> None:
    assert isinstance(lab_of(f"def give():\n    return {source}").give(), Opaque)


def test_half_a_character_in_a_key_is_written_out() -> None:
    assert lab_of("def give():\n    return {'\\ud800': 1, 'right': 2}").give() == {"\\ud800": 1, "right": 2}


def test_text_that_no_encoding_carries_costs_one_answer_and_not_the_process(start: Start) -> None:
    """A class that calls itself by half a character, which nothing else of it shows."""
    lab, _ = start(
        "class Kind(type):\n    __name__ = property(lambda self: '\\ud800')\n"
        "class Odd(metaclass=Kind): pass\n"
        "def odd():\n    return Odd()\n"
        "calls = []\n"
        "def fine():\n    calls.append(1); return len(calls)"
    )
    assert lab.fine() == 1
    with pytest.raises(failures.Raised, match="surrogates not allowed"):
        lab.odd()
    assert lab.fine() == 2


def test_an_object_stays_there_and_is_spoken_of_by_handle() -> None:
    lab = lab_of(
        "class Box:\n"
        "    def __init__(self): self.kept = []\n"
        "    def put(self, x): self.kept.append(x)\n"
        "    @property\n"
        "    def size(self): return len(self.kept)"
    )
    box = lab.Box()
    assert isinstance(box, Remote) and box.type_name == "Box"
    box.call("put", 1)
    assert box.get("size") == 1 and box.get("kept") == [1]


def test_a_kept_array_shows_what_was_done_to_it() -> None:
    lab = lab_of("def spoil(x):\n    x[0] = 9.0")
    kept = lab.kept(np.zeros(3))
    assert isinstance(kept, Kept)
    lab.spoil(kept)
    assert kept.read().tolist() == [9.0, 0.0, 0.0]
    kept.fill(4.0)
    assert kept.read().tolist() == [4.0, 4.0, 4.0]


def test_a_function_of_the_oracle_is_called_back_and_its_errors_arrive_there() -> None:
    lab = lab_of(
        "def use(fn):\n"
        "    try:\n"
        "        return fn(2)\n"
        "    except MemoryError as error:\n"
        "        return 'caught ' + str(error)"
    )
    assert lab.use(lambda n: n + 1) == 3

    def refuse(n: int) -> int:
        raise MemoryError("no room")

    assert lab.use(refuse) == "caught no room"


def test_a_function_of_the_oracle_may_give_a_numpy_number() -> None:
    assert lab_of("def use(fn):\n    return [fn(1), type(fn(1)).__name__]").use(np.float64) == [1.0, "float"]


def test_a_function_called_after_its_call_is_over_is_refused() -> None:
    lab = lab_of("kept = []\ndef keep(fn):\n    kept.append(fn)\ndef late():\n    return kept[0](1)")
    lab.keep(lambda n: n)
    lab.close()
    with pytest.raises(failures.Raised, match="over"):
        lab.late()


def test_a_stand_in_has_what_the_contract_promises_and_no_more() -> None:
    class Meter:
        secret = 7

        def reset(self) -> int:
            return 1

    lab = lab_of("def use(meter):\n    return [meter.n_layers, meter.reset(), hasattr(meter, 'secret')]")
    assert lab.use(lab.stand_in(Meter(), attributes={"n_layers": 2}, methods=("reset",))) == [2, 1, False]


def test_calls_across_the_border_without_end_are_ended(start: Start) -> None:
    lab, _ = start("class Box:\n    def again(self, fn): return fn(self, fn)", "def go(fn):\n    return fn(Box(), fn)")

    def again(box: Any, _fn: Any) -> Any:
        return box.call("again", again)

    with pytest.raises(failures.SubmissionFault):
        lab.go(again)


def test_threads_of_a_submission_may_call_a_function_of_the_oracle(start: Start) -> None:
    lab, _ = start(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def many(fn):\n"
        "    with ThreadPoolExecutor(16) as pool:\n"
        "        return sum(pool.map(fn, range(64)))"
    )
    assert lab.many(lambda n: n) == sum(range(64))


def test_a_substitute_is_seen_by_the_submission_and_put_back() -> None:
    lab = lab_of("def f():\n    return 1\ndef g():\n    return f() + 1")
    lab.substitute("f", lambda: 10)
    assert lab.g() == 11
    lab.close()
    assert lab.g() == 2


def test_a_substitute_takes_no_more_memory_than_it_may_whatever_it_is_asked() -> None:
    lab = lab_of("def f(n):\n    return 1\ndef g(n):\n    return np.size(f(n))")
    lab.substitute("f", lambda n: np.zeros(n).sum(keepdims=True))
    assert lab.g(10**6) == 1
    with pytest.raises(failures.OutOfMemory):
        lab.g(10**8)  # 0.8 GB
    # Nothing is bounded any more that the oracle does for itself.
    assert np.ones(10**8).size == 10**8


def test_a_name_that_a_later_line_gave_another_value_is_named() -> None:
    lab = lab_of("def entropy(w):\n    return np.float64(1.5)\nentropy = entropy(1)")
    with pytest.raises(failures.Raised, match="entropy is no function in the end but a float64: a later line"):
        lab.entropy(1)


def test_not_written_yet_is_told_apart_from_an_error() -> None:
    lab = lab_of("def todo():\n    raise NotImplementedError('softmax: write it here')\ndef wrong():\n    return 1 / 0")
    with pytest.raises(failures.Missing, match="write it here"):
        lab.todo()
    with pytest.raises(failures.Missing):
        lab.absent()
    with pytest.raises(failures.Raised, match="ZeroDivisionError"):
        lab.wrong()


@pytest.mark.parametrize(
    "source",
    [
        "class Odd(Exception):\n    def __str__(self):\n        while True: pass\ndef go():\n    raise Odd()",
        (
            "class Odd(Exception):\n"
            "    def __str__(self): raise RuntimeError\n"
            "    __repr__ = __str__\n"
            "def go():\n"
            "    raise Odd('x')"
        ),
        (
            "def go():\n"
            "    e = ValueError('x')\n"
            "    for _ in range(20000):\n"
            "        n = ValueError('y'); n.__cause__ = e; e = n\n"
            "    raise e"
        ),
        "def go():\n    raise type('<script>', (Exception,), {})('\\ud800')",
        "exec(compile('def go(): raise ValueError', '<\\udc80>', 'exec'))",
    ],
)
def test_a_hostile_exception_is_reported_without_calling_it(source: str) -> None:
    with pytest.raises(failures.Raised):
        lab_of(source).go()


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_no_bytes_make_the_oracle_raise_anything_but_its_own_error(body: bytes) -> None:
    try:
        reply = wire.unpack_reply(body)
    except wire.WireError:
        return
    lab = lab_of("")
    value = reply.value if isinstance(reply, wire.Return) else None
    try:
        lab._decode(value)
    except failures.Unreadable:
        return


@settings(max_examples=200)
@given(st.text(max_size=8), st.lists(st.integers(-(2**62), 2**62), max_size=5), st.binary(max_size=64))
def test_an_array_whose_parts_disagree_is_refused(dtype: str, shape: list[int], data: bytes) -> None:
    for name in (dtype, "<f8", "|b1"):
        try:
            array = wire.array_from_wire(wire.Array(name, shape, data))
        except wire.WireError:
            continue
        assert array.nbytes <= max(len(data), 0)
