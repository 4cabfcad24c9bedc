"""Part 8, training: state, activations, logits, FLOPs and GPU-years (section 7.8, article 6)."""

from __future__ import annotations

import numpy as np

from autograder.checks.declare import Task
from autograder.checks.lab07.block_asks import count, distinct, rate
from autograder.lab import Lab

check = Task("block_receipts", "training")

# ---- training_bytes(parameters)
_STATE = "Weights and gradients in 2 bytes each, and a master copy and two moments in 4 bytes each."


@check("training_bytes.state")
def test_bytes_of_the_training_state(lab: Lab, rng: np.random.Generator) -> None:
    """Weights, gradients, the master copy and both moments of every parameter."""
    # Weights and gradients alone, one moment, no master copy, or everything in fp32 give another multiple.
    for size in (10, 10**6, 10**9):
        count(lab, "training_bytes", int(size * rng.integers(11, 99)) + 1, hint=_STATE)


@check("training_bytes.article", needs=["training_bytes.state"])
def test_training_state_of_the_article(lab: Lab) -> None:
    """128.5 GB for 8.03 billion parameters, 8 times what it takes to serve them."""
    for parameters in (8_030_000_000, 8_030_261_248, 1):
        count(lab, "training_bytes", parameters, hint=f"Compare with section 6 of the article. {_STATE}")


# ---- activation_bytes(layers, n, d_model, batch=1, itemsize=2)
_SAVED = "With checkpointing one (batch, n, d_model) tensor is kept for each block, its input."


@check("activation_bytes.one_tensor_a_block")
def test_one_saved_tensor_for_each_block(lab: Lab, rng: np.random.Generator) -> None:
    """One tensor of tokens by width for each block, 2 bytes a number by default."""
    # n², the feed-forward width, or both sublayers saved show.
    for _ in range(2):
        count(lab, "activation_bytes", *distinct(rng, 3), hint=_SAVED)


@check("activation_bytes.batch_and_itemsize", needs=["activation_bytes.one_tensor_a_block"])
def test_activations_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """`batch` sequences at once, and saved numbers of `itemsize` bytes."""
    sizes = distinct(rng, 3)
    for named in ({"batch": 5}, {"itemsize": 4}, {"batch": 3, "itemsize": 1}):
        count(lab, "activation_bytes", *sizes, hint=f"Both are factors. {_SAVED}", **named)


@check("activation_bytes.article", needs=["activation_bytes.one_tensor_a_block"])
def test_activations_of_the_article(lab: Lab) -> None:
    """1.1 GB for 32 blocks at 4,096 tokens."""
    for n in (4096, 8192):
        count(lab, "activation_bytes", 32, n, 4096, hint="Compare with section 6 of the article.")


# ---- logits_bytes(n, vocab, batch=1, itemsize=4)
_LOGITS = "A score for every word of the vocabulary at every position."


@check("logits_bytes.every_position")
def test_logits_of_every_position(lab: Lab, rng: np.random.Generator) -> None:
    """A number for every word at every position, 4 bytes each by default."""
    # The last position alone, and 2 bytes as for the weights, show.
    for _ in range(2):
        n, vocab = distinct(rng, 2, 5)
        count(lab, "logits_bytes", n, 10 * vocab + 1, hint=f"{_LOGITS} They are kept in fp32.")


@check("logits_bytes.batch_and_itemsize", needs=["logits_bytes.every_position"])
def test_logits_of_a_batch(lab: Lab, rng: np.random.Generator) -> None:
    """`batch` sequences at once, and logits of `itemsize` bytes."""
    n, vocab = distinct(rng, 2, 5)
    for named in ({"batch": 4}, {"itemsize": 2}, {"batch": 3, "itemsize": 8}):
        count(lab, "logits_bytes", n, vocab, hint=f"Both are factors. {_LOGITS}", **named)


@check("logits_bytes.article", needs=["logits_bytes.every_position"])
def test_logits_of_the_article(lab: Lab) -> None:
    """513 KB for one token of Llama-3-8B, 2.1 GB for 4,096 of them."""
    for n in (1, 4096):
        count(lab, "logits_bytes", n, 128256, hint="Compare with sections 6 and 13 of the article.")


# ---- training_flops(parameters, tokens)
_SIX = "2 for the forward pass and twice that for the backward one, for each parameter and token."


@check("training_flops.six")
def test_forward_and_backward(lab: Lab, rng: np.random.Generator) -> None:
    """The forward pass, and a backward pass of twice its cost, for every parameter and every token."""
    # 2ND is inference; 3ND counts a multiply-add once; tokens by the rule of 20 would ignore the argument.
    for _ in range(3):
        rate(lab, "training_flops", int(rng.integers(1, 10**6)), int(rng.integers(1, 10**6)), hint=_SIX)


@check("training_flops.printed", needs=["training_flops.six"])
def test_compute_of_real_runs(lab: Lab) -> None:
    """7.2e23 for Llama-3-8B on 15 trillion tokens; Gopher's and Chinchilla's are near each other and not equal."""
    # Far beyond 64 bits: NumPy's integers wrap around, Python's do not.
    for parameters, tokens in ((803 * 10**7, 15 * 10**12), (280 * 10**9, 300 * 10**9), (70 * 10**9, 14 * 10**11)):
        rate(lab, "training_flops", parameters, tokens, hint=f"Compare with section 6 of the article and 7.8. {_SIX}")


# ---- gpu_years(gpu_hours)
#: 8,760 and 8,766 hours are both a year.
_YEAR = 1e-3


@check("gpu_years.hours")
def test_hours_in_years(lab: Lab, rng: np.random.Generator) -> None:
    """Hours over the hours of a year."""
    # Days, working days, or whole years only show.
    for hours in (float(rng.uniform(100, 9000)), float(rng.uniform(1e5, 1e7))):
        rate(lab, "gpu_years", hours, hint="A year has 24 · 365.25 hours.", relative=_YEAR)


@check("gpu_years.article", needs=["gpu_years.hours"])
def test_gpu_years_of_the_article(lab: Lab) -> None:
    """148 years for 1.3 million hours."""
    for hours in (1_300_000, 8766):
        rate(lab, "gpu_years", hours, hint="Compare with section 6 of the article.", relative=_YEAR)
