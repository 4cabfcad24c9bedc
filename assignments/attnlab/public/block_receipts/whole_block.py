"""Part 4 in public: the chapter's last table, and a block whose two norms can be told apart by hand."""

from __future__ import annotations

import math

import numpy as np

from attnlab import chapter
from attnlab.public.answers import array
from attnlab.public.block_receipts.asks import printed
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("whole_block")

READ = "section 7.3, writing the answer back"


@check("block.table", read=READ)
def the_chapters_last_table(lab: Lab) -> None:
    """kedi sütü içti leave the block as the chapter prints them."""
    heads = [(chapter.W_Q, chapter.W_K, chapter.W_V), chapter.HEAD_2]
    layers = {"W1": chapter.W_1, "b1": chapter.B_1, "W2": chapter.W_2, "b2": chapter.B_2}
    params = {"heads": heads, "W_o": chapter.W_O, "norm_first": False, **layers}
    found = array(lab.block(chapter.X, params), "block", (3, 4))
    guess = ""
    if np.allclose(found, chapter.PRINTED["residual"], atol=1e-4):
        guess = "The feed-forward layer adds nothing."
    elif np.abs(found.mean(axis=-1)).max() < 1e-6:
        guess = "Every row has mean 0: a norm stands on the stream, at the end."
    printed(found, "block", "the block's output", guess)


@check("block.norms", read="section 7.3, layer normalisation", needs=["block.table"])
def both_norms_by_hand(lab: Lab) -> None:
    """One token: attention adds its value, of x itself or of the normalised x, and the stream passes by both norms."""
    eye, silent = np.eye(2), np.zeros((2, 2))
    x = np.array([[3.0, 7.0]])
    root = math.sqrt(4.00001)  # (3, 7) has mean 5 and variance 4
    for norm_first, added in ((False, (3.0, 7.0)), (True, (-2 / root, 2 / root))):
        params = {"heads": [(eye, eye, eye)], "W_o": eye, "W1": silent, "b1": np.zeros(2), "W2": silent}
        params |= {"b2": np.array([100.0, 200.0]), "norm_first": norm_first}
        wanted = [3.0 + added[0] + 100.0, 7.0 + added[1] + 200.0]
        found = array(lab.block(x, params), "block", (1, 2))[0]
        if not np.abs(found - wanted).max() <= 1e-6:
            guess = "norm_first says whether attention sees the normalised x; what is added to is x in both cases."
            came, right = (np.round(row, 3).tolist() for row in (found, wanted))
            said = f"With norm_first={norm_first} the token becomes {came}; by hand it is {right}."
            raise Mistake(said, guess)
