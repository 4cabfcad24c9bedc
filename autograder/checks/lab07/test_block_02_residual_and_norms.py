"""Part 2, residual and norms: ``layer_norm``, ``rms_norm``, ``pre_norm`` (section 7.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import Floats
from autograder.lab import Lab
from autograder.reference import block as truth
from autograder.reference import chapter

check = Task("block_receipts", "residual_and_norms")


# ---- layer_norm(x, eps=1e-5)
_LAYER = "Along the last axis: take the mean off, divide by √(variance + eps), the variance being a mean over d."


def _layer(lab: Lab, x: np.ndarray, hint: str = _LAYER, **named: float) -> None:
    _layer_agrees(lab.layer_norm(x, **named), x, hint, **named)


def _layer_agrees(found: Any, x: np.ndarray, hint: str, **named: float) -> None:
    spread = float(np.sqrt(x.astype(np.float64).var(axis=-1) + named.get("eps", 1e-5)).min())
    compare.agree(found, truth.layer_norm(x, **named), compare.norm_tolerance(x, spread), name="layer_norm", hint=hint)


def _uneven(rng: np.random.Generator, *shape: int) -> Floats:
    """Rows with a mean well away from 0 and sizes of their own, so that every row needs its own statistics."""
    lead = (*shape[:-1], 1)
    x: Floats = rng.uniform(0.5, 3.0, size=lead) * rng.normal(size=shape) + rng.uniform(1.0, 2.0, size=lead)
    return x


@check("layer_norm.rows")
def test_rows_are_centred_and_scaled(lab: Lab, rng: np.random.Generator) -> None:
    """Every row gets mean 0, and is divided by the root of its own variance."""
    # Four features: dividing by d - 1 instead of d, no root, or no mean show; so do statistics over the whole array.
    _layer(lab, _uneven(rng, 3, 4))
    _layer(lab, _uneven(rng, 5, 7))


@check("layer_norm.chapter", needs=["layer_norm.rows"])
def test_layer_norm_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The residual rows of the chapter give its table."""
    heads = [[chapter.W_Q, chapter.W_K, chapter.W_V], list(chapter.HEAD_2)]
    stream = chapter.X + truth.multi_head(chapter.X, heads, chapter.W_O)["output"]
    _layer(lab, stream, "The table has eps = 1e-5; with 0 six of its twelve cells differ in the fourth decimal.")


@check("layer_norm.eps", needs=["layer_norm.rows"])
def test_eps_is_inside_the_root(lab: Lab, rng: np.random.Generator) -> None:
    """`eps` is added to the variance, inside the root, and is 1e-5 if it is left out."""
    # Rows hardly different from their mean: the variance is about eps, so where it is added decides everything.
    flat = 1.0 + 3e-3 * rng.normal(size=(3, 6))
    _layer(lab, flat, "The variance is about as small as eps here: it counts, and stands inside the root.")
    for eps in (0.5, float(rng.uniform(0.01, 0.1))):
        _layer(lab, rng.normal(size=(3, 6)), "eps is an argument, and stands inside the root.", eps=eps)


@check("layer_norm.constant_row", needs=["layer_norm.rows"])
def test_a_row_of_equal_entries_gives_zeros(lab: Lab, rng: np.random.Generator) -> None:
    """A row whose entries are all equal gives zeros, not NaN."""
    # The variance is 0: this is what eps is there for. A power of two, so that the mean is exact.
    x = np.stack([np.full(4, 2.0), rng.normal(size=4)])
    _layer(lab, x, "Where all entries are equal the variance is 0, and only eps keeps the quotient finite.")


@check("layer_norm.batch", needs=["layer_norm.rows"])
def test_layer_norm_of_batches(lab: Lab, rng: np.random.Generator) -> None:
    """Any number of leading axes: the statistics are those of the last axis alone."""
    # Equal lengths: statistics along another axis keep the shape. One row by itself has one axis.
    for shape in ((4, 4), (3, 3, 3), (2, 2, 3, 5), (6,)):
        _layer(lab, _uneven(rng, *shape), "Only the last axis is a token's own features.")


@check("layer_norm.unchanged", needs=["layer_norm.rows"])
def test_layer_norm_leaves_x_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x is the same afterwards, and may be a strided array."""
    # x -= mean gives the right answer once and spoils the residual that x is added to.
    for layout in ("strided", "c"):
        x = _uneven(rng, 3, 4)
        kept = lab.kept(x, layout)
        _layer_agrees(lab.layer_norm(kept), x, _LAYER)
        compare.unchanged("layer_norm", ["x"], [kept], [x])


# ---- rms_norm(x, weight, eps=1e-5)
_RMS = "x / √(mean of x² + eps) · weight, along the last axis."


def _rms(lab: Lab, x: np.ndarray, weight: np.ndarray, hint: str = _RMS, **named: float) -> None:
    _rms_agrees(lab.rms_norm(x, weight, **named), x, weight, hint, **named)


def _rms_agrees(found: Any, x: np.ndarray, weight: np.ndarray, hint: str, **named: float) -> None:
    size = float(np.sqrt((x.astype(np.float64) ** 2).mean(axis=-1) + named.get("eps", 1e-5)).min())
    tolerance = compare.norm_tolerance(x, size) * max(1.0, float(np.abs(weight).max()))
    compare.agree(found, truth.rms_norm(x, weight, **named), tolerance, name="rms_norm", hint=hint)


@check("rms_norm.no_mean")
def test_rms_norm_takes_no_mean_off(lab: Lab, rng: np.random.Generator) -> None:
    """Every row is divided by the root of its mean square; its mean stays where it is."""
    # Rows with a mean of about their size: centring them first, or dividing by a standard deviation, shows. Random
    # weights: a forgotten or squared one shows too.
    for shape in ((3, 4), (5, 7)):
        _rms(lab, _uneven(rng, *shape), rng.normal(size=shape[-1]), f"{_RMS} No mean is taken off.")


@check("rms_norm.weight", needs=["rms_norm.no_mean"])
def test_every_feature_has_its_weight(lab: Lab, rng: np.random.Generator) -> None:
    """Feature j is multiplied by weight j, in every row."""
    # As many rows as features: weights that are put on the rows have a fitting shape.
    _rms(lab, rng.normal(size=(4, 4)), np.array([1.0, -2.0, 0.0, 3.0]), "weight belongs to the features, not the rows.")
    _rms(lab, rng.normal(size=(3, 5)), 1 + rng.normal(size=5))


@check("rms_norm.eps", needs=["rms_norm.no_mean"])
def test_rms_eps_is_inside_the_root(lab: Lab, rng: np.random.Generator) -> None:
    """`eps` is added to the mean square, inside the root; a row of zeros gives zeros."""
    # Entries of about 3e-3: their mean square is as small as eps.
    small = np.vstack([3e-3 * rng.normal(size=(2, 6)), np.zeros((1, 6))])
    _rms(lab, small, rng.normal(size=6), "The mean square is about as small as eps here, so its place counts.")
    _rms(lab, rng.normal(size=(3, 6)), rng.normal(size=6), "eps is an argument.", eps=float(rng.uniform(0.1, 0.5)))


@check("rms_norm.batch", needs=["rms_norm.no_mean"])
def test_rms_norm_of_batches(lab: Lab, rng: np.random.Generator) -> None:
    """Any number of leading axes: each row is scaled by itself."""
    for shape in ((3, 3, 3), (2, 2, 3, 5), (6,)):
        _rms(lab, _uneven(rng, *shape), rng.normal(size=shape[-1]), "Only the last axis is a token's own features.")


@check("rms_norm.unchanged", needs=["rms_norm.no_mean"])
def test_rms_norm_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x and the weights are the same afterwards."""
    x, weight = _uneven(rng, 3, 4), rng.normal(size=4)
    kept = [lab.kept(x), lab.kept(weight)]
    _rms_agrees(lab.rms_norm(*kept), x, weight, _RMS)
    compare.unchanged("rms_norm", ("x", "weight"), kept, (x, weight))


# ---- pre_norm(x, norm, sublayer)
class Stage:
    """A function that is handed to a submission."""

    def __init__(self, scale: float, shift: float) -> None:
        self.scale, self.shift = scale, shift

    def __call__(self, x: Any) -> Floats:
        """Neither linear nor its own inverse, so that the order of two of them shows."""
        rows = np.asarray(x, np.float64)
        if rows.size > 1000:
            raise ValueError("this is not the array that pre_norm was given")
        return self.value(rows)

    def value(self, rows: Floats) -> Floats:
        return np.tanh(self.scale * rows) + self.shift


def _pre(lab: Lab, x: Floats, hint: str) -> None:
    norm, sublayer = Stage(0.7, 0.4), Stage(1.3, -0.2)
    found = lab.pre_norm(x, norm, sublayer)
    expected = x + sublayer.value(norm.value(x))
    compare.agree(found, expected, 1e-13 * (1 + float(np.abs(x).max())), name="pre_norm", hint=hint)


@check("pre_norm.order")
def test_the_norm_is_on_the_branch(lab: Lab, rng: np.random.Generator) -> None:
    """The sublayer sees the normalised x, and its answer is added to x as it came."""
    # Post-norm, a norm on the stream as well, and a residual that is forgotten all give something else.
    _pre(lab, rng.normal(size=(3, 4)), "x + sublayer(norm(x)): the norm is on the branch, and x itself passes by.")


@check("pre_norm.shapes", needs=["pre_norm.order"])
def test_pre_norm_of_any_shape(lab: Lab, rng: np.random.Generator) -> None:
    """x may have any number of axes."""
    for shape in ((5,), (2, 3, 4)):
        _pre(lab, rng.normal(size=shape), "Nothing here depends on the number of axes.")


@check("pre_norm.unchanged", needs=["pre_norm.order"])
def test_the_stream_is_not_written_over(lab: Lab, rng: np.random.Generator) -> None:
    """x is the same afterwards: the stream that others read is not written over."""
    # x += … changes the caller's residual stream.
    x, norm, sublayer = rng.normal(size=(3, 4)), Stage(0.7, 0.4), Stage(1.3, -0.2)
    kept = lab.kept(x)
    found = lab.pre_norm(kept, norm, sublayer)
    compare.agree(found, x + sublayer.value(norm.value(x)), 1e-13 * 10, name="pre_norm", hint="")
    compare.unchanged("pre_norm", ["x"], [kept], [x])
