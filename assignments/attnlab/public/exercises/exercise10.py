"""Exercise 10 in public: a handful of parameters."""

from __future__ import annotations

from attnlab.public.answers import number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise10")

READ = "section 7.7"


def _expect(lab: Lab, parameters: int, bits: int, wanted: float, guesses: dict[float, str]) -> None:
    found = number(lab.weight_bytes(parameters, bits), f"weight_bytes({parameters:,}, {bits})")
    if not abs(found - wanted) <= 1e-9 * wanted:
        said = f"weight_bytes({parameters:,}, {bits}) is {found:g} instead of {wanted:g}."
        raise Mistake(said, guesses.get(found, ""))


@check("weight_bytes.whole_bytes", read=READ)
def whole_bytes(lab: Lab) -> None:
    """1,000 parameters take 2,000 bytes at 16 bits, 1,000 at 8 and 4,000 at 32."""
    for bits, wanted in ((16, 2000), (8, 1000), (32, 4000)):
        guesses = {1000.0 * bits: "These are bits; bytes are asked.", wanted / 1e9: "Bytes are asked, not GB."}
        _expect(lab, 1000, bits, wanted, guesses)


@check("weight_bytes.half_a_byte", read=READ, needs=["weight_bytes.whole_bytes"])
def half_a_byte(lab: Lab) -> None:
    """At 4 bits two parameters share a byte, and at 6 bits four share three bytes."""
    guesses = {0.0: "bits // 8 is 0: multiply before you divide.", 1000.0: "Every parameter was given a whole byte."}
    _expect(lab, 1000, 4, 500, guesses)
    _expect(lab, 1000, 6, 750, guesses)
