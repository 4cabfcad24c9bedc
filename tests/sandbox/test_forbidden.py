"""A library softmax or attention is seen at run time, under every alias, and allowed functions are not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from autograder import failures
from autograder.lab import Lab
from autograder.sandbox.fork import Sandbox
from tests.sandbox.conftest import Start, starter

T = "import torch, numpy as np, threading, sys, os, multiprocessing, subprocess\nimport torch.nn.functional as F\n"
DISGUISES = {
    "a plain call": "torch.softmax(t, -1)",
    "a method": "t.softmax(-1)",
    "log_softmax": "F.log_softmax(t, -1).exp()",
    "a layer": "torch.nn.Softmax(-1)(t)",
    "a name put together": "getattr(F, 'soft' + 'max')(t, -1)",
    "scaled dot product attention": "F.scaled_dot_product_attention(t, t, t)",
    "its C function": "torch._C._nn.scaled_dot_product_attention(t[None, None], t[None, None], t[None, None])",
    "a multi-head layer": "torch.nn.MultiheadAttention(4, 2, dtype=torch.float64)(t, t, t)[0]",
    "a scripted function": (
        "torch.jit.CompilationUnit('def f(t: Tensor) -> Tensor:\\n    return torch.softmax(t, -1)\\n').f(t)"
    ),
    "a compiled function": "torch.compile(lambda t: torch.softmax(t, -1), backend='eager')(t)",
    "a scripted function that oneDNN fuses": "fused(t)",
    "a scripted function that is fused in another thread": "in_thread(t, fused)",
    "another thread": "in_thread(t)",
    "an error of its own around it": "swallowed(t)",
    "an overload that writes into an array": "torch.softmax(t, -1, out=torch.empty_like(t))",
    "the operator under the function": "torch.ops.aten._softmax.default(t, -1, False)",
    "vmap": "torch.func.vmap(lambda row: torch.softmax(row, -1))(t)",
    "an autograd function": "Own.apply(t)",
    "a distribution": "torch.distributions.Categorical(logits=t).probs",
    "a gradient of its logarithm": "gradient(t)",
    "gumbel_softmax": "F.gumbel_softmax(t)",
    "a masked tensor's": "torch.masked.softmax(t, -1)",
    "a nested tensor's": "torch.nested.nested_tensor([t]).softmax(-1).to_padded_tensor(0.0)[0]",
    "a sparse tensor's": "torch.sparse.softmax(t.to_sparse(), 1).to_dense()",
    "another memory format's": "t.float().to_mkldnn().softmax(-1).to_dense()",
    "a quantised tensor's": (
        "torch.ops.quantized.softmax(torch.quantize_per_tensor(t.float(), 0.1, 0, torch.quint8), -1, 0.01, 0)"
        ".dequantize()"
    ),
    "a kernel taken out of the dispatcher": (
        "taken.call_boxed(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), t, -1, False)"
    ),
    "torch's own version in Python": "sys.modules['torch._refs'].softmax(t, -1)",
    "torch's own version inside its decorators": "innermost(sys.modules['torch._refs'].softmax)(t, -1)",
    "torch's decomposition inside its decorators": (
        "innermost(sys.modules['torch._decomp.decompositions']._softmax)(t, -1, False)"
    ),
    "torch's decomposition": "sys.modules['torch._decomp.decompositions']._softmax(t, -1, False)",
    "an encoder layer": (
        "torch.nn.TransformerEncoderLayer(4, 2, dtype=torch.float64, batch_first=True).eval()(t[None])[0]"
    ),
    "another program": "in_program(t)",
    "a gradient's kernel, which computes the weights again": "again(t)",
    "torch's online softmax": "online(t)",
    "a process that is forked, waited for, and done before anybody looks": "in_a_fork(t)",
}
EXTRA = """
def innermost(function):
    while hasattr(function, "__wrapped__"): function = function.__wrapped__
    return function
torch.jit.enable_onednn_fusion(True)
class Plain(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / 2.0, -1) @ v
heads = torch.ones(1, 2, 8, 4)
frozen = torch.jit.freeze(torch.jit.trace(Plain().eval(), (heads, heads, heads)))
with torch.no_grad():
    for _ in range(4): frozen(heads, heads, heads)
def fused(t):
    with torch.no_grad(): return frozen(heads, heads, heads)
def in_thread(t, function=lambda t: torch.softmax(t, -1)):
    out = []
    thread = threading.Thread(target=lambda: out.append(function(t)))
    thread.start(); thread.join()
    return out[0]
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return torch.softmax(t, -1)
def gradient(t):
    x = t.clone().requires_grad_()
    picked = torch.log_softmax(x, -1)[..., 0].sum()
    return torch.autograd.grad(picked, x)[0]
taken = torch._C._dispatch_get_computed_kernel_for_dispatch_key("aten::_softmax", torch._C.DispatchKey.CPU)
def again(t):
    t, unit = t[:, None, None], torch.eye(t.shape[-1], dtype=t.dtype).expand(len(t), 1, -1, -1)
    first = torch.nn.functional.one_hot(torch.zeros_like(t[..., 0], dtype=int), t.shape[-1]).to(t)
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        first, t, unit, torch.zeros_like(unit), torch.zeros_like(t), torch.logsumexp(t, -1), 0.0, False, scale=1.0
    )[2]
import torch._inductor.inductor_prims
def online(t):
    largest, total = torch._inductor.inductor_prims.eager_prepare_softmax(t, -1)
    return torch.exp(t - largest) / total
def in_a_fork(t):
    import mmap
    shared = mmap.mmap(-1, t.numel() * t.element_size())
    child = os.fork()
    if child == 0:
        sys.modules["autograder.sandbox.forbidden"]._report = None
        shared[:] = torch.softmax(t, -1).numpy().tobytes()
        os._exit(0)
    os.waitpid(child, 0)
    return torch.as_tensor(np.frombuffer(shared[:]).reshape(t.shape).copy())
def in_program(t):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return t
def swallowed(t):
    try:
        return torch.softmax(t, -1)
    except Exception:
        return torch.exp(t) / torch.exp(t).sum(-1, keepdim=True)
"""


HELPER = """
import signal
ours, theirs = multiprocessing.Pipe()
helper = os.fork()
if helper == 0:
    while True:
        theirs.send(torch.softmax(torch.as_tensor(theirs.recv()), -1).numpy())
def in_process(x):
    ours.send(np.array(x))
    return ours.recv()
"""
#: Started by the function below all that Python tells its hooks of.
PROGRAM = """
import _posixsubprocess, sys
from multiprocessing.util import spawnv_passfds
def in_program(x):
    program = [sys.executable, "-I", "-S", "-c", "import time\\nwhile time.process_time() < 0.2: pass"]
    os.waitpid(spawnv_passfds(sys.executable.encode(), program, ()), 0)
    return x
"""


@pytest.fixture(scope="module")
def disguised(sandbox: Sandbox) -> Iterator[Lab]:
    """Every disguise as a function of one submission."""
    functions = "".join(
        f"def softmax_{i}(x):\n    t = torch.as_tensor(np.array(x))\n    return ({source}).detach().numpy()\n"
        for i, source in enumerate(DISGUISES.values())
    )
    with ExitStack() as stack:
        yield starter(sandbox, stack)(T + EXTRA, functions)[0]


@pytest.mark.parametrize("how", DISGUISES)
def test_it_is_seen_as(disguised: Lab, how: str) -> None:
    name = f"softmax_{list(DISGUISES).index(how)}"
    assert disguised.watched(name, [[0.1, 0.2, 0.3, 0.4]] * 3)[1] != []


def test_a_helper_process_that_was_started_before_cannot_do_the_work(start_any: Start) -> None:
    lab, _ = start_any(T + HELPER, "def softmax(x, axis=-1):\n    return in_process(x)", seconds=2.0)
    with pytest.raises(failures.TimedOut):
        lab.watched("softmax", [0.1, 0.2])


def test_a_helper_process_that_the_call_wakes_again_is_seen(start_any: Start) -> None:
    lab, _ = start_any(
        T + HELPER,
        "def softmax(x, axis=-1):\n    os.kill(helper, signal.SIGCONT)\n    return in_process(x)",
    )
    assert lab.watched("softmax", [0.1, 0.2])[1] == ["another process"]


def test_a_helper_process_that_ends_after_its_work_is_seen(start: Start) -> None:
    once = HELPER.replace("while True:", "if True:").replace("numpy())\n", "numpy()); os._exit(0)\n", 1)
    lab, _ = start(
        T + once,
        "def softmax(x, axis=-1):\n"
        "    os.kill(helper, signal.SIGCONT)\n    found = in_process(x)\n"
        "    os.waitpid(helper, 0)\n    return found",
    )
    assert lab.watched("softmax", [0.1, 0.2])[1] == ["another process"]


def test_a_program_that_python_does_not_tell_of_is_seen(start: Start) -> None:
    lab, _ = start(T + PROGRAM, "def softmax(x, axis=-1):\n    return in_program(np.array(x))")
    assert lab.watched("softmax", [0.1, 0.2])[1] == ["another process"]


#: Asks the library when the arguments come in, or when the answer goes out, from a profiler.
PROFILER = """
known = {}
def answers(array):
    return {(array.tobytes(), axis): torch.softmax(torch.tensor(array), axis).numpy() for axis in range(array.ndim)}
def as_they_come_in(frame, event, value):
    if event == "return" and frame.f_code.co_name == "lay_out":
        known.update(answers(np.array(value, float)))
def as_they_are_read(frame, event, value):
    if event == "return" and frame.f_code.co_name == "unpack_request":
        for argument in getattr(value, "args", []):
            if hasattr(argument, "data"):
                known.update(answers(np.frombuffer(argument.data).reshape(argument.shape)))
def as_it_goes_out(frame, event, value):
    reply = frame.f_locals.get("message")
    if event == "call" and known and hasattr(getattr(reply, "value", None), "data"):
        reply.value.data = torch.softmax(torch.tensor(known.pop("asked")), -1).numpy().tobytes()
"""


@pytest.mark.parametrize("when", ["as_they_come_in", "as_they_are_read", "as_it_goes_out"])
def test_a_profiler_does_not_do_the_work_before_or_after_the_call_unseen(start: Start, when: str) -> None:
    going_out = "known['asked'] = x; return np.zeros_like(x)"
    lab, _ = start(
        T + PROFILER,
        "def softmax(x, axis=-1):\n    x = np.array(x, float)\n"
        f"    {going_out if when == 'as_it_goes_out' else 'return known[x.tobytes(), axis % x.ndim]'}\n"
        f"sys.setprofile({when})",
    )
    answer, seen = lab.watched("softmax", np.zeros(2))
    assert (answer.tolist(), seen) == ([0.5, 0.5], ["torch.softmax"])


def test_what_asks_the_library_between_two_calls_of_another_kind_is_nobody_s_business(start: Start) -> None:
    lab, _ = start(
        T + "def softmax(x, axis=-1):\n    e = np.exp(np.array(x)); return e / e.sum()",
        "def note(frame, event, value):\n"
        "    if event == 'return' and frame.f_code.co_name == 'unpack_request' and value.target == 'plain':\n"
        "        torch.softmax(torch.zeros(2), -1)\n"
        "def plain():\n    return 1\n"
        "sys.setprofile(note)",
    )
    lab.plain()
    assert lab.watched("softmax", [0.0, 0.0])[1] == []


def test_a_process_whose_work_the_kernel_does_not_count_is_seen(start_any: Start) -> None:
    """Who ignores SIGCHLD has children that nobody waits for, and whose time is added to nothing."""
    lab, _ = start_any(
        T + PROGRAM,
        "import signal\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "def in_program(x):\n"
        "    ended, alive = os.pipe()\n"
        "    os.set_inheritable(alive, True)\n"
        "    spawnv_passfds(sys.executable.encode(), [sys.executable, '-I', '-S', '-c', 'pass'], (alive,))\n"
        "    os.close(alive); os.read(ended, 1)\n"
        "    return x\n"
        "def softmax(x, axis=-1):\n    return in_program(np.array(x))",
    )
    assert lab.watched("softmax", [0.1, 0.2])[1] == ["another process"]
    with pytest.raises(failures.Inconclusive, match="SIGCHLD"):
        lab.spent()


def test_a_kernel_that_is_got_hold_of_by_its_symbol_is_seen_in_every_call(start: Start) -> None:
    lab, _ = start(
        T,
        "import ctypes\n"
        "library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), 'lib', 'libtorch_cpu.so'))\n"
        "kernel = library._ZN2at3cpu12_softmax_outERNS_6TensorERKS1_lb\n"
        "kernel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_bool]\n"
        "kernel.restype = ctypes.c_void_p\n"
        "def softmax(x, axis=-1):\n"
        "    t = torch.tensor(np.array(x)); out = torch.empty_like(t)\n"
        "    places = [ctypes.c_void_p(tensor._cdata) for tensor in (out, t)]\n"
        "    kernel(*map(ctypes.addressof, places), axis, False)\n"
        "    return out.numpy()",
    )
    for _ in range(2):
        answer, seen = lab.watched("softmax", [0.0, 0.0])
        assert (answer.tolist(), seen) == ([0.5, 0.5], ["a library kernel by its symbol"])


def test_the_static_runtime_which_reports_once_only_is_not_there(start: Start) -> None:
    _, session = start(
        T,
        "unit = torch.jit.CompilationUnit('def f(t: Tensor) -> Tensor:\\n    return torch.softmax(t, -1)\\n')\n"
        "torch._C._jit_to_static_module(unit.f.graph)",
    )
    assert "static runtime is not available" in session.problems[0].text


def test_processes_that_do_nothing_during_the_call_are_nobody_s_business(start_any: Start) -> None:
    """One that sleeps, one that works all the time (and is stopped meanwhile), one that ignores the end of children
    that it has not, and one that ended and is waited for."""
    lab, _ = start_any(
        T,
        "import time\n"
        "def started(work):\n"
        "    process = os.fork()\n"
        "    if process == 0: work(); os._exit(0)\n"
        "    return process\n"
        "def busy():\n    while True: pass\n"
        "asleep, working = started(lambda: time.sleep(1000)), started(busy)\n"
        "import signal\n"
        "started(lambda: (signal.signal(signal.SIGCHLD, signal.SIG_IGN), time.sleep(1000)))\n"
        "ended = started(lambda: sum(range(10**6)))\n"
        "os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)\n"
        "def softmax(x, axis=-1):\n"
        "    global ended\n"
        "    if ended: os.waitpid(ended, 0); ended = None\n"
        "    e = np.exp(np.array(x)); return e / e.sum()",
    )
    for _ in range(3):
        assert lab.watched("softmax", [0.0, 0.0])[1] == []


def test_what_was_compiled_before_the_call_runs_as_it_was_written(start: Start) -> None:
    lab, _ = start(
        T,
        "fast = torch.compile(lambda t: torch.softmax(t, -1), backend='aot_eager_decomp_partition')\n"
        "fast(torch.ones(3, 4, dtype=torch.float64))\n"
        "def softmax(x, axis=-1):\n    return fast(torch.as_tensor(np.array(x))).numpy()",
        cell_seconds=60.0,
    )
    assert lab.watched("softmax", [[0.1, 0.2, 0.3, 0.4]] * 3)[1] == ["torch.softmax"]


def test_work_that_is_put_off_until_the_result_is_read_is_seen_too(start: Start) -> None:
    lab, _ = start(
        T,
        "class Later:\n"
        "    def __init__(self, t): self.t = t\n"
        "    def __array__(self, *args, **kwargs): return torch.softmax(self.t, -1).numpy()\n"
        "def softmax(x, axis=-1):\n    return Later(torch.as_tensor(np.array(x)))",
    )
    assert lab.watched("softmax", [0.1, 0.2])[1] == ["torch.softmax"]


def test_the_answer_is_that_of_the_call_that_was_watched(start: Start) -> None:
    lab, _ = start(
        T,
        "calls = []\n"
        "def softmax(x, axis=-1):\n"
        "    calls.append(1)\n"
        "    t = torch.as_tensor(np.array(x))\n"
        "    return np.zeros(2) if len(calls) % 2 else torch.softmax(t, -1).numpy()",
    )
    answer, seen = lab.watched("softmax", [0.0, 0.0])
    assert (answer.tolist(), seen) == ([0.0, 0.0], [])
    assert lab.watched("softmax", [0.0, 0.0])[1] == ["torch.softmax"]


def test_every_kernel_of_a_call_is_seen_and_gives_what_it_gives(start: Start) -> None:
    """The plain one as a reference, then the fused one: both ran, and the difference between them is right."""
    lab, _ = start(
        T,
        "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
        "def compare_kernels(q):\n"
        "    q, found = torch.as_tensor(np.array(q)), []\n"
        "    for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):\n"
        "        with sdpa_kernel(backend):\n"
        "            found.append(F.scaled_dot_product_attention(q, q, q))\n"
        "    return float((found[0] - found[1]).abs().max())",
    )
    difference, seen = lab.watched("compare_kernels", np.linspace(-1.0, 1.0, 24).reshape(1, 2, 3, 4))
    assert seen == ["torch.nn.functional.scaled_dot_product_attention", "torch.softmax"]
    assert difference < 1e-12


@pytest.mark.parametrize(
    "taken_apart",
    [
        "torch.library.Library.impl = torch.library.Library._destroy = lambda *a, **k: None",
        "torch.library.Library = None",
        "torch.overrides.TorchFunctionMode = torch.utils._python_dispatch.TorchDispatchMode = None",
        "import warnings, contextlib; contextlib.contextmanager = warnings.catch_warnings = None",
        "import builtins; builtins.sorted = builtins.set = lambda *a: []",
    ],
)
def test_a_library_that_was_taken_apart_before_hides_nothing(start: Start, taken_apart: str) -> None:
    lab, _ = start(T, taken_apart, "def softmax(x, axis=-1):\n    return torch.softmax(torch.as_tensor(x), -1).numpy()")
    assert lab.watched("softmax", [0.0, 0.0])[1] == ["torch.softmax"]


def test_what_was_seen_stays_seen_when_the_process_ends(start: Start) -> None:
    lab, _ = start(
        T,
        "def softmax(x, axis=-1):\n"
        "    try:\n        return torch.softmax(torch.as_tensor(x), -1).numpy()\n    finally:\n        os._exit(0)",
    )
    assert lab.watched("softmax", [0.0, 0.0])[1] == ["torch.softmax"]


def test_outside_of_a_watched_call_the_kernels_give_what_they_always_give(start: Start) -> None:
    lab, _ = start(
        T,
        "def ordinary():\n"
        "    t = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)\n"
        "    s = torch.softmax(t, -1)\n"
        "    s[0, 0].backward()\n"
        "    e = torch.exp(t) / torch.exp(t).sum()\n"
        "    q = torch.ones(1, 2, 3, 4)\n"
        "    return [float((s - e).abs().max()), list(F.scaled_dot_product_attention(q, q, q).shape),\n"
        "            float(t.grad.sum().abs()), float(torch.log_softmax(t, -1).exp().sum())]",
    )
    difference, shape, gradient, total = lab.ordinary()
    assert difference < 1e-6 and shape == [1, 2, 3, 4] and gradient < 1e-6 and abs(total - 1) < 1e-6


def test_helper_processes_of_a_submission_go_on_after_a_watched_call(start: Start) -> None:
    lab, _ = start(
        T,
        "from concurrent.futures import ProcessPoolExecutor\n"
        "pool = ProcessPoolExecutor(1)\n"
        "assert pool.submit(abs, -1).result() == 1\n"
        "def softmax(x, axis=-1):\n    e = np.exp(np.array(x)); return e / e.sum()\n"
        "def later():\n    return pool.submit(abs, -2).result()",
    )
    assert lab.watched("softmax", [0.0, 0.0])[1] == []
    assert lab.later() == 2


@pytest.mark.parametrize(
    "expression",
    [
        "torch.exp(t - torch.logsumexp(t, -1, keepdim=True))",
        "torch.exp(t) / torch.einsum('ij->i', torch.exp(t))[:, None]",
    ],
)
def test_what_the_lab_allows_is_not_seen(start: Start, expression: str) -> None:
    lab, _ = start(
        T,
        f"def softmax(x, axis=-1):\n    t = torch.as_tensor(np.array(x))\n    return ({expression}).numpy()",
    )
    assert lab.forbidden("softmax", [[0.1, 0.2, 0.3]] * 2) == []


def test_the_library_works_again_afterwards(start: Start) -> None:
    lab, _ = start(T, "def softmax(x):\n    return torch.softmax(torch.as_tensor(x), -1).numpy()")
    assert lab.forbidden("softmax", [0.0, 0.0]) == ["torch.softmax"]
    assert lab.softmax([0.0, 0.0]).tolist() == [0.5, 0.5]


def test_a_use_elsewhere_is_nobody_s_business(start: Start) -> None:
    lab, _ = start(
        T,
        (
            "compared = torch.softmax(torch.zeros(3), -1)\n"
            "library = torch.softmax\n"
            "def softmax(x):\n"
            "    e = np.exp(np.asarray(x)); return e / e.sum()"
        ),
    )
    assert lab.forbidden("softmax", [0.0, 0.0]) == []


def test_a_module_that_is_loaded_again_is_watched_again(start: Start) -> None:
    """``scipy`` as a stand-in of a few lines, because it need not be installed."""
    files = {
        "scipy/__init__.py": b"",
        "scipy/special/__init__.py": b"from scipy.special._logsumexp import softmax",
        "scipy/special/_logsumexp.py": b"import numpy as np\ndef softmax(x, axis=None):\n    e = np.exp(x); return e",
    }
    lab, _ = start(
        T,
        "import importlib\n"
        "for name in [n for n in sys.modules if n.split('.')[0] == 'scipy']: del sys.modules[name]\n"
        "sys.path.insert(0, os.getcwd())\n"
        "import scipy.special\n"
        "def softmax(x, axis=-1):\n    return scipy.special.softmax(np.array(x))\n"
        "def again():\n    scipy.special._logsumexp = importlib.reload(scipy.special._logsumexp)\n"
        "def softmax_again(x, axis=-1):\n    return scipy.special._logsumexp.softmax(np.array(x))",
        files=files,
    )
    assert lab.forbidden("softmax", [0.0, 0.0]) == ["scipy.special.softmax"]
    lab.again()
    assert lab.forbidden("softmax_again", [0.0, 0.0]) == ["scipy.special.softmax"]
