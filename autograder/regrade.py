"""Grading again what a changed check can affect, and nothing else; who moves and why, before anything is written."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from autograder import engine, grade, provenance, results, submission
from autograder.adjust import as_found
from autograder.check_digests import Kit, affected, kit, to_run
from autograder.checks.declare import Declaration
from autograder.checks.follow_on import builds_on
from autograder.course import signatures
from autograder.discover import Handed
from autograder.marks import OUR_ERRORS, Outcome
from autograder.names import display_name
from autograder.pages.words import WORDING
from autograder.result import Regrade, Result, mark_of, spoilt
from autograder.results import FolderError, Kept
from autograder.settings import Settings
from autograder.table import number
from autograder.workers import Workers

OTHER_FILES = "its files, or the way it is graded, are not what they were"
OTHER_POINTS = "points, weights or titles changed"
#: In `Regrade.checks`, where everything was run.
EVERYTHING = "*"


@dataclass(frozen=True)
class Plan:
    """For one result: what is run again (None: everything), and for each check that may move the reason."""

    recorded: Result
    again: engine.Again | None
    reasons: Mapping[str, str]


@dataclass
class Regraded:
    """What came of it: ``new`` by the stem of its file; ``sentences`` for the person who decides; ``reasons`` why
    some were run again as a whole.
    """

    new: dict[str, Result] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    moved: int = 0
    errors: int = 0
    stopped: bool = False


def regrade(
    out: Path, paths: Sequence[str], settings: Settings, workers: int | Workers, report: grade.Report
) -> Regraded:
    """Work out the results anew without writing any. `FolderError` where there is nothing to start from."""
    kept, unreadable = results.read_all(out)
    if not kept:
        raise FolderError(f"There is no result in {out} yet. Grade something first.")
    other = {one.result.course_seed_id for one in kept} - {settings.seed_id}
    if other:
        raise FolderError(
            f"These results were made with another course seed ({', '.join(sorted(other))}). Name its file with "
            "--course-seed, or grade again."
        )
    there = provenance.handed_in(out, settings.course, paths)
    now = kit(settings.course)
    plans = {there[one.result.submission].name: _plan(one, out, now, settings) for one in kept if _is_in(one, there)}
    work = functools.partial(again, plans=plans)
    handed = [there[one.result.submission] for one in kept if _is_in(one, there)]
    found = Regraded()
    found.reasons = list(dict.fromkeys(why for p in plans.values() if p.again is None for why in p.reasons.values()))
    with tempfile.TemporaryDirectory(prefix="autograder-regrade-") as folder:
        summary = grade.run(handed, settings, Path(folder), workers=workers, report=report, work=work, log=out)
        new = {one.result.submission: one.result for one in results.read_all(Path(folder))[0]}
    found.stopped = summary.stopped
    for one in kept:
        result = new.get(one.result.submission)
        if result is None:
            continue
        if spoilt(result) and not spoilt(one.result):
            found.errors += 1
            found.sentences.append(f"{display_name(result.submission)}: the grader made an error; it stays as it was.")
            continue
        found.new[one.stem] = result
        plan = plans[there[result.submission].name]
        else_why = OTHER_FILES if plan.again and _whole(result) else OTHER_POINTS
        lines = _moves(one.result, result, plan.reasons, else_why)
        found.moved += bool(lines)
        found.sentences += lines
    found.sentences += _summary(kept, there, found, unreadable)
    return found


def write(out: Path, found: Regraded, settings: Settings) -> None:
    """Put the new results in the place of the old ones; `FolderError` where another grader is at work there."""
    with results.only_grader(out):
        provenance.keep(out, settings.kit_version, kit(settings.course))
        for stem, result in found.new.items():
            results.write(out, stem, result)


def again(handed: Handed, settings: Settings, known: str | None, *, plans: Mapping[str, Plan]) -> Result | None:
    """What a worker does: one submission by its plan, or all of it where its files are others than before."""
    plan = plans[handed.name]
    read = submission.load(handed, settings.assignment, signatures(settings.course))
    before = msgspec.structs.replace(plan.recorded, regrades=[])
    as_before = replace(settings, kit_version=before.kit_version)
    if plan.again is None or engine.digest(read, as_before) != before.digest:
        result = engine.grade(read, settings)
        checks = [EVERYTHING]
    else:
        result = engine.grade(read, settings, plan.again)
        result.message = _message(plan.recorded, result)
        checks = sorted(name for name in plan.again.taken if name.partition(".")[0] in read.notebooks)
    done = Regrade(from_kit=before.kit_version, to_kit=settings.kit_version, checks=checks)
    history = [*plan.recorded.regrades, *([done] if checks else [])]
    return msgspec.structs.replace(result, regrades=history)


def _plan(one: Kept, out: Path, now: Kit, settings: Settings) -> Plan:
    declared = [d for d, _ in engine.declared(settings.assignment)]
    below = builds_on(settings.assignment)
    recorded = one.result
    before = now if recorded.kit_version == settings.kit_version else provenance.recall(out, recorded.kit_version)
    reasons = affected(before, now, declared, below)
    known = {check.id: check for check in map(as_found, recorded.checks)}
    waits = {"grader_error": "the grader had made an error", "inconclusive": "it could not be told before"}
    reasons |= {d.id: waits[known[d.id].verdict] for d in declared if d.id in known and known[d.id].verdict in waits}
    if before is None or len(reasons) == len(declared):
        return Plan(recorded, None, reasons)
    outcomes = {
        d.id: _outcome(d, title, known[d.id]) for d, title in engine.declared(settings.assignment) if d.id in known
    }
    taken = frozenset(reasons) | {d.id for d in declared if d.id not in known}
    return Plan(recorded, engine.Again(to_run(taken, declared, below), taken, outcomes), reasons)


def _outcome(declared: Declaration, title: str, check: msgspec.Struct) -> Outcome:
    """A recorded check as if it had just been run: its weight and title are those of now."""
    same = {name: getattr(check, name) for name in Outcome.__struct_fields__ if hasattr(check, name)}
    return Outcome(**(same | {"title": title, "weight": declared.weight}))


def _message(recorded: Result, new: Result) -> str | None:
    """What was known of the whole submission; only what is said of errors of the grader is of now."""
    before = (recorded.message or "").removesuffix(recorded.late_note or "")
    parts = [re.sub(OUR_ERRORS, "", before).strip(), *(m[0] for m in re.finditer(OUR_ERRORS, new.message or ""))]
    return " ".join(part for part in parts if part) or None


def _moves(before: Result, after: Result, reasons: Mapping[str, str], other: str) -> list[str]:
    """Nothing where no point moves; else who, from what to what, and each check that did it with the reason."""
    old = {check.id: check for check in before.checks}
    new = {check.id: check for check in after.checks}
    lines = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was is not None and now is not None and (was.verdict, was.points) == (now.verdict, now.points):
            continue
        told = [
            f"{WORDING[c.verdict].word} ({number(c.points)} of {number(c.max_points)})" if c else "not there"
            for c in (was, now)
        ]
        lines.append(f"  {name}: {told[0]} becomes {told[1]}; {reasons.get(name, other)}")
    if not lines and (mark_of(before), before.max_score) == (mark_of(after), after.max_score):
        return []
    marks = f"{number(mark_of(before))} of {number(before.max_score)}"
    return [
        f"{display_name(after.submission)}: {marks} becomes {number(mark_of(after))} of {number(after.max_score)}",
        *lines,
    ]


def _whole(result: Result) -> bool:
    return bool(result.regrades) and result.regrades[-1].checks == [EVERYTHING]


def _is_in(one: Kept, there: Mapping[str, Handed]) -> bool:
    return one.result.submission in there


def _summary(
    kept: Sequence[Kept], there: Mapping[str, Handed], found: Regraded, unreadable: Sequence[Path]
) -> list[str]:
    old = {one.stem: len(one.result.regrades) for one in kept}
    done = [r for stem, r in found.new.items() if len(r.regrades) > old[stem]]
    whole = sum(_whole(result) for result in done)
    part = len(done) - whole
    lost = [display_name(one.result.submission) for one in kept if not _is_in(one, there)]
    why = f" ({', '.join(found.reasons)})" if whole and found.reasons else ""
    lines = [
        f"{found.moved} of {len(kept)} submissions move. {whole} were run again as a whole{why}, {part} in part, and "
        f"{len(found.new) - len(done)} not at all, as nothing that changed can affect them."
    ]
    if lost:
        lines.append(
            f"{len(lost)} submissions are no longer where they were graded, and stay as they are: "
            f"{', '.join(lost[:5])}. Give their paths behind the folder."
        )
    lines += [f"{path} is no result, and was left out." for path in unreadable]
    return lines
