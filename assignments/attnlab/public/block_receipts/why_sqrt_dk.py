"""Part 11 in public: the gaps in print, entropies that can be worked out, and a sweep over two small batches."""

from __future__ import annotations

import math

import numpy as np

from attnlab.public.answers import mapping
from attnlab.public.block_receipts.asks import close, nearly
from attnlab.public.declare import Checks, Lab, Mistake
from attnlab.words import kind

check = Checks("why_sqrt_dk")

GAPS = "article, section 11"
SPREAD = "article, section 4"


@check("two_key_weight.printed", read=GAPS)
def gaps_in_print(lab: Lab) -> None:
    """Gaps of 1, 2, 4 and 8 give 0.7310586, 0.8807971, 0.9820138 and 0.9996646; a gap of 0 gives a half."""
    for gap, wanted in ((0.0, 0.5), (1.0, 0.7310586), (2.0, 0.8807971), (4.0, 0.9820138), (8.0, 0.9996646)):
        known = {1 - wanted: "That is the lower key."} if gap else {}
        nearly(lab.two_key_weight(gap), f"two_key_weight({gap:g})", wanted, 6e-8, known)
    found = lab.two_key_weight(np.array([1.0, 16.0]))
    close(found, [0.7310586, 0.9999999], "two_key_weight of an array", 1e-7)


@check("entropy.known", read=SPREAD)
def entropies_on_paper(lab: Lab) -> None:
    """Evenly over 12 it is ln 12, on one key 0, and a half and two quarters give 1.5 ln 2."""
    for weights, wanted in (
        ([1 / 12] * 12, math.log(12)),
        ([0.0, 1.0, 0.0], 0.0),
        ([0.5, 0.25, 0.25], 1.5 * math.log(2)),
    ):
        known = {
            wanted / math.log(2): "These are bits; natural logarithms are asked.",
            -wanted: "The sign is missing.",
            wanted / len(weights): "A sum is asked, not a mean.",
        }
        nearly(lab.entropy(np.array(weights)), f"the entropy of {len(weights)} weights", wanted, 1e-6, known)


@check("entropy.rows", read=SPREAD, needs=["entropy.known"])
def one_number_for_each_row(lab: Lab) -> None:
    """Two rows give two numbers."""
    found = lab.entropy(np.array([[0.5, 0.5], [1.0, 0.0]]))
    close(found, [math.log(2), 0.0], "entropy of two rows", looks_like="The sum runs along the last axis.")


@check("scaling_sweep.small", read=GAPS)
def two_small_batches(lab: Lab) -> None:
    """Scores of 0 and 2 at a width of 4: unscaled they are 2 apart, over √4 they are 1 apart."""
    query, keys = np.array([[1.0, 1.0, 0.0, 0.0]]), np.array([[[0.0, 0.0, 5.0, 5.0], [1.0, 1.0, 0.0, 0.0]]])
    even = (np.ones((2, 9)), np.zeros((2, 3, 9)))
    found = lab.scaling_sweep([(query, keys), even])
    if not isinstance(found, (list, tuple)) or len(found) != 2:
        raise Mistake(f"scaling_sweep gave back {kind(found)}; one mapping for each of two batches is asked.")
    low = {"unscaled": 0.1192029, "scaled": 0.2689414}
    for at, name, wanted in (
        *((0, f"max_weight_{which}", 1 - weight) for which, weight in low.items()),
        *((0, f"entropy_{which}", -w * math.log(w) - (1 - w) * math.log(1 - w)) for which, w in low.items()),
        (0, "logit_std", 1.0),
        (1, "max_weight_unscaled", 1 / 3),
        (1, "entropy_scaled", math.log(3)),
        (1, "logit_std", 0.0),
    ):
        row = mapping(found[at], f"batch {at} of scaling_sweep", (name,))
        known = {
            {"max_weight_scaled": 0.8807971}.get(name, 0.7310586): "Scaled and unscaled are exchanged.",
            0.6224593: "Divide by the root of the width, not the width.",
            math.sqrt(2): "The spread is divided by their number, not by one less.",
            0.5: "The spread is that of the scores before they are scaled.",
        }
        nearly(row[name], f"`{name}` of batch {at}", wanted, 1e-6, known)
