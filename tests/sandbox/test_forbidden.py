"""A library softmax or attention is seen at run time, under every alias, and allowed functions are not."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import Start

T = "import torch, numpy as np, threading\nimport torch.nn.functional as F\n"
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
    "another thread": "in_thread(t)",
    "an error of its own around it": "swallowed(t)",
}
EXTRA = """
def in_thread(t):
    out = []
    thread = threading.Thread(target=lambda: out.append(torch.softmax(t, -1)))
    thread.start(); thread.join()
    return out[0]
def swallowed(t):
    try:
        return torch.softmax(t, -1)
    except Exception:
        return torch.exp(t) / torch.exp(t).sum(-1, keepdim=True)
"""


@pytest.mark.parametrize("how", DISGUISES)
def test_it_is_seen_as(start: Start, how: str) -> None:
    lab, _ = start(
        T + EXTRA,
        (
            f"def softmax(x, axis=-1):\n"
            f"    t = torch.as_tensor(np.array(x))\n"
            f"    return ({DISGUISES[how]}).detach().numpy()"
        ),
    )
    assert lab.forbidden("softmax", [[0.1, 0.2, 0.3, 0.4]] * 3) != []


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
