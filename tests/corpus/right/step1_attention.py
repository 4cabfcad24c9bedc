# Right attentions.
# %% matmul and masked_where
def attention(Q, K, V, mask=None):
    s = np.matmul(Q, np.moveaxis(K, -1, -2)) / np.sqrt(K.shape[-1])
    if mask is not None:
        s = np.ma.masked_where(~np.broadcast_to(mask, s.shape), s).filled(-np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return np.matmul(w, V), w


# %% the scale on the queries, a large negative number for hidden keys, a list as the pair
def attention(Q, K, V, mask=None):
    s = (Q / Q.shape[-1] ** 0.5) @ K.swapaxes(-2, -1)
    if mask is not None:
        s = np.where(mask, s, np.finfo(s.dtype).min / 2)
    w = softmax(s)
    return [w @ V, w]


# %% the mask as an additive bias of 0 and minus infinity
def attention(Q, K, V, mask=None):
    s = np.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        s = s + np.where(mask, 0.0, -np.inf)
    w = softmax(s, axis=-1)
    return np.einsum("...ij,...jd->...id", w, V), w


# %% exponentials multiplied by the mask, then normalised
def attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    visible = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    top = np.max(s, axis=-1, keepdims=True, where=visible, initial=-np.inf)
    e = np.where(visible, np.exp(np.where(visible, s - top, 0.0)), 0.0)
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w


# %% one batch element at a time, by recursion
def attention(Q, K, V, mask=None):
    if mask is not None:
        mask = np.broadcast_to(mask, Q.shape[:-1] + K.shape[-2:-1])
    if Q.ndim == 2:
        s = Q.dot(K.T) / np.sqrt(Q.shape[1])
        if mask is not None:
            s[~mask] = -np.inf
        w = softmax(s)
        return w.dot(V), w
    parts = [attention(Q[i], K[i], V[i], None if mask is None else mask[i]) for i in range(len(Q))]
    return np.stack([o for o, _ in parts]), np.stack([w for _, w in parts])


# %% the leading axes flattened into one
def attention(Q, K, V, mask=None):
    lead = Q.shape[:-2]
    if mask is not None:
        mask = np.broadcast_to(mask, lead + (Q.shape[-2], K.shape[-2])).reshape(-1, Q.shape[-2], K.shape[-2])
    q, k, v = (a.reshape((-1,) + a.shape[-2:]) for a in (Q, K, V))
    s = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s)
    return (w @ v).reshape(lead + (q.shape[1], v.shape[2])), w.reshape(lead + w.shape[1:])


# %% in tiles of keys, rescaled as the maximum rises
def attention(Q, K, V, mask=None):
    mask = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1])
    total, out, top = 0.0, 0.0, np.full(Q.shape[:-1] + (1,), -1e300)
    for j in range(0, K.shape[-2], 3):
        s = Q @ np.swapaxes(K[..., j : j + 3, :], -1, -2) / math.sqrt(Q.shape[-1])
        s = np.where(mask[..., j : j + 3], s, -np.inf)
        new = np.maximum(top, s.max(axis=-1, keepdims=True))
        e = np.exp(s - new)
        total = total * np.exp(top - new) + e.sum(axis=-1, keepdims=True)
        out = out * np.exp(top - new) + e @ V[..., j : j + 3, :]
        top = new
    s = np.where(mask, Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), -np.inf)
    return out / total, np.exp(s - top) / total


# %% a named tuple, arguments with other names, float64 throughout
from typing import NamedTuple


class Attended(NamedTuple):
    output: np.ndarray
    weights: np.ndarray


def attention(queries, keys, values, mask=None):
    queries, keys, values = (np.asarray(a, dtype=np.float64) for a in (queries, keys, values))
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(np.float64(queries.shape[-1]))
    if mask is not None:
        scores = np.where(np.asarray(mask), scores, -np.inf)
    weights = softmax(scores)
    return Attended(weights @ values, weights)


# %% torch inside: einsum, masked_fill and its own normalisation
import torch


def attention(Q, K, V, mask=None):
    q, k, v = (torch.as_tensor(np.array(a)) for a in (Q, K, V))
    s = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~torch.as_tensor(np.array(mask)), -torch.inf)
    w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
    return (w @ v).numpy(), w.numpy()


# %% a closure that keeps its settings
def make_attention(fill):
    def inner(Q, K, V, mask=None):
        scale = 1 / np.sqrt(Q.shape[-1])
        s = scale * (Q @ np.swapaxes(K, -1, -2))
        w = softmax(s if mask is None else np.where(mask, s, fill))
        return w @ V, w

    return inner


attention = make_attention(-np.inf)

# %% the mask by keyword only
def attention(Q, K, V, *, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    w = softmax(s if mask is None else np.where(mask, s, -np.inf))
    return w @ V, w


# %% self-attention without attention: written again from the equation
def self_attention(X, W_q, W_k, W_v, mask=None):
    s = (X @ W_q) @ np.swapaxes(X @ W_k, -1, -2) / np.sqrt(W_k.shape[1])
    w = softmax(s if mask is None else np.where(mask, s, -np.inf))
    return w @ (X @ W_v), w


# %% self-attention with one product for all three projections
def self_attention(X, W_q, W_k, W_v, mask=None):
    widths = np.cumsum([W_q.shape[1], W_k.shape[1]])
    q, k, v = np.split(X @ np.concatenate([W_q, W_k, W_v], axis=1), widths, axis=-1)
    return attention(q, k, v, mask=mask)
