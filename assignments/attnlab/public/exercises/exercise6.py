"""Exercise 6 in public: a case to count by hand, and what may not depend on the number of heads."""

from __future__ import annotations

from attnlab.public.answers import mapping, number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise6")

HEADS = "section 7.3"
READ = "section 7.13, exercise 6"

#: d = 6, h = 2, n = 5, counted by hand: each head has W_q, W_k and W_v of 6 by 3, and W_o is 6 by 6.
BY_HAND = {
    "head_dim": 3,
    "parameters": 144,
    "projection_multiplications": 720,
    "score_multiplications": 150,
    "value_multiplications": 150,
    "score_entries": 50,
    "score_rank_bound": 3,
}
#: What the values of that case look like where one thing is counted another way.
GUESSES: dict[tuple[str, float], str] = {
    ("parameters", 108): "W_o, which mixes the heads, is missing.",
    ("parameters", 288): "Every head was given the full width; the heads share it.",
    ("parameters", 168): "Biases are counted in; they are left out here.",
    ("projection_multiplications", 540): "W_o, which mixes the heads, is missing.",
    ("projection_multiplications", 1440): "These are FLOPs; a multiplication with its addition counts once here.",
    ("projection_multiplications", 144): "That is for one token; there are n.",
    ("score_multiplications", 75): "That is one head; there are h.",
    ("score_multiplications", 300): "Twice too many: FLOPs, or heads of the full width.",
    ("score_multiplications", 30): "Every query meets every key: n times n.",
    ("value_multiplications", 75): "That is one head; there are h.",
    ("value_multiplications", 300): "Twice too many: FLOPs, or heads of the full width.",
    ("score_entries", 25): "Every head has a table of its own.",
    ("score_entries", 100): "Entries are asked, not their bytes.",
    ("score_entries", 150): "A score is one number, however wide the head is.",
    ("score_rank_bound", 5): "A product of (n, d/h) and (d/h, n) cannot have a rank above d/h.",
    ("score_rank_bound", 6): "The heads share the width; one head's scores come from d/h numbers.",
}


def _costs(lab: Lab, d: int, h: int, n: int) -> dict[str, float]:
    found = mapping(lab.head_costs(d, h, n), "head_costs", tuple(BY_HAND))
    return {key: number(found[key], f"`{key}`") for key in BY_HAND}


@check("head_costs.by_hand", read=HEADS)
def counted_by_hand(lab: Lab) -> None:
    """For d = 6, two heads and 5 tokens all seven numbers are what counting by hand gives."""
    costs = _costs(lab, 6, 2, 5)
    for key, wanted in BY_HAND.items():
        if costs[key] != wanted:
            guess = GUESSES.get((key, costs[key]), "")
            raise Mistake(f"`{key}` is {costs[key]:g}; counted by hand it is {wanted}.", guess)


@check("head_costs.any_heads", read=READ, needs=["head_costs.by_hand"])
def the_same_for_any_number_of_heads(lab: Lab) -> None:
    """At d = 24, parameters and all three products are the same for 1, 2, 4 and 12 heads; the entries are not."""
    one = _costs(lab, 24, 1, 30)
    for h in (2, 4, 12):
        costs = _costs(lab, 24, h, 30)
        for key in ("parameters", "projection_multiplications", "score_multiplications", "value_multiplications"):
            if costs[key] != one[key]:
                said = f"`{key}` is {costs[key]:g} for {h} heads and {one[key]:g} for one."
                raise Mistake(said, "The heads share d.")
        if costs["score_entries"] != h * one["score_entries"]:
            raise Mistake(f"`score_entries` for {h} heads is not {h} times that for one.")
