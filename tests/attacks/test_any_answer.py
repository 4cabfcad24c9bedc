"""Whatever a submission answers, each hidden check has a verdict of the submission: never an error of the grader."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from autograder import failures
from autograder.checks import collect
from autograder.checks.marking import Marking
from autograder.lab import InProcess

ERRORS = (ValueError("x"), NotImplementedError(), MemoryError(), RecursionError(), KeyError(3), SystemExit(3))
NUMBERS = (0, 1, -1, 7, 2**63, -(2**70), 2**4000, 0.0, 1.0, -1e300, 5e-324, float("nan"), float("inf"), -float("inf"))
DTYPES = ("f8", "f4", "f2", "i8", "u1", "?")
KEYS = ("a", "output", "weights", "macs", "flops", "bytes", "n", "seconds", "scores", "mask", "keys", "values")


def anything(chance: random.Random, depth: int = 0) -> Any:
    """A value of any kind that can travel, and some that cannot."""
    match chance.randrange(12 if depth < 3 else 7):
        case 0:
            return chance.choice((None, True, False, "", "1.0", "\u202e", "a" * 4000, set(), b"x"))
        case 1 | 2:
            return chance.choice(NUMBERS)
        case 3 | 4 | 5:
            shape = tuple(chance.choice((0, 1, 2, 3, 4, 8)) for _ in range(chance.randrange(4)))
            with np.errstate(all="ignore"):
                return np.full(shape, chance.choice((0, 1, 6e4, np.nan, np.inf, -np.inf))).astype(chance.choice(DTYPES))
        case 6:
            return lambda *_, **__: anything(chance, depth + 1)
        case 7 | 8:
            return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
        case 9:
            return (anything(chance, depth + 1), anything(chance, depth + 1))
        case 10:
            return {chance.choice(KEYS): anything(chance, depth + 1) for _ in range(chance.randrange(5))}
        case _:
            return type("Thing", (), {"__getattr__": lambda _, name: anything(chance, depth + 1)})()


class Names(dict[str, Any]):
    """A submission that has every name, as a function that answers at random."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self.answer

    def get(self, name: str, default: object = None) -> Any:
        return self.answer

    def answer(self, *args: Any, **kwargs: Any) -> Any:
        chance = self.chance
        if chance.random() < 0.05:
            raise chance.choice(ERRORS)
        for given in filter(callable, (*args, *kwargs.values())):
            with suppress(Exception):  # a function of the oracle, called as it is not meant to be
                given(*[anything(chance, 2) for _ in range(chance.randrange(4))])
        arrays = [given for given in args if isinstance(given, np.ndarray)]
        if arrays and chance.random() < 0.4:
            alike = np.full(chance.choice(arrays).shape, chance.choice((0.0, 1.0, np.nan, np.inf, 3.0)))
            return chance.choice(
                (alike, (alike, alike), alike.astype("f4"), alike > 0, (alike, None), {"output": alike})
            )
        return anything(chance)


class Nothing:
    """Nothing is measured here."""

    note = lab = None

    def __getattr__(self, name: str) -> Any:
        raise failures.Pending(name)


@pytest.mark.parametrize("assignment", ["lab07", "lab02"])
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.soak)], ids=["few", "many"])
def test_no_answer_is_an_error_of_the_grader(assignment: str, seeds: range) -> None:
    checks = [check for check in collect.checks(assignment) if not check.declared.measured]
    for seed in seeds:
        marking = Marking(
            InProcess(Names(random.Random(seed))), seed="s" * 20, call_seconds=10, measure=Nothing(), alone=True
        )
        for check in checks:
            marking.missing.clear()  # each is tried, whatever came before it
            marking.run([check])
        wrong = {check: o.message for check, o in marking.outcomes.items() if o.verdict == "grader_error"}
        assert wrong == {}, f"seed {seed}"
        assert len(marking.outcomes) == len(checks)


def test_a_device_that_is_no_name_is_the_submission_s_mistake() -> None:
    def same_on_both(fn: Callable[[object], Any], first: str, second: str, tolerance: float = 1e-6) -> bool:
        with suppress(ValueError):
            fn([first, second])
        return bool(np.abs(fn(first) - fn(second)).max() <= tolerance)

    transport = InProcess({"same_on_both": same_on_both})
    marking = Marking(transport, seed="s" * 20, call_seconds=10, measure=Nothing(), alone=True)
    marking.run([check for check in collect.checks("lab07") if check.declared.function == "same_on_both"])
    verdicts = {outcome.verdict for outcome in marking.outcomes.values()}
    assert "failed" in verdicts and "grader_error" not in verdicts
