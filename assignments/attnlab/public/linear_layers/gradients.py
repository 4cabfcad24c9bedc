"""Part 2 of lab 2 in public: the student's slopes against differences of the student's own loss."""

from __future__ import annotations

import numpy as np

from attnlab.public.answers import Array, array, mapping, number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("gradients")

READ = "lab 2, part 2"

X = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
W = np.array([[1.0], [2.0]])
B = np.array([-1.0])


def _found(lab: Lab, weights: Array, bias: Array, targets: Array) -> dict[str, object]:
    return mapping(lab.loss_gradients(X, weights, bias, targets), "loss_gradients", ("loss", "dW", "db"))


@check("loss_gradients.loss", read=READ)
def loss_by_hand(lab: Lab) -> None:
    """Where every prediction is 2 too large, the loss is 4, however many there are."""
    found = number(_found(lab, W, B, X @ W + B - 2)["loss"], "`loss`")
    if abs(found - 4) > 1e-9:
        guess = {12.0: "The squares are added up, and not divided by how many they are."}.get(round(found, 9), "")
        raise Mistake(f"`loss` is {found:g}.", guess)


@check("loss_gradients.slopes", read=READ, needs=["loss_gradients.loss"])
def slopes_are_differences(lab: Lab) -> None:
    """Each slope is half the difference of your own losses with that entry moved up and down by 1."""
    Y = np.array([[1.0], [0.0], [2.0]])
    mine = _found(lab, W, B, Y)
    for name, at, shape in (("dW", (1, 0), W.shape), ("db", (0,), B.shape)):
        losses = []
        for step in (1.0, -1.0):
            moved = {"dW": W.copy(), "db": B.copy()}
            moved[name][at] += step
            losses.append(number(_found(lab, moved["dW"], moved["db"], Y)["loss"], "`loss`"))
        slope, wanted = array(mine[name], f"`{name}`", shape)[at], (losses[0] - losses[1]) / 2
        if abs(slope - wanted) > 1e-9:
            place = ", ".join(map(str, at))
            raise Mistake(f"`{name}[{place}]` is {slope:g}; from your losses it is {wanted:g}.")
