"""Part 4, the whole block: ``block`` (section 7.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import random_mask
from autograder.checks.lab07.block_asks import heads_of, named_masks
from autograder.lab import Lab
from autograder.reference import block as truth
from autograder.reference import chapter

check = Task("block_receipts", "whole_block")

#: Inputs have size 1, norms keep them there, and two roundings of each stage are a few hundred u at the worst; a
#: mistake changes the answer by 1e-2 and more.
TOLERANCE = 1e-10


def params_of(rng: np.random.Generator, d: int, *, norm_first: bool, h: int = 2, d_ff: int = 7) -> dict[str, Any]:
    """A block of width ``d`` with ``h`` heads of width 3, and biases as large as the rest."""
    shapes = {"W_o": (3 * h, d), "W1": (d, d_ff), "b1": (d_ff,), "W2": (d_ff, d), "b2": (d,)}
    drawn = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    return {"heads": [tuple(head) for head in heads_of(rng, h, d, 3, 3)], "norm_first": norm_first, **drawn}


def chapters_params() -> dict[str, Any]:
    """The block of section 7.3: attention sees the embeddings as they are."""
    heads = [(chapter.W_Q, chapter.W_K, chapter.W_V), chapter.HEAD_2]
    layer = {"W1": chapter.ASKS.T.copy(), "b1": -chapter.THRESHOLDS, "W2": chapter.WRITES, "b2": np.zeros(4)}
    return {"heads": heads, "W_o": chapter.W_O, "norm_first": False, **layer}


def _block(lab: Lab, x: np.ndarray, params: dict[str, Any], hint: str, mask: np.ndarray | None = None) -> None:
    found = lab.block(x, params, **named_masks(mask))
    compare.agree(found, truth.block(x, params, mask), TOLERANCE, name="block", hint=hint)


@check("block.plain_attention")
def test_block_without_the_first_norm(lab: Lab, rng: np.random.Generator) -> None:
    """Attention, residual, then layer norm, feed-forward and the second residual."""
    # A missing residual, a norm on the stream, a norm of the sublayer's output, and the feed-forward layer fed with the
    # stream itself all give something else.
    hint = "x1 = x + MultiHead(x); then x1 + FFN(LN(x1)): the norm sees the residual sum, and x1 passes by."
    _block(lab, rng.normal(size=(4, 5)), params_of(rng, 5, norm_first=False), hint)


@check("block.norm_first", needs=["block.plain_attention"])
def test_block_with_both_norms(lab: Lab, rng: np.random.Generator) -> None:
    """With `norm_first` attention sees the normalised stream too; the residual does not."""
    hint = "With norm_first, x1 = x + MultiHead(LN(x)); without it, attention sees x as it is."
    for norm_first in (True, False):
        # Rows of uneven size: normalised or not is a large difference.
        x = rng.uniform(0.5, 3.0, size=(4, 1)) * rng.normal(size=(4, 5)) + 1
        _block(lab, x, params_of(rng, 5, norm_first=norm_first), hint)


@check("block.chapter", needs=["block.plain_attention"])
def test_block_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """kedi sütü içti leave the block as the chapter prints them."""
    params = chapters_params()
    _block(lab, chapter.X, params, "Compare stage by stage with section 7.3, from the heads on.")
    # A real pre-norm block on the same sentence, so that a copied table earns nothing.
    _block(lab, chapter.X, {**params, "norm_first": True}, "Here attention sees the normalised embeddings.")


@check("block.mask", needs=["block.plain_attention"])
def test_block_with_a_mask(lab: Lab, rng: np.random.Generator) -> None:
    """The mask reaches attention: hidden tokens change nothing."""
    # With the first norm and without it: a mask that is handed on in one of two branches only.
    for norm_first in (True, False):
        for mask in (np.tri(4, dtype=bool), random_mask(rng, (4, 4))):
            params = params_of(rng, 5, norm_first=norm_first)
            _block(lab, rng.normal(size=(4, 5)), params, "Hand the mask on to the heads, with norm_first or not.", mask)


@check("block.batch", needs=["block.plain_attention"])
def test_block_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes are a batch, and other sizes work as well."""
    for lead, d, h in (((3,), 4, 1), ((2, 2), 3, 3)):
        params = params_of(rng, d, norm_first=True, h=h, d_ff=4)
        _block(lab, rng.normal(size=(*lead, 3, d)), params, "Leading axes of x are a batch.")


@check("block.unchanged", needs=["block.plain_attention"])
def test_block_leaves_x_alone(lab: Lab, rng: np.random.Generator) -> None:
    """x is the same afterwards."""
    # x += … writes into the caller's stream.
    x, params = rng.normal(size=(4, 5)), params_of(rng, 5, norm_first=True)
    kept = lab.kept(x)
    compare.agree(lab.block(kept, params), truth.block(x, params), TOLERANCE, name="block", hint="")
    compare.unchanged("block", ["x"], [kept], [x])
