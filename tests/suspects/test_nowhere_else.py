"""A mistake loses marks in its own step and in no other: what builds on it is tried with a right one in its place."""

from __future__ import annotations

from typing import Any, cast

import pytest

from autograder import failures
from autograder.checks import collect, follow_on
from autograder.checks.lab07 import carry_over
from autograder.checks.marking import Marking
from autograder.lab import InProcess, local_lab
from autograder.marks import Outcome
from autograder.measured.student import Measure
from autograder.release import mutants
from autograder.suspects import suspects_of
from autograder.suspects.match import submission_with
from autograder.suspects.probes import PROBES
from tests.filled_in import BLOCK, EXERCISES, FilledIn

#: Waits for a machine in every mark here, as without a GPU.
MEASURED = "measured_exponent"


class Waits:
    """No clock runs in a test."""

    lab, note = None, None

    def on_gpu(self) -> Any:
        raise failures.Pending("There is no clock in a test.")


def settled(namespace: dict[str, Any], notebook: str) -> dict[str, Outcome]:
    """How the checks of a notebook end once the rule for follow-on failures is applied."""
    transport = InProcess(namespace)
    checks = [c for c in collect.checks("lab07") if c.declared.notebook == notebook]

    def check(given: follow_on.Given | None) -> dict[str, Outcome]:
        marking = Marking(transport, seed="tests", call_seconds=60, measure=cast(Measure, Waits()), given=given)
        marking.run(c for c in checks if given is None or c.declared.function in given)
        return marking.outcomes

    outcomes = check(None)
    follow_on.settle(outcomes, "lab07", check)
    return outcomes


def lost_elsewhere(source: str, task: str) -> set[str]:
    """Functions of other steps that lose marks once the rule for follow-on failures is applied."""
    outcomes = settled(submission_with(source), "attention_lab")
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


# ---- what no check of the notebook looks at
COSINES_FIRST = """
def sinusoidal_positions(n, d):
    angles = np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(n, d)
"""
SMALLER_BASE = """
def sinusoidal_positions(n, d):
    angles = np.outer(np.arange(n), 1000.0 ** (-np.arange(0, d, 2) / d))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)

def position_similarity(offset, d):
    table = sinusoidal_positions(abs(int(offset)) + 1, d)
    return float(table[0] @ table[-1])
"""
SHUFFLED_POSITIONS = """
def order_gaps(X, perm, W_q, W_k, W_v):
    P = 0.3 * sinusoidal_positions(*X.shape)
    free = [attention_weights(r @ W_q, r @ W_k) @ r @ W_v for r in (X, X[perm])]
    placed = [attention_weights(r @ W_q, r @ W_k) @ r @ W_v for r in (X + P, (X + P)[perm])]
    seen = [attention_weights(r @ W_q, r @ W_k, True) @ r @ W_v for r in (X, X[perm])]
    gap = lambda a, b: float(np.abs(a - b).max())
    return {
        "tokens": gap(free[1], free[0][perm]),
        "mean_pool": gap(free[1].mean(0), free[0].mean(0)),
        "mean_pool_positions": gap(placed[1].mean(0), placed[0].mean(0)),
        "mean_pool_causal": gap(seen[1].mean(0), seen[0].mean(0)),
        "last_token_causal": gap(seen[1][-1], seen[0][-1]),
    }
"""
HALF_A_CACHE = """
def kv_bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return layers * kv_heads * head_dim * itemsize

def max_context(memory_bytes, weight_bytes, users, layers, kv_heads, head_dim, itemsize=2):
    return max(0, (memory_bytes - weight_bytes) // (users * kv_bytes_per_token(layers, kv_heads, head_dim, itemsize)))
"""


def said_of(function: str, notebook: FilledIn, source: str) -> set[str | None]:
    """The messages of the checks of a function that lost marks, for the solution with ``source`` behind it."""
    outcomes = settled(mutants.bound(notebook.solution(), source), notebook.name)
    return {o.message for o in outcomes.values() if o.function == function and o.verdict in follow_on.LOST}


def test_a_mistake_that_no_check_looks_at_is_named_by_what_fails_with_it_and_keeps_its_mark() -> None:
    said = follow_on.FOLLOWS.format(names="sinusoidal_positions")
    assert said_of("order_gaps", EXERCISES, COSINES_FIRST) == {said}


def test_a_similarity_read_off_a_wrong_table_is_said_to_come_from_it() -> None:
    said = follow_on.FOLLOWS.format(names="sinusoidal_positions")
    assert said in said_of("position_similarity", EXERCISES, SMALLER_BASE)


def test_what_no_check_looks_at_is_not_blamed_for_another_mistake() -> None:
    said = said_of("order_gaps", EXERCISES, SHUFFLED_POSITIONS)
    assert said
    assert not any("sinusoidal_positions" in str(message) for message in said)


def test_a_function_that_only_another_notebook_has_is_not_named() -> None:
    assert said_of("max_context", BLOCK, HALF_A_CACHE) == {follow_on.FOLLOWS.format(names="kv_bytes_per_token")}


@pytest.mark.parametrize(("caches", "rows"), [(1, 60_000), (120, 500)])
def test_right_caches_keep_no_more_than_any_check_needs(caches: int, rows: int) -> None:
    """All that is appended stays in the grader's own memory, be it in one huge cache or in many."""
    namespace: dict[str, Any] = {}
    source = """
import numpy as np
def fill(caches, rows):
    kept = [KVCache() for _ in range(caches)]
    for cache in kept: cache.append(np.ones((rows, 1)), np.ones((rows, 1)))
    return len(kept)
"""
    exec(source, namespace)
    lab = local_lab(namespace)
    carry_over.give(lab, "KVCache")
    assert lab.fill(2, 100) == 2
    with pytest.raises(failures.Raised, match="more than the caches of a check have to hold"):
        lab.fill(caches, rows)
