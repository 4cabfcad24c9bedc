# %% [markdown]
# A right answer to every step, written for these tests, as a percent script.

# %%
import math

import numpy as np

from attnlab import attempt, check, experiment, progress


# %%
def softmax(x, axis=-1):
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights


def self_attention(X, W_q, W_k, W_v, mask=None):
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask)


check("step1")


# %%
def worked_example(X, W_q, W_k, W_v):
    stages = {"queries": X @ W_q, "keys": X @ W_k, "values": X @ W_v}
    stages["scores"] = np.einsum("qd,kd->qk", stages["queries"], stages["keys"])
    stages["scaled_scores"] = stages["scores"] / math.sqrt(W_k.shape[1])
    stages["weights"] = softmax(stages["scaled_scores"])
    stages["output"] = stages["weights"] @ stages["values"]
    return stages


# %%
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    tensors = [torch.tensor(part) for part in (Q, K, V)]
    allowed = None if mask is None else torch.tensor(mask)
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=allowed)
    mine = attention_fn(Q, K, V, mask=mask)[0]
    return float(np.abs(mine - theirs.numpy()).max()), SDPBackend.MATH.name


# %%
def permutation_gap(fn, X, perm):
    return float(np.abs(fn(X[perm]) - fn(X)[perm]).max())


def sinusoidal_positions(n, d):
    angles = np.arange(n)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    places, mask = position_scale * sinusoidal_positions(*X.shape), causal_mask(len(X))
    cases = {
        "plain": lambda Z: self_attention(Z, W_q, W_k, W_v)[0],
        "positions": lambda Z: self_attention(Z + places, W_q, W_k, W_v)[0],
        "causal": lambda Z: self_attention(Z, W_q, W_k, W_v, mask=mask)[0],
    }
    return {name: permutation_gap(fn, X, perm) for name, fn in cases.items()}


# %%
def time_calls(fn, make_args, ns, *, warmup, repeats, clock, sync):
    rows = []
    for n in ns:
        args, row = make_args(n), []
        for _ in range(warmup):
            fn(*args)
        for _ in range(repeats):
            sync()
            start = clock()
            fn(*args)
            sync()
            row.append(clock() - start)
        rows.append(row)
    return rows


def local_slopes(ns, seconds):
    return np.diff(np.log(seconds)) / np.diff(np.log(ns))


def fit_exponent(ns, seconds):
    return float(np.polyfit(np.log(ns), np.log(seconds), 1)[0])


# %%
def score_bytes(n, heads=1, itemsize=2):
    return n * n * heads * itemsize


def peak_memory(fn, *args, meter):
    meter.reset()
    fn(*args)
    return meter.allocated_peak(), meter.reserved_peak()


def largest_n(fits, start=1024):
    def fine(n):
        try:
            return fits(n)
        except MemoryError:
            return False

    low, high = 0, start
    while fine(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fine(middle) else (low, middle)
    return low


# %%
def causal_mask(n_q, n_k=None):
    n_k = n_k or n_q
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


def prefix_gap(fn, X, x_new):
    return float(np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X)).max())


# %%
class KVCache:
    def __init__(self):
        self.keys = self.values = None

    def append(self, k, v):
        if self.keys is None:
            self.keys, self.values = k.copy(), v.copy()
        else:
            self.keys = np.concatenate([self.keys, k], axis=-2)
            self.values = np.concatenate([self.values, v], axis=-2)


def generate(model, prompt, n_new, *, use_cache):
    tokens, logits, held = list(prompt), [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        logits.append(model(tokens[held:], caches, held)[-1])
        held = len(tokens) if use_cache else 0
        tokens.append(int(np.argmax(logits[-1])))
    return tokens, np.array(logits)


def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    tokens, times, held = list(prompt), [], 0
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    for _ in range(n_new):
        sync()
        start = clock()
        row = model(tokens[held:], caches, held)[-1]
        sync()
        times.append(clock() - start)
        held = len(tokens) if use_cache else 0
        tokens.append(int(np.argmax(row)))
    return times[0], times[1:]


def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    return 2 * layers * kv_heads * head_dim * tokens * itemsize


# %%
if experiment(__name__):
    with attempt("everything"):
        raise RuntimeError("an experiment ran although the file was only loaded")

# %%
progress()
