"""One submission in, one result out: a pure function of its bytes, the kit, and the course seed."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder import deliverable, failures, marks, published
from autograder.checks import collect, follow_on
from autograder.checks.declare import Declaration
from autograder.checks.marking import Marking, derive
from autograder.conventions import bound_names
from autograder.lab import NOT_WRITTEN, Lab
from autograder.marks import Outcome
from autograder.measured.student import Measure
from autograder.names import display_name
from autograder.result import Result
from autograder.sandbox import launch
from autograder.sandbox.core import one_core
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import CellProblem, Session
from autograder.settings import Settings
from autograder.submission import Cell, Notebook, Submission
from autograder.suspects.match import name_suspect
from autograder.suspects.registry import LOOKS_LIKE
from autograder.written import FILES, unanswered

NOT_HANDED_IN = "{notebook} was not handed in."
NO_CODE = "No code could be read from {origin}."
NOT_RUN = "{function} is not there: {label}, which seems to define it, did not run to its end."
#: Cells that are named in the message of a result.
MAX_CELLS_NAMED = 5

#: How often a notebook is graded where the warm parent ends meanwhile. Under ``--isolation none`` a submission can end
#: it, and then keeps what it has.
MAX_LOST_PARENTS = 3

#: The warm parents of this process, kept from one submission to the next: one, or under ``--device cuda`` two.
_sandboxes: dict[tuple[launch.Isolation, launch.Device], Sandbox] = {}


def digest(submission: Submission, settings: Settings) -> str:
    """What a result depends on, as one value; without the seed itself, which must not be guessed from it."""
    parts = (
        submission.digest,
        submission.name,
        settings.kit_version,
        settings.seed_id,
        settings.device,
        isolation(settings),
        *(f"{grade_id}={text}" for grade_id, text in sorted(settings.course.handed_out.items())),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@functools.cache
def _chosen(wanted: str) -> launch.Isolation:
    return launch.choose(wanted)


def isolation(settings: Settings) -> launch.Isolation:
    """The isolation that grading here is done under. Raises ``launch.NoIsolation``."""
    return _chosen(settings.isolation)


def declared(assignment: str) -> tuple[tuple[Declaration, str], ...]:
    """Every hidden check of an assignment with its sentence, in the order of display."""
    return tuple((check.declared, check.title) for check in collect.checks(assignment))


@dataclass(frozen=True)
class Again:
    """Part of a grading that was done before.

    ``functions`` (``task.function``, by notebook) are run; of what they give only the checks ``taken`` count, and all
    others are ``known``.
    """

    functions: Mapping[str, frozenset[str]]
    taken: frozenset[str]
    known: Mapping[str, Outcome]

    def of(self, declared: Iterable[Declaration], found: Mapping[str, Outcome]) -> list[Outcome]:
        """An outcome for every declared check that there is one for, in the order of display."""
        every = [found.get(d.id) if d.id in self.taken else self.known.get(d.id) for d in declared]
        return [outcome for outcome in every if outcome is not None]


def grade(submission: Submission, settings: Settings, again: Again | None = None) -> Result:
    """The result of one submission. Nothing that it holds raises; ``launch.NoIsolation`` may be raised."""
    with one_core():
        return _grade(submission, settings, again)


def _grade(submission: Submission, settings: Settings, again: Again | None) -> Result:
    start, spent = time.perf_counter(), time.process_time()
    under, course = isolation(settings), settings.course
    outcomes: list[Outcome] = []
    sentences = [submission.message] if submission.message else []
    cpu = 0.0
    for name in course.notebooks:
        notebook = submission.notebooks.get(name)
        if notebook is None:
            outcomes += _all(settings.assignment, name, NOT_HANDED_IN.format(notebook=name))
            continue
        only = again.functions.get(name, frozenset()) if again else None
        if again and not only:
            outcomes += again.of(_of(settings.assignment, name), {})
            continue
        found, session, reference_cpu = grade_notebook(notebook, submission.files, settings, only)
        outcomes += again.of(_of(settings.assignment, name), {o.id: o for o in found}) if again else found
        sentences += [_cells(session.problems)] if session.problems else []
        cpu += session.cpu_seconds + reference_cpu
    facts = marks.Facts(
        submission=submission.name,
        assignment=settings.assignment,
        kit_version=settings.kit_version,
        course_seed_id=settings.seed_id,
        isolation=under,
        device="cuda" if settings.device == "cuda" else "cpu",
        seconds=time.perf_counter() - start,
        cpu_seconds=time.process_time() - spent + cpu,
        digest=digest(submission, settings),
        handed_in=tuple(submission.notebooks),
        message=" ".join(sentences) or None,
        findings={grade_id: " ".join(deliverable.findings(submission.files)) for grade_id in FILES},
        unanswered=unanswered(submission, course),
    )
    return marks.assemble(outcomes, course, facts)


def close() -> None:
    """End the warm parents of this process."""
    while _sandboxes:
        _sandboxes.popitem()[1].close()


def grade_notebook(
    notebook: Notebook, files: dict[str, bytes], settings: Settings, only: Collection[str] | None = None
) -> tuple[list[Outcome], Session, float]:
    """Every check of one notebook (or ``only`` of these ``task.function``), the session that it ran in, and the CPU
    seconds of what ran beside it.

    Where the warm parent is killed meanwhile, all of it is done again: what its end took along is not the student's.
    """
    for _ in range(MAX_LOST_PARENTS):
        sandbox = warm_sandbox(settings)
        before = sandbox.lost()
        graded = _try_notebook(sandbox, notebook, files, settings, only)
        if sandbox.lost() == before:
            break
    return graded


def _try_notebook(
    sandbox: Sandbox,
    notebook: Notebook,
    files: dict[str, bytes],
    settings: Settings,
    only: Collection[str] | None,
) -> tuple[list[Outcome], Session, float]:
    limits = settings.course.limits
    if not notebook.cells:
        why = NO_CODE.format(origin=display_name(notebook.origin))
        return _all(settings.assignment, notebook.name, why), Session(sandbox, [], {}), 0.0

    def start(where: Sandbox) -> Session:
        return Session(
            where,
            notebook.cells,
            files,
            cell_seconds=limits.cell_seconds,
            setup_seconds=limits.setup_seconds,
            calls_seconds=limits.calls_seconds,
        )

    session = start(sandbox)
    seed = derive(settings.seed, "measured")
    checks = _to_run(settings.assignment, notebook.name, only)
    with Measure(sandbox, settings.device, seed, start, lambda: warm_sandbox(settings, "cuda")) as measure:

        def check(given: follow_on.Given | None) -> Marking:
            marking = Marking(
                session, seed=settings.seed, call_seconds=limits.call_seconds, measure=measure, given=given
            )
            marking.run(checks if given is None else [c for c in checks if c.declared.function in given])
            return marking

        try:
            with session:
                marking = check(None)
                found = marking.outcomes
                say_what_did_not_run(found.values(), notebook.cells, session.problems)
                explained = follow_on.settle(found, settings.assignment, lambda given: check(given).outcomes)
                unexplained = [
                    o for o in found.values() if _function(o) not in marking.missing and o.function not in explained
                ]
                name_suspects(unexplained, session, settings)
                show_examples(unexplained, session, settings)
                outcomes = list(found.values())
        except failures.SubmissionFault as fault:
            outcomes = _all(settings.assignment, notebook.name, fault.message)
    return outcomes, session, measure.cpu_seconds


def _of(assignment: str, notebook: str) -> list[Declaration]:
    return [d for d, _ in declared(assignment) if d.notebook == notebook]


def _to_run(assignment: str, notebook: str, only: Collection[str] | None) -> list[collect.Check]:
    """The checks of a notebook, or ``only`` those of these ``task.function``."""
    every = [c for c in collect.checks(assignment) if c.declared.notebook == notebook]
    return [c for c in every if only is None or f"{c.declared.task}.{c.declared.function}" in only]


def _function(outcome: Outcome) -> str:
    return f"{outcome.notebook}.{outcome.task}.{outcome.function}"


def name_suspects(outcomes: Iterable[Outcome], session: Session, settings: Settings) -> None:
    """Say of each function that failed which known mistake it looks most like, once, where it failed first."""
    failed: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.verdict in ("failed", "submission_error"):
            failed.setdefault(outcome.function, []).append(outcome)
    for function, its in failed.items():
        lab = Lab(session, seconds=settings.course.limits.call_seconds)
        try:
            session.renew()  # a mistake that remembers shows best to probes that come first
            seed = derive(settings.seed, f"suspects of {function}")
            match = name_suspect(lab, function, np.random.default_rng(seed), its[0].notebook)
        except failures.Finding:
            continue
        if match is not None:
            for outcome in its:
                outcome.suspect = match.id
            looks_like = LOOKS_LIKE.format(hint=match.hint, read=match.read)
            its[0].message = f"{its[0].message} {looks_like}".strip()


def say_what_did_not_run(outcomes: Iterable[Outcome], cells: Sequence[Cell], problems: Iterable[CellProblem]) -> None:
    """Of a function that is not there, name the cell that seems to define it and did not run to its end."""
    stopped = {problem.label for problem in problems}
    broken = [cell for cell in cells if cell.label in stopped]
    for outcome in outcomes:
        if (outcome.message or "").startswith(NOT_WRITTEN):
            cell = next((cell for cell in broken if bound_names(cell.source, {outcome.function})), None)
            if cell is not None:
                outcome.message = NOT_RUN.format(function=outcome.function, label=cell.label)


def show_examples(outcomes: Iterable[Outcome], session: Session, settings: Settings) -> None:
    """Write down, where a function failed first, what it gives on a published input.

    One that ran out of time is not asked again.
    """
    verdicts: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        verdicts.setdefault((outcome.task, outcome.function), []).append(outcome)
    for (task, function), its in verdicts.items():
        first = next((o for o in its if o.verdict == "failed"), None)
        if first is None or any(o.verdict == "timeout" for o in its):
            continue
        lab = Lab(session, seconds=settings.course.limits.call_seconds)
        try:
            first.example = published.example(lab, task, function)
        except failures.Finding:
            continue
        finally:
            lab.close()


def warm_sandbox(settings: Settings, device: launch.Device = "cpu") -> Sandbox:
    """The warm parent of this process; every submission is a fork of it."""
    under, limits = isolation(settings), settings.course.limits
    if (under, device) not in _sandboxes:
        wanted: dict[str, int | float] = {
            "memory_mib": limits.memory_mib,
            "processes": limits.processes,
            "file_mib": limits.file_mib,
        }
        _sandboxes[under, device] = Sandbox(under, wanted, device)
    return _sandboxes[under, device]


def _all(assignment: str, notebook: str, why: str) -> list[Outcome]:
    """Every check of a notebook, with one reason why it could not be tried."""
    return [
        Outcome(
            id=d.id,
            notebook=d.notebook,
            task=d.task,
            function=d.function,
            title=title,
            weight=d.weight,
            verdict="submission_error",
            message=why,
        )
        for d, title in declared(assignment)
        if d.notebook == notebook
    ]


def _cells(problems: Iterable[CellProblem]) -> str:
    """One sentence on the cells that did not run to their end."""
    listed = list(problems)
    named = "; ".join(f"{p.label}: {p.text.rstrip('.')}" for p in listed[:MAX_CELLS_NAMED])
    more = f"; and {len(listed) - MAX_CELLS_NAMED} more" if len(listed) > MAX_CELLS_NAMED else ""
    count = "One cell" if len(listed) == 1 else f"{len(listed)} cells"
    return f"{count} did not run to the end ({named}{more}). Everything that does not depend on them was graded."
