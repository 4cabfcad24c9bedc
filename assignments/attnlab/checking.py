"""Run the public checks of a step on a namespace, and never raise: what goes wrong becomes a sentence."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import EllipsisType
from typing import Any

import numpy as np

from attnlab import is_grading, questions
from attnlab.exercises_table import QUESTIONS
from attnlab.panel import Panel
from attnlab.public.declare import Lab, Mistake, PublicCheck, StudentError, Waits
from attnlab.record import Outcome, StepReport
from attnlab.step import Step
from attnlab.steps import BY_ID, find, functions, listed
from attnlab.validating import PublicChecksError, is_validating, without_warnings
from attnlab.words import clean, kind, names, trouble


def check(*steps: object, **given: object) -> Panel | None:
    """Check one or more steps: ``check("step1")``, or ``check(step1=attention)`` for functions by hand.

    Without a value the functions are those of the caller's namespace: in a notebook, whatever is bound to
    their names now. A value may be one function, a tuple or dict of them, a module, or ``...``. Gives back
    the panel that a notebook shows; in a script it is printed. Silent, with None, while the lab is only
    loaded: by a grader, or because the file is imported. Under ``nbgrader validate``, which looks for errors, one is
    raised where something does not hold.
    """
    caller = caller_namespace()
    if caller is None:
        return None
    with without_warnings():
        reports = [_named(step, ..., caller) for step in steps]
        reports += [_named(step, value, caller) for step, value in given.items()]
    panel = Panel(tuple(reports or [_named("", ..., caller)]))
    if not is_validating():
        return panel.shown()
    if not panel.passed:
        raise PublicChecksError(str(panel))
    return None


def caller_namespace() -> dict[str, object] | None:
    """What the code that called ``check`` or ``progress`` sees; None where it is only being loaded."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == "attnlab":
        frame = frame.f_back
    imported = (
        frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__", "__main__") != "__main__"
    )
    return None if is_grading() or imported else {**frame.f_globals, **frame.f_locals}


def _named(name: object, value: object, caller: Mapping[str, object]) -> StepReport:
    step = find(name)
    if step is None:
        said = f"There is no step {clean(repr(name), 40)}" if name != "" else "Say which step to check"
        return StepReport("", 0, "Which step?", (), problem=f"{said}: they are {listed()}.")
    if isinstance(value, EllipsisType):
        return run_step(step.id, caller)
    try:
        given = _bind(step, value)
    except Mistake as mistake:
        return StepReport(step.id, step.number, step.title, (), problem=mistake.came_back)
    except Exception:  # an object whose attributes raise when they are looked at
        return StepReport(step.id, step.number, step.title, (), problem="What was given cannot be read.")
    # What was not given, and some checks need, is the caller's; the report is about what was given.
    report = run_step(step.id, {**caller, **given})
    return replace(report, outcomes=tuple(o for o in report.outcomes if o.function in given))


def _bind(step: Step, value: object) -> dict[str, object]:
    """Which of the lab's names a value stands for; at least one is of this step."""
    if isinstance(value, Mapping):
        found = {str(name): item for name, item in value.items()}
    elif isinstance(value, (tuple, list)):
        found = {getattr(item, "__name__", ""): item for item in value}
        if not set(found) <= set(step.functions) and len(value) == len(step.functions):
            return dict(
                zip(step.functions, value, strict=True)
            )  # lambdas: then the order says which is which
    elif getattr(value, "__name__", "") in step.functions:
        return {value.__name__: value}  # type: ignore[attr-defined]
    elif callable(value) and len(step.functions) == 1:
        return {step.functions[0]: value}
    else:
        found = {name: getattr(value, name) for name in functions(step.notebook) if hasattr(value, name)}
    if not set(found) & set(step.functions):
        wanted = names([f"`{name}`" for name in step.functions])
        raise Mistake(f"{step.name} is about {wanted}; {kind(value)} is none of these.")
    return found


def run_step(step: str, namespace: Mapping[str, object]) -> StepReport:
    """The public checks of ``step`` (its id) on the functions that ``namespace`` binds."""
    if step == QUESTIONS:
        return questions.report()
    about = BY_ID[step]
    lab = Lab(namespace)
    outcomes: list[Outcome] = []
    held: dict[str, bool] = {}
    stopped = False
    for public in declared(step):
        waiting_for = [need for need in public.needs if not held.get(need, False)]
        if stopped:
            outcome = _outcome(public, "waits", "You stopped the checks before this one.")
        elif not lab.has(public.function):
            message = f"There is no `{public.function}` yet. Run the cell that defines it, and check again."
            outcome = _outcome(public, "not_written", message)
        elif waiting_for:
            outcome = _outcome(public, "waits")
        else:
            outcome = _run(public, lab)
            stopped = outcome.verdict == "stopped"
        held[public.id] = outcome.verdict == "passed"
        outcomes.append(outcome)
    return StepReport(about.id, about.number, about.title, tuple(outcomes), about.written)


def declared(step: str) -> list[PublicCheck]:
    """The public checks of a step, in order; none where there is nothing to write but words."""
    if not BY_ID[step].functions:
        return []
    found: list[PublicCheck] = importlib.import_module(BY_ID[step].module).check.declared
    return found


def _outcome(public: PublicCheck, verdict: Any, message: str = "", looks_like: str = "") -> Outcome:
    return Outcome(public.id, public.function, public.sentence, verdict, message, looks_like, public.read)


def _run(public: PublicCheck, lab: Lab) -> Outcome:
    bound = lab.get(public.function)
    if not callable(bound):
        return _outcome(public, "failed", f"`{public.function}` is {kind(bound)}, and not a function.")
    if inspect.iscoroutinefunction(bound):
        return _outcome(public, "failed", f"`{public.function}` is an `async def`; a plain `def` is asked.")
    try:
        # NumPy's usual error state, whatever np.seterr() was set to; its warnings would only be in the way.
        with (
            warnings.catch_warnings(),
            np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
        ):
            warnings.simplefilter("ignore")
            public.run(lab)
    except Mistake as mistake:
        found = _outcome(public, "failed", mistake.came_back, mistake.looks_like)
        return replace(found, picture=mistake.picture)
    except Waits as waits:
        return _outcome(public, "waits", str(waits))
    except KeyboardInterrupt:
        message = "It was still running when you stopped it. A loop may have no end."
        return _outcome(public, "stopped", message)
    except StudentError as stopped:
        said = trouble(stopped.function, stopped.error)
        return _outcome(public, said.verdict, said.message, said.looks_like)
    except ModuleNotFoundError as missing:
        return _outcome(public, "error", f"The package {clean(missing.name, 60)} is not installed here.")
    except Exception as error:  # a result so odd that reading it raises
        said = trouble(public.function, error)
        return _outcome(
            public, "error", f"What `{public.function}` gave back could not be read. {said.message}"
        )
    return _outcome(public, "passed")
