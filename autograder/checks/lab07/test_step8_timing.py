"""Hidden checks of step 8, continued: ``time_generation`` and ``kv_cache_bytes``.

The clock is injected; the model charges a device of ours for every call, so the expected times are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.checks.lab07.cache_bytes import cache_shape, each_doubled, expect_cache_bytes
from autograder.failures import CheckFailed
from autograder.lab import Lab, Remote
from autograder.reference import attention as reference
from autograder.reference.devices import TICK, Array, Device
from autograder.reference.tiny_lm import Call, TinyLM

check = Task("attention_lab", "step8")

#: Relative; the clock is exact.
CLOSE = 1e-6


def expect_times(lab: Lab, model: TinyLM, prompt: list[int], n_new: int, *, use_cache: bool) -> None:
    """``time_generation`` gives what the calls of its last run took, the prompt's and each later id's."""
    assert model.device is not None
    clock, sync = model.device.clock, model.device.sync
    seen = lab.stand_in(model, attributes=model.attributes)
    model.calls.clear()
    answer = lab.time_generation(seen, list(prompt), n_new, use_cache=use_cache, clock=clock, sync=sync)
    first, later = compare.pair(answer, "prefill_seconds", "decode_seconds")
    prefill = compare.number(first, "prefill_seconds")
    decode = compare.array(later, (n_new - 1,), name="decode_seconds")
    run = cached_run if use_cache else recomputed_run
    true_prefill, true_decode = run(model.calls, len(prompt), n_new)
    setting = f"With use_cache={use_cache}, a prompt of {len(prompt)} and n_new={n_new}."
    compare.agree(prefill / true_prefill, 1.0, CLOSE, name="prefill_seconds", of=compare.RELATIVE, hint=setting)
    steps = decode / true_decode
    compare.agree(steps, np.ones(n_new - 1), CLOSE, name="decode_seconds", of=compare.RELATIVE, hint=setting)


def cached_run(calls: list[Call], n_prompt: int, n_new: int) -> tuple[float, Array]:
    """Seconds of the prompt's call or calls, and of each later one, in the last run (a warm-up run may precede)."""
    starts = [i for i, call in enumerate(calls) if call.start == 0]
    run = calls[starts[-1] :] if starts else []
    if not run or not all(call.cached for call in run):
        raise CheckFailed("With use_cache=True the model was not given caches: what was timed is the recomputation.")
    fed = prompt_calls = 0
    while fed < n_prompt and prompt_calls < len(run):
        fed += len(run[prompt_calls].ids)
        prompt_calls += 1
    decode = run[prompt_calls : prompt_calls + n_new - 1]
    if fed != n_prompt or len(decode) < n_new - 1 or any(len(call.ids) != 1 for call in decode):
        raise CheckFailed(
            "With use_cache=True the prompt goes through the model once, and then each new id alone; what the model "
            "was fed here is something else, so the times are not those of decoding with a cache."
        )
    return sum(c.ticks for c in run[:prompt_calls]) * TICK, np.array([c.ticks for c in decode]) * TICK


def recomputed_run(calls: list[Call], n_prompt: int, n_new: int) -> tuple[float, Array]:
    """Seconds of the call with the prompt, and of each longer one after it, in the last run."""
    starts = [i for i, call in enumerate(calls) if len(call.ids) == n_prompt and call.start == 0]
    run = calls[starts[-1] : starts[-1] + n_new] if starts else []
    if [len(call.ids) for call in run] != list(range(n_prompt, n_prompt + n_new)):
        raise CheckFailed(
            "With use_cache=False every step runs the whole sequence so far through the model; what the model was fed "
            "here is something else, so the times are not those of recomputing."
        )
    ticks = [call.ticks for call in run]
    return ticks[0] * TICK, np.array(ticks[1:], dtype=float) * TICK


def timed_model(rng: np.random.Generator, *, queued: bool) -> TinyLM:
    """A model whose calls take time on a device."""
    return TinyLM(rng, device=Device(queued=queued))


@check("time_generation.recompute")
def test_times_without_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """Without a cache: the seconds of the prompt, and of each later id, one by one."""
    # Every step takes longer than the one before: a mean, milliseconds, one time too many or the pair the wrong
    # way round show, and so does a clock of one's own.
    model = timed_model(rng, queued=False)
    expect_times(lab, model, model.clear_prompt(rng, 6, 5), 5, use_cache=False)


@check("time_generation.cached")
def test_times_with_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """With a cache: the prefill apart from the decode steps, and each step feeds one new id only."""
    # A use_cache without effect, or the whole sequence fed again, is seen in what the model was given.
    model = timed_model(rng, queued=False)
    expect_times(lab, model, model.clear_prompt(rng, 6, 5), 5, use_cache=True)


@check("time_generation.synchronised")
def test_generation_waits_for_the_device(lab: Lab, rng: np.random.Generator) -> None:
    """On a device that works through a queue, each time holds the work of its own step."""
    # The clock stands still until sync(); without it all times are 0.
    model = timed_model(rng, queued=True)
    prompt = model.clear_prompt(rng, 5, 4)
    for use_cache in (False, True):
        expect_times(lab, model, prompt, 4, use_cache=use_cache)


@check("time_generation.starts_idle", needs=["time_generation.synchronised"])
def test_earlier_work_is_not_prefill(lab: Lab, rng: np.random.Generator) -> None:
    """Work that was queued before does not count as prefill: the device is idle when the clock starts."""
    model = timed_model(rng, queued=True)
    assert model.device is not None
    prompt = model.clear_prompt(rng, 5, 3)
    for use_cache in (False, True):
        model.device.work(400_000)
        expect_times(lab, model, prompt, 3, use_cache=use_cache)


@check("time_generation.one_new_id")
def test_times_of_a_single_new_id(lab: Lab, rng: np.random.Generator) -> None:
    """The first new id comes from the prefill: with `n_new=1` there is no decode step."""
    model = timed_model(rng, queued=False)
    prompt = model.clear_prompt(rng, 7, 1)
    for use_cache in (False, True):
        expect_times(lab, model, prompt, 1, use_cache=use_cache)


@check("kv_cache_bytes.formula")
def test_bytes_of_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """Keys and values of every layer, head and token, at 2 bytes each unless said otherwise."""
    # Doubling each number in turn: a missing factor, or a square, shows beside the plain value.
    for shape in each_doubled(cache_shape(rng)):
        expect_cache_bytes(lab, shape)


@check("kv_cache_bytes.itemsize", needs=["kv_cache_bytes.formula"])
def test_bytes_per_number_of_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """`itemsize` is the number of bytes of one stored number: 1, 2, 4 or 8."""
    for itemsize in (4, 8, 1, 2):
        expect_cache_bytes(lab, cache_shape(rng), itemsize=itemsize)


@check("kv_cache_bytes.long_context", needs=["kv_cache_bytes.formula"])
def test_bytes_of_a_large_cache(lab: Lab, rng: np.random.Generator) -> None:
    """The chapter's case, 52.4 GB for 100,000 tokens, and others as large: exact integers."""
    # 32-bit integers overflow at 2 GiB.
    expect_cache_bytes(lab, (32, 32, 128, 100_000))
    expect_cache_bytes(lab, (80, 8, 128, int(rng.integers(100_000, 400_000)) * 2 + 1), itemsize=4)


@check("kv_cache_bytes.real_caches", needs=["kv_cache_bytes.formula"])
def test_formula_agrees_with_your_caches(lab: Lab, rng: np.random.Generator) -> None:
    """The formula agrees with what your caches hold: the sum of `keys.nbytes + values.nbytes`."""
    # float64 blocks as the lab's model makes them. Room kept in reserve is not part of keys and values.
    layers, heads, width, prompt = 3, 2, 5, int(rng.integers(4, 9))
    held = 0
    for _ in range(layers):
        cache = lab.KVCache()
        if not isinstance(cache, Remote):
            raise CheckFailed(f"KVCache() should make a cache; {compare.described(cache)} came back.")
        for t in (prompt, 1, 1):
            cache.call("append", rng.normal(size=(heads, t, width)), rng.normal(size=(heads, t, width)))
        held += sum(bytes_of(cache.get(name), name) for name in ("keys", "values"))
    shape = (layers, heads, width, prompt + 2)
    expect_cache_bytes(lab, shape, itemsize=8)
    if held != reference.kv_cache_bytes(*shape, itemsize=8):
        raise CheckFailed(
            f"After {prompt + 2} tokens of float64 in {layers} layers your caches hold {held} bytes, and the formula "
            "says another number: keys and values should be the tokens so far, in the type in which they came."
        )


def bytes_of(found: Any, name: str) -> int:
    """``nbytes`` of what a cache shows."""
    if not isinstance(found, np.ndarray):
        raise CheckFailed(f"{name} of a cache should be an array; {compare.described(found)} came back.")
    return found.nbytes
