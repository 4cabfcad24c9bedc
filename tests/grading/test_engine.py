"""What a result says of a function that is not there."""

from __future__ import annotations

import handmade

from autograder.engine import say_what_did_not_run
from autograder.lab import NOT_WRITTEN
from autograder.sandbox.session import CellProblem
from autograder.submission import Cell

CELLS = [Cell("def softmax(x) return x", 4, "cell 4"), Cell("def attention(Q, K, V): ...", 6, "cell 6")]
STOPPED = [CellProblem("cell 4", "error", "It raised SyntaxError: expected ':' (cell 4, line 1).")]


def said(function: str, message: str, problems: list[CellProblem]) -> str | None:
    outcomes = [outcome for outcome in handmade.outcomes() if outcome.function == function]
    outcomes[0].message = message
    say_what_did_not_run(outcomes, CELLS, problems)
    return outcomes[0].message


def test_a_function_whose_cell_did_not_run_is_not_said_to_be_unwritten() -> None:
    assert said("softmax", f"{NOT_WRITTEN}.", STOPPED) == (
        "softmax is not there: cell 4, which seems to define it, did not run to its end."
    )


def test_what_is_not_written_and_what_is_wrong_is_said_as_before() -> None:
    assert said("attention", f"{NOT_WRITTEN}.", STOPPED) == f"{NOT_WRITTEN}."
    assert said("softmax", f"{NOT_WRITTEN}.", []) == f"{NOT_WRITTEN}."
    assert said("softmax", "The rows do not sum to 1.", STOPPED) == "The rows do not sum to 1."
