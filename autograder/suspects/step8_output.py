"""Mistakes of ``generate`` in what it picks and what it hands back."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import KVCache, softmax

TASK = "step8"
CACHE = "7.6, The KV cache"
LAB = "7.9, lab step 8"


@suspect(
    "sampled_not_greedy",
    task=TASK,
    hint="The next token is drawn at random; greedy decoding leaves nothing to chance.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.random.choice(len(rows[-1]), p=softmax(rows[-1] / 2))))
    return tokens, np.array(rows)


@same_mistake("sampled_not_greedy")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1] + 2 * np.random.gumbel(size=len(rows[-1])))))
    return tokens, np.array(rows)


@suspect(
    "least_likely_picked",
    task=TASK,
    hint="The token with the smallest logit is picked.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmin(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "second_best_picked",
    task=TASK,
    hint="Another token than that with the largest logit is picked.",
    read=LAB,
    also=(("np.argsort(rows[-1])[-2]", "np.argmax(np.abs(rows[-1]))"),),
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argsort(rows[-1])[-2]))
    return tokens, np.array(rows)


@suspect(
    "first_position_logits",
    task=TASK,
    hint="The logits are those of the first token of the block; the next one follows the last.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[0]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@same_mistake("first_position_logits")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        row = model(tokens[fed:], caches=caches, start=fed)[0] if use_cache else model(tokens)[-1]
        fed = len(tokens)
        rows.append(np.array(row))
        tokens.append(int(np.argmax(row)))
    return tokens, np.array(rows)


@suspect(
    "argmax_over_all_positions",
    task=TASK,
    hint="The largest logit of the whole block is looked for; only the last position counts.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = np.asarray(model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens))
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(out)) % out.shape[-1])
    return tokens, np.array(rows)


@same_mistake("argmax_over_all_positions")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = np.asarray(model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens))
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(out)))
    return tokens, np.array(rows)


@same_mistake("argmax_over_all_positions")
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = np.asarray(model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens))
        fed = len(tokens)
        rows.append(out.mean(axis=0))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "one_id_too_many",
    task=TASK,
    hint="One token more is made than was asked for.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new + 1):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "one_id_too_few",
    task=TASK,
    hint="One token less is made than was asked for.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new - 1):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "n_new_is_total_length",
    task=TASK,
    hint="The number of new tokens is taken for the length of the whole text.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    while len(tokens) < n_new:
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "prompt_left_out",
    task=TASK,
    hint="Only the new tokens come back; the prompt belongs in front of them.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens[len(prompt) :], np.array(rows)


@suspect(
    "logits_left_out",
    task=TASK,
    hint="The logits are missing, or only the last ones come back.",
    read=LAB,
    also=(("return tokens", "return tokens, rows[-1]"),),
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens


@suspect(
    "generate_returns_logits_first",
    task=TASK,
    hint="Both results are there, in the other order.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return np.array(rows), tokens


@suspect(
    "logits_are_probabilities",
    task=TASK,
    hint="The logits went through a softmax before they came back; hand them back as the model gives them.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(softmax(np.array(out[-1])))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "logits_one_step_late",
    task=TASK,
    hint="The logits that come back are those after each new token; it was picked from the ones before.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new + 1):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens[:-1], np.array(rows[1:])


@suspect(
    "logits_of_every_position",
    task=TASK,
    hint="The logits of the prompt come back as well; one row for each new token is asked.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = np.asarray(model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens)[fed:])
        fed = len(tokens)
        rows.extend(np.array(out))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "context_cut_off",
    task=TASK,
    hint="Without a cache only the end of the text goes into the model.",
    read=LAB,
    also=(("[-1:]", "[-8:]"),),
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows, fed = [int(t) for t in prompt], [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        out = model(tokens[fed:], caches=caches, start=fed) if use_cache else model(tokens[-1:])
        fed = len(tokens)
        rows.append(np.array(out[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "new_tokens_not_fed_back",
    task=TASK,
    hint="The model never sees the tokens that it made, so it makes the same one each time.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens, rows = [int(t) for t in prompt], []
    for _ in range(n_new):
        caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
        rows.append(np.array(model([int(t) for t in prompt], caches=caches, start=0)[-1]))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, np.array(rows)


@suspect(
    "all_new_tokens_from_one_call",
    task=TASK,
    hint="The new tokens are read off one call of the model; each depends on the one before.",
    read=LAB,
)
def generate(model, prompt, n_new, *, use_cache):
    tokens = [int(t) for t in prompt]
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    rows = np.resize(np.asarray(model(tokens, caches=caches, start=0)), (n_new, model.vocab))
    return tokens + [int(i) for i in np.argmax(rows, axis=-1)], rows
