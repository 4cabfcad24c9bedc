# Right answers to steps 7 and 8.
# %% causal_mask from a triangle of ones
def causal_mask(n_q, n_k=None):
    n_k = n_k or n_q
    return ~np.triu(np.ones((n_q, n_k), bool), k=n_k - n_q + 1)


# %% causal_mask cut out of a larger square one
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.tri(n_k, dtype=bool)[n_k - n_q :]


# %% causal_mask with fromfunction
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.fromfunction(lambda i, j: j - i <= n_k - n_q, (n_q, n_k))


# %% prefix_gap with vstack
def prefix_gap(fn, X, x_new):
    return np.abs(fn(np.vstack([X, x_new]))[:-1] - fn(X)).max()


# %% prefix_gap with a buffer and a loop
def prefix_gap(fn, X, x_new):
    n, d = X.shape
    longer = np.empty((n + 1, d), X.dtype)
    longer[:n], longer[n] = X, x_new
    before, after = fn(X), fn(longer)
    gaps = [float(np.max(np.abs(after[i] - before[i]))) for i in range(n)]
    return math.nan if any(math.isnan(g) for g in gaps) else max(gaps)


# %% a cache of lists that joins when it is read
class KVCache:
    def __init__(self):
        self.k, self.v = [], []

    def append(self, k, v):
        self.k.append(k.copy())
        self.v.append(v.copy())

    keys = property(lambda self: np.concatenate(self.k, axis=-2))
    values = property(lambda self: np.concatenate(self.v, axis=-2))


# %% a cache that is a list of blocks, with a return value that nobody asked for
class KVCache(list):
    def append(self, k, v):
        super().append((np.array(k), np.array(v)))
        return self

    keys = property(lambda self: np.concatenate([k for k, _ in self], axis=-2))
    values = property(lambda self: np.concatenate([v for _, v in self], axis=-2))


# %% a cache that stores token by token
class KVCache:
    def __init__(self):
        self.rows = []

    def append(self, k, v):
        for t in range(k.shape[-2]):
            self.rows.append((np.array(k[..., t, :]), np.array(v[..., t, :])))

    @property
    def keys(self):
        return np.stack([k for k, _ in self.rows], axis=-2)

    @property
    def values(self):
        return np.stack([v for _, v in self.rows], axis=-2)


# %% a dataclass as a cache
from dataclasses import dataclass, field


@dataclass
class KVCache:
    blocks: list = field(default_factory=list)

    def append(self, k, v):
        self.blocks = [*self.blocks, (np.array(k, copy=True), np.array(v, copy=True))]

    @property
    def keys(self):
        return np.concatenate([b[0] for b in self.blocks], -2)

    @property
    def values(self):
        return np.concatenate([b[1] for b in self.blocks], -2)


# %% generate with two separate loops
def generate(model, prompt, n_new, *, use_cache):
    ids, rows = [int(i) for i in prompt], []
    if not use_cache:
        for _ in range(n_new):
            rows.append(model(np.array(ids))[-1])
            ids.append(int(rows[-1].argmax()))
        return ids, np.array(rows)
    caches = [KVCache() for _ in range(model.n_layers)]
    rows.append(model(ids, caches=caches, start=0)[-1])
    ids.append(int(np.argmax(rows[-1])))
    while len(rows) < n_new:
        rows.append(model([ids[-1]], caches=caches, start=len(ids) - 1)[-1])
        ids.append(int(np.argmax(rows[-1])))
    return ids, np.vstack(rows)


# %% generate that feeds the prompt in blocks of three
def generate(model, prompt, n_new, *, use_cache):
    tokens, logits = list(prompt), []
    caches = tuple(KVCache() for _ in range(model.n_layers)) if use_cache else None
    fed = 0
    for _ in range(n_new):
        if caches is None:
            out = model(tokens)
        else:
            while fed < len(tokens):
                block = tokens[fed : fed + 3]
                out = model(block, caches, fed)
                fed += len(block)
        logits.append(out[-1])
        tokens.append(max(range(len(out[-1])), key=out[-1].__getitem__))
    return tokens, np.asarray(logits)


# %% generate that feeds the last id too
def generate(model, prompt, n_new, *, use_cache):
    sequence, kept = list(prompt), []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    row = model(sequence, caches=caches, start=0)[-1] if use_cache else model(sequence)[-1]
    for _ in range(n_new):
        kept.append(np.array(row))
        sequence.append(int(np.argmax(row)))
        row = model(sequence[-1:], caches=caches, start=len(sequence) - 1)[-1] if use_cache else model(sequence)[-1]
    return sequence, np.stack(kept)


# %% time_generation with a warm-up run before the one that counts
def time_generation(model, prompt, n_new, *, use_cache, clock, sync):
    generate(model, prompt, n_new, use_cache=use_cache)
    tokens, seconds = list(prompt), []
    caches = [KVCache() for _ in range(model.n_layers)] if use_cache else None
    done = 0
    for _ in range(n_new):
        sync()
        begin = clock()
        row = (model(tokens[done:], caches=caches, start=done) if use_cache else model(tokens))[-1]
        sync()
        seconds.append(clock() - begin)
        done = len(tokens)
        tokens.append(int(np.argmax(row)))
    return [seconds[0], np.array(seconds[1:])]


# %% kv_cache_bytes as a loop over layers
def kv_cache_bytes(layers, kv_heads, head_dim, tokens, itemsize=2):
    total = 0
    for _ in range(layers):
        for _part in ("keys", "values"):
            total += kv_heads * tokens * head_dim * itemsize
    return np.int64(total)
