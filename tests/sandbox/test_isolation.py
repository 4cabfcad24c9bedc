"""What a submission can reach: nothing of the grader's, nothing of the submission before it."""

from __future__ import annotations

import socket
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from autograder import failures
from autograder.sandbox import launch
from autograder.sandbox.fork import Sandbox
from tests.sandbox.conftest import Start, isolations, starter

needs_bubblewrap = pytest.mark.skipif(
    launch.unavailable("bubblewrap") is not None, reason="bubblewrap cannot be used here"
)


@needs_bubblewrap
def test_no_check_no_reference_and_no_home_can_be_read(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "course_seed.txt"
    secret.write_text("the seed", encoding="utf-8")
    root = Path(launch.PACKAGE)
    lab, _ = start("import os\ndef readable(paths):\n    return [p for p in paths if os.path.exists(p)]")
    paths = [
        str(secret),
        str(Path.home() / ".bashrc"),
        "/etc/passwd",
        str(root / "checks"),
        str(root / "reference"),
        "/kit/autograder/checks",
    ]
    assert lab.readable(paths) == []


@needs_bubblewrap
def test_the_grader_s_environment_is_not_in_any_process_that_can_be_seen(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_DB_PASSWORD", "tr0ub4dor")
    with Sandbox("bubblewrap") as fresh, ExitStack() as stack:
        lab, _ = starter(fresh, stack)(
            "import glob\n"
            "def everything():\n"
            "    found = b''\n"
            "    for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
            "        try: found += open(path, 'rb').read()\n"
            "        except OSError: pass\n"
            "    return found.decode(errors='replace')"
        )
        seen = lab.everything()
    assert "warm.py" in seen, "the probe reads nothing at all, so it proves nothing"
    assert "tr0ub4dor" not in seen


@needs_bubblewrap
def test_there_is_no_network_not_even_to_this_machine(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        lab, _ = start(
            f"import socket\n"
            f"def dial():\n"
            f"    socket.create_connection(('127.0.0.1', {port}), timeout=2)\n"
            f"    return 'connected'"
        )
        with pytest.raises(failures.Raised):
            lab.dial()


@pytest.mark.parametrize("isolation", [i for i in isolations() if i != "bubblewrap"])
def test_a_pair_of_sockets_for_datagrams_cannot_be_had_where_it_could_be_connected_elsewhere(
    isolation: launch.Isolation,
) -> None:
    tries = """
        import multiprocessing, socket
        def pair(kind):
            try:
                socket.socketpair(socket.AF_UNIX, getattr(socket, kind))
                return True
            except OSError:
                return False
        def between_processes():
            ours, theirs = multiprocessing.Pipe()
            theirs.send("piped")
            with multiprocessing.get_context("fork").Pool(1) as pool:
                return [ours.recv(), pool.apply(abs, (-3,))]
    """
    with Sandbox(isolation) as fresh, ExitStack() as stack:
        lab, _ = starter(fresh, stack)(textwrap.dedent(tries))
        kinds = ("SOCK_STREAM", "SOCK_SEQPACKET", "SOCK_DGRAM", "SOCK_RAW")
        assert [lab.pair(kind) for kind in kinds] == [True, True, False, False]
        assert lab.between_processes() == ["piped", 3]


def test_a_file_that_cannot_be_written_is_named_and_the_others_are_there(start: Start) -> None:
    files = {"a": b"x", "a/b.txt": b"x", "c.txt": b"x"}
    lab, session = start("import os\ndef files():\n    return sorted(os.listdir('.'))", files=files)
    assert {"a", "c.txt"} <= set(lab.files())
    assert [(p.label, p.kind) for p in session.problems] == [("the file a/b.txt", "error")]


def test_files_of_one_submission_are_gone_before_the_next(start_any: Start) -> None:
    lab, session = start_any("import os\nopen('left.txt', 'w').write('x')\ndef files():\n    return os.listdir('.')")
    assert "left.txt" in lab.files()
    session.__exit__()
    lab, _ = start_any("import os\ndef files():\n    return os.listdir('.')")
    assert "left.txt" not in lab.files()


def test_however_deep_a_submission_nests_its_folders_they_are_gone_with_it(start_any: Start) -> None:
    """Deeper than Python removes a tree, and than a path is long."""
    deep = "import os\nfor _ in range(1500): os.mkdir('deeper'); os.chdir('deeper')"
    lab, session = start_any(deep, "def f():\n    return 1")
    assert lab.f() == 1
    home = session._fork._home if session._fork else None
    session.renew()
    assert lab.f() == 1
    assert home is None or not Path(home).exists()


LEFT = "left-by-a-submission"


@pytest.mark.skipif(launch.unavailable("user") is not None, reason="running as another user needs root")
def test_what_another_user_leaves_in_folders_of_the_machine_is_gone_before_the_next() -> None:
    """In each folder that anybody may write to, whichever the machine has beside the usual ones."""
    places = launch.writable_by_all()
    assert {"/tmp", "/dev/shm"} <= set(places)
    with Sandbox("user") as sandbox, ExitStack() as stack:
        start = starter(sandbox, stack)
        code = (
            "import os\n"
            f"def leave(places):\n"
            f"    for place in places: os.makedirs(place + '/{LEFT}/in/it')\n"
            "    return seek(places)\n"
            f"def seek(places):\n    return [place for place in places if os.path.exists(place + '/{LEFT}')]"
        )
        lab, session = start(code)
        assert lab.leave(places) == places
        session.__exit__()
        assert start(code)[0].seek(places) == []


def test_memory_of_one_submission_is_gone_before_the_next(start_any: Start) -> None:
    _, session = start_any("import numpy\nnumpy.left_over = 'x'")
    session.__exit__()
    lab, _ = start_any("import numpy\ndef seen():\n    return hasattr(numpy, 'left_over')")
    assert lab.seen() is False


def test_what_nobody_imported_yet_can_be_imported(start_any: Start) -> None:
    """Also where the interpreter lies in a home that another user has no way into."""
    lab, session = start_any(
        "import colorsys, tomllib, wave, email.mime.audio, xml.etree.ElementTree\ndef name():\n    return wave.__name__"
    )
    assert (session.problems, lab.name()) == ([], "wave")


def test_processes_that_a_submission_leaves_are_gone_with_it(start_any: Start) -> None:
    mark = "attnlab-left-over"
    _, session = start_any(
        f"import os, sys, subprocess\n"
        f"if os.fork() == 0:\n"
        f"    os.setsid()\n"
        f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', '{mark}'])"
    )
    session.__exit__()
    left = [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])]
    deadline = time.monotonic() + 20
    while left and time.monotonic() < deadline:
        left = [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert left == []


def test_killing_the_parent_ends_nobody_else_s_grading(start_any: Start) -> None:
    start_any("import os, signal\nif os.getppid() > 1:\n    os.kill(os.getppid(), signal.SIGKILL)")
    lab, _ = start_any("def fine():\n    return 1")
    assert lab.fine() == 1


def test_a_submission_s_modules_never_stand_before_installed_ones(start: Start) -> None:
    files = {
        "json.py": b"value = 'shipped'",
        "numpy.py": b"value = 'shipped'",
        "attnlab.py": b"value = 'shipped'",
        "mine.py": b"value = 'mine'",
    }
    lab, _ = start(
        (
            "import json, numpy, attnlab, mine\n"
            "def values():\n"
            "    return [getattr(m, 'value', None) for m in (json, numpy, attnlab, mine)]"
        ),
        files=files,
    )
    assert lab.values() == [None, None, None, "mine"]


def test_a_submission_has_no_capability_left(start: Start) -> None:
    lab, _ = start("def status():\n    return open('/proc/self/status').read()")
    capabilities = {
        k: v for k, _, v in (line.partition(":") for line in lab.status().splitlines()) if k.startswith("Cap")
    }
    assert {k: int(v, 16) for k, v in capabilities.items() if k in ("CapEff", "CapPrm", "CapBnd")} == {
        "CapEff": 0,
        "CapPrm": 0,
        "CapBnd": 0,
    }


def test_a_submission_has_no_descriptor_but_its_own_wire(start: Start) -> None:
    look = """
        import os, stat
        def open_ones():
            found = []
            for f in range(3, 1024):
                try:
                    found.append(stat.S_ISSOCK(os.fstat(f).st_mode))
                except OSError:
                    pass
            return found
    """
    lab, _ = start(textwrap.dedent(look))
    assert lab.open_ones() == [True]


def test_top_level_await_works_in_each_submission(start: Start) -> None:
    for _ in range(2):
        lab, session = start("import asyncio\nawait asyncio.sleep(0.01)\nx = 3\ndef seen():\n    return x")
        assert lab.seen() == 3
        assert session.problems == []
