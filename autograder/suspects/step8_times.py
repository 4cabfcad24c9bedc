"""Mistakes of ``time_generation`` in what it hands back: how many times, in which order and unit."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import KVCache

TASK = "step8"
PHASES = "7.6, The KV cache"
LAB = "7.9, lab step 8"


@suspect(
    "decode_and_prefill_swapped",
    task=TASK,
    hint="Both results are there, in the other order.",
    read=LAB,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[1:], seconds[0]


@suspect(
    "prefill_among_decode_times",
    task=TASK,
    hint="The time of the prompt stands among those of the single tokens too.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds


@suspect(
    "one_decode_time_too_many",
    task=TASK,
    hint="The first new token comes out of the prefill, so there is one decode time less than is handed back.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new + 1):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "one_decode_time_too_few",
    task=TASK,
    hint="One of the decode times is missing.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new - 1):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@same_mistake("one_decode_time_too_few")
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[2:]


@suspect(
    "decode_mean_repeated",
    task=TASK,
    hint="Every token is given the average time; how it changes along the text is asked.",
    read=LAB,
    also=(("np.mean(decode)", "np.median(decode)"), ("np.mean(decode)", "min(decode)")),
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    decode = seconds[1:]
    return seconds[0], [float(np.mean(decode))] * len(decode) if decode else []


@suspect(
    "decode_total_only",
    task=TASK,
    hint="One number covers all new tokens; each has a time of its own.",
    read=LAB,
    also=(
        ("sum(seconds[1:])", "[sum(seconds[1:])]"),
        ("sum(seconds[1:])", "sum(seconds[1:]) / max(1, len(seconds) - 1)"),
    ),
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], sum(seconds[1:])


@suspect(
    "decode_times_added_up",
    task=TASK,
    hint="The times are running totals; the time of each token alone is asked.",
    read=LAB,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], [float(t) for t in np.cumsum(seconds[1:])]


@suspect(
    "prefill_per_token",
    task=TASK,
    hint="The time of the prompt is shared out among its tokens; the whole is asked.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0] / len(prompt), seconds[1:]


@suspect(
    "generation_milliseconds",
    task=TASK,
    hint="The times are off by a factor of a thousand, or a million.",
    read=LAB,
    also=(("1e3 *", "1e6 *"), ("1e3 *", "1e9 *")),
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(1e3 * (clock() - start))
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], seconds[1:]


@suspect(
    "tokens_per_second",
    task=TASK,
    hint="These are rates; how long each step took is asked.",
    read=LAB,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds[0], [1 / t for t in seconds[1:]]


@suspect(
    "prefill_left_out",
    task=TASK,
    hint="The time of the prompt is missing, or stands at nothing.",
    read=PHASES,
    also=(("return 0.0, seconds[1:]", "return seconds[1:]"),),
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return 0.0, seconds[1:]


@suspect(
    "times_in_one_list",
    task=TASK,
    hint="Prefill and decode times come in one list; they belong apart.",
    read=PHASES,
)
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, seconds, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        sync()
        seconds.append(clock() - start)
        fed = len(tokens)
        tokens.append(int(np.argmax(out[-1])))
    return seconds
