"""Mistakes of ``time_generation``: the clock, the queue, the split into prefill and decode."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import KVCache

TASK = "step8"
PHASES = "7.6, The KV cache"
LAB = "7.9, lab step 8"
CLOCK = "7.9, lab step 5"


# ---- what runs
@suspect(
    "generation_cache_ignored",
    task=TASK,
    hint="With and without a cache the whole text is computed anew for every token.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds = [int(t) for t in prompt], []
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens)
        sync()
        seconds.append(clock() - start)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_always_cached",
    task=TASK,
    hint="Both settings use the cache, so the two curves cannot differ.",
    read=LAB,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)]
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_use_cache_inverted",
    task=TASK,
    hint="The two settings have changed places.",
    read=LAB,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = None if use_cache else [KVCache() for _ in range(model.n_layers)]
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens) if use_cache else model(tokens[fed:], caches=caches, start=fed)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "whole_sequence_timed_with_cache",
    task=TASK,
    hint="With a cache the whole text goes in at every step, and is stored again.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens, caches=caches, start=0)
        sync()
        seconds.append(clock() - start)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@same_mistake("whole_sequence_timed_with_cache")
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds = [int(t) for t in prompt], []
    for _ in range(n_new):
        caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
        sync()
        start = clock()
        out = model(tokens, caches=caches, start=0)
        sync()
        seconds.append(clock() - start)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_start_always_zero",
    task=TASK,
    hint="Every new token is placed at the very first position, so another text is timed.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=0) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_prompt_not_prefilled",
    task=TASK,
    hint="What is timed as the prefill is a single token; the prompt is never read.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[-1:], caches=caches, start=len(tokens) - 1) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_text_not_continued",
    task=TASK,
    hint="The new tokens are not fed back, so every step times the same work.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds = [int(t) for t in prompt], []
    for _ in range(n_new):
        caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
        sync()
        start = clock()
        model(tokens, caches=caches, start=0)
        sync()
        seconds.append(clock() - start)
    return seconds[0], seconds[1:]


# ---- the clock and the queue
@suspect(
    "generation_clock_ignored",
    task=TASK,
    hint="The times come from another clock than the one that was handed over.",
    read=CLOCK,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    import time

    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = time.perf_counter()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(time.perf_counter() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_not_synchronised",
    task=TASK,
    hint="The clock is read while work is still queued.",
    read=CLOCK,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_sync_too_late",
    task=TASK,
    hint="The queue is waited for around the step, but not before the clock is read at its end.",
    read=CLOCK,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        seconds.append(clock() - start)
        sync()
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@same_mistake("generation_sync_too_late")
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_no_sync_before_start",
    task=TASK,
    hint="What was queued earlier is still running when the clock starts, and is counted.",
    read=CLOCK,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "generation_start_not_read_again",
    task=TASK,
    hint="The times grow from token to token as if each contained all before it.",
    read=CLOCK,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    sync()
    start = clock()
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]
