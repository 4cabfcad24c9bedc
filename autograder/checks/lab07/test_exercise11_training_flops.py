"""Exercise 11, ``training_flops``: 6ND (sections 7.8 and 7.13)."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.lab import Lab
from autograder.reference import exercises as truth

check = Task("exercises", "exercise11")

#: Parameters and tokens of the two models, as the table of section 7.8 prints them.
GOPHER, CHINCHILLA = (280 * 10**9, 300 * 10**9), (70 * 10**9, 1400 * 10**9)
RULE = "6 FLOPs for each parameter and token: 2 forward (a multiplication and an addition), 4 backward."


def _expect(lab: Lab, parameters: int, tokens: int, hint: str = RULE) -> None:
    """A product, as any kind of number."""
    found = lab.training_flops(parameters, tokens)
    compare.close(found, truth.training_flops(parameters, tokens), name="training_flops", hint=hint)


@check("training_flops.chapter")
def test_compute_of_both_models(lab: Lab) -> None:
    """Gopher and Chinchilla: near each other, and not equal."""
    # Both, so that "the same budget" for the two is wrong.
    for parameters, tokens in (GOPHER, CHINCHILLA):
        _expect(lab, parameters, tokens)


@check("training_flops.formula")
def test_compute_of_any_model(lab: Lab, rng: np.random.Generator) -> None:
    """Any number of parameters and tokens."""
    for _ in range(3):
        _expect(lab, int(rng.integers(10**8, 10**11)), int(rng.integers(10**9, 10**12)))


@check("training_flops.each_argument", needs=["training_flops.formula"])
def test_compute_grows_with_both(lab: Lab, rng: np.random.Generator) -> None:
    """Twice the parameters, or twice the tokens, is twice the compute."""
    # Tokens taken from a rule (20 per parameter), a square, a sum.
    parameters, tokens = (int(i) for i in rng.integers(10**6, 10**8, size=2))
    for doubled in ((1, 1), (2, 1), (1, 2)):
        _expect(lab, parameters * doubled[0], tokens * doubled[1])


@check("training_flops.large", needs=["training_flops.formula"])
def test_compute_beyond_64_bits(lab: Lab, rng: np.random.Generator) -> None:
    """Products beyond 64 bits come out right and positive."""
    # 64-bit integers of NumPy wrap around at 9.2e18.
    for _ in range(2):
        hint = "The product is too large for 64 bits; Python's own integers and floats hold it."
        _expect(lab, int(rng.integers(10**12, 10**13)), int(rng.integers(10**13, 10**14)), hint)


@check("training_flops.small", needs=["training_flops.formula"])
def test_compute_of_a_toy(lab: Lab, rng: np.random.Generator) -> None:
    """A toy with one parameter and a few tokens: the formula has no unit of its own."""
    # Answers in units of 10^21, or in petaflop-days.
    _expect(lab, 1, int(rng.integers(2, 9)), "FLOPs are asked, not units of 10^21 or days.")
    _expect(lab, int(rng.integers(3, 99)), 7)
