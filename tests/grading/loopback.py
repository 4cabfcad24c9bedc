"""A Dask scheduler and workers on this machine, as somebody would start them on a cluster; and a grader for them
that needs no sandbox.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import handmade
import psutil

from autograder import marks
from autograder.cluster import unpacked
from autograder.course import load
from autograder.result import Result
from autograder.settings import Settings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Loopback:
    """``address`` is the scheduler's; ``stop`` ends what is still there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[psutil.Popen] = []
        file = folder / "scheduler.json"
        command = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = self._start([*command, "--scheduler-file", str(file)], {})
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            # The scheduler writes its file in place, so that half of it may be there.
            with contextlib.suppress(OSError, ValueError):
                self.address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
                return
            time.sleep(0.05)
        raise TimeoutError((folder / "log-0").read_text(encoding="utf-8"))

    def worker(self, *options: str, first: Path | None = None) -> psutil.Popen:
        """A worker that finds this repository (behind ``first``). It has registered when this returns."""
        number = len(self.processes)
        name = f"worker-{number}"
        path = [str(p) for p in (first, HERE, ROOT, ROOT / "assignments") if p is not None]
        command = ["dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--name", name]
        command += ["--local-directory", str(self.folder), *options]
        process = self._start(command, {"PYTHONPATH": os.pathsep.join(path)})
        log, deadline = self.folder / f"log-{number}", time.monotonic() + 180
        while "Starting established connection" not in (text := log.read_text(encoding="utf-8")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(text)
            time.sleep(0.05)
        return process

    def _start(self, command: list[str], environment: dict[str, str]) -> psutil.Popen:
        with (self.folder / f"log-{len(self.processes)}").open("w", encoding="utf-8") as log:
            process = psutil.Popen(
                [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]],
                # Not this repository, which `-m` would put before everything else.
                cwd=self.folder,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            kill_tree(process)


@contextlib.contextmanager
def loopback(folder: Path) -> Iterator[Loopback]:
    started = Loopback(folder)
    try:
        yield started
    finally:
        started.stop()


def kill_tree(process: psutil.Process) -> None:
    """The nanny first, so that it starts nothing again."""
    try:
        tree = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for one in tree:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait()


def sandboxes(process: psutil.Process) -> list[psutil.Process]:
    """The warm parents and everything in them, of whatever it has started."""
    found = []
    for one in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "warm.py" in " ".join(one.cmdline()):
                found.append(one)
    return found


# ---- a grader without a sandbox, for the workers
def quick(data: bytes, settings: Settings, known: str | None, may_use_gpu: bool) -> Result | None:
    """A right submission; what is called ``measured`` waits for a GPU. It notes who had it, in FAKE_ENGINE."""
    name = unpacked(data).name
    digest = f"{name} under {settings.seed_id}"
    if known == digest:
        return None
    with (Path(os.environ["FAKE_ENGINE"]) / "starts").open("a", encoding="utf-8") as file:
        file.write(f"{name} {os.getppid()} {may_use_gpu}\n")
    time.sleep(float(os.environ.get("FAKE_ENGINE_SECONDS", "0")))
    waits = {"attention__mask": "pending"} if "measured" in name and not may_use_gpu else {}
    return marks.assemble(handmade.outcomes(**waits), settings.course, handmade.facts(name, digest=digest))


def looked_into(data: bytes, settings: Settings, known: str | None, may_use_gpu: bool) -> Result | None:
    """A right submission, whose cells are noted with whether the file that they came from is named anywhere in it."""
    read = unpacked(data)
    cells = [cell.source for notebook in read.notebooks.values() for cell in notebook.cells]
    named = os.environ["FAKE_ENGINE"].encode() in zlib.decompress(data)
    with (Path(os.environ["FAKE_ENGINE"]) / "starts").open("a", encoding="utf-8") as file:
        file.write(f"{read.name} {cells} {named}\n")
    return marks.assemble(handmade.outcomes(), settings.course, handmade.facts(read.name, digest="d"))


def real_settings() -> Settings:
    """Without a GPU the measured check waits, so that no mark here hangs on a clock."""
    return Settings(
        assignment="lab07",
        course=load("lab07", ROOT),
        seed="a seed of the tests",
        seed_id="test",
        kit_version="0.1.0+test",
        device="cuda",
    )
