"""NumPy's functions for ``DeviceArray``: those that attention is written with, each as NumPy defines it.

Each gets an array of the device (which is among its arguments somewhere) and then NumPy's own arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from autograder.measured.device_array import FUNCTIONS, METHODS, DeviceArray, promote, refuse, to_torch

METHODS |= {
    np.sum: "sum",
    np.mean: "mean",
    np.max: "max",
    np.amax: "max",
    np.min: "min",
    np.amin: "min",
    np.all: "all",
    np.any: "any",
    np.reshape: "reshape",
    np.transpose: "transpose",
    np.swapaxes: "swapaxes",
    np.squeeze: "squeeze",
    np.ravel: "ravel",
    np.copy: "copy",
    np.dot: "dot",
}


def _numpy(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return register


@_numpy(np.where)
def _where(on: DeviceArray, condition: Any, *choices: Any) -> DeviceArray:
    if len(choices) != 2:
        refuse("np.where with a condition only was called")
    dtype = promote(choices)
    yes, no = (on.lift(c, dtype) for c in choices)
    return DeviceArray(torch.where(on.lift(condition, torch.bool), yes, no))


@_numpy(np.einsum)
def _einsum(on: DeviceArray, subscripts: Any, *operands: Any, optimize: Any = False) -> DeviceArray:
    if not isinstance(subscripts, str):
        refuse("np.einsum without a text of subscripts was called")
    dtype = promote(operands)
    return DeviceArray(torch.einsum(subscripts, *(on.lift(o, dtype) for o in operands)))


@_numpy(np.concatenate)
def _concatenate(on: DeviceArray, arrays: Sequence[Any], axis: int | None = 0) -> DeviceArray:
    dtype, parts = promote(arrays), [on.lift(a) for a in arrays]
    if axis is None:
        parts, axis = [p.reshape(-1) for p in parts], 0
    return DeviceArray(torch.cat([p.to(dtype) for p in parts], dim=axis))


@_numpy(np.stack)
def _stack(on: DeviceArray, arrays: Sequence[Any], axis: int = 0) -> DeviceArray:
    dtype = promote(list(arrays))
    return DeviceArray(torch.stack([on.lift(a, dtype) for a in arrays], dim=axis))


@_numpy(np.split)
def _split(on: DeviceArray, array: Any, sections: Any, axis: int = 0) -> list[DeviceArray]:
    tensor = on.lift(array)
    if isinstance(sections, (int, np.integer)):
        if tensor.shape[axis] % int(sections):
            raise ValueError("array split does not result in an equal division")
        return [DeviceArray(part) for part in torch.chunk(tensor, int(sections), dim=axis)]
    return [DeviceArray(part) for part in torch.tensor_split(tensor, [operator.index(s) for s in sections], dim=axis)]


@_numpy(np.expand_dims)
def _expand_dims(on: DeviceArray, array: Any, axis: int) -> DeviceArray:
    return DeviceArray(on.lift(array).unsqueeze(operator.index(axis)))


@_numpy(np.moveaxis)
def _moveaxis(on: DeviceArray, array: Any, source: Any, destination: Any) -> DeviceArray:
    return DeviceArray(torch.movedim(on.lift(array), source, destination))


@_numpy(np.matrix_transpose)
def _matrix_transpose(on: DeviceArray, array: Any) -> DeviceArray:
    return on.array(array).mT


@_numpy(np.broadcast_to)
def _broadcast_to(on: DeviceArray, array: Any, shape: Any, subok: bool = False) -> DeviceArray:
    wanted = shape if isinstance(shape, (tuple, list)) else (shape,)
    return DeviceArray(torch.broadcast_to(on.lift(array), tuple(operator.index(n) for n in wanted)))


@_numpy(np.tril)
def _tril(on: DeviceArray, array: Any, k: int = 0) -> DeviceArray:
    return DeviceArray(torch.tril(on.lift(array), k))


@_numpy(np.triu)
def _triu(on: DeviceArray, array: Any, k: int = 0) -> DeviceArray:
    return DeviceArray(torch.triu(on.lift(array), k))


@_numpy(np.clip)
def _clip(on: DeviceArray, array: Any, low: Any = None, high: Any = None, out: Any = None) -> Any:
    found: Any = array
    found = found if low is None else np.maximum(found, low)
    found = found if high is None else np.minimum(found, high)
    return found if out is None else np.add(found, 0, out=out)


@_numpy(np.nan_to_num)
def _nan_to_num(
    on: DeviceArray, x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: Any = None
) -> DeviceArray:
    found = torch.nan_to_num(on.lift(x), nan=nan, posinf=posinf, neginf=neginf)
    if copy:
        return DeviceArray(found)
    x[...] = found
    return on.array(x)


@_numpy(np.zeros_like, np.empty_like)
def _zeros_like(on: DeviceArray, array: Any, dtype: Any = None, shape: Any = None) -> Any:
    return _full_like(on, array, 0, dtype, shape)


@_numpy(np.ones_like)
def _ones_like(on: DeviceArray, array: Any, dtype: Any = None, shape: Any = None) -> Any:
    return _full_like(on, array, 1, dtype, shape)


@_numpy(np.full_like)
def _full_like(on: DeviceArray, array: Any, value: Any, dtype: Any = None, shape: Any = None) -> DeviceArray:
    like = on.lift(array)
    made = torch.empty(
        like.shape if shape is None else shape,
        dtype=like.dtype if dtype is None else to_torch(dtype),
        device=like.device,
    )
    made[...] = on.lift(value, made.dtype)
    return DeviceArray(made)


@_numpy(np.copyto)
def _copyto(on: DeviceArray, target: Any, source: Any, where: Any = True) -> None:
    if not isinstance(target, DeviceArray):
        refuse("np.copyto into a NumPy array was called")
    values = on.lift(source, target.tensor.dtype)
    target.tensor.copy_(torch.where(on.lift(where, torch.bool), values, target.tensor))


@_numpy(np.outer)
def _outer(on: DeviceArray, first: Any, second: Any) -> Any:
    return on.array(first).ravel()[:, None] * on.array(second).ravel()


@_numpy(np.argmax)
def _argmax(on: DeviceArray, array: Any, axis: int | None = None, *, keepdims: bool = False) -> DeviceArray:
    return DeviceArray(torch.argmax(on.lift(array), dim=axis, keepdim=keepdims))


@_numpy(np.shape)
def _shape(on: DeviceArray, array: Any) -> tuple[int, ...]:
    return on.array(array).shape


@_numpy(np.ndim)
def _ndim(on: DeviceArray, array: Any) -> int:
    return on.array(array).ndim


@_numpy(np.size)
def _size(on: DeviceArray, array: Any, axis: int | None = None) -> int:
    return on.array(array).size if axis is None else on.array(array).shape[axis]


@_numpy(np.result_type)
def _result_type(on: DeviceArray, *values: Any) -> np.dtype[Any]:
    return np.result_type(*(v.dtype if isinstance(v, DeviceArray) else v for v in values))
