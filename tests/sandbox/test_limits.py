"""Submissions that never end, die, eat memory or flood: each has a verdict, and the rest goes on."""

from __future__ import annotations

import contextlib
import time

import pytest

from autograder import failures, wire
from autograder.sandbox import session as sessions
from tests.sandbox.conftest import Start

STUBBORN = """
import signal
def stubborn():
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(s, signal.SIG_IGN)
    while True:
        try: pass
        except BaseException: pass
"""
FINE = "def fine():\n    return 1"


def test_a_loop_that_swallows_everything_is_a_timeout_and_the_next_call_works(start_any: Start) -> None:
    lab, _ = start_any(STUBBORN, FINE, seconds=1.0)
    began = time.monotonic()
    with pytest.raises(failures.TimedOut):
        lab.stubborn()
    assert lab.fine() == 1
    assert time.monotonic() - began < 60


def test_an_endless_cell_costs_only_itself(start: Start) -> None:
    lab, session = start("before = 1", "while True: pass", FINE, cell_seconds=1.0)
    assert lab.fine() == 1
    assert [(p.label, p.kind) for p in session.problems] == [("cell 2", "timeout")]


def test_an_endless_cell_that_cannot_be_interrupted_costs_only_itself(start: Start) -> None:
    lab, session = start("before = 1", STUBBORN + "stubborn()", FINE, cell_seconds=1.0)
    assert lab.fine() == 1
    assert [(p.label, p.kind) for p in session.problems] == [("cell 2", "timeout")]


@pytest.mark.parametrize(
    "ending",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
    ],
)
def test_a_cell_that_ends_the_process_costs_only_itself(start: Start, ending: str) -> None:
    lab, session = start("x = 1", ending, FINE)
    assert lab.fine() == 1
    assert [p.label for p in session.problems] in (["cell 2"], [])


@pytest.mark.parametrize(
    "leaving", ["exit()", "quit()", "import sys; sys.exit(0)", "raise SystemExit", "raise KeyboardInterrupt"]
)
def test_a_cell_that_leaves_politely_costs_only_itself(start: Start, leaving: str) -> None:
    lab, _ = start(leaving, FINE)
    assert lab.fine() == 1


def test_a_function_that_dies_each_time_is_not_waited_for_for_ever(start: Start) -> None:
    lab, _ = start("import os\ndef dies():\n    os._exit(1)")
    for _ in range(sessions.MAX_REVIVALS + 3):
        with pytest.raises(failures.Died):
            lab.dies()


def test_memory_over_the_limit_is_said_to_be_that(start_any: Start) -> None:
    lab, _ = start_any("def eat():\n    return len(bytearray(2**31))", FINE)
    with pytest.raises(failures.OutOfMemory):
        lab.eat()
    assert lab.fine() == 1


def test_memory_of_many_processes_counts_together(start: Start) -> None:
    eat = (
        "import os, time\n"
        "def eat():\n"
        "    for _ in range(8):\n"
        "        if os.fork() == 0:\n"
        "            x = b'x' * (200 * 2**20)\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)"
    )
    lab, _ = start(eat, seconds=30)
    with pytest.raises(failures.OutOfMemory):
        lab.eat()


def test_a_fork_bomb_is_stopped(start: Start) -> None:
    lab, _ = start(
        (
            "import os, time\n"
            "def bomb():\n"
            "    while True:\n"
            "        try:\n"
            "            os.fork()\n"
            "        except OSError:\n"
            "            time.sleep(0.01)"
        ),
        FINE,
        seconds=30,
    )
    with pytest.raises((failures.Died, failures.TimedOut)):
        lab.bomb()
    assert lab.fine() == 1


def test_a_flood_of_output_goes_nowhere(start: Start) -> None:
    lab, session = start(
        "import os\nfor _ in range(200):\n    print('x' * 10**6)\nos.write(1, b'y' * 10**7); os.write(2, b'y' * 10**7)",
        FINE,
    )
    assert lab.fine() == 1
    assert session.problems == []


def test_a_disk_that_is_filled_is_the_submission_s_own(start: Start) -> None:
    lab, _ = start(
        (
            "def fill():\n"
            "    with open('big', 'wb') as f:\n"
            "        for _ in range(4096):\n"
            "            f.write(bytes(2**20))"
        ),
        FINE,
    )
    with pytest.raises(failures.Raised, match="OSError"):
        lab.fill()
    assert lab.fine() == 1


def test_a_result_that_is_too_large_is_said_to_be_that(start: Start) -> None:
    lab, _ = start("import numpy as np\ndef big():\n    return np.ones((600, 100_000), bool)", FINE)
    with pytest.raises(failures.Unreadable, match="too large"):
        lab.big()
    assert lab.fine() == 1


# ---- the wire, attacked from inside
FIND_WIRE = """
import os, stat, struct, threading
def wires():
    found = []
    for f in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(f).st_mode): found.append(f)
        except OSError: pass
    return found
"""


@pytest.mark.parametrize(
    "bytes_sent",
    [
        "struct.pack('>I', 2**32 - 1) + b'x' * 10",
        "struct.pack('>I', 4) + b'\\xff\\xff\\xff\\xff'",
        "b'x' * 4096",
        "struct.pack('>I', 0)",
    ],
)
def test_garbage_on_the_wire_is_the_submission_s_fault(start: Start, bytes_sent: str) -> None:
    lab, _ = start(
        FIND_WIRE,
        f"def garbage():\n    for f in wires():\n        os.write(f, {bytes_sent})\n    return 1",
        seconds=5,
    )
    with pytest.raises((failures.Unreadable, failures.TimedOut)):
        lab.garbage()


def test_an_answer_to_a_question_that_nobody_asked_is_refused(start: Start) -> None:
    forged = wire.pack(wire.Return(7, 1.0))
    lab, _ = start(FIND_WIRE, f"def forge():\n    for f in wires():\n        os.write(f, {forged!r})\n    return 2.0")
    with pytest.raises(failures.Unreadable):
        lab.forge()


def test_one_byte_at_a_time_for_ever_ends_at_the_deadline(start: Start) -> None:
    lab, _ = start(
        FIND_WIRE,
        (
            "import time\n"
            "def drip():\n"
            "    while True:\n"
            "        for f in wires():\n"
            "            os.write(f, b'\\0')\n"
            "        time.sleep(0.2)"
        ),
        seconds=1.5,
    )
    with pytest.raises((failures.TimedOut, failures.Unreadable)):
        lab.drip()


def test_threads_that_eat_the_requests_do_not_hold_the_grader_up(start: Start) -> None:
    eat = (
        "import os\n"
        "def eat(f):\n"
        "    while True: os.read(f, 65536)\n"
        "for f in wires():\n"
        "    for _ in range(3): threading.Thread(target=eat, args=(f,), daemon=True).start()"
    )
    lab, _ = start(FIND_WIRE, FINE, eat, seconds=0.5, cell_seconds=2.0)
    began = time.monotonic()
    for _ in range(40):
        with contextlib.suppress(failures.SubmissionFault):
            lab.fine()
    assert time.monotonic() - began < 60
    assert start(FINE)[0].fine() == 1


def test_a_replaced_struct_pack_does_not_keep_an_honest_answer_back(start: Start) -> None:
    lab, _ = start(
        "import struct, numpy as np\nstruct.pack = lambda *a: b''\nnp.asarray = np.ascontiguousarray = lambda *a: None",
        "def honest():\n    return [1.5, 'x']",
    )
    assert lab.honest() == [1.5, "x"]


def test_a_renewed_session_has_no_trace_of_earlier_calls(start: Start) -> None:
    lab, session = start("seen = []\ndef count():\n    seen.append(1)\n    return len(seen)")
    assert [lab.count(), lab.count()] == [1, 2]
    session.renew()
    assert lab.count() == 1
