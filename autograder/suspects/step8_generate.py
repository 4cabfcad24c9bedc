"""Mistakes of ``generate`` with the cache: what is fed, at which position, into which caches."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import KVCache

TASK = "step8"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 8"


@suspect(
    "whole_sequence_fed_to_cache",
    task=TASK,
    hint="With a cache the whole text goes in at every step, and every token is stored again and again.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        rows.append(np.array(model(tokens, caches=caches, start=0)[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "cache_rebuilt_every_step",
    task=TASK,
    hint="The caches are new at every step and the whole text goes in, so nothing is saved.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    for _ in range(n_new):
        caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
        rows.append(np.array(model(tokens, caches=caches, start=0)[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "cache_never_used",
    task=TASK,
    hint="Both settings compute everything anew; the cache is never filled.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    for _ in range(n_new):
        rows.append(np.array(model(tokens)[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "recompute_path_uses_cache",
    task=TASK,
    hint="Both settings use the cache, so the comparison between them says nothing.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)]
    for _ in range(n_new):
        rows.append(np.array(model(tokens[fed:], caches=caches, start=fed)[-1]))
        fed = len(tokens)
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "use_cache_inverted",
    task=TASK,
    hint="The two settings have changed places.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = None if use_cache else [KVCache() for _ in range(model.n_layers)]
    for _ in range(n_new):
        out = model(tokens) if use_cache else model(tokens[fed:], caches=caches, start=fed)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "cache_kept_between_calls",
    task=TASK,
    hint="The caches still hold the prompt of an earlier call.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache, _store={}):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = _store.setdefault(model.n_layers, [KVCache() for _ in range(model.n_layers)]) if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "one_cache_for_all_layers",
    task=TASK,
    hint="All layers write into the same cache.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache()] * model.n_layers if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "caches_not_one_per_layer",
    task=TASK,
    hint="The number of caches does not follow the number of layers.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache(), KVCache()] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("caches_not_one_per_layer")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = KVCache() if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


# ---- positions
@suspect(
    "start_always_zero",
    task=TASK,
    hint="Every new token is placed at the very first position.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "start_one_too_far",
    task=TASK,
    hint="New tokens are placed one position too late.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        start = fed + 1 if fed else 0
        out = model(tokens[fed:], caches=caches, start=start) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("start_one_too_far")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed + 1) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "start_one_too_early",
    task=TASK,
    hint="New tokens are placed one position too early, on top of the last one.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=max(fed - 1, 0)) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "start_counts_new_ids_only",
    task=TASK,
    hint="The positions count the new tokens only; those of the prompt come before.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for i in range(n_new):
        out = model(tokens[fed:], caches=caches, start=i) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("start_counts_new_ids_only")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for i in range(n_new):
        out = model(tokens[fed:], caches=caches, start=max(i - 1, 0)) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


# ---- the prompt
@suspect(
    "last_prompt_token_twice",
    task=TASK,
    hint="A token that is in the cache already is fed and stored once more.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    if use_cache:
        model(tokens, caches=caches, start=0)
    for _ in range(n_new):
        out = model(tokens[-1:], caches=caches, start=len(tokens) - 1) if use_cache else model(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("last_prompt_token_twice")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    if use_cache:
        model(tokens, caches=caches, start=0)
    for _ in range(n_new):
        out = model(tokens[-1:], caches=caches, start=len(tokens)) if use_cache else model(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "prompt_fed_twice",
    task=TASK,
    hint="The whole prompt is in the cache two times.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    if use_cache:
        model(tokens, caches=caches, start=0)
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "prompt_not_prefilled",
    task=TASK,
    hint="The cache starts with the end of the prompt; what comes before is never seen.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[-1:], caches=caches, start=len(tokens) - 1) if use_cache else model(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "prompt_token_skipped",
    task=TASK,
    hint="One token of the prompt never reaches the cache.",
    read=CACHE,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        block = tokens[fed:] if fed or len(tokens) < 2 else tokens[:-1]
        out = model(block, caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("prompt_token_skipped")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], min(1, len(prompt) - 1)
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "prompt_of_one_fails",
    task=TASK,
    hint="A prompt of a single token is refused, although it is a legal one.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    if use_cache:
        if len(tokens) < 2:
            raise ValueError("the prompt is too short")
        model(tokens[:-1], caches=caches, start=0)
    for _ in range(n_new):
        out = model(tokens[-1:], caches=caches, start=len(tokens) - 1) if use_cache else model(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("prompt_of_one_fails")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    if use_cache:
        model(tokens[:-1], caches=caches, start=0)
    for _ in range(n_new):
        out = model(tokens[-1:], caches=caches, start=len(tokens) - 1) if use_cache else model(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)
