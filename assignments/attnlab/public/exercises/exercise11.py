"""Exercise 11 in public: numbers small enough for the head."""

from __future__ import annotations

from attnlab.public.answers import number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise11")

READ = "section 7.8"


@check("training_flops.small", read=READ)
def one_parameter_and_one_token(lab: Lab) -> None:
    """One parameter and one token take 6 FLOPs; 2 parameters and 5 tokens take 60."""
    for parameters, tokens, wanted in ((1, 1, 6), (2, 5, 60)):
        found = number(lab.training_flops(parameters, tokens), f"training_flops({parameters}, {tokens})")
        if found != wanted:
            guesses: dict[float, str] = {
                wanted // 3: "That is the forward pass; the backward pass takes twice as much again.",
                wanted // 2: "A multiplication and an addition are two FLOPs.",
                wanted // 6: "Each parameter takes several operations for each token.",
            }
            raise Mistake(
                f"training_flops({parameters}, {tokens}) is {found:g} instead of {wanted}.", guesses.get(found, "")
            )


@check("training_flops.large", read=READ, needs=["training_flops.small"])
def large_numbers_stay_right(lab: Lab) -> None:
    """10^12 parameters and 10^13 tokens take 6·10^25 FLOPs."""
    found = number(lab.training_flops(10**12, 10**13), "training_flops(10**12, 10**13)")
    if not abs(found / 6e25 - 1) < 1e-9:
        raise Mistake(f"It is {found:.3g} there.", "NumPy's integers have 64 bits and wrap around; Python's do not.")
