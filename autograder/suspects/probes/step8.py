"""Probes of step 8: caches that are filled and read, a model that remembers how it was called, its clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from autograder import failures
from autograder.lab import Lab, Remote
from autograder.reference.devices import TICK, Device
from autograder.reference.tiny_lm import TinyLM
from autograder.suspects.probes.record import VARIES, Array, Notes, fault, plain

PARTS = ("keys", "values")
#: Logits of size ten; a float32 anywhere moves them by about 1e-6.
LOGITS = 1e-8


# ---- KVCache
def observe_kv_cache(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """Blocks of any size behind any leading axes, many tokens, arrays that the caller reuses, two caches."""

    def block(lead: tuple[int, ...], t: int) -> tuple[Array, Array]:
        return rng.normal(size=(*lead, t, 3)), rng.normal(size=(*lead, t, 3))

    def fill(name: str, lead: tuple[int, ...], sizes: Sequence[int], last: int | None = None) -> None:
        """Append blocks of these sizes and read; of a long cache only the last rows' worth is kept."""
        cache = _new(lab, notes, name)
        appended = [_do(lambda: cache.call("append", *block(lead, t))) for t in sizes]
        # Whether blocks are joined as they come or only when they are read is a matter of style.
        failed = next((word for word in appended if isinstance(word, str)), None)
        for part in PARTS:
            found = failed or _do(lambda: cache.get(part))
            if last is not None and isinstance(found, np.ndarray) and found.ndim >= 2:
                notes.write(f"{name}: length of {part}", found.shape[-2])
                found = np.concatenate([found[..., :2, :], found[..., -last:, :]], axis=-2)
            notes.write(f"{name}: {part}", found)

    fill("one block", (2,), [3])
    fill("prompt and tokens", (2,), [4, 1, 1])
    fill("no leading axes", (), [2, 1, 3])
    fill("batch and heads", (2, 3), [2, 1, 1])
    fill("growing", (2,), [5, 1, 7, 1, 30, 1, 40], last=50)
    fill("many tokens", (1,), [500, 30, 1, 2], last=40)
    cache = _new(lab, notes, "float32")
    single = rng.normal(size=(2, 2, 3)).astype(np.float32), rng.normal(size=(2, 2, 3)).astype(np.float32)
    _do(lambda: cache.call("append", *single))
    for part in PARTS:
        notes.write(f"float32: {part}", _do(lambda: cache.get(part)))
    _reused(lab, notes, block)
    _two(lab, notes, block)


def _reused(lab: Lab, notes: Notes, block: Any) -> None:
    """The caller overwrites its arrays after each append, and looks whether they were changed before."""
    cache = _new(lab, notes, "reused")
    for which in ("first", "second"):
        k, v = (lab.kept(array) for array in block((2,), 2))
        _do(lambda: cache.call("append", k, v))
        notes.answer(f"reused: {which} block afterwards", k.read)
        k.fill(7.0)
        v.fill(8.0)
        for part in PARTS:
            notes.write(f"reused: {part} after {which}", _do(lambda: cache.get(part)))


def _two(lab: Lab, notes: Notes, block: Any) -> None:
    """Two caches in turn, and one of them read twice."""
    first, second = _new(lab, notes, "two"), _new(lab, notes, "two")
    _do(lambda: first.call("append", *block((2,), 2)))
    _do(lambda: second.call("append", *block((2,), 1)))
    for name, cache in (("first", first), ("second", second), ("first again", first)):
        notes.write(f"two: {name}", _do(lambda: cache.get("keys")))


class _NoCache:
    """Stands for a cache that could not be made."""

    def call(self, *_args: Any) -> Any:
        raise failures.Raised("no cache", "")

    get = call


def _new(lab: Lab, notes: Notes, name: str) -> Any:
    made = _do(lambda: lab.KVCache())
    if isinstance(made, Remote):
        return made
    notes.write(f"{name}: made", "nothing that can be used" if isinstance(made, str) else made)
    return _NoCache()


def _do(call: Callable[[], Any]) -> Any:
    """What a call gives, or a word for how it failed."""
    try:
        return call()
    except (failures.TimedOut, failures.Died):
        raise
    except failures.SubmissionFault as error:
        return fault(error)


# ---- generate
#: Ids of the prompt, new ids, with a cache or without, layers. A prompt of one id; one longer than a window of
#: eight; three layers, as two caches are right for two. The first is long: it is asked twice, and who draws ids at
#: random would give the same four by chance.
GENERATIONS = ((4, 10, False, 2), (4, 4, True, 2), (1, 3, True, 2), (12, 2, False, 2), (3, 2, True, 3))


def observe_generate(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """With and without the cache, prompts of one and several ids, two prompts in a row, three layers."""
    seed = int(rng.integers(2**63))
    for length, n_new, use_cache, n_layers in GENERATIONS:
        model, prompt = _language(seed, n_layers, length, n_new)
        name = f"{'cached' if use_cache else 'recomputed'}, {length} + {n_new}"

        def ask(name: str) -> None:
            _generate(lab, notes, name, model, prompt, n_new, use_cache)

        if notes.observations:
            ask(name)
        else:
            notes.twice(name, ask)


@lru_cache(maxsize=64)
def _language(seed: int, n_layers: int, length: int, n_new: int) -> tuple[TinyLM, list[int]]:
    """A model, and a prompt whose continuation hangs on no rounding: the costly part, the same for everybody."""
    rng = np.random.default_rng([seed, length])
    model = TinyLM(rng, n_layers=n_layers)
    return model, model.clear_prompt(rng, length, n_new)


def _generate(lab: Lab, notes: Notes, name: str, model: TinyLM, prompt: list[int], n_new: int, use_cache: bool) -> None:
    model.calls.clear()
    model.device = None
    handed = lab.stand_in(model, attributes=model.attributes)
    found = notes.answer(
        name,
        lambda: lab.generate(handed, prompt, n_new, use_cache=use_cache),
        parts=("tokens", "logits"),
        tolerance=LOGITS,
    )
    tokens, logits = (plain(part) for part in found) if isinstance(found, list) and len(found) == 2 else ("", "")
    notes.write(f"{name}: greedy", VARIES if notes.varies else _greedy(tokens, logits))
    _calls(notes, name, model, len(prompt))


def _greedy(tokens: Array | str, logits: Array | str) -> str:
    """Whether each new id is the one with the largest of the logits that came with it."""
    if isinstance(tokens, str) or isinstance(logits, str) or tokens.ndim != 1 or logits.ndim != 2:
        return "no answer"
    n = len(logits)
    if not 0 < n <= len(tokens) or not logits.shape[1]:
        return "no answer"
    return "yes" if np.array_equal(np.argmax(logits, axis=-1), tokens[-n:]) else "no"


def _calls(notes: Notes, name: str, model: TinyLM, prompt_length: int) -> None:
    """How the model was called. A prompt may come in several blocks, so they are counted as one."""
    first = [c for c in model.calls if c.start + len(c.ids) <= prompt_length]
    later = model.calls[len(first) :]
    notes.write(f"{name}: ids through the model", [sum(len(c.ids) for c in first), sum(len(c.ids) for c in later)])
    notes.write(f"{name}: ids of each later call", [len(c.ids) for c in later[:20]])
    notes.write(f"{name}: starts of later calls", [c.start for c in later[:20]])
    notes.write(f"{name}: caches given", sorted({str(c.cached) for c in model.calls}).__repr__())


# ---- time_generation
#: Ids of the prompt, new ids, with a cache or without, a device with a queue or without.
TIMINGS = ((5, 4, True, True), (4, 3, False, True), (6, 3, True, False), (3, 1, True, True))


class Watched(Device):
    """A device that counts how often it was waited for and its clock read."""

    def __init__(self, *, queued: bool) -> None:
        super().__init__(queued=queued)
        self.waits = self.readings = 0

    def sync(self) -> None:
        """Wait until the queue is empty."""
        self.waits += 1
        super().sync()

    def clock(self) -> float:
        """Seconds."""
        self.readings += 1
        return super().clock()


def observe_time_generation(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """A device with a queue and one without, with and without the cache; one new id."""
    seed = int(rng.integers(2**63))

    def ask(name: str, length: int, n_new: int, use_cache: bool, queued: bool) -> None:
        device = Watched(queued=queued)
        model, prompt = _language(seed, 1, length, n_new)
        model.calls.clear()
        model.device = device
        # Work that was queued before must not be counted.
        device.work(12_347)
        handed = lab.stand_in(model, attributes=model.attributes)
        named = {"use_cache": use_cache, "clock": device.clock, "sync": device.sync}
        notes.answer(
            name,
            lambda: lab.time_generation(handed, prompt, n_new, **named),
            parts=("prefill", "decode"),
            tolerance=TICK / 2,
        )
        _calls(notes, name, model, len(prompt))
        notes.write(f"{name}: waited", device.waits > 0)
        notes.write(f"{name}: clock read", device.readings > 0)

    for length, n_new, use_cache, queued in TIMINGS:
        name = f"{'cached' if use_cache else 'recomputed'}, {length} + {n_new}{', queued' if queued else ''}"
        asked = (length, n_new, use_cache, queued)
        if notes.observations:
            ask(name, *asked)
        else:
            notes.twice(name, lambda name: ask(name, *asked))


# ---- kv_cache_bytes
def observe_kv_cache_bytes(lab: Lab, rng: np.random.Generator, notes: Notes) -> None:
    """The chapter's shapes, each argument alone, products beyond 32 bits."""

    def ask(name: str, *args: int) -> None:
        notes.answer(name, lambda: lab.kv_cache_bytes(*args), kinds=True)

    ask("7B-class", 32, 32, 128, 4096)
    ask("100,000 tokens", 32, 8, 128, 100_000)
    for itemsize in (1, 2, 4, 8):
        ask(f"itemsize {itemsize}", 3, 5, 7, 11, itemsize)
    for name, factors in {"layers": (3, 1, 1, 1), "heads": (1, 5, 1, 1), "width": (1, 1, 7, 1)}.items():
        ask(name, *factors)
    ask("tokens", 1, 1, 1, 11)
    ask("one of each", 1, 1, 1, 1)
    ask("fresh", *(int(i) for i in rng.integers(2, 60, size=4)), 4)
