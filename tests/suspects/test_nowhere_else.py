"""A mistake loses marks in its own step and in no other: what builds on it is tried with a right one in its place."""

from __future__ import annotations

from typing import Any, cast

import pytest

from autograder import failures
from autograder.checks import collect, follow_on
from autograder.checks.marking import Marking
from autograder.lab import InProcess
from autograder.measured.student import Measure
from autograder.suspects import suspects_of
from autograder.suspects.match import submission_with
from autograder.suspects.probes import PROBES

#: Waits for a machine in every mark here, as without a GPU.
MEASURED = "measured_exponent"


class Waits:
    """No clock runs in a test."""

    lab, note = None, None

    def on_gpu(self) -> Any:
        raise failures.Pending("There is no clock in a test.")


def lost_elsewhere(source: str, task: str) -> set[str]:
    """Functions of other steps that lose marks once the rule for follow-on failures is applied."""
    transport = InProcess(submission_with(source))
    checks = [c for c in collect.checks("lab07") if c.declared.notebook == "attention_lab"]

    def check(given: follow_on.Given | None) -> dict[str, Any]:
        marking = Marking(transport, seed="tests", call_seconds=60, measure=cast(Measure, Waits()), given=given)
        marking.run(c for c in checks if given is None or c.declared.function in given)
        return marking.outcomes

    outcomes = check(None)
    follow_on.settle(outcomes, "lab07", check)
    lost = {o.function for o in outcomes.values() if o.verdict in follow_on.LOST and o.task != task}
    return lost - {MEASURED}


def elsewhere(function: str, every: int) -> dict[str, set[str]]:
    chosen = suspects_of(function)[::every]
    found = {suspect.id: lost_elsewhere(suspect.source, suspect.task) for suspect in chosen}
    return {name: functions for name, functions in found.items() if functions}


@pytest.mark.parametrize("function", list(PROBES))
def test_the_first_mistake_of_each_function_stays_in_its_step(function: str) -> None:
    assert elsewhere(function, every=1000) == {}


@pytest.mark.soak
@pytest.mark.parametrize("function", list(PROBES))
def test_every_mistake_stays_in_its_step(function: str) -> None:
    assert elsewhere(function, every=1) == {}
