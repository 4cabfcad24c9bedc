"""An array on a GPU that NumPy's own functions work on, so that NumPy code runs there as it was written.

``DeviceArray`` wraps a torch tensor and implements NumPy's protocols (``__array_ufunc__``, ``__array_function__``,
the operators, the methods of an array that attention needs). Results have the dtype that NumPy would give them: a
float32 array times a ``np.float64`` is float64 here too. Where code leaves the device (``np.array`` of it, ``float``
of an element, a function that is not known here) it gets ``LeftTheDevice`` and never a silent copy, so that what is
timed on a GPU did run on a GPU. Host arrays that meet one in an operation are moved to it, as they would have to be.

Used in the sandbox, beside the student's code: nothing in here is secret, and nothing that it says is trusted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin

Scalar = bool | int | float

_NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_TO_TORCH: dict[np.dtype[Any], torch.dtype] = {np.dtype(name): getattr(torch, name) for name in _NAMES}
_TO_NUMPY = {theirs: ours for ours, theirs in _TO_TORCH.items()}

_SAME_NAME = """
    add subtract multiply divide floor_divide remainder negative positive absolute sign square sqrt reciprocal
    exp exp2 expm1 log log2 log10 log1p logaddexp sin cos tanh hypot floor ceil maximum minimum fmax fmin
    greater greater_equal less less_equal not_equal logical_and logical_or logical_not logical_xor
    bitwise_and bitwise_or bitwise_xor isfinite isinf isnan matmul
"""
_UFUNCS: dict[np.ufunc, Callable[..., torch.Tensor]] = {
    **{getattr(np, name): getattr(torch, name) for name in _SAME_NAME.split()},
    np.equal: torch.eq,
    np.power: torch.pow,
    np.float_power: torch.pow,
    np.invert: torch.bitwise_not,
    np.rint: torch.round,
    np.fabs: torch.abs,
}
#: These write into a new array only: torch gives no ``out`` for them, or not where it is also an input.
_NEVER_IN_PLACE = (np.isfinite, np.isinf, np.isnan, np.positive, np.matmul)
#: Method -> the reduction in torch, and what it gives for nothing at all (None: it has no such value).
_REDUCTIONS: dict[str, tuple[Callable[..., torch.Tensor], Scalar | None]] = {
    "sum": (torch.sum, 0),
    "max": (torch.amax, None),
    "min": (torch.amin, None),
    "mean": (torch.mean, None),
    "all": (torch.all, True),
    "any": (torch.any, False),
    "logsumexp": (torch.logsumexp, None),
}
#: How the result of a reduction and NumPy's ``initial`` come together.
_COMBINE: dict[str, Callable[..., torch.Tensor]] = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum}
_REDUCE: dict[np.ufunc, str] = {
    np.add: "sum",
    np.maximum: "max",
    np.minimum: "min",
    np.logical_and: "all",
    np.logical_or: "any",
    np.logaddexp: "logsumexp",
}

#: NumPy's functions: the method that means the same, or what does it, given an array of the device first.
#: ``array_functions`` fills both.
METHODS: dict[Any, str] = {}
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


class LeftTheDevice(TypeError):
    """The code asked for the numbers themselves, or for something that is not there on a GPU."""


def refuse(what: str) -> NoReturn:
    raise LeftTheDevice(f"{what}, which takes the array off the GPU or is not known there")


def to_torch(dtype: Any) -> torch.dtype:
    """The torch dtype of a NumPy dtype. Raises ``LeftTheDevice`` where there is none."""
    plain = np.dtype(dtype)
    return _TO_TORCH[plain] if plain in _TO_TORCH else refuse(f"an array of {plain} was asked for")


class DeviceArray(NDArrayOperatorsMixin):
    """A torch tensor that NumPy takes for an array; ``tensor`` may share memory with others, as views do."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    # ---- what an array says of itself
    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        known = _TO_NUMPY.get(self.tensor.dtype)
        return known if known is not None else refuse(f"NumPy's name of {self.tensor.dtype} was asked for")

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    @property
    def size(self) -> int:
        return self.tensor.numel()

    @property
    def itemsize(self) -> int:
        return self.tensor.element_size()

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> DeviceArray:  # noqa: N802
        return self.transpose()

    @property
    def mT(self) -> DeviceArray:  # noqa: N802
        return self.swapaxes(-1, -2)

    def __len__(self) -> int:
        return len(self.tensor) if self.ndim else refuse("len() of a single number was called")

    def __iter__(self) -> Iterator[DeviceArray]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} on {self.tensor.device}>"

    def __bool__(self) -> bool:
        # One truth value is what control flow needs, on a GPU too. It waits for the device, which counts.
        return bool(self.tensor)

    # ---- ways off the device
    def __array__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        refuse("np.array or np.asarray was called")

    def __float__(self) -> NoReturn:
        refuse("float() was called, or an element was put into a NumPy array")

    def __int__(self) -> NoReturn:
        refuse("int() was called")

    def item(self, *_args: Any) -> NoReturn:
        refuse("item() was called")

    def tolist(self) -> NoReturn:
        refuse("tolist() was called")

    # ---- elements
    def __getitem__(self, key: Any) -> DeviceArray:
        return DeviceArray(self.tensor[self._key(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tensor[self._key(key)] = self.lift(value, self.tensor.dtype)

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(self._key(part) for part in key)
        if isinstance(key, slice) and key.step is not None and key.step < 0:
            refuse("a slice with a negative step was taken")
        if isinstance(key, (DeviceArray, np.ndarray, list)):
            return self.lift(key)
        return int(key) if isinstance(key, np.integer) else key

    def lift(self, value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Anything that can be an operand, as a tensor on this device."""
        if isinstance(value, (DeviceArray, torch.Tensor)):
            found = value.tensor if isinstance(value, DeviceArray) else value
        else:
            plain = np.array(value)
            to_torch(plain.dtype)
            found = torch.from_numpy(plain)
        return found.to(device=self.tensor.device, dtype=dtype or found.dtype)

    def array(self, value: Any) -> DeviceArray:
        """The same as an array beside this one."""
        return value if isinstance(value, DeviceArray) else DeviceArray(self.lift(value))

    # ---- operations element by element
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), where: Any = True, **options: Any
    ) -> Any:
        if method == "reduce" and ufunc in _REDUCE:
            options = {"axis": 0, **options, "where": where, "out": out[0] if out else None}
            return self.array(inputs[0])._reduce(_REDUCE[ufunc], **options)
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if method != "__call__" or ufunc not in _UFUNCS or set(options) - {"casting", "order"}:
            refuse(f"np.{name} was called")
        *loop, result = ufunc.resolve_dtypes((*(_kind(x) for x in inputs), None))
        target = out[0] if out else None
        if target is not None and not isinstance(target, DeviceArray):
            refuse(f"np.{name} was to write into a NumPy array")
        operands = [self.lift(x, to_torch(dtype)) for x, dtype in zip(inputs, loop, strict=True)]
        if target is not None and where is True and _fits(target, operands, to_torch(result), ufunc):
            _UFUNCS[ufunc](*operands, out=target.tensor)
            return target
        found = _UFUNCS[ufunc](*operands).to(to_torch(result))
        if where is not True:
            if target is None:
                refuse(f"np.{name} with where= and without out= was called")
            found = torch.where(self.lift(where, torch.bool), found, target.tensor)
        return _finish(found, target)

    def __array_function__(
        self, func: Callable[..., Any], _types: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        if func in METHODS:
            return getattr(self.array(args[0]), METHODS[func])(*args[1:], **kwargs)
        if func in FUNCTIONS:
            return FUNCTIONS[func](self, *args, **kwargs)
        refuse(f"np.{func.__name__} was called")

    # ---- reductions
    def _reduce(
        self,
        name: str,
        axis: int | tuple[int, ...] | None = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> DeviceArray:
        function, nothing = _REDUCTIONS[name]
        tensor = self.tensor if dtype is None else self.tensor.to(to_torch(dtype))
        if name in ("mean", "logsumexp") and not tensor.is_floating_point():
            tensor = tensor.to(torch.float64)
        if where is not True:
            fill = nothing if nothing is not None else initial
            if fill is None:
                refuse(f"{name}() with where= and without initial= was called")
            filled = torch.full((), float(fill), device=tensor.device).to(tensor.dtype)
            tensor = torch.where(self.lift(where, torch.bool), tensor, filled)
        axes = tuple(range(self.ndim)) if axis is None else axis if isinstance(axis, tuple) else (operator.index(axis),)
        found = function(tensor, dim=axes, keepdim=keepdims)
        if initial is not None:
            if name not in _COMBINE:
                refuse(f"{name}() with initial= was called")
            found = _COMBINE[name](found, self.lift(initial, found.dtype))
        return _finish(found, out)

    def sum(self, *args: Any, **kwargs: Any) -> DeviceArray:
        return self._reduce("sum", *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> DeviceArray:
        return self._reduce("mean", *args, **kwargs)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any) -> DeviceArray:
        return self._reduce("max", axis, None, out, keepdims, **rest)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any) -> DeviceArray:
        return self._reduce("min", axis, None, out, keepdims, **rest)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any) -> DeviceArray:
        return self._reduce("all", axis, None, out, keepdims, **rest)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, **rest: Any) -> DeviceArray:
        return self._reduce("any", axis, None, out, keepdims, **rest)

    # ---- shapes and copies
    def reshape(self, *shape: Any, **_order: Any) -> DeviceArray:
        return DeviceArray(self.tensor.reshape(_flat(shape)))

    def transpose(self, *axes: Any) -> DeviceArray:
        return DeviceArray(self.tensor.permute(_flat(axes) or tuple(reversed(range(self.ndim)))))

    def swapaxes(self, first: int, second: int) -> DeviceArray:
        return DeviceArray(self.tensor.transpose(first, second))

    def squeeze(self, axis: int | None = None) -> DeviceArray:
        return DeviceArray(self.tensor.squeeze() if axis is None else self.tensor.squeeze(axis))

    def ravel(self, **_order: Any) -> DeviceArray:
        return DeviceArray(self.tensor.reshape(-1))

    def flatten(self, **_order: Any) -> DeviceArray:
        return self.copy().ravel()

    def copy(self, **_order: Any) -> DeviceArray:
        return DeviceArray(self.tensor.clone(memory_format=torch.contiguous_format))

    __copy__ = copy

    def astype(self, dtype: Any, copy: bool = True, **_rules: Any) -> DeviceArray:
        return DeviceArray(self.tensor.to(to_torch(dtype), copy=copy))

    def fill(self, value: Any) -> None:
        self.tensor[...] = self.lift(value, self.tensor.dtype)

    def dot(self, other: Any) -> DeviceArray:
        right = self.array(other)
        if self.ndim > 2 or right.ndim > 2 or not self.ndim or not right.ndim:
            refuse("dot of arrays with more than two axes was called")
        product: DeviceArray = self @ right
        return product


def _kind(value: Any) -> Any:
    """What NumPy's promotion wants to know of an operand: a dtype, or the type of a bare Python number."""
    if isinstance(value, (bool, list, tuple)):
        return np.array(value).dtype
    if isinstance(value, torch.Tensor):
        return DeviceArray(value).dtype
    if isinstance(value, (DeviceArray, np.ndarray, np.generic)):
        return value.dtype
    return type(value) if type(value) in (int, float) else refuse(f"an operation with a {type(value).__name__}")


def promote(values: Sequence[Any]) -> torch.dtype:
    """The dtype that NumPy gives to these values together."""
    known = [value if type(value) in (int, float) else _kind(value) for value in values]
    return to_torch(np.result_type(*known))


def _fits(target: DeviceArray, operands: Sequence[torch.Tensor], dtype: torch.dtype, ufunc: np.ufunc) -> bool:
    """Whether the result can be computed straight into ``target``."""
    same = target.tensor.dtype == dtype and ufunc not in _NEVER_IN_PLACE
    return same and np.broadcast_shapes(*(tuple(o.shape) for o in operands)) == target.shape


def _finish(found: torch.Tensor, target: DeviceArray | None) -> DeviceArray:
    if target is None:
        return DeviceArray(found)
    if target.shape != tuple(found.shape):
        raise ValueError(f"a result of shape {tuple(found.shape)} does not fit into an array of shape {target.shape}")
    target.tensor.copy_(found)
    return target


def _flat(numbers: tuple[Any, ...]) -> tuple[int, ...]:
    """``reshape(2, 3)`` and ``reshape((2, 3))`` mean the same."""
    inner = numbers[0] if len(numbers) == 1 and isinstance(numbers[0], (tuple, list)) else numbers
    return tuple(operator.index(n) for n in inner if n is not None)
