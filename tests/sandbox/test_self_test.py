"""Each layer of the sandbox is taken away once, and the self-test says which one it was."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder import doctor
from autograder.sandbox import fork, launch, self_test

pytestmark = pytest.mark.skipif(launch.unavailable("bubblewrap") is not None, reason="bubblewrap cannot be used here")

#: Layer -> file of the sandbox, what stands there, and what it is replaced with.
EDITS: dict[str, list[tuple[str, str, str]]] = {
    "home": [("warm.py", 'os.chdir(options["home"])', 'os.chdir(options["home"]); open("left.txt", "w").close()')],
    "descriptors": [("warm.py", "close_all_but(connection.fileno())", "os.dup(0)")],
    "privileges": [("warm.py", "\n    drop_privileges(options)", "\n    pass")],
    "system calls": [("warm.py", "syscalls.install(", "(lambda _: None)(")],
    "library functions": [("forbidden.py", "        _replace_kernels()\n", "        pass\n")],
    "file size": [("keeper.py", "(resource.RLIMIT_FSIZE, files),", "")],
    "disk": [("warm.py", "size={options['disk_mib']}m", "size=500m")],
    "memory": [
        ("keeper.py", "(resource.RLIMIT_DATA, memory),", ""),
        ("keeper.py", 'return "memory" if memory', 'return None if memory'),
    ],
    "processes": [
        ("keeper.py", '(resource.RLIMIT_NPROC, options["processes"]),', ""),
        ("keeper.py", 'return "processes"', "pass"),
    ],
    "files left": [
        ("warm.py", "    make_read_only()\n", ""),
        ("warm.py", 'for folder in options["private"]:', 'for folder in ["/dev/shm"]:'),
    ],
    "memory left": [("warm.py", "    gc.freeze()\n", "    gc.freeze()\n    os.left_by_another = 'x'\n")],
}  # fmt: skip


def argument(old: list[str], new: list[str]) -> Callable[[pytest.MonkeyPatch], None]:
    """Another command line of bubblewrap."""
    whole = launch.bubblewrap_arguments

    def weaken(patch: pytest.MonkeyPatch) -> None:
        def arguments(*args: object) -> list[str]:
            found = whole(*args)  # type: ignore[arg-type]
            at = next(i for i in range(len(found)) if found[i : i + len(old)] == old)
            return [*found[:at], *new, *found[at + len(old) :]]

        patch.setattr(launch, "bubblewrap_arguments", arguments)

    return weaken


def late(patch: pytest.MonkeyPatch) -> None:
    """The deadline of a call is four seconds late, and the self-test waits for two."""
    patch.setattr(self_test, "SECONDS", 2.0)
    on_time = fork.Fork._set_timeout
    patch.setattr(fork.Fork, "_set_timeout", lambda self, deadline: on_time(self, deadline + 4))


WEAKENED: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "files of this machine": argument(["--dir", "/tmp"], ["--ro-bind", "/etc/passwd", "/etc/passwd", "--dir", "/tmp"]),
    "other processes": argument(
        ["--unshare-all"], ["--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts"]
    ),
    "environment": lambda patch: patch.setattr(launch, "ENVIRONMENT", os.environ),
    "time": late,
}


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Runs the self-test of one layer, and gives the layers that it names. Nothing is imported in advance but what the
    layer is about."""

    def run(layer: str) -> list[str]:
        monkeypatch.setattr(launch, "PRELOAD", ("torch",) if layer == "library functions" else ())
        monkeypatch.setitem(self_test.PROMISED, "bubblewrap", (layer,))
        return [broken.layer for broken in self_test.run("bubblewrap")]

    return run


def replaced(tmp_path: Path, patch: pytest.MonkeyPatch, edits: list[tuple[str, str, str]]) -> None:
    """The sandbox, started from a copy of its files in which something is missing."""
    copy = tmp_path / "autograder"
    shutil.copytree(launch.PACKAGE, copy, ignore=shutil.ignore_patterns("checks", "suspects", "pages", "__pycache__"))
    for name, old, new in edits:
        path = copy / "sandbox" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} does not hold {old!r} once"
        path.write_text(text.replace(old, new), encoding="utf-8")
    patch.setattr(launch, "PACKAGE", copy)


@pytest.mark.parametrize("layer", EDITS)
def test_a_layer_that_is_missing_in_the_sandbox_is_named(
    layer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: Callable[[str], list[str]]
) -> None:
    replaced(tmp_path, monkeypatch, EDITS[layer])
    assert only(layer) == [layer]


@pytest.mark.parametrize("layer", ["library functions", "memory left"])
def test_a_layer_that_is_there_is_not_named(layer: str, only: Callable[[str], list[str]]) -> None:
    assert only(layer) == []


@pytest.mark.parametrize("layer", WEAKENED)
def test_a_layer_that_was_not_asked_for_is_named(
    layer: str, monkeypatch: pytest.MonkeyPatch, only: Callable[[str], list[str]]
) -> None:
    WEAKENED[layer](monkeypatch)
    assert only(layer) == [layer]


@pytest.mark.parametrize("family", ["the internet", "the host of a virtual machine"])
def test_a_network_is_named(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: Callable[[str], list[str]]
) -> None:
    if family == "the internet":
        argument(["--unshare-all"], ["--unshare-all", "--share-net"])(monkeypatch)
        replaced(tmp_path, monkeypatch, [("warm.py", " | _NEW_NET |", " |")])
    else:
        replaced(tmp_path, monkeypatch, [("syscalls.py", "_NAMESPACE = (1, 2,", "_NAMESPACE = (1, 2, 40,")])
    assert only("network") == ["network"]


@pytest.mark.skipif(os.geteuid() != 0, reason="for anybody but root the kernel itself refuses")
def test_what_root_could_write_in_proc_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: Callable[[str], list[str]]
) -> None:
    replaced(tmp_path, monkeypatch, [("warm.py", "    make_read_only()\n", "")])
    assert only("read-only system") == ["read-only system"]


def test_a_folder_that_can_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only: Callable[[str], list[str]]
) -> None:
    argument(["--remount-ro", "/dev"], [])(monkeypatch)
    replaced(tmp_path, monkeypatch, [("warm.py", 'if "ro" not in given:', 'if place == "/proc":')])
    assert only("read-only system") == ["read-only system"]


def test_every_promised_layer_is_taken_away_by_one_of_these_tests() -> None:
    assert set(EDITS) | set(WEAKENED) | {"network", "read-only system"} == set(self_test.PROMISED["bubblewrap"])


@pytest.mark.skipif(launch.unavailable("user") is not None, reason="running as another user needs root")
def test_another_user_holds_too_wherever_the_interpreter_lies() -> None:
    assert self_test.run("user") == []


@pytest.mark.skipif(launch.unavailable("user") is not None, reason="running as another user needs root")
@pytest.mark.parametrize(
    ("layer", "old", "what"),
    [
        ("network", "    if not families:\n", "a socket of this machine"),
        ("memory left", '    "semget": (64, 190),\n', "a semaphore"),
        ("memory left", '    "mq_open": (240, 180),\n', "a message queue"),
    ],
)
def test_a_system_call_that_is_allowed_under_another_user_is_named(
    layer: str, old: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = "    if False:\n" if "if" in old else ""
    replaced(tmp_path, monkeypatch, [("syscalls.py", old, new)])
    monkeypatch.setattr(launch, "PRELOAD", ())
    monkeypatch.setitem(self_test.PROMISED, "user", (layer,))
    assert [(broken.layer, what in broken.what) for broken in self_test.run("user")] == [(layer, True)]


def test_another_user_is_not_offered_where_no_filter_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The filter is all that closes the network there."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(launch.syscalls, "program", lambda machine, families: None)
    reason = launch.unavailable.__wrapped__("user")
    assert reason is not None and "filter of system calls" in reason


def test_the_sandbox_as_it_is_holds_and_the_doctor_says_so() -> None:
    holds, lines = doctor.try_sandbox(launch.choose("auto"))
    assert (holds, [line for line in lines if "DOES NOT HOLD" in line]) == (True, [])


def test_the_doctor_fails_where_a_layer_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "run", lambda _: [self_test.Broken("network", "a submission can reach X")])
    able, lines = doctor.examine()
    assert not able
    assert "sandbox (bubblewrap): DOES NOT HOLD: network: a submission can reach X" in lines
