"""The part of `autograder explain` that runs something: each fault on a public input, and a script of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from autograder import engine, provenance, submission
from autograder.appeal.find import Shown, show
from autograder.course import load, signatures
from autograder.names import display_name
from autograder.result import CheckResult, Result
from autograder.results import Kept, write_file
from autograder.settings import Device, Isolation, Settings

#: Verdicts in which code ran and gave something else than was right.
SHOWABLE = ("failed", "submission_error")
NOT_THERE = (
    "The submission is not where it was graded any more. Give its path with --submission to see each fault on an "
    "input that may be shown."
)
OTHER_FILES = "Note: these may not be the files that were graded; what follows was run with what is there now."
PUBLIC = "On an input that may be shown (it decided no mark), run again in the sandbox:"


def asker(
    out: Path, kept: Kept, path: Path | None, isolation: Isolation, *, each_function_once: bool
) -> tuple[Callable[[CheckResult], list[str]], list[str]]:
    """What says for a check where its fault shows, and sentences that come before all of them.

    ``path``: where the submission is now, if not where it was graded. Scripts go to ``DIR/appeals``.
    """
    result = kept.result
    course = load(result.assignment)
    settings = Settings(
        assignment=result.assignment,
        course=course,
        seed="",
        seed_id=result.course_seed_id,
        kit_version=result.kit_version,
        isolation=isolation,
    )
    there = provenance.handed_in(out, course, [str(path)] if path else ())
    handed = there.get(result.submission) or (next(iter(there.values())) if path and len(there) == 1 else None)
    if handed is None or handed.problem:
        return lambda check: [], [NOT_THERE]
    read = submission.load(handed, result.assignment, signatures(course))
    titles = {d.id: (d, title) for d, title in engine.declared(result.assignment)}
    asked: set[str] = set()

    def ask(check: CheckResult) -> list[str]:
        key = f"{check.notebook}.{check.task}.{check.function}"
        if check.verdict not in SHOWABLE or check.id not in titles or (each_function_once and key in asked):
            return []
        asked.add(key)
        declared, title = titles[check.id]
        found = show(declared, title, read, settings)
        return _lines(found, out / "appeals" / kept.stem / f"{check.id}.py")

    return ask, [] if _as_graded(result, read, settings) else [OTHER_FILES]


def _lines(found: Shown | str, path: Path) -> list[str]:
    if isinstance(found, str):
        return [f"  {found}"]
    lines = [f"  {PUBLIC}", f"    {found.call}"]
    for name, value in (("came back:", found.mine), ("right:", found.right)):
        lines += [f"    {name if i == 0 else '':<11}{line}" for i, line in enumerate(value.splitlines())]
    if found.note:
        return [*lines, f"  {found.note}"]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, found.script.encode("utf-8"))
    return [*lines, f"  As a script that its author can run: {display_name(str(path))}"]


def _as_graded(result: Result, read: submission.Submission, settings: Settings) -> bool:
    devices: tuple[Device, ...] = ("auto", "cpu", "cuda")
    return any(engine.digest(read, replace(settings, device=device)) == result.digest for device in devices)
