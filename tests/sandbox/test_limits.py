"""Submissions that never end, die, eat memory or flood: each has a verdict, and the rest goes on."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator

import pytest

from autograder import failures, wire
from autograder.lab import Lab
from autograder.sandbox import session as sessions
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from tests.sandbox.conftest import Cell, Start

STUBBORN = """
import signal
def stubborn():
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(s, signal.SIG_IGN)
    while True:
        try: pass
        except BaseException: pass
"""
#: How a recursion that eats all memory ends, which Python says in one of several ways.
ENDS = (failures.OutOfMemory, failures.Raised, failures.Died)
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


def test_a_function_that_dies_each_time_is_not_waited_for_for_ever(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_REVIVALS", 6)
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


# ---- within twice the limit
@contextlib.contextmanager
def within_twice(limit: float) -> Iterator[None]:
    """What the grader itself would record for this, in seconds, is less than twice the limit."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 2 * limit


DEAF = "import signal, time\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\n"


def test_a_call_has_its_verdict_within_twice_its_limit(start: Start) -> None:
    lab, _ = start(DEAF + "def waits():\n    while True: time.sleep(1)", seconds=2.0)
    with within_twice(2.0), pytest.raises(failures.TimedOut):
        lab.waits()


@pytest.mark.parametrize("cell", ["import time\ntime.sleep(100)", DEAF + "while True: time.sleep(1)"])
def test_a_cell_has_its_verdict_within_twice_its_limit(start: Start, cell: str) -> None:
    start(FINE)
    with within_twice(4.0):
        _, session = start(FINE, cell, cell_seconds=4.0)
    assert [(p.label, p.kind) for p in session.problems] == [("cell 2", "timeout")]


def test_all_cells_have_their_verdict_within_twice_their_limit(sandbox: Sandbox) -> None:
    cells = [Cell("import time\ntime.sleep(0.4)", f"cell {i}") for i in range(30)]
    with within_twice(2.0), Session(sandbox, cells, {}, setup_seconds=2.0) as session:
        assert [p.kind for p in session.problems] == ["skipped"]


def test_calls_that_each_stay_below_their_limit_have_one_together(sandbox: Sandbox) -> None:
    cell = Cell("import time\ndef slow():\n    time.sleep(0.4); return 1", "cell 1")
    with Session(sandbox, [cell], {}, calls_seconds=1.0) as session:
        lab = Lab(session, seconds=10)
        with within_twice(4.0), pytest.raises(failures.TimedOut, match="took more than 1 s together"):
            deque((lab.slow() for _ in range(30)), maxlen=0)


def test_running_the_cells_again_counts_among_the_calls(sandbox: Sandbox) -> None:
    cell = Cell("import os, time\ntime.sleep(0.5)\ndef ends(): os._exit(0)", "cell 1")
    with Session(sandbox, [cell], {}, calls_seconds=0.8) as session:
        lab, ended = Lab(session, seconds=10), []
        for _ in range(4):
            with pytest.raises(failures.SubmissionFault) as error:
                lab.ends()
            ended.append(type(error.value))
        assert (ended[0], ended[-1]) == (failures.Died, failures.TimedOut)


@pytest.mark.parametrize(
    "eat",
    [
        "import numpy as np\ndef eat():\n    return float(np.ones((2**14, 2**14)).sum())",
        "import torch\ndef eat():\n    return float(torch.ones(2**14, 2**14).sum())",
        "import mmap\ndef eat():\n    m = mmap.mmap(-1, 2**31)\n    for i in range(0, 2**31, 4096): m[i] = 1",
        "def eat():\n    found = []\n    while True: found.append(bytes(2**20))",
        "def eat():\n    text = 'x'\n    while True: text += text",
    ],
    ids=["numpy", "torch", "shared", "many pieces", "a text"],
)
def test_memory_has_its_verdict_whoever_asks_for_it(start: Start, eat: str) -> None:
    lab, _ = start(eat, FINE, seconds=20.0)
    with within_twice(20.0), pytest.raises(failures.OutOfMemory):
        lab.eat()
    assert lab.fine() == 1


def test_a_thread_bomb_is_stopped(start: Start) -> None:
    bomb = (
        "import threading, time\n"
        "threading.stack_size(2**16)\n"
        "def bomb():\n"
        "    count = 0\n"
        "    try:\n"
        "        while True:\n"
        "            threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
        "            count += 1\n"
        "    except RuntimeError:\n"
        "        return count"
    )
    lab, _ = start(bomb, FINE, seconds=20.0)
    started = 0
    with contextlib.suppress(failures.Died):  # which of kernel and keeper sees it first
        started = lab.bomb()
    assert started <= 60
    assert lab.fine() == 1


@pytest.mark.parametrize(
    ("name", "fill"),
    [
        ("one file", "with open('x', 'wb') as f:\n        while True: f.write(bytes(2**20)); f.flush()"),
        ("a hole", "with open('x', 'wb') as f: f.truncate(2**40)"),
        ("many files", "for i in range(10**6): open(str(i), 'wb').close()"),
        ("all of the disk", "for i in range(100):\n        with open(str(i), 'wb') as f: f.write(bytes(8 * 2**20))"),
        ("open files", "kept = [open('/dev/null') for _ in range(5000)]"),
        ("pipes", "import os\n    kept = [os.pipe() for _ in range(5000)]"),
    ],
)
def test_files_that_are_too_many_or_too_large_are_refused(start: Start, name: str, fill: str) -> None:
    lab, _ = start(f"def fill():\n    {fill}", FINE, seconds=20.0)
    with pytest.raises(failures.Raised, match="OSError"):
        lab.fill()
    assert lab.fine() == 1


def test_open_files_of_many_processes_count_together(start: Start) -> None:
    fill = (
        "import os, socket, time\n"
        "def fill():\n"
        "    for _ in range(12):\n"
        "        if os.fork() == 0:\n"
        "            kept = [socket.socketpair() for _ in range(200)]\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)"
    )
    lab, _ = start(fill, FINE, seconds=20.0)
    with within_twice(20.0), pytest.raises(failures.Died, match="more files"):
        lab.fill()
    assert lab.fine() == 1


@pytest.mark.parametrize(
    "loop",
    [
        "10 ** 10 ** 10",
        "import threading; x = threading.Lock(); x.acquire(); x.acquire()",
        "import os\n    while True: os.write(1, b'x' * 2**16); os.write(2, b'x' * 2**16)",
        "import sys\n    sys.setswitchinterval(1e9)\n    while True: pass",
        *(
            pytest.param(loop, marks=pytest.mark.soak)
            for loop in (
                "import re; re.match('(a*)*b', 'a' * 40)",
                "import itertools; any(x < 0 for x in itertools.count())",
                "import os; os.waitpid(os.fork() or os.kill(os.getpid(), 19), 0)",
                "while True: print('x' * 1000)",
                "import subprocess; subprocess.run('yes', shell=True)",
                "import threading\n    while True: threading.Thread(target=int).start()",
            )
        ),
    ],
)
def test_whatever_it_waits_for_a_call_has_its_verdict_within_twice_its_limit(start: Start, loop: str) -> None:
    lab, _ = start(f"def busy():\n    {loop}", FINE, seconds=2.0)
    with within_twice(2.0), pytest.raises(failures.TimedOut):
        lab.busy()
    assert lab.fine() == 1


@pytest.mark.parametrize(
    ("deep", "kinds"),
    [
        ("import sys; sys.setrecursionlimit(10**9)\ndef deep(n=0): return deep(n + 1)", ENDS),
        ("def deep(): return deep()", (failures.Raised,)),
        ("def deep():\n    x = []\n    for _ in range(10**6): x = [x]\n    return x", ()),
        (
            "import sys; sys.setrecursionlimit(10**9)\n"
            "def deep():\n    x = []\n    for _ in range(10**6): x = [x]\n    return repr(x)",
            (failures.Died,),
        ),
        (
            "class C:\n    def __getattr__(self, n): return getattr(self, n)\ndef deep(): return C().x",
            (failures.Raised,),
        ),
    ],
)
def test_recursion_without_end_has_its_verdict(
    start: Start, deep: str, kinds: tuple[type[failures.SubmissionFault], ...]
) -> None:
    lab, _ = start(deep, FINE, seconds=20.0)
    with within_twice(20.0):
        if kinds:
            with pytest.raises(kinds):
                lab.deep()
        else:
            assert "something nested too deep" in repr(lab.deep())
    assert lab.fine() == 1


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        pytest.param("x = bytearray(2**31)", "error", id="memory"),
        pytest.param(
            "import os\nfor _ in range(8):\n"
            "    if os.fork() == 0: x = b'x' * (200 * 2**20); os.read(os.pipe()[0], 1)\nos.wait()",
            "memory",
            id="memory of many",
        ),
        pytest.param("with open('x', 'wb') as f:\n    while True: f.write(bytes(2**20))", "error", id="a file"),
        pytest.param(
            "with open('/dev/shm/x', 'wb') as f:\n    while True: f.write(bytes(2**20))", "error", id="shared memory"
        ),
        pytest.param(
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            ("died", "timeout"),
            marks=pytest.mark.soak,
            id="processes",
        ),
        pytest.param(
            "import os\nwhile True: os.write(1, bytes(2**16))", "timeout", marks=pytest.mark.soak, id="output"
        ),
    ],
)
def test_a_cell_over_a_limit_costs_only_itself(start: Start, cell: str, kind: str | tuple[str, ...]) -> None:
    lab, session = start(cell, FINE, cell_seconds=5.0)
    assert [p.label for p in session.problems] == ["cell 1"]
    assert session.problems[0].kind in kind
    assert lab.fine() == 1
