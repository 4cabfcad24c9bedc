"""Part 10 in public: a linear function, one that doubling cannot tell from it, a pair of layers, a row of slots."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnlab.public.answers import Array, array, pair, verdict
from attnlab.public.block_receipts.asks import close
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("linear_or_not")

LINEAR = "article, section 9"


@check("is_additive.linear_and_relu", read=LINEAR)
def doubling_is_not_enough(lab: Lab) -> None:
    """A matrix is additive. ReLU is not, although doubling its input doubles its output."""
    x, y, W = np.array([[1.0, -2.0]]), np.array([[-3.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])

    def matrix(v: Array) -> Array:
        return np.asarray(np.asarray(v) @ W)

    def relu(v: Array) -> Array:
        return np.maximum(np.asarray(v), 0)

    cases: tuple[tuple[Callable[[Array], Array], bool, str], ...] = ((matrix, True, "a matrix"), (relu, False, "ReLU"))
    for fn, wanted, name in cases:
        found = verdict(lab.is_additive(fn, x, y), "is_additive")
        if found is not wanted:
            guess = "Doubling is tested, which ReLU passes: add two different vectors." if name == "ReLU" else ""
            raise Mistake(f"Of {name} it says {found}.", guess)


@check("collapse_two_layers.by_hand", read=LINEAR)
def two_layers_are_one(lab: Lab) -> None:
    """Twice x plus 1, then ten times that plus 3, is 20 x + 13: the first bias goes through the second matrix."""
    layers = (np.array([[2.0]]), np.array([1.0]), np.array([[10.0]]), np.array([3.0]))
    W, b = pair(lab.collapse_two_layers(*layers), "collapse_two_layers", "W", "b")
    close(W, [[20.0]], "`W`")
    offset = array(b, "`b`", (1,))[0]
    if abs(offset - 13) > 1e-9:
        known = {
            4.0: "The first bias goes through W2, too.",
            3.0: "The first bias is lost.",
            10.0: "The second bias is lost.",
        }
        raise Mistake(f"`b` is {offset:g}; it should be 13.", known.get(offset, ""))


@check("collapse_two_layers.same", read=LINEAR, needs=["collapse_two_layers.by_hand"])
def the_same_function(lab: Lab) -> None:
    """One layer gives what the two gave, on layers of different widths."""
    draw = np.random.default_rng(5).normal
    W1, b1, W2, b2, x = (draw(size=s) for s in ((3, 5), (5,), (5, 2), (2,), (4, 3)))
    W, b = pair(lab.collapse_two_layers(W1, b1, W2, b2), "collapse_two_layers", "W", "b")
    one = x @ array(W, "`W`", (3, 2)) + array(b, "`b`", (2,))
    close(one, (x @ W1 + b1) @ W2 + b2, "x W + b against the two layers", looks_like="x meets W1 first.")


@check("ffn_as_slots.by_hand", read=LINEAR)
def what_each_slot_adds(lab: Lab) -> None:
    """Three slots with matches 2, -1 and 3 add twice the first row of W2, nothing, and three times the third."""
    x, W1, b1 = np.array([1.0]), np.array([[1.0, -1.0, 4.0]]), np.array([1.0, 0.0, -1.0])
    W2 = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    found = lab.ffn_as_slots(x, W1, b1, W2)
    guess = "A slot below zero adds nothing, and each slot stands by itself: (slots, d_out)."
    close(found, [[2.0, 20.0], [0.0, 0.0], [9.0, 90.0]], "ffn_as_slots", looks_like=guess)
