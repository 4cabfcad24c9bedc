"""Mistakes of ``equivariance_report`` in what is written down: kinds, names, digits, copies."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import causal_mask, permutation_gap, self_attention, sinusoidal_positions

TASK = "step4"
LAB = "7.9, lab step 4"


@suspect(
    "report_of_booleans",
    task=TASK,
    hint="The report says yes and no; the size of each gap is asked.",
    read=LAB,
    also=(("> 1e-9", "< 1e-9"),),
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm) > 1e-9,
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm) > 1e-9,
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm) > 1e-9,
    }


@suspect(
    "report_rounded",
    task=TASK,
    hint="The gaps are rounded as for print; hand back every digit there is.",
    read=LAB,
    also=(
        ("X, perm), 4)", "X, perm), 2)"),
        ("X, perm), 4)", "X, perm), 3)"),
        ("X, perm), 4)", "X, perm), 6)"),
    ),
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": round(permutation_gap(fn, X, perm), 4),
        "positions": round(permutation_gap(lambda Z: fn(Z + places), X, perm), 4),
        "causal": round(permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm), 4),
    }


@suspect(
    "report_copied_from_chapter",
    task=TASK,
    hint="The numbers are the chapter's, whatever the tokens and matrices are.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    return {"plain": 1.1102230246251565e-16, "positions": 0.3289226846, "causal": 0.4307751532}


@suspect(
    "report_names_swapped",
    task=TASK,
    hint="The gap with positions and the causal one stand under each other's name.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "causal": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "positions": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "report_without_names",
    task=TASK,
    hint="The gaps come back without their names, or one of the names is another.",
    read=LAB,
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return [
        permutation_gap(fn, X, perm),
        permutation_gap(lambda Z: fn(Z + places), X, perm),
        permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    ]


@same_mistake("report_without_names")
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_q, W_k, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positional": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "masked": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }


@suspect(
    "report_keys_and_queries_swapped",
    task=TASK,
    hint="The first two matrices are handed on in the other order.",
    read="7.2, step 1",
)
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def fn(Z, mask=None):
        return self_attention(Z, W_k, W_q, W_v, mask=mask)[0]

    places = position_scale * sinusoidal_positions(*X.shape)
    return {
        "plain": permutation_gap(fn, X, perm),
        "positions": permutation_gap(lambda Z: fn(Z + places), X, perm),
        "causal": permutation_gap(lambda Z: fn(Z, causal_mask(len(Z))), X, perm),
    }
