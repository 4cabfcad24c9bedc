"""The matcher: each mistake is told apart from right and named, right code never is, and nothing upsets it."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import numpy as np
import pytest

from autograder import failures
from autograder.lab import Lab, local_lab
from autograder.suspects import Match, Suspect, name_suspect, suspects_of
from autograder.suspects.match import _agreement, departures, profiles, right_answers, submission_with, text_answers
from autograder.suspects.probes import ASKED, PROBES
from autograder.suspects.probes.record import Observation
from autograder.suspects.registry import LAB
from tests.corpus.corpora import right_submissions

SEEDS = (1, 20_261)
OF_EACH_SEED = pytest.mark.parametrize("seed", [SEEDS[0], pytest.param(SEEDS[1], marks=pytest.mark.soak)])
OF_EACH_FUNCTION = pytest.mark.parametrize("function", list(PROBES))
IN_EACH_NOTEBOOK = pytest.mark.parametrize(
    ("notebook", "function"), [(notebook, function) for notebook, asked in ASKED.items() for function in asked]
)


def named(source: str, function: str, seed: int = 1, notebook: str = LAB) -> Match | None:
    """What the matcher says of a right submission with this text appended."""
    lab = local_lab(submission_with(source, notebook))
    return name_suspect(lab, function, np.random.default_rng(seed), notebook)


@pytest.fixture(autouse=True)
def _a_submission_is_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the sandbox: dataclasses look up the module that they were defined in."""
    monkeypatch.setitem(sys.modules, "submission", types.ModuleType("submission"))


# ---- every suspect
@OF_EACH_FUNCTION
@OF_EACH_SEED
def test_every_mistake_shows_in_its_probes(function: str, seed: int) -> None:
    number = int(np.random.default_rng(seed).integers(2**63))
    unseen = [suspect.id for suspect, profile in profiles(function, number) if not profile.departures]
    assert unseen == []


@OF_EACH_FUNCTION
@OF_EACH_SEED
def test_every_mistake_is_named_when_it_is_the_submission(function: str, seed: int) -> None:
    taken_for = {}
    for suspect in suspects_of(function):
        # All texts once; with another seed only the first, as the constants are the same mistake.
        for number, source in enumerate(suspect.sources if seed == SEEDS[0] else suspect.sources[:1]):
            match = named(source, function, seed)
            if match is None or match.id != suspect.id:
                taken_for[suspect.id, number] = match
    assert taken_for == {}


@IN_EACH_NOTEBOOK
def test_no_mistake_is_a_name_that_is_not_there(notebook: str, function: str) -> None:
    # Any slip of the pen would then be taken for that mistake.
    number = int(np.random.default_rng(SEEDS[0]).integers(2**63))
    slips = {"raises NameError", "raises UnboundLocalError"}
    stumbling = {
        suspect.id
        for suspect, profile in profiles(function, number, notebook)
        for observation in profile.answers.values()
        if isinstance(observation.value, str) and observation.value in slips
    }
    assert stumbling == set()


def test_the_match_carries_what_the_student_is_told() -> None:
    suspect = next(s for s in suspects_of("attention") if s.id == "no_scale")
    assert named(suspect.source, "attention") == Match(suspect.id, suspect.hint, suspect.read, 0.0)


# ---- other handwriting
OTHERWISE = {
    "no_scale": """
def attention(Q, K, V, mask=None):
    s = np.einsum("...qd,...kd->...qk", Q, K)
    s = s if mask is None else np.where(mask, s, -1e30)
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1)[..., None]
    return np.einsum("...qk,...kd->...qd", w, V), w
""",
    "mask_after_softmax": """
def attention(Q, K, V, mask=None):
    s = np.matmul(Q / len(Q[0]) ** 0.5 if Q.ndim == 2 else Q / Q.shape[-1] ** 0.5, np.moveaxis(K, -1, -2))
    w = softmax(s, axis=s.ndim - 1)
    if mask is not None:
        w = np.where(mask, w, 0)
    return np.matmul(w, V), w
""",
    "mask_fill_too_small": """
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -2, -1) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask, s, -7.0))
    return w @ V, w
""",
    "start_one_too_far": """
def generate(model, prompt, n_new, *, use_cache):
    ids, logits = list(prompt), []
    store = [KVCache() for _ in range(model.n_layers)]
    last = model(ids, store, 0)[-1] if use_cache else model(ids)[-1]
    for step in range(n_new):
        logits.append(last)
        ids.append(int(np.argmax(last)))
        if step < n_new - 1:
            last = model(ids[-1:], store, len(ids))[-1] if use_cache else model(ids)[-1]
    return ids, np.stack(logits)
""",
    "sync_after_the_clock": """
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    def sample(args):
        sync()
        before = clock()
        fn(*args)
        after = clock()
        sync()
        return after - before

    inputs = {n: make_args(n) for n in ns}
    return [[sample(inputs[n]) for _ in range(warmup + repeats)][warmup:] for n in ns]
""",
    "clock_ignored": """
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    import time

    rows = np.zeros((len(ns), repeats))
    for i, n in enumerate(ns):
        args = make_args(n)
        for j in range(-warmup, repeats):
            start = time.monotonic()
            fn(*args)
            if j >= 0:
                rows[i, j] = time.monotonic() - start
    return rows
""",
    "concatenates_axis_0": """
class KVCache:
    def __init__(self):
        self.parts = []

    def append(self, k, v):
        self.parts.append((k.copy(), v.copy()))

    @property
    def keys(self):
        return np.concatenate([k for k, _ in self.parts])

    @property
    def values(self):
        return np.concatenate([v for _, v in self.parts])
""",
}


@pytest.mark.parametrize("identifier", OTHERWISE)
def test_the_same_mistake_in_another_handwriting_is_named(identifier: str) -> None:
    source = OTHERWISE[identifier]
    function = function_of(source)
    match = named(source, function)
    assert match is not None
    assert match.id == identifier


def function_of(source: str) -> str:
    found = re.search(r"^(?:def|class) (\w+)", source, re.MULTILINE)
    assert found is not None
    return found[1]


# ---- right code, and mistakes that nobody listed
@OF_EACH_FUNCTION
def test_right_code_is_never_named(function: str) -> None:
    assert named("", function) is None


@pytest.mark.parametrize("title", right_submissions())
def test_no_right_variant_is_named(title: str) -> None:
    source = right_submissions()[title]
    bound = submission_with(source)
    for function in PROBES:
        if re.search(rf"\b{function}\b", source):
            assert name_suspect(local_lab(bound), function, np.random.default_rng(2)) is None


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x, axis=-1):\n    return np.full(np.shape(x), 0.123)\n",
        "def attention(Q, K, V, mask=None):\n    return np.sin(Q), np.cos(K)\n",
        "def largest_n(fits, start=1024):\n    return 17\n",
        "def fit_exponent(ns, seconds):\n    return -99.0\n",
        "def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):\n    return -1\n",
        "def generate(model, prompt, n_new, *, use_cache):\n    return [0], np.full((1, 1), 7.25)\n",
    ],
    ids=function_of,
)
def test_a_mistake_that_nobody_listed_gets_no_name(source: str) -> None:
    assert named(source, function_of(source)) is None


@IN_EACH_NOTEBOOK
@pytest.mark.parametrize("returned", ["pass", "return 'done'"])
def test_a_function_that_gives_nothing_back_gets_no_name(notebook: str, function: str, returned: str) -> None:
    assert named(f"def {function}(*args, **kwargs):\n    {returned}\n", function, notebook=notebook) is None


@IN_EACH_NOTEBOOK
def test_a_function_that_takes_other_arguments_gets_no_name(notebook: str, function: str) -> None:
    # Nothing of it runs: what it would do is not known.
    assert named(f"def {function}(*, its_own):\n    return 1\n", function, notebook=notebook) is None


NOTHING_RETURNED = """
def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
"""
OTHER_KEYWORDS = """
def time_calls(fn, make_args, ns, warm_up=2, repeats=5, clock=None, sync=None):
    return [[0.0] * repeats for n in ns]
"""


@pytest.mark.parametrize("source", [NOTHING_RETURNED, OTHER_KEYWORDS], ids=["no return", "other keywords"])
def test_what_never_answers_is_not_taken_for_an_answer(source: str) -> None:
    assert named(source, function_of(source)) is None


def test_a_wrong_call_in_the_function_is_told_from_a_wrong_call_of_it() -> None:
    inside = "def softmax(x, axis=-1):\n    return np.exp(x, axis, axis, axis, axis)\n"
    for source, said in ((inside, "raises TypeError"), ("def softmax(x, y, z):\n    return x\n", "cannot be called")):
        answers = text_answers(source, "softmax", 1)
        assert str(answers["rows"].value).startswith(said)


def test_a_function_that_was_not_written_gets_no_name() -> None:
    source = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"
    assert named(source, "softmax") is None


# ---- nothing upsets it
STRANGE = {
    "None": "None",
    "text": "'7.25'",
    "generator": "(i for i in range(3))",
    "set": "{1, 2}",
    "objects": "np.array([{}, None], dtype=object)",
    "complex": "np.array([1j])",
    "not finite": "[float('nan'), float('inf')]",
    "very large numbers": "[10**400, -1.7e308]",
    "very many numbers": "[np.zeros((300, 300)), list(range(500))]",
    "ragged": "[[1, 2], [3]]",
    "the function itself": "answer",
    "mapping": "{'queries': [1], 'plain': 'x', 'other': {}}",
    "an error without end": "1 / 0",
}


@pytest.mark.parametrize("what", STRANGE)
def test_strange_answers_do_no_harm(what: str) -> None:
    source = f"def answer(*args, **kwargs):\n    return {STRANGE[what]}\n"
    for function in PROBES:
        bound = submission_with(source)
        bound[function] = bound["answer"]
        match = name_suspect(local_lab(bound), function, np.random.default_rng(1))
        assert match is None or match.id in {s.id for s in suspects_of(function)}


@pytest.mark.parametrize("fault", [failures.TimedOut("late"), failures.Died("gone")])
def test_a_submission_that_hangs_or_dies_gets_no_name(fault: failures.SubmissionFault) -> None:
    class Gone:
        def exchange(self, *_args: Any) -> Any:
            raise fault

    assert name_suspect(Lab(Gone()), "softmax", np.random.default_rng(1)) is None


def test_a_function_without_probes_gets_no_name() -> None:
    assert named("", "measured_exponent") is None


# ---- how it compares
def test_a_deviation_too_small_for_its_square_is_parallel_to_nothing() -> None:
    right, tiny, large = (Observation("", np.full(3, size), 0.0) for size in (0.0, 1e-200, 1.0))
    assert _agreement(tiny, large, right) == 0.0


def test_the_answers_of_the_suspects_are_computed_once() -> None:
    named("", "score_bytes", seed=5)
    before = profiles.cache_info().misses
    named("", "score_bytes", seed=5)
    assert profiles.cache_info().misses == before


def test_the_probes_ask_the_same_of_everybody() -> None:
    number = int(np.random.default_rng(3).integers(2**63))
    for function in PROBES:
        assert departures(text_answers("", function, number), right_answers(function, number)) == frozenset()


def test_other_seeds_ask_with_other_numbers() -> None:
    first, second = (right_answers("softmax", seed)["rows"].value for seed in (1, 2))
    assert not np.array_equal(np.asarray(first), np.asarray(second))


def test_two_mistakes_at_once_are_not_taken_for_one_that_fits_half() -> None:
    source = """
def attention(Q, K, V, mask=None):
    s = np.sin(Q @ np.swapaxes(K, -1, -2))
    w = softmax(s if mask is None else np.where(mask, -1e9, s)) ** 2
    return w @ V, w
"""
    assert named(source, "attention") is None


def test_a_suspect_is_a_record_that_cannot_be_changed() -> None:
    suspect = suspects_of("softmax")[0]
    assert isinstance(suspect, Suspect)
    with pytest.raises(AttributeError):
        suspect.id = "other"  # type: ignore[misc]
