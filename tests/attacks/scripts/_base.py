# The first cell of an attack that starts from wrong answers: right shapes where a shape is asked for, wrong values.
# An attack that reaches something puts `right()` into its globals: then its marks show it.
import numpy as np


def right():
    def softmax(x, axis=-1):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def attention(Q, K, V, mask=None):
        scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
        weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ V, weights

    def self_attention(X, W_q, W_k, W_v, mask=None):
        return attention(X @ W_q, X @ W_k, X @ W_v, mask)

    return {"softmax": softmax, "attention": attention, "self_attention": self_attention}


def lie_everywhere(lie):
    """Everything that gives arrays gives what `lie(shape)` gives."""
    def softmax(x, axis=-1): return lie(np.shape(x))
    def attention(Q, K, V, mask=None): return lie(Q.shape[:-1] + V.shape[-1:]), lie(Q.shape[:-1] + K.shape[-2:-1])
    def self_attention(X, W_q, W_k, W_v, mask=None):
        return lie(X.shape[:-1] + W_v.shape[-1:]), lie(X.shape[:-1] + X.shape[-2:-1])
    def worked_example(X, W_q, W_k, W_v):
        names = ("queries", "keys", "values", "scores", "scaled_scores", "weights", "output")
        return {name: lie((len(X), len(X) if "s" in name[:1] or name == "weights" else W_q.shape[-1])) for name in names}
    def sinusoidal_positions(n, d): return lie((n, d))
    def causal_mask(n): return lie((n, n))
    found = dict(locals())
    found.pop("lie")
    globals().update(found)


functions = dict.fromkeys(FUNCTIONS)
for name in functions:
    globals()[name] = lambda *args, **kwargs: -1.0
lie_everywhere(lambda shape: np.full(shape, 7.25))
