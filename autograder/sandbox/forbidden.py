"""Sees a library softmax or attention while a submission's function runs, under any alias.

The kernels themselves are replaced in torch's dispatcher for the time of one call, so neither a renamed
function, a layer, a scripted function, a tensor method nor another thread gets past: whatever ends in the
kernel is seen. ``logsumexp``, ``exp`` and ``einsum`` are other kernels and stay allowed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Kernel of torch's dispatcher -> what a student knows it as. The composite entries above them all end here.
KERNELS = {
    "_softmax": "torch.softmax",
    "_log_softmax": "torch.log_softmax",
    "_masked_softmax": "torch's masked softmax",
    "_scaled_dot_product_flash_attention_for_cpu": "torch.nn.functional.scaled_dot_product_attention",
    "_native_multi_head_attention": "torch.nn.MultiheadAttention",
}
SPARSE_KERNELS = {
    "_sparse_softmax": "torch.sparse.softmax",
    "_sparse_log_softmax": "torch.sparse.log_softmax",
}
#: Python functions outside torch, by module and name.
PYTHON = {
    ("scipy.special", "softmax"): "scipy.special.softmax",
    ("scipy.special", "log_softmax"): "scipy.special.log_softmax",
}


class LibraryFunction(RuntimeError):
    """Raised inside the submission where it calls one; the name is recorded all the same if it is swallowed."""


@contextmanager
def watch() -> Iterator[set[str]]:
    """Yield a set that the names of library functions are added to while the block runs."""
    seen: set[str] = set()
    undo: list[Callable[[], None]] = []
    if "torch" in sys.modules:
        undo.append(_replace_kernels(seen))
    undo += [
        _replace_python(module, name, label, seen) for (module, name), label in PYTHON.items() if module in sys.modules
    ]
    try:
        yield seen
    except LibraryFunction:
        pass
    except Exception:
        # A submission that wraps the refusal in an error of its own was seen all the same.
        if not seen:
            raise
    finally:
        for step in undo:
            step()


def _replace_kernels(seen: set[str]) -> Callable[[], None]:
    import torch

    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        # torch warns that kernels are being overridden, which is the point.
        warnings.simplefilter("ignore")
        for kernels, key in ((KERNELS, "CPU"), (SPARSE_KERNELS, "SparseCPU")):
            for kernel, label in kernels.items():
                library.impl(kernel, _refuse(label, seen), key)
    undo: Callable[[], None] = library._destroy
    return undo


def _refuse(label: str, seen: set[str]) -> Callable[..., Any]:
    def kernel(*_args: Any, **_kwargs: Any) -> Any:
        seen.add(label)
        raise LibraryFunction(f"{label} was called")

    return kernel


def _replace_python(module: str, name: str, label: str, seen: set[str]) -> Callable[[], None]:
    """Swap the code of a Python function, so that every alias of it is the refusing one."""
    function = getattr(sys.modules[module], name)
    before = function.__code__
    refuse = _refuse(label, seen)
    function.__globals__["_attnlab_refuse"] = refuse

    def replacement(*args: Any, **kwargs: Any) -> Any:
        return _attnlab_refuse(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821

    function.__code__ = replacement.__code__

    def undo() -> None:
        function.__code__ = before

    return undo
