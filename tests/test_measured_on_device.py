"""The measured exponent on a device, without one: through the array type on PyTorch's CPU, in the GPU's own sandbox,
and what the check makes of what it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from autograder import failures
from autograder.lab import local_lab
from autograder.measured import cpu, cuda, exponent, student
from autograder.measured.verdict import Finding
from autograder.sandbox import gpu, launch
from autograder.sandbox.fork import Sandbox
from autograder.sandbox.session import Session
from tests.corpus import corpora

# ---- through the array type, on PyTorch's CPU
NUMPY = {
    "right": "return w @ V, w",
    "only the first head": "return np.zeros_like(V), w",
    "weights that do not add up to one": "return (w * 1.01) @ V, w",
}


def namespace(ending: str) -> dict[str, Any]:
    found: dict[str, Any] = {"np": np}
    exec(
        "def attention(Q, K, V, mask=None):\n"
        "    s = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5\n"
        "    w = np.exp(s - s.max(axis=-1, keepdims=True))\n"
        "    w = w / w.sum(axis=-1, keepdims=True)\n"
        f"    {ending}\n",
        found,
    )
    return found


@pytest.mark.parametrize("name", NUMPY)
def test_rows_on_the_device_are_checked_against_the_truth(name: str) -> None:
    reference = local_lab(namespace(NUMPY["right"])).on_device("attention", "cpu")
    found = local_lab(namespace(NUMPY[name])).on_device("attention", "cpu")
    device = cuda.OnDevice(found, reference, 3)
    assert device.student(96) > 0 and device.reference(96) > 0
    assert device.spot_check(96) == (name == "right")
    assert not device.spot_check(95)
    assert found.call("shape") == ([96, 64] if device.heads == 1 else [device.heads, 96, 64])


def test_heads_reach_the_student_as_leading_axis() -> None:
    found = local_lab(namespace(NUMPY["right"])).on_device("attention", "cpu")
    device = cuda.OnDevice(found, found, 3)
    device.heads = 4
    device.student(32)
    assert found.call("shape") == [4, 32, 64]
    assert all(device.spot_check(32) for _ in range(6))
    assert found.call("peak") == [0, 0]


# ---- what the check makes of it
class Anywhere:
    """A measure whose CPU and GPU say what they are told to say."""

    def __init__(self, on_gpu: Any, on_cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.note: str | None = None
        self._on_gpu, self.asked_cpu = on_gpu, False

        def expect(measure: Any) -> Found:
            self.asked_cpu = True
            if on_cpu == "failed":
                raise failures.CheckFailed("not n²")
            if on_cpu == "inconclusive":
                raise failures.Inconclusive("cannot tell")
            return found("quadratic")

        monkeypatch.setattr(cpu, "expect_quadratic", expect)
        monkeypatch.setattr(cpu, "decide", lambda device, short, long: device)

    def on_gpu(self) -> Any:
        if isinstance(self._on_gpu, Exception):
            raise self._on_gpu
        return self._on_gpu

    student = reference = spot_check = None


class Found(Finding):
    """A finding, and the device that it was made on."""

    def spot_check(self, n: int) -> bool:
        return self.reason != "wrong rows"


def found(outcome: Any, reason: str = "a reason") -> Found:
    return Found(outcome, 2.0, 2.0, 0.9, 8192, (), (), reason)


def verdict(on_gpu: Any, on_cpu: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Anywhere]:
    both = Anywhere(on_gpu, on_cpu, monkeypatch)
    try:
        exponent.expect_quadratic(both)  # type: ignore[arg-type]
    except failures.Finding as error:
        return error.verdict, both
    return "passed", both


def test_what_a_gpu_finds_quadratic_passes_without_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    said, both = verdict(found("quadratic"), "failed", monkeypatch)
    assert (said, both.asked_cpu, both.note) == ("passed", False, None)


LEFT = failures.Raised("LeftTheDevice", "np.array or np.asarray was called")


@pytest.mark.parametrize(
    ("on_gpu", "says"),
    [
        (LEFT, "np.asarray was called"),
        (failures.Died("The process ended."), "The process ended."),
        (found("unclear"), "did not come out as n²: a reason"),
        (found("quadratic", "wrong rows"), "At n = 8192 its output there was not right."),
    ],
)
def test_what_does_not_come_out_on_a_gpu_is_decided_on_the_cpu(
    on_gpu: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, both = verdict(on_gpu, "passed", monkeypatch)
    assert said == "passed"
    assert both.note is not None and says in both.note and "timed on the CPU" in both.note
    assert verdict(on_gpu, "failed", monkeypatch)[0] == "failed"
    assert verdict(on_gpu, "inconclusive", monkeypatch)[0] == "inconclusive"


@pytest.mark.parametrize("outcome", ["steeper", "flatter"])
def test_no_points_are_lost_on_a_gpu_s_word_alone(outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict(found(outcome), "passed", monkeypatch)[0] == "inconclusive"
    assert verdict(found(outcome), "failed", monkeypatch)[0] == "failed"


def test_without_a_gpu_asked_for_the_cpu_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    for said in ("passed", "failed", "inconclusive"):
        assert verdict(None, said, monkeypatch)[0] == said


def test_a_pass_says_both_exponents(monkeypatch: pytest.MonkeyPatch) -> None:
    _, both = verdict(None, "passed", monkeypatch)
    assert both.note == (
        "Measured here up to n = 8,192: your time grows with n to the power 2.00, plain attention's with 2.00."
    )


# ---- in the sandbox
@dataclass
class Cell:
    source: str
    label: str = "cell 1"


RIGHT_CELL = "import numpy as np\ndef attention(Q, K, V, mask=None):\n" + "\n".join(
    "    " + line
    for line in (
        "s = Q @ np.swapaxes(K, -1, -2) / 8",
        "e = np.exp(s - s.max(axis=-1, keepdims=True))",
        "w = e / e.sum(axis=-1, keepdims=True)",
        "return w @ V, w",
    )
)


@pytest.fixture(scope="module")
def gpu_sandbox() -> Iterator[Sandbox]:
    with Sandbox(launch.choose("auto"), {"memory_mib": 1024, "processes": 60}, "cuda") as sandbox:
        yield sandbox


def in_sandbox(sandbox: Sandbox, source: str) -> student.Measure:
    return student.Measure(sandbox, "cuda", 5, lambda box: Session(box, [Cell(source)], {}), lambda: sandbox)


def test_without_a_card_the_check_waits_and_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cards", list)
    with in_sandbox(Sandbox("none"), RIGHT_CELL) as waiting, pytest.raises(failures.Pending, match="none at hand"):
        waiting.on_gpu()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine's GPU works")
def test_a_card_that_cannot_be_used_leaves_the_check_waiting(
    gpu_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "cards", lambda: ["/dev/nvidia0"])
    with in_sandbox(gpu_sandbox, RIGHT_CELL) as waiting, pytest.raises(failures.Pending, match="finds no CUDA device"):
        waiting.on_gpu()


def test_student_and_reference_take_turns_in_the_gpu_s_sandbox(
    gpu_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "cards", lambda: ["/dev/nvidia0"])
    monkeypatch.setattr(student, "TORCH_DEVICE", "cpu")
    with in_sandbox(gpu_sandbox, RIGHT_CELL) as right:
        device = right.on_gpu()
        assert device is not None
        for n in (64, 128):
            assert device.reference(n) > 0 and device.student(n) > 0
        assert device.spot_check(128)
        assert device.samples == 4
    assert right.cpu_seconds > 0
    with in_sandbox(gpu_sandbox, RIGHT_CELL.replace("return w @", "return np.asarray(w) @")) as leaves:
        device = leaves.on_gpu()
        assert device is not None
        with pytest.raises(failures.Raised, match=r"np\.asarray was called.*cell 1, line 6"):
            device.student(64)


def test_only_the_gpu_s_sandbox_gets_device_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cards", lambda: ["/dev/nvidia0", "/dev/nvidia1"])
    plain = launch.bubblewrap_arguments("bwrap", None)
    with_gpu = launch.bubblewrap_arguments("bwrap", None, "cuda")
    assert not any("nvidia" in word for word in plain)
    for node in ("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"):
        where = with_gpu.index(node)
        assert with_gpu[where - 1 : where + 2] == ["--dev-bind-try", node, node]
        assert where > with_gpu.index("--dev")


def test_the_result_says_that_a_right_submission_was_timed_on_the_cpu_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cards", lambda: ["/dev/nvidia0"])
    monkeypatch.setattr(student, "TORCH_DEVICE", "cpu")
    source = "right = attention\ndef attention(Q, K, V, mask=None): return right(np.asarray(Q), K, V, mask=mask)"
    result = corpora.grade("leaves", corpora.as_notebook(corpora.with_cell(source)))
    check = next(c for c in result.checks if c.function == "measured_exponent")
    # The CPU of a busy machine may not be able to tell; points are not lost either way.
    assert check.verdict in ("passed", "inconclusive")
    assert result.device == "cuda"
    if check.verdict == "passed":
        assert check.message is not None and check.message.startswith("Right, and timed on the CPU")
        assert "np.asarray was called" in check.message
