"""Part 11, why √d_k: ``two_key_weight``, ``entropy``, ``scaling_sweep`` (article, section 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab
from autograder.reference import block as truth

check = Task("block_receipts", "why_sqrt_dk")

#: A weight and an entropy of at most ln 8 are rounded a few times; ``log(w + 1e-12)`` is as good a way past 0·log 0.
TOLERANCE = 1e-10

# ---- two_key_weight(gap)
_GAP = "The higher of two keys gets 1 / (1 + exp(-gap))."


@check("two_key_weight.number")
def test_weight_of_the_higher_key(lab: Lab, rng: np.random.Generator) -> None:
    """One gap gives one weight, between a half and 1."""
    # The weight of the lower key, a gap that is squared or halved, and a table of the article's gaps show.
    for gap in (float(rng.uniform(0.2, 3.0)), float(rng.uniform(3.0, 9.0)), 0.0):
        found = compare.number(lab.two_key_weight(gap), "the weight")
        compare.agree(found, float(truth.two_key_weight(gap)), TOLERANCE, name="the weight", hint=_GAP)


@check("two_key_weight.array", needs=["two_key_weight.number"])
def test_weights_of_many_gaps(lab: Lab, rng: np.random.Generator) -> None:
    """An array of gaps gives an array of weights of its shape; the article's five are among them."""
    for gaps in (np.array([1.0, 2.0, 4.0, 8.0, 16.0]), rng.uniform(0, 5, size=(2, 3))):
        expected = truth.two_key_weight(gaps)
        compare.agree(lab.two_key_weight(gaps), expected, TOLERANCE, name="the weights", hint=_GAP)


@check("two_key_weight.unchanged", needs=["two_key_weight.array"])
def test_gaps_are_left_alone(lab: Lab, rng: np.random.Generator) -> None:
    """An array of gaps is the same afterwards."""
    # gap *= -1 gives the right weights once.
    gaps = rng.uniform(0, 5, size=4)
    kept = lab.kept(gaps)
    compare.agree(lab.two_key_weight(kept), truth.two_key_weight(gaps), TOLERANCE, name="the weights", hint=_GAP)
    compare.unchanged("two_key_weight", ["gap"], [kept], [gaps])


@check("two_key_weight.huge", needs=["two_key_weight.number"])
def test_weight_of_a_huge_gap(lab: Lab, rng: np.random.Generator) -> None:
    """A gap of a thousand gives 1, not NaN."""
    # exp(gap) / (1 + exp(gap)) is inf / inf from a gap of 710 on.
    for gap in (1000.0, float(rng.uniform(1, 2))):
        found = compare.number(lab.two_key_weight(gap), "the weight")
        hint = "exp of a large gap overflows; exp of minus the gap does not."
        compare.agree(found, float(truth.two_key_weight(gap)), TOLERANCE, name="the weight", hint=hint)


# ---- entropy(weights)
_NATS = "Minus the sum of w · ln w over the last axis, in nats."


def _entropy(lab: Lab, weights: np.ndarray, hint: str = _NATS) -> None:
    compare.agree(lab.entropy(weights), truth.entropy(weights), TOLERANCE, name="entropy", hint=hint)


@check("entropy.rows")
def test_entropy_of_each_row(lab: Lab, rng: np.random.Generator) -> None:
    """How spread out each row of weights is, in nats."""
    # Bits, a mean in place of the sum, the wrong sign, and one number for all rows show.
    _entropy(lab, rng.dirichlet(np.ones(5), size=3))
    _entropy(lab, rng.dirichlet(np.ones(4), size=4), "Along the last axis: one number for each row.")


@check("entropy.ends", needs=["entropy.rows"])
def test_entropy_of_one_hot_and_even_rows(lab: Lab, rng: np.random.Generator) -> None:
    """All on one key is 0, evenly shared is ln n, and a weight of 0 adds nothing."""
    # 0 · log 0 is NaN in floating point.
    hint = "A weight of 0 adds nothing; log of it must not be taken."
    _entropy(lab, np.array([[0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.0, 0.5, 0.0]]), hint)
    _entropy(lab, np.full((2, 12), 1 / 12), f"Evenly over 12 it is ln 12. {_NATS}")


@check("entropy.batch", needs=["entropy.rows"])
def test_entropy_of_any_axes(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes stay; one row alone gives one number."""
    for lead in ((2, 3), (3, 3, 3), ()):
        _entropy(lab, rng.dirichlet(np.ones(3), size=lead or None), "The last axis goes, the others stay.")


@check("entropy.of_softmax", needs=["entropy.rows"])
def test_entropy_of_tiny_weights(lab: Lab, rng: np.random.Generator) -> None:
    """Weights as small as 1e-300 are weights: they add next to nothing, and nothing breaks."""
    rest = float(rng.uniform(0.2, 0.8))
    _entropy(lab, np.array([rest, 1 - rest, 1e-300, 5e-324]), f"{_NATS} ln(1e-300) is finite.")
    _entropy(lab, np.array([1.0]), "A single weight of 1 has an entropy of 0.")


@check("entropy.unchanged", needs=["entropy.rows"])
def test_entropy_leaves_the_weights_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The weights are the same afterwards, zeros among them."""
    # A 1 that is written over every 0, so that its logarithm can be taken, gives the right entropy once.
    weights = np.vstack([rng.dirichlet(np.ones(4), size=2), [0.0, 0.25, 0.0, 0.75]])
    kept = lab.kept(weights)
    compare.agree(lab.entropy(kept), truth.entropy(weights), TOLERANCE, name="entropy", hint=_NATS)
    compare.unchanged("entropy", ["weights"], [kept], [weights])


# ---- scaling_sweep(batches)
_KEYS = ("logit_std", "max_weight_unscaled", "entropy_unscaled", "max_weight_scaled", "entropy_scaled")


def _batch(rng: np.random.Generator, trials: int, n_keys: int, d_k: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(trials, d_k)), rng.normal(size=(trials, n_keys, d_k))


def _sweep(lab: Lab, batches: Sequence[tuple[np.ndarray, np.ndarray]], keys: Sequence[str], hint: str) -> None:
    _swept(lab.scaling_sweep(list(batches)), batches, keys, hint)


def _swept(found: Any, batches: Sequence[tuple[np.ndarray, np.ndarray]], keys: Sequence[str], hint: str) -> None:
    if not isinstance(found, list) or len(found) != len(batches):
        raise CheckFailed(
            f"scaling_sweep should give a list with one mapping for each batch; {compare.described(found)} came back."
        )
    for row, (queries, key_vectors) in zip(found, batches, strict=True):
        measured = compare.mapping(row, keys, "a row of scaling_sweep")
        expected = truth.sweep(queries, key_vectors)
        for key in keys:
            # A logit of size 100 is rounded by 1e-14, a weight by as large a share.
            tolerance = 1e-10 * max(1.0, expected["logit_std"])
            compare.agree(compare.number(measured[key], key), expected[key], tolerance, name=key, hint=hint)


@check("scaling_sweep.weights")
def test_weights_with_and_without_the_scale(lab: Lab, rng: np.random.Generator) -> None:
    """For each batch: the mean largest weight and the mean entropy, with the scores as they are and over √d_k."""
    # Two widths, neither 1: scaled and unscaled exchanged, d_k for its root, and the scale of the other batch show.
    hint = "Each query against its own keys; softmax over the keys; means over the trials; scaled is over √d_k."
    _sweep(lab, [_batch(rng, 6, 4, 3), _batch(rng, 5, 8, 16)], _KEYS[1:], hint)


@check("scaling_sweep.logit_std")
def test_spread_of_the_scores(lab: Lab, rng: np.random.Generator) -> None:
    """The standard deviation of all scores of a batch, before they are scaled."""
    # Few scores: dividing by one less, a mean of the trials' own deviations, and the scaled scores' spread show.
    hint = "One deviation over all q·k of the batch (divided by their number), not over one trial, and unscaled."
    _sweep(lab, [_batch(rng, 3, 2, 5), _batch(rng, 4, 3, 9)], _KEYS[:1], hint)


@check("scaling_sweep.article", needs=["scaling_sweep.weights"])
def test_sweep_of_the_article(lab: Lab, rng: np.random.Generator) -> None:
    """Entropy falls towards 0 without the scale as d_k grows to 1,024, and stays where it is with it."""
    # One query and key of a width of 1,024 have scores of size 100, where a softmax that is not shifted still fits.
    batches = [_batch(rng, 8, 8, d_k) for d_k in (4, 64, 1024)]
    _sweep(lab, batches, _KEYS[1:], "Compare with the table in section 11 of the article.")


@check("scaling_sweep.one_key", needs=["scaling_sweep.weights"])
def test_sweep_of_odd_sizes(lab: Lab, rng: np.random.Generator) -> None:
    """One trial, and one key alone."""
    _sweep(lab, [_batch(rng, 1, 5, 2), _batch(rng, 4, 1, 3)], _KEYS[1:], "With one key its weight is 1 and H is 0.")


@check("scaling_sweep.large", needs=["scaling_sweep.weights"])
def test_sweep_of_large_scores(lab: Lab, rng: np.random.Generator) -> None:
    """Scores in the thousands come out finite, with and without the scale."""
    # exp overflows at 710: the largest score of each trial has to be taken off first.
    batches = [(300.0 * queries, keys) for queries, keys in (_batch(rng, 4, 3, 16), _batch(rng, 3, 5, 4))]
    hint = "Take the largest score of each trial off before exp; a weight of 0 adds nothing to the entropy."
    _sweep(lab, batches, _KEYS[1:], hint)


@check("scaling_sweep.unchanged", needs=["scaling_sweep.weights"])
def test_sweep_leaves_the_batches_alone(lab: Lab, rng: np.random.Generator) -> None:
    """Queries and keys of every batch are the same afterwards."""
    # queries /= √d_k scales them for the caller too, and a second batch that is the first again comes out otherwise.
    queries, keys = _batch(rng, 4, 3, 5)
    kept = lab.kept(queries), lab.kept(keys)
    _swept(lab.scaling_sweep([kept, kept]), [(queries, keys)] * 2, _KEYS[1:], "Here both batches are the same.")
    compare.unchanged("scaling_sweep", ("queries", "keys"), kept, (queries, keys))
