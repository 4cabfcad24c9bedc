"""Step 4, ``permutation_gap``, ``sinusoidal_positions``, ``equivariance_report``: sections 7.4 and 7.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.inputs import layer
from autograder.lab import Lab
from autograder.reference import attention as truth
from autograder.reference import chapter

check = Task("attention_lab", "step4")

Function = Callable[[np.ndarray], np.ndarray]

_KEYS = ("plain", "positions", "causal")


# ---- permutation_gap(fn, X, perm)
def _gap(lab: Lab, compute: Function, X: np.ndarray, perm: np.ndarray, hint: str) -> None:
    """The submission's gap of ``compute``, which runs here, against the true one."""
    found = compare.number(lab.permutation_gap(_handed(compute, X), X, perm), "The gap")
    expected = truth.permutation_gap(compute, X, perm)
    compare.agree(found, expected, _rounding(compute, X), name="The gap", hint=hint)


def _handed(compute: Function, X: np.ndarray) -> Function:
    """``compute`` as a submission may call it."""

    def fn(Z: Any) -> np.ndarray:
        if not isinstance(Z, np.ndarray) or Z.ndim != 2 or Z.size > X.size:
            raise TypeError("fn takes one array (n, d): call it with X and with X in another order")
        return compute(Z)

    return fn


def _rounding(compute: Function, X: np.ndarray) -> float:
    """Both sides see the same outputs, so only their subtraction is rounded."""
    return 4 * compare.roundoff(X) * float(np.abs(compute(X)).max())


def _cycle(rng: np.random.Generator, n: int) -> np.ndarray:
    """A permutation of ``n`` in one cycle: no row stays, and for n > 2 it is not its own inverse."""
    order = rng.permutation(n)
    perm = np.empty(n, dtype=np.int64)
    perm[order] = np.roll(order, 1)
    return perm


def _by_slot(rng: np.random.Generator, n: int, d: int, d_v: int) -> Function:
    """A function ``(n, d)`` -> ``(n, d_v)`` that treats every slot its own way."""
    W, scale = rng.normal(size=(d, d_v)), rng.uniform(0.5, 1.5, size=(n, 1))
    return lambda Z: scale[: len(Z)] * (Z @ W)


def _moved_when_shuffled(X: np.ndarray, change: np.ndarray) -> Function:
    """Gives back the rows of ``X`` as they are, and of ``X`` in any other order with ``change`` added."""
    return lambda Z: Z if np.array_equal(Z, X) else Z + change


@check("permutation_gap.two_kinds")
def test_gap_of_equivariant_and_other_functions(lab: Lab, rng: np.random.Generator) -> None:
    """0 for a function that treats all tokens alike, and the largest change for one that does not."""
    hint = "The largest |fn(X[perm]) - fn(X)[perm]| over all entries."
    W = rng.normal(size=(3, 3))
    X, perm = rng.normal(size=(4, 3)), _cycle(rng, 4)
    # Both in one check: neither "always 0" nor "always large" is right. Square outputs: the features in
    # another order, or the tokens, have the same shape.
    _gap(lab, lambda Z: np.tanh(Z @ W), X, perm, hint)
    _gap(lab, _by_slot(rng, 4, 3, 3), X, perm, hint)


@check("permutation_gap.not_its_own_inverse", needs=["permutation_gap.two_kinds"])
def test_gap_of_permutations_of_one_cycle(lab: Lab, rng: np.random.Generator) -> None:
    """`perm` need not be its own inverse: shuffling back is another permutation."""
    hint = "Row i of fn(X[perm]) belongs to row perm[i] of fn(X); to undo the shuffle take np.argsort(perm)."
    # Neither shuffling twice nor shuffling back with the same perm gives the same number.
    for n in (3, 7):
        X, perm = rng.normal(size=(n, 4)), _cycle(rng, n)
        _gap(lab, np.sin, X, perm, hint)
        _gap(lab, _by_slot(rng, n, 4, 2), X, perm, hint)


@check("permutation_gap.one_entry", needs=["permutation_gap.two_kinds"])
def test_gap_finds_one_entry(lab: Lab, rng: np.random.Generator) -> None:
    """One change in one entry is found, wherever it is and whichever sign it has."""
    hint = "Absolute values, all rows and columns, and the largest of them: no mean, no sum, no sign."
    n, d = 5, 3
    for row in (0, n - 1):
        for sign in (1.0, -1.0):
            # The first and the last row, and both signs; smaller changes of the other sign elsewhere, so
            # that a mean, a norm and a signed maximum all differ from the largest.
            change = -sign * rng.uniform(0.01, 0.02, size=(n, d))
            change[row, rng.integers(d)] = sign * rng.uniform(0.5, 1.0)
            X = rng.normal(size=(n, d))

            _gap(lab, _moved_when_shuffled(X, change), X, _cycle(rng, n), hint)


@check("permutation_gap.small", needs=["permutation_gap.two_kinds"])
def test_gap_that_is_small_is_a_gap(lab: Lab, rng: np.random.Generator) -> None:
    """A small gap is reported as it is, not as 0."""
    X = rng.normal(size=(4, 3))
    for size in (1e-4, 1e-9):
        # Far above rounding, far below what looks like a difference: sees rounded gaps and thresholds.
        change = size * rng.uniform(0.5, 1.0, size=X.shape)
        _gap(lab, _moved_when_shuffled(X, change), X, _cycle(rng, 4), "Give the gap itself: no rounding, no threshold.")


@check("permutation_gap.same_rows_elsewhere", needs=["permutation_gap.two_kinds"])
def test_gap_of_rows_in_another_place(lab: Lab, rng: np.random.Generator) -> None:
    """Right outputs at the wrong tokens are a gap."""
    hint = "Compare token by token; sorting, or sums over the tokens, hides that outputs changed places."
    X, perm = rng.normal(size=(7, 3)), _cycle(rng, 7)
    # The rows of X upside down: as sets, sorted, or summed over the tokens, both outputs are equal.
    _gap(lab, lambda Z: Z[::-1], X, perm, hint)
    # Running sums of the rows: what a causal function looks like.
    _gap(lab, lambda Z: np.cumsum(Z, axis=0), X, perm, hint)


@check("permutation_gap.widths", needs=["permutation_gap.two_kinds"])
def test_gap_of_other_widths(lab: Lab, rng: np.random.Generator) -> None:
    """The outputs may be wider or narrower than X, and there may be more features than tokens."""
    # More and fewer columns than rows: perm applied to the columns is seen, and so is a buffer shaped like
    # X.
    for n, d, d_v in ((3, 5, 2), (6, 2, 7), (2, 3, 1)):
        X = rng.normal(size=(n, d))
        _gap(lab, _by_slot(rng, n, d, d_v), X, _cycle(rng, n), "perm reorders the tokens, the rows of X.")


@check("permutation_gap.unchanged", needs=["permutation_gap.two_kinds"])
def test_gap_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X and perm are the same afterwards."""
    X, perm = rng.normal(size=(4, 3)), _cycle(rng, 4)
    compute = _by_slot(rng, 4, 3, 3)
    kept, kept_perm = lab.kept(X), lab.kept(perm)
    found = compare.number(lab.permutation_gap(_handed(compute, X), kept, kept_perm), "The gap")
    compare.agree(found, truth.permutation_gap(compute, X, perm), _rounding(compute, X), name="The gap")
    # X[:] = X[perm] gives the right gap once, and leaves the caller with shuffled rows.
    compare.unchanged("permutation_gap", ("X", "perm"), [kept, kept_perm], [X, perm])


# ---- sinusoidal_positions(n, d)
def _table(lab: Lab, n: int, d: int, hint: str) -> None:
    found = lab.sinusoidal_positions(n, d)
    name = f"sinusoidal_positions({n}, {d})"
    compare.agree(found, truth.sinusoidal_positions(n, d), compare.positions_tolerance(n, found), name=name, hint=hint)


@check("sinusoidal_positions.chapter")
def test_positions_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's table, three positions in four columns, and one that is not printed."""
    hint = "Column 2i is sin(pos / 10000^(2i/d)), column 2i+1 the cosine of the same angle; section 7.4."
    # The printed one and a fresh one in one check, so that a copied table earns nothing.
    _table(lab, 3, 4, hint)
    _table(lab, int(rng.integers(4, 12)), 4, hint)


@check("sinusoidal_positions.first", needs=["sinusoidal_positions.chapter"])
def test_positions_start_from_zero(lab: Lab, rng: np.random.Generator) -> None:
    """The first position is 0, also where it is the only one, and two columns are enough."""
    hint = "Positions count from 0: the first row is 0, 1, 0, 1, …"
    # One row, one pair of columns: squeeze() and loops that start from 1 end here.
    _table(lab, 1, 2 * int(rng.integers(2, 6)), hint)
    _table(lab, int(rng.integers(5, 20)), 2, hint)


@check("sinusoidal_positions.frequencies", needs=["sinusoidal_positions.chapter"])
def test_positions_have_the_right_frequencies(lab: Lab, rng: np.random.Generator) -> None:
    """The exponent is 2i/d, for any even width."""
    hint = "The angle is pos / 10000^(2i/d) with i = 0 … d/2 - 1, the same for both columns of a pair."
    # Widths that are no powers of two, and many pairs: an exponent that is doubled, floored, or divided by
    # d/2 - 1 or d - 1 agrees at most in the first pair.
    for d in (6, 10, 2 * int(rng.integers(8, 20))):
        _table(lab, int(rng.integers(4, 12)), d, hint)


@check("sinusoidal_positions.far", needs=["sinusoidal_positions.frequencies"])
def test_positions_far_out(lab: Lab, rng: np.random.Generator) -> None:
    """Far positions are as accurate as near ones."""
    # Hundreds of turns: a rounded table, a coarse value of pi, and frequencies kept in half precision show.
    _table(lab, int(rng.integers(300, 500)), 8, "Compute each angle from its position, in double precision.")


@check("sinusoidal_positions.repeated", needs=["sinusoidal_positions.chapter"])
def test_positions_of_another_size_afterwards(lab: Lab, rng: np.random.Generator) -> None:
    """A second call with another size does not remember the first."""
    n, d = int(rng.integers(4, 9)), 2 * int(rng.integers(3, 6))
    # Shorter after longer, then another width: a table that was kept, or cut out of a wider one, is seen.
    for rows, columns in ((n, d), (n - 2, d), (n, d + 2), (n, d)):
        _table(lab, rows, columns, "It was called with another size before: nothing may be kept.")


# ---- equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3)
def _matrices(rng: np.random.Generator, n: int, d: int, d_k: int, d_v: int) -> list[np.ndarray]:
    """``X (n, d)`` and three projections, scaled so that scores have a size of about 1."""
    X, *projections = layer(rng, (), n, d, d_k, d_v)
    return [X, *(W / np.sqrt(d) for W in projections)]


def _report(
    lab: Lab,
    inputs: list[np.ndarray],
    perm: np.ndarray,
    keys: tuple[str, ...],
    hint: str,
    scale: float | None = None,
) -> None:
    """The named gaps of one report, and always ``plain``: 0 for the one and right for the other."""
    X, W_q, W_k, W_v = inputs
    named = {} if scale is None else {"position_scale": scale}
    answer = compare.mapping(lab.equivariance_report(X, perm, W_q, W_k, W_v, **named), keys, "The report")
    _gaps_agree(answer, inputs, perm, keys, hint, chapter.POSITION_SCALE if scale is None else scale)


def _gaps_agree(
    answer: dict[str, Any],
    inputs: list[np.ndarray],
    perm: np.ndarray,
    keys: tuple[str, ...],
    hint: str,
    scale: float,
) -> None:
    X, W_q, W_k, W_v = inputs
    expected = truth.equivariance_gaps(X, perm, W_q, W_k, W_v, scale)
    # The law, twice, for two runs; |X| and the positions (at most 1 each) bound what goes into the
    # projections.
    Q, K, V = ((np.abs(X) + abs(scale)) @ np.abs(W) for W in (W_q, W_k, W_v))
    tolerance = 2 * compare.attention_tolerance(Q, K, V)
    # A table of positions in float32 is as right as one in float64, so that gap may carry its rounding.
    single = 2 * compare.attention_tolerance(*(a.astype(np.float32) for a in (Q, K, V)))
    for key in keys:
        allowed = single if key == "positions" else tolerance
        compare.agree(compare.number(answer[key], key), expected[key], allowed, name=key, hint=hint)


@check("equivariance_report.chapter")
def test_report_of_the_chapter(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's shuffle, içti kedi sütü, and another one of other matrices."""
    hint = "The largest difference of the outputs; section 7.4 has the tables."
    # The printed case and a fresh one in one check, so that three copied numbers earn nothing.
    _report(lab, [chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V], chapter.SHUFFLED, _KEYS, hint)
    _report(lab, _matrices(rng, 4, 4, 3, 3), _cycle(rng, 4), _KEYS, hint)


@check("equivariance_report.positions")
def test_report_of_positions(lab: Lab, rng: np.random.Generator) -> None:
    """`positions`: they belong to slots and are added after the shuffle; `plain` has none."""
    hint = "Hold X[perm] + position_scale * P against X + position_scale * P: P is not shuffled."
    # Positions shuffled along with the tokens give 0. plain is asked for too: it has to stay at rounding.
    _report(lab, _matrices(rng, 5, 6, 3, 2), _cycle(rng, 5), ("plain", "positions"), hint)


@check("equivariance_report.causal")
def test_report_of_the_causal_mask(lab: Lab, rng: np.random.Generator) -> None:
    """`causal`: the causal mask alone, without positions; `plain` has neither."""
    hint = "Slot i sees slots 0 to i, in both runs, and no positions are added."
    # Sees positions left on, the mask upside down, one that hides the own slot, and one shuffled with the
    # tokens.
    _report(lab, _matrices(rng, 5, 4, 3, 2), _cycle(rng, 5), ("plain", "causal"), hint)
    _report(lab, _matrices(rng, 3, 6, 2, 4), _cycle(rng, 3), ("plain", "causal"), hint)


@check("equivariance_report.scale", needs=["equivariance_report.positions"])
def test_report_uses_its_scale(lab: Lab, rng: np.random.Generator) -> None:
    """`position_scale` has an effect, and 0.3 is what it is when left out."""
    hint = "Multiply the positions by position_scale."
    inputs, perm = _matrices(rng, 4, 6, 3, 3), _cycle(rng, 4)
    # Twice above and once below 0.3, then without: a written-in 0.3 and a forgotten default both show.
    for scale in (rng.uniform(0.8, 1.5), rng.uniform(0.05, 0.15), None):
        _report(lab, inputs, perm, ("plain", "positions"), hint, None if scale is None else float(scale))


@check("equivariance_report.not_its_own_inverse", needs=["equivariance_report.chapter"])
def test_report_of_a_longer_shuffle(lab: Lab, rng: np.random.Generator) -> None:
    """More tokens, in an order that is not its own inverse, and three different widths."""
    hint = "Row i of the shuffled run belongs to token perm[i]; np.argsort(perm) puts the rows back."
    # One cycle of nine: shuffling back with the same perm is another order. d_k is neither d_model nor d_v.
    _report(lab, _matrices(rng, 9, 8, 5, 3), _cycle(rng, 9), _KEYS, hint)


@check("equivariance_report.unchanged", needs=["equivariance_report.chapter"])
def test_report_leaves_its_inputs_alone(lab: Lab, rng: np.random.Generator) -> None:
    """X, perm and the projections are the same afterwards."""
    inputs, perm = _matrices(rng, 4, 4, 3, 2), _cycle(rng, 4)
    kept, kept_perm = [lab.kept(a) for a in inputs], lab.kept(perm)
    # X += P, or a shuffle in place, gives the right numbers once.
    answer = compare.mapping(lab.equivariance_report(kept[0], kept_perm, *kept[1:]), _KEYS, "The report")
    _gaps_agree(answer, inputs, perm, _KEYS, "", chapter.POSITION_SCALE)
    compare.unchanged("equivariance_report", ("X", "W_q", "W_k", "W_v", "perm"), [*kept, kept_perm], [*inputs, perm])
