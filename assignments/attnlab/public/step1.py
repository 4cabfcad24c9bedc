"""Step 1 in public: what any softmax and any attention must do, checked on small inputs."""

from __future__ import annotations

import math

import numpy as np

from attnlab.picture import WRONG, marked, shares
from attnlab.public import library
from attnlab.public.answers import Array, agree, array, pair, same, untouched
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("step1")

STEP_4 = "section 7.2, step 4"
WRONG_AXIS = "The columns sum to 1 and the rows do not: it is normalised over the wrong axis."


def _draw(*shapes: tuple[int, ...]) -> list[Array]:
    """Standard-normal arrays, the same ones on every run."""
    rng = np.random.default_rng(7)
    return [rng.normal(size=shape) for shape in shapes]


def _sums(weights: Array, name: str, looks_like: str = "") -> None:
    """Every row of ``weights`` must be a set of shares: not negative, sum 1."""
    gap = np.abs(weights.sum(axis=-1) - 1).max()
    if gap > 1e-5:
        columns = weights.ndim > 1 and np.allclose(weights.sum(axis=-2), 1, atol=1e-5)
        guess = WRONG_AXIS if columns else looks_like
        if not columns and abs(weights.sum() - 1) < 1e-5:
            guess = "Everything together sums to 1: one sum is taken over the whole array."
        picture = shares(weights, f"Your {name.removeprefix('the ')}; every row must sum to 1", **_called(name))
        raise Mistake(f"The rows of {name} sum to something else than 1 (off by {gap:.2g}).", guess, picture)
    if weights.min() < 0:
        picture = shares(weights, f"Your {name.removeprefix('the ')}; no share is negative", **_called(name))
        raise Mistake(f"{name} has negative entries.", "The exponential is missing.", picture)


def _called(name: str) -> dict[str, str]:
    """What a row and a column of an array is."""
    return {"rows": "row", "columns": "entry"} if name.startswith("softmax") else {"rows": "query", "columns": "key"}


# ---------------------------------------------------------------- softmax


@check("softmax.rows", read=STEP_4)
def rows_sum_to_one(lab: Lab) -> None:
    """Every row of softmax(x) is positive and sums to 1, and the shape stays."""
    (x,) = _draw((2, 4))  # not square, so that sums along the wrong axis cannot line up
    _sums(array(lab.softmax(x.copy()), "softmax(x)", x.shape), "softmax(x)")


@check("softmax.ratios", read=STEP_4, needs=["softmax.rows"])
def ratios_are_exponentials(lab: Lab) -> None:
    """Two entries of a row stand in the ratio e to the power of the difference of their inputs."""
    (x,) = _draw((3, 5))
    y = array(lab.softmax(x.copy()), "softmax(x)", x.shape)
    with np.errstate(all="ignore"):
        found = np.log(y) - np.log(y[:, :1])
    wanted = x - x[:, :1]
    gap = np.abs(found - wanted).max()
    if not gap <= 1e-5:
        rounded = np.array_equal(y, np.round(y, 4))
        raise Mistake(
            "The shares do not follow the exponential of the inputs.",
            "The result is rounded; give back the full value."
            if rounded
            else "Another base than e, or a factor.",
        )


@check("softmax.axis", read=STEP_4, needs=["softmax.rows"])
def any_axis(lab: Lab) -> None:
    """softmax(x, axis=a) sums to 1 along the axis a, whichever it is."""
    (x,) = _draw((2, 3, 4))  # three different lengths, so that no two axes can be confused
    for axis in (0, 1, -2):
        y = array(lab.softmax(x.copy(), axis=axis), f"softmax(x, axis={axis})", x.shape)
        if np.abs(y.sum(axis=axis) - 1).max() > 1e-5:
            last = np.abs(y.sum(axis=-1) - 1).max() < 1e-5
            raise Mistake(
                f"softmax(x, axis={axis}) does not sum to 1 along axis {axis}.",
                "It still works along the last axis: `axis` is not passed on to the maximum and the sum."
                if last
                else "The maximum and the sum run along different axes, or `keepdims=True` is missing.",
            )


@check("softmax.large", read=STEP_4, needs=["softmax.rows"])
def large_inputs(lab: Lab) -> None:
    """Large inputs stay finite, and rows that lie far apart do not disturb each other."""
    wanted = np.array([0.09003057, 0.24472847, 0.66524096])  # of [0, 1, 2], to 8 digits
    y = lab.softmax(np.array([1000.0, 1001.0, 1002.0]))
    if not np.isfinite(array(y, "softmax([1000, 1001, 1002])", (3,), finite=False)).all():
        raise Mistake(
            "softmax([1000, 1001, 1002]) has entries that are NaN or infinite.",
            "exp(1000) is too large for a float: subtract the row's maximum first.",
        )
    agree(array(y, "softmax"), wanted, 1e-6, "softmax([1000, 1001, 1002])")
    # float32 overflows from 89 on, far below the 710 of float64.
    y = array(
        lab.softmax(np.array([100, 101, 102], dtype=np.float32)), "softmax in float32", (3,), finite=False
    )
    if not np.abs(y - wanted).max() <= 1e-5:
        raise Mistake(
            "In float32, softmax([100, 101, 102]) is wrong.",
            "Subtract the row's maximum always, not from some size on.",
        )
    # A second row 2,000 lower: it underflows where one maximum is taken for the whole array.
    rows = np.array([[0.0, 1.0, 2.0], [-2000.0, -1999.0, -1998.0]])
    y = array(lab.softmax(rows), "softmax of two rows that are 2,000 apart", rows.shape, finite=False)
    if not np.abs(y - wanted).max() <= 1e-6:
        raise Mistake(
            "Two rows that differ by a constant should give the same shares; they do not, when it is 2,000.",
            "One maximum is subtracted for the whole array: take it along the axis, with `keepdims=True`.",
        )


@check("softmax.unchanged", read=STEP_4, needs=["softmax.rows"])
def softmax_leaves_its_input_alone(lab: Lab) -> None:
    """softmax does not change its input."""
    (x,) = _draw((2, 4))
    with untouched("softmax", x=x):
        lab.softmax(x)


# -------------------------------------------------------------- attention


def _attend(lab: Lab, *given: Array, mask: object = None, finite: bool = True) -> tuple[Array, Array]:
    """``attention``'s two results, of the shapes that the task gives."""
    queries, keys, values = given
    result = lab.attention(*(g.copy() for g in given)) if mask is None else lab.attention(*given, mask=mask)
    output, weights = pair(result, "attention", "output", "weights")
    lead = queries.shape[:-1]
    found = array(weights, "`weights`", (*lead, keys.shape[-2]), finite=finite)
    return array(output, "`output`", (*lead, values.shape[-1]), finite=finite), found


@check("attention.one_token", read="section 7.2, step 5")
def one_token(lab: Lab) -> None:
    """With one token there is nothing to choose: its weight is 1 and the output is its value."""
    queries, keys, values = _draw((1, 3), (1, 3), (1, 2))
    output, weights = _attend(lab, queries, keys, values)
    hint = "The second result is the weights themselves: after softmax, with no factor behind it."
    agree(weights, np.ones((1, 1)), 1e-6, "The only weight", hint)
    agree(output, values, 1e-6, "The output", "Only V matters here, so look at the last product.")


@check("attention.shares", read=STEP_4, needs=["attention.one_token"])
def weights_are_shares(lab: Lab) -> None:
    """The weights have the shape (n_q, n_k), and every row of them sums to 1."""
    given = _draw((2, 4), (3, 4), (3, 5))  # all four sizes differ: a missing transpose cannot hide
    _sums(_attend(lab, *given)[1], "the weights", "They may be the scores, or be scaled after softmax.")


@check("attention.scale", read="section 7.2, step 3", needs=["attention.shares"])
def scores_are_scaled(lab: Lab) -> None:
    """Two weights of a row stand in the ratio e to the power of (q·k₁ − q·k₂) / √d_k."""
    queries, keys, values = _draw((2, 4), (3, 4), (3, 5))
    weights = _attend(lab, queries, keys, values)[1]
    with np.errstate(all="ignore"):
        logs = np.log(weights)
    found = (logs[:, 1:] - logs[:, :1]).ravel()
    products = np.array([[q.dot(k - keys[0]) for k in keys[1:]] for q in queries]).ravel()
    if np.abs(found - products / 2).max() <= 1e-5:  # √4 = 2
        return
    factor = float(found.dot(products) / products.dot(products))
    guess = "The transpose, or the axis of softmax: query i belongs to row i, key j to column j."
    if abs(factor) < 1e-6:
        raise Mistake("The weights do not depend on the queries and keys.", "Every key gets the same weight.")
    if np.abs(found - factor * products).max() <= 1e-5:
        guess = {
            1.0: "The scores are not divided by √d_k at all.",
            0.25: "The scores are divided by d_k instead of its square root.",
            2.0: "The scores are multiplied by √d_k instead of being divided.",
        }.get(round(factor, 3), f"The scores are multiplied by {factor:.3g}; with d_k = 4 it should be 0.5.")
    raise Mistake("The weights do not belong to the scaled scores of these queries and keys.", guess)


@check("attention.average", read="section 7.2, step 5", needs=["attention.shares"])
def output_is_the_average(lab: Lab) -> None:
    """Every output is the average of the values with that row's weights."""
    given = _draw((2, 4), (3, 4), (3, 5))
    output, weights = _attend(lab, *given)
    averages = np.stack([np.average(given[2], axis=0, weights=row) for row in weights])
    agree(
        output,
        averages,
        1e-5,
        "The output",
        "The weights and V are multiplied in another order, or not V itself.",
    )


@check("attention.batch", read="section 7.3", needs=["attention.shares"])
def leading_axes(lab: Lab) -> None:
    """With batch and head axes in front, every head comes out as if it were alone."""
    given = _draw((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 2))  # 2 sentences, 3 heads, n_q = 5 (odd), n_k = 6
    output, weights = _attend(lab, *given)
    _sums(weights, "the weights of a batch")
    for at in np.ndindex(2, 3):
        alone, shares = _attend(lab, *(g[at] for g in given))
        hint = "A fixed axis number counts from the front; -1 and -2 are always the last two."
        agree(weights[at], shares, 1e-5, "A head's weights, against the same head alone", hint)
        agree(output[at], alone, 1e-5, "A head's output, against the same head alone", hint)


@check("attention.mask", read="section 7.5", needs=["attention.shares"])
def mask_hides_keys(lab: Lab) -> None:
    """mask is True where a query may attend: hidden keys get weight 0, the others share as if alone."""
    queries, keys, values = _draw((2, 4), (3, 4), (3, 5))
    mask = np.array([[True, False, True], [False, True, True]])
    weights = _attend(lab, queries, keys, values, mask=mask.copy(), finite=False)[1]
    if not np.isfinite(weights).all():
        guess = "0 times minus infinity is NaN: choose between two arrays instead of multiplying or adding."
        picture = marked(weights, ~np.isfinite(weights), "Your weights with the mask", "query", "key")
        raise Mistake("With a mask, weights are NaN or infinite.", guess, picture)
    if weights[~mask].max() > 0:  # exp(-1e9) is exactly 0 too; exp(-20) is not
        guess = "A number is added, or a 0 filled in: exp(0) = 1 is not nothing, exp(-inf) is."
        if weights[mask].max() < 1e-6:
            guess = "It is the other way round: True means that the query may look there."
        elif same(weights, _attend(lab, queries, keys, values)[1]):
            guess = "The mask has no effect."
        elif weights[~mask].max() < 1e-3:
            guess = "The number filled in is not low enough; minus infinity leaves nothing."
        title = f"Your weights with the mask; {WRONG} is hidden and must be 0"
        picture = marked(weights, (weights > 0) & ~mask, title, "query", "key")
        raise Mistake(f"A hidden key still has a weight of {weights[~mask].max():.2g}.", guess, picture)
    _sums(
        weights,
        "the masked weights",
        "The mask is applied after softmax: the hidden keys are still in the sum.",
    )
    for row, allowed in enumerate(mask):
        alone = _attend(lab, queries[row : row + 1], keys[allowed], values[allowed])[1]
        agree(
            weights[row, allowed], alone[0], 1e-5, "A masked row, against the same row with those keys alone"
        )


@check("attention.broadcast", read="section 7.5", needs=["attention.mask", "attention.batch"])
def masks_broadcast(lab: Lab) -> None:
    """One mask can serve every head, and a mask of shape (batch, 1, 1, n_k) hides keys per sentence."""
    given = _draw((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 2))
    padding = np.ones((2, 1, 1, 6), dtype=bool)
    padding[1, ..., 4:] = False  # the second sentence has four tokens only
    weights = _attend(lab, *given, mask=padding.copy())[1]
    if weights[1, ..., 4:].max() > 0:
        raise Mistake("Padding keys of the second sentence still get weight.")
    free = _attend(lab, *given)[1]
    agree(weights[0], free[0], 1e-5, "The first sentence, which has no padding")


@check("attention.large", read="section 7.2, step 4", needs=["attention.shares"])
def large_scores(lab: Lab) -> None:
    """Scores of several thousand come out finite."""
    given = _draw((2, 4), (3, 4), (3, 5))
    result = lab.attention(60 * given[0], 60 * given[1], given[2])
    weights = array(pair(result, "attention", "output", "weights")[1], "`weights`", (2, 3), finite=False)
    if not np.isfinite(weights).all():
        raise Mistake(
            "With large scores, weights are NaN.", "This softmax does not subtract the row's maximum."
        )
    _sums(weights, "the weights")


@check("attention.unchanged", read="section 7.2", needs=["attention.mask"])
def attention_leaves_its_inputs_alone(lab: Lab) -> None:
    """attention does not change Q, K, V or the mask."""
    queries, keys, values = _draw((3, 4), (3, 4), (3, 5))
    mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
    with untouched("attention", Q=queries, K=keys, V=values, mask=mask):
        lab.attention(queries, keys, values, mask=mask)


@check("attention.own", read="section 7.9, step 1", needs=["attention.shares"])
def no_attention_library(lab: Lab) -> None:
    """Softmax and attention are your own: no library does them while they run."""
    given = _draw((2, 4), (3, 4), (3, 5))
    _refuse(library.used_while(lambda: (lab.softmax(given[0].copy()), lab.attention(*given))))


def _refuse(used: list[str]) -> None:
    if used:
        raise Mistake(
            f"While it ran, the library's own was called: {', '.join(used)}.", "Write it yourself in step 1."
        )


# --------------------------------------------------------- self_attention


def _attend_self(lab: Lab, *given: Array, mask: object = None) -> tuple[Array, Array]:
    n, width = given[0].shape[0], given[3].shape[1]
    result = lab.self_attention(*(g.copy() for g in given), **({} if mask is None else {"mask": mask}))
    output, weights = pair(result, "self_attention", "output", "weights")
    return array(output, "`output`", (n, width)), array(weights, "`weights`", (n, n))


@check("self_attention.weights", read="section 7.2, step 1", needs=["attention.scale"])
def weights_use_queries_and_keys(lab: Lab) -> None:
    """The weights come from X W_q and X W_k, scaled by the width of the keys."""
    x, w_q, w_k, w_v = _draw((3, 5), (5, 2), (5, 2), (5, 4))  # d_model, d_k and d_v all differ
    weights = _attend_self(lab, x, w_q, w_k, w_v)[1]
    with np.errstate(all="ignore"):
        logs = np.log(weights)

    def follows(for_queries: Array, for_keys: Array) -> bool:
        form = for_queries.dot(for_keys.T)  # the score of two rows of X is a bilinear form
        products = np.array([[row.dot(form).dot(other - x[0]) for other in x] for row in x])
        return bool(np.abs((logs - logs[:, :1]) - products / math.sqrt(2)).max() <= 1e-5)

    if follows(w_q, w_k):
        return
    guess = ""
    if follows(w_q, w_q):
        guess = "W_q makes the keys too; W_k is never used."
    elif follows(w_k, w_q):
        guess = "W_q and W_k are exchanged."
    raise Mistake("The weights do not belong to the projections of X with W_q and W_k.", guess)


@check(
    "self_attention.output", read="section 7.2, step 5", needs=["self_attention.weights", "attention.average"]
)
def output_mixes_values(lab: Lab) -> None:
    """The output mixes the rows of X W_v with these weights."""
    x, w_q, w_k, w_v = _draw((3, 5), (5, 2), (5, 2), (5, 4))
    output, weights = _attend_self(lab, x, w_q, w_k, w_v)
    mixed = np.stack([np.average(x, axis=0, weights=row) for row in weights]).dot(w_v)
    agree(output, mixed, 1e-5, "The output", "The values are not the projection of X with W_v.")


@check("self_attention.mask", read="section 7.5", needs=["self_attention.weights", "attention.mask"])
def mask_arrives(lab: Lab) -> None:
    """A mask that is given to self_attention has its effect."""
    given = _draw((2, 5), (5, 2), (5, 2), (5, 4))
    weights = _attend_self(lab, *given, mask=np.array([[True, False], [True, True]]))[1]
    if weights[0, 1] > 0:
        raise Mistake("A hidden key still has weight.", "The mask is not passed on to attention.")


@check("self_attention.own", read="section 7.9, step 1", needs=["self_attention.output", "attention.own"])
def self_attention_is_your_own_too(lab: Lab) -> None:
    """self_attention uses your own attention, and no library's."""
    given = _draw((3, 5), (5, 2), (5, 2), (5, 4))
    _refuse(library.used_while(lambda: lab.self_attention(*given)))
