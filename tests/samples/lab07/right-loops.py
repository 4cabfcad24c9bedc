# Every function written out with loops over plain numbers: slow, and right.
# %% step1-softmax
def softmax(x, axis=-1):
    x = np.asarray(x)
    result = np.empty(x.shape, dtype=float)
    rows, out = np.moveaxis(x, axis, -1), np.moveaxis(result, axis, -1)
    for where in np.ndindex(rows.shape[:-1]):
        top = max(float(value) for value in rows[where])
        exponentials = [math.exp(float(value) - top) for value in rows[where]]
        total = sum(exponentials)
        for j, value in enumerate(exponentials):
            out[where + (j,)] = value / total
    return result


# %% step1-attention
def attention(Q, K, V, mask=None):
    n_q, d_k = Q.shape[-2:]
    n_k, d_v = V.shape[-2:]
    output, weights = np.zeros(Q.shape[:-1] + (d_v,)), np.zeros(Q.shape[:-1] + (n_k,))
    allowed = np.broadcast_to(True if mask is None else mask, weights.shape)
    for head in np.ndindex(Q.shape[:-2]):
        for i in range(n_q):
            scores = np.full(n_k, -np.inf)
            for j in range(n_k):
                if allowed[head + (i, j)]:
                    scores[j] = sum(float(Q[head + (i, c)]) * float(K[head + (j, c)]) for c in range(d_k)) / math.sqrt(d_k)
            weights[head + (i,)] = softmax(scores)
            for j in range(n_k):
                output[head + (i,)] += weights[head + (i, j)] * V[head + (j,)]
    return output, weights


# %% step2-worked-example
def worked_example(X, W_q, W_k, W_v):
    def product(A, B):
        return np.array([[sum(a * b for a, b in zip(row, column)) for column in B.T] for row in A])

    stages = {}
    stages["queries"], stages["keys"], stages["values"] = product(X, W_q), product(X, W_k), product(X, W_v)
    stages["scores"] = product(stages["queries"], stages["keys"].T)
    stages["scaled_scores"] = stages["scores"] / len(stages["keys"][0]) ** 0.5
    stages["weights"] = np.array([softmax(row) for row in stages["scaled_scores"]])
    stages["output"] = product(stages["weights"], stages["values"])
    return stages


# %% step4-permutation-gap
def permutation_gap(fn, X, perm):
    before, after = fn(X), fn(X[perm])
    worst = 0.0
    for slot, token in enumerate(perm):
        for a, b in zip(after[slot], before[token]):
            gap = abs(float(a) - float(b))
            if math.isnan(gap):
                return math.nan
            worst = max(worst, gap)
    return worst


# %% step4-sinusoidal-positions
def sinusoidal_positions(n, d):
    P = np.zeros((n, d))
    for position in range(n):
        for i in range(d // 2):
            angle = position / 10000 ** (2 * i / d)
            P[position, 2 * i], P[position, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return P


# %% step5-local-slopes
def local_slopes(ns, seconds):
    slopes = []
    for i in range(len(ns) - 1):
        slopes.append(math.log(seconds[i + 1] / seconds[i]) / math.log(ns[i + 1] / ns[i]))
    return slopes


# %% step7-causal-mask
def causal_mask(n_q, n_k=None):
    n_k = n_q if n_k is None else n_k
    return np.array([[j <= i + n_k - n_q for j in range(n_k)] for i in range(n_q)])


# %% step8-kv-cache
class KVCache:
    def __init__(self):
        self._blocks = []

    def append(self, k, v):
        self._blocks.append((np.array(k), np.array(v)))

    @property
    def keys(self):
        return np.concatenate([k for k, _ in self._blocks], axis=-2)

    @property
    def values(self):
        return np.concatenate([v for _, v in self._blocks], axis=-2)
