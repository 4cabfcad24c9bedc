"""Part 1, two heads: ``self_attention``, ``split_heads``, ``merge_heads``, ``multi_head`` (section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import layer, random_mask
from autograder.checks.lab07.block_asks import heads_of, heads_tolerance, named_masks
from autograder.lab import Lab
from autograder.reference import block as truth
from autograder.reference import chapter
from autograder.reference.attention import self_attention

check = Task("block_receipts", "multi_head")


# ---- self_attention(X, W_q, W_k, W_v, mask=None) -> (output, weights)
def _attend(lab: Lab, inputs: Sequence[np.ndarray], mask: np.ndarray | None = None) -> None:
    _attended(lab.self_attention(*inputs, **named_masks(mask)), inputs, mask)


def _attended(answer: Any, inputs: Sequence[np.ndarray], mask: np.ndarray | None) -> None:
    output, weights = compare.pair(answer, "output", "weights")
    X, W_q, W_k, W_v = inputs
    expected, expected_weights = self_attention(X, W_q, W_k, W_v, mask)
    Q, K, V = (np.abs(X) @ np.abs(W) for W in (W_q, W_k, W_v))
    hint = "softmax(Q Kᵀ/√d_k) V with Q = X W_q and so on, as in step 1 of the lab."
    compare.agree(output, expected, compare.attention_tolerance(Q, K, V), name="output", hint=hint)
    compare.agree(weights, expected_weights, compare.weights_tolerance(Q, K), name="weights", hint=hint)


@check("self_attention.widths")
def test_self_attention_of_three_widths(lab: Lab, rng: np.random.Generator) -> None:
    """One head: scores by √d_k, a softmax over the keys, and values of any width."""
    # d_model, d_k and d_v all differ: a scale from the wrong width and a projection used twice show.
    _attend(lab, layer(rng, (), 4, 5, 3, 2))


@check("self_attention.batch", needs=["self_attention.widths"])
def test_self_attention_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes are a batch."""
    # batch == n: a softmax or a transpose over the wrong axis keeps the shape.
    _attend(lab, layer(rng, (3,), 3, 4, 2, 3))


@check("self_attention.mask", needs=["self_attention.widths"])
def test_self_attention_with_a_mask(lab: Lab, rng: np.random.Generator) -> None:
    """A mask hides keys: True means may attend."""
    # One mask, one for each member of the batch, one for all of them, and one row for every query: a mask that is
    # applied only where it has two axes is lost in three of these.
    for lead, shape in (((), (4, 4)), ((3,), (3, 4, 4)), ((3,), (4, 4)), ((2,), (4,))):
        _attend(lab, layer(rng, lead, 4, 4, 3, 2), random_mask(rng, shape))


@check("self_attention.large", needs=["self_attention.widths"])
def test_self_attention_of_large_scores(lab: Lab, rng: np.random.Generator) -> None:
    """Scores in the thousands give finite weights."""
    # exp overflows at 710; and with one maximum for the whole array, rows far below it are 0 / 0. Six rows, so that
    # some are.
    X, W_q, W_k, W_v = layer(rng, (), 6, 4, 3, 2)
    _attend(lab, [X, 1000.0 * W_q, W_k, W_v])


@check("self_attention.unchanged", needs=["self_attention.widths"])
def test_self_attention_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X, the projections and the mask are the same afterwards."""
    # X *= … and a mask that is turned round in place give the right answer once.
    inputs, mask = layer(rng, (), 4, 5, 3, 2), random_mask(rng, (4, 4))
    *kept, kept_mask = (lab.kept(array) for array in (*inputs, mask))
    _attended(lab.self_attention(*kept, mask=kept_mask), inputs, mask)
    compare.unchanged("self_attention", ("X", "W_q", "W_k", "W_v", "mask"), [*kept, kept_mask], [*inputs, mask])


# ---- split_heads(x, h), merge_heads(x)
_COLUMNS = "Head i owns the neighbouring columns i·w to (i+1)·w - 1 of every token."


def _split(lab: Lab, x: np.ndarray, h: int, hint: str = _COLUMNS) -> None:
    # Values are only moved, so they come out exactly.
    compare.agree(lab.split_heads(x, h), truth.split_heads(x, h), 0.0, name="heads", hint=hint)


def _merge(lab: Lab, x: np.ndarray, hint: str) -> None:
    compare.agree(lab.merge_heads(x), truth.merge_heads(x), 0.0, name="merged", hint=hint)


@check("split_heads.columns")
def test_heads_are_neighbouring_columns(lab: Lab, rng: np.random.Generator) -> None:
    """Each head gets its own block of neighbouring columns, for every token."""
    # A reshape to (h, n, w) alone mixes tokens and heads; every h-th column is the other wrong way.
    _split(lab, rng.normal(size=(5, 6)), 2)
    _split(lab, rng.normal(size=(3, 12)), 4)


@check("split_heads.edges", needs=["split_heads.columns"])
def test_one_head_and_heads_of_width_one(lab: Lab, rng: np.random.Generator) -> None:
    """One head is the whole; heads as narrow as one column are single features."""
    for h in (1, 6):
        _split(lab, rng.normal(size=(4, 6)), h, "The width of a head is the width of x divided by h.")
    # As many tokens as heads as columns per head: axes in another order have the same shape.
    _split(lab, rng.normal(size=(3, 9)), 3)


@check("split_heads.batch", needs=["split_heads.columns"])
def test_heads_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes stay in front: the head axis comes right before the tokens."""
    hint = "The result has the shape (..., h, n, w): leading axes first."
    for lead, h in (((2,), 3), ((2, 2), 2)):
        _split(lab, rng.normal(size=(*lead, 4, 6)), h, hint)


@check("split_heads.views", needs=["split_heads.columns"])
def test_heads_of_views(lab: Lab, rng: np.random.Generator) -> None:
    """Transposed and strided arrays are arrays like others, and x stays as it is."""
    for layout in ("transposed", "strided"):
        # Code that reads memory in its own order takes other numbers here.
        x = rng.normal(size=(4, 6))
        kept = lab.kept(x, layout)
        compare.agree(lab.split_heads(kept, 2), truth.split_heads(x, 2), 0.0, name="heads", hint=_COLUMNS)
        compare.unchanged("split_heads", ["x"], [kept], [x])


@check("merge_heads.columns")
def test_heads_are_put_side_by_side(lab: Lab, rng: np.random.Generator) -> None:
    """Heads come back side by side, in their order, for every token."""
    # A reshape without moving the head axis back mixes tokens; interleaved heads give every h-th column.
    for shape in ((2, 5, 3), (3, 4, 2)):
        _merge(lab, rng.normal(size=shape), "Token t of the result is token t of head 0, then of head 1, and so on.")


@check("merge_heads.edges", needs=["merge_heads.columns"])
def test_merging_equal_sizes_and_single_heads(lab: Lab, rng: np.random.Generator) -> None:
    """One head, one token, or as many heads as tokens as columns: all the same."""
    # Equal sizes hide axes in a wrong order; sizes of 1 are lost by squeeze().
    for shape in ((3, 3, 3), (1, 4, 2), (4, 1, 2), (3, 2, 1)):
        _merge(lab, rng.normal(size=shape), "The result has the shape (n, h·w).")


@check("merge_heads.batch", needs=["merge_heads.columns"])
def test_merging_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes stay in front."""
    for lead in ((2,), (2, 3)):
        _merge(lab, rng.normal(size=(*lead, 2, 4, 3)), "Count axes from the end: heads are -3, tokens -2.")


@check("merge_heads.views", needs=["merge_heads.columns"])
def test_merging_views(lab: Lab, rng: np.random.Generator) -> None:
    """Heads may lie in memory in any order, and stay as they are."""
    for layout in ("transposed", "strided"):
        # Code that reads memory in its own order takes other numbers here; x *= … spoils what the caller holds.
        x = rng.normal(size=(2, 5, 3))
        kept = lab.kept(x, layout)
        compare.agree(lab.merge_heads(kept), truth.merge_heads(x), 0.0, name="merged")
        compare.unchanged("merge_heads", ["x"], [kept], [x])


@check("merge_heads.undoes_split", needs=["merge_heads.columns", "split_heads.columns"])
def test_merging_undoes_splitting(lab: Lab, rng: np.random.Generator) -> None:
    """`merge_heads(split_heads(x, h))` is x again."""
    # Two mistakes that undo each other are no longer seen by this one alone; the checks above see them.
    x = rng.normal(size=(2, 5, 6))
    heads = compare.array(lab.split_heads(x, 3), (2, 3, 5, 2), name="heads")
    compare.agree(lab.merge_heads(heads), x, 0.0, name="merged", hint="Each is the inverse of the other.")


# ---- multi_head(X, heads, W_o, mask=None) -> weights, concatenated, output
_PARTS = ("weights", "concatenated", "output")


def _multi(
    lab: Lab,
    X: np.ndarray,
    heads: Sequence[Sequence[np.ndarray]],
    W_o: np.ndarray,
    mask: np.ndarray | None = None,
    hint: str = "",
) -> None:
    _compare(lab.multi_head(X, [tuple(head) for head in heads], W_o, **named_masks(mask)), X, heads, W_o, mask, hint)


def _compare(
    answer: Any,
    X: np.ndarray,
    heads: Sequence[Sequence[np.ndarray]],
    W_o: np.ndarray,
    mask: np.ndarray | None,
    hint: str,
) -> None:
    found = compare.mapping(answer, _PARTS, "the result of multi_head")
    expected = truth.multi_head(X, heads, W_o, mask)
    weights = max(compare.weights_tolerance(*(np.abs(X) @ np.abs(W) for W in head[:2])) for head in heads)
    for name, tolerance in zip(
        _PARTS, (weights, heads_tolerance(X, heads), heads_tolerance(X, heads, W_o)), strict=True
    ):
        compare.agree(found[name], expected[name], tolerance, name=name, hint=hint)


@check("multi_head.two_heads")
def test_two_heads_of_any_sentence(lab: Lab, rng: np.random.Generator) -> None:
    """Each head has its own projections; their outputs stand side by side, and W_o mixes them."""
    # d_k != d_v and a W_o that is not the identity: heads that share projections, summed heads, and a W_o that is
    # transposed or forgotten show.
    hint = "Head by head attention with its own W_q, W_k, W_v; then side by side; then times W_o."
    _multi(lab, rng.normal(size=(5, 6)), heads_of(rng, 2, 6, 4, 3), rng.normal(size=(6, 6)), hint=hint)


@check("multi_head.chapter", needs=["multi_head.two_heads"])
def test_two_heads_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's two heads on kedi sütü içti give its three tables."""
    X, W_q, W_k, W_v = (np.array(table) for table in (chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V))
    heads = [[W_q, W_k, W_v], [np.array(W) for W in chapter.HEAD_2]]
    _multi(lab, X, heads, np.array(chapter.W_O), hint="Compare with the tables of section 7.3.")
    # The heads the other way round, so that a copied table earns nothing.
    _multi(lab, X, heads[::-1], np.array(chapter.W_O), hint="Here the heads come in the other order.")


@check("multi_head.shapes", needs=["multi_head.two_heads"])
def test_any_number_and_width_of_heads(lab: Lab, rng: np.random.Generator) -> None:
    """One head or many, and heads that together are wider or narrower than the model."""
    # h·d_v differs from d_model: W_o is what brings the width back.
    for h, d_v in ((1, 5), (3, 4), (4, 1)):
        hint = "The concatenation is h·d_v wide, whatever d_model is; W_o brings it back."
        _multi(lab, rng.normal(size=(3, 5)), heads_of(rng, h, 5, 2, d_v), rng.normal(size=(h * d_v, 5)), hint=hint)


@check("multi_head.mask", needs=["multi_head.two_heads"])
def test_one_mask_for_every_head(lab: Lab, rng: np.random.Generator) -> None:
    """The mask holds for every head, and hidden keys get a weight of 0 in each."""
    # As many heads as tokens: a mask that is spread over the head axis has a fitting shape.
    heads, W_o = heads_of(rng, 3, 4, 3, 2), rng.normal(size=(6, 4))
    for mask in (random_mask(rng, (3, 3)), np.tri(3, dtype=bool), random_mask(rng, (3,))):
        _multi(lab, rng.normal(size=(3, 4)), heads, W_o, mask, "True means may attend, in every head alike.")


@check("multi_head.batch", needs=["multi_head.two_heads"])
def test_heads_of_a_whole_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Leading axes of X are a batch; the head axis of the weights stands right before the tokens."""
    # batch == heads == n: axes in another order have the same shape.
    heads, W_o = heads_of(rng, 3, 4, 3, 2), rng.normal(size=(6, 4))
    for lead in ((3,), (2, 2)):
        _multi(lab, rng.normal(size=(*lead, 3, 4)), heads, W_o, hint="weights is (..., h, n, n), leading axes first.")
    # A mask for each member of the batch, the same for its heads.
    mask = random_mask(rng, (3, 3, 3))
    _multi(lab, rng.normal(size=(3, 3, 4)), heads, W_o, mask, "The mask has an axis for the batch and none for heads.")


@check("multi_head.unchanged", needs=["multi_head.two_heads"])
def test_multi_head_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X and W_o are the same afterwards, also where X is a transposed array."""
    X, heads, W_o = rng.normal(size=(4, 5)), heads_of(rng, 2, 5, 3, 3), rng.normal(size=(6, 5))
    kept = [lab.kept(X, "transposed"), lab.kept(W_o)]
    _compare(lab.multi_head(kept[0], [tuple(head) for head in heads], kept[1]), X, heads, W_o, None, "")
    compare.unchanged("multi_head", ("X", "W_o"), kept, (X, W_o))
