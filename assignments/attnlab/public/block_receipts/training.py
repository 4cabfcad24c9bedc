"""Part 8 in public: the numbers in print."""

from __future__ import annotations

from attnlab.public.block_receipts.asks import exactly, nearly
from attnlab.public.declare import Checks, Lab

check = Checks("training")

STATE = "article, section 6"


@check("training_bytes.printed", read=STATE)
def training_state(lab: Lab) -> None:
    """8.03 billion parameters take 128.48 GB of weights, gradients, master copy and both moments."""
    n = 8_030_000_000
    known = {
        12 * n: "The fp32 master copy is missing, or a moment.",
        14 * n: "The gradients are missing.",
        8 * n: "Adam's two moments are missing.",
        4 * n: "What the optimizer keeps is missing.",
        20 * n: "Weights and gradients take 2 bytes each.",
        18 * n: "Weights and gradients take 2 bytes each.",
    }
    exactly(lab, "training_bytes", n, wanted=128_480_000_000, known=known)


@check("activation_bytes.printed", read=STATE)
def saved_inputs(lab: Lab) -> None:
    """32 blocks at 4,096 tokens and a width of 4,096: 1,073,741,824 bytes with checkpointing."""
    known = {33_554_432: "Every block keeps one.", 2_147_483_648: "One tensor a block, of 2 bytes a number."}
    exactly(lab, "activation_bytes", 32, 4096, 4096, wanted=1_073_741_824, known=known)
    known = {12: "`batch` is not used.", 36: "`itemsize` is not used."}
    exactly(lab, "activation_bytes", 1, 2, 3, batch=3, itemsize=4, wanted=72, known=known)


@check("logits_bytes.printed", read=STATE)
def logits_of_all_positions(lab: Lab) -> None:
    """513,024 bytes for one token of a vocabulary of 128,256, 2,101,346,304 for 4,096."""
    exactly(lab, "logits_bytes", 1, 128_256, wanted=513_024, known={256_512: "4 bytes a logit by default."})
    known = {513_024: "Every position is scored.", 1_050_673_152: "4 bytes a logit by default."}
    exactly(lab, "logits_bytes", 4096, 128_256, wanted=2_101_346_304, known=known)


@check("training_flops.printed", read="section 7.8 and article, section 6")
def compute_of_a_run(lab: Lab) -> None:
    """Llama-3-8B on 15 trillion tokens: 7.2e23 FLOPs; one parameter on one token: 6."""
    known = {2: "That is the forward pass.", 3: "A multiplication and an addition are two.", 8: "Nothing is run again."}
    nearly(lab.training_flops(1, 1), "training_flops(1, 1)", 6, 1e-9, known)
    found = lab.training_flops(8_030_000_000, 15_000_000_000_000)
    nearly(found, "training_flops of Llama-3-8B", 7.227e23, 1e20)


@check("gpu_years.printed", read=STATE)
def years_of_one_card(lab: Lab) -> None:
    """1.3 million GPU-hours are 148 years."""
    known = {1.3e6 / 24: "These are days.", 1.3e6 / 365.25: "A day has 24 hours."}
    nearly(lab.gpu_years(1_300_000), "gpu_years(1_300_000)", 148, 0.5, known)
    nearly(lab.gpu_years(4383), "gpu_years(4383)", 0.5, 1e-3)
