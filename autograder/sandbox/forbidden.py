"""Sees a library softmax or attention while a submission's function runs, under any alias.

The kernels themselves are replaced in torch's dispatcher, before any code of a submission runs: neither a renamed
function, a layer, a scripted or compiled function, a tensor method, another thread nor a kernel that was taken out
of the dispatcher gets past. Outside of ``watch`` they do what they always do. ``logsumexp``, ``exp`` and ``einsum``
are other kernels and stay allowed.

What is seen is reported at once, so that nothing which runs afterwards can take it back.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_SDPA = "torch.nn.functional.scaled_dot_product_attention"
_MHA = "torch.nn.MultiheadAttention"
#: Kernel of torch's dispatcher -> what a student knows it as. The composite entries above them all end here.
KERNELS = {
    "_softmax": "torch.softmax",
    "_softmax.out": "torch.softmax",
    "_log_softmax": "torch.log_softmax",
    "_log_softmax.out": "torch.log_softmax",
    "_masked_softmax": "torch's masked softmax",
    "_scaled_dot_product_flash_attention_for_cpu": _SDPA,
    # It computes the weights again, from their logsumexp.
    "_scaled_dot_product_flash_attention_for_cpu_backward": _SDPA,
    "_native_multi_head_attention": _MHA,
    "_transformer_encoder_layer_fwd": "torch.nn.TransformerEncoderLayer",
}
#: The same for tensors that are not plain ones: dispatch key -> kernel -> name.
OTHER_KERNELS = {
    "MkldnnCPU": {"_softmax": "torch.softmax"},
    "NestedTensorCPU": {
        "_softmax": "torch.softmax",
        "_safe_softmax": "torch.softmax",
        "_nested_tensor_softmax_with_shape": "torch.softmax",
        "_native_multi_head_attention": _MHA,
        "_transformer_encoder_layer_fwd": "torch.nn.TransformerEncoderLayer",
    },
    "QuantizedCPU": {"quantized::softmax": "torch.softmax"},
    "SparseCPU": {"_sparse_softmax": "torch.sparse.softmax", "_sparse_log_softmax": "torch.sparse.log_softmax"},
}
#: Python functions that compute it from other kernels, by module and name.
PYTHON = {
    ("scipy.special", "softmax"): "scipy.special.softmax",
    ("scipy.special", "log_softmax"): "scipy.special.log_softmax",
    ("scipy.special._logsumexp", "softmax"): "scipy.special.softmax",
    ("scipy.special._logsumexp", "log_softmax"): "scipy.special.log_softmax",
    ("sklearn.utils.extmath", "softmax"): "sklearn.utils.extmath.softmax",
    ("torch._refs", "softmax"): "torch.softmax",
    ("torch._refs", "log_softmax"): "torch.log_softmax",
    ("torch._refs.nn.functional", "softmax"): "torch.softmax",
    ("torch._refs.nn.functional", "log_softmax"): "torch.log_softmax",
    ("torch._refs.nn.functional", "softmin"): "torch.softmax",
    ("torch._decomp.decompositions", "_softmax"): "torch.softmax",
    ("torch._decomp.decompositions", "_log_softmax"): "torch.log_softmax",
    ("torch._decomp.decompositions", "_safe_softmax"): "torch.softmax",
    ("torch._inductor.inductor_prims", "eager_prepare_softmax"): "torch's online softmax",
}
#: Small enough to be imported in every warm parent where they are installed: imported later, inside a call, they
#: would not be seen.
PRELOAD = ("scipy.special",)
#: What is started as another program, or forked, could compute anything out of sight, and end before anybody looks.
_PROGRAMS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.fork", "os.forkpty"}
)
PROGRAM = "another program"
BY_SYMBOL = "a library kernel by its symbol"
#: Symbols of a shared library behind which such a kernel may lie, past the dispatcher.
_SYMBOL = re.compile(r"softmax|attention|sdpa", re.IGNORECASE)

#: Hears of what is called, while a call is watched.
_report: Callable[[str], object] | None = None
_hooked: set[object] = set()
_kept: list[Any] = []
#: What was called while the question was read, which counts to the call that it asks for; and what the submission got
#: hold of at any time, which counts to every call.
_before: set[str] = set()
_taken: set[str] = set()
_between = False


def install(*, programs: bool = False) -> None:
    """Put the hooks in: before any code of a submission runs. What is loaded later is hooked by the next call.

    ``programs``: notice other programs that are started, too. That hook stays for good.
    """
    if "torch" in sys.modules and "torch" not in _hooked:
        _hooked.add("torch")
        _replace_kernels()
        _fuse_no_softmax()
    for (module, name), label in PYTHON.items():
        function = getattr(sys.modules.get(module), name, None)
        # Not by its name: a module that is loaded again brings a function of its own. And what a decorator put
        # another function around is within reach, too.
        while isinstance(function, types.FunctionType) and function not in _hooked:
            _hooked.add(function)
            inner = getattr(function, "__wrapped__", None)
            _replace_code(function, label)
            function = inner
    if programs and _PROGRAMS not in _hooked:
        _hooked.add(_PROGRAMS)
        sys.addaudithook(_on_event)


def preload() -> None:
    """Import what would otherwise be imported unseen, where it is installed."""
    for name in PRELOAD:
        with contextlib.suppress(ImportError):
            if importlib.util.find_spec(name) is not None:
                importlib.import_module(name)


@contextlib.contextmanager
def watch(report: Callable[[str], object]) -> Iterator[None]:
    """While the block runs, ``report`` hears the name of each library function that is called, before it computes
    anything. The call then gives what it always gives: which of them are wrong is for the check to say."""
    global _report
    install()
    before, _report = _report, report
    try:
        for label in (*_taken, *_before):
            report(label)
        with _not_compiled():
            yield
    finally:
        _report = before


@contextlib.contextmanager
def between_calls() -> Iterator[None]:
    """While the block runs, no code of the submission has been asked to do anything. What is called nevertheless (a
    profiler sees a question come in) counts to the call that comes next, if that is watched."""
    global _between
    _before.clear()
    _between = True
    try:
        yield
    finally:
        _between = False


def _seen(label: str) -> None:
    if _report is not None:
        _report(label)
    elif _between:
        _before.add(label)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _PROGRAMS and _report is not None:
        _seen(PROGRAM)
    elif event == "ctypes.dlsym" and _SYMBOL.search(str(arguments[1])):
        _taken.add(BY_SYMBOL)
        _seen(BY_SYMBOL)


@contextlib.contextmanager
def _not_compiled() -> Iterator[None]:
    """What was compiled before runs as it was written: a compiler may have taken the kernel apart."""
    if "torch._dynamo" in sys.modules:
        with sys.modules["torch"].compiler.set_stance("force_eager"):
            yield
    else:
        yield


# ---- torch
def _replace_kernels() -> None:
    import torch

    kernel_of = torch._C._dispatch_get_computed_kernel_for_dispatch_key
    for key, kernels in {"CPU": KERNELS, **OTHER_KERNELS}.items():
        for name, label in kernels.items():
            space, _, short = name.rpartition("::")
            full = f"{space or 'aten'}::{short}"
            if not torch._C._dispatch_has_kernel_for_dispatch_key(full, key):
                continue
            library: Any = torch.library.Library(space or "aten", "IMPL")  # type: ignore[no-untyped-call]
            _kept.append(library)
            with warnings.catch_warnings():
                # torch warns that kernels are being overridden, which is the point.
                warnings.simplefilter("ignore")
                library.impl(short, _kernel(label, kernel_of(full, key)), key, with_keyset=True)


def _fuse_no_softmax() -> None:
    """TorchScript's fusers can be told to take in a softmax, for which they have kernels of their own, and what they
    fused once stays. In this process they cannot be told."""
    import torch

    for name in ("_jit_set_llga_enabled", "_jit_set_texpr_reductions_enabled"):
        if hasattr(torch._C, name):
            setattr(torch._C, name, lambda _on: None)
    # Its static runtime asks the dispatcher in its first run only, and keeps the kernel for those that follow.
    for name in ("_jit_to_static_module", "_fuse_to_static_module"):
        if hasattr(torch._C, name):
            setattr(torch._C, name, _not_here)


def _not_here(*_args: Any) -> None:
    raise RuntimeError("the static runtime is not available where submissions are graded")


def _kernel(label: str, original: Any) -> Callable[..., Any]:
    call = original.call_boxed

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        _seen(label)
        return call(keys, *args, **kwargs)

    return kernel


# ---- Python functions
def _replace_code(function: types.FunctionType, label: str) -> None:
    """Swap the code of a function, so that every alias of it is the watched one."""
    original = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    original.__kwdefaults__ = function.__kwdefaults__

    def watched(*args: Any, **kwargs: Any) -> Any:
        _seen(label)
        return original(*args, **kwargs)

    name = f"_watched_{id(function)}"
    function.__globals__[name] = watched
    template: dict[str, Any] = {}
    exec(f"def replacement(*args, **kwargs):\n    return {name}(*args, **kwargs)", template)  # noqa: S102
    # Of an inner function the names of its closure must stay, though nothing uses them any more.
    code = template["replacement"].__code__.replace(co_freevars=function.__code__.co_freevars)
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = code
