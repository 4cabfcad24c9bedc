"""Part 12 in public: a small causal model, and one that looks ahead."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnlab.public.answers import Array, array
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("causality")

READ = "article, section 13"
IDS = (5, 2, 6, 3, 1)


class Sums:
    """A model without weights: the logits of word w at position i are sums of ids up to i (or of all), times w + 1."""

    vocab = 8

    def __init__(self, *, ahead: bool) -> None:
        self.ahead = ahead
        self.fed: list[list[int]] = []

    def __call__(self, ids: Any) -> Array:
        given = [int(i) for i in ids]
        if not all(0 <= i < self.vocab for i in given):
            raise ValueError(f"an id is not in the vocabulary of {self.vocab}")
        self.fed.append(given)
        seen = np.full(len(given), sum(given)) if self.ahead else np.cumsum(given)
        return np.outer(seen, np.arange(1, self.vocab + 1)).astype(float)


def _asked(lab: Lab, *, ahead: bool) -> tuple[list[float], float, list[int]]:
    """What came back, how far the logits of a moved position go, and the caller's ids afterwards."""
    model, tokens = Sums(ahead=ahead), [*IDS]
    found = array(lab.moved_positions(model, tokens, 2), "moved_positions", (5,)).tolist()
    swaps = [fed for fed in model.fed if len(fed) == 5 and [i for i in range(5) if fed[i] != IDS[i]] == [2]]
    if not swaps:
        said = "The model never ran with another id at position 2 and all others as they were."
        raise Mistake(said, "Position 2 is the third one; swap it in a copy of the list.")
    return found, float(abs(swaps[0][2] - IDS[2]) * Sums.vocab), tokens


@check("moved_positions.causal", read=READ)
def a_causal_model(lab: Lab) -> None:
    """In a model that adds up the ids so far, positions 0 and 1 stay exactly, and 2 to 4 move by the same amount."""
    found, step, tokens = _asked(lab, ahead=False)
    if found != [0, 0, step, step, step]:
        guess = ""
        if found[:2] != [0, 0]:
            guess = "Positions before the changed one should not move at all."
        elif found[3:] == [0, 0]:
            guess = "Later positions move too: they see the changed id."
        elif found[2] and abs(found[2]) != step:
            guess = "The largest absolute change over the vocabulary is asked: no mean, sum or length."
        elif found[2] == -step or found[2] < 0:
            guess = "Take absolute values."
        raise Mistake(f"The changes are {found}; by the ids that were fed they are {[0, 0, step, step, step]}.", guess)
    if tokens != [*IDS]:
        raise Mistake("The caller's list of ids had changed afterwards.", "Swap the id in a copy: `list(tokens)`.")


@check("moved_positions.ahead", read=READ, needs=["moved_positions.causal"])
def a_model_that_looks_ahead(lab: Lab) -> None:
    """In a model that adds up all ids, every position moves, and this shows."""
    found, step, _ = _asked(lab, ahead=True)
    if found != [step] * 5:
        guess = (
            "Zeros are written in for earlier positions: compare what the model gives." if not any(found[:2]) else ""
        )
        raise Mistake(f"The changes are {found}; they should all be {step:g}.", guess)
