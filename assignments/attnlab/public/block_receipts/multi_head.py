"""Part 1 in public: one head, whose columns are whose, and the chapter's two heads."""

from __future__ import annotations

import numpy as np

from attnlab import chapter
from attnlab.public.answers import array, mapping, pair
from attnlab.public.block_receipts.asks import close, printed
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("multi_head")

READ = "section 7.3, concatenate, then project"
SLICES = "article, section 4"


@check("self_attention.table", read="section 7.2")
def one_head_as_in_the_lab(lab: Lab) -> None:
    """One head gives the output and the weights of section 7.2."""
    found = lab.self_attention(chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)
    output, weights = pair(found, "self_attention", "output", "weights")
    printed(weights, "weights", "`weights`", "Scores by √d_k, softmax along each row: as in step 1 of the lab.")
    printed(output, "output", "`output`", "The weights are right; the values, or the last product, are not.")


@check("split_heads.columns", read=SLICES)
def heads_are_blocks_of_columns(lab: Lab) -> None:
    """Head i gets the columns i·w to (i+1)·w - 1 of every token."""
    # Entry 10·t + c stands in row t, column c, so that a wrong place can be read from the number.
    x = 10.0 * np.arange(3)[:, np.newaxis] + np.arange(6)
    found = array(lab.split_heads(x, 2), "split_heads of 3 tokens and 6 columns", (2, 3, 3))
    if found[0].tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22]] and found[1, 0].tolist() == [3, 4, 5]:
        return
    guess = ""
    if found[0, 1].tolist() == [3, 4, 5]:
        guess = "Reshaping straight to (h, n, w) mixes tokens and heads; the head axis has to be moved."
    elif found[0, 0].tolist() == [0, 2, 4]:
        guess = "Every second column: the columns of a head are neighbours."
    raise Mistake(f"Token 1 of head 0 is {found[0, 1].tolist()}; it should be [10.0, 11.0, 12.0].", guess)


@check("merge_heads.undoes", read=READ, needs=["split_heads.columns"])
def merging_undoes_splitting(lab: Lab) -> None:
    """Merging the heads gives the array that was split."""
    x = 10.0 * np.arange(4)[:, np.newaxis] + np.arange(6)
    found = array(lab.merge_heads(lab.split_heads(x, 3)), "merge_heads", x.shape)
    if not np.array_equal(found, x):
        guess = "Move the head axis back behind the tokens before you join it with the columns."
        raise Mistake(f"Token 0 came back as {found[0].tolist()} instead of {x[0].tolist()}.", guess)


@check("multi_head.tables", read=READ)
def the_chapters_tables(lab: Lab) -> None:
    """The chapter's two heads on kedi sütü içti give its three tables."""
    heads = [(chapter.W_Q, chapter.W_K, chapter.W_V), chapter.HEAD_2]
    result = lab.multi_head(chapter.X, heads, chapter.W_O)
    found = mapping(result, "multi_head", ("weights", "concatenated", "output"))
    weights = array(found["weights"], "`weights`", (2, 3, 3))
    guess = "Does every head use its own three projections?" if np.array_equal(weights[0], weights[1]) else ""
    printed(weights[1], "head_2_weights", "the weights of head 2", guess)
    printed(found["concatenated"], "concatenated", "`concatenated`", "Heads stand side by side, each as a block.")
    guess = "The output is the concatenation times W_o; the last column of W_o is all zeros."
    printed(found["output"], "projected", "`output`", guess)


@check("multi_head.one_token", read=READ)
def one_token_sees_only_values(lab: Lab) -> None:
    """With one token every weight is 1, and the concatenation is the values of all heads."""
    x = np.array([[1.0, 2.0]])
    heads = [tuple(np.full((2, 1), float(i)) for i in (1, 1, v)) for v in (3, 5, 7)]
    found = mapping(lab.multi_head(x, heads, np.eye(3, 2)), "multi_head", ("weights", "concatenated", "output"))
    close(found["weights"], np.ones((3, 1, 1)), "`weights` of one token")
    close(found["concatenated"], [[9.0, 15.0, 21.0]], "`concatenated` of one token")
    close(found["output"], [[9.0, 15.0]], "`output` of one token")
