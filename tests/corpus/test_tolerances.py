"""The tolerances, tried on right code: shapes, dtypes, strides, masks and magnitudes are drawn, the truth is float64.

Two claims: no right softmax or attention of the corpus is ever outside its tolerance, and the tolerance is small
enough to see a mistake that is no rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks import compare
from autograder.failures import CheckFailed
from autograder.reference import attention as truth
from autograder.sandbox.child import lay_out
from autograder.suspects import right
from tests.corpus.corpora import right_submissions

Array = np.ndarray[Any, Any]
PREAMBLE = "from __future__ import annotations\nimport math, os, time\nimport numpy as np\n"


def functions(name: str, file: str) -> list[Any]:
    """Every right ``name`` of a corpus file, beside right definitions of the rest."""
    found = []
    for title, source in right_submissions().items():
        if title.startswith(file):
            namespace: dict[str, Any] = {**vars(right), "__name__": "submission"}
            exec(PREAMBLE + source, namespace)
            if namespace[name] is not getattr(right, name):
                found.append(pytest.param(namespace[name], id=title))
    return found


def test_a_quotient_says_how_far_off_it_is_and_of_what() -> None:
    with pytest.raises(CheckFailed, match=r"^gb is not right: it is off, by about 10\^-1 of the right value where"):
        compare.close(1.1, 1.0, name="gb")


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...], scale: float, dtype: str) -> Array:
    seed = draw(st.integers(0, 2**32 - 1))
    array = (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)
    return lay_out(array, draw(st.sampled_from(["c", "transposed", "strided", "readonly"])))


@st.composite
def heads(draw: st.DrawFn) -> tuple[Array, Array, Array, Array | None]:
    """Q, K, V and a mask that leaves every query something to see."""
    lead = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    n_q, n_k, d_k, d_v = (draw(st.integers(1, top)) for top in (9, 9, 17, 9))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    scale = draw(st.sampled_from([0.1, 1.0, 3.0, 10.0]))
    Q, K = (draw(layouts((*lead, n, d_k), scale, dtype)) for n in (n_q, n_k))
    V = draw(layouts((*lead, n_k, d_v), 1.0, dtype))
    kind = draw(st.sampled_from(["none", "shared", "each"]))
    if kind == "none":
        return Q, K, V, None
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mask = rng.random((*(lead if kind == "each" else ()), n_q, n_k)) < 0.6
    mask[..., rng.integers(n_k)] = True
    return Q, K, V, mask


@st.composite
def rows(draw: st.DrawFn) -> tuple[Array, int]:
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    x = draw(layouts(shape, draw(st.sampled_from([0.1, 1.0, 30.0, 1000.0])), dtype))
    return x, draw(st.integers(-len(shape), len(shape) - 1))


@pytest.mark.parametrize("attention", functions("attention", "step1_attention"))
@settings(max_examples=25)
@given(inputs=heads())
def test_a_right_attention_is_never_outside_its_tolerance(
    attention: Callable[..., Any], inputs: tuple[Array, Array, Array, Array | None]
) -> None:
    Q, K, V, mask = inputs
    output, weights = attention(Q, K, V, mask=mask)
    expected, expected_weights = truth.attention(Q, K, V, mask)
    compare.agree(output, expected, compare.attention_tolerance(Q, K, V))
    compare.agree(weights, expected_weights, compare.weights_tolerance(Q, K), name="weights")


@pytest.mark.parametrize("softmax", functions("softmax", "step1_softmax"))
@settings(max_examples=25)
@given(drawn=rows())
def test_a_right_softmax_is_never_outside_its_tolerance(softmax: Callable[..., Any], drawn: tuple[Array, int]) -> None:
    x, axis = drawn
    compare.agree(softmax(x, axis=axis), truth.softmax(x, axis), compare.softmax_tolerance(x))


@settings(max_examples=60)
@given(inputs=heads(), place=st.integers(0, 10**6))
def test_one_entry_that_is_off_by_a_thousandth_is_seen(
    inputs: tuple[Array, Array, Array, Array | None], place: int
) -> None:
    Q, K, V, mask = inputs
    if Q.dtype == np.float32 and compare.attention_tolerance(Q, K, V) > 1e-4:
        return  # scores in the hundreds in single precision: rounding itself is that large
    output = truth.attention(Q, K, V, mask)[0].copy()
    output.flat[place % output.size] += 1e-3
    with pytest.raises(CheckFailed):
        compare.agree(output, truth.attention(Q, K, V, mask)[0], compare.attention_tolerance(Q, K, V))
