"""Whether a library's softmax or attention is called while something runs; sees aliases, needs no source."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

#: Parts of the names that PyTorch gives these operations. ``logsumexp`` and ``exp`` are not among them.
_NAMES = ("softmax", "scaled_dot_product", "multi_head_attention")


def used_while(action: Callable[[], object]) -> list[str]:
    """Names of the library operations that ran during ``action()``; empty where PyTorch is not loaded."""
    if "torch" not in sys.modules:
        action()
        return []
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call,unused-ignore]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            name = str(func.name()).removeprefix("aten::").lstrip("_").partition(".")[0]
            if any(part in name for part in _NAMES) and name not in seen:
                seen.append(name)
            return func(*args, **(kwargs or {}))

    with Watch():  # type: ignore[no-untyped-call,unused-ignore]
        action()
    return seen
