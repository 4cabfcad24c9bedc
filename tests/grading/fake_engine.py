"""A grader that needs no sandbox: what it does to a submission stands in the submission's name.

It notes each start in the folder of the environment variable FAKE_ENGINE, so that tests can count them.
Run as a program it grades COUNT submissions into OUT, each for SECONDS: the grader that tests kill.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import handmade

from autograder import grade, marks, results
from autograder.discover import Handed
from autograder.result import Result
from autograder.settings import Settings
from autograder.workers import Work


def work(handed: Handed, settings: Settings, known: str | None) -> Result | None:
    digest = hashlib.sha256(f"{handed.name} {settings.seed_id}".encode()).hexdigest()
    if known == digest:
        return None
    notes = Path(os.environ["FAKE_ENGINE"])
    with (notes / "starts").open("a", encoding="utf-8") as file:
        file.write(f"{handed.name}\n")
    if "raises" in handed.name:
        raise RuntimeError("a mistake of the grader")
    if "dies" in handed.name and not (notes / "died").exists():
        if "once" in handed.name:
            (notes / "died").touch()
        os._exit(9)
    time.sleep(float(os.environ.get("FAKE_ENGINE_SECONDS", "0")))
    facts = handmade.facts(handed.name, digest=digest)
    wrong = {"attention__mask": "failed"} if "wrong" in handed.name else {}
    return marks.assemble(handmade.outcomes(**wrong), settings.course, facts)


def settings(folder: Path, seed: str = "0123456789abcdef") -> Settings:
    return Settings(
        assignment="lab07",
        course=handmade.course_in(folder),
        seed=seed,
        seed_id=f"id of {seed}",
        kit_version="0.1.0+0123456789ab",
    )


class Silent:
    """A report that keeps what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def finished(self, result: Result) -> None:
        self.lines.append(f"finished {result.submission}")

    def unchanged(self, result: Result) -> None:
        self.lines.append(f"unchanged {result.submission}")

    def note(self, text: str) -> None:
        self.lines.append(f"note {text}")


class InThisProcess:
    """Workers that do their work here, when they are given it, one submission at a time."""

    def __init__(self, count: int, work: Work) -> None:
        self._work = work
        self._done: list[Future[Result | None]] = []

    def free(self) -> bool:
        return not self._done

    def submit(self, handed: Handed, settings: Settings, known: str | None) -> Future[Result | None]:
        future: Future[Result | None] = Future()
        try:
            future.set_result(self._work(handed, settings, known))
        except RuntimeError as error:
            future.set_exception(error)
        self._done.append(future)
        return future

    def answered(self) -> list[Future[Result | None]]:
        done, self._done = self._done, []
        return done

    def take_back(self, future: Future[Result | None]) -> bool:
        return False

    def has_gpu(self) -> bool:
        return False

    def close(self, *, at_once: bool) -> None:
        pass


def handed(names: list[str]) -> list[Handed]:
    return [Handed(name=name, pieces=(), late=False, student_id=None, problem=None) for name in names]


def starts() -> list[str]:
    path = Path(os.environ["FAKE_ENGINE"]) / "starts"
    return path.read_text(encoding="utf-8").split() if path.exists() else []


if __name__ == "__main__":
    out, count = Path(sys.argv[1]), int(sys.argv[2])
    names = [f"student{i:02d}" for i in range(count)]
    # Under this name the workers find it; as __main__ they would not.
    import fake_engine

    try:
        summary = grade.run(
            handed(names), settings(out.parent / "clone"), out, workers=2, report=Silent(), work=fake_engine.work
        )
    except results.FolderError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    sys.exit(130 if summary.stopped else 0)
