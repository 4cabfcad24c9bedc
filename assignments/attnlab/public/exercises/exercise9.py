"""Exercise 9 in public: memories small enough to share out by hand."""

from __future__ import annotations

from attnlab.public.answers import number
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("exercise9")

CACHE = "section 7.6, the KV cache"
READ = "section 7.13, exercise 9"


def _expect(lab: Lab, given: tuple[int, ...], wanted: int, guesses: dict[float, str], **itemsize: int) -> None:
    name = f"max_context({', '.join(map(str, given))}{''.join(f', itemsize={n}' for n in itemsize.values())})"
    found = number(lab.max_context(*given, **itemsize), name)
    if found != wanted:
        guess = guesses.get(found, "") if found.is_integer() else "Whole tokens are asked."
        raise Mistake(f"{name} is {found:g}; by hand it is {wanted}.", guess)


@check("max_context.by_hand", read=CACHE)
def counted_by_hand(lab: Lab) -> None:
    """100 bytes, 20 of them weights, 2 users; a token takes 4 bytes: 10 tokens for each."""
    guesses: dict[float, str] = {
        20: "Keys and values are both kept, and every user has a cache.",
        12: "The weights are in the same memory.",
        7: "The weights are loaded once, not for every user.",
        40: "Each user's tokens are asked, in a memory that all of them share.",
    }
    _expect(lab, (100, 20, 2, 1, 1, 1), 10, guesses)


@check("max_context.factors", read=CACHE, needs=["max_context.by_hand"])
def every_argument_counts(lab: Lab) -> None:
    """More layers, KV heads, wider heads, larger numbers and more users all leave fewer tokens."""
    for given in ((100, 20, 2, 2, 1, 1), (100, 20, 2, 1, 2, 1), (100, 20, 2, 1, 1, 2), (100, 20, 4, 1, 1, 1)):
        _expect(lab, given, 5, {10: "An argument is not used."})
    _expect(lab, (100, 20, 2, 1, 1, 1), 5, {10: "itemsize is not used."}, itemsize=4)


@check("max_context.whole", read=READ, needs=["max_context.by_hand"])
def rounded_down(lab: Lab) -> None:
    """With 107 bytes 7 are left over for no token: still 10; with 108 it is 11."""
    _expect(lab, (107, 20, 2, 1, 1, 1), 10, {11: "Most of a token is no token: round down."})
    _expect(lab, (108, 20, 2, 1, 1, 1), 11, {10: "Memory that is exactly full is enough."})
