"""Right attention gives on a device what it gives in NumPy, or says clearly that it cannot run there.

The device is PyTorch's CPU: the same code path as on a GPU, up to the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autograder.measured.device_array import DeviceArray, LeftTheDevice
from autograder.measured.on_device import Bench, Processor
from tests.corpus.corpora import RIGHT, cells
from tests.samples.build import notebook

Function = Callable[..., Any]

#: Right, and not for a GPU as they stand: NumPy's masked arrays and np.array make host arrays.
ON_THE_HOST = {
    "matmul and masked_where",
    "a named tuple, arguments with other names, float64 throughout",
    "torch inside: einsum, masked_fill and its own normalisation",
}


def solution() -> dict[str, Any]:
    """The solution's step 1 as a namespace."""
    namespace: dict[str, Any] = {"np": np, "math": math}
    for cell in notebook("solution").cells:
        if cell.id in ("step1-softmax", "step1-attention", "step1-self-attention"):
            exec(compile(cell.source, f"<{cell.id}>", "exec", dont_inherit=True), namespace)
    return namespace


def right_attentions() -> dict[str, Function]:
    found: dict[str, Function] = {"the solution": solution()["attention"]}
    for title, source in cells(RIGHT / "step1_attention.py"):
        namespace = solution()
        before = namespace["attention"]
        exec(compile(source, f"<{title}>", "exec", dont_inherit=True), namespace)
        if namespace["attention"] is not before:
            found[title] = namespace["attention"]
    return found


ATTENTIONS = right_attentions()


def there(array: np.ndarray[Any, Any]) -> DeviceArray:
    return DeviceArray(torch.from_numpy(array.copy()))


def plain(value: Any) -> np.ndarray[Any, Any]:
    assert isinstance(value, DeviceArray)
    return value.tensor.numpy()


def drawn(lead: tuple[int, ...], dtype: str) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(5)
    shapes = ((*lead, 5, 4), (*lead, 7, 4), (*lead, 7, 3))
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def test_there_are_enough_of_them() -> None:
    assert len(ATTENTIONS) >= 12
    assert set(ATTENTIONS) >= ON_THE_HOST


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lead", [(), (2, 3)], ids=["matrices", "batch and heads"])
@pytest.mark.parametrize("title", sorted(set(ATTENTIONS) - ON_THE_HOST))
def test_right_attention_gives_what_it_gives_in_numpy(title: str, lead: tuple[int, ...], dtype: str) -> None:
    inputs = drawn(lead, dtype)
    mask = np.random.default_rng(6).random((*lead, 5, 7)) < 0.7
    mask[..., 0] = True
    for options in ({}, {"mask": mask}):
        expected = ATTENTIONS[title](*inputs, **options)
        found = ATTENTIONS[title](*map(there, inputs), **{k: there(v) for k, v in options.items()})
        for ours, theirs in zip(found, expected, strict=True):
            # NumPy's promotion too: float32 stays, and a np.float64 scale makes float64 of it.
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(plain(ours), theirs, rtol=0, atol=1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("title", sorted(ON_THE_HOST))
def test_code_that_leaves_the_device_is_told_so(title: str) -> None:
    mask = np.ones((5, 7), bool)
    with pytest.raises(LeftTheDevice, match="takes the array off the GPU"):
        ATTENTIONS[title](*map(there, drawn((), "float32")), mask=there(mask))


def test_torch_inside_stays_on_the_device() -> None:
    def attention(Q: Any, K: Any, V: Any) -> Any:
        q, k, v = torch.as_tensor(Q), torch.tensor(K), torch.asarray(V)
        weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)
        return (weights @ v).numpy(), weights.detach().numpy()

    bench = Bench(attention, "cpu")
    bench.load(6, 2, 3)
    bench.run()
    again = Bench(solution()["attention"], "cpu")
    again.load(6, 2, 3)
    again.run()
    assert bench.shape() == [2, 6, 64]
    np.testing.assert_allclose(bench.rows([0, 5], 1), again.rows([0, 5], 1), atol=1e-6)


@pytest.mark.parametrize(
    "leaves",
    [
        np.asarray,
        lambda x: np.array(x, dtype=float),
        lambda x: np.empty(x.shape).__setitem__(0, x[0]),
        lambda x: [float(x[i, 0]) for i in range(3)],
        lambda x: x[0, 0].item(),
        lambda x: x.tolist(),
        lambda x: x[::-1],
        lambda x: np.linalg.svd(x),
        lambda x: np.add.accumulate(x),
        lambda x: np.exp(x, out=np.empty(x.shape)),
        lambda x: x.astype(complex),
        lambda x: x + "1",
    ],
)
def test_every_way_off_the_device_is_refused_with_a_reason(leaves: Function) -> None:
    with pytest.raises(LeftTheDevice, match="off the GPU"):
        leaves(there(np.ones((3, 4))))


@pytest.mark.parametrize(
    "does",
    [
        lambda x: x.max(axis=-1, keepdims=True),
        lambda x: np.max(x, axis=(0, 1)),
        lambda x: np.add.reduce(x, axis=-1, keepdims=True),
        lambda x: np.maximum.reduce(x),
        lambda x: np.logaddexp.reduce(x, axis=-1),
        lambda x: np.mean(x > 0, axis=0),
        lambda x: np.sum(x > 0, axis=-1),
        lambda x: np.sum(x, axis=-1, where=x > 0),
        lambda x: np.max(x, axis=-1, where=x > 0, initial=-np.inf),
        lambda x: np.exp(x - x.max()),
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: x**2 // 3 % 2,
        lambda x: np.float64(2) * x,
        lambda x: np.arange(4) * x,
        lambda x: x @ np.eye(4, dtype=np.float32),
        lambda x: x @ x[0, 0],
        lambda x: x.reshape(-1, 4).T,
        lambda x: np.transpose(x, (1, 0, 2)).swapaxes(-1, 0),
        lambda x: np.moveaxis(x, -1, 0)[..., None],
        lambda x: np.einsum("bij,bkj->bik", x, x.astype(np.float16), optimize=True),
        lambda x: np.concatenate([x, np.ones((2, 1, 4))], axis=1),
        lambda x: np.stack([x, 2 * x], axis=1),
        lambda x: np.split(x, 2, axis=-1)[1],
        lambda x: np.split(x, [1, 3], axis=-1)[1],
        lambda x: np.where(np.tril(np.ones((3, 4), bool)), x, -1e9),
        lambda x: np.where(x > 0, x, np.float64(0)),
        lambda x: np.clip(x, -0.5, None),
        lambda x: np.tril(x) + np.triu(x, 1),
        lambda x: np.zeros_like(x) + np.full_like(x, 3, dtype=np.int64),
        lambda x: np.expand_dims(x, 1).squeeze(),
        lambda x: x[:, np.array([2, 0])][x[:, :2] > 0],
        lambda x: np.broadcast_to(x, (5, 2, 3, 4)).copy(),
        lambda x: np.nan_to_num(np.log(x - 5)),
        lambda x: np.outer(x, x),
        lambda x: np.argmax(x, axis=-1),
        lambda x: np.power(x, 2) <= 1,
        lambda x: ~(x > 0),
    ],
)
def test_numpy_s_functions_mean_what_they_mean_in_numpy(does: Function) -> None:
    inputs = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = does(inputs)
    found = does(there(inputs))
    assert (found.shape, found.dtype) == (np.shape(expected), expected.dtype)
    np.testing.assert_allclose(plain(found), expected, rtol=2e-6, atol=2e-6)


def test_writing_into_an_array_writes_into_its_views_too() -> None:
    def work(x: Any) -> Any:
        first = x[0]
        x -= 1
        first[1:, :] = 7
        x[x < 0] = -np.inf
        np.exp(x, out=x)
        np.add(x, 1, out=x, where=x > 1)
        np.copyto(x, 3, where=x == 0)
        x[1].fill(4)
        return x

    inputs = np.random.default_rng(2).standard_normal((2, 3, 4))
    np.testing.assert_allclose(plain(work(there(inputs))), work(inputs.copy()), rtol=1e-15)


def test_numpy_s_own_shapes_and_kinds() -> None:
    x = there(np.ones((2, 3), np.float32))
    assert (len(x), x.ndim, x.size, x.itemsize, x.nbytes, x.shape) == (2, 2, 6, 4, 24, (2, 3))
    assert (np.shape(x), np.ndim(x), np.size(x, 1)) == ((2, 3), 2, 3)
    assert np.result_type(x, np.float64(1)) == np.float64
    assert np.finfo(x.dtype).max > 1e38
    assert bool((x == 1).all()) and [row.shape for row in x] == [(3,), (3,)]


def test_results_that_do_not_fit_are_refused_as_numpy_does() -> None:
    x = there(np.ones((2, 3)))
    with pytest.raises(ValueError, match="does not fit"):
        x += there(np.ones((4, 2, 3)))
    with pytest.raises(ValueError, match="equal division"):
        np.split(x, 2, axis=1)


def test_a_loop_into_a_numpy_array_is_told_so_by_the_bench() -> None:
    def attention(Q: Any, K: Any, V: Any) -> Any:
        output = np.empty(V.shape)
        for i in range(len(Q)):
            output[i, 0] = V[i, 0]
        return output

    bench = Bench(attention, "cpu")
    bench.load(4, 1, 0)
    with pytest.raises(LeftTheDevice, match="put into a NumPy array"):
        bench.run()


def test_a_bench_refuses_an_output_that_came_back_to_the_host() -> None:
    bench = Bench(lambda q, k, v: np.ones((4, 64)), "cpu")
    bench.load(4, 1, 0)
    with pytest.raises(LeftTheDevice, match="came back as ndarray"):
        bench.run()


def test_the_cpu_stands_in_for_a_device_without_counting_memory() -> None:
    device = Processor()
    device.reset_peaks()
    device.synchronize()
    assert (device.allocated(), device.reserved()) == (0, 0)
    assert device.elapsed(device.mark(), device.mark()) >= 0
