"""Step 8 in public: a cache that keeps what it is given, and generation that is the same with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.public.answers import Array, agree, array, number, pair, same, whole
from attnlab.public.declare import Checks, Lab, Mistake, guarded
from attnlab.tiny_lm import TinyLM
from attnlab.words import kind

check = Checks("step8")

READ = "section 7.6, the KV cache"
STEP = "section 7.9, step 8"

# ---------------------------------------------------------------- KVCache


def _blocks() -> list[tuple[Array, Array]]:
    """A prompt of three tokens, then one token, then two; two heads of width 4, keys unlike values."""
    rng = np.random.default_rng(3)
    return [(rng.normal(size=(2, t, 4)), rng.normal(size=(2, t, 4))) for t in (3, 1, 2)]


def _filled(lab: Lab, blocks: list[tuple[Array, Array]]) -> Any:
    cache = lab.KVCache()
    for keys, values in blocks:
        _append(cache, keys, values)
    return cache


def _append(cache: Any, keys: Array, values: Array) -> None:
    guarded("KVCache", lambda: cache.append(keys, values))


def _read(cache: Any) -> tuple[Any, Any]:
    return guarded("KVCache", lambda: cache.keys), guarded("KVCache", lambda: cache.values)


@check("KVCache.holds", read=READ)
def holds_everything_in_order(lab: Lab) -> None:
    """After several appends, keys and values hold every token once, in the order of arrival."""
    blocks = _blocks()
    found = _read(_filled(lab, [(keys.copy(), values.copy()) for keys, values in blocks]))
    for at, name in enumerate(("keys", "values")):
        whole_run = np.concatenate([block[at] for block in blocks], axis=1)
        if callable(found[at]):
            raise Mistake(f"`cache.{name}` is a method.", "It is read without brackets: make it a @property.")
        if found[at] is None:
            raise Mistake(f"`cache.{name}` is None after an append.", "append must change the cache itself.")
        actual = array(found[at], f"`cache.{name}`")
        guess = ""
        if actual.ndim == 3 and same(np.sort(actual, axis=1), np.sort(whole_run, axis=1)):
            guess = "All tokens are there, in another order; new ones come after the old ones."
        if actual.shape != whole_run.shape:
            hint = guess or "Tokens are lost or stored twice, or they are joined along another axis than -2."
            raise Mistake(
                f"`cache.{name}` has the shape {actual.shape} after 6 tokens; not {whole_run.shape}.", hint
            )
        agree(actual, whole_run, 0.0, f"`cache.{name}`", guess)


@check("KVCache.own", read=READ, needs=["KVCache.holds"])
def caches_share_nothing(lab: Lab) -> None:
    """A new cache is empty: two caches share nothing."""
    (keys, values), *_ = _blocks()
    first = _filled(lab, [(keys.copy(), values.copy())])
    _filled(lab, [(keys.copy(), values.copy())])
    shape = array(_read(first)[0], "`cache.keys`").shape
    if shape != keys.shape:
        guess = "The lists belong to the class, or are a default argument; make them in __init__."
        raise Mistake(
            f"A cache that was given 3 tokens has keys of the shape {shape}; others' tokens are in it.", guess
        )


@check("KVCache.many", read=READ, needs=["KVCache.own"])
def many_tokens(lab: Lab) -> None:
    """A thousand tokens, one at a time, are all there."""
    cache = lab.KVCache()
    for token in range(1000):  # past any first capacity of 256 or 512
        block = np.full((1, 1, 2), float(token))
        _append(cache, block, -block)
    keys = array(_read(cache)[0], "`cache.keys`")
    guess = "The buffer is full at some size: growing it loses rows, or new ones overwrite old ones."
    if keys.shape != (1, 1000, 2):
        raise Mistake(f"After 1,000 tokens `cache.keys` has the shape {keys.shape}.", guess)
    agree(keys[0, :, 0], np.arange(1000.0), 0.0, "`cache.keys`", guess)


@check("KVCache.copies", read=READ, needs=["KVCache.own"])
def keeps_what_it_was_given(lab: Lab) -> None:
    """What was appended stays, even if the caller overwrites its arrays afterwards."""
    blocks = _blocks()
    mine = [(keys.copy(), values.copy()) for keys, values in blocks]
    cache = lab.KVCache()
    for keys, values in mine:
        _append(cache, keys, values)
        keys[:], values[:] = 99.0, 99.0
    wanted = np.concatenate([block[0] for block in blocks], axis=1)
    keys = array(_read(cache)[0], "`cache.keys`", wanted.shape)
    agree(
        keys,
        wanted,
        0.0,
        "`cache.keys`, after the caller overwrote its arrays",
        "Store a copy of every block.",
    )


# --------------------------------------------------------------- generate


class Counting:
    """A model without attention: the next id follows from the sum of all ids and the position.

    It is a stand-in for ``TinyLM`` that notices every id that it processes, and where. Two layers, one head.
    """

    n_layers, kv_heads, head_dim, vocab = 2, 1, 2, 13

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, bool]] = []  # number of ids, start, with caches?
        self.now = 0.0

    def __call__(self, tokens: Any, caches: Any = None, start: Any = 0) -> Array:
        ids = np.asarray(tokens)
        if ids.ndim != 1 or ids.dtype.kind not in "iu" or not len(ids):
            raise Mistake(f"The model got {kind(tokens)} as its tokens; it takes a non-empty list of ids.")
        begin = whole(start, "`start`")
        self.calls.append((len(ids), begin, caches is not None))
        self.now += float(len(ids))  # an id costs one second
        seen = ids.astype(np.float64)
        if caches is not None:
            if len(caches) != self.n_layers:
                raise Mistake(f"The model got {len(caches)} caches; it has {self.n_layers} layers.")
            for cache in caches:
                block = np.stack([seen, begin + np.arange(len(ids))], axis=-1)[None]
                _append(cache, block, block)
            seen = array(_read(caches[0])[0], "`cache.keys`")[0, :, 0]
        sums = np.cumsum(seen)[-len(ids) :]
        score = (7 * sums + 3 * (begin + np.arange(len(ids)))) % self.vocab
        return -np.abs(np.arange(self.vocab) - score[:, None])

    def clock(self) -> float:
        return self.now


PROMPT = [3, 1, 4, 1, 5]


def _generate(
    lab: Lab, model: Any, prompt: Sequence[int], n_new: int, *, use_cache: bool
) -> tuple[list[int], Array]:
    result = lab.generate(model, list(prompt), n_new, use_cache=use_cache)
    tokens, logits = pair(result, "generate", "tokens", "logits")
    ids = [int(i) for i in array(tokens, "`tokens`", (len(prompt) + n_new,)).tolist()]
    return ids, array(logits, "`logits`", (n_new, model.vocab))


@check("generate.greedy", read=STEP)
def picks_the_largest_logit(lab: Lab) -> None:
    """Without a cache: the prompt, then n_new ids, each the largest logit of the last position."""
    model = Counting()
    tokens, logits = _generate(lab, model, PROMPT, 6, use_cache=False)
    if any(cached for _, _, cached in model.calls):
        raise Mistake(
            "With use_cache=False the model was called with caches.", "Then nothing is left to compare with."
        )
    if tokens[:5] != PROMPT:
        raise Mistake("The prompt is not at the beginning of the tokens.")
    if tokens[5:] != logits.argmax(axis=-1).tolist():
        raise Mistake(
            "A new id is not the largest of the logits given back with it.",
            "Greedy means argmax, no sampling.",
        )
    alone = Counting()(tokens[:-1])[-6:]
    guess = "out[-1] belongs to the last id of the block; out[0] to the first."
    agree(logits, alone, 1e-9, "A row of logits, against the model on the same ids", guess)


@check("generate.once", read=READ, needs=["generate.greedy", "KVCache.own"])
def every_id_once(lab: Lab) -> None:
    """With a cache every id goes through the model once, with its own position as `start`."""
    model = Counting()
    _generate(lab, model, PROMPT, 6, use_cache=True)
    if not all(cached for _, _, cached in model.calls):
        guess = "Make a new `KVCache()` for each layer, and hand the list to every call as `caches`."
        raise Mistake("With use_cache=True the model was called without caches.", guess)
    processed = sum(count for count, _, _ in model.calls)
    if processed not in (10, 11):
        guess = "After the prompt, feed the new id only." if processed > 11 else ""
        raise Mistake(
            f"For a prompt of 5 and 6 new ids, {processed} ids went through the model; 10 are enough.", guess
        )
    place = 0
    for count, start, _ in model.calls:
        if start != place:
            guess = (
                "Positions count from the start of the prompt: start is how many ids the cache already holds."
            )
            raise Mistake(f"A block that begins at position {place} was given start={start}.", guess)
        place += count


@check("generate.fresh", read=READ, needs=["generate.once"])
def starts_afresh(lab: Lab) -> None:
    """Two generations in a row do not know of each other, and a prompt of one id is a prompt."""
    first = _generate(lab, Counting(), PROMPT, 4, use_cache=True)[0]
    single = _generate(lab, Counting(), [2], 4, use_cache=True)[0]
    again = _generate(lab, Counting(), PROMPT, 4, use_cache=True)[0]
    if first != again:
        raise Mistake(
            "The same prompt gave other ids the second time.", "The caches of the last call are still filled."
        )
    if single != _generate(lab, Counting(), [2], 4, use_cache=False)[0]:
        raise Mistake("For a prompt of one id, the ids with and without the cache differ.")


@check("generate.same", read=READ, needs=["generate.once"])
def same_with_and_without(lab: Lab) -> None:
    """On TinyLM, with your attention and mask, ids and logits are the same with and without the cache."""
    lab.need("attention", "step 1")
    lab.need("causal_mask", "step 7")
    model = TinyLM(lab.attention, lab.causal_mask, seed=5)
    slow = _generate(lab, model, PROMPT, 8, use_cache=False)
    fast = _generate(lab, model, PROMPT, 8, use_cache=True)
    guess = "The mask of a block must be aligned at the lower right, or positions (`start`) are off."
    agree(fast[1], slow[1], 1e-9 * (1 + float(np.abs(slow[1]).max())), "The logits with the cache", guess)
    if slow[0] != fast[0]:
        raise Mistake("The generated ids differ with and without the cache.", guess)


# -------------------------------------------------------- time_generation


@check("time_generation.times", read=STEP, needs=["KVCache.own"])
def prefill_and_decode(lab: Lab) -> None:
    """prefill is the time of the prompt, decode one time per generated id after the first, in seconds."""
    for use_cache, wanted in ((True, [1.0] * 4), (False, [6.0, 7.0, 8.0, 9.0])):
        model = Counting()
        result = lab.time_generation(
            model, PROMPT, 5, use_cache=use_cache, clock=model.clock, sync=lambda: None
        )
        prefill, decode = pair(result, "time_generation", "prefill_seconds", "decode_seconds")
        mode = "with the cache" if use_cache else "without a cache"
        decode = array(decode, "`decode_seconds`")
        if decode.shape != (4,):
            hint = "The first new id comes out of the prefill, so for 5 new ids there are 4 decode times."
            if decode.ndim == 0:
                hint = "The pair is (prefill, decode), in this order, and decode is a sequence."
            raise Mistake(f"decode_seconds has the shape {decode.shape} {mode}.", hint)
        seconds = number(prefill, "`prefill_seconds`")
        hint = "Feed the new id only, and read the clock that was handed in." if use_cache else ""
        if abs(seconds - 5) > 1e-9 or np.abs(decode - wanted).max() > 1e-9:
            raise Mistake(f"At one second an id, the times {mode} are not what the model took.", hint)


@check("time_generation.sync", read=STEP, needs=["time_generation.times"])
def generation_waits(lab: Lab) -> None:
    """sync is called before every reading of the clock, so that queued work is in its own sample."""
    model, order = Counting(), list[str]()

    def clock() -> float:
        order.append("clock")
        return model.now

    lab.time_generation(model, PROMPT, 3, use_cache=True, clock=clock, sync=lambda: order.append("sync"))
    bare = [
        at for at, entry in enumerate(order) if entry == "clock" and (at == 0 or order[at - 1] == "clock")
    ]
    # Two readings in a row with no model call between them are one moment: at most every second may be bare.
    if "sync" not in order or len(bare) > order.count("clock") // 2:
        raise Mistake(
            "The clock is read while work may still be queued.", "Call sync() just before you read the clock."
        )


# --------------------------------------------------------- kv_cache_bytes


@check("kv_cache_bytes.table", read=READ)
def the_chapters_table(lab: Lab) -> None:
    """32 layers, 32 KV heads, head width 128, 2 bytes: 52,428,800,000 bytes for 100,000 tokens (52.4 GB)."""
    found = whole(lab.kv_cache_bytes(32, 32, 128, 100_000), "kv_cache_bytes")
    wanted = 52_428_800_000
    if found != wanted:
        guess = "A factor is missing or squared."
        if found * 2 == wanted:
            guess = "Keys and values are both stored: the factor 2."
        elif found * 128 == wanted:
            guess = "Each key has head_dim numbers."
        elif found != wanted and (found - wanted) % 2**32 == 0:
            guess = "A 32-bit integer overflows; Python's own int does not."
        raise Mistake(f"It is {found:,} bytes; the chapter's table has {wanted:,}.", guess)


@check("kv_cache_bytes.measured", read=STEP, needs=["kv_cache_bytes.table", "KVCache.own"])
def formula_and_measurement(lab: Lab) -> None:
    """The formula agrees with keys.nbytes + values.nbytes of your own caches."""
    caches = [_filled(lab, _blocks()) for _ in range(3)]
    measured = sum(int(np.asarray(part).nbytes) for cache in caches for part in _read(cache))
    formula = whole(lab.kv_cache_bytes(3, 2, 4, 6, itemsize=8), "kv_cache_bytes")
    if formula != measured:
        raise Mistake(
            f"For 3 layers, 2 heads of width 4, 6 tokens and float64, the formula says {formula:,} bytes "
            f"and the caches hold {measured:,}.",
            "The cache stores another dtype than it was given, or keys and values beyond the tokens.",
        )
