"""The fault of a failed check once more, on inputs that may be shown, really run in the sandbox.

First the check itself asks, with numbers drawn from a public seed instead of the course's. Where its input does not
depend on the seed, showing it would show the hidden one: then the probes ask that name mistakes, and lead to no mark.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from autograder import engine, failures, wire
from autograder.appeal.script import NoScript, write
from autograder.appeal.transcript import Departure, Recorder, Turn, departure, plain, same_question
from autograder.checks import collect
from autograder.checks.declare import Declaration
from autograder.checks.marking import Marking
from autograder.lab import InProcess, Lab, Transport
from autograder.measured.student import Measure
from autograder.names import display_name
from autograder.notebook_file import Cell
from autograder.sandbox.session import Session
from autograder.settings import Settings
from autograder.submission import Notebook, Submission
from autograder.suspects.match import submission_with
from autograder.suspects.probes import ASKED, observe

#: Anybody may know them: no mark comes from an input that is drawn from them.
PUBLIC_SEEDS = ("an appeal", "an appeal, once more", "an appeal, the third time")
PUBLIC_NUMBER = 2026
#: Characters of an answer that are shown.
MAX_SHOWN = 600

MEASURED = "This check measures, and what it measures differs from run to run: there is no single call that shows it."
NOTHING_SHOWS = (
    "On inputs that may be shown, the numbers that come back are right. What this check looks at is not in them, or "
    "shows only on inputs that stay hidden: the sentence above says what it was."
)
CANNOT_BE_WRITTEN = "There is no script of this call: {why}."


@dataclass(frozen=True)
class Shown:
    """A fault on a public input: the call in words, what came back and what is right, and the script, or a ``note``
    on why there is none.
    """

    call: str
    mine: str
    right: str
    script: str = ""
    note: str = ""


def show(check: Declaration, title: str, submission: Submission, settings: Settings) -> Shown | str:
    """The fault of a check on a public input, or a sentence on why none is shown."""
    notebook = submission.notebooks.get(check.notebook)
    if notebook is None or not notebook.cells:
        return "There is no code of this notebook to run."
    if check.measured:
        return MEASURED
    limits = settings.course.limits
    session = Session(
        engine.warm_sandbox(settings),
        notebook.cells,
        submission.files,
        cell_seconds=limits.cell_seconds,
        setup_seconds=limits.setup_seconds,
    )
    without: Shown | None = None
    try:
        with session:
            for ask in _questions(check, settings):
                session.renew()
                found = _departs(ask, session, check.notebook)
                if found is None:
                    continue
                try:
                    return _said(found, title, check, submission, notebook, settings)
                except NoScript as error:
                    turn = found.departs.turn
                    note = CANNOT_BE_WRITTEN.format(why=error)
                    mine, right = _shown(found.mine[turn]), _shown(found.right[turn])
                    without = without or Shown(f"{check.function}(…)", mine, right, note=note)
    except failures.SubmissionFault as fault:
        return f"It could not be run to the end here: {display_name(fault.message)}"
    return without or NOTHING_SHOWS


@dataclass(frozen=True)
class _Found:
    mine: Sequence[Turn]
    right: Sequence[Turn]
    departs: Departure


#: Asks something over a transport.
Ask = Callable[[Transport], None]


def _questions(check: Declaration, settings: Settings) -> Sequence[Ask]:
    seconds = settings.course.limits.call_seconds
    itself = [c for c in collect.checks(settings.assignment) if c.declared.id == check.id]
    nothing = cast(Measure, types.SimpleNamespace(lab=None, note=None))

    def by_check(seed: str) -> Ask:
        def ask(transport: Transport) -> None:
            Marking(transport, seed=seed, call_seconds=seconds, measure=nothing, alone=True).run(itself)

        return ask

    def by_probes(transport: Transport) -> None:
        lab = Lab(transport, seconds=seconds)
        try:
            observe(lab, check.function, np.random.default_rng(PUBLIC_NUMBER), check.notebook)
        finally:
            lab.close()

    asks = [by_check(seed) for seed in PUBLIC_SEEDS] if _depends_on_the_seed(by_check, check) else []
    return [*asks, by_probes] if check.function in ASKED.get(check.notebook, {}) else asks


def _depends_on_the_seed(by_check: Callable[[str], Ask], check: Declaration) -> bool:
    """Whether every call that hands numbers over hands other ones over for another seed."""
    one, other = (_turns(by_check(seed), InProcess(submission_with("", check.notebook))) for seed in PUBLIC_SEEDS[:2])
    calls = [(a, b) for a, b in zip(one, other, strict=False) if _hands_over(a)]
    return bool(calls) and not any(same_question(a, b) for a, b in calls)


def _hands_over(turn: Turn) -> bool:
    request = turn.request
    if isinstance(request, wire.Keep):
        return True
    return isinstance(request, wire.Call) and bool(request.args or request.kwargs)


def _departs(ask: Ask, session: Session, notebook: str) -> _Found | None:
    right = _turns(ask, InProcess(submission_with("", notebook)))
    try:
        mine = _turns(ask, session)
    except (failures.TimedOut, failures.Died):
        return None
    departs = departure(mine, right)
    return _Found(mine, right, departs) if departs else None


def _turns(ask: Ask, transport: Transport) -> list[Turn]:
    recorder = Recorder(transport)
    with np.errstate(all="ignore"):
        ask(recorder)
    return [turn for turn in recorder.turns if turn.reply is not None]


def _said(
    found: _Found, title: str, check: Declaration, submission: Submission, notebook: Notebook, settings: Settings
) -> Shown:
    """The script with the fewest questions that still shows the fault when it is run. Raises `NoScript`."""
    namespace = submission_with("", check.notebook)
    last = found.departs.turn
    right = found.right[last]
    chosen = (_needed(found.mine, last), list(range(last + 1)))
    why: NoScript | None = None
    for numbers in chosen:
        turns = [found.mine[i] for i in numbers]
        try:
            script = write(turns, right, found.departs, title=title, function=check.function, namespace=namespace)
        except NoScript as error:
            why = error
            continue
        if _says(script, submission, notebook, settings) == 1 and _holds(script, namespace):
            call = next(line for line in reversed(script.splitlines()) if line.startswith("    result = "))
            return Shown(call.partition("= ")[2].removeprefix("lab."), _shown(found.mine[last]), _shown(right), script)
    raise why or NoScript("it comes out otherwise when it is asked alone")


def _needed(turns: Sequence[Turn], last: int) -> list[int]:
    """The turns that one depends on: those that made its objects or did something to them, and replaced names."""
    objects = set(_handles(turns[last].request))
    numbers = [last]
    for i in range(last - 1, -1, -1):
        request, reply = turns[i].request, turns[i].reply
        made = reply.value.id if isinstance(reply, wire.Return) and isinstance(reply.value, wire.Handle) else None
        acts_on = request.target if isinstance(request, wire.Call) else getattr(request, "handle", None)
        changes = acts_on in objects and not isinstance(request, wire.Get)
        if made in objects or changes or isinstance(request, wire.Bind):
            numbers.append(i)
            objects |= set(_handles(request))
    return numbers[::-1]


def _handles(request: wire.Request) -> list[int]:
    found = [getattr(request, "handle", None)]
    if isinstance(request, wire.Call):
        found.append(request.target if isinstance(request.target, int) else None)
        waiting: list[wire.Value] = [*request.args, *request.kwargs.values()]
        while waiting:
            value = waiting.pop()
            if isinstance(value, wire.Handle):
                found.append(value.id)
            elif isinstance(value, wire.Sequence):
                waiting += value.items
            elif isinstance(value, wire.Mapping):
                waiting += value.items.values()
    return [number for number in found if number is not None]


def _says(script: str, submission: Submission, notebook: Notebook, settings: Settings) -> object:
    """What the script says of the submission, run in a sandbox: 0 right, 1 not, or why it does not run."""
    cells = [{"cell_type": "code", "source": cell.source} for cell in notebook.cells]
    files = {**submission.files, "appeal.ipynb": json.dumps({"cells": cells}).encode("utf-8")}
    limits = settings.course.limits
    body = script.partition("\nif __name__ ==")[0]
    session = Session(engine.warm_sandbox(settings), [Cell(body, 1, "the script")], files)
    try:
        with session:
            return Lab(session, seconds=limits.setup_seconds + limits.call_seconds).show("appeal.ipynb")
    except failures.SubmissionFault as fault:
        return fault.message


def _holds(script: str, namespace: Mapping[str, Any]) -> bool:
    """Whether right code passes the script: it must blame nobody for what is right."""
    frame: dict[str, Any] = {"__name__": "appeal"}
    exec(compile(script, "<script>", "exec"), frame)  # noqa: S102 (our own text, and numbers)
    expected = frame["right"]()
    try:
        with np.errstate(all="ignore"):
            answer = frame["plain"](frame["call"](types.SimpleNamespace(**namespace)))
    except Exception as error:
        return isinstance(expected, str) and type(error).__name__ == expected
    return not isinstance(expected, frame["Raises"]) and bool(frame["same"](answer, expected))


def _shown(turn: Turn) -> str:
    """An answer in a few lines."""
    reply = turn.reply
    if isinstance(reply, wire.Failure):
        return f"raises {display_name(reply.type_name)}: {display_name(reply.text)}"
    value = plain(reply.value) if reply else None
    with np.printoptions(precision=4, threshold=40, suppress=True):
        text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    lines = [display_name(line) for line in text[:MAX_SHOWN].splitlines()]
    return "\n".join(lines) + (" …" if len(text) > MAX_SHOWN else "")
