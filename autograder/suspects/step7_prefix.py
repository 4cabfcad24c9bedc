"""Mistakes of ``prefix_gap``: which token is new, which rows are compared, how the change is measured."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step7"
LAB = "7.9, lab step 7"


@suspect(
    "replaces_last_token",
    task=TASK,
    hint="The last token is exchanged; a new one should come after it.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    changed = np.array(X)
    changed[-1] = x_new
    rows = slice(None, -1) if len(X) > 1 else slice(None)
    return float(np.max(np.abs(fn(changed)[rows] - fn(X)[rows])))


@same_mistake("replaces_last_token")
def prefix_gap(fn, X, x_new):
    changed = np.array(X)
    changed[-1] = x_new
    return float(np.max(np.abs(fn(changed) - fn(X))))


@suspect(
    "token_prepended",
    task=TASK,
    hint="The new token is put in front, so every token moves by one place.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([x_new, X]))[1:] - fn(X))))


@same_mistake("token_prepended")
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([x_new, X]))[:-1] - fn(X))))


@suspect(
    "new_token_ignored",
    task=TASK,
    hint="Something is appended, but not the token that was handed over.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([X, np.zeros_like(X[:1])]))[:-1] - fn(X))))


@same_mistake("new_token_ignored")
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([X, X[-1:]]))[:-1] - fn(X))))


@same_mistake("new_token_ignored")
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([X, X[:1]]))[:-1] - fn(X))))


@suspect(
    "nothing_appended",
    task=TASK,
    hint="The same sequence runs twice, without anything new at its end.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(X) - fn(X))))


@suspect(
    "compares_shifted_rows",
    task=TASK,
    hint="The rows of the longer run are compared with their neighbours.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([X, x_new]))[1:] - fn(X))))


@suspect(
    "prefix_last_row_only",
    task=TASK,
    hint="Only some of the old tokens are compared; any of them may have changed.",
    read=LAB,
    also=(("[-2] - fn(X)[-1]", "[0] - fn(X)[0]"), ("[-2] - fn(X)[-1]", "[:-1, 0] - fn(X)[:, 0]")),
)
def prefix_gap(fn, X, x_new):
    return float(np.max(np.abs(fn(np.vstack([X, x_new]))[-2] - fn(X)[-1])))


@suspect(
    "prefix_edge_row_left_out",
    task=TASK,
    hint="One row at the edge of the prefix is never compared.",
    read=LAB,
    also=(("gaps[:-1]", "gaps[1:]"),),
)
def prefix_gap(fn, X, x_new):
    gaps = np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))
    return float(np.max(gaps[:-1] if len(gaps) > 1 else gaps))


@suspect(
    "new_row_compared_too",
    task=TASK,
    hint="The output of the new token is compared with an old one.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    longer, shorter = fn(np.vstack([X, x_new])), fn(X)
    return float(np.max(np.abs(longer - np.vstack([shorter, shorter[-1:]]))))


@same_mistake("new_row_compared_too")
def prefix_gap(fn, X, x_new):
    longer, shorter = fn(np.vstack([X, x_new])), fn(X)
    return float(np.max(np.abs(longer - np.vstack([shorter, np.zeros_like(shorter[:1])]))))


@suspect(
    "prefix_gap_relative",
    task=TASK,
    hint="The change is divided by the size of the outputs; the change itself is asked.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    before = fn(X)
    return float(np.max(np.abs(fn(np.vstack([X, x_new]))[:-1] - before)) / np.max(np.abs(before)))


@suspect(
    "prefix_gap_mean",
    task=TASK,
    hint="A change in one row almost disappears among the others.",
    read=LAB,
    also=(
        ("- fn(X))))", "- fn(X)).max(axis=-1)))"),
        ("np.mean(", "np.median("),
        ("np.mean(", "np.min("),
    ),
)
def prefix_gap(fn, X, x_new):
    return float(np.mean(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))


@suspect(
    "prefix_gap_signed",
    task=TASK,
    hint="A change in one direction is not seen, or cancels another.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.max(fn(np.vstack([X, x_new]))[:-1] - fn(X)))


@same_mistake("prefix_gap_signed")
def prefix_gap(fn, X, x_new):
    return float(np.max(fn(X) - fn(np.vstack([X, x_new]))[:-1]))


@same_mistake("prefix_gap_signed")
def prefix_gap(fn, X, x_new):
    return float(abs(np.mean(fn(np.vstack([X, x_new]))[:-1] - fn(X))))


@suspect(
    "prefix_gap_norm",
    task=TASK,
    hint="The changes are put together; the largest single one is asked.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.linalg.norm(fn(np.vstack([X, x_new]))[:-1] - fn(X)))


@same_mistake("prefix_gap_norm")
def prefix_gap(fn, X, x_new):
    return float(np.sum(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))


@same_mistake("prefix_gap_norm")
def prefix_gap(fn, X, x_new):
    return float(np.max((fn(np.vstack([X, x_new]))[:-1] - fn(X)) ** 2))


@suspect(
    "small_leak_rounded_away",
    task=TASK,
    hint="Small changes are reported as none; a small leak is still a leak.",
    read=LAB,
    also=(("1e-4", "1e-6"), ("1e-4", "1e-3"), ("1e-4", "1e-7")),
)
def prefix_gap(fn, X, x_new):
    gap = float(np.max(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))
    return 0.0 if gap < 1e-4 else gap


@same_mistake("small_leak_rounded_away")
def prefix_gap(fn, X, x_new):
    return round(float(np.max(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X)))), 4)


@suspect(
    "prefix_gap_as_verdict",
    task=TASK,
    hint="What comes back says yes or no; the size of the change is asked.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return bool(np.allclose(fn(np.vstack([X, x_new]))[:-1], fn(X)))


@same_mistake("prefix_gap_as_verdict")
def prefix_gap(fn, X, x_new):
    return not np.allclose(fn(np.vstack([X, x_new]))[:-1], fn(X))


@suspect(
    "prefix_gap_hides_nan",
    task=TASK,
    hint="Outputs that are not a number are left out, so a broken function looks causal.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    return float(np.nanmax(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))


@same_mistake("prefix_gap_hides_nan")
def prefix_gap(fn, X, x_new):
    return float(np.nan_to_num(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))).max())


@same_mistake("prefix_gap_hides_nan")
def prefix_gap(fn, X, x_new):
    gaps = np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))
    return max([0.0, *(float(g) for g in gaps.ravel())])


@suspect(
    "prefix_tokens_changed",
    task=TASK,
    hint="The caller's tokens are different afterwards.",
    read=LAB,
)
def prefix_gap(fn, X, x_new):
    gap = float(np.max(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X))))
    X[-1] = x_new
    return gap
