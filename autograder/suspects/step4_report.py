"""Mistakes of ``equivariance_report``: where positions are added, which mask, what is reported."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import causal_mask, permutation_gap, self_attention, sinusoidal_positions

TASK = "step4"
PROOF = "7.4, First, prove the problem is real"
SIGNAL = "7.4, Adding a position signal"
LAB = "7.9, lab step 4"


@suspect(
    "positions_permuted_with_tokens",
    task=TASK,
    hint="The positions travel with the tokens, or are left out, so their gap is the plain one; "
    "a position belongs to a slot, whoever sits in it.",
    read=SIGNAL,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    placed = X + position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(fn, placed, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@same_mistake("positions_permuted_with_tokens")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(fn, X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "positions_on_one_side_only",
    task=TASK,
    hint="Only one of the two orders gets positions.",
    read=SIGNAL,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": float(np.max(np.abs(fn(X[perm] + places) - fn(X)[perm]))),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@same_mistake("positions_on_one_side_only")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": float(np.max(np.abs(fn(X[perm]) - fn(X + places)[perm]))),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "positions_everywhere",
    task=TASK,
    hint="All three cases have positions; two of them should have none.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def fn(Z, mask=None):
        return self_attention(Z + places, W_q, W_k, W_v, mask=mask)[0]

    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(fn, X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "position_scale_hardcoded",
    task=TASK,
    hint="The chapter's size of the positions is written into the code; another one may be asked for.",
    read=SIGNAL,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = 0.3 * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "position_scale_ignored",
    task=TASK,
    hint="The positions are added at full size, whatever size is asked for.",
    read=SIGNAL,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "position_scale_on_sum",
    task=TASK,
    hint="The scale makes the tokens smaller as well; only the positions are meant.",
    read=SIGNAL,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(position_scale * (Z + places)), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "positions_added_in_place",
    task=TASK,
    hint="The positions stay in the tokens after the case that needed them, or in the caller's array.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    plain = permutation_gap(fn, X, perm)
    places = position_scale * sinusoidal_positions(*X.shape)
    shuffled = X[perm] + places
    X += places
    return {
        "plain": plain,
        "positions": float(np.max(np.abs(fn(shuffled) - fn(X)[perm]))),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "causal_also_gets_positions",
    task=TASK,
    hint="The causal case has positions too; it should show what the mask does alone.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z + places, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "causal_mask_left_out",
    task=TASK,
    hint="The causal case has the gap of the plain one: there is no mask, or it is shuffled with the tokens.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z):
        return self_attention(Z, W_q, W_k, W_v)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(fn, X, perm),
    }


@same_mistake("causal_mask_left_out")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    mask = causal_mask(len(X))
    moved = fn(X[perm], mask[np.ix_(perm, perm)])
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": float(np.max(np.abs(moved - fn(X, mask)[perm]))),
    }


@suspect(
    "causal_mask_everywhere",
    task=TASK,
    hint="All three cases are masked; the first two should not be.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z):
        return self_attention(Z, W_q, W_k, W_v, mask=causal_mask(len(Z)))[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(fn, X, perm),
    }


@suspect(
    "causal_mask_reversed",
    task=TASK,
    hint="The causal case hides what came before and shows what comes after.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z)).T), X, perm),
    }


@same_mistake("causal_mask_reversed")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, ~causal_mask(len(Z))), X, perm),
    }


@suspect(
    "report_mean_not_max",
    task=TASK,
    hint="The average difference is reported; the largest is asked.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[0]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[0]
        return float(np.mean(np.abs(after - before[perm])))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@suspect(
    "report_signed",
    task=TASK,
    hint="Differences in one direction are not seen.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[0]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[0]
        return float(np.max(after - before[perm]))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@same_mistake("report_signed")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[0]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[0]
        return float(np.max(before[perm] - after))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@suspect(
    "report_not_unshuffled",
    task=TASK,
    hint="Row by row, different tokens are compared, so even the plain case has a gap.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[0]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[0]
        return float(np.max(np.abs(after - before)))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@suspect(
    "report_shuffled_again",
    task=TASK,
    hint="The outputs are shuffled once more where they should be put back, so even the plain case has a gap.",
    read=PROOF,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[0]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[0]
        return float(np.max(np.abs(after[perm] - before)))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@suspect(
    "report_of_weights",
    task=TASK,
    hint="The gaps are those of the attention weights; the outputs are asked.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[1]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[1]
        return float(np.max(np.abs(after - before[np.ix_(perm, perm)])))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}


@same_mistake("report_of_weights")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places = position_scale * sinusoidal_positions(*X.shape)

    def gap(shift, mask=None):
        before = self_attention(X + shift, W_q, W_k, W_v, mask=mask)[1]
        after = self_attention(X[perm] + shift, W_q, W_k, W_v, mask=mask)[1]
        return float(np.max(np.abs(after - before[perm])))

    return {"plain": gap(0), "positions": gap(places), "causal": gap(0, causal_mask(len(X)))}
