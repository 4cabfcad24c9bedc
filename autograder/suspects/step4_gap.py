"""Mistakes of ``permutation_gap``: what is shuffled, what is put back, and gaps that cannot be seen."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step4"
PROOF = "7.4, First, prove the problem is real"
LAB = "7.9, lab step 4"


@suspect(
    "signed_difference",
    task=TASK,
    hint="Differences in one direction cancel those in the other, or are not seen at all.",
    read=LAB,
    also=(
        ("fn(X[perm]) - fn(X)[perm]", "fn(X)[perm] - fn(X[perm])"),
        ("np.max(fn(X[perm]) - fn(X)[perm])", "abs(np.mean(fn(X[perm]) - fn(X)[perm]))"),
        ("np.max(fn(X[perm]) - fn(X)[perm])", "abs(np.sum(fn(X[perm]) - fn(X)[perm]))"),
    ),
)
def permutation_gap(fn, X, perm):
    return float(np.max(fn(X[perm]) - fn(X)[perm]))


@suspect(
    "gap_mean_not_max",
    task=TASK,
    hint="One row that moved almost disappears among many that did not.",
    read=LAB,
    also=(
        ("np.mean(np.abs(fn(X[perm]) - fn(X)[perm]))", "np.mean(np.max(np.abs(fn(X[perm]) - fn(X)[perm]), axis=-1))"),
        ("np.mean(", "np.median("),
        ("np.mean(", "np.min("),
    ),
)
def permutation_gap(fn, X, perm):
    return float(np.mean(np.abs(fn(X[perm]) - fn(X)[perm])))


@suspect(
    "gap_sum_of_squares",
    task=TASK,
    hint="The differences are put together in squares; the largest single one is asked.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    return float(np.linalg.norm(fn(X[perm]) - fn(X)[perm]))


@same_mistake("gap_sum_of_squares")
def permutation_gap(fn, X, perm):
    return float(np.max((fn(X[perm]) - fn(X)[perm]) ** 2))


@same_mistake("gap_sum_of_squares")
def permutation_gap(fn, X, perm):
    return float(np.linalg.norm(fn(X[perm]) - fn(X)[perm], axis=-1).max())


@suspect(
    "gap_sum_of_differences",
    task=TASK,
    hint="All differences are added up; the largest single one is asked.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    return float(np.sum(np.abs(fn(X[perm]) - fn(X)[perm])))


@suspect(
    "gap_relative",
    task=TASK,
    hint="The gap is divided by the size of the outputs; the gap itself is asked.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    after = fn(X)[perm]
    return float(np.max(np.abs(fn(X[perm]) - after)) / np.max(np.abs(after)))


@suspect(
    "gap_small_dropped",
    task=TASK,
    hint="Small gaps are reported as none; the size of the gap is what the step is about.",
    read=LAB,
    also=(("fn(X)[perm]))), 4)", "fn(X)[perm]))), 2)"), ("fn(X)[perm]))), 4)", "fn(X)[perm]))), 6)")),
)
def permutation_gap(fn, X, perm):
    return round(float(np.max(np.abs(fn(X[perm]) - fn(X)[perm]))), 4)


@suspect(
    "gap_as_verdict",
    task=TASK,
    hint="What comes back says yes or no; the size of the gap is asked.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    return bool(np.allclose(fn(X[perm]), fn(X)[perm]))


@same_mistake("gap_as_verdict")
def permutation_gap(fn, X, perm):
    return not np.allclose(fn(X[perm]), fn(X)[perm])


@suspect(
    "gap_leaves_out_last_row",
    task=TASK,
    hint="One row at the edge is never compared.",
    read=LAB,
    also=(("[:-1]", "[1:]"),),
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm]) - fn(X)[perm])[:-1]))


@suspect(
    "gap_first_row_only",
    task=TASK,
    hint="A single token is compared, or a single column; every output counts.",
    read=LAB,
    also=(("[0])", "[-1])"), ("[0])", "[:, 0])")),
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm]) - fn(X)[perm])[0]))


@suspect(
    "gap_of_pooled_outputs",
    task=TASK,
    hint="The outputs are averaged over the tokens first, which hides every reordering.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm]).mean(axis=0) - fn(X).mean(axis=0))))


@same_mistake("gap_of_pooled_outputs")
def permutation_gap(fn, X, perm):
    return float(abs(np.linalg.norm(fn(X[perm])) - np.linalg.norm(fn(X)[perm])))


@suspect(
    "sorts_before_comparison",
    task=TASK,
    hint="Both outputs are put in order first, so a wrong order can never be seen.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(np.sort(fn(X[perm]), axis=0) - np.sort(fn(X), axis=0))))


@suspect(
    "not_unshuffled",
    task=TASK,
    hint="Row by row, different tokens are compared: one side is still shuffled.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm]) - fn(X))))


@suspect(
    "outputs_shuffled_again",
    task=TASK,
    hint="The outputs are shuffled once more where they should be put back, "
    "which only an order that is its own inverse forgives.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm])[perm] - fn(X))))


@same_mistake("outputs_shuffled_again")
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[np.argsort(perm)]) - fn(X)[perm])))


@suspect(
    "permutation_inverted",
    task=TASK,
    hint="Both sides are shuffled the other way round, which is another test unless the order is its own inverse.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    back = np.argsort(perm)
    return float(np.max(np.abs(fn(X[back]) - fn(X)[back])))


@suspect(
    "input_never_shuffled",
    task=TASK,
    hint="The function sees the tokens in the same order both times.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X) - fn(X)[perm])))


@same_mistake("input_never_shuffled")
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X)[perm] - fn(X)[perm])))


@suspect(
    "permutation_ignored",
    task=TASK,
    hint="The tokens are shuffled, but not in the order that was handed over.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    order = np.arange(len(X))[::-1]
    return float(np.max(np.abs(fn(X[order]) - fn(X)[order])))


@same_mistake("permutation_ignored")
def permutation_gap(fn, X, perm):
    order = np.random.default_rng(0).permutation(len(X))
    return float(np.max(np.abs(fn(X[order]) - fn(X)[order])))


@same_mistake("permutation_ignored")
def permutation_gap(fn, X, perm):
    order = np.roll(np.arange(len(X)), 1)
    return float(np.max(np.abs(fn(X[order]) - fn(X)[order])))


@suspect(
    "permutes_features",
    task=TASK,
    hint="The columns change places; the tokens are the rows.",
    read=PROOF,
)
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[:, perm]) - fn(X)[:, perm])))


@same_mistake("permutes_features")
def permutation_gap(fn, X, perm):
    columns = perm[perm < X.shape[1]]
    return float(np.max(np.abs(fn(X[:, columns]) - fn(X)[:, columns])))


@same_mistake("permutes_features")
def permutation_gap(fn, X, perm):
    return float(np.max(np.abs(fn(X[perm]) - fn(X)[:, perm])))


@suspect(
    "mutates_input",
    task=TASK,
    hint="The caller's tokens are reordered, so later steps start from something else.",
    read=LAB,
)
def permutation_gap(fn, X, perm):
    before = np.array(fn(X))
    X[:] = X[perm]
    return float(np.max(np.abs(fn(X) - before[perm])))


@same_mistake("mutates_input")
def permutation_gap(fn, X, perm):
    X[:] = X[perm]
    return float(np.max(np.abs(fn(X) - fn(X)[perm])))
