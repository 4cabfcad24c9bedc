"""Part 3 in public: two rows by hand, GELU on both sides of zero, a gate shut and open, the chapter's detectors."""

from __future__ import annotations

import numpy as np

from attnlab import chapter
from attnlab.public.answers import array, booleans, pair, same
from attnlab.public.block_receipts.asks import close
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("feed_forward")

FFN = "section 7.3, the feed-forward sublayer"
FIRING = "section 7.3, watching it fire"
GATE = "article, section 9"

#: The chapter's detectors (rows of its table) that fire for none of the three tokens.
NEVER = [2, 6, 7]


@check("ffn_relu.by_hand", read=FFN)
def two_layers_by_hand(lab: Lab) -> None:
    """Two rows through a layer that is small enough to do on paper: both biases count, and ReLU is in the middle."""
    x = np.array([[1.0, 2.0], [-1.0, 0.0]])
    W1, b1 = np.array([[1.0, -1.0, 2.0], [1.0, 1.0, 0.0]]), np.array([-1.0, 0.0, 0.5])
    W2, b2 = np.array([[1.0], [10.0], [100.0]]), np.array([-500.0])
    # Row 0: (2, 1, 2.5) gives 262 - 500. Row 1: (-2, 1, -1.5), of which 1 is left, gives 10 - 500.
    found = array(lab.ffn_relu(x, W1, b1, W2, b2), "ffn_relu", (2, 1))[:, 0].tolist()
    if not np.allclose(found, [-238.0, -490.0], rtol=0, atol=1e-9):
        guess = ""
        if same(found, [0.0, 0.0]):
            guess = "ReLU on the output: it may be negative, and is here."
        elif same(found, [262.0, 10.0]):
            guess = "The second bias, b2, is missing."
        elif same(found, [-287.0, -490.0]):
            guess = "The first bias, b1, is missing or has no effect."
        elif same(found, [-238.0, -642.0]):
            guess = "Nothing cuts off below zero."
        raise Mistake(f"The two rows came out as {found}; by hand they are -238 and -490.", guess)


@check("gelu.values", read=FFN)
def gelu_on_both_sides(lab: Lab) -> None:
    """At 0 it is 0, at 1 it is 0.841, at -1 it is -0.159, and far out it is z or nothing."""
    z = np.array([-1e3, -1.0, 0.0, 1.0, 1e3])
    found = array(lab.gelu(z), "gelu", z.shape)
    wanted = [0.0, -0.1587, 0.0, 0.8413, 1e3]
    if not np.abs(found - wanted).max() <= 1e-3:
        guess = ""
        if abs(found[3] - 0.7311) < 1e-3:
            guess = "This is SiLU: the logistic curve is not the normal one."
        elif abs(found[3] - 0.8458) < 1e-3:
            guess = "The logistic approximation is too far from it; erf or tanh is near enough."
        elif found[1] == 0 and found[3] == 1:
            guess = "This is ReLU: small negative numbers should leak through."
        elif abs(found[3] - 0.9213) < 1e-3:
            guess = "The argument of erf is divided by √2."
        raise Mistake(f"gelu(-1) and gelu(1) came out as {found[1]:.4f} and {found[3]:.4f}.", guess)


@check("swiglu.gate", read=GATE)
def shut_and_open(lab: Lab) -> None:
    """A gate of -100 lets nothing through; a gate of 100 lets 100 times the content through."""
    one, up, down = np.array([[1.0]]), np.array([[3.0]]), np.array([[2.0]])
    for gate, wanted in ((-100.0, 0.0), (100.0, 600.0), (0.0, 0.0)):
        found = array(lab.swiglu(one, np.array([[gate]]), up, down), "swiglu", (1, 1))[0, 0]
        if not abs(found - wanted) <= 1e-6 * (1 + wanted):
            guess = ""
            if abs(found - 6.0) < 1e-6:
                guess = "The gate is a logistic curve alone; SiLU is z times it."
            elif abs(found - 2 * gate * 3 / (1 + np.exp(-3.0))) < 1e-6:
                guess = "Gate and content are exchanged: SiLU belongs to W_gate."
            elif abs(found - 600 * np.sign(gate)) < 1e-6:
                guess = "Nothing bends the gate."
            said = f"With a gate of {gate:g}, content 3 and W_down 2 it gives {found:.6g}; it should be {wanted:g}."
            raise Mistake(said, guess)


@check("swiglu.small", read=GATE, needs=["swiglu.gate"])
def a_half_open_gate(lab: Lab) -> None:
    """A gate of 1 lets 0.7311 of the content through."""
    found = lab.swiglu(np.array([[1.0]]), np.array([[1.0]]), np.array([[3.0]]), np.array([[2.0]]))
    close(found, [[6 * 0.7310585786]], "swiglu with a gate of 1", 1e-6, "silu(1) is 0.7311; ReLU and GELU are not.")


@check("detectors_fired.table", read=FIRING)
def the_chapters_detectors(lab: Lab) -> None:
    """The chapter's detector table; animate + liquid, any noun and the constant never fire."""
    # Fed with the chapter's own table of four digits, so half a digit more is allowed than it prints.
    found = lab.detectors_fired(chapter.PRINTED["layer_norm"].copy(), chapter.W_1, chapter.B_1)
    activations, used = pair(found, "detectors_fired", "activations", "used")
    table = chapter.PRINTED["detectors"].T
    gap = float(np.abs(array(activations, "`activations`", table.shape) - table).max())
    if not gap <= 3e-4:
        guess = "Negative numbers are left in: ReLU is missing." if gap > 0.9 else ""
        raise Mistake(f"The largest difference to the chapter's table is {gap:.2g}.", guess)
    fires = booleans(used, "`used`", (len(chapter.DETECTORS),))
    silent = [i for i, fired in enumerate(fires.tolist()) if not fired]
    if silent != NEVER:
        named = ", ".join(chapter.DETECTORS[i] for i in silent) or "none"
        guess = "A detector is used where it fires for at least one token." if len(silent) > len(NEVER) else ""
        raise Mistake(f"These never fire by your answer: {named}.", guess)
