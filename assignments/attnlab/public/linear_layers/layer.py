"""Part 1 of lab 2 in public: a layer small enough to compute by hand, and a batch."""

from __future__ import annotations

import numpy as np

from attnlab.public.answers import array
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("layer")

READ = "lab 2, part 1"

W = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
B = np.array([10.0, 20.0, 30.0])


@check("linear.by_hand", read=READ)
def by_hand(lab: Lab) -> None:
    """For X = [[1, 2]] and a small W the result is what you get by hand."""
    found = array(lab.linear(np.array([[1.0, 2.0]]), W, B), "The result", (1, 3))
    if np.allclose(found, [[1, 2, 0]]):
        raise Mistake("The result is [[1, 2, 0]]; by hand it is [[11, 22, 30]].", "The bias is missing.")
    if not np.allclose(found, [[11, 22, 30]]):
        raise Mistake(f"The result is {found.tolist()}; by hand it is [[11, 22, 30]].")


@check("linear.batch", read=READ, needs=["linear.by_hand"])
def a_batch_is_its_rows(lab: Lab) -> None:
    """A batch of sentences gives for each row what the row alone gives."""
    X = np.arange(12.0).reshape(2, 3, 2)
    found = array(lab.linear(X, W, B), "The result", (2, 3, 3))
    alone = array(lab.linear(X[1, 2], W, B), "The result for one row", (3,))
    if not np.allclose(found[1, 2], alone):
        raise Mistake("The row [1, 2] of a batch comes out otherwise than the same row alone.")
