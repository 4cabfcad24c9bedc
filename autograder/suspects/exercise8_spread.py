"""Mistakes of ``offset_spread``: which scores are taken, and how far apart they are."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise8"
EXERCISE = "7.13, exercise 8"


@suspect(
    "spread_ignores_offset",
    task=TASK,
    hint="The query and the key stand at the same place, whatever the offset is.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start, start) for start in starts]
    return max(found) - min(found)


@suspect(
    "spread_offset_as_position",
    task=TASK,
    hint="The offset is taken for a position of its own.",
    read=EXERCISE,
    also=(("score(offset, start)", "score(start, offset)"),),
)
def offset_spread(score, offset, starts):
    found = [score(offset, start) for start in starts]
    return max(found) - min(found)


@suspect(
    "spread_offset_twice",
    task=TASK,
    hint="The offset between the two positions is counted twice.",
    read=EXERCISE,
    also=(("start + offset, start - offset", "start + 2 * offset, start"),),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start - offset) for start in starts]
    return max(found) - min(found)


@suspect(
    "spread_offset_on_both",
    task=TASK,
    hint="Both positions are moved by the offset, so that none is left between them.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start + offset) for start in starts]
    return max(found) - min(found)


@suspect(
    "spread_of_first_and_last",
    task=TASK,
    hint="The first and the last score are compared; the extremes may lie between them.",
    read=EXERCISE,
    also=(("abs(found[-1] - found[0])", "found[-1] - found[0]"),),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return abs(found[-1] - found[0])


@suspect(
    "spread_from_the_first",
    task=TASK,
    hint="The largest distance from the first score is given; two others may be further apart.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return max(abs(f - found[0]) for f in found)


@suspect(
    "spread_of_neighbours",
    task=TASK,
    hint="Neighbouring scores are compared; the extremes may be further apart.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return float(np.max(np.abs(np.diff(found)), initial=0.0))


@suspect(
    "spread_is_deviation",
    task=TASK,
    hint="The standard deviation is given; the distance of the extremes is asked.",
    read=EXERCISE,
    also=(
        ("np.std(found)", "np.var(found)"),
        ("np.std(found)", "np.std(found, ddof=1)"),
    ),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return float(np.std(found))


@suspect(
    "spread_is_largest",
    task=TASK,
    hint="The largest score is given; its distance from the smallest is asked.",
    read=EXERCISE,
    also=(("max(found)", "max(abs(f) for f in found)"),),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return max(found)


@suspect(
    "spread_signed",
    task=TASK,
    hint="The distance has the wrong sign.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return min(found) - max(found)


@suspect(
    "spread_relative",
    task=TASK,
    hint="The distance is divided by a score; it is asked as it is.",
    read=EXERCISE,
    also=(("max(abs(f) for f in found)", "abs(float(np.mean(found)))"),),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return (max(found) - min(found)) / max(abs(f) for f in found)


@suspect(
    "spread_halved",
    task=TASK,
    hint="Half the distance between the extremes is given.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return (max(found) - min(found)) / 2


@suspect(
    "spread_rounded",
    task=TASK,
    hint="Small distances come back as nothing: the spread is rounded.",
    read=EXERCISE,
    also=(
        (", 6)", ", 4)"),
        (", 6)", ", 3)"),
        (", 6)", ", 2)"),
    ),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return round(max(found) - min(found), 6)


@suspect(
    "spread_scores_returned",
    task=TASK,
    hint="The scores come back one by one; their spread is asked.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts]
    return found


@suspect(
    "spread_starts_ignored",
    task=TASK,
    hint="The starts of the exercise are written in, whichever are given.",
    read=EXERCISE,
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in (0, 100, 1000, 5000)]
    return max(found) - min(found)


@suspect(
    "spread_last_start_missing",
    task=TASK,
    hint="One of the starts is left out.",
    read=EXERCISE,
    also=(("starts[:-1] or starts", "starts[1:] or starts"),),
)
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in starts[:-1] or starts]
    return max(found) - min(found)
