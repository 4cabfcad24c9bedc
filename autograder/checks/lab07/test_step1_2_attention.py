"""Step 1, ``attention(Q, K, V, mask=None)`` -> ``(output, weights)``: sections 7.2 and 7.9, step 1.

Most checks compare outputs only, so that weights which are not handed back right cost what they are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import qkv, random_mask, with_scores
from autograder.checks.own_work import own_work
from autograder.lab import Lab
from autograder.reference import attention as truth

check = Task("attention_lab", "step1")

_READ = "Section 7.2 does it step by step."
_MASK = "True means: may attend. A hidden key takes no part in the softmax (a score of minus infinity)."


def _ask(
    lab: Lab,
    inputs: Sequence[np.ndarray],
    mask: np.ndarray | None = None,
    hint: str = _READ,
    *,
    weights: bool = False,
) -> None:
    """One call on ``[Q, K, V]`` compared with the truth; the weights only where a check is about them."""
    named = {} if mask is None else {"mask": mask}
    _compare(own_work(lab, "attention", *inputs, **named), inputs, mask, hint, weights=weights)


def _compare(
    answer: Any, inputs: Sequence[np.ndarray], mask: np.ndarray | None, hint: str, *, weights: bool = False
) -> None:
    Q, K, V = inputs
    output, found = compare.pair(answer, "output", "weights")
    expected_output, expected_weights = truth.attention(Q, K, V, mask)
    compare.agree(output, expected_output, compare.attention_tolerance(Q, K, V), name="output", hint=hint)
    if weights:
        compare.agree(found, expected_weights, compare.weights_tolerance(Q, K), name="weights", hint=hint)


@check("attention.one_token")
def test_attention_of_one_token(lab: Lab, rng: np.random.Generator) -> None:
    """With a single token only V matters: the output is its value, by your own code."""
    # Scores, scale and softmax have no say here: what goes wrong is the pair itself, or V.
    _ask(lab, qkv(rng, (), 1, 1, 3, 3), hint="With one key its weight is 1, whatever the score.")


@check("attention.two_tokens", needs=["attention.one_token"])
def test_attention_of_two_tokens(lab: Lab, rng: np.random.Generator) -> None:
    """Two tokens: scores, their scale, the softmax over the keys and the weighted sum."""
    # d_k = 3, so that no scale, d_k for its root and another power all differ. Square scores keep a softmax
    # over the wrong axis and swapped queries and keys silent; the values tell.
    hint = f"Scores QKᵀ, divided by √d_k, softmax over the keys, times V. {_READ}"
    _ask(lab, qkv(rng, (), 2, 2, 3, 3), hint=hint)


@check("attention.rectangular", needs=["attention.two_tokens"])
def test_attention_keeps_queries_and_keys_apart(lab: Lab, rng: np.random.Generator) -> None:
    """Queries and keys may differ in number, and values in width."""
    hint = "n_q, n_k, d_k and d_v may all differ; the output has a row per query and the width of V."
    # n_q != n_k, so that a swapped transpose cannot hide; d_v above and below d_k, so that a result shaped
    # like Q, or one cut to the narrower width, cannot either; n_k == d_k, so that K in place of its
    # transpose fits.
    _ask(lab, qkv(rng, (), 5, 3, 3, 6), hint=hint)
    _ask(lab, qkv(rng, (), 2, 6, 6, 3), hint=hint)
    # One query and values of width 1, as in decoding: squeeze() drops an axis here.
    _ask(lab, qkv(rng, (), 1, 4, 2, 1), hint=hint)


@check("attention.weights", needs=["attention.two_tokens"])
def test_attention_gives_its_weights(lab: Lab, rng: np.random.Generator) -> None:
    """The second result is the weights after the softmax, a row per query."""
    # Not square: sees scores in place of weights, weights transposed, and weights that were not normalised.
    hint = "weights[i, j] is what query i gives to key j; each row sums to 1."
    _ask(lab, qkv(rng, (), 3, 4, 3, 3), hint=hint, weights=True)


@check("attention.many_keys", needs=["attention.two_tokens"])
def test_attention_over_many_keys(lab: Lab, rng: np.random.Generator) -> None:
    """A longer sequence, of no round length."""
    # Prime lengths: loops over blocks that drop the rest lose rows. Scores that rise along the keys: every
    # later block of a running softmax has a new maximum, so what was summed before has to be rescaled.
    Q, K = with_scores(rng, np.ones(37), np.linspace(-6.0, 6.0, 131))
    hint = "If you work in blocks: the last one is shorter, and a new maximum rescales what was summed before."
    _ask(lab, [Q, K, rng.normal(size=(131, 3))], hint=hint)


@check("attention.batch", needs=["attention.two_tokens"])
def test_attention_with_a_batch_axis(lab: Lab, rng: np.random.Generator) -> None:
    """Every member of a batch is computed by itself."""
    hint = "The last two axes are tokens and features; count axes from the end (axis=-1, swapaxes(-1, -2))."
    # All lengths equal: axis=1, a transpose of all three axes and sums over the batch keep the shape.
    _ask(lab, qkv(rng, (3,), 3, 3, 3, 3), hint=hint)
    _ask(lab, qkv(rng, (4,), 2, 3, 5, 2), hint=hint)


@check("attention.heads", needs=["attention.two_tokens"])
def test_attention_with_batch_and_head_axes(lab: Lab, rng: np.random.Generator) -> None:
    """Batch and head axes may stand before the last two, as many as there are."""
    hint = "The last two axes are tokens and features, however many stand before them."
    # heads == n: swapping axes 1 and 2 keeps the shape.
    _ask(lab, qkv(rng, (2, 3), 3, 3, 4, 4), hint=hint)
    # Three leading axes, one of them 1: transpose(0, 1, 3, 2), loops over two axes and squeeze() end here.
    _ask(lab, qkv(rng, (2, 1, 3), 2, 4, 3, 5), hint=hint)


@check("attention.mask", needs=["attention.two_tokens"])
def test_attention_with_a_mask(lab: Lab, rng: np.random.Generator) -> None:
    """Hidden keys take no part, and the others share the whole."""
    # Sees the mask inverted, ignored, added or multiplied into the scores, applied after the softmax or to
    # V, and the NaN of 0 times infinity.
    _ask(lab, qkv(rng, (), 4, 6, 3, 2), random_mask(rng, (4, 6)), _MASK)


@check("attention.mask_per_batch", needs=["attention.mask"])
def test_attention_with_a_mask_per_batch(lab: Lab, rng: np.random.Generator) -> None:
    """Each member of a batch may have a mask of its own."""
    hint = f"The mask belongs to the batch member. {_MASK}"
    # Another mask in each member: the first one used for all is seen.
    _ask(lab, qkv(rng, (3,), 4, 5, 3, 2), random_mask(rng, (3, 4, 5)), hint)
    # (batch, 1, n_q, n_k) for all heads; as many heads as batch members, so that a mask on the wrong axis
    # fits.
    _ask(lab, qkv(rng, (2, 2), 3, 4, 3, 2), random_mask(rng, (2, 1, 3, 4)), hint)


@check("attention.mask_broadcast", needs=["attention.mask"])
def test_attention_broadcasts_its_mask(lab: Lab, rng: np.random.Generator) -> None:
    """A mask of fewer or shorter axes holds for all of the others: padding hides keys for every query."""
    hint = f"The mask is broadcast to (..., n_q, n_k): its last axis is the keys. {_MASK}"
    # n_q == n_k: a padding mask that is turned to the queries fits as well.
    for shape in ((4,), (1, 4)):
        _ask(lab, qkv(rng, (), 4, 4, 3, 2), random_mask(rng, shape), hint)
    # batch == heads == n: padding (batch, 1, 1, n_k) fits wherever it is put.
    _ask(lab, qkv(rng, (3, 3), 3, 3, 2, 2), random_mask(rng, (3, 1, 1, 3)), hint)
    # One mask for a whole batch, and one per head for a whole batch.
    _ask(lab, qkv(rng, (3,), 4, 3, 2, 2), random_mask(rng, (4, 3)), hint)
    _ask(lab, qkv(rng, (2, 3), 4, 3, 2, 2), random_mask(rng, (3, 4, 3)), hint)


@check("attention.weights_masked", needs=["attention.weights", "attention.mask"])
def test_attention_gives_its_weights_with_heads_and_mask(lab: Lab, rng: np.random.Generator) -> None:
    """The weights of every head come back too, with 0 for every hidden key."""
    # The output may be right all the same: sees weights from before the mask, of one head, or averaged over
    # heads.
    hint = "weights has the shape (..., n_q, n_k); hidden keys have 0 in it, and each row sums to 1."
    _ask(lab, qkv(rng, (2, 3), 4, 5, 3, 2), random_mask(rng, (2, 1, 4, 5)), hint, weights=True)


@check("attention.mask_low_scores", needs=["attention.mask"])
def test_attention_hides_behind_low_scores(lab: Lab, rng: np.random.Generator) -> None:
    """A hidden key stays hidden where every visible score is very low."""
    # Visible scores about -3000: a fill of -10, -100 or -1000 is higher than they are and takes all the
    # weight.
    Q, K = with_scores(rng, np.ones(3), np.full(6, -3000.0))
    hint = "Fill hidden scores with minus infinity (or a number below any score); -100 is not low enough."
    _ask(lab, [Q, K, rng.normal(size=(6, 2))], random_mask(rng, (3, 6)), hint)


@check("attention.mask_high_scores", needs=["attention.mask"])
def test_attention_ignores_high_hidden_scores(lab: Lab, rng: np.random.Generator) -> None:
    """A hidden key with a huge score and huge values changes nothing."""
    visible = random_mask(rng, (5,))
    # Hidden scores about 2000 above the visible ones: a maximum taken before the mask makes every visible
    # exponential 0, and a fill that is added must be lower than that. Hidden values of 1000 enlarge any
    # leak.
    Q, K = with_scores(rng, np.ones(4), np.where(visible, 0.0, 2000.0))
    V = np.where(visible[:, np.newaxis], 1.0, 1000.0) * rng.normal(size=(5, 2))
    hint = "Mask the scores first, then take the maximum of what is left."
    _ask(lab, [Q, K, V], np.repeat(visible[np.newaxis], 4, axis=0), hint)


@check("attention.large_logits", needs=["attention.two_tokens"])
def test_attention_of_large_logits(lab: Lab, rng: np.random.Generator) -> None:
    """Scores in the thousands, of either sign, come out finite and right."""
    # Rows 2,000 and more apart, one of them all negative: sees exp without the maximum, the maximum of the
    # whole array, and a running maximum that starts from 0. Keys share the top, so weights are not all or
    # nothing.
    Q, K = with_scores(rng, [1.0, -1.0, 0.0, 3.0], [1000.0, 1000.0, 1400.0, 1400.0, 1000.0])
    hint = "Subtract each row's own maximum before exp, inside attention too."
    _ask(lab, [Q, K, rng.normal(size=(5, 3))], hint=hint)


@check("attention.float32", needs=["attention.two_tokens"])
def test_attention_in_single_precision(lab: Lab, rng: np.random.Generator) -> None:
    """float32 input is as accurate as its precision allows."""
    # Ordinary scores and a tight tolerance: sees half precision inside.
    _ask(lab, [a.astype(np.float32) for a in qkv(rng, (), 5, 6, 8, 4)])
    # Scores about 100: exp overflows at 88.7 in float32, and underflows at -103.
    Q, K = with_scores(rng, [1.0, -1.0, 1.2], [100.0, 101.0, 130.0, 130.0])
    V = rng.normal(size=(4, 3))
    hint = "In float32 exp overflows at 88.7: subtract the maximum of each row, always."
    _ask(lab, [a.astype(np.float32) for a in (Q, K, V)], hint=hint)


@check("attention.layouts", needs=["attention.two_tokens"])
def test_attention_of_views(lab: Lab, rng: np.random.Generator) -> None:
    """Transposed, strided and read-only arrays are arrays like others."""
    for layout in ("transposed", "strided", "readonly"):
        # Keys in another memory order catch code that reads memory in place of rows.
        inputs = qkv(rng, (), 3, 4, 5, 2)
        answer = own_work(lab, "attention", *(lab.layout(a, layout) for a in inputs))
        hint = f"The inputs were {layout} arrays: only values and axes count, not memory."
        _compare(answer, inputs, None, hint)


@check("attention.unchanged", needs=["attention.mask"])
def test_attention_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """Q, K, V and the mask are the same afterwards."""
    # Square too: a result that is written into V, or weights into Q, fits only where the shapes agree.
    for n_q, n_k, d_k, d_v in ((3, 4, 3, 2), (3, 3, 3, 3)):
        inputs, mask = qkv(rng, (), n_q, n_k, d_k, d_v), random_mask(rng, (n_q, n_k))
        kept, kept_mask = [lab.kept(a) for a in inputs], lab.kept(mask)
        _compare(lab.attention(*kept, mask=kept_mask), inputs, mask, _READ)
        # Q /= √d_k, or a mask turned around with out=mask, gives the right answer once and spoils the next call.
        compare.unchanged("attention", ("Q", "K", "V", "mask"), [*kept, kept_mask], [*inputs, mask])


@check("attention.repeated", needs=["attention.mask"])
def test_attention_keeps_nothing_between_calls(lab: Lab, rng: np.random.Generator) -> None:
    """A second call does not remember the first."""
    hint = "It was called before with other arrays of these shapes: nothing may be kept."
    calls = [(qkv(rng, (), 3, 4, 3, 2), random_mask(rng, (3, 4))) for _ in range(2)]
    # Equal shapes, other values and another mask, then no mask, then the first again: sees results, masks
    # and buffers that are kept by shape or from the first call.
    for inputs, mask in (*calls, (calls[1][0], None), calls[0]):
        named = {} if mask is None else {"mask": mask}
        _compare(lab.attention(*inputs, **named), inputs, mask, hint)
