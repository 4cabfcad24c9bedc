"""Hidden checks of step 7, in the order in which a report shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import attention as reference
from autograder.reference.devices import Array

check = Task("attention_lab", "step7")

#: Relative tolerance of a gap. The functions below are exact to about 1e-15, and the smallest gap asked for is 1e-8.
CLOSE = 1e-5


def expect_mask(lab: Lab, n_q: int, n_k: int | None = None, hint: str = "") -> None:
    """The mask of these sizes, whatever kind of number it is made of."""
    found = lab.causal_mask(n_q) if n_k is None else lab.causal_mask(n_q, n_k=n_k)
    shape = (n_q, n_q if n_k is None else n_k)
    mask = compare.array(found, shape, name="the mask")
    wrong = mask != reference.causal_mask(*shape)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise CheckFailed(
            f"The mask {shape} is not right: {int(wrong.sum())} of {wrong.size} entries are off, the first at row "
            f"{row}, column {column}. {hint or 'True means: query i may attend to key j.'}"
        )


@check("causal_mask.square")
def test_square_mask(lab: Lab, rng: np.random.Generator) -> None:
    """With one number the mask is square: every token sees itself and all tokens before it."""
    # The diagonal left out, one token too far, or the mask the other way round show from n = 2 on.
    for n in (1, 2, 5, int(rng.integers(7, 14))):
        expect_mask(lab, n, hint="Row i is True up to and including column i (section 7.5).")


@check("causal_mask.boolean", needs=["causal_mask.square"])
def test_mask_is_boolean(lab: Lab, rng: np.random.Generator) -> None:
    """The mask holds booleans, not ones and zeros."""
    # As integers, ~mask and mask indexing do something else, and PyTorch adds a float mask to the scores.
    n = int(rng.integers(3, 8))
    for n_k in (n, n + 2):
        mask = compare.boolean(lab.causal_mask(n, n_k=n_k), (n, n_k), "the mask")
        if not np.array_equal(mask, reference.causal_mask(n, n_k)):
            raise CheckFailed("The mask is boolean, but not the causal one; True means: may attend.")


@check("causal_mask.one_query")
def test_one_query_sees_every_key(lab: Lab, rng: np.random.Generator) -> None:
    """A single query after many keys is the newest token: it sees every key."""
    # Aligned at the upper left it would see the first key only: the trap of decoding with a cache.
    expect_mask(lab, 1, int(rng.integers(4, 12)), "The last query is the newest token and sees all keys.")
    # Beside it a square one, so that a mask of nothing but True earns nothing.
    expect_mask(lab, 3, 3)


@check("causal_mask.lower_right", needs=["causal_mask.square"])
def test_mask_is_aligned_at_the_lower_right(lab: Lab, rng: np.random.Generator) -> None:
    """With more keys than queries the queries are the last positions: the last one sees every key."""
    for n_q, extra in (
        (2, 1),
        (3, int(rng.integers(2, 9))),
        (int(rng.integers(4, 9)), int(rng.integers(10, 20))),
    ):
        expect_mask(lab, n_q, n_q + extra, "Earlier keys come from a cache: query i stands at position n_k - n_q + i.")
    # n_k given and equal to n_q is the square mask again.
    expect_mask(lab, 4, 4)


@check("causal_mask.blocks", needs=["causal_mask.lower_right"])
def test_masks_of_blocks_make_up_the_whole(lab: Lab, rng: np.random.Generator) -> None:
    """Block after block, each with the keys so far, the rows are those of the square mask; nothing is remembered."""
    # A mask kept from an earlier call, or for another size, shows on the way through.
    sizes = [int(t) for t in rng.permutation([1, 2, 3, 5])]
    seen = 0
    for t in sizes:
        seen += t
        expect_mask(lab, t, seen)
    expect_mask(lab, sizes[-1])
    expect_mask(lab, sizes[-1], seen)


class Layer:
    """A function ``(n, d)`` → ``(n, width)`` for ``prefix_gap``: causal, but for a leak.

    Row i is a mix of tokens 0 … i, the same computation at every length. ``leak`` is added to it:
    ``leak(i, X)`` gives a number or a row of ``width``.
    """

    def __init__(self, rng: np.random.Generator, d: int, width: int, leak: Any = lambda i, X: 0.0) -> None:
        self._mix, self._d, self._leak = rng.normal(size=(d, width)), d, leak

    def __call__(self, X: Any) -> Array:
        if not isinstance(X, np.ndarray) or X.ndim != 2 or X.shape[1] != self._d or not 0 < len(X) <= 100:
            raise ValueError(f"fn takes an array (n, {self._d})")
        X = X.astype(np.float64)
        causal = [np.tanh(X[: i + 1] @ self._mix).sum(axis=0) / (i + 1) for i in range(len(X))]
        return np.array([row + self._leak(i, X) for i, row in enumerate(causal)])


def expect_gap(lab: Lab, layer: Layer, X: Any, x_new: Any, hint: str = "") -> None:
    """``prefix_gap`` of this layer; both sides read the same numbers, ``X`` may be kept in the sandbox."""
    plain = [a.read() if hasattr(a, "read") else a for a in (X, x_new)]
    truth = reference.prefix_gap(layer, *plain)
    found = compare.number(lab.prefix_gap(layer, X, x_new), "the gap")
    compare.agree(found, truth, CLOSE * truth + 1e-13, name="the gap", hint=hint)


def tokens(rng: np.random.Generator, n: int, d: int) -> tuple[Array, Array]:
    """``X (n, d)`` and ``x_new (d,)``."""
    return rng.normal(size=(n, d)), rng.normal(size=d)


@check("prefix_gap.causal_and_leaking")
def test_gap_of_a_causal_and_of_a_leaking_function(lab: Lab, rng: np.random.Generator) -> None:
    """Appending a token leaves a causal function's earlier outputs alone and changes a leaking one's by the gap."""
    # The leak is the mean of all tokens, like attention without a mask. Comparing shifted rows, replacing the
    # last token, or putting the new one in front changes the outputs of the causal function too.
    X, x_new = tokens(rng, 5, 3)
    expect_gap(lab, Layer(rng, 3, 2), X, x_new, "This function is causal: nothing before the new token may change.")
    leaking = Layer(rng, 3, 2, lambda i, X: X.mean(axis=0)[:2])
    expect_gap(lab, leaking, X, x_new, "Compare the first n rows with and without the new token: the largest change.")


@check("prefix_gap.new_token", needs=["prefix_gap.causal_and_leaking"])
def test_gap_depends_on_the_new_token(lab: Lab, rng: np.random.Generator) -> None:
    """It is `x_new` that is appended, as the last row: a leak may come from this row only."""
    # Row i sees the last token of the sequence, whatever it is: a row of zeros or a copy gives another gap.
    X, x_new = tokens(rng, 4, 3)
    layer = Layer(rng, 3, 3, lambda i, X: 0.3 * X[-1])
    for new in (x_new, 5 * x_new):
        expect_gap(lab, layer, X, new, "Append x_new itself, and nothing else.")


@check("prefix_gap.one_row", needs=["prefix_gap.causal_and_leaking"])
def test_leak_in_one_row_is_seen(lab: Lab, rng: np.random.Generator) -> None:
    """A leak in one row and one column only is the gap: the largest change counts, not the mean."""
    # First, middle and last row: the last of the old rows is the one that a wrong slice drops.
    X, x_new = tokens(rng, 6, 3)
    for row in (0, 3, 5):
        # Downwards in one, so that a signed maximum shows.
        leak = np.array([0.0, -0.7, 0.0, 0.0]) if row == 3 else np.array([0.0, 0.0, 0.0, 0.7])
        layer = Layer(rng, 3, 4, lambda i, X, row=row, leak=leak: leak * (i == row) * abs(X[-1, 0] - X[0, 0]))
        expect_gap(lab, layer, X, x_new, "Take the largest absolute change over all n rows and all columns.")


@check("prefix_gap.small_leak", needs=["prefix_gap.causal_and_leaking"])
def test_small_leak_is_not_rounded_away(lab: Lab, rng: np.random.Generator) -> None:
    """A leak of a millionth is a leak, and the gap is absolute: not divided by the size of the outputs."""
    for size, scale in ((3e-6, 1.0), (2e-8, 1.0), (0.4, 50.0)):
        X, x_new = tokens(rng, 5, 2)
        layer = Layer(rng, 2, 2, lambda i, X, s=size, c=scale: c * i + s * X[-1] * (i == 2))
        expect_gap(lab, layer, X, x_new, "Give the change as it is: nothing rounded, nothing divided.")


@check("prefix_gap.nan", needs=["prefix_gap.causal_and_leaking"])
def test_nan_is_never_a_small_gap(lab: Lab, rng: np.random.Generator) -> None:
    """If an output becomes NaN, the gap is NaN."""
    # All rows, then the first alone: nanmax gives up on the first kind only, nan_to_num calls both perfect.
    X, x_new = tokens(rng, 4, 2)
    for first_row_only in (False, True):
        layer = Layer(
            rng,
            2,
            2,
            lambda i, X, only=first_row_only: np.nan if len(X) > 4 and not (only and i) else 0.1 * X[-1],
        )
        found = compare.number(lab.prefix_gap(layer, X, x_new), "the gap")
        if not np.isnan(found):
            raise CheckFailed(
                "After the token was appended, outputs were NaN, and the gap came back as a number. A function that "
                "fails must not look causal: let NaN give NaN."
            )
    # Without NaN the same kind of function has a number for a gap.
    expect_gap(lab, Layer(rng, 2, 2, lambda i, X: 0.1 * X[-1]), X, x_new)


@check("prefix_gap.one_token", needs=["prefix_gap.causal_and_leaking"])
def test_gap_of_a_single_token(lab: Lab, rng: np.random.Generator) -> None:
    """A sequence of one token has one earlier output, and it can leak."""
    X, x_new = tokens(rng, 1, 4)
    expect_gap(lab, Layer(rng, 4, 1), X, x_new)
    expect_gap(lab, Layer(rng, 4, 1, lambda i, X: X.sum()), X, x_new)


@check("prefix_gap.inputs_unchanged", needs=["prefix_gap.causal_and_leaking"])
def test_inputs_are_left_alone(lab: Lab, rng: np.random.Generator) -> None:
    """`X` and `x_new` are not modified, and a second call gives the same gap."""
    before = tokens(rng, 5, 3)
    X, x_new = lab.kept(before[0].copy()), lab.kept(before[1].copy())
    layer = Layer(rng, 3, 3, lambda i, X: X.mean(axis=0))
    for _ in range(2):
        expect_gap(lab, layer, X, x_new)
    for name, kept, old in (("X", X, before[0]), ("x_new", x_new, before[1])):
        if not np.array_equal(kept.read(), old):
            raise CheckFailed(f"{name} was changed by prefix_gap; work on a copy.")
