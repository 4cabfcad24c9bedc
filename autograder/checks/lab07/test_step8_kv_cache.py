"""Hidden checks of step 8, in the order in which a report shows them: ``KVCache`` and ``generate``.

The model is the oracle's (``autograder.reference.tiny_lm``); only the caches are the submission's.
"""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Lab, Remote
from autograder.reference.devices import Array
from autograder.reference.tiny_lm import TinyLM

check = Task("attention_lab", "step8")

#: Relative to the largest logit. Right code differs by about 1e-14, a float32 anywhere by about 1e-7.
CLOSE = 1e-9


def empty_cache(lab: Lab) -> Remote:
    """A new ``KVCache`` of the submission."""
    cache = lab.KVCache()
    if not isinstance(cache, Remote):
        raise CheckFailed(
            f"KVCache() should make an object with append(k, v), keys and values; {compare.described(cache)} came back."
        )
    return cache


def blocks(rng: np.random.Generator, lead: tuple[int, ...], sizes: list[int], d: int) -> list[tuple[Array, Array]]:
    """Keys and values ``(*lead, t, d)`` for each ``t`` in ``sizes``."""
    return [(rng.normal(size=(*lead, t, d)), rng.normal(size=(*lead, t, d))) for t in sizes]


def expect_content(cache: Remote, appended: list[tuple[Array, Array]], hint: str = "") -> None:
    """The cache holds these blocks, joined along the token axis, exactly."""
    for part, name in enumerate(("keys", "values")):
        truth = np.concatenate([block[part] for block in appended], axis=-2)
        compare.agree(cache.get(name), truth, 0.0, name=name, hint=hint)


@check("KVCache.one_block")
def test_one_block_comes_back(lab: Lab, rng: np.random.Generator) -> None:
    """What was appended first is in `keys` and `values`, as it came."""
    # As many heads as tokens would hide a wrong axis; here all three axes differ.
    (k, v), *_ = content = blocks(rng, (2,), [3], 4)
    cache = empty_cache(lab)
    cache.call("append", k, v)
    expect_content(cache, content)


@check("KVCache.grows", needs=["KVCache.one_block"])
def test_blocks_are_joined_in_order(lab: Lab, rng: np.random.Generator) -> None:
    """A prompt and then token after token: everything stays, in the order of arrival, along the token axis."""
    # With heads in front, joining along axis 0 makes more heads. Three single tokens after the prompt: keeping
    # the last two blocks, the last row of a block, or the newest first shows.
    content = blocks(rng, (2,), [5, 1, 1, 3, 1], 3)
    cache = empty_cache(lab)
    for i, (k, v) in enumerate(content):
        cache.call("append", k, v)
        expect_content(cache, content[: i + 1], "New tokens are joined behind the earlier ones along axis -2.")
    expect_content(cache, content, "Reading the cache must not change it.")


@check("KVCache.leading_axes", needs=["KVCache.one_block"])
def test_any_number_of_leading_axes(lab: Lab, rng: np.random.Generator) -> None:
    """Blocks may have no batch and head axes, or several."""
    for lead in ((), (3, 2), (2, 1, 3)):
        content = blocks(rng, lead, [2, 1, 4], 5)
        cache = empty_cache(lab)
        for k, v in content:
            cache.call("append", k, v)
        expect_content(cache, content, "Count the token axis from the end: it is axis -2.")


@check("KVCache.copies", needs=["KVCache.one_block"])
def test_cache_keeps_copies(lab: Lab, rng: np.random.Generator) -> None:
    """What was appended does not change when the caller overwrites its arrays later."""
    # The caller's buffers are used again and again, as a model does: concatenate copies every block but the first.
    (k, v), *_ = content = blocks(rng, (2,), [3], 2)
    K, V = lab.kept(k.copy()), lab.kept(v.copy())
    cache = empty_cache(lab)
    hint = "The cache changed when the caller wrote into its own arrays: store copies."
    cache.call("append", K, V)
    for value in (7.0, -3.0):
        K.fill(value)
        V.fill(value + 1)
        expect_content(cache, content, hint)
        cache.call("append", K, V)
        content.append((np.full_like(k, value), np.full_like(v, value + 1)))
        expect_content(cache, content, hint)


@check("KVCache.independent", needs=["KVCache.one_block"])
def test_caches_share_nothing(lab: Lab, rng: np.random.Generator) -> None:
    """Every layer has a cache of its own: two caches share nothing, and a new one starts empty."""
    # Appended in turn, of different widths: a list that belongs to the class, or a default argument, is shared.
    contents = [blocks(rng, (2,), [2, 1, 1], d) for d in (3, 4)]
    caches = [empty_cache(lab) for _ in contents]
    for step in range(3):
        for cache, content in zip(caches, contents, strict=True):
            cache.call("append", *content[step])
    third, content = empty_cache(lab), blocks(rng, (2,), [2], 3)
    third.call("append", *content[0])
    for cache, held in zip([*caches, third], [*contents, content], strict=True):
        expect_content(cache, held, "Something is shared between caches; make the storage in __init__.")


@check("KVCache.layouts", needs=["KVCache.one_block"])
def test_blocks_of_any_memory_layout(lab: Lab, rng: np.random.Generator) -> None:
    """Blocks may be transposed, strided or read-only, as views of a model's arrays are."""
    content = blocks(rng, (2,), [3, 2, 1], 4)
    cache = empty_cache(lab)
    for (k, v), layout in zip(content, ("transposed", "strided", "readonly"), strict=True):
        cache.call("append", lab.layout(k, layout), lab.layout(v, layout))
    expect_content(cache, content)


@check("KVCache.long", needs=["KVCache.grows"])
def test_long_generation_fits(lab: Lab, rng: np.random.Generator) -> None:
    """A prompt and the 512 tokens of the lab: nothing is lost on the way."""
    # Growing past every power of two up to 512: a buffer that wraps at its capacity, or loses rows when it grows.
    content = blocks(rng, (1,), [19, 1, 12, 1, 31, 1, 64, 127, 1, 130, 126, 1, 60], 2)
    cache = empty_cache(lab)
    for i, (k, v) in enumerate(content):
        cache.call("append", k, v)
        if i % 4 == 0:
            expect_content(cache, content[: i + 1], "Rows were lost or overwritten as the cache grew.")


def generated(lab: Lab, model: TinyLM, prompt: list[int], n_new: int, *, use_cache: bool) -> tuple[list[int], Array]:
    """``generate`` of the submission: tokens, and logits ``(n_new, vocab)``. Its calls are in ``model.calls``."""
    model.calls.clear()
    seen = lab.stand_in(model, attributes=model.attributes)
    answer = compare.pair(lab.generate(seen, list(prompt), n_new, use_cache=use_cache), "tokens", "logits")
    tokens = compare.array(answer[0], (len(prompt) + n_new,), name="tokens")
    return [int(t) for t in tokens], compare.array(answer[1], (n_new, model.vocab), name="logits")


def expect_greedy(lab: Lab, model: TinyLM, prompt: list[int], n_new: int, *, use_cache: bool) -> None:
    """Tokens and logits are those of the full computation, whatever is cached."""
    tokens, logits = generated(lab, model, prompt, n_new, use_cache=use_cache)
    true_tokens, true_logits = model.generate(prompt, n_new)
    setting = f"With use_cache={use_cache}, a prompt of {len(prompt)} and n_new={n_new}"
    if tokens[: len(prompt)] != prompt:
        raise CheckFailed(f"{setting}: the tokens should begin with the prompt, and they do not.")
    hint = (
        f"{setting}. Row i of the logits is the model's last row, from which new id i is picked; with a cache the "
        "positions (start) go on where the cached ids end."
    )
    compare.agree(logits, true_logits, CLOSE * float(np.abs(true_logits).max()), name="logits", hint=hint)
    if tokens != true_tokens:
        raise CheckFailed(f"{setting}: the logits are right, but a new id is not the one with the largest logit.")


def expect_each_id_once(model: TinyLM, tokens: list[int], n_prompt: int) -> None:
    """From the record of calls: with caches, every id once, in order, at its position, and greedy picks."""
    if not all(call.cached for call in model.calls):
        raise CheckFailed("With use_cache=True the model was called without caches.")
    fed, once = sum(len(call.ids) for call in model.calls), len(tokens) - 1
    if fed not in (once, once + 1):
        raise CheckFailed(
            f"With a cache every id goes through the model once: {n_prompt} of the prompt and {len(tokens) - n_prompt} "
            f"new ones make {once}, as the last need not be fed. Here {fed} ids were fed."
        )
    position, picked_after = 0, {}
    for number, call in enumerate(model.calls, start=1):
        if call.start != position:
            raise CheckFailed(
                f"Call {number} of the model began at start={call.start}, when {position} ids were cached: positions "
                "are counted from the beginning of the prompt."
            )
        if list(call.ids) != tokens[position : position + len(call.ids)]:
            raise CheckFailed(f"Call {number} of the model was fed other ids than the tokens that came back.")
        position += len(call.ids)
        picked_after[position] = int(np.argmax(call.last_logits))
    if any(tokens[i] != picked_after.get(i) for i in range(n_prompt, len(tokens))):
        raise CheckFailed("A new id is not the one with the largest logit in the last row that the model gave.")


@check("generate.recompute")
def test_generation_without_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """Without a cache: the prompt, then greedy ids, and the logits that each was picked from."""
    # Several ids: sampling, the first row instead of the last, or logits one step late show.
    model = TinyLM(rng)
    expect_greedy(lab, model, model.clear_prompt(rng, 5, 6), 6, use_cache=False)


@check("generate.cached")
def test_generation_with_a_cache(lab: Lab, rng: np.random.Generator) -> None:
    """With a cache the same tokens and the same logits come out."""
    # Two layers with positions: a start that is off, always 0 or counts new ids only, the last id of the prompt
    # fed twice, or one cache for both layers changes the logits.
    model = TinyLM(rng)
    expect_greedy(lab, model, model.clear_prompt(rng, 5, 6), 6, use_cache=True)


@check("generate.layers", needs=["generate.cached"])
def test_generation_follows_the_model(lab: Lab, rng: np.random.Generator) -> None:
    """The number of layers is the model's: one cache for each of its `n_layers`."""
    # Three layers, one head, other sizes: nothing may be written for the model of the notebook alone.
    model = TinyLM(rng, n_layers=3, kv_heads=1, head_dim=6, vocab=19)
    expect_greedy(lab, model, model.clear_prompt(rng, 4, 4), 4, use_cache=True)


@check("generate.prompt_of_one")
def test_prompt_of_one_id(lab: Lab, rng: np.random.Generator) -> None:
    """A prompt of a single id is a legal prompt, with and without a cache."""
    # Code that prefills all but the last id has nothing to prefill here.
    model = TinyLM(rng)
    prompt = model.clear_prompt(rng, 1, 4)
    for use_cache in (False, True):
        expect_greedy(lab, model, prompt, 4, use_cache=use_cache)


@check("generate.one_new_id")
def test_one_new_id(lab: Lab, rng: np.random.Generator) -> None:
    """One new id may be asked for: it comes from the prompt alone."""
    # The loop over decode steps is empty; the logits still have two axes.
    model = TinyLM(rng)
    prompt = model.clear_prompt(rng, 6, 1)
    for use_cache in (False, True):
        expect_greedy(lab, model, prompt, 1, use_cache=use_cache)


@check("generate.every_id", needs=["generate.recompute", "generate.cached"])
def test_no_id_ends_the_generation(lab: Lab, rng: np.random.Generator) -> None:
    """As many new ids come as were asked for, whichever they are: none of them ends it."""
    # Id 0 is picked on the way, and ids come again, as there are four for eight places: code that stops at one that it
    # takes for the end, or at one that was there before, gives fewer.
    n_new = 8
    model, prompt = _with_id_0(rng, n_new)
    for use_cache in (False, True):
        expect_greedy(lab, model, prompt, n_new, use_cache=use_cache)


def _with_id_0(rng: np.random.Generator, n_new: int) -> tuple[TinyLM, list[int]]:
    """A model of four words, and a prompt for which it picks id 0 before its last new id; every second one does."""
    while True:
        model = TinyLM(rng, vocab=4)
        prompt = model.clear_prompt(rng, 4, n_new)
        tokens, _ = model.generate(prompt, n_new)
        if 0 in tokens[len(prompt) : -1]:
            return model, prompt


@check("generate.each_id_once")
def test_with_a_cache_each_id_is_processed_once(lab: Lab, rng: np.random.Generator) -> None:
    """With a cache, each id goes through the model once, at its own position."""
    # Seen from the model's side, so that it counts even where a wrong KVCache spoils the logits. Feeding the
    # whole sequence again, or caches made anew at every step, saves nothing.
    model = TinyLM(rng)
    prompt = model.clear_prompt(rng, 4, 7)
    tokens, _ = generated(lab, model, prompt, 7, use_cache=True)
    if tokens[:4] != prompt:
        raise CheckFailed("The tokens should begin with the prompt, and they do not.")
    expect_each_id_once(model, tokens, len(prompt))


@check("generate.recomputes_everything", needs=["generate.recompute"])
def test_without_a_cache_everything_is_recomputed(lab: Lab, rng: np.random.Generator) -> None:
    """Without a cache, every step runs the whole sequence through the model: that is what a cache is compared with."""
    # If both settings use the cache the outputs agree, and the comparison is one of the cache with itself.
    model = TinyLM(rng)
    prompt, n_new = model.clear_prompt(rng, 5, 5), 5
    expect_greedy(lab, model, prompt, n_new, use_cache=False)
    fed, needed = sum(len(call.ids) for call in model.calls), sum(range(len(prompt), len(prompt) + n_new))
    if fed < needed:
        raise CheckFailed(
            f"With use_cache=False only {fed} ids went through the model; recomputing the whole sequence for each of "
            f"the {n_new} new ids takes {needed}."
        )


@check("generate.starts_empty", needs=["generate.cached"])
def test_each_generation_starts_empty(lab: Lab, rng: np.random.Generator) -> None:
    """A second prompt knows nothing of the first: every generation starts with empty caches."""
    model, other = TinyLM(rng), TinyLM(rng)
    # Two prompts, then another model of the same shape, then the first again.
    for m, length in ((model, 5), (model, 3), (other, 4), (model, 5)):
        expect_greedy(lab, m, m.clear_prompt(rng, length, 3), 3, use_cache=True)


@check("generate.prompt_unchanged", needs=["generate.recompute"])
def test_prompt_is_left_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The caller's prompt stays as it is: the new ids go into a list of your own."""
    model = TinyLM(rng)
    prompt = model.clear_prompt(rng, 4, 3)
    kept = lab.kept(list(prompt))
    for use_cache in (False, True):
        seen = lab.stand_in(model, attributes=model.attributes)
        tokens, _ = compare.pair(lab.generate(seen, kept, 3, use_cache=use_cache), "tokens", "logits")
        compare.agree(tokens, model.generate(prompt, 3)[0], 0.0, name="tokens")
        if kept.get_whole() != prompt:
            raise CheckFailed("After generate the prompt itself had changed; work on a copy, such as list(prompt).")
