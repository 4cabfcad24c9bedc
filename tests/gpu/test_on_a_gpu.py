"""Everything that needs a CUDA device: ``make gpu``. It prints what it measures, for the README and for whoever
repairs what does not come out.

**Not yet run on a GPU.** What is asserted is what must hold on any card; figures are printed, not asserted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.meters import CudaMeter
from autograder import course, engine, submission
from autograder.lab import Lab, local_lab
from autograder.measured import cpu, cuda, inputs, student
from autograder.measured.device_array import DeviceArray
from autograder.measured.verdict import Finding, judge
from autograder.reference.attention import score_bytes
from autograder.sandbox import gpu, launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from tests.corpus import corpora
from tests.test_device_array import ATTENTIONS, ON_THE_HOST, drawn

DEVICE = "cuda"

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here"),
    pytest.mark.timeout(1200),
]

#: Half the distance from 1 to the next number.
UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

CODE = {
    "the solution": "return softmax_of(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), V)",
    "float64 through its scale": "return softmax_of(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), V)",
    "einsum": "return softmax_of(np.einsum('...id,...jd->...ij', Q, K) / 8, V)",
    "torch inside": "q, k, v = map(torch.as_tensor, (Q, K, V)); w = torch.softmax(q @ k.mT / 8, -1); return (w @ v,)",
    "one product too many": "w = softmax_of(Q @ np.swapaxes(K, -1, -2) / 8, V)[1]; return (w + 0 * (w @ w)) @ V, w",
    "linear attention": "k = np.exp(np.swapaxes(K, -1, -2)); return np.exp(Q) @ (k @ V), k",
}
RIGHT = ("the solution", "float64 through its scale", "einsum", "torch inside")
WRONG = ("one product too many", "linear attention")
HELPER = """
import math
import numpy as np
import torch

def softmax_of(scores, V):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w @ V, w

def attention(Q, K, V, mask=None):
    {body}
"""


def code(name: str) -> str:
    return HELPER.format(body=CODE[name])


def bench(name: str, source: str | None = None) -> Any:
    namespace: dict[str, Any] = {}
    exec(source or code(name), namespace)
    return local_lab(namespace).on_device("attention", DEVICE)


def measure(name: str, seed: int = 0) -> cuda.OnDevice:
    return cuda.OnDevice(bench(name), bench("the reference", student.REFERENCE), seed)


def show(finding: Finding, device: cuda.OnDevice) -> str:
    slopes = " ".join(f"{s:.2f}±{n:.2f}" for s, n in zip(finding.slopes, finding.noise, strict=True))
    clock = f"{device.contradicted} of {device.samples} samples by the oracle's clock"
    return (
        f"{finding.outcome:10} exponent {finding.exponent:.2f} (reference {finding.reference_exponent:.2f}), "
        f"slopes {slopes}, up to n = {finding.largest}, {device.heads} heads, {clock}"
    )


@pytest.fixture(scope="module", autouse=True)
def _which_machine() -> None:
    print(f"\nPyTorch {torch.__version__}, CUDA {torch.version.cuda}, NumPy {np.__version__}")
    if DEVICE == "cuda":
        free, total = torch.cuda.mem_get_info()
        print(f"{torch.cuda.get_device_name()}, {total / 2**30:.1f} GiB, {free / 2**30:.1f} GiB of it free")


# ---- the array type
@pytest.mark.parametrize("title", sorted(set(ATTENTIONS) - ON_THE_HOST))
def test_right_attention_gives_on_the_gpu_what_it_gives_in_numpy(title: str) -> None:
    torch.set_float32_matmul_precision("highest")
    for dtype, tolerance in (("float32", 2e-6), ("float64", 1e-14)):
        arrays = drawn((2, 3), dtype)
        mask = np.random.default_rng(6).random((2, 3, 5, 7)) < 0.7
        mask[..., 0] = True
        there = [DeviceArray(torch.from_numpy(a).to(DEVICE)) for a in arrays]
        expected = ATTENTIONS[title](*arrays, mask=mask)
        found = ATTENTIONS[title](*there, mask=DeviceArray(torch.from_numpy(mask).to(DEVICE)))
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.tensor.device.type == DEVICE and ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours.tensor.cpu().numpy(), theirs, rtol=0, atol=tolerance)


# ---- time
def test_seconds_of_every_size() -> None:
    device = measure("the solution")
    for n, (ours, theirs) in cpu.climb(device, cuda.LONG.longest, cuda.SIZES).items():
        print(f"n = {n:6}: {ours * 1e3:9.3f} ms, reference {theirs * 1e3:9.3f} ms")


@pytest.mark.parametrize("name", CODE)
def test_the_verdict_on_this_card(name: str) -> None:
    device = measure(name)
    finding = judge(*cpu.sample(device, cuda.SHORT), overlaps=True)
    print(f"{name:26} {show(finding, device)}")
    if name in RIGHT:
        assert finding.outcome not in ("steeper", "flatter")
        assert device.spot_check(finding.largest)
    else:
        assert finding.outcome != "quadratic"


def test_twenty_measurements_of_right_code_and_of_wrong() -> None:
    for name in (RIGHT[0], RIGHT[1], *WRONG):
        outcomes = Counter(cpu.decide(measure(name, seed), cuda.SHORT, cuda.LONG).outcome for seed in range(20))
        print(f"{name:26} {dict(outcomes)}")
        assert not set(outcomes) & ({"quadratic"} if name in WRONG else {"steeper", "flatter"})


# ---- memory
def test_peak_memory_against_the_formula() -> None:
    """``n²`` scores of each head: code that gives the weights back holds at least one such array."""
    heads = 4
    for name in RIGHT:
        there = bench(name)
        for n in (1024, 2048, 4096):
            there.call("load", n, heads, 0)
            allocated, reserved = there.call("peak")
            formula = score_bytes(n, heads, 4)
            ratios = f"allocated {allocated / formula:.3f} × formula, reserved {reserved / formula:.3f}"
            print(f"{name:26} n = {n}: {ratios}")
            assert reserved >= allocated >= formula


def test_the_student_s_meter_sees_a_fused_kernel_stay_below_the_formula() -> None:
    n, heads = 4096, 4
    q, k, v = (torch.from_numpy(a).to(DEVICE, torch.float16) for a in inputs.all_heads(n, 0, heads))
    meter = CudaMeter()
    meter.reset()
    torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])
    allocated, reserved, formula = meter.allocated_peak(), meter.reserved_peak(), score_bytes(n, heads, 2)
    print(f"fused kernel, float16: {allocated / formula:.4f} × formula allocated, {reserved / formula:.4f} reserved")
    assert allocated < formula


# ---- agreement
def by_hand(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.mT / 8, -1) @ v


def fused(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]


@pytest.mark.parametrize("dtype", UNIT_ROUNDOFF)
@pytest.mark.parametrize("function", [by_hand, fused])
def test_results_agree_within_the_error_law(function: Callable[..., torch.Tensor], dtype: str) -> None:
    """``8·u·(1 + max|scaled score|)·max|V|``, against float64 on the rounded inputs, TensorFloat-32 off."""
    torch.set_float32_matmul_precision("highest")
    rounded = [torch.from_numpy(a).to(getattr(torch, dtype)) for a in inputs.one_head(1024, 3, 0)]
    queries, keys, values = (a.double() for a in rounded)
    truth = by_hand(queries, keys, values)
    law = 8 * UNIT_ROUNDOFF[dtype] * float((1 + (queries @ keys.mT / 8).abs().max()) * values.abs().max())
    found = function(*(a.to(DEVICE) for a in rounded))
    error = float((found.double().cpu() - truth).abs().max())
    print(f"{function.__name__:8} {dtype:9} error {error:.1e}, law {law:.1e}")
    assert error <= law


def test_float32_does_not_use_tensorfloat_32() -> None:
    device = measure("the solution")
    device.student(2048)
    precise = device.worst_row(2048)
    torch.set_float32_matmul_precision("high")
    device.student(2048)
    print(f"float32 rows off by {precise:.1e}; with TensorFloat-32 by {device.worst_row(2048):.1e}")
    torch.set_float32_matmul_precision("highest")
    assert precise < 1e-5


# ---- in the sandbox
class Cell:
    label = "cell 1"

    def __init__(self, source: str) -> None:
        self.source = source


@pytest.mark.parametrize("isolation", ["bubblewrap", "user", "none"])
def test_a_submission_in_the_sandbox_reaches_the_gpu(isolation: launch.Isolation) -> None:
    reason = launch.unavailable(isolation)
    if reason is not None:
        pytest.skip(reason)
    print(f"\n{isolation}: {gpu.cards()}")
    with Sandbox(isolation, {"memory_mib": 2048, "processes": 128}, "cuda") as sandbox:

        def start(where: Sandbox) -> Session:
            return Session(where, [Cell(code("the solution"))], {})

        with student.Measure(sandbox, "cuda", 3, start, lambda: sandbox) as both:
            device = both.on_gpu()
            assert device is not None
            finding = judge(*cpu.sample(device, cuda.SHORT), overlaps=True)
            print(show(finding, device))
            assert device.spot_check(finding.largest)
            assert finding.outcome not in ("steeper", "flatter")


def test_a_submission_without_the_gpu_s_sandbox_sees_none() -> None:
    with (
        Sandbox(launch.choose("auto")) as sandbox,
        Session(sandbox, [Cell("import torch\ndef count(): return torch.cuda.device_count()")], {}) as session,
    ):
        if sandbox.isolation == "bubblewrap":
            assert Lab(session).count() == 0


@pytest.mark.parametrize("name", ["right", "cubic", "on the host"])
def test_grading_completes_the_measured_check(name: str) -> None:
    source = {"right": "pass", "cubic": code(WRONG[0]), "on the host": "import copy"}[name]
    if name == "on the host":
        source += "\nright_attention = attention\n"
        source += "def attention(Q, K, V, mask=None): return right_attention(np.asarray(Q), K, V, mask=mask)"
    files = corpora.as_notebook(corpora.with_cell(source))
    read = submission.read(name, files, "lab07", course.signatures(corpora.settings().course))
    result = engine.grade(read, corpora.settings())
    check = next(c for c in result.checks if c.function == "measured_exponent")
    print(f"{name}: {check.verdict}, {result.seconds:.1f} s. {check.message or ''}")
    assert result.device == "cuda"
    assert check.verdict in {"right": ("passed",), "cubic": ("failed", "skipped", "inconclusive")}.get(
        name, ("passed", "inconclusive")
    )
    if name == "on the host" and check.verdict == "passed":
        assert check.message is not None and "timed on the CPU" in check.message
