"""Step 2 in public: every stage against the one before it, and against the tables that the chapter prints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnlab import chapter
from attnlab.picture import shares as pictured
from attnlab.public.answers import Array, agree, array, mapping, same
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("step2")

STAGES = ("queries", "keys", "values", "scores", "scaled_scores", "weights", "output")


def _fresh() -> tuple[Array, Array, Array, Array]:
    """Other matrices than the chapter's, with d_k = 3, d_v = 2: a copied table or a fixed √2 shows here."""
    rng = np.random.default_rng(11)
    return rng.normal(size=(4, 5)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))


def _stages(lab: Lab, *given: Array) -> dict[str, Any]:
    return mapping(lab.worked_example(*(g.copy() for g in given)), "worked_example", STAGES)


def _printed(lab: Lab, *stages: str, looks_like: str = "") -> None:
    """The named stages, for the chapter's matrices, must round to the printed tables."""
    found = _stages(lab, chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V)
    for stage in stages:
        wanted = chapter.PRINTED[stage]
        actual = array(found[stage], f"`{stage}`", wanted.shape)
        name = f"`{stage}`, against the chapter's table"
        agree(actual, wanted, chapter.PRINTED_TOLERANCE, name, looks_like)


@check("worked_example.projections", read="section 7.2, step 1")
def projections(lab: Lab) -> None:
    """The queries, keys and values are the projections of X, for the chapter's matrices and for others."""
    x, *projections = given = _fresh()
    found = _stages(lab, *given)
    wanted = dict(zip(STAGES, (x.dot(w) for w in projections), strict=False))
    for stage, table in wanted.items():
        guess = ""
        for other, theirs in wanted.items():
            if other != stage and same(found[stage], theirs):
                guess = f"`{stage}` are the {other}: two matrices are exchanged."
        actual = array(found[stage], f"`{stage}`", table.shape)
        agree(actual, table, 1e-6, f"`{stage}`, for other matrices than the chapter's", guess)
    _printed(lab, "queries", "keys", "values")


@check("worked_example.scores", read="section 7.2, step 2", needs=["worked_example.projections"])
def scores(lab: Lab) -> None:
    """Row i of scores holds the dot products of query i with every key, before any scaling."""
    found = _stages(lab, *_fresh())
    queries, keys = array(found["queries"], "`queries`"), array(found["keys"], "`keys`")
    products = np.array([[q.dot(k) for k in keys] for q in queries])
    guess = ""
    if same(found["scores"], products.T):
        guess = "Rows and columns are exchanged: row i belongs to query i."
    elif same(found["scores"], found["scaled_scores"]):
        guess = "`scores` is already scaled: dividing in place changes the array that was stored before."
    agree(array(found["scores"], "`scores`", products.shape), products, 1e-6, "`scores`", guess)
    _printed(lab, "scores")


@check("worked_example.scaled_scores", read="section 7.2, step 3", needs=["worked_example.scores"])
def scaled_scores(lab: Lab) -> None:
    """scaled_scores are the scores divided by √d_k, the width of the keys at hand."""
    found = _stages(lab, *_fresh())
    raw = array(found["scores"], "`scores`")
    scaled = array(found["scaled_scores"], "`scaled_scores`", raw.shape)
    if np.abs(scaled * math.sqrt(3) - raw).max() > 1e-6:
        guess = ""
        for factor, words in (
            (1.0, "They are the raw scores: the division is missing."),
            (3.0, "They are divided by d_k; divide by its square root."),
            (math.sqrt(2), "√2 is right for the chapter's head only; take the width of the keys."),
            (math.sqrt(5), "They are divided by √d_model; it is the width of the keys that counts."),
        ):
            guess = words if same(scaled * factor, raw) else guess
        raise Mistake("With d_k = 3, `scaled_scores` times √3 are not the scores.", guess)
    _printed(lab, "scaled_scores")


@check("worked_example.weights", read="section 7.2, step 4", needs=["worked_example.scaled_scores"])
def weights(lab: Lab) -> None:
    """Every row of weights is the softmax of that row of scaled_scores, içti's row included."""
    found = _stages(lab, *_fresh())
    scaled = array(found["scaled_scores"], "`scaled_scores`")
    shares = array(found["weights"], "`weights`", scaled.shape)
    if np.abs(shares.sum(axis=-1) - 1).max() > 1e-6:
        columns = np.abs(shares.sum(axis=-2) - 1).max() < 1e-6
        rounded = np.array_equal(shares, np.round(shares, 4))
        guess = "It is normalised over the wrong axis: the columns sum to 1." if columns else ""
        picture = pictured(shares, "Your weights; every row must sum to 1")
        said = "The weights are rounded." if rounded else guess
        raise Mistake("The rows of `weights` do not sum to 1.", said, picture)
    with np.errstate(all="ignore"):
        logs = np.log(shares)
    if not np.abs((logs - logs[:, :1]) - (scaled - scaled[:, :1])).max() <= 1e-5:
        hidden = not shares[0, 1:].any()
        guess = "A causal mask is still on: the first token sees only itself." if hidden else ""
        raise Mistake("`weights` are not the softmax of the rows of `scaled_scores`.", guess)
    _printed(lab, "weights")


@check("worked_example.output", read="section 7.2, step 5", needs=["worked_example.weights"])
def output(lab: Lab) -> None:
    """output is the weighted average of the values."""
    found = _stages(lab, *_fresh())
    values = array(found["values"], "`values`")
    averages = np.stack(
        [np.average(values, axis=0, weights=row) for row in array(found["weights"], "`weights`")]
    )
    agree(array(found["output"], "`output`", averages.shape), averages, 1e-6, "`output`")
    _printed(lab, "output")
