"""One core for a grading and its sandbox; never the same for two graders, and never for longer than the grading."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest

from autograder.sandbox import core
from tests.sandbox.conftest import Start

EVERY = os.sched_getaffinity(0)
MANY = pytest.mark.skipif(len(EVERY) < 2, reason="this machine has one core")
#: Another grader: says which core it has, and keeps it until it is told to end.
ANOTHER = """
import os, sys
from autograder.sandbox import core
core.NAME = "\\0" + sys.argv[1]
with core.one_core():
    print(*os.sched_getaffinity(0), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _unclaimed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Other graders of this machine may have its cores meanwhile.
    monkeypatch.setattr(core, "NAME", f"\0{secrets.token_hex(8)}-{{core}}")
    core._give_up()
    yield
    core._give_up()
    assert os.sched_getaffinity(0) == EVERY


@MANY
def test_a_grading_and_its_sandbox_are_on_one_core_and_afterwards_anywhere(start: Start) -> None:
    with core.one_core():
        own = os.sched_getaffinity(0)
        lab, _ = start("import os\ndef f():\n    return sorted(os.sched_getaffinity(0))")
        assert lab.f() == sorted(own)
        assert len(own) == 1
    lab, _ = start("import os\ndef f():\n    return sorted(os.sched_getaffinity(0))")
    assert lab.f() == sorted(EVERY)


@MANY
def test_two_graders_have_two_cores_and_the_core_of_one_that_is_gone_is_free() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ANOTHER, core.NAME[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        theirs = {int(other.stdout.readline())}
        for _ in range(10):
            with core.one_core():
                assert not os.sched_getaffinity(0) & theirs
            core._give_up()
        other.communicate()
    found = set()
    for _ in range(60):  # chosen at random: 60 times not this one of two happens once in 10¹⁸
        with core.one_core():
            found |= os.sched_getaffinity(0)
        core._give_up()
        if theirs <= found:
            break
    assert theirs <= found or len(EVERY) > 2


@MANY
def test_where_every_core_has_a_grader_one_goes_where_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_claim_one", lambda allowed: None)
    with core.one_core():
        assert os.sched_getaffinity(0) == EVERY


@MANY
def test_a_core_where_it_had_to_wait_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def after(seconds: float) -> bool:
        waited = iter([0.0, seconds])
        monkeypatch.setattr(core, "_waited", lambda: next(waited))
        with core.one_core():
            pass
        return core._claim is None

    # None of these takes as long as an hour or as short as a nanosecond.
    assert after(3600.0)
    assert not after(1e-9)
