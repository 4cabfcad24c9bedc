"""Mistakes of ``local_slopes`` and ``fit_exponent``: axes, pairs, and what a fit is a fit of."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step5"
LAB = "7.9, lab step 5"


@suspect(
    "slope_inverted",
    task=TASK,
    hint="The two axes have changed places, in the quotient or in the arguments of a fit.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return list(np.diff(np.log(ns)) / np.diff(np.log(seconds)))


@suspect(
    "endpoints_only",
    task=TASK,
    hint="One slope from the first to the last size is given for every step.",
    read=LAB,
)
def local_slopes(ns, seconds):
    slope = np.log(seconds[-1] / seconds[0]) / np.log(ns[-1] / ns[0])
    return [float(slope)] * (len(ns) - 1)


@suspect(
    "one_fit_for_all_steps",
    task=TASK,
    hint="One line through all points gives every slope; each step has its own.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return [float(np.polyfit(np.log(ns), np.log(seconds), 1)[0])] * (len(ns) - 1)


@suspect(
    "slopes_from_first_point",
    task=TASK,
    hint="Every slope starts at the first size; each should start at its neighbour.",
    read=LAB,
)
def local_slopes(ns, seconds):
    x, y = np.log(ns), np.log(seconds)
    return list((y[1:] - y[0]) / (x[1:] - x[0]))


@suspect(
    "assumes_doubling",
    task=TASK,
    hint="The ratio of neighbouring sizes is taken to be two; it may be anything.",
    read=LAB,
)
def local_slopes(ns, seconds):
    t = np.asarray(seconds, dtype=float)
    return list(np.log2(t[1:] / t[:-1]))


@suspect(
    "central_differences",
    task=TASK,
    hint="There is a slope for every size, each smoothed over its neighbours; one for every step is asked.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return list(np.gradient(np.log(seconds), np.log(ns)))


@same_mistake("central_differences")
def local_slopes(ns, seconds):
    return list(np.gradient(np.log(seconds)) / np.gradient(np.log(ns)))


@suspect(
    "slopes_on_plain_axes",
    task=TASK,
    hint="The slopes are seconds per token; an exponent shows on other axes.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return list(np.diff(seconds) / np.diff(ns))


@suspect(
    "slopes_with_one_logarithm",
    task=TASK,
    hint="Only one of the two axes is logarithmic, or the two have different logarithms.",
    read=LAB,
    also=(
        ("np.diff(ns)", "np.diff(np.log2(ns))"),
        ("np.diff(np.log(seconds)) / np.diff(ns)", "np.diff(seconds) / np.diff(np.log(ns))"),
        ("np.diff(np.log(seconds)) / np.diff(ns)", "np.diff(np.log10(seconds)) / np.diff(np.log(ns))"),
    ),
)
def local_slopes(ns, seconds):
    return list(np.diff(np.log(seconds)) / np.diff(ns))


@suspect(
    "ratio_without_logarithm",
    task=TASK,
    hint="The ratio of the times is divided by the ratio of the sizes; an exponent is something else.",
    read=LAB,
)
def local_slopes(ns, seconds):
    t, n = np.asarray(seconds, dtype=float), np.asarray(ns, dtype=float)
    return list((t[1:] / t[:-1]) / (n[1:] / n[:-1]))


@suspect(
    "slope_per_size",
    task=TASK,
    hint="There is one slope too many: between so many sizes there is one step less.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return [0.0, *(np.diff(np.log(seconds)) / np.diff(np.log(ns)))]


@same_mistake("slope_per_size")
def local_slopes(ns, seconds):
    slopes = list(np.diff(np.log(seconds)) / np.diff(np.log(ns)))
    return [*slopes, slopes[-1]]


@suspect(
    "last_step_left_out",
    task=TASK,
    hint="One step at the edge has no slope.",
    read=LAB,
    also=(("[:-1]", "[1:]"),),
)
def local_slopes(ns, seconds):
    return list((np.diff(np.log(seconds)) / np.diff(np.log(ns)))[:-1])


@suspect(
    "every_other_point",
    task=TASK,
    hint="The slopes span two steps; neighbours are asked.",
    read=LAB,
)
def local_slopes(ns, seconds):
    x, y = np.log(ns), np.log(seconds)
    return list((y[2:] - y[:-2]) / (x[2:] - x[:-2]))


@suspect(
    "slopes_in_reverse",
    task=TASK,
    hint="The slopes come in the opposite order.",
    read=LAB,
)
def local_slopes(ns, seconds):
    return list((np.diff(np.log(seconds)) / np.diff(np.log(ns)))[::-1])


@suspect(
    "slope_sign_lost",
    task=TASK,
    hint="A step with falling times has a negative slope, and so it should stay.",
    read=LAB,
    also=(("list(np.abs(", "list(np.maximum(0, "),),
)
def local_slopes(ns, seconds):
    return list(np.abs(np.diff(np.log(seconds)) / np.diff(np.log(ns))))


@same_mistake("slope_sign_lost")
def local_slopes(ns, seconds):
    t = np.maximum.accumulate(seconds)
    return list(np.diff(np.log(t)) / np.diff(np.log(ns)))


@suspect(
    "slopes_rounded",
    task=TASK,
    hint="The slopes are rounded; hand back every digit there is.",
    read=LAB,
    also=(
        ("float(s), 1)", "float(s), 2)"),
        ("float(s), 1)", "float(s), 4)"),
        ("float(s), 1)", "float(s), 0)"),
    ),
)
def local_slopes(ns, seconds):
    return [round(float(s), 1) for s in np.diff(np.log(seconds)) / np.diff(np.log(ns))]


# ---- fit_exponent
@suspect(
    "fit_arguments_swapped",
    task=TASK,
    hint="Times and sizes have changed places in the fit.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(seconds), np.log(ns), 1)[0])


@same_mistake("fit_arguments_swapped")
def fit_exponent(ns, seconds):
    return float(1 / np.polyfit(np.log(seconds), np.log(ns), 1)[0])


@suspect(
    "fit_returns_intercept",
    task=TASK,
    hint="The line has two coefficients, and this is the other one.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(ns), np.log(seconds), 1)[1])


@suspect(
    "fit_in_linear_space",
    task=TASK,
    hint="A line is drawn through seconds against sizes; an exponent shows on other axes.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(ns, seconds, 1)[0])


@suspect(
    "fit_semilog",
    task=TASK,
    hint="Only one of the two axes is logarithmic, or the two have different logarithms.",
    read=LAB,
    also=(
        ("(ns, np.log(seconds)", "(np.log(ns), seconds"),
        ("(ns, np.log(seconds)", "(np.log2(ns), np.log(seconds)"),
        ("(ns, np.log(seconds)", "(np.log(ns), np.log10(seconds)"),
    ),
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(ns, np.log(seconds), 1)[0])


@suspect(
    "fit_mean_of_local_slopes",
    task=TASK,
    hint="An average of the local slopes weighs the points quite differently from a fit.",
    read=LAB,
    also=(("np.mean", "np.median"),),
)
def fit_exponent(ns, seconds):
    return float(np.mean(np.diff(np.log(seconds)) / np.diff(np.log(ns))))


@suspect(
    "fit_endpoints_only",
    task=TASK,
    hint="Only the first and the last point count; the others have no say.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.log(seconds[-1] / seconds[0]) / np.log(ns[-1] / ns[0]))


@suspect(
    "fit_last_points_only",
    task=TASK,
    hint="Some of the points do not enter the fit.",
    read=LAB,
    also=(
        ("[-3:]", "[1:]"),
        ("[-3:]", "[-4:]"),
        ("[-3:]", "[-2:]"),
        ("[-3:]", "[:-1]"),
        ("[-3:]", "[:3]"),
        ("[-3:]", "[len(ns) // 2 :]"),
    ),
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(ns)[-3:], np.log(seconds)[-3:], 1)[0])


@suspect(
    "fit_through_origin",
    task=TASK,
    hint="The line is forced through a point that is not in the data.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    x, y = np.log(ns), np.log(seconds)
    return float((x @ y) / (x @ x))


@same_mistake("fit_through_origin")
def fit_exponent(ns, seconds):
    x, y = np.log(np.asarray(ns) / ns[0]), np.log(np.asarray(seconds) / seconds[0])
    return float((x @ y) / (x @ x))


@suspect(
    "fit_quadratic_coefficient",
    task=TASK,
    hint="A curve of higher degree is fitted, and its leading coefficient is no slope.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(ns), np.log(seconds), min(2, len(ns) - 1))[0])


@same_mistake("fit_quadratic_coefficient")
def fit_exponent(ns, seconds):
    return float(np.polyfit(ns, seconds, 2)[0])


@suspect(
    "fit_rounded_to_integer",
    task=TASK,
    hint="The exponent is rounded; its digits are what the measurement is about.",
    read=LAB,
    also=(("slope, 0", "slope, 1"), ("slope, 0", "slope, 2"), ("slope, 0", "slope, 3")),
)
def fit_exponent(ns, seconds):
    slope = np.polyfit(np.log(ns), np.log(seconds), 1)[0]
    return float(np.round(slope, 0))


@suspect(
    "fit_always_two",
    task=TASK,
    hint="The exponent of the theory is returned, whatever the times are.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return 2.0


@suspect(
    "fit_assumes_even_spacing",
    task=TASK,
    hint="The sizes are taken to double from one to the next; they may be spaced in any way.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.arange(len(ns)), np.log2(seconds), 1)[0])


@suspect(
    "fit_correlation",
    task=TASK,
    hint="This says how well a line fits, not how steep it is.",
    read=LAB,
    also=(("[0, 1]", "[0, 1] ** 2"),),
)
def fit_exponent(ns, seconds):
    return float(np.corrcoef(np.log(ns), np.log(seconds))[0, 1])


@suspect(
    "fit_variances_do_not_match",
    task=TASK,
    hint="Covariance and variance are divided by different counts, so the slope is a little too steep.",
    read=LAB,
)
def fit_exponent(ns, seconds):
    x, y = np.log(ns), np.log(seconds)
    return float(np.cov(x, y)[0, 1] / np.var(x))


@suspect(
    "fit_weighted",
    task=TASK,
    hint="Some points count more than others in the fit.",
    read=LAB,
    also=(
        ("np.asarray(ns,", "np.asarray(seconds,"),
        ("np.asarray(ns, dtype=float)", "1 / np.asarray(ns, dtype=float)"),
    ),
)
def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(ns), np.log(seconds), 1, w=np.asarray(ns, dtype=float))[0])
