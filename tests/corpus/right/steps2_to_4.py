# Right answers to steps 2, 3 and 4.
# %% worked_example as an ordered mapping with more than was asked
import collections


def worked_example(X, W_q, W_k, W_v):
    d = collections.OrderedDict(queries=X @ W_q, keys=X @ W_k, values=X @ W_v)
    d["scores"] = d["queries"] @ d["keys"].T
    d["scaled_scores"] = d["scores"] / np.sqrt(W_q.shape[-1])
    d["weights"] = softmax(d["scaled_scores"])
    d["output"] = d["weights"] @ d["values"]
    d["note"] = "the row of içti"
    return d


# %% worked_example from attention's own results, scores taken back from the scaled ones
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    output, weights = attention(q, k, v)
    scaled = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[1])
    return dict(queries=q, keys=k, values=v, scores=scaled * np.sqrt(q.shape[1]), scaled_scores=scaled, weights=weights, output=output)


# %% worked_example with nested lists
def worked_example(X, W_q, W_k, W_v):
    q, k, v = X @ W_q, X @ W_k, X @ W_v
    s = q @ k.T
    z = s / k.shape[1] ** 0.5
    w = softmax(z)
    return {n: a.tolist() for n, a in zip("queries keys values scores scaled_scores weights output".split(), (q, k, v, s, z, w, w @ v))}


# %% compare_with_torch in float64 for the difference, a list as the pair
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0], dtype=np.float64)
    t = lambda a: torch.tensor(np.array(a))
    with sdpa_kernel([SDPBackend.MATH]):
        theirs = torch.nn.functional.scaled_dot_product_attention(t(Q), t(K), t(V), None if mask is None else t(mask), 0.0)
    gap = np.abs(own - theirs.double().numpy())
    return [float(gap.max()) if np.isfinite(gap).all() else float("inf"), "MATH"]


# %% compare_with_torch through a torch comparison
import torch


def compare_with_torch(attention_fn, Q, K, V, mask=None):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = SDPBackend.MATH
    ours, _ = attention_fn(np.array(Q), np.array(K), np.array(V), mask=mask)
    arguments = [torch.from_numpy(np.ascontiguousarray(a).copy()) for a in (Q, K, V)]
    with sdpa_kernel(backend):
        theirs = torch.nn.functional.scaled_dot_product_attention(
            *arguments, attn_mask=None if mask is None else torch.from_numpy(np.array(mask)), dropout_p=0.0
        )
    difference = (torch.as_tensor(np.asarray(ours)).to(torch.float64) - theirs.to(torch.float64)).abs().max()
    return difference.item(), backend.name


# %% permutation_gap by undoing the shuffle with argsort
def permutation_gap(fn, X, perm):
    undone = fn(X[perm])[np.argsort(perm)]
    return np.abs(undone - fn(X)).max().item()


# %% permutation_gap by a permutation matrix
def permutation_gap(fn, X, perm):
    P = np.eye(len(perm))[np.asarray(perm)]
    return float(np.linalg.norm((fn(X[perm]) - np.asarray(fn(X))[perm]).ravel(), np.inf)) + 0.0 * P.sum()


# %% permutation_gap with take
def permutation_gap(fn, X, perm):
    a = np.asarray(fn(np.take(X, perm, axis=0)))
    b = np.take(np.asarray(fn(X)), perm, axis=0)
    return np.max(np.fabs(a - b))


# %% sinusoidal_positions from a phase shift: the cosine is a sine a quarter turn later
def sinusoidal_positions(n, d):
    j = np.arange(d)
    rate = 10000.0 ** (-(j - j % 2) / d)
    return np.sin(np.arange(n)[:, None] * rate + (j % 2) * np.pi / 2)


# %% sinusoidal_positions by rotating one position at a time
def sinusoidal_positions(n, d):
    rate = np.exp(-np.arange(0, d, 2) * np.log(10000.0) / d)
    P = np.zeros((n, d))
    s, c = np.zeros(d // 2), np.ones(d // 2)
    for p in range(n):
        P[p, ::2], P[p, 1::2] = s, c
        s, c = s * np.cos(rate) + c * np.sin(rate), c * np.cos(rate) - s * np.sin(rate)
    return P


# %% sinusoidal_positions with stack and reshape
def sinusoidal_positions(n, d):
    angles = np.einsum("p,i->pi", np.arange(n, dtype=float), np.power(10000.0, -np.arange(d // 2) * 2.0 / d))
    return np.stack((np.sin(angles), np.cos(angles)), axis=2).reshape(n, -1)


# %% equivariance_report with lambdas
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    n = X.shape[0]
    P = position_scale * sinusoidal_positions(n, X.shape[1])
    heads = {
        "plain": lambda Z: self_attention(Z, W_q, W_k, W_v)[0],
        "positions": lambda Z: self_attention(Z + P, W_q, W_k, W_v)[0],
        "causal": lambda Z: self_attention(Z, W_q, W_k, W_v, mask=np.tril(np.ones((n, n), dtype=bool)))[0],
    }
    return {name: permutation_gap(head, X, perm) for name, head in heads.items()}


# %% equivariance_report without permutation_gap, everything spelled out
def equivariance_report(X, perm, W_q, W_k, W_v, position_scale=0.3):
    def gap(a, b):
        return float(np.abs(a - b).max())

    P = sinusoidal_positions(len(X), X.shape[1]) * position_scale
    tri = np.arange(len(X))[:, None] >= np.arange(len(X))
    run = lambda Z, m=None: self_attention(Z, W_q, W_k, W_v, m)[0]
    report = {}
    report["plain"] = gap(run(X[perm]), run(X)[perm])
    report["positions"] = gap(run(X[perm] + P), run(X + P)[perm])
    report["causal"] = gap(run(X[perm], tri), run(X, tri)[perm])
    return report
