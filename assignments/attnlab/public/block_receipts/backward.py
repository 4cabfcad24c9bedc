"""Part 13 in public: one rectangular layer, against the change of a loss when one entry is nudged."""

from __future__ import annotations

import numpy as np

from attnlab.public.answers import array, pair
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("backward")

READ = "article, section 13"


@check("linear_backward.shapes", read=READ)
def shapes_of_both(lab: Lab) -> None:
    """The first of the pair, dW, has the shape of W; the second, dX, has that of X."""
    X, W, dY = np.ones((4, 3)), np.ones((3, 2)), np.ones((4, 2))
    found = pair(lab.linear_backward(X, W, dY), "linear_backward", "dW", "dX")
    shapes = [np.shape(part) for part in found]
    if shapes != [(3, 2), (4, 3)]:
        guess = {
            ((4, 3), (3, 2)): "The two are exchanged.",
            ((2, 3), (4, 3)): "dW is transposed.",
            ((3, 2), (3, 4)): "dX is transposed.",
        }.get((shapes[0], shapes[1]), "")
        raise Mistake(f"The shapes are {shapes[0]} and {shapes[1]}; they should be (3, 2) and (4, 3).", guess)


@check("linear_backward.nudged", read=READ, needs=["linear_backward.shapes"])
def each_entry_is_a_slope(lab: Lab) -> None:
    """Nudging one entry of W, or of X, changes the loss by what dW, or dX, says of it."""
    draw = np.random.default_rng(13).normal
    X, W, dY = draw(size=(4, 3)), draw(size=(3, 2)), draw(size=(4, 2))
    found = pair(lab.linear_backward(X, W, dY), "linear_backward", "dW", "dX")
    # The loss that has dY as its slope is the sum of dY times the output; it is linear, so a nudge of 1 is exact.
    for name, grad, target in (("dW", found[0], W), ("dX", found[1], X)):
        told = array(grad, f"`{name}`", target.shape)
        for place in np.ndindex(target.shape):
            nudged = target.copy()
            nudged[place] += 1.0
            other = (X @ nudged if name == "dW" else nudged @ W) - X @ W
            slope = float(np.sum(dY * other))
            if not abs(told[place] - slope) <= 1e-9:
                ratio = told[place] / slope
                guess = "A sum over the rows is asked, not a mean." if abs(ratio - 0.25) < 1e-6 else ""
                guess = "The sign is turned round." if abs(ratio + 1) < 1e-6 else guess
                said = f"`{name}`{list(place)} is {told[place]:.6g}; a nudge there moves the loss by {slope:.6g}."
                raise Mistake(said, guess)
