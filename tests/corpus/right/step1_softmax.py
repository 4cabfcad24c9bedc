# Right softmaxes. Each cell is put behind a right submission, and its last binding counts.
# %% three plain lines
def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    x = np.exp(x)
    return x / x.sum(axis=axis, keepdims=True)


# %% the minus sign outside: the smallest of -x instead of the largest of x
def softmax(x, axis=-1):
    e = np.exp(np.amin(-x, axis=axis, keepdims=True) + x)
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True))


# %% log-sum-exp by logaddexp.reduce
def softmax(x, axis=-1):
    return np.exp(x - np.expand_dims(np.logaddexp.reduce(x, axis=axis), axis))


# %% axis moved to the end and back, loops over rows
def softmax(x, axis=-1):
    moved = np.moveaxis(np.array(x, dtype=float), axis, -1)
    for where in np.ndindex(moved.shape[:-1]):
        e = np.exp(moved[where] - max(moved[where]))
        moved[where] = e / sum(e)
    return np.moveaxis(moved, -1, axis)


# %% apply_along_axis with an inner function
def softmax(x, axis=-1):
    def row(v):
        e = np.exp(v - v.max())
        return e / e.sum()

    return np.apply_along_axis(row, axis, x)


# %% an online softmax: running maximum and rescaled sum
def softmax(x, axis=-1):
    rows = np.moveaxis(np.asarray(x, dtype=float), axis, 0)
    top, total = np.full(rows.shape[1:], -1e308), np.zeros(rows.shape[1:])
    for row in rows:
        new = np.maximum(top, row)
        total = total * np.exp(top - new) + np.exp(row - new)
        top = new
    return np.moveaxis(np.exp(rows - top) / total, 0, axis)


# %% through logarithms: the exponential of x minus the log of the sum
def softmax(x, axis=-1):
    top = np.max(x, axis=axis, keepdims=True)
    return np.exp(x - top - np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)))


# %% a class with a call, told its axis late
class Softmax:
    def __init__(self, stable=True):
        self.stable = stable

    def __call__(self, values, axis=-1):
        top = np.max(values, axis, keepdims=True) if self.stable else 0
        numerator = np.exp(values - top)
        return numerator / numerator.sum(axis, keepdims=True)


softmax = Softmax()

# %% a decorated function
import functools


def counted(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return fn(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


# %% torch tensors inside, its own exponentials
import torch


def softmax(x, axis=-1):
    t = torch.from_numpy(np.array(x))
    e = torch.exp(t - torch.amax(t, dim=axis, keepdim=True))
    return (e / e.sum(dim=axis, keepdim=True)).numpy()


# %% a partial of a function with more parameters
import functools


def _soft(x, axis=-1, temperature=1.0):
    z = (x - np.max(x, axis=axis, keepdims=True)) / temperature
    return np.exp(z) / np.exp(z).sum(axis=axis, keepdims=True)


softmax = functools.partial(_soft, temperature=1.0)

# %% star import, exponentials in base two
from numpy import *


def softmax(x, axis=-1):
    y = exp2((x - amax(x, axis=axis, keepdims=True)) * log2(e))
    return y / y.sum(axis=axis, keepdims=True)
