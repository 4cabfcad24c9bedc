"""Failures that follow from an earlier one: said once, and never taken twice across steps.

The rule (carry-over): a function that fails with the submission's own earlier functions is tried again with right
ones in their place. What it then gets right counts in full where the earlier functions belong to another step, for
the mark was taken there. Where they belong to the same step the mark stays, and the reason says where to look. So it
does where no check of the notebook looks at the earlier function: no mark for it is taken there.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType

from autograder.lab import Lab
from autograder.marks import Outcome

#: For each function, what it is given before it is checked.
Given = dict[str, list[Callable[[Lab], None]]]
#: Runs the checks of the functions that are given something.
Check = Callable[[Given], dict[str, Outcome]]

#: Verdicts that may turn out otherwise once an earlier function is right.
LOST = ("failed", "submission_error", "timeout", "skipped")

CARRIED_OVER = (
    "Right, and counted in full. With your own {names} in it this did not come out; "
    "the points for that are taken there, once."
)
FOLLOWS = "This comes from your {names}: with a right one in its place, this is right too. Mend that first."


def settle(outcomes: dict[str, Outcome], assignment: str, check: Check) -> set[str]:
    """Apply the rule to ``outcomes``, in place. Gives the functions whose failure is explained by another one.

    What builds on what is the assignment's module ``carry_over`` (``BUILDS_ON`` and ``give``), if it has one.
    """
    rule = _rule(assignment)
    if rule is None:
        return set()
    step = {o.function: o.task for o in outcomes.values()}
    lost = _lost(outcomes)

    other = _suspicious(rule, lost, lambda function, name: name in lost and step[name] != step[function])
    for key, second in _again(outcomes, other, rule, check).items():
        second.message = CARRIED_OVER.format(names=", ".join(other[second.function]))
        outcomes[key] = second

    left = _lost(outcomes)
    every = _suspicious(rule, left, lambda function, name: name in left)
    same = {function: names for function, names in every.items() if names != other.get(function)}
    # Tried by themselves: which of them the submission has at all is not known, and none is named beside another.
    unchecked = _suspicious(rule, left, lambda function, name: name not in step)
    explained = set()
    for names in (same, unchecked):
        for key, second in _again(outcomes, names, rule, check).items():
            outcomes[key].message = FOLLOWS.format(names=", ".join(names[second.function]))
            explained.add(second.function)
    return explained


def builds_on(assignment: str) -> dict[str, tuple[str, ...]]:
    """For each function of an assignment the earlier ones that it may call; empty where there is no rule."""
    rule = _rule(assignment)
    return dict(rule.BUILDS_ON) if rule else {}


def _rule(assignment: str) -> ModuleType | None:
    package = f"autograder.checks.{assignment}"
    try:
        return importlib.import_module(f"{package}.carry_over")
    except ModuleNotFoundError as error:
        # Another module that is missing is a fault of the rule.
        if error.name not in (package, f"{package}.carry_over"):
            raise
        return None


def _lost(outcomes: dict[str, Outcome]) -> set[str]:
    return {o.function for o in outcomes.values() if o.verdict in LOST}


def _suspicious(rule: ModuleType, lost: set[str], wanted: Callable[[str, str], bool]) -> dict[str, list[str]]:
    """For each function that lost something, the functions below it that may be the reason."""
    found = {
        function: [name for name in earlier if wanted(function, name)]
        for function, earlier in rule.BUILDS_ON.items()
        if function in lost
    }
    return {function: names for function, names in found.items() if names}


def _again(
    outcomes: dict[str, Outcome], names: dict[str, list[str]], rule: ModuleType, check: Check
) -> dict[str, Outcome]:
    """The checks that pass once their function is given right ones of these names."""
    if not names:
        return {}
    given: Given = {
        function: [functools.partial(rule.give, name=name) for name in below] for function, below in names.items()
    }
    return {
        key: outcome
        for key, outcome in check(given).items()
        if outcome.verdict == "passed" and outcomes[key].verdict in LOST
    }
