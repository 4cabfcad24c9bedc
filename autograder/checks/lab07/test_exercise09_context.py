"""Exercise 9, ``max_context``: the longest context that memory allows (sections 7.6 and 7.13)."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import exercises as truth
from autograder.reference.attention import kv_cache_bytes

check = Task("exercises", "exercise9")

#: Bytes of the node's four cards and of the weights, and what the exercise serves.
NODE, WEIGHTS = 320 * 10**9, 140 * 10**9
USERS, LAYERS, HEAD_DIM = 4, 80, 128

#: Users, layers, KV heads, head width.
Shape = tuple[int, int, int, int]


def _expect(lab: Lab, memory: int, weights: int, shape: Shape, hint: str, **named: int) -> None:
    """Whole tokens: an int, or a float without anything behind its point, as ``//`` of floats gives."""
    name = "the number of tokens"
    found = compare.whole(lab.max_context(memory, weights, *shape, **named), name)
    expected = truth.max_context(memory, weights, *shape, **named)
    if found != expected:
        way = "more tokens than fit" if found > expected else "fewer tokens than would fit"
        raise CheckFailed(f"max_context gives {way}. {hint}")


def _case(rng: np.random.Generator, shape: Shape, itemsize: int = 2) -> tuple[int, int]:
    """Memory and weights that leave room for some thousand tokens and most of another one.

    Well away from a whole token on both sides, so that right code in floating point cannot fall over the edge, while
    rounding and rounding up give one token more.
    """
    token = _token(shape, itemsize)
    weights = int(rng.integers(10**9, 10**11)) * 2 + 1
    return weights + int((int(rng.integers(1000, 5000)) + rng.uniform(0.6, 0.9)) * token), weights


def _token(shape: Shape, itemsize: int = 2) -> int:
    """Bytes that one more token takes, of all users together."""
    users, *cache = shape
    return users * kv_cache_bytes(cache[0], cache[1], cache[2], 1, itemsize)


def _shape(rng: np.random.Generator) -> Shape:
    """Four different numbers, so that none can stand for another."""
    users, layers, kv_heads, head_dim = (int(i) for i in rng.permutation(15)[:4] + 3)
    return users, layers, kv_heads, head_dim


@check("max_context.chapter")
def test_context_of_the_exercise(lab: Lab) -> None:
    """The node of the exercise with 64 KV heads, and with 8: eight times as many tokens."""
    for kv_heads in (64, 8):
        hint = "320 GB less 140 GB of weights, shared by four users; a token takes 2 · 80 · KV heads · 128 · 2 bytes."
        _expect(lab, NODE, WEIGHTS, (USERS, LAYERS, kv_heads, HEAD_DIM), hint)


@check("max_context.formula")
def test_context_of_any_model(lab: Lab, rng: np.random.Generator) -> None:
    """Other models and other nodes."""
    # Four different numbers for the shape: a factor that is missing, squared, or written in from the exercise.
    for _ in range(3):
        shape = _shape(rng)
        memory, weights = _case(rng, shape)
        hint = "Keys and values, every layer and KV head, head_dim numbers of 2 bytes each."
        _expect(lab, memory, weights, shape, hint)


@check("max_context.users", needs=["max_context.formula"])
def test_every_user_has_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """Every user has a cache of their own; the weights are there once."""
    # One user hides both mistakes; with many, weights per user leave less than nothing.
    for users in (1, 2, 50):
        shape = (users, *_shape(rng)[1:])
        memory, weights = _case(rng, shape)
        hint = "First take the weights off the memory, once; then share what is left among the users."
        _expect(lab, memory, weights, shape, hint)


@check("max_context.whole_tokens", needs=["max_context.formula"])
def test_tokens_are_whole(lab: Lab, rng: np.random.Generator) -> None:
    """A token that does not fit as a whole does not fit; memory that is exactly full is enough."""
    # Users are a power of two here, so that right code in floating point divides without a remainder.
    shape = (4, *_shape(rng)[1:])
    for _ in range(2):
        _expect(lab, *_case(rng, shape), shape, "Most of a token is no token: round down, never to the nearest.")
    full = int(rng.integers(1000, 5000)) * _token(shape)
    _expect(lab, 10**9 + full, 10**9, shape, "The memory is exactly full here, and that fits.")


@check("max_context.itemsize", needs=["max_context.formula"])
def test_bytes_of_a_cached_number(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one cached number: 1, 2 or 4; it is 2 when left out."""
    # An itemsize that is applied to the weights as well: they are in bytes already.
    for itemsize in (1, 4, 2):
        shape = _shape(rng)
        memory, weights = _case(rng, shape, itemsize)
        hint = "Only the cached numbers take itemsize bytes; the weights are given in bytes."
        _expect(lab, memory, weights, shape, hint, itemsize=itemsize)


@check("max_context.much_room", needs=["max_context.formula"])
def test_context_of_a_small_model(lab: Lab, rng: np.random.Generator) -> None:
    """A small model on a large machine: millions of tokens are counted, not capped; little room gives few."""
    shape = _shape(rng)
    token = _token(shape)
    weights = int(rng.integers(10**6, 10**8)) * 2 + 1
    for tokens in (int(rng.integers(10**6, 10**7)), int(rng.integers(2, 9)), 0):
        memory = weights + tokens * token + token // 2
        _expect(lab, memory, weights, shape, "Nothing but memory limits the length here.")
