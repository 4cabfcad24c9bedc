"""Step 1, ``softmax(x, axis=-1)``: section 7.2, step 4; section 7.9, step 1."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.own_work import own_work
from autograder.lab import Lab
from autograder.reference import attention as truth

check = Task("attention_lab", "step1")

_READ = "Section 7.2, step 4 has every number of one row."


def _ask(lab: Lab, x: np.ndarray, axis: int | None = None, hint: str = _READ) -> None:
    """One call, with the axis by name where there is one, compared with the truth."""
    named = {} if axis is None else {"axis": axis}
    answer = own_work(lab, "softmax", x, **named)
    agree(answer, x, -1 if axis is None else axis, hint)


def agree(answer: object, x: np.ndarray, axis: int, hint: str) -> None:
    compare.agree(answer, truth.softmax(x, axis), compare.softmax_tolerance(x), name="softmax(x)", hint=hint)


@check("softmax.one_row")
def test_softmax_of_one_row(lab: Lab, rng: np.random.Generator) -> None:
    """One row of scores becomes weights: exponentials divided by their sum, by your own code."""
    # Seven numbers of both signs: a softmax without exp, without the division or rounded to a few digits is
    # off.
    _ask(lab, rng.normal(size=7))


@check("softmax.rows", needs=["softmax.one_row"])
def test_softmax_of_every_row(lab: Lab, rng: np.random.Generator) -> None:
    """Every row of a table is normalised by itself."""
    hint = "Each row should sum to 1: with keepdims=True the sums line up with their rows."
    # Square, so that sums without keepdims line up with the columns and raise no error.
    _ask(lab, rng.normal(size=(4, 4)), hint=hint)
    _ask(lab, rng.normal(size=(3, 5)), hint=hint)


@check("softmax.axis", needs=["softmax.one_row"])
def test_softmax_along_the_axis_asked_for(lab: Lab, rng: np.random.Generator) -> None:
    """`axis` decides which entries sum to 1."""
    hint = "Both the maximum and the sum belong to the axis that was asked for."
    # A cube: any mix-up of axes keeps the shape and is silent.
    for axis in (0, 1, 2, -2):
        _ask(lab, rng.normal(size=(4, 4, 4)), axis, hint)
    _ask(lab, rng.normal(size=(2, 3, 5)), 1, hint)


@check("softmax.many_axes", needs=["softmax.rows"])
def test_softmax_with_any_number_of_axes(lab: Lab, rng: np.random.Generator) -> None:
    """It works for one axis and for five."""
    # The axis in the middle: code that flattens all but the last axis mixes entries up.
    _ask(lab, rng.normal(size=(2, 3, 4, 2, 3)), 2)
    _ask(lab, rng.normal(size=(2, 3, 4, 2, 3)), -5)
    _ask(lab, rng.normal(size=5), 0)


@check("softmax.large", needs=["softmax.rows"])
def test_softmax_of_large_numbers(lab: Lab, rng: np.random.Generator) -> None:
    """Numbers such as 1000, 1001, 1002 come out finite and right."""
    hint = "exp of a large number overflows; subtract the maximum of the row first, which changes no weight."
    _ask(lab, np.array([1000.0, 1001.0, 1002.0]) + rng.random(), hint=hint)
    # Beyond 11,356 even extended precision overflows: a wider dtype only moves the problem.
    _ask(lab, 2.0e4 + rng.normal(size=(3, 5)), hint=hint)


@check("softmax.very_negative", needs=["softmax.rows"])
def test_softmax_of_very_negative_numbers(lab: Lab, rng: np.random.Generator) -> None:
    """A row of very negative numbers still sums to 1."""
    hint = "Where every exponential is 0, so is the sum: subtract the row's own maximum, also a negative one."
    # Sees a maximum that starts from 0, and one that is only subtracted where it is large and positive.
    _ask(lab, -1000.0 + rng.normal(size=(3, 5)), hint=hint)
    _ask(lab, -600.0 - 400.0 * rng.random(size=4), hint=hint)


@check("softmax.rows_far_apart", needs=["softmax.rows"])
def test_softmax_of_rows_far_apart(lab: Lab, rng: np.random.Generator) -> None:
    """Rows 2,000 apart do not disturb each other."""
    hint = "The maximum has to be that of the row (along the axis), not that of the whole array."
    x = rng.normal(size=(4, 6)) + np.array([[1000.0], [-1000.0], [0.0], [-3000.0]])
    _ask(lab, x, hint=hint)
    # The same along axis 0, where the rows of one column are the ones that belong together.
    _ask(lab, np.ascontiguousarray(x.T), 0, hint)
    # Within one row: weights of 0 beside ordinary ones. The low ones first, so that subtracting the first
    # entry in place of the largest overflows.
    _ask(lab, np.concatenate([rng.normal(size=3) - 2000.0, rng.normal(size=3)]), hint=hint)


@check("softmax.float32", needs=["softmax.rows"])
def test_softmax_in_single_precision(lab: Lab, rng: np.random.Generator) -> None:
    """float32 input is as safe and as accurate as its precision allows."""
    # Ordinary size, tight tolerance: sees half precision inside.
    _ask(lab, rng.normal(size=(5, 7)).astype(np.float32))
    # exp overflows at 88.7 in float32, not at 709: a threshold made for float64 lets these through.
    _ask(lab, (150.0 + 60.0 * rng.normal(size=(5, 7))).astype(np.float32), hint="Always subtract the maximum.")
    # Just above that limit, where a threshold of 100 or 120 is not reached either.
    _ask(lab, rng.uniform(91.0, 99.0, size=(4, 7)).astype(np.float32), hint="Always subtract the maximum.")
    # Underflow at -103: every exponential is 0 and the row is 0/0.
    _ask(lab, (-300.0 + rng.normal(size=(2, 7))).astype(np.float32), hint="Always subtract the maximum.")


@check("softmax.layouts", needs=["softmax.rows"])
def test_softmax_of_views(lab: Lab, rng: np.random.Generator) -> None:
    """Transposed, strided and read-only arrays are arrays like others."""
    for layout in ("transposed", "strided", "readonly"):
        # Not square, so that an answer in memory order cannot have the right shape by accident and be
        # right.
        x = rng.normal(size=(3, 5))
        answer = own_work(lab, "softmax", lab.layout(x, layout))
        agree(answer, x, -1, f"The input was a {layout} array; only its values and axes count, not its memory.")


@check("softmax.unchanged", needs=["softmax.rows"])
def test_softmax_leaves_its_input_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The array that was handed in is the same afterwards."""
    x = rng.normal(size=(3, 4))
    kept = lab.kept(x)
    agree(lab.softmax(kept), x, -1, _READ)
    # x -= x.max() gives the right answer and destroys the scores of the caller.
    compare.unchanged("softmax", ["x"], [kept], [x])


@check("softmax.repeated", needs=["softmax.rows"])
def test_softmax_keeps_nothing_between_calls(lab: Lab, rng: np.random.Generator) -> None:
    """A second call does not remember the first."""
    first, second = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)) + 1.0
    # Equal shapes and other values: sees a result that is stored by shape, or a buffer that is reused.
    for x in (first, second, first):
        agree(
            lab.softmax(x),
            x,
            -1,
            "It was called before with another array of this shape: nothing may be kept.",
        )
